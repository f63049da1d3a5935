"""How well a sentence fits a template: which word is which, and what stands in the slots.

Above: choose and fill. Below: templates and reading. It refuses to choose between tools. One alignment does everything: with
`strict`, every word that carries meaning must be in its place; without, what is missing or too much costs, and the cheapest
alignment shows where the values stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.reading import Reading, time_unit
from etui.agent.embedded.templates import ANYBODY, CAN, FUNCTION, LIGHT, SAME, Item, Slot, Template, text_value, weight
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, STOP

NEVER = 1e9
STRICT = 0.6
"""The most that a strict alignment may cost."""


class Match(msgspec.Struct, frozen=True):
    """How a sentence fits a template."""

    template: Template
    cost: float
    bound: dict[str, object]
    """Arguments by parameter, as far as slots were filled."""
    where: dict[str, tuple[int, int]]
    """The words that each filled slot took."""
    met: float
    """How many of the words that say what it is about the sentence has; a word for the same counts half."""
    colon: bool
    """A colon parts the words of the template from a text."""
    literals: frozenset[int]
    """The words that were matched by the template's own."""


def _skip(reading: Reading, at: int, strict: bool) -> float:
    word = reading.texts[at]
    if word == "not":
        return NEVER if strict else 1.5
    if word in LIGHT or (word in ("down", "up") and at and reading.roots[at - 1] in PHRASAL):
        return 0.05
    if strict:
        return NEVER
    return 0.25 if word in PREPOSITIONS else 0.15 if word in FUNCTION else 0.5 if word in STOP else 1.0


PHRASAL = {"put", "not", "jot", "writ", "mark", "tak", "add", "pick", "look", "read", "open", "start", "stop", "pull"}
"""Roots of verbs that mean the same with "down" or "up" behind them: "note down", "put down"."""


def _lost(item: str, strict: bool) -> float:
    if item == "not":
        return NEVER if strict else 3.0
    if item in LIGHT:
        return 0.05
    if strict:
        return NEVER
    return 0.25 if item in PREPOSITIONS else 0.15 if item in FUNCTION else 0.5 if item in STOP else 1.0


_WAYS = ({"to", "on", "onto", "into"}, {"from", "off"})
"""Prepositions that lead there, and those that lead away."""


def _literal(item: str, root: str, reading: Reading, at: int, strict: bool) -> float:
    word = reading.texts[at]
    if reading.texts[0] == "how" and at < 3 and (({item, word} <= ANYBODY) or ({item, word} <= CAN)):
        return 0.0 if item == word else 0.05
    if word == item or (reading.roots[at] == root and not (at == 0 and word.endswith("ing"))):
        return 0.0
    if item in ARTICLES and word in ARTICLES and not {item, word} & {"that", "this"}:
        return 0.02
    if strict or word == item + "ing":
        return NEVER
    if item in PREPOSITIONS and word in PREPOSITIONS:
        return 0.6 if any(item in one and word in other for one, other in (_WAYS, _WAYS[::-1])) else 0.2
    return 0.25 if reading.roots[at] in SAME.get(root, ()) else NEVER


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


_NO_NAMES = {"me", "us", "you", "i", "we", "what", "who", "which", "where", "how", "there", "anything", "whats"}
_EDGES = LIGHT - {"my", "our", "your", "all", "of", "up"}
_CLAUSES = PREPOSITIONS | {"and", "or", "is", "are", "if", "because"}


def _inside(parameter: Parameter | None, reading: Reading, at: int, first: bool, own: frozenset[str] | None) -> float:
    """What it costs a text to take in the word at `at`; `own` are the tool's words, None if the fit is strict."""
    word, cost = reading.words[at], 0.01
    free = parameter is not None and parameter.free
    if first and word.text in ("down", "up") and at and reading.roots[at - 1] in PHRASAL:
        cost += 0.4
    if first and _joined(reading, at):
        cost += _TORN
    if not first and any(mark in word.gap for mark in ".?!;"):
        cost += 0.1 if free else 0.5
    if not first and ":" in word.gap:
        cost += 0.2
    if first and word.text in _CLAUSES:
        loose = own is None and parameter is not None and (not parameter.required or not parameter.free)
        cost += 0.7 if word.text == "to" or (loose and word.text in PREPOSITIONS) else 0.4
    if free:
        return cost
    if at in reading.timed:
        cost += 0.3
    if not first and parameter is not None and parameter.place and word.text in PREPOSITIONS - {"of", "on"}:
        cost += 1.0
    if not first and "," in word.gap and parameter is not None and not parameter.many:
        cost += 0.15
    if parameter is not None and parameter.place and word.text[0].isdigit():
        cost += 0.6
    if parameter is not None and parameter.person and not first and word.text in _ACTS:
        cost += 0.7
    if first and word.text in _NO_NAMES:
        clause = word.text in _QUESTIONS and at + 1 < len(reading.words) and reading.texts[at + 1] in _SUBJECTS
        cost += 0.1 if clause else 0.7
    if first and word.text in _EDGES:
        cost += 0.08
    if own is None:
        return cost + (0.3 if not first and word.text in _QUESTIONS else 0.0)
    if word.text not in _IN_NAMES:
        cost += 0.35 if word.text in STOP else 0.5 if reading.roots[at] in own else 0.0
    return cost


_ACTS = {"ask", "tell", "say", "saying", "let", "see", "check"}
_SUBJECTS = {"i", "we", "you", "he", "she", "they", "my", "our", "the"}
_QUESTIONS = {"is", "are", "what", "who", "how", "when", "where", "why", "do", "does", "did", "can"}
_IN_NAMES = {"the", "of", "and", "a", "an", "my", "for", "by", "some", "in", "on", "to"}


_LATE = {"right", "now", "today", "currently", "please", "too", "again"}


def _leaving(parameter: Parameter | None, reading: Reading, at: int) -> float:
    """What it costs a text to end before the word at `at`."""
    last = reading.texts[at - 1]
    cost = 0.4 if last in PREPOSITIONS - {"in", "on", "off", "up"} | {"and", "my"} else 0.0
    if last in ("the", "a", "an"):
        cost = 1.5
    if at < len(reading.words) and _joined(reading, at):
        cost += _TORN
    if last in _LATE and (parameter is None or not parameter.free):
        cost += 0.3
    if at < len(reading.words) and any(mark in reading.words[at].gap for mark in ":,;.-"):
        cost -= 0.03
    return cost


_TORN = 0.8
"""What it costs a text to hold only a part of what was written without a gap, as of "2d6"."""


def _joined(reading: Reading, at: int) -> bool:
    """Whether this word was written without a gap behind the one before."""
    return at > 0 and reading.words[at].start == reading.words[at - 1].end


_Step = tuple[int, int, bool, object]


def align(
    template: Template, parameters: Mapping[str, Parameter], reading: Reading, strict: bool, own: frozenset[str] = frozenset()
) -> Match | None:
    """The cheapest way in which the sentence fits, or None; `own` are the roots of the tool's own words."""
    words = None if strict else own
    items, many, length = template.items, len(template.items), len(reading.words)
    timed = any(
        one.kind is Kind.WHEN and not one.required and one.style != "words" and one.name not in template.slots
        for one in parameters.values()
    )
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
                reach(i + 1, j, False, cost + _leaving(parameter, reading, j), (i, j, True, None))
                if j < length:
                    again = 1.1 if reading.texts[j] in PREPOSITIONS and reading.texts[j] in items[max(i - 2, 0) : i] else 0.0
                    price = again * (parameter is None or not parameter.free) + _inside(parameter, reading, j, False, words)
                    reach(i, j + 1, True, cost + price, (i, j, True, None))
            if (cost := best[i][j]) >= NEVER:
                continue
            if timed and (when := reading.whens.get(j)):
                reach(i, when.end, False, cost + 0.1, (i, j, False, None))
            if (
                j < length
                and (skip := _skip(reading, j, strict)) < NEVER
                and not _addressed(items, i, parameters, reading.texts[j])
            ):
                reach(i, j + 1, False, cost + skip, (i, j, False, None))
            if i == many:
                continue
            item = items[i]
            if isinstance(item, str):
                if (lost := _lost(item, strict)) < NEVER:
                    reach(i + 1, j, False, cost + lost, (i, j, False, None))
                if not strict and i + 1 < many and isinstance(items[i + 1], Slot):  # the word is lost with its value
                    reach(i + 2, j, False, cost + min(lost, 0.3) + 0.6, (i, j, False, None))
                if j < length and (price := _literal(item, template.roots[i], reading, j, strict)) < NEVER:
                    reach(i + 1, j + 1, False, cost + price, (i, j, False, "literal"))
                elif j < length and not strict and item not in STOP and reading.texts[j] not in STOP:
                    reach(i + 1, j + 1, False, cost + 1.3, (i, j, False, None))
                continue
            if not strict:
                reach(i + 1, j, False, cost + 0.6, (i, j, False, None))
            if j == length:
                continue
            alone = (
                len(template.slots) == 1
                and (one := parameters.get(item.names[0])) is not None
                and one.kind is Kind.WHEN
                and one.style == "words"
            )
            if alone and reading.texts[j] != "my":
                reach(
                    i,
                    j + 1,
                    True,
                    cost + 0.2 + _inside(parameters[item.names[0]], reading, j, True, words),
                    (i, j, False, "open"),
                )
            if _is_text(item, parameters):
                reach(
                    i,
                    j + 1,
                    True,
                    cost + _inside(parameters.get(item.names[0]), reading, j, True, words),
                    (i, j, False, "open"),
                )
            else:
                for end, values in _values(item, parameters, reading, j):
                    reach(i + 1, end, False, cost - 0.02, (i, j, False, values))
    if best[many][length] >= NEVER or (strict and best[many][length] > STRICT):
        return None
    return _traced(template, parameters, reading, best[many][length], back)


def _addressed(items: Sequence[Item], i: int, parameters: Mapping[str, Parameter], word: str) -> bool:
    """True for "me" where the name of a person is wanted: "tell me a story" is no message to a story."""
    if word not in ("me", "us") or i == len(items) or not isinstance(item := items[i], Slot):
        return False
    parameter = parameters.get(item.names[0])
    return parameter is not None and parameter.person


def _traced(
    template: Template,
    parameters: Mapping[str, Parameter],
    reading: Reading,
    cost: float,
    back: dict[tuple[int, int, bool], _Step],
) -> Match:
    bound: dict[str, object] = {}
    where: dict[str, tuple[int, int]] = {}
    literals: set[int] = set()
    met = 0.0
    place = (len(template.items), len(reading.words), False)
    closing: int | None = None
    while place in back:
        i, j, within, step = back[place]
        if within and not place[2]:
            closing = j
        if step == "literal":
            literals.add(j)
            exact = reading.roots[j] == template.roots[i]
            met += (1.0 if exact else 0.5) * weight(template.roots[i]) if template.roots[i] in template.pith else 0.0
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
    colon = any(start and ":" in reading.words[start].gap for start, _ in where.values())
    return Match(template, cost, bound, where, met, colon, frozenset(literals))


def _bind(
    name: str,
    place: tuple[int, int],
    parameters: Mapping[str, Parameter],
    reading: Reading,
    bound: dict[str, object],
    where: dict[str, tuple[int, int]],
) -> None:
    parameter = parameters.get(name)
    if parameter is None:
        return
    value = text_value(parameter, reading, *place)
    if value:
        bound[name], where[name] = value, place
