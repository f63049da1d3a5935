"""The HTTP client under a provider's library, which gives it the stream of events as the provider's own servers write it.

Above: `direct` opens one. Below: `chunks`, and pydantic-ai's client, imported with it. It refuses to know: providers, and what
an event says. What a proxy or a compatible server may put around the events, and what one library or another stumbles over, is
taken out: a mark of the byte order, comments, a missing blank, what some take for the end of a line, tokens nobody counted.
A library is kept from asking again by itself: `patience` has the one rule for that.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

import httpx2
from pydantic_ai.models import create_async_httpx2_client

from etui.agent.chunks import lines

_MARK = b"\xef\xbb\xbf"
_ENDS = {"\u2028": b"\\u2028", "\u2029": b"\\u2029", "\u0085": b"\\u0085"}
_LINE_ENDS = re.compile(b"|".join(end.encode() for end in _ENDS))


def client() -> httpx2.AsyncClient:
    """A client for one provider, to be closed by who opened it."""
    made = create_async_httpx2_client()
    made.event_hooks = {**made.event_hooks, "response": [*made.event_hooks.get("response", []), _heard]}
    # A stream that comes packed cannot be read line by line here.
    made.headers["accept-encoding"] = "identity"
    return made


async def _heard(response: httpx2.Response) -> None:
    if response.is_error:
        # The word by which servers tell the libraries.
        response.headers["x-should-retry"] = "false"
    events = "event-stream" in response.headers.get("content-type", "")
    if events and "content-encoding" not in response.headers and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Events(response.stream)


class _Events(httpx2.AsyncByteStream):
    """Lines of events, as they are meant."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        first = True
        async for line in lines(aiter(self._stream)):
            if not (line := line.removeprefix(_MARK) if first else line).startswith(b":"):
                yield _line(line) + b"\n"
            first = False

    async def aclose(self) -> None:
        await self._stream.aclose()


def _line(line: bytes) -> bytes:
    if line.startswith(b"data:") and not line.startswith(b"data: "):
        line = b"data: " + line[5:]
    if b"message_" in line[:60] and b'"usage"' not in line:
        line = _counted(line)
    return _LINE_ENDS.sub(lambda end: _ENDS[end[0].decode()], line)


def _counted(line: bytes) -> bytes:
    """The event with tokens counted as none, for a library that stops where a compatible server counts none."""
    try:
        event = json.loads(line.removeprefix(b"data: "))
    except ValueError:
        return line
    if not isinstance(event, dict):
        return line
    holder = event.get("message") if event.get("type") == "message_start" else event
    if event.get("type") not in ("message_start", "message_delta") or not isinstance(holder, dict):
        return line
    holder["usage"] = {"input_tokens": 0, "output_tokens": 0}
    return b"data: " + json.dumps(event).encode()
