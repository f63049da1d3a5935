"""Events as they happen: server-sent events for the console, lines of JSON for the terminal.

Each open page has a listener of its own at the hub, and lets go of it the moment the page is gone. An event's id is its
number; a page that comes back, or was too slow, is told so and asks for the state anew.
Above: the routes. Below: the hub. It refuses to know: what an event means.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from etui.events import Event, Hub, Listener
from etui.surfaces.web.replies import one_line

PULSE = 15.0
"""Seconds of silence after which a sign of life is sent."""


class Streams:
    """Every open stream, so that the host's end ends them all."""

    def __init__(self) -> None:
        self._open: dict[Listener, str] = {}
        self._closed = False
        self._framed: tuple[Event | None, bytes] = (None, b"")

    def listen(self, hub: Hub, key: str = "") -> Listener:
        """A listener that `close` closes too; `key` is that of the session which asked for it."""
        listener = hub.listen()
        self._open[listener] = key
        if self._closed:
            listener.close()
        return listener

    def forget(self, listener: Listener) -> None:
        """The stream has ended by itself."""
        self._open.pop(listener, None)
        listener.close()

    def frame(self, event: Event, show: Callable[[Event], object]) -> bytes:
        """The event as it is sent; made once for all the pages that are sent it now."""
        if self._framed[0] is not event:
            head = b"id: %d\nevent: %s\ndata: " % (event.number, event.kind.encode())
            self._framed = (event, head + one_line(show(event)) + b"\n\n")
        return self._framed[1]

    def end(self, key: str) -> None:
        """End the streams of a session that was signed out."""
        for listener, owner in self._open.items():
            if owner == key:
                listener.close()

    def close(self) -> None:
        """End every stream, and every later one at once."""
        self._closed = True
        for listener in self._open:
            listener.close()


class EventStream:
    """An ASGI answer: every event from now on, until the page, its session or the host goes."""

    def __init__(
        self,
        streams: Streams,
        hub: Hub,
        show: Callable[[Event], object],
        *,
        key: str = "",
        last: str = "",
        pulse: float = PULSE,
    ) -> None:
        self._streams = streams
        self._key = key
        self._hub = hub
        self._show = show
        self._last = last
        self._pulse = pulse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until there is nobody to send to."""
        listener = self._streams.listen(self._hub, self._key)
        gone = asyncio.create_task(_gone(receive))
        gone.add_done_callback(lambda _: listener.close())
        try:
            headers = [
                (b"content-type", b"text/event-stream; charset=utf-8"),
                (b"cache-control", b"no-store"),
                (b"x-accel-buffering", b"no"),
            ]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            hello = one_line({"back": bool(self._last)})
            await _write(send, b"retry: 1000\nevent: hello\ndata: " + hello + b"\n\n")
            for missed in self._missed():
                await _write(send, self._streams.frame(missed, self._show))
            async for event in _told(listener, self._pulse):
                await _write(send, b": still here\n\n" if event is None else self._streams.frame(event, self._show))
                await asyncio.sleep(0)  # Everybody gets their turn, however much there is to tell.
            if not gone.done():
                await send({"type": "http.response.body", "body": b"event: bye\ndata: {}\n\n", "more_body": False})
        finally:
            self._streams.forget(listener)
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone

    def _missed(self) -> list[Event]:
        """What was said while the page was away: a timer that ended is not to be lost."""
        return self._hub.said_after(int(self._last)) if self._last.isdecimal() and len(self._last) < 20 else []


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _told(listener: Listener, pulse: float) -> AsyncIterator[Event | None]:
    """Events until the listener is closed; None for a pulse of silence."""
    while True:
        try:
            async with asyncio.timeout(pulse):
                event = await listener.next()
        except TimeoutError:
            yield None
            continue
        if event is None:
            return
        yield event


async def _write(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


class LineStream:
    """An ASGI answer of JSON, one object a line; `left` is called when the reader goes before the end."""

    def __init__(self, lines: AsyncIterator[object], left: Callable[[], object]) -> None:
        self._lines = lines
        self._left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send lines until there are no more, or nobody reads them."""
        headers = [(b"content-type", b"application/x-ndjson; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        gone = asyncio.create_task(_gone(receive))
        work = asyncio.create_task(self._send_all(send))
        try:
            await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            else:
                self._left()
        finally:
            for task in (gone, work):
                task.cancel()
            await asyncio.gather(gone, work, return_exceptions=True)

    async def _send_all(self, send: Send) -> None:
        async for line in self._lines:
            await _write(send, one_line(line) + b"\n")
        await send({"type": "http.response.body", "body": b"", "more_body": False})
