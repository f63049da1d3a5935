"""One end of a worker's socket on an event loop: bytes to frames, frames to bytes, nothing waits.

Above: `worker` and `child` give it what happens for each frame. Below: `wire`. It refuses to know: what the frames mean.
A frame that came whole is handed over where it lies; only what came in pieces is gathered.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from etui.errors import WireError
from etui.run import wire

_BUFFER = 1 << 16


class Channel:
    """Calls `receive` with each frame (only lent: it is overwritten later) and `lost`, once, when the other end is gone or broken."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        end: socket.socket,
        receive: Callable[[memoryview], None],
        lost: Callable[[str], None],
    ) -> None:
        end.setblocking(False)
        self._loop = loop
        self._socket = end
        self._receive = receive
        self._lost = lost
        self._buffer = bytearray(_BUFFER)
        self._have = 0
        self._unsent = bytearray()
        self._open = True
        self._paused = False
        loop.add_reader(end.fileno(), self._readable)

    def send(self, frame: bytearray) -> None:
        """Send it now, or as soon as the other end takes it; after the end nothing happens."""
        if not self._open:
            return
        if self._unsent:
            self._unsent += frame
            return
        try:
            sent = self._socket.send(frame)
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # the reader learns of it too, and tells
        if sent < len(frame):
            self._unsent = frame[sent:]
            self._loop.add_writer(self._socket.fileno(), self._writable)

    def pause(self) -> None:
        """Read nothing more until `resume`; the other end will have to wait."""
        if self._open and not self._paused:
            self._paused = True
            self._loop.remove_reader(self._socket.fileno())

    def resume(self) -> None:
        """Read again."""
        if self._open and self._paused:
            self._paused = False
            self._loop.add_reader(self._socket.fileno(), self._readable)

    def close(self) -> None:
        """Let go of the socket; `lost` is not called."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._socket.fileno())
            self._loop.remove_writer(self._socket.fileno())
            self._socket.close()
            self._unsent.clear()

    def _writable(self) -> None:
        try:
            sent = self._socket.send(self._unsent)
        except BlockingIOError:
            return
        except OSError:
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._loop.remove_writer(self._socket.fileno())

    def _readable(self) -> None:
        try:
            with memoryview(self._buffer) as view:
                count = self._socket.recv_into(view[self._have :])
        except BlockingIOError:
            return
        except OSError:
            count = 0
        if not count:
            self._end("it closed its channel or was killed")
            return
        self._have += count
        try:
            self._deliver()
        except WireError as error:
            self._end(str(error))

    def _deliver(self) -> None:
        start = 0
        need = wire.HEADER
        with memoryview(self._buffer) as view:
            while self._open and self._have - start >= wire.HEADER:
                need = wire.HEADER + wire.size_of(self._buffer, start)
                if self._have - start < need:
                    break
                with view[start + wire.HEADER : start + need] as frame:
                    self._receive(frame)
                start += need
                need = wire.HEADER
        self._keep(start, need)

    def _keep(self, start: int, need: int) -> None:
        """Move what is left of the buffer to its front, in a buffer as big as the frame that is coming."""
        left = self._have - start
        size = max(_BUFFER, need)
        if size != len(self._buffer):
            larger = bytearray(size)
            larger[:left] = self._buffer[start : self._have]
            self._buffer = larger
        elif left and start:
            self._buffer[:left] = self._buffer[start : self._have]
        self._have = left

    def _end(self, why: str) -> None:
        if self._open:
            self.close()
            self._lost(why)
