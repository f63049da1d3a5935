"""From whatever a tool gave back to what can travel: text for the model, JSON values, images and files.

Nothing is guessed from truth or falsehood: `0`, `False`, `""` and `[]` each arrive as themselves. Bytes never become text.
Above: `calling`, `functions` and `context`. Below: `media`, the nouns.
It refuses to know: which tool it was, and how an outcome is shown.
"""

from __future__ import annotations

import base64
import collections.abc
import dataclasses
import math
import reprlib
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import msgspec

from etui.contracts import Ran
from etui.contracts.etui.authoring import Refusal, Result, ToolError
from etui.contracts.media import Media, Unusable, clean, data_uri, repr_of
from etui.outcome import File, Image, Status

DEPTH = 100
"""How deep a result may nest."""
ITEMS = 1_000_000
"""How many values a result may hold."""
NOTHING = "Done; there is nothing to report."
"""What the model reads when a tool gave back None."""


def ran(value: object) -> Ran:
    """The end of a call that gave back `value`. Raises nothing."""
    try:
        return _ran(value)
    except Unusable as error:
        return _unusable(str(error), repr_of(error.__cause__) if error.__cause__ else _seen(value))
    except RecursionError:
        return _unusable("it nests too deeply", _seen(value))
    except Exception as error:  # a property, an iterator or a __str__ of the tool's own may raise anything
        return _unusable(f"reading it raised {type(error).__name__}", repr_of(error))


def plain(value: object) -> Any:
    """A value as JSON values only, for state and structured data; bytes are Base64. Raises ToolError for what has none."""
    try:
        return _Plain(None).value(value, 0)
    except Unusable as error:
        raise ToolError(f"This value cannot be kept: {error}.") from None


def refusal(sentence: str) -> Ran:
    """The tool itself said no."""
    return Ran(status=Status.REFUSED, text=clean(str(sentence)).strip() or "The tool refused and did not say why.")


def failure(sentence: str, detail: str = "") -> Ran:
    """The tool failed in a way that may be told."""
    return Ran(
        status=Status.FAILED, text=clean(str(sentence)).strip() or "The tool failed and did not say why.", detail=clean(detail)
    )


def _unusable(reason: str, detail: str) -> Ran:
    text = f"The tool ran, but its result cannot be passed on: {reason}."
    return Ran(status=Status.FAILED, text=clean(text), detail=clean(detail))


def _seen(value: object) -> str:
    """What the tool gave, for its owner, cut short."""
    try:
        return f"It gave {_glance.repr(value)}"
    except Exception as error:  # whatever stands in the value may raise anything
        return f"It gave what cannot be shown ({type(error).__name__})"


def _ran(value: object) -> Ran:
    if isinstance(value, Refusal):
        return refusal(value.sentence)
    if isinstance(value, ToolError):
        return failure(value.sentence)
    if isinstance(value, str) and not value.startswith("data:"):
        text = clean(value)
        return Ran(status=Status.OK, text=text) if text.strip() else Ran(status=Status.OK, text=_json(text), data=text)
    if value is None:
        return Ran(status=Status.OK, text=NOTHING)
    media = Media()
    if isinstance(value, Result):
        return _result(value, media)
    data = _Plain(media).value(value, 0)
    text = data if isinstance(data, str) else _json(data)
    return Ran(status=Status.OK, text=text, data=data, images=tuple(media.images), files=tuple(media.files))


def _result(result: Result, media: Media) -> Ran:
    data = None if result.data is None else _Plain(media).value(result.data, 0)
    text = result.text if isinstance(result.text, str) else _json(_Plain(media).value(result.text, 0))
    for image in _each(result.images):
        media.add_image(image)
    for file in _each(result.files):
        media.add_file(file)
    if not text.strip():
        text = _json(data) if data is not None else media.listed() or NOTHING
    return Ran(
        status=Status.OK,
        text=clean(text),
        shown=clean(str(result.shown or "")),
        data=data,
        images=tuple(media.images),
        files=tuple(media.files),
        silent=None if result.silent is None else bool(result.silent),
    )


def _each(value: object) -> Iterable[object]:
    """The members of a list, or a single thing that was given in its place."""
    if value is None:
        return ()
    if isinstance(value, str | bytes | bytearray | memoryview | Image | File | PurePath):
        return (value,)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], bytes | bytearray):
        return (value,)
    return value if isinstance(value, Iterable) else (value,)


_WRITTEN = frozenset({"fractions", "ipaddress"})
"""Modules of the standard library whose values are told as they are written."""
_glance = reprlib.Repr()
_glance.maxother = _glance.maxstring = 300
_encoder = msgspec.json.Encoder()


def _json(data: object) -> str:
    return _encoder.encode(data).decode()


class _Plain:
    """Turns one value into JSON values."""

    def __init__(self, media: Media | None) -> None:
        self._media = media
        self._inside: set[int] = set()
        self._count = 0

    def value(self, value: Any, depth: int) -> Any:
        """The value as JSON values. Raises `Unusable`."""
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            return self._text(value)
        if kind is int:
            return value if -(2**63) <= value < 2**64 else str(_big(value))
        if kind is float:
            return value if math.isfinite(value) else None
        self._count += 1
        if self._count > ITEMS:
            raise Unusable(f"it holds more than {ITEMS:,} values")
        if kind is dict or kind is list:
            return self._container(value, depth)
        if (simple := self._simple(value)) is not self:
            return simple
        return self._container(value, depth)

    def _text(self, text: str) -> str:
        if text[:5] == "data:" and self._media is not None and (found := data_uri(text)):
            return self._media.add_bytes(found[1], found[0])
        return text if text.isascii() else clean(text)

    def _simple(self, value: Any) -> Any:
        """A value that holds no others; self where it is none of these."""
        match value:
            case Enum():
                return self.value(value.value, 0)
            case str():
                return self._text(str.__str__(value))
            case bool():
                return bool(value)
            case int():
                return self.value(int(value), 0)
            case float():
                return self.value(float(value), 0)
            case bytes() | bytearray() | memoryview():
                return self._bytes(bytes(value))
            case datetime() | date() | time():
                return value.isoformat()
            case timedelta():
                return msgspec.to_builtins(timedelta(value.days, value.seconds, value.microseconds))
            case Decimal() | UUID():
                return str(value)
            case PurePath() | complex():
                return clean(str(value))
            case tzinfo():
                return str(value)
            case _ if type(value).__module__ in _WRITTEN:
                return str(value)
            case Image() | File():
                return self._given(value)
        return self

    def _bytes(self, data: bytes) -> str:
        return base64.b64encode(data).decode() if self._media is None else self._media.add_bytes(data)

    def _given(self, value: Image | File) -> str:
        if self._media is None:
            raise Unusable("an image or a file is no JSON value")
        if isinstance(value, Image):
            self._media.images.append(value)
            return f"(image {len(self._media.images)})"
        self._media.files.append(value)
        return f"(file {value.name!r})"

    def _container(self, value: Any, depth: int) -> Any:
        if depth >= DEPTH:
            raise Unusable(f"it nests more than {DEPTH} deep")
        if id(value) in self._inside:
            raise Unusable("it holds itself")
        self._inside.add(id(value))
        try:
            return self._opened(value, depth + 1)
        finally:
            self._inside.discard(id(value))

    def _opened(self, value: Any, depth: int) -> Any:
        if isinstance(value, Mapping):
            if "type" in value and (block := self._mcp_image(value)) is not None:
                return block
            if _has_twins(value):
                return [[_key(key), self.value(inner, depth)] for key, inner in value.items()]
            return {
                key if type(key) is str and key.isascii() else _key(key): self.value(inner, depth)
                for key, inner in value.items()
            }
        if (fields := _fields(value)) is not None:
            return {name: self.value(inner, depth) for name, inner in fields.items()}
        if isinstance(value, set | frozenset | collections.abc.Set):
            return self._sorted([self.value(inner, depth) for inner in value])
        if isinstance(value, list | tuple | collections.abc.Sequence | collections.abc.Iterator) or _is_iterable_data(value):
            return [self.value(inner, depth) for inner in value]
        for method in ("tolist", "item", "isoformat"):  # what numbers and dates of other libraries offer
            if callable(made := getattr(value, method, None)) and not isinstance(value, type):
                return self.value(made(), depth)
        raise Unusable(f"{type(value).__name__!r} is no kind of data")

    def _mcp_image(self, value: Mapping[Any, Any]) -> str | None:
        """An image block as MCP writes it, taken out."""
        if self._media is None or value.get("type") != "image" or not isinstance(value.get("data"), str):
            return None
        media_type = value.get("mimeType") or value.get("media_type")
        found = data_uri(f"data:{media_type};base64,{value['data']}")
        return self._media.add_bytes(found[1], found[0]) if found else None

    @staticmethod
    def _sorted(values: list[Any]) -> list[Any]:
        return sorted(values, key=lambda value: (type(value).__name__, _json(value)))


def _big(value: int) -> str:
    """A whole number that is too large for the wire, in digits."""
    try:
        return str(value)
    except ValueError:  # more digits than Python writes out
        return hex(value)


def _has_twins(value: Mapping[Any, Any]) -> bool:
    """Whether two of its keys are one name in JSON, as 1 and "1" are."""
    for key in value:
        if type(key) is not str:
            return len({_key(key) for key in value}) < len(value)
    return False


def _key(key: object) -> str:
    match key:
        case Enum():
            return _key(key.value)
        case str():
            return clean(key)
        case bool() | None:
            return _json(key)
        case int() | float():
            return str(key)
        case date() | time():
            return key.isoformat()
        case bytes():
            return key.decode("utf-8", "replace")
        case PurePath() | UUID() | Decimal():
            return clean(str(key))
        case tuple():
            return ",".join(_key(part) for part in key)
    raise Unusable(f"a key of it is of the kind {type(key).__name__!r}")


def _fields(value: Any) -> Mapping[str, Any] | None:
    """The fields of a record, whatever library made it; None if it is none."""
    kind = type(value)
    if isinstance(value, type):
        return None
    if isinstance(value, msgspec.Struct):
        found = {name: getattr(value, name) for name in value.__struct_fields__}
        return {name: inner for name, inner in found.items() if inner is not msgspec.UNSET}
    if isinstance(value, SimpleNamespace):
        return vars(value)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return dict(zip(kind._fields, value, strict=False))
    if isinstance(attributes := getattr(kind, "__attrs_attrs__", None), tuple):
        return {attribute.name: getattr(value, attribute.name) for attribute in attributes}
    if callable(dump := getattr(value, "model_dump", None)):
        dumped = dump(mode="json")
        return dumped if isinstance(dumped, Mapping) else None
    return None


def _is_iterable_data(value: object) -> bool:
    """Whether it is a collection of values, such as a dictionary's views or a deque, and not a stranger that can be walked."""
    return isinstance(value, collections.abc.Collection) and not isinstance(value, type)
