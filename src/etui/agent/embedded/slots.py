"""Where the values stand in an example that marks none: "what time is it in Tokyo" is "what time is it in {city}".

Above: known. Below: parameters and reading. It refuses to be clever: where it is not plain which words are the value, the
example stays as it is and serves for choosing the tool only. Taught sentences are of this kind as a rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from etui.agent.embedded.mend import mended
from etui.agent.embedded.numbers import read_number
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.units import read_unit
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, STOP, bare, cut, plain

_TYPED = (Kind.SUM, Kind.DURATION, Kind.WHEN, Kind.UNIT, Kind.NUMBER, Kind.ADDRESS, Kind.CHOICE)
_LINKS = {"that", "saying", "to", "about", "whether"}
_NEVER = datetime(2000, 1, 1)

Place = tuple[int, int, str]
"""From a word up to another, and the parameter whose value stands there."""


def slotted(examples: Sequence[str], parameters: Mapping[str, Parameter], own: frozenset[str]) -> list[str]:
    """The examples, those without slots given some; `own` are the roots of the tool's name and description."""
    bare_ones = [text for text in examples if "{" not in text]
    often = Counter(root for text in bare_ones for root in {bare(word.text) for word in cut(text)})
    return [text if "{" in text or len(text) > 200 else _slotted(text, parameters, own, often) for text in examples]


def _slotted(text: str, parameters: Mapping[str, Parameter], own: frozenset[str], often: Counter[str]) -> str:
    if mended(text) != text:
        return text
    reading = Reading(text, plain(cut(text)), _NEVER)
    places: list[Place] = []
    places += _units([one for one in parameters.values() if one.kind is Kind.UNIT], reading)
    for kind in _TYPED:
        for parameter in parameters.values():
            if parameter.kind is kind and all(name != parameter.name for _, _, name in places):
                places += _typed(parameter, reading, places)
    places += _texts(
        [one for one in parameters.values() if one.kind is Kind.TEXT and one.required], reading, places, own, often
    )
    line = text
    for start, end, name in sorted(places, reverse=True):
        line = f"{line[: reading.words[start].start]}{{{name}}}{line[reading.words[end - 1].end :]}"
    return line


def _typed(parameter: Parameter, reading: Reading, places: Sequence[Place]) -> list[Place]:
    taken = _taken(places)
    found = [
        (at, end)
        for at in range(len(reading.words))
        for end, _ in reading.values(parameter, at)[:1]
        if not taken & set(range(at, end))
        and not (parameter.kind is Kind.WHEN and parameter.style == "words" and end - at == 1)
    ]
    longest = max(found, key=lambda place: place[1] - place[0], default=None)
    return [(*longest, parameter.name)] if longest else []


def _units(wanted: Sequence[Parameter], reading: Reading) -> list[Place]:
    """Of two units the first parameter's is the one behind a number: what is converted comes with its amount."""
    found = [(at, unit[1]) for at in range(len(reading.words)) if (unit := read_unit(reading.texts, at))]
    if len(wanted) != 2 or len(found) != 2:
        return []
    counted = next((place for place in found if place[0] and read_number(reading.texts, place[0] - 1)), found[0])
    other = next(place for place in found if place is not counted)
    return [(*counted, wanted[0].name), (*other, wanted[1].name)]


def _texts(
    wanted: Sequence[Parameter], reading: Reading, places: Sequence[Place], own: frozenset[str], often: Counter[str]
) -> list[Place]:
    runs = _runs(reading, _taken(places), own, often)
    if not wanted or not runs:
        return []
    if len(wanted) == 1:
        parameter = wanted[0]
        if parameter.free:
            return [(runs[0][0], _end(reading, runs[0][0], places), parameter.name)]
        return [(*runs[0], parameter.name)] if len(runs) == 1 else []
    person = next((one for one in wanted if one.person), None)
    free = next((one for one in wanted if one.free), None)
    if person is None or free is None or len(wanted) != 2:
        return []
    first = runs[0][0]
    links = [at for at in range(first + 1, min(first + 5, len(reading.words))) if reading.texts[at] in _LINKS]
    start = links[0] if links else first + 1
    while start < len(reading.words) and reading.texts[start] in _LINKS:
        start += 1
    return [(first, first + 1, person.name), (start, len(reading.words), free.name)] if start < len(reading.words) else []


def _runs(reading: Reading, taken: set[int], own: frozenset[str], often: Counter[str]) -> list[tuple[int, int]]:
    """The runs of words that only this example has and that are no words of the tool: behind the first word of the sentence."""
    lone = [
        at > 0
        and at not in taken
        and reading.texts[at] not in STOP | PREPOSITIONS | ARTICLES
        and reading.roots[at] not in own
        and (often[reading.roots[at]] < 2 or reading.said(at, at + 1)[:1].isupper())
        for at in range(len(reading.words))
    ]
    named = [one and reading.said(at, at + 1)[:1].isupper() for at, one in enumerate(lone)]
    chosen = named if any(named) else lone
    runs: list[tuple[int, int]] = []
    for at, one in enumerate(chosen):
        if one and runs and runs[-1][1] == at:
            runs[-1] = runs[-1][0], at + 1
        elif one:
            runs.append((at, at + 1))
    return runs


def _end(reading: Reading, start: int, places: Sequence[Place]) -> int:
    later = [place[0] for place in places if place[0] > start]
    return min(later, default=len(reading.words))


def _taken(places: Sequence[Place]) -> set[int]:
    return {at for start, end, _ in places for at in range(start, end)}
