"""A sentence with everything that can be read in it: numbers, lengths of time, points in time, units, sums, choices.

Above: templates, fill and questions. Below: the parsers and parameters. It refuses to know tools: it is asked whether a
parameter's kind of value begins at a word, and says where it ends and what it is.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cached_property

from etui.agent.embedded.arithmetic import read_arithmetic
from etui.agent.embedded.dates import When, read_when
from etui.agent.embedded.durations import SECONDS, UNITS, Duration, read_duration
from etui.agent.embedded.numbers import read_number
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.units import SYMBOLS, read_unit
from etui.agent.embedded.words import PREPOSITIONS, Word, bare, cut, span

_FILE = re.compile(r"[\w.-]+\.(txt|md|pdf|csv|json|ya?ml|toml|log|py|js|html?|docx?|xlsx?|png|jpe?g|zip|ini|cfg)")


class Reading:
    """A sentence with everything that can be read in it, each kind only when it is wanted."""

    def __init__(self, sentence: str, words: list[Word], now: datetime) -> None:
        self.sentence = sentence
        self.words = words
        self.now = now
        self.texts = [word.text for word in words]
        self.roots = [bare(word.text) for word in words]

    @classmethod
    def of(cls, sentence: str, now: datetime) -> Reading:
        """The reading of a sentence as it stands."""
        return cls(sentence, cut(sentence), now)

    def said(self, start: int, end: int) -> str:
        """The words from `start` up to `end` as they were said."""
        return span(self.sentence, self.words[start:end])

    @cached_property
    def durations(self) -> dict[int, Duration]:
        """By the index of their first word."""
        found = ((at, read_duration(self.texts, at)) for at in range(len(self.texts)))
        return {at: duration for at, duration in found if duration}

    @cached_property
    def whens(self) -> dict[int, When]:
        """By the index of their first word."""
        found: dict[int, When] = {}
        for at in range(len(self.texts)):
            when = read_when(self.texts, at, self.now)
            before = found.get(at - 1)
            if when is None and before and before.start == at - 1 and self.texts[at - 1] in PREPOSITIONS:
                when = before._replace(start=at)
            if when:
                found[at] = when
        return found

    @cached_property
    def timed(self) -> frozenset[int]:
        """The indexes of words that belong to a point in time."""
        return frozenset(index for when in self.whens.values() for index in range(when.start, when.end))

    def values(self, parameter: Parameter, at: int) -> list[tuple[int, object]]:
        """What `parameter` could be when it begins at `at`: the index after it and the argument; not for texts."""
        if parameter.many and parameter.kind is not Kind.TEXT:
            return self._several(parameter, at)
        return self._values(parameter, at)

    def _values(self, parameter: Parameter, at: int) -> list[tuple[int, object]]:
        match parameter.kind:
            case Kind.NUMBER:
                return self._number(parameter, at)
            case Kind.DURATION:
                return self._duration(parameter, at)
            case Kind.WHEN:
                when = self.whens.get(at)
                return [(when.end, self.moment(parameter, when))] if when and _says(when, parameter.style) else []
            case Kind.SUM:
                found = read_arithmetic(self.texts, at)
                return [(found[1], found[0])] if found else []
            case Kind.UNIT:
                unit = read_unit(self.texts, at)
                return [(unit[1], unit[0])] if unit and not self._mistaken(at) else []
            case Kind.CHOICE:
                return choices_at(parameter, self.texts, self.roots, at)
            case Kind.ADDRESS:
                word = self.texts[at]
                if _FILE.fullmatch(word):
                    return []
                return (
                    [(at + 1, self.said(at, at + 1).rstrip(".,;!?"))]
                    if re.match(r"https?://|www\.|[\w-]+(\.[\w-]+)+(/|$)", word)
                    else []
                )
            case Kind.BOOLEAN:
                return [(at + 1, value)] if (value := _YES_NO.get(self.texts[at])) is not None else []
            case _:
                return []

    def _mistaken(self, at: int) -> bool:
        return (
            self.texts[at] in SYMBOLS
            and len(self.texts[at]) == 1
            and not (at and (self.texts[at - 1] in ("to", "in", "°") or read_number(self.texts, at - 1)))
        )

    def _number(self, parameter: Parameter, at: int) -> list[tuple[int, object]]:
        found = read_number(self.texts, at)
        if found and (isinstance(found[0], int) or not parameter.whole):
            if not parameter.allows(found[0]):
                return []
            return [(found[1], found[0])]
        if self.texts[at] in ("a", "an", "one") and read_unit(self.texts, at + 1):
            return [(at + 1, 1)]
        return []

    def _duration(self, parameter: Parameter, at: int) -> list[tuple[int, object]]:
        found = self.durations.get(at)
        if found is None:
            return []
        if parameter.style == "words":
            return [(found.end, self.said(at, found.end))]
        if parameter.style == "duration":
            return [(found.end, found.iso())]
        amount = found.in_unit(parameter.style)
        return [(found.end, amount)] if isinstance(amount, int) or not parameter.whole else []

    def _several(self, parameter: Parameter, at: int) -> list[tuple[int, object]]:
        values: list[object] = []
        end = at
        while end < len(self.texts):
            start = end + 1 if values and self.texts[end] == "and" else end
            found = self._values(parameter, start) if start < len(self.texts) else []
            if not found:
                break
            end = found[0][0]
            values.append(found[0][1])
        return [(end, values)] if values else []

    def moment(self, parameter: Parameter, when: When) -> object:
        """A point in time in the form that the parameter wants."""
        match parameter.style:
            case "date":
                return when.date(self.now).isoformat()
            case "time":
                return (
                    when.resolve(self.now)
                    .time()
                    .isoformat(timespec="minutes" if "hh:mm" in parameter.description.lower() else "seconds")
                )
            case "date-time":
                return when.resolve(self.now).isoformat(timespec="seconds")
            case _:
                return self.said(when.start + (self.texts[when.start] in ("till", "until")), when.end)


def _says(when: When, style: str) -> bool:
    said = {"time": when.clock, "date": when.day or when.part}.get(style, when)
    return bool(said is not None and said != "") or when.moment is not None


_YES_NO = {"yes": True, "true": True, "on": True, "enabled": True, "no": False, "false": False, "off": False, "disabled": False}
_ALIKE: dict[str, frozenset[str]] = {
    "on": frozenset({"on"}),
    "off": frozenset({"off", "out", "kill", "cut"}),
    "up": frozenset({"up", "raise", "increase", "louder", "higher"}),
    "down": frozenset({"down", "lower", "decrease", "quieter"}),
    "true": frozenset({"true", "yes", "on"}),
    "false": frozenset({"false", "no", "off"}),
    "start": frozenset({"start", "begin"}),
    "stop": frozenset({"stop", "end", "halt"}),
    "high": frozenset({"high", "urgent"}),
    "all": frozenset({"all", "everything"}),
}


def choices_at(parameter: Parameter, texts: list[str], roots: list[str], at: int) -> list[tuple[int, object]]:
    """The choices that are said from word `at` on: as they are, inflected, or by a word for the same."""
    found: list[tuple[int, object]] = []
    for choice in parameter.choices:
        names = [word.text for word in cut(str(choice).replace("_", " ").replace("-", " "))]
        end = at + len(names)
        if names and [bare(name) for name in names] == roots[at:end]:
            found.append((end, choice))
        elif len(names) == 1 and (
            texts[at] in _ALIKE.get(names[0], ())
            or (names[0].rstrip("s") in SECONDS and UNITS.get(texts[at]) == names[0].rstrip("s"))
        ):
            found.append((at + 1, choice))
        elif isinstance(choice, int | float) and not isinstance(choice, bool):
            number = read_number(texts, at)
            if number and number[0] == choice:
                found.append((number[1], choice))
    return sorted(found, key=lambda one: -one[0])


def time_unit(choice: object) -> str:
    """The unit of time that a choice names, or nothing."""
    return UNITS.get(str(choice).lower(), "")
