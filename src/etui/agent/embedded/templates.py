"""Example sentences as templates, and how well a sentence fits one: which word is which, and what stands in the slots.

Above: choose and fill. Below: parameters and words. It refuses to choose between tools. One alignment does everything: with
`strict`, every word that carries meaning must be in its place; without, what is missing or too much costs, and the cheapest
alignment shows where the values stand.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from etui.agent.embedded.durations import read_duration
from etui.agent.embedded.parameters import Kind, Parameter, Reading, time_unit
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, STOP, bare, cut, plain

NEVER = 1e9
STRICT = 0.6
"""The most that a strict alignment may cost."""
_LIGHT = ARTICLES | {"please", "just", "now", "also", "too", "again", "then", "there", "here", "me", "us", "up", "right", "currently", "today", "so",
                     "of", "all", "moment", "like"}  # fmt: skip
_GROUPS = [
    "show list display read view see", "add put stick throw pop place write include append", "remove delete drop scratch strike cross erase",
    "start set begin make create run launch", "find search look lookup", "tell say give", "calculate compute work figure", "turn switch put flip",
    "remind", "send shoot fire", "message text sms", "convert change turn", "play start put", "open read fetch get load", "stop cancel end kill",
    "get fetch check", "kilo kilogram", "photo picture image", "note memo", "mom mum mother", "buy get purchase", "remember note",
]  # fmt: skip
SAME: dict[str, frozenset[str]] = {}
for _group in _GROUPS:
    for _one in _group.split():
        SAME[bare(_one)] = SAME.get(bare(_one), frozenset()) | {bare(other) for other in _group.split()}


class Slot(NamedTuple):
    """A place where a value stands: of one parameter, or of two that are said together, such as an amount and its unit."""

    names: tuple[str, ...]


Item = str | Slot


class Template(msgspec.Struct, frozen=True):
    """One sentence that means a tool."""

    text: str
    """As it was written."""
    items: tuple[Item, ...]
    roots: tuple[str, ...]
    """The common form of each literal; empty for slots."""
    needs: frozenset[str]
    """The roots that a sentence must hold for a strict fit."""
    derived: bool = False
    """Made from a description; it never fits strictly."""

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the parameters that it holds."""
        return tuple(name for item in self.items if isinstance(item, Slot) for name in item.names)


class Match(msgspec.Struct, frozen=True):
    """How a sentence fits a template."""

    template: Template
    cost: float
    bound: dict[str, object]
    """Arguments by parameter, as far as slots were filled."""
    where: dict[str, tuple[int, int]]
    """The words that each filled slot took."""
    literals: frozenset[int]
    """The words that were matched by the template's own."""


def templates_of(text: str, parameters: Mapping[str, Parameter], derived: bool = False) -> Iterator[Template]:
    """The templates that an example stands for; `(a|b)` and `[maybe]` are spelt out, at most 24."""
    for line in itertools.islice(_spelt(text.strip()[:400]), 24):
        template = _template(line, parameters, derived)
        if template.items:
            yield template


def _spelt(text: str) -> Iterator[str]:
    match = re.search(r"\[([^\[\]{}()]*)\]|\(([^()\[\]]*\|[^()\[\]]*)\)", text)
    if match is None:
        yield text
        return
    options = [*match[1].split("|"), ""] if match[1] is not None else match[2].split("|")
    for option in options:
        yield from itertools.islice(_spelt(text[: match.start()] + option + text[match.end() :]), 24)


def _template(text: str, parameters: Mapping[str, Parameter], derived: bool) -> Template:
    names: list[str] = []

    def mark(match: re.Match[str]) -> str:
        names.append(match[1].split(":")[-1])
        return f" zqslot{'abcdefghijklmnopqrstuvwxyz'[min(len(names) - 1, 25)]} "

    words = [word.text for word in plain(cut(re.sub(r"\{\s*([\w:]+)[^{}]*\}", mark, text)))]
    items: list[Item] = []
    for word in words:
        if word.startswith("zqslot") and len(word) == 7:
            items.append(Slot((names[ord(word[6]) - 97],)))
        elif word != "-":
            items.append(word)
    items = _joined(items if names else _found(items, parameters), parameters)
    roots = tuple(bare(item) if isinstance(item, str) else "" for item in items)
    needs = frozenset(root for item, root in zip(items, roots, strict=True) if isinstance(item, str) and item not in _LIGHT)
    return Template(text, tuple(items), roots, needs, derived)


def _found(items: list[Item], parameters: Mapping[str, Parameter]) -> list[Item]:
    """An example without slots that says a length of time holds a slot all the same."""
    lengths = [one for one in parameters.values() if one.kind is Kind.DURATION]
    pair = pair_of(parameters)
    texts = [item for item in items if isinstance(item, str)]
    for at in range(len(texts)):
        duration = read_duration(texts, at)
        if duration and (lengths or pair):
            slot = Slot(pair) if pair else Slot((lengths[0].name,))
            return [*items[:at], slot, *items[duration.end :]]
    return items


def pair_of(parameters: Mapping[str, Parameter]) -> tuple[str, str] | None:
    """The two parameters that together are a length of time: a number, and a choice of units of time."""
    units = [one for one in parameters.values() if one.kind is Kind.CHOICE and one.choices and all(time_unit(choice) for choice in one.choices)]
    amounts = [one for one in parameters.values() if one.kind is Kind.NUMBER and not one.many]
    return (amounts[0].name, units[0].name) if len(units) == 1 and len(amounts) == 1 else None


def _joined(items: list[Item], parameters: Mapping[str, Parameter]) -> list[Item]:
    pair = pair_of(parameters)
    if pair is None:
        return items
    joined: list[Item] = []
    for item in items:
        if isinstance(item, Slot) and joined and isinstance(joined[-1], Slot) and (*joined[-1].names, *item.names) == pair:
            joined[-1] = Slot(pair)
        else:
            joined.append(item)
    return joined


def _skip(reading: Reading, at: int, strict: bool) -> float:
    word = reading.texts[at]
    if word in _LIGHT:
        return 0.05
    if strict:
        return NEVER
    return 0.4 if word in STOP else 1.0


def _literal(item: str, root: str, reading: Reading, at: int, strict: bool) -> float:
    word = reading.texts[at]
    if word == item or reading.roots[at] == root:
        return 0.0
    if item in ARTICLES and word in ARTICLES:
        return 0.02
    if strict:
        return NEVER
    if item in PREPOSITIONS and word in PREPOSITIONS:
        return 0.25
    return 0.3 if reading.roots[at] in SAME.get(root, ()) else NEVER


def _values(slot: Slot, parameters: Mapping[str, Parameter], reading: Reading, at: int) -> list[tuple[int, tuple[object, ...]]]:
    if len(slot.names) == 2:
        duration = reading.durations.get(at)
        if duration is None:
            return []
        by_unit = {time_unit(choice): choice for choice in parameters[slot.names[1]].choices}
        amount, unit = duration.whole(list(by_unit))
        if parameters[slot.names[0]].whole and not isinstance(amount, int):
            return []
        return [(duration.end, (amount, by_unit[unit]))]
    return [(end, (value,)) for end, value in reading.values(parameters[slot.names[0]], at)]


def _is_text(slot: Slot, parameters: Mapping[str, Parameter]) -> bool:
    one = parameters.get(slot.names[0])
    return one is None or one.kind is Kind.TEXT


def _inside(parameter: Parameter | None, reading: Reading, at: int, first: bool) -> float:
    """What it costs a text to take in the word at `at`."""
    word, cost = reading.words[at], 0.01
    free = parameter is not None and parameter.free
    if first and word.text in PREPOSITIONS | {"and", "or", "is", "are"}:
        cost += 0.4
    if not free and at in reading.timed:
        cost += 0.3
    if not first and any(mark in word.gap for mark in ".?!;"):
        cost += 0.1 if free else 0.5
    if not first and ":" in word.gap:
        cost += 0.2
    return cost


def _leaving(reading: Reading, at: int) -> float:
    """What it costs a text to end before the word at `at`."""
    cost = 0.4 if reading.texts[at - 1] in PREPOSITIONS - {"in", "on", "off", "up"} | {"the", "a", "an", "and", "my"} else 0.0
    if at < len(reading.words) and any(mark in reading.words[at].gap for mark in ":,;.-"):
        cost -= 0.03
    return cost


_Step = tuple[int, int, bool, object]


def align(template: Template, parameters: Mapping[str, Parameter], reading: Reading, strict: bool) -> Match | None:
    """The cheapest way in which the sentence fits, or None where it fits in none."""
    items, many, length = template.items, len(template.items), len(reading.words)
    best = [[NEVER] * (length + 1) for _ in range(many + 1)]
    inside = [[NEVER] * (length + 1) for _ in range(many + 1)]
    back: dict[tuple[int, int, bool], _Step] = {}
    best[0][0] = 0.0

    def reach(i: int, j: int, within: bool, cost: float, step: _Step) -> None:
        table = inside if within else best
        if cost < table[i][j] - 1e-9:
            table[i][j] = cost
            back[i, j, within] = step

    for j in range(length + 1):
        for i in range(many + 1):
            if (cost := inside[i][j]) < NEVER:
                parameter = parameters.get(items[i].names[0]) if isinstance(items[i], Slot) else None  # type: ignore[union-attr]
                reach(i + 1, j, False, cost + _leaving(reading, j), (i, j, True, None))
                if j < length:
                    reach(i, j + 1, True, cost + _inside(parameter, reading, j, False), (i, j, True, None))
            if (cost := best[i][j]) >= NEVER:
                continue
            if j < length and (skip := _skip(reading, j, strict)) < NEVER:
                reach(i, j + 1, False, cost + skip, (i, j, False, None))
            if i == many:
                continue
            item = items[i]
            if isinstance(item, str):
                lost = 0.05 if item in _LIGHT else NEVER if strict else 0.4 if item in STOP else 1.0
                if lost < NEVER:
                    reach(i + 1, j, False, cost + lost, (i, j, False, None))
                if j < length and (price := _literal(item, template.roots[i], reading, j, strict)) < NEVER:
                    reach(i + 1, j + 1, False, cost + price, (i, j, False, "literal"))
                continue
            if not strict:
                reach(i + 1, j, False, cost + 0.6, (i, j, False, None))
            if j == length:
                continue
            if _is_text(item, parameters):
                reach(i, j + 1, True, cost + _inside(parameters.get(item.names[0]), reading, j, True), (i, j, False, "open"))
            else:
                for end, values in _values(item, parameters, reading, j):
                    reach(i + 1, end, False, cost - 0.02, (i, j, False, values))
    if best[many][length] >= NEVER or (strict and best[many][length] > STRICT):
        return None
    return _traced(template, parameters, reading, best[many][length], back)


def _traced(template: Template, parameters: Mapping[str, Parameter], reading: Reading, cost: float, back: dict[tuple[int, int, bool], _Step]) -> Match:
    bound: dict[str, object] = {}
    where: dict[str, tuple[int, int]] = {}
    literals: set[int] = set()
    place = (len(template.items), len(reading.words), False)
    closing: int | None = None
    while place in back:
        i, j, within, step = back[place]
        if within and not place[2]:
            closing = j
        if step == "literal":
            literals.add(j)
        elif step == "open" and closing is not None:
            slot = template.items[i]
            assert isinstance(slot, Slot)
            _bind(slot.names[0], (j, closing), parameters, reading, bound, where)
        elif isinstance(step, tuple):
            slot = template.items[i]
            assert isinstance(slot, Slot)
            for name, value in zip(slot.names, step, strict=True):
                bound[name], where[name] = value, (j, place[1])
        place = (i, j, within)
    return Match(template, cost, bound, where, frozenset(literals))


def _bind(
    name: str, place: tuple[int, int], parameters: Mapping[str, Parameter], reading: Reading,
    bound: dict[str, object], where: dict[str, tuple[int, int]],
) -> None:  # fmt: skip
    parameter = parameters.get(name)
    if parameter is None:
        return
    value = text_value(parameter, reading, *place)
    if value:
        bound[name], where[name] = value, place


def text_value(parameter: Parameter, reading: Reading, start: int, end: int) -> object:
    """The words from `start` up to `end` as the argument of a text parameter; empty where nothing is left of them."""
    if parameter.many:
        return listed(reading, start, end)
    if not parameter.free:
        while end - start > 1 and reading.texts[start] in ("the", "some", "a", "an", "any") and not _counts(reading.texts, start):
            start += 1
    said = reading.said(start, end).strip("\"'“”‘’ ")
    return said if re.search(r"\w", said) else ""


def _counts(texts: Sequence[str], at: int) -> bool:
    return texts[at] in ("a", "an") and texts[at + 1] in ("dozen", "couple", "few", "pair", "bit", "half")


def listed(reading: Reading, start: int, end: int) -> list[str]:
    """ "milk, eggs and bread" as its three things."""
    things: list[str] = []
    first = start
    for at in range(start, end + 1):
        apart = at == end or reading.texts[at] in ("and", "plus") or ("," in reading.words[at].gap and at > first)
        if not apart:
            continue
        while first < at - 1 and reading.texts[first] in ("the", "some", "a", "an", "any") and not _counts(reading.texts, first):
            first += 1
        said = reading.said(first, at).strip("\"'“”‘’ ")
        if re.search(r"\w", said):
            things.append(said)
        first = at + 1 if at < end and reading.texts[at] in ("and", "plus") else at
    return things
