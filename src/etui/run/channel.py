"""One end of a worker's socket on an event loop: bytes to frames, frames to bytes, nothing waits.

Above: `worker` and `child` give it what happens for each frame. Below: `wire`. It refuses to know: what the frames mean.
Only what came in pieces is gathered.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from etui.errors import WireError
from etui.run import wire

_CHUNK = 1 << 16


class Channel:
    """Calls `receive` with each frame, and `lost`, once, with the reason, when the other end is gone or broke the protocol."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        end: socket.socket,
        receive: Callable[[bytes], None],
        lost: Callable[[str], None],
    ) -> None:
        end.setblocking(False)
        self._loop = loop
        self._socket = end
        self._receive = receive
        self._lost = lost
        self._rest = bytearray()
        self._need = wire.HEADER
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

    def glance(self) -> bool:
        """Take in what has come until now, without waiting for the loop; False while nothing is read."""
        if self._open and not self._paused:
            self._readable()
        return self._open and not self._paused

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
            data = self._socket.recv(max(_CHUNK, self._need - len(self._rest)))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end("it closed its channel or was killed")
            return
        if self._rest:
            self._rest += data
            if len(self._rest) < self._need:
                return
            data = bytes(self._rest)
            self._rest.clear()
        try:
            self._deliver(data)
        except WireError as error:
            self._end(str(error))

    def _deliver(self, data: bytes) -> None:
        """Hand over what is whole, and keep the rest."""
        start = 0
        self._need = wire.HEADER
        while self._open and len(data) - start >= wire.HEADER:
            end = start + wire.HEADER + wire.size_of(data, start)
            if end > len(data):
                self._need = end - start
                break
            self._receive(data[start + wire.HEADER : end])
            start = end
        if start < len(data):
            self._rest += data[start:]

    def _end(self, why: str) -> None:
        if self._open:
            # In this order: whoever is at the other end may end itself when the socket closes, and is to be killed first.
            self._lost(why)
            self.close()
