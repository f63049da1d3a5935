"""From one parameter's hint to its JSON Schema and to the decoding of its value.

`msgspec` does both; this module adds what it leaves out: descriptions and bounds in `Annotated`, durations in seconds, paths,
unions that `msgspec` cannot tell apart, and a schema that holds no `$ref`. Above: `functions`. Below: `msgspec`.
It refuses to know: functions, tools and docstrings.
"""

from __future__ import annotations

import collections.abc
import enum
import types
import typing
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from pathlib import Path, PosixPath, PurePath, PurePosixPath
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

Schema = dict[str, Any]

_NODES = 2000
"""A schema of more parts than this is of no use to a model."""
_DEPTH = 3
"""How often a type that holds itself is written out inside itself."""


class Unsupported(Exception):
    """The hint cannot be offered to a model; the text is a sentence's end that says why."""


class Duration(timedelta):
    """A `timedelta` that is also read from a number of seconds; functions get it as the `timedelta` that it is."""


def _duration(value: object) -> Duration:
    if isinstance(value, str):
        value = msgspec.convert(value, timedelta)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("expected a number of seconds or an ISO 8601 duration such as 'PT10M'")
    else:
        try:
            value = timedelta(seconds=value)
        except OverflowError:
            raise ValueError("expected a duration of fewer seconds") from None
    return Duration(days=value.days, seconds=value.seconds, microseconds=value.microseconds)


def _path(kind: type[PurePath]) -> Callable[[object], PurePath]:
    def convert(value: object) -> PurePath:
        if not isinstance(value, str) or "\0" in value:
            raise ValueError("expected a path, as text")
        return kind(value)

    return convert


_CUSTOM: Mapping[type, tuple[Schema, Callable[[object], object]]] = {
    Duration: (
        {
            "anyOf": [{"type": "number"}, {"type": "string", "format": "duration"}],
            "description": "A duration: a number of seconds, or ISO 8601 such as PT10M.",
        },
        _duration,
    ),
    **{kind: ({"type": "string", "format": "path"}, _path(kind)) for kind in (Path, PurePath, PosixPath, PurePosixPath)},
}
_FORMATS: Mapping[object, str] = {datetime: "date-time", time: "time", date: "date"}
_SAME = frozenset({str, int, float, bool})
"""What a value of exactly the wanted type stays."""
_LISTS = frozenset({collections.abc.Iterable, collections.abc.Iterator})
_BOUNDS = ("gt", "ge", "lt", "le", "multiple_of", "pattern", "min_length", "max_length")


class Kind(msgspec.Struct, frozen=True):
    """How the values of one parameter look and how they are made."""

    schema: Schema
    decoders: tuple[Any, ...]
    """Types for `msgspec`, tried in this order."""

    def decode(self, value: object) -> object:
        """The Python value. Raises `msgspec.ValidationError`, whose text ends in the path from `$`."""
        if type(value) in _SAME and type(value) is self.decoders[0]:
            return value
        for decoder in self.decoders[:-1]:
            try:
                return msgspec.convert(value, decoder, str_keys=True, dec_hook=_decode)
            except msgspec.ValidationError:
                continue
        return msgspec.convert(value, self.decoders[-1], str_keys=True, dec_hook=_decode)


def kind_of(hint: object) -> Kind:
    """The kind of values that a resolved hint allows. Raises `Unsupported`."""
    if not isinstance(hint, collections.abc.Hashable):
        raise Unsupported(f"{hint!r} is a value and no type; a list of numbers, for instance, is list[int]")
    hint = _rewritten(hint)
    try:
        return Kind(_inlined(hint), (hint,))
    except (TypeError, NotImplementedError, ValueError, RecursionError) as error:
        bare, metadata = _unwrapped(hint)
        members = get_args(bare) if is_union(bare) else ()
        if len(members) < 2:
            raise Unsupported(_reason(error)) from None
    kinds = [kind_of(Annotated[(member, *metadata)] if metadata else member) for member in members]
    description = next((meta.description for meta in metadata if isinstance(meta, msgspec.Meta) and meta.description), None)
    schema: Schema = {
        "anyOf": [{k: v for k, v in kind.schema.items() if k != "description" or not description} for kind in kinds]
    }
    if description:
        schema["description"] = description
    return Kind(schema, tuple(decoder for kind in kinds for decoder in kind.decoders))


def nullable(kind: Kind) -> Kind:
    """The same kind, with null allowed as well."""
    if accepts_null(kind.schema):
        return kind
    inner = dict(kind.schema)
    schema: Schema = {"anyOf": [inner, {"type": "null"}]}
    if "description" in inner:
        schema["description"] = inner.pop("description")
    return Kind(schema, (*kind.decoders, type(None)))


def accepts_null(schema: Mapping[str, Any]) -> bool:
    """Whether null fits a schema that this module made."""
    if "anyOf" in schema:
        return any(accepts_null(one) for one in schema["anyOf"])
    if "enum" in schema:
        return None in schema["enum"]
    return bool(schema.get("type", "null") == "null")


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it nests too deeply"
    text = str(error).strip().splitlines()
    if text and text[0].startswith("Generating JSON schema for custom types"):
        return f"{text[-1].removeprefix('type ').removesuffix(' is not supported').strip()} has no form in JSON"
    return " ".join(text) or type(error).__name__


def is_union(hint: object) -> bool:
    """Whether a hint is a union, in either of its two forms."""
    return get_origin(hint) in (Union, types.UnionType)


def _unwrapped(hint: object) -> tuple[Any, tuple[Any, ...]]:
    if get_origin(hint) is Annotated:
        base, *metadata = get_args(hint)
        return base, tuple(metadata)
    return hint, ()


def _rewritten(hint: Any) -> Any:
    """The hint as `msgspec` reads it: the same values, in words that it knows."""
    if hint is None:
        return type(None)
    if hint is object:
        return Any
    if hint is timedelta:
        return Duration
    if isinstance(hint, typing.ForwardRef):  # where an alias names itself: what lies so deep is taken as it comes
        return Any
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _choice(hint)
    if hint in _LISTS:
        return list
    if hint in (datetime, time):
        return Annotated[hint, msgspec.Meta(extra_json_schema={"format": _FORMATS[hint]})]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:])
    if origin is Literal or not arguments:
        return hint
    inner = tuple(arg if arg is Ellipsis or isinstance(arg, list) else _rewritten(arg) for arg in arguments)
    if is_union(hint):
        return Union[inner]  # noqa: UP007 - made at run time
    if origin in _LISTS:
        return list[inner[0]]  # type: ignore[valid-type]
    if inner == arguments or origin is None:
        return hint
    return origin[inner if len(inner) > 1 else inner[0]]


def _choice(members: type[enum.Enum]) -> Any:
    """An `Enum` as `msgspec` reads it: itself, if it holds nothing but texts or nothing but whole numbers."""
    values = [member.value for member in members]
    if not values or any({type(value) for value in values} <= {kind} for kind in (str, int)):
        return members
    return _Choice(members.__name__, (), {"members": members})


class _Choice(type):
    """Stands for an `Enum` of any values: a model chooses by value where JSON has all of them, and else by name."""

    members: type[enum.Enum]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.members)

    def choices(cls) -> dict[str, tuple[Any, Any]]:
        """What a model sends and the member that it means, by how JSON writes it."""
        by_value = all(type(member.value) in (str, int, bool, float, type(None)) for member in cls.members)
        sent = ((member.value if by_value else member.name, member) for member in cls.members)
        return {_written(word): (word, member) for word, member in sent}

    def made(cls, value: object) -> object:
        """The member that a value means. Raises ValueError."""
        found = cls.choices().get(_written(value))
        if found is None:
            raise ValueError("expected one of " + ", ".join(cls.choices()))
        return found[1]


def _written(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _annotated(base: Any, metadata: tuple[Any, ...]) -> Any:
    """`Annotated` with each piece of metadata that says something turned into `msgspec.Meta`."""
    metas = [meta for piece in metadata for meta in _metas(piece)]
    base = _rewritten(base)
    if not metas:
        return base
    bare, above = _unwrapped(base)
    if is_union(bare) and type(None) in get_args(bare) and any(_is_bound(meta) for meta in metas):
        others = tuple(member for member in get_args(bare) if member is not type(None))
        told = [meta for meta in metas if not _is_bound(meta)]
        bounds = [meta for meta in metas if _is_bound(meta)]
        optional = Union[(Annotated[(Union[others], *bounds)], None)]  # type: ignore[valid-type]  # noqa: UP007
        return Annotated[(optional, *above, *told)] if above or told else optional
    return Annotated[(bare, *above, *metas)]


def _is_bound(meta: Any) -> bool:
    return any(getattr(meta, bound, None) is not None for bound in _BOUNDS)


def _metas(piece: Any) -> list[Any]:
    if isinstance(piece, msgspec.Meta):
        return [piece]
    if isinstance(piece, str):
        return [msgspec.Meta(description=piece)] if piece.strip() else []
    metas = []
    if isinstance(told := getattr(piece, "description", None) or getattr(piece, "documentation", None), str):
        metas.append(msgspec.Meta(description=told))
    bounds = {bound: value for bound in _BOUNDS if (value := getattr(piece, bound, None)) is not None}
    if bounds and not isinstance(piece, type):
        metas.extend(msgspec.Meta(**{bound: value}) for bound, value in bounds.items())
    inner = getattr(piece, "metadata", None)
    if isinstance(inner, list | tuple):
        metas.extend(meta for one in inner for meta in _metas(one))
    return metas


def _foreign_schema(kind: type) -> Schema:
    if kind in _CUSTOM:
        return dict(_CUSTOM[kind][0])
    if isinstance(kind, _Choice):
        return {"enum": [word for word, _ in kind.choices().values()]}
    told = getattr(kind, "model_json_schema", None)
    if callable(told):
        return dict(told())
    raise NotImplementedError


def _decode(kind: type, value: object) -> object:
    if kind in _CUSTOM:
        return _CUSTOM[kind][1](value)
    if isinstance(kind, _Choice):
        return kind.made(value)
    validate = getattr(kind, "model_validate", None)
    if callable(validate):
        return validate(value)
    raise NotImplementedError(f"{kind.__name__} cannot be made from JSON")


def _inlined(hint: object) -> Schema:
    """The schema of a hint with every reference written out and nothing in it but meaning."""
    (schema,), definitions = msgspec.json.schema_components([hint], schema_hook=_foreign_schema)
    inlined: Schema = _Inliner(definitions).schema(schema, ())
    return inlined


class _Inliner:
    """Writes a schema out, counting its parts."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = dict(definitions)
        self._nodes = 0

    def schema(self, node: Any, inside: tuple[str, ...]) -> Any:
        """One schema; `inside` are the names of the definitions that it stands in."""
        if not isinstance(node, dict):
            return node
        self._nodes += 1
        if self._nodes > _NODES:
            raise ValueError("it is too large to be written out for a model")
        if "$ref" in node:
            return self._reference(node, inside)
        local = node.get("$defs")
        if isinstance(local, dict):
            self._definitions = {**self._definitions, **local}
        out = {
            key: self._part(key, value, inside) for key, value in node.items() if key not in ("title", "$defs", "discriminator")
        }
        if out.get("required") == []:
            del out["required"]
        if out.get("type") == "array" and "items" not in out:
            out["items"] = False if "prefixItems" in out else {}
        return out

    def _reference(self, node: Schema, inside: tuple[str, ...]) -> Schema:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        beside = {key: value for key, value in node.items() if key != "$ref"}
        if name not in self._definitions:
            raise ValueError(f"its schema refers to {name!r}, which is nowhere")
        if inside.count(name) >= _DEPTH:
            return {"type": self._definitions[name].get("type", "object"), "description": f"Another {name}.", **beside}
        return {**self.schema(self._definitions[name], (*inside, name)), **beside}

    def _part(self, key: str, value: Any, inside: tuple[str, ...]) -> Any:
        if key in ("properties", "patternProperties", "dependentSchemas") and isinstance(value, dict):
            return {name: self.schema(one, inside) for name, one in value.items()}
        if key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            return [self.schema(one, inside) for one in value]
        if key in ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"):
            return self.schema(value, inside)
        return value


def resolved(annotation: object, globals: dict[str, Any], scope: Mapping[str, object]) -> Any:
    """The hint behind an annotation that may be text. Raises what its evaluation raises."""
    holder = types.SimpleNamespace(__annotations__={"hint": annotation})
    return typing.get_type_hints(holder, globals, dict(scope), include_extras=True)["hint"]
