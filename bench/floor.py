"""The floor of a call: an echo over a socketpair, where both ends are asyncio protocols that decode and encode msgpack."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from typing import Any

import msgspec


class Echo(asyncio.Protocol):
    """The host's side of the floor: 4-byte length and msgpack, nothing else."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.waiting: asyncio.Future[Any] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        size = struct.unpack_from(">I", self.buffer)[0]
        if len(self.buffer) >= 4 + size and self.waiting is not None:
            answer = msgspec.msgpack.decode(self.buffer[4 : 4 + size])
            del self.buffer[: 4 + size]
            self.waiting.set_result(answer)

    async def call(self, payload: object) -> Any:
        self.waiting = asyncio.get_running_loop().create_future()
        body = msgspec.msgpack.encode(payload)
        self.transport.write(struct.pack(">I", len(body)) + body)  # type: ignore[attr-defined]
        return await self.waiting


class Mirror(asyncio.Protocol):
    """The worker's side of the floor: decodes and encodes, as a worker must."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        size = struct.unpack_from(">I", self.buffer)[0]
        if len(self.buffer) >= 4 + size:
            answer = msgspec.msgpack.encode(msgspec.msgpack.decode(self.buffer[4 : 4 + size]))
            del self.buffer[: 4 + size]
            self.transport.write(struct.pack(">I", len(answer)) + answer)  # type: ignore[attr-defined]

    def connection_lost(self, error: Exception | None) -> None:
        os._exit(0)


def mirror_process() -> socket.socket:
    """A forked process with an asyncio loop that echoes what comes on the socket."""
    near, far = socket.socketpair()
    if os.fork() == 0:
        near.close()

        async def run() -> None:
            await asyncio.get_running_loop().create_connection(Mirror, sock=far)
            await asyncio.Event().wait()

        asyncio.run(run())
    far.close()
    return near
