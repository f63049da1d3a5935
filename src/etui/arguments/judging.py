"""Whether arguments fit a tool's schema, by `jsonschema-rs`, and the sentence that says why they do not.

A validator is compiled once for a schema and kept for its next use. No reference is ever fetched.
Above: `arguments`, `mending`. Below: `jsonschema_rs`. It refuses to know: how a value could be repaired.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn

import jsonschema_rs
import msgspec

Schema = Mapping[str, Any]
Fault = tuple[str, str]
"""A path and a sentence."""

_KEPT = 8192
"""How many validators are kept."""
_TOLD = 3
"""How many faults one sentence names."""

_kept: dict[int, tuple[object, jsonschema_rs.Validator | None]] = {}


def _reads_as(kind: Any) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            msgspec.convert(text, kind)
        except msgspec.ValidationError:
            return False
        return True

    return check


def _is_finite(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False


_FORMATS: dict[str, Callable[..., bool]] = {
    "date": _reads_as(date),
    "date-time": _reads_as(datetime),
    "time": _reads_as(time),
    "duration": _reads_as(timedelta),
    "decimal": _is_finite,
}
_EXAMPLES = {
    "date": "a date such as 2026-04-01",
    "date-time": "a date and time such as 2026-04-01T09:00:00",
    "time": "a time such as 09:00:00",
    "duration": "a duration such as PT10M",
    "path": "a path",
    "decimal": "a decimal number, as text",
    "uuid": "an id such as 123e4567-e89b-12d3-a456-426614174000",
    "email": "an address such as name@example.org",
    "uri": "an address such as https://example.org/",
}
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_MANY = {
    "text": "text",
    "a whole number": "whole numbers",
    "a number": "numbers",
    "an object": "objects",
    "a list": "lists",
    "another value": "items",
}
"""What `expected` says of one, said of several."""


def _fetch_nothing(uri: str) -> NoReturn:
    raise ValueError(f"the reference {uri!r} is not fetched")


def validator(schema: Any) -> jsonschema_rs.Validator | None:
    """The compiled schema, or None where it is no schema that can be used."""
    found = _kept.get(id(schema))
    if found is not None and found[0] is schema:
        return found[1]
    try:
        made = jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats=_FORMATS, retriever=_fetch_nothing)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError, RecursionError):
        made = None
    while len(_kept) >= _KEPT:
        _kept.pop(next(iter(_kept)))
    _kept[id(schema)] = (schema, made)
    return made


def fits(value: object, schema: Any) -> bool:
    """Whether the value is valid; a schema that cannot be used fits nothing."""
    compiled = validator(schema)
    return compiled is not None and compiled.is_valid(value)


def judge(arguments: dict[str, Any], schema: Schema, notes: list[str] | None = None) -> Fault | None:
    """What is wrong with the arguments, or None. A schema that cannot be used judges nothing, which `notes` is told."""
    compiled = validator(schema)
    if compiled is None:
        if notes is not None:
            notes.append("The tool's schema cannot be used, so the arguments were not checked.")
        return None
    if compiled.is_valid(arguments):
        return None
    faults = [_fault(error, schema) for error in itertools.islice(compiled.iter_errors(arguments), _TOLD)]
    return faults[0][0], " ".join(dict.fromkeys(sentence for _, sentence in faults))


def _fault(error: jsonschema_rs.ValidationError, schema: Schema) -> Fault:
    path = _path(error.instance_path)
    keyword = str(error.schema_path[-1]) if error.schema_path else ""
    around = _at(schema, error.schema_path[:-1])
    kind: Any = error.kind
    if kind.name == "required":
        missing = _path([*error.instance_path, kind.property])
        inner = _at(around, ("properties", kind.property))
        wanted = f"; it must be {expected(inner)}{_meaning(inner)}" if inner else ""
        return missing, f"The argument {missing!r} is missing{wanted}."
    if kind.name == "additionalProperties":
        extra = ", ".join(repr(one) for one in kind.unexpected)
        known = ", ".join(repr(one) for one in _at(around, ("properties",))) or "nothing"
        return path, f"There is no {extra} in {_named(path)}; it takes {known}."
    if kind.name == "falseSchema":
        return path, f"{_named(path, True)} does not fit: nothing may be given there."
    if kind.name == "uniqueItems":
        return path, f"{_named(path, True)} must hold no item twice; {shown(error.instance)} was given."
    if keyword and around:
        return path, f"{_named(path, True)} must be {expected(around)}{_meaning(around)}; {shown(error.instance)} was given."
    return path, f"{_named(path, True)} does not fit: {str(error.message)[:200]}."


def _named(path: str, first: bool = False) -> str:
    if not path:
        return "The arguments object" if first else "the arguments"
    return f"{'The' if first else 'the'} argument {path!r}"


def _path(parts: Sequence[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return text.removeprefix(".")[:200]


def _at(schema: Any, path: Iterable[str | int]) -> Schema:
    for part in path:
        try:
            schema = schema[part]
        except (KeyError, IndexError, TypeError):
            return {}
    return schema if isinstance(schema, Mapping) else {}


def _meaning(schema: Schema) -> str:
    told = schema.get("description")
    return f" ({told[:120].rstrip('.')})" if isinstance(told, str) and told.strip() else ""


def shown(value: object) -> str:
    """A value as a person can read it, cut short."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def expected(schema: Any) -> str:
    """What a schema wants, in words."""
    if not isinstance(schema, Mapping):
        return "something else"
    if isinstance(options := schema.get("enum"), list):
        return "one of " + ", ".join(shown(option) for option in options[:20]) + (", ..." if len(options) > 20 else "")
    if "const" in schema:
        return shown(schema["const"])
    for key in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(key), list):
            return " or ".join(dict.fromkeys(expected(branch) for branch in branches))
    if isinstance(name := schema.get("format"), str) and name in _EXAMPLES:
        return _EXAMPLES[name]
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    words = " or ".join(_WORDS.get(str(name), str(name)) for name in names) or "another value"
    return words + _of(schema) + _bounds(schema)


def _of(schema: Schema) -> str:
    if schema.get("type") == "array" and isinstance(items := schema.get("items"), Mapping) and items:
        return f" of {_MANY.get(inner := expected(items), 'items, each ' + inner)}"
    if schema.get("type") == "object" and isinstance(names := schema.get("properties"), Mapping) and names:
        return " with " + ", ".join(repr(name) for name in list(names)[:20])
    return ""


def _bounds(schema: Schema) -> str:
    told = []
    for key, words in (
        ("minimum", "at least {}"),
        ("exclusiveMinimum", "more than {}"),
        ("maximum", "at most {}"),
        ("exclusiveMaximum", "less than {}"),
        ("multipleOf", "a multiple of {}"),
        ("minLength", "at least {} character{s} long"),
        ("maxLength", "at most {} character{s} long"),
        ("minItems", "with at least {} item{s}"),
        ("maxItems", "with at most {} item{s}"),
        ("pattern", "like {}"),
    ):
        if key in schema:
            told.append(words.format(schema[key], s="" if schema[key] == 1 else "s"))
    return ", " + " and ".join(told) if told else ""
