"""A governed call in a worker (gate, journal, events) against the same tool over MCP stdio, and against a bare echo."""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from mcp import Client, StdioServerParameters, stdio_client
from ratio import line

from etui.home import Home
from etui.host import open_host

ROUNDS, WARM, BLOCK = 4000, 300, 100
PAYLOAD = {"city": "Reykjavik", "units": "metric", "days": 3, "lang": "en", "note": "x" * 120}
TOOL = '''from etui import tool

@tool
async def echo(city: str, units: str, days: int, lang: str, note: str) -> dict:
    """Give back what came."""
    return {"city": city, "units": units, "days": days, "lang": lang, "note": note}
'''
SERVER = '''from mcp.server import MCPServer

server = MCPServer("echo")

@server.tool()
async def echo(city: str, units: str, days: int, lang: str, note: str) -> dict:
    """Give back what came."""
    return {"city": city, "units": units, "days": days, "lang": lang, "note": note}

server.run("stdio")
'''


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

    async def call(self, payload: dict[str, object]) -> Any:
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


async def main() -> None:
    near = mirror_process()
    with tempfile.TemporaryDirectory() as folder:
        home, script = Path(folder) / "home", Path(folder) / "server.py"
        (home / "tools").mkdir(parents=True)
        (home / "tools" / "echo.py").write_text(TOOL)
        script.write_text(SERVER)
        _, floor = await asyncio.get_running_loop().create_connection(Echo, sock=near)
        peer = Client(stdio_client(StdioServerParameters(command=sys.executable, args=[str(script)])))
        async with open_host(Home(home), {"shelf": False}, environ={}) as host, peer:
            session = host.session("python")

            async def ours() -> None:
                outcome = await session.call(session.new_call("echo", PAYLOAD))
                assert outcome.data == PAYLOAD, outcome

            async def echo() -> None:
                assert await floor.call(PAYLOAD) == PAYLOAD

            async def theirs() -> None:
                result = await peer.call_tool("echo", PAYLOAD)
                assert not result.is_error

            taken: dict[str, list[float]] = {"ours": [], "echo": [], "mcp": []}
            for round_number in range(-WARM, ROUNDS):
                for name, work in (("ours", ours), ("echo", echo), ("mcp", theirs)):
                    if name == "mcp" and round_number % 4:
                        continue
                    started = time.perf_counter()
                    await work()
                    if round_number >= 0:
                        taken[name].append(time.perf_counter() - started)
    per_block = [statistics.median(taken["ours"][at : at + BLOCK]) for at in range(0, ROUNDS, BLOCK)]
    echo_block = [statistics.median(taken["echo"][at : at + BLOCK]) for at in range(0, ROUNDS, BLOCK)]
    mcp_block = [statistics.median(taken["mcp"][at // 4 : (at + BLOCK) // 4]) for at in range(0, ROUNDS, BLOCK)]
    print(line("a governed call", per_block, echo_block, "a bare socketpair echo", "at most 2"))
    print(line("the same tool over MCP stdio", mcp_block, per_block, "a governed call", "at least 10"))


if __name__ == "__main__":
    asyncio.run(main())
