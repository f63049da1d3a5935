"""Repair of arguments without loss, towards what a schema declares and never further.

"3" becomes 3 where an integer is declared, and stays "3" where text is. What has more than one meaning is left as it came, for
the validator to refuse. A value that is valid is never changed. Above: `arguments`. Below: `judging`.
It refuses to know: tools, and what will be said about what cannot be repaired.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from etui.arguments.judging import Schema, fits

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z", re.ASCII)
_SEPARATORS = re.compile(r"[,;\n]| and | or ")
_NOT_MENDED = object()


def mended(arguments: dict[str, Any], schema: Schema, notes: list[str] | None = None) -> dict[str, Any]:
    """The arguments, repaired; the same object where nothing was to do. `notes` is told which names were left out."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        properties = {}
    if schema.get("additionalProperties") is False and not schema.get("patternProperties"):
        arguments = _known_only(arguments, properties, notes)
    return _fields(arguments, schema, properties)


def _known_only(arguments: dict[str, Any], properties: Mapping[str, Any], notes: list[str] | None) -> dict[str, Any]:
    """Without the names that the tool does not take; one written a little differently is the one that is meant."""
    strange = [name for name in arguments if name not in properties]
    if not strange:
        return arguments
    known = {name: value for name, value in arguments.items() if name in properties}
    meant: dict[str, list[str]] = {}
    for name in properties:
        if name not in known:
            meant.setdefault(_folded(name), []).append(name)
    dropped = []
    for name in strange:
        names = meant.get(_folded(name), [])
        if len(names) == 1 and sum(_folded(other) == _folded(name) for other in strange) == 1:
            known[names[0]] = arguments[name]
        else:
            dropped.append(name)
    if dropped and notes is not None:
        notes.append("Left out what the tool does not take: " + ", ".join(repr(name[:80]) for name in dropped[:20]) + ".")
    return known


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


def _fields(value: dict[str, Any], schema: Schema, properties: Mapping[str, Any]) -> dict[str, Any]:
    required = schema.get("required") or ()
    rest = schema.get("additionalProperties")
    out: dict[str, Any] | None = None
    for name, inner in value.items():
        declared = properties.get(name, rest)
        if not isinstance(declared, Mapping):
            continue
        if inner is None and name in properties and name not in required and not fits(None, declared):
            out = dict(value) if out is None else out
            del out[name]
            continue
        new = _value(inner, declared)
        if new is not inner:
            out = dict(value) if out is None else out
            out[name] = new
    return value if out is None else out


def _value(value: Any, schema: Any) -> Any:
    """One value, repaired towards its schema, or itself."""
    if not isinstance(schema, Mapping) or not schema:
        return value
    for key in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(key), list):
            return _one_of(value, branches)
    for part in schema.get("allOf") or ():
        value = _value(value, part)
    if isinstance(options := schema.get("enum"), list):
        return _option(value, options)
    if "const" in schema:
        return _option(value, [schema["const"]])
    kinds = schema.get("type")
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds) if isinstance(kinds, list) else ()
    if not kinds:
        return _inside(value, schema)
    if _is_one(value, kinds):
        return _inside(value, schema)
    new = _towards(value, kinds, schema)
    return value if new is _NOT_MENDED else new


def _is_one(value: Any, kinds: Sequence[str]) -> bool:
    """Whether the value has one of the declared types already, in the form in which Python holds it."""
    match value:
        case None:
            return "null" in kinds
        case bool():
            return "boolean" in kinds
        case int():
            return "integer" in kinds or "number" in kinds
        case float():
            return "number" in kinds
        case str():
            return "string" in kinds
        case list():
            return "array" in kinds
    return "object" in kinds


def _inside(value: Any, schema: Schema) -> Any:
    """A value of the right type, with its members repaired."""
    match value:
        case dict():
            properties = schema.get("properties")
            return _fields(value, schema, properties if isinstance(properties, Mapping) else {})
        case list():
            return _items(value, schema)
        case str() if "format" in schema:
            return _formatted(value, schema["format"])
    return value


def _items(value: list[Any], schema: Schema) -> list[Any]:
    first = schema.get("prefixItems") or ()
    rest = schema.get("items")
    out = [_value(inner, first[number] if number < len(first) else rest) for number, inner in enumerate(value)]
    return value if all(new is old for new, old in zip(out, value, strict=True)) else out


def _formatted(text: str, name: object) -> str:
    """A date or time that lacks nothing but seconds of zero, written out."""
    text_ = text.strip()
    if name == "time" and re.fullmatch(r"\d\d:\d\d", text_):
        return f"{text_}:00"
    if name == "date-time" and (match := re.fullmatch(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(Z|[+-]\d\d:\d\d)?", text_)):
        return f"{match[1]}T{match[2]}:00{match[3] or ''}"
    if name == "date" and (match := re.fullmatch(r"(\d{4}-\d\d-\d\d)[T ]00:00(:00(\.0+)?)?", text_)):
        return match[1]
    return text_ if name in ("time", "date-time", "date", "duration") else text


def _towards(value: Any, kinds: Sequence[str], schema: Schema) -> Any:
    """The value as one of the declared types, which it is not yet; `_NOT_MENDED` where that is not possible without loss."""
    if isinstance(value, float) and value.is_integer() and "integer" in kinds and abs(value) < 2**63:
        return int(value)
    if isinstance(value, str) and (new := _from_text(value, kinds)) is not _NOT_MENDED:
        return _inside(new, schema)
    if "string" in kinds and value is not None and not isinstance(value, str):
        return _to_text(value)
    if "array" in kinds and value is not None:
        return _single(value, schema)
    return _NOT_MENDED


def _from_text(text: str, kinds: Sequence[str]) -> Any:
    """What a text says, where text itself is not declared."""
    bare = text.strip()
    if "integer" in kinds or "number" in kinds:
        number = _number(bare, whole="number" not in kinds)
        if number is not _NOT_MENDED:
            return number
    if "boolean" in kinds and bare.casefold() in ("true", "false"):
        return bare.casefold() == "true"
    if "null" in kinds and bare.casefold() in ("null", "none"):
        return None
    if ("object" in kinds and bare.startswith("{")) or ("array" in kinds and bare.startswith("[")):
        try:
            return msgspec.json.decode(bare)
        except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
            return _NOT_MENDED
    return _NOT_MENDED


def _number(text: str, whole: bool) -> Any:
    """The finite number that a text is, an int where it is whole."""
    if len(text) > 400 or not _NUMBER.match(text):
        return _NOT_MENDED
    if text.lstrip("+-").isdigit():
        return int(text) if -(2**63) <= int(text) < 2**64 else _NOT_MENDED
    number = float(text)
    if not math.isfinite(number):
        return _NOT_MENDED
    if number.is_integer() and abs(number) < 2**53:
        return int(number)
    return _NOT_MENDED if whole else number


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _single(value: Any, schema: Schema) -> Any:
    """A list of the one value that was sent in place of a list; not where the value may have meant several."""
    if isinstance(value, str) and (not value.strip() or _SEPARATORS.search(value)):
        return _NOT_MENDED
    made = _items([value], schema)
    return made if fits(made, schema) else _NOT_MENDED


def _one_of(value: Any, branches: Sequence[Any]) -> Any:
    """The value, repaired towards the branch that it fits, or else towards the first that it can be made to fit."""
    for branch in branches:
        if fits(value, branch):
            return _value(value, branch)
    made = [new for branch in branches if (new := _value(value, branch)) is not value and fits(new, branch)]
    made.sort(key=lambda new: isinstance(new, list) and not isinstance(value, list))
    return made[0] if made else value


def _option(value: Any, options: Sequence[Any]) -> Any:
    """The one option that is meant: the same but for case, spaces or the way a number is written."""
    if any(_same(value, option) for option in options):
        return value
    if isinstance(value, dict | list) or value is None:
        return value
    told = _folded(value if isinstance(value, str) else _to_text(value))
    meant = [option for option in options if not isinstance(option, dict | list) and _folded(_plain(option)) == told]
    return meant[0] if len(meant) == 1 else value


def _plain(option: Any) -> str:
    return option if isinstance(option, str) else "null" if option is None else _to_text(option)


def _same(value: Any, option: Any) -> bool:
    return bool(value == option) and isinstance(value, bool) == isinstance(option, bool)


Misfit = tuple[str, str, Any, Schema]
"""An argument's name, what is declared in a word or two, what was sent, and its schema."""


def coerced(arguments: dict[str, Any], schema: Schema) -> tuple[dict[str, Any], list[Misfit]]:
    """The arguments with declared numbers, booleans and lists of numbers made so, and what cannot be; text is left alone."""
    properties = schema.get("properties")
    out: dict[str, Any] | None = None
    faults: list[Misfit] = []
    for name, declared in properties.items() if isinstance(properties, Mapping) else ():
        if name not in arguments or arguments[name] is None or not isinstance(declared, Mapping):
            continue
        value = arguments[name]
        new = _coerced(value, declared)
        if new is _NOT_MENDED:
            faults.append((name, _kind(declared), value, declared))
        elif new is not value:
            out = dict(arguments) if out is None else out
            out[name] = new
    return (arguments if out is None or faults else out), faults


def _kind(declared: Schema) -> str:
    """A number or a list of numbers, in the words of the schema."""
    items = declared.get("items")
    of = f" of {items.get('type')}" if isinstance(items, Mapping) and declared.get("type") == "array" else ""
    return f"{declared.get('type')}{of}"


def _coerced(value: Any, declared: Schema) -> Any:
    match declared.get("type"):
        case "integer" | "number" as kind:
            return _coerced_number(value, kind == "integer")
        case "boolean":
            return _coerced_boolean(value)
        case "array":
            items = declared.get("items")
            if isinstance(items, Mapping) and items.get("type") in ("integer", "number"):
                return _coerced_list(value, items["type"] == "integer")
    return value


def _coerced_number(value: Any, whole: bool) -> Any:
    if isinstance(value, bool):
        return _NOT_MENDED
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if not whole else int(value) if value.is_integer() else _NOT_MENDED
    return _number(value.strip(), whole) if isinstance(value, str) else _NOT_MENDED


def _coerced_boolean(value: Any) -> Any:
    """The truth that a word is; what is none passes as it is."""
    if isinstance(value, bool):
        return value
    word = value.strip().casefold() if isinstance(value, str) else str(value) if isinstance(value, int) else ""
    if word in ("true", "1", "yes"):
        return True
    return False if word in ("false", "0", "no") else value


def _coerced_list(value: Any, whole: bool) -> Any:
    if isinstance(value, str):
        bare = value.strip().removeprefix("[").removesuffix("]")
        value = [part.strip() for part in bare.split(",")] if bare.strip() else []
    if not isinstance(value, list):
        return _NOT_MENDED
    out = [_coerced_number(inner, whole) for inner in value]
    return _NOT_MENDED if any(inner is _NOT_MENDED for inner in out) else out
