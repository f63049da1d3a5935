"""Values on their way into the database and back: JSON that can always be written, text that is always UTF-8.

What has no place in JSON is replaced here, at the boundary, and never raises: half a surrogate pair becomes U+FFFD, a number
that is not finite becomes null, what is nested too deeply or in a circle becomes a word that says so.
Above: every table's module. Below: `msgspec`. It refuses to know: tables, and what the values mean.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping

import msgspec

DEPTH = 200
"""Levels of nesting that are kept."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_CANNOT = (UnicodeError, TypeError, ValueError, OverflowError, RecursionError)


def clean(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced, so that it can be written as UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def pack(value: object) -> str:
    """The value as JSON text."""
    try:
        packed = _encode(value)
    except _CANNOT:
        return _encode(_plain(value, DEPTH, ())).decode()
    # As many opening brackets as that may be deeper than a reader's stack; only then is it worth a walk.
    if packed.count(b"[") + packed.count(b"{") > DEPTH:
        packed = _encode(_plain(value, DEPTH, ()))
    return packed.decode()


def unpack(text: str) -> object:
    """The value of a JSON text that `pack` made."""
    value: object = _decode(text)
    return value


def _plain(value: object, depth: int, above: tuple[int, ...]) -> object:
    """The value in JSON's own types; `above` holds the ids of the containers it is in."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int):
        return int(value) if value.bit_length() <= 4096 else hex(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if id(value) in above:
        return "(circular)"
    if depth == 0:
        return "(nested too deeply)"
    above = (*above, id(value))
    if isinstance(value, Mapping):
        return {clean(str(key)): _plain(item, depth - 1, above) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth - 1, above) for item in value]
    try:
        built: object = msgspec.to_builtins(value)
    except _CANNOT:
        return f"({type(value).__name__})"
    return _plain(built, depth - 1, above)
