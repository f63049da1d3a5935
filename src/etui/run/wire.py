"""What the host and a worker say to each other: the messages, how they become bytes, and what counts as broken.

Above: `channel` moves the frames, `worker` (host) and `child` (worker) speak. Below: the nouns, `contracts`. It refuses
to know: sockets. A frame is 4 bytes of length, big-endian, and one message as msgpack. Values that tools make or take travel
inside as JSON text, so that what arrives is JSON whatever the other end is: no NaN, no bytes, no number too long.
"""

from __future__ import annotations

import struct
from typing import Literal, TypeVar

import msgspec

from etui.contracts import Caller, Description, Files
from etui.contracts.standing import Standing
from etui.errors import WireError
from etui.outcome import File, Image
from etui.run.enforced import Enforced

LIMIT = 8 << 20
"""Bytes that a frame may have."""
DEEPEST = 100
"""How many lists and objects may lie in one another."""
APART = 0
"""The number by which a plugin asks for something outside of any call."""
HEADER = 4
_length = struct.Struct(">I")


class Load(msgspec.Struct, frozen=True, array_like=True, tag="load"):
    """Host to worker, first and once: import this plugin and say what it offers."""

    files: Files
    contract: str = ""
    """Path of a file whose `CONTRACT` is used instead of one of Etui's own; for tests of runners."""


class Invoke(msgspec.Struct, frozen=True, array_like=True, tag="invoke"):
    """Host to worker: run one call and answer with `Done`. Numbers count up from 1."""

    id: int
    call: str
    tool: str
    arguments: bytes
    """A JSON object."""
    caller: Caller
    check: bool = False
    """Not a call: only say, as the result, whether the tool can be used now."""


class Cancel(msgspec.Struct, frozen=True, array_like=True, tag="cancel"):
    """Host to worker: end this call; `Done` is still awaited, though not for long."""

    id: int


class Reply(msgspec.Struct, frozen=True, array_like=True, tag="reply"):
    """Host to worker: what a service answered to the request of that number, or the sentence that refuses it."""

    id: int
    value: bytes = b"null"
    """JSON."""
    error: str = ""


class Told(msgspec.Struct, frozen=True, array_like=True, tag="told"):
    """Host to worker: what a session whose call runs there has proved now; nothing comes back."""

    session: str
    standing: Standing


class Stop(msgspec.Struct, frozen=True, array_like=True, tag="stop"):
    """Host to worker: go, nobody needs you."""


class Ready(msgspec.Struct, frozen=True, array_like=True, tag="ready"):
    """Worker to host, first and once: I am confined, like this, and have read nothing of the plugin yet."""

    pid: int
    enforced: Enforced


class Described(msgspec.Struct, frozen=True, array_like=True, tag="described"):
    """Worker to host, once, after `Load`: what the plugin offers."""

    description: Description


Ending = Literal["ok", "refused", "failed", "cancelled"]
"""The ends that a worker can see; the rest is for the host."""


class Done(msgspec.Struct, frozen=True, array_like=True, tag="done"):
    """Worker to host: how that call ended; `contracts.Ran`, laid flat."""

    id: int
    status: Ending
    data: bytes = b""
    """JSON; empty for none."""
    text: str = ""
    shown: str = ""
    images: tuple[Image, ...] = ()
    files: tuple[File, ...] = ()
    silent: bool | None = None
    error: str = ""
    detail: str = ""
    why: str = ""
    notes: str = ""


class Request(msgspec.Struct, frozen=True, array_like=True, tag="request"):
    """Worker to host: a running call asks a service; numbers of requests are the worker's own."""

    id: int
    call: int
    service: str
    arguments: bytes
    """A JSON object."""


class Said(msgspec.Struct, frozen=True, array_like=True, tag="said"):
    """Worker to host: a line for the person, now; nothing comes back."""

    call: int
    text: str


class Progress(msgspec.Struct, frozen=True, array_like=True, tag="progress"):
    """Worker to host: how far a call is; nothing comes back."""

    call: int
    fraction: float | None
    text: str


ToWorker = Load | Invoke | Cancel | Reply | Told | Stop
ToHost = Ready | Described | Done | Request | Said | Progress

_Message = TypeVar("_Message")
_to_worker = msgspec.msgpack.Decoder(ToWorker)
_to_host = msgspec.msgpack.Decoder(ToHost)
_encoder = msgspec.msgpack.Encoder()
_json_encoder = msgspec.json.Encoder()
_json_decoder = msgspec.json.Decoder()


def clean(value: object) -> object:
    """The same plain value with every lone surrogate replaced; bytes, numbers and the like stay."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return value


def frame(message: ToWorker | ToHost) -> bytearray:
    """The message with its length. Raises WireError if it is too big or holds what cannot travel."""
    buffer = bytearray(256)
    try:
        _encoder.encode_into(message, buffer, HEADER)
    except UnicodeEncodeError:
        buffer[HEADER:] = _encoder.encode(clean(msgspec.to_builtins(message, builtin_types=(bytes,))))
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise WireError(f"A message could not be sent: {error}") from None
    size = len(buffer) - HEADER
    if size > LIMIT:
        raise WireError(f"It has {size / 1048576:.1f} MB, and {LIMIT >> 20} MB is the most that can be sent.")
    _length.pack_into(buffer, 0, size)
    return buffer


def size_of(head: bytes, offset: int = 0) -> int:
    """The length that a frame announces. Raises WireError if it is more than may be."""
    size: int = _length.unpack_from(head, offset)[0]
    if size > LIMIT:
        raise WireError(f"it announced a message of {size} bytes")
    return size


def _decode(decoder: msgspec.msgpack.Decoder[_Message], data: bytes) -> _Message:
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WireError(f"it sent what is no message ({error})") from None


def for_host(data: bytes) -> ToHost:
    """A frame's message as the host takes it. Raises WireError."""
    return _decode(_to_host, data)


def for_worker(data: bytes) -> ToWorker:
    """A frame's message as a worker takes it. Raises WireError."""
    return _decode(_to_worker, data)


def to_json(value: object) -> bytes:
    """The value as JSON: what is no number becomes null, a lone surrogate a question mark. Raises WireError with a sentence."""
    try:
        try:
            data = _json_encoder.encode(value)
        except UnicodeEncodeError:
            data = _json_encoder.encode(clean(msgspec.to_builtins(value, str_keys=True)))
        deep = _too_deep(data)
    except RecursionError:
        deep = True
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        raise WireError(f"It cannot be written as JSON: {error}.") from None
    if deep:
        raise WireError(f"It is nested more than {DEEPEST} levels deep.")
    if len(data) > LIMIT:
        raise WireError(f"It has {len(data) / 1048576:.1f} MB, and {LIMIT >> 20} MB is the most that can be sent.")
    return data


def from_json(data: bytes) -> object:
    """The JSON value. Raises WireError for anything else, and for one that is nested too deeply."""
    try:
        value: object = _json_decoder.decode(data)
        deep = _too_deep(data)
    except RecursionError:
        deep = True
    except (msgspec.MsgspecError, ValueError) as error:
        raise WireError(f"it sent what is no JSON ({error})") from None
    if deep:
        raise WireError(f"It is nested more than {DEEPEST} levels deep.")
    return value


def _too_deep(data: bytes) -> bool:
    """Whether valid JSON text is nested beyond `DEEPEST`; looks closer only if it has brackets enough."""
    if len(data) <= 2 * DEEPEST or data.count(b"[") + data.count(b"{") <= DEEPEST:
        return False
    level = [_json_decoder.decode(data)]
    for _ in range(DEEPEST):
        level = [inner for item in level if isinstance(item, list | dict) for inner in _inside(item)]
        if not level:
            return False
    return True


def _inside(item: list[object] | dict[str, object]) -> list[object]:
    values = item.values() if isinstance(item, dict) else item
    return [value for value in values if isinstance(value, list | dict)]
