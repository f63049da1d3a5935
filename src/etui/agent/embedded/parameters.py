"""What a tool wants to know: each parameter of a JSON Schema as a kind that can be read out of a sentence.

Above: templates and fill. Below: the parsers. It refuses to know tools by name: a kind follows from the type, the format, the
choices, and from what the parameter is called and how it is described.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

import msgspec


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
    least: float | None = None
    most: float | None = None
    """The bounds of a number, themselves allowed."""
    free: bool = False
    """A text of any length, such as a message; otherwise a name of something, of a few words."""

    def allows(self, number: float) -> bool:
        """Whether a number is within the bounds."""
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)

    @property
    def place(self) -> bool:
        """True for the name of a place."""
        return self.name.split("_")[-1] in ("city", "place", "location", "country", "town", "region")

    @property
    def person(self) -> bool:
        """True for the name of a person."""
        return self.name.split("_")[-1] in ("recipient", "person", "contact", "to", "friend", "who", "addressee")

    @property
    def file(self) -> bool:
        """True for the name of a file."""
        return bool(set(_name_words(self.name)) & {"file", "path", "filename"})

    @property
    def spoken(self) -> str:
        """Its name as a person would say it."""
        return self.name.replace("_", " ").strip()


_FREE = {
    "text",
    "message",
    "body",
    "content",
    "note",
    "fact",
    "memory",
    "task",
    "reminder",
    "what",
    "sentence",
    "description",
    "comment",
    "title",
}
_WHENS = {"when", "date", "datetime", "due", "day", "deadline", "start", "until", "at", "time", "moment"}
_PLACED = r"^$|\b(where|place|stop|station|city|address|point|line|page|character|number)\b"
"""How the start of a way or a text is described, or not at all; that of a time is described as one."""
_SUMS = {"expression", "formula", "calculation", "equation", "arithmetic", "sum"}
_LENGTHS = {"duration", "seconds", "minutes", "hours", "delay", "length", "timeout", "secs", "mins", "days", "weeks"}


def parameters_of(schema: Mapping[str, object]) -> tuple[Parameter, ...]:
    """The parameters of a tool's schema, in their order; what makes no sense is left out."""
    properties, required = schema.get("properties"), schema.get("required")
    wanted = {name for name in required if isinstance(name, str)} if isinstance(required, list | tuple) else set()
    if not isinstance(properties, Mapping):
        return ()
    return tuple(
        _parameter(str(name), kind, str(name) in wanted) for name, kind in properties.items() if isinstance(kind, Mapping)
    )


def _parameter(name: str, schema: Mapping[str, object], required: bool) -> Parameter:
    schema = _unwrapped(schema)
    description = str(schema.get("description") or schema.get("title") or "")
    many = schema.get("type") == "array"
    inner = _unwrapped(items) if many and isinstance(items := schema.get("items"), Mapping) else schema
    choices = _choices(inner)
    kind, style = _kind(name, inner, description, choices)
    return Parameter(
        name=name,
        kind=kind,
        required=required,
        description=description,
        choices=choices,
        many=many,
        style=style,
        whole=inner.get("type") == "integer",
        least=_bound(inner, "minimum"),
        most=_bound(inner, "maximum"),
        free=kind is Kind.TEXT and not many and bool(_FREE & set(_name_words(name))),
    )


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


def _bound(schema: Mapping[str, object], key: str) -> float | None:
    value = schema.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


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
    if (words & _WHENS and not ("start" in words and re.search(_PLACED, told))) or re.match(r"when\b", told):
        return Kind.WHEN, _written(told, bool(words & {"day", "date"}))
    return Kind.TEXT, "words"


def _counted_in(words: set[str], told: str) -> str:
    if not words & _LENGTHS and not re.search(r"\b(duration|how long|in (seconds|minutes|hours))\b", told):
        return ""
    for unit in ("second", "minute", "hour", "day", "week"):
        if f"{unit}s" in words or re.search(rf"\b(in|of) {unit}s\b", told) or re.search(rf"\b{unit}s\b", told):
            return unit
    return "second" if words & {"duration", "delay", "timeout", "secs"} else "minute" if "mins" in words else ""


def _written(told: str, day: bool) -> str:
    if re.search(r"\bwords\b", told):
        return "words"
    has_day, has_clock = "yyyy-mm-dd" in told, "hh:mm" in told
    if "iso" in told or (has_day and has_clock):
        only_day = re.search(r"iso[\w -]*\bdate\b(?! ?-?time)", told) and not has_clock
        return "date" if only_day or day else "date-time"
    return "date" if has_day else "time" if has_clock else "words"
