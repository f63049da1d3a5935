"""Answers that are too long for one message: run on the plugin's own loop, held up until the host has fetched what there is.

One that nobody fetches from any more is ended. Above: `routes`. Below: `running`. It refuses to know: what is sent.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import traceback
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from etui.contracts.sapphire import current
from etui.contracts.sapphire.running import OWN_LOOP

PIECE = 1 << 20
"""Bytes that are fetched at once."""
AHEAD = 2 * PIECE
"""Bytes that may wait to be fetched."""
FIRST, REST = 10.0, 0.02
"""Seconds to wait for the first byte of a piece, and for more of them."""
IDLE = 60.0
"""Seconds after which an answer from which nothing was fetched is ended."""
OPEN = 32
"""Answers under way; the oldest is ended for another one."""
Application = Callable[..., Awaitable[None]]


class Broken(Exception):
    """The answer ended with an error, or was ended, before it was whole."""


class Stream:
    """One answer under way. Used on the plugin's own loop only, but for `token`, `status` and `headers` once it was begun."""

    def __init__(self, application: Application, scope: dict[str, Any], gone: Callable[[str], None]) -> None:
        """`gone` hears its token when it is over for good."""
        self.token = secrets.token_hex(8)
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self._application = application
        self._scope = scope
        self._gone = gone
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._begun = False
        self._over = False
        self._left = False
        self._error = ""
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None

    async def begin(self) -> None:
        """Run it until its head is known. Raises Broken where there is none."""
        self._task = asyncio.create_task(self._run())
        self._wind()
        while not self._begun and not self._over:
            await self._change()
        if not self._begun:
            raise Broken(self._error or "The response sent nothing.")

    async def take(self) -> tuple[bytes, bool]:
        """The next bytes, and whether they are the last. Raises Broken."""
        self._wind()
        await self._wait(FIRST, lambda: self._size > 0 or self._over)
        await self._wait(REST, lambda: self._size >= PIECE or self._over)
        taken = self._taken()
        if self._error and not taken:
            self.drop()
            raise Broken(self._error)
        over = self._over and not self._size and not self._error
        if over:
            self.drop()
        return taken, over

    def drop(self) -> None:
        """Nobody wants more of it. What a response does after all of it was sent is done all the same."""
        self._left = True
        if self._task is not None and not self._over:
            self._task.cancel()
        if self._idle is not None:
            self._idle.cancel()
        self._pieces.clear()
        self._size = 0
        self._changed.set()
        self._gone(self.token)

    async def _run(self) -> None:
        current.leave()
        try:
            await self._application(self._scope, self._receive, self._send)
        except BaseException as error:  # the plugin's own code; it costs this answer
            if not self._left:
                traceback.print_exception(error, file=sys.stderr)
                self._error = f"{type(error).__name__}: {error}"
        finally:
            self._over = True
            self._changed.set()

    async def _send(self, message: dict[str, Any]) -> None:
        if self._left:
            raise OSError("the person has gone")
        if message["type"] == "http.response.start":
            self._begun = True
            self._changed.set()
            self.status = int(message["status"])
            self.headers = [
                (bytes(name).decode("latin-1"), bytes(value).decode("latin-1")) for name, value in message.get("headers", ())
            ]
        elif message["type"] == "http.response.body":
            if piece := bytes(message.get("body") or b""):
                self._pieces.append(piece)
                self._size += len(piece)
            if not message.get("more_body"):
                # The answer is whole; what comes after it is the plugin's own affair.
                self._over = True
            self._changed.set()
            while self._size > AHEAD and not self._left:
                await self._change()

    async def _receive(self) -> dict[str, Any]:
        while not self._left and not self._over:
            await self._change()
        return {"type": "http.disconnect"}

    def _taken(self) -> bytes:
        taken, size = [], 0
        while self._pieces and size < PIECE:
            piece = self._pieces.popleft()
            taken.append(piece[: PIECE - size])
            size += len(taken[-1])
            if len(taken[-1]) < len(piece):
                self._pieces.appendleft(piece[len(taken[-1]) :])
        self._size -= size
        self._changed.set()
        return b"".join(taken)

    async def _wait(self, seconds: float, enough: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not enough():
                    await self._change()
        except TimeoutError:
            return

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _wind(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE, self.drop)


class Streams:
    """The answers under way, by their tokens."""

    def __init__(self) -> None:
        self._open: dict[str, Stream] = {}

    async def begin(self, application: Application, scope: dict[str, Any]) -> Stream:
        """Begin one; its head is known. Raises Broken."""

        async def begun() -> Stream:
            stream = Stream(application, scope, self._forget)
            self._open[stream.token] = stream
            while len(self._open) > OPEN:
                next(iter(self._open.values())).drop()
            try:
                await stream.begin()
            except BaseException:
                stream.drop()
                raise
            return stream

        found: Stream = await asyncio.wrap_future(OWN_LOOP.begin(begun()))
        return found

    async def more(self, token: str) -> tuple[bytes, bool]:
        """The next bytes of one, and whether they are the last. Raises Broken, also for one that there is not any more."""
        stream = self._open.get(token)
        if stream is None:
            raise Broken("This answer is not under way any more.")
        found: tuple[bytes, bool] = await asyncio.wrap_future(OWN_LOOP.begin(stream.take()))
        return found

    async def drop(self, token: str) -> None:
        """End one, if it is there."""

        async def dropped() -> None:
            if (stream := self._open.get(token)) is not None:
                stream.drop()

        await asyncio.wrap_future(OWN_LOOP.begin(dropped()))

    def _forget(self, token: str) -> None:
        self._open.pop(token, None)
