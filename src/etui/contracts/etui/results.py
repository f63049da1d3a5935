"""From whatever a tool gave back to what can travel: text for the model, JSON values, images and files.

Nothing is guessed from truth or falsehood: `0`, `False`, `""` and `[]` each arrive as themselves. Bytes never become text.
Above: `functions` and `context`. Below: the nouns. It refuses to know: which tool it was, and how an outcome is shown.
"""

from __future__ import annotations

import base64
import binascii
import collections.abc
import dataclasses
import math
import mimetypes
import os
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePath
from typing import Any
from uuid import UUID

import msgspec

from etui.contracts import Ran
from etui.contracts.etui.authoring import Refusal, Result, ToolError
from etui.outcome import File, Image, Status

DEPTH = 200
"""How deep a result may nest."""
ITEMS = 1_000_000
"""How many values a result may hold."""
NOTHING = "Done; there is nothing to report."
"""What the model reads when a tool gave back None."""

_DATA_URI = re.compile(r"data:([a-z]+/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=\s]+)\Z", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"GIF87a", "image/gif", "gif"),
    (b"GIF89a", "image/gif", "gif"),
    (b"BM", "image/bmp", "bmp"),
)


class Unusable(Exception):
    """The result cannot be passed on; the text is a sentence's end that says why."""


def ran(value: object) -> Ran:
    """The end of a call that gave back `value`. Raises nothing."""
    try:
        return _ran(value)
    except Unusable as error:
        return _unusable(str(error))
    except RecursionError:
        return _unusable("it nests too deeply")
    except Exception as error:  # a property, an iterator or a __str__ of the tool's own may raise anything
        return _unusable(f"reading it raised {type(error).__name__}", repr_of(error))


def plain(value: object) -> Any:
    """A value as JSON values only, for state and structured data; bytes are Base64. Raises ToolError for what has none."""
    try:
        return _Plain(None).value(value, 0)
    except Unusable as error:
        raise ToolError(f"This value cannot be kept: {error}.") from None


def clean(text: str) -> str:
    """The text with halves of characters joined where they are a pair, else replaced."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def refusal(sentence: str) -> Ran:
    """The tool itself said no."""
    return Ran(status=Status.REFUSED, text=clean(str(sentence)).strip() or "The tool refused and did not say why.")


def failure(sentence: str, detail: str = "") -> Ran:
    """The tool failed in a way that may be told."""
    return Ran(
        status=Status.FAILED, text=clean(str(sentence)).strip() or "The tool failed and did not say why.", detail=clean(detail)
    )


def repr_of(error: BaseException) -> str:
    """The kind and the text of an error whose own text may not work."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # a foreign __str__
        return type(error).__name__


def _unusable(reason: str, detail: str = "") -> Ran:
    return Ran(
        status=Status.FAILED,
        text=f"The tool ran, but its result cannot be passed on: {reason}.",
        error="UnusableResult",
        detail=clean(detail),
    )


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
    media = _Media()
    if isinstance(value, Result):
        return _result(value, media)
    data = _Plain(media).value(value, 0)
    text = data if isinstance(data, str) else _json(data)
    return Ran(status=Status.OK, text=text, data=data, images=tuple(media.images), files=tuple(media.files))


def _result(result: Result, media: _Media) -> Ran:
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


def _json(data: object) -> str:
    return msgspec.json.encode(data).decode()


class _Media:
    """The images and files of one result, taken out of it in their order."""

    def __init__(self) -> None:
        self.images: list[Image] = []
        self.files: list[File] = []

    def add_bytes(self, data: bytes, media_type: str = "") -> str:
        """Take bytes out as an image or a file; returns the words that stand in their place."""
        picture = _picture(data)
        if picture or media_type.startswith("image/"):
            self.images.append(Image(picture[0] if picture else media_type, data))
            return f"(image {len(self.images)})"
        self.files.append(File(f"result-{len(self.files) + 1}.bin", media_type or "application/octet-stream", data))
        return f"(file {self.files[-1].name!r})"

    def add_image(self, image: object) -> None:
        if isinstance(image, Image):
            self.images.append(image)
            return
        data, media_type = _bytes_of(image)
        picture = _picture(data)
        if picture is None and not media_type.startswith("image/"):
            raise Unusable("one of its images is in no format that is known")
        self.images.append(Image(picture[0] if picture else media_type, data))

    def add_file(self, file: object) -> None:
        if isinstance(file, File):
            self.files.append(file)
            return
        name = ""
        if isinstance(file, tuple | list) and len(file) == 2:
            name, file = str(file[0]), file[1]
        elif isinstance(file, str | PurePath) and not str(file).startswith("data:"):
            name, file = Path(file).name, Path(file)
        if isinstance(file, str) and not file.startswith("data:"):
            file = file.encode("utf-8", "replace")
        data, media_type = _bytes_of(file)
        name = name or f"result-{len(self.files) + 1}"
        media_type = media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.files.append(File(clean(name), media_type, data))

    def listed(self) -> str:
        """What was taken out, in words."""
        words = [f"{len(self.images)} image{'s' * (len(self.images) > 1)}"] if self.images else []
        words += [f"the file {file.name!r}" for file in self.files]
        return f"({', '.join(words)})" if words else ""


def _bytes_of(value: object) -> tuple[bytes, str]:
    """The bytes of an image or file, and its media type where it says so."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value), ""
    if isinstance(value, str) and (found := _data_uri(value)):
        return found[1], found[0]
    if isinstance(value, str | os.PathLike):
        try:
            return Path(value).read_bytes(), mimetypes.guess_type(os.fspath(value))[0] or ""
        except (OSError, ValueError) as error:
            raise Unusable(f"a file that it names cannot be read ({repr_of(error)})") from None
    raise Unusable(f"{type(value).__name__!r} is neither bytes nor a file")


def _data_uri(text: str) -> tuple[str, bytes] | None:
    match = _DATA_URI.match(text)
    if match is None:
        return None
    try:
        return match[1].lower(), base64.b64decode(match[2], validate=False)
    except (binascii.Error, ValueError):
        return None


def _picture(data: bytes) -> tuple[str, str] | None:
    """Media type and ending of bytes that begin as a picture does."""
    for start, media_type, ending in _PICTURES:
        if data.startswith(start) and len(data) > 8:
            return media_type, ending
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp", "webp"
    return None


class _Plain:
    """Turns one value into JSON values."""

    def __init__(self, media: _Media | None) -> None:
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
        if (simple := self._simple(value)) is not self:
            return simple
        return self._container(value, depth)

    def _text(self, text: str) -> str:
        if self._media is not None and text.startswith("data:") and (found := _data_uri(text)):
            return self._media.add_bytes(found[1], found[0])
        return clean(text)

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
            if (block := self._mcp_image(value)) is not None:
                return block
            return {_key(key): self.value(inner, depth) for key, inner in value.items()}
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
        found = _data_uri(f"data:{media_type};base64,{value['data']}")
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
