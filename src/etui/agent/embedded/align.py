"""How well a sentence fits a template: which word is which, and what stands in the slots.

Above: choose and nearest. Below: costs and templates. It refuses to choose between tools. One alignment does everything: with
`strict`, every word that carries meaning must be in its place; without, what is missing or too much costs, and the cheapest
alignment shows where the values stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from etui.agent.embedded.costs import NEVER, inside_text, lacking, leaving, literal, skipped
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.reading import Reading, time_unit
from etui.agent.embedded.templates import Item, Slot, Template, text_value, weight
from etui.agent.embedded.words import PREPOSITIONS, STOP

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
                reach(i + 1, j, False, cost + leaving(parameter, reading, j), (i, j, True, None))
                if j < length:
                    again = 1.1 if reading.texts[j] in PREPOSITIONS and reading.texts[j] in items[max(i - 2, 0) : i] else 0.0
                    price = again * (parameter is None or not parameter.free) + inside_text(parameter, reading, j, False, words)
                    reach(i, j + 1, True, cost + price, (i, j, True, None))
            if (cost := best[i][j]) >= NEVER:
                continue
            if timed and (when := reading.whens.get(j)):
                reach(i, when.end, False, cost + 0.1, (i, j, False, None))
            if (
                j < length
                and (skip := skipped(reading, j, strict)) < NEVER
                and not _addressed(items, i, parameters, reading.texts[j])
            ):
                reach(i, j + 1, False, cost + skip, (i, j, False, None))
            if i == many:
                continue
            item = items[i]
            if isinstance(item, str):
                if (lost := lacking(item, strict)) < NEVER:
                    reach(i + 1, j, False, cost + lost, (i, j, False, None))
                if not strict and i + 1 < many and isinstance(items[i + 1], Slot):  # the word is lost with its value
                    reach(i + 2, j, False, cost + min(lost, 0.3) + 0.6, (i, j, False, None))
                if j < length and (price := literal(item, template.roots[i], reading, j, strict)) < NEVER:
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
                    cost + 0.2 + inside_text(parameters[item.names[0]], reading, j, True, words),
                    (i, j, False, "open"),
                )
            if _is_text(item, parameters):
                reach(
                    i,
                    j + 1,
                    True,
                    cost + inside_text(parameters.get(item.names[0]), reading, j, True, words),
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
