"""What a tool wants to know: each parameter of a JSON Schema as a kind that can be read out of a sentence.

Above: templates and fill. Below: the parsers. It refuses to know tools by name: a kind follows from the type, the format, the
choices, and from what the parameter is called and how it is described.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import cached_property

import msgspec

from etui.agent.embedded.arithmetic import read_arithmetic
from etui.agent.embedded.dates import When, read_when
from etui.agent.embedded.durations import SECONDS, UNITS, Duration, read_duration
from etui.agent.embedded.numbers import read_number
from etui.agent.embedded.units import SYMBOLS, read_unit
from etui.agent.embedded.words import Word, bare, cut, span


class Kind(StrEnum):
    """How a value is found."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    DURATION = "duration"
    WHEN = "when"
    SUM = "sum"
    UNIT = "unit"
    ADDRESS = "address"
    OTHER = "other"
    """An object or the like: nobody says it in a sentence."""


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of a tool."""

    name: str
    kind: Kind
    required: bool = False
    description: str = ""
    choices: tuple[object, ...] = ()
    whole: bool = False
    """Only whole numbers."""
    many: bool = False
    """A list of such values."""
    style: str = "words"
    """How a time is handed on: `words`, `date`, `time`, `date-time`, `duration` (ISO 8601), or a unit to count in."""
    free: bool = False
    """A text of any length, such as a message; otherwise a name of something, of a few words."""

    @property
    def spoken(self) -> str:
        """Its name as a person would say it."""
        return self.name.replace("_", " ").strip()


_FREE = {"text", "message", "body", "content", "note", "fact", "memory", "task", "reminder", "what", "sentence", "description", "comment", "title"}
_WHENS = {"when", "date", "datetime", "due", "day", "deadline", "start", "until", "at", "time", "moment"}
_SUMS = {"expression", "formula", "calculation", "equation", "arithmetic", "sum"}
_LENGTHS = {"duration", "seconds", "minutes", "hours", "delay", "length", "timeout", "secs", "mins", "days", "weeks"}


def parameters_of(schema: Mapping[str, object]) -> tuple[Parameter, ...]:
    """The parameters of a tool's schema, in their order; what makes no sense is left out."""
    properties, required = schema.get("properties"), schema.get("required")
    wanted = {name for name in required if isinstance(name, str)} if isinstance(required, list | tuple) else set()
    if not isinstance(properties, Mapping):
        return ()
    return tuple(_parameter(str(name), kind, str(name) in wanted) for name, kind in properties.items() if isinstance(kind, Mapping))


def _parameter(name: str, schema: Mapping[str, object], required: bool) -> Parameter:
    schema = _unwrapped(schema)
    description = str(schema.get("description") or schema.get("title") or "")
    many = schema.get("type") == "array"
    inner = _unwrapped(items) if many and isinstance(items := schema.get("items"), Mapping) else schema
    choices = _choices(inner)
    kind, style = _kind(name, inner, description, choices)
    return Parameter(
        name=name, kind=kind, required=required, description=description, choices=choices, many=many, style=style,
        whole=inner.get("type") == "integer", free=kind is Kind.TEXT and not many and bool(_FREE & set(_name_words(name))),
    )  # fmt: skip


def _unwrapped(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Without the alternative null."""
    for key in ("anyOf", "oneOf", "allOf"):
        options = schema.get(key)
        if isinstance(options, list):
            real = [option for option in options if isinstance(option, Mapping) and option.get("type") != "null"]
            consts = [option["const"] for option in real if "const" in option]
            if real and len(consts) == len(real):
                return {**schema, "enum": consts}
            if real:
                return {**real[0], **{name: value for name, value in schema.items() if name not in (key, "default")}}
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return {**schema, "type": next((kind for kind in kinds if kind != "null"), "string")}
    return schema


def _choices(schema: Mapping[str, object]) -> tuple[object, ...]:
    if "const" in schema:
        return (schema["const"],)
    listed = schema.get("enum")
    return tuple(value for value in listed if isinstance(value, str | int | float)) if isinstance(listed, list | tuple) else ()


def _name_words(name: str) -> list[str]:
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", name).replace("_", " ").replace("-", " ").lower().split()


def _kind(name: str, schema: Mapping[str, object], description: str, choices: tuple[object, ...]) -> tuple[Kind, str]:
    words, told = set(_name_words(name)), description.lower()
    sort, shape = schema.get("type"), schema.get("format")
    if choices:
        return Kind.CHOICE, "words"
    if sort == "boolean":
        return Kind.BOOLEAN, "words"
    if sort in ("integer", "number"):
        unit = _counted_in(words, told)
        return (Kind.DURATION, unit) if unit else (Kind.NUMBER, "words")
    if sort not in ("string", None) or (sort is None and "properties" in schema):
        return Kind.OTHER, "words"
    if shape in ("date", "date-time", "time"):
        return Kind.WHEN, str(shape)
    if shape == "duration":
        return Kind.DURATION, "duration"
    if shape in ("uri", "url") or words & {"url", "uri", "link"}:
        return Kind.ADDRESS, "words"
    if words & _SUMS or re.search(r"arithmetic|math\w* expression", told):
        return Kind.SUM, "words"
    if words & {"unit", "units"} or re.match(r"(the )?(\w+ )?units?\b", told):
        return Kind.UNIT, "words"
    if words & {"duration"} or re.search(r"\bhow long\b", told):
        return Kind.DURATION, "words"
    if words & _WHENS or re.match(r"when\b", told):
        return Kind.WHEN, _written(told)
    return Kind.TEXT, "words"


def _counted_in(words: set[str], told: str) -> str:
    if not words & _LENGTHS and not re.search(r"\b(duration|how long|in (seconds|minutes|hours))\b", told):
        return ""
    for unit in ("second", "minute", "hour", "day", "week"):
        if f"{unit}s" in words or re.search(rf"\b(in|of) {unit}s\b", told) or re.search(rf"\b{unit}s\b", told):
            return unit
    return "second" if words & {"duration", "delay", "timeout", "secs"} else "minute" if "mins" in words else ""


def _written(told: str) -> str:
    has_day, has_clock = "yyyy-mm-dd" in told, "hh:mm" in told
    if "iso" in told or (has_day and has_clock):
        return "date" if re.search(r"iso[\w -]*\bdate\b(?! ?-?time)", told) and not has_clock else "date-time"
    return "date" if has_day else "time" if has_clock else "words"


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
        found = ((at, read_when(self.texts, at, self.now)) for at in range(len(self.texts)))
        return {at: when for at, when in found if when}

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
                return [(at + 1, self.said(at, at + 1).rstrip(".,;!?"))] if re.match(r"https?://|www\.|[\w-]+(\.[\w-]+)+(/|$)", word) else []
            case Kind.BOOLEAN:
                return [(at + 1, value)] if (value := _YES_NO.get(self.texts[at])) is not None else []
            case _:
                return []

    def _mistaken(self, at: int) -> bool:
        return self.texts[at] in SYMBOLS and len(self.texts[at]) == 1 and not (at and (self.texts[at - 1] in ("to", "in", "°") or read_number(self.texts, at - 1)))

    def _number(self, parameter: Parameter, at: int) -> list[tuple[int, object]]:
        found = read_number(self.texts, at)
        if found and (isinstance(found[0], int) or not parameter.whole):
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
        values, end = [], at
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
                return when.resolve(self.now).time().isoformat(timespec="minutes" if "hh:mm" in parameter.description.lower() else "seconds")
            case "date-time":
                return when.resolve(self.now).isoformat(timespec="seconds")
            case _:
                return self.said(when.start, when.end)


def _says(when: When, style: str) -> bool:
    return style != "time" or when.clock is not None or when.moment is not None


_YES_NO = {"yes": True, "true": True, "on": True, "enabled": True, "no": False, "false": False, "off": False, "disabled": False}
_ALIKE: dict[str, frozenset[str]] = {
    "on": frozenset({"on"}), "off": frozenset({"off", "out"}), "up": frozenset({"up", "raise", "increase", "louder", "higher"}),
    "down": frozenset({"down", "lower", "decrease", "quieter"}), "true": frozenset({"true", "yes", "on"}), "false": frozenset({"false", "no", "off"}),
    "start": frozenset({"start", "begin"}), "stop": frozenset({"stop", "end", "halt"}), "high": frozenset({"high", "urgent"}),
    "all": frozenset({"all", "everything"}),
}  # fmt: skip


def choices_at(parameter: Parameter, texts: list[str], roots: list[str], at: int) -> list[tuple[int, object]]:
    """The choices that are said from word `at` on: as they are, inflected, or by a word for the same."""
    found: list[tuple[int, object]] = []
    for choice in parameter.choices:
        names = str(choice).replace("_", " ").replace("-", " ").lower().split()
        end = at + len(names)
        if names and [bare(name) for name in names] == roots[at:end]:
            found.append((end, choice))
        elif len(names) == 1 and (texts[at] in _ALIKE.get(names[0], ()) or (names[0].rstrip("s") in SECONDS and UNITS.get(texts[at]) == names[0].rstrip("s"))):
            found.append((at + 1, choice))
        elif isinstance(choice, int | float) and not isinstance(choice, bool):
            number = read_number(texts, at)
            if number and number[0] == choice:
                found.append((number[1], choice))
    return sorted(found, key=lambda one: -one[0])


def time_unit(choice: object) -> str:
    """The unit of time that a choice names, or nothing."""
    return UNITS.get(str(choice).lower(), "")
