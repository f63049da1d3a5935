"""A governed call in a worker (gate, journal, events) against the same tool over MCP stdio, and against a bare echo."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from floor import Echo, mirror_process
from mcp import Client, StdioServerParameters, stdio_client
from ratio import line, medians

from etui.events import Listener
from etui.home import Home
from etui.host import open_host

BLOCKS, BLOCK, APART, REST = 20, 100, 250, 0.01
NOTE = "Say it in one sentence and mention the wind, since we want to sail to the island and back before the evening comes."
PAYLOAD = {"city": "Reykjavik", "units": "metric", "days": 3, "lang": "en", "note": NOTE}
TOOL = '''from etui import tool

@tool
async def echo(city: str, units: str, days: int, lang: str, note: str) -> dict:
    """Give back what came."""
    return {"city": city, "units": units, "days": days, "lang": lang, "note": note}

@tool(risk="write")
async def act(city: str, units: str, days: int, lang: str, note: str) -> dict:
    """The same, declared as one that acts."""
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


Work = Callable[[], Awaitable[None]]


async def in_a_row(works: Mapping[str, Work]) -> dict[str, list[float]]:
    """Blocks of calls, each at once after the one before; the kinds take turns. Gives each block's median."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for number in range(-1, BLOCKS):
        for name, work in works.items():
            times = [await timed(work) for _ in range(BLOCK)]
            await asyncio.sleep(REST)
            if number >= 0:
                taken[name].append(statistics.median(times))
    return taken


async def apart(works: Mapping[str, Work]) -> dict[str, list[float]]:
    """Single calls with a rest before each, as a person's calls come; the kinds take turns. Gives medians of small groups."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(APART):
        for name, work in works.items():
            await asyncio.sleep(REST)
            taken[name].append(await timed(work))
    return {name: medians(times, 10) for name, times in taken.items()}


async def timed(work: Work) -> float:
    """Seconds of one."""
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


async def main() -> None:
    near = mirror_process()
    with tempfile.TemporaryDirectory() as folder:
        home, script = Path(folder) / "home", Path(folder) / "server.py"
        (home / "tools").mkdir(parents=True)
        (home / "tools" / "echo.py").write_text(TOOL)
        script.write_text(SERVER)
        _, floor = await asyncio.get_running_loop().create_connection(Echo, sock=near)
        peer = Client(stdio_client(StdioServerParameters(command=sys.executable, args=[str(script)])))
        async with open_host(Home(home), {"shelf": False}, environ={}) as host, peer, host.hub.listen() as events:
            heard = asyncio.create_task(hear(events))
            session = host.session("python")

            def ours(tool: str) -> Work:
                async def call() -> None:
                    outcome = await session.call(session.new_call(tool, PAYLOAD))
                    assert outcome.data == PAYLOAD, outcome

                return call

            async def echo() -> None:
                assert await floor.call(PAYLOAD) == PAYLOAD

            async def theirs() -> None:
                result = await peer.call_tool("echo", PAYLOAD)
                assert not result.is_error

            if "--two-cores" in sys.argv:
                await session.call(session.new_call("echo", PAYLOAD))
                part_cores()
            works = {"reads": ours("echo"), "acts": ours("act"), "echo": echo, "mcp": theirs}
            for name, way in (("in a row", in_a_row), ("apart", apart)):
                taken = await way(works)
                print(line(f"a governed call, {name}", taken["reads"], taken["echo"], "a bare socketpair echo", "at most 2"))
                print(line(f"one that acts, {name}", taken["acts"], taken["echo"], "a bare socketpair echo", "at most 2"))
                print(
                    line(
                        f"the same tool over MCP stdio, {name}", taken["mcp"], taken["reads"], "a governed call", "at least 10"
                    )
                )
            assert not heard.done(), "the listener ended"
            heard.cancel()


def part_cores() -> None:
    """Keep this process on one core and everything that it started on another, which else the system decides."""
    os.sched_setaffinity(0, {0})
    below = [os.getpid()]
    while below:
        for task in Path(f"/proc/{below.pop()}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                os.sched_setaffinity(child, {1})
                below.append(child)


async def hear(events: Listener) -> None:
    """Somebody who listens, as the console does."""
    async for event in events:
        assert event.data


if __name__ == "__main__":
    asyncio.run(main())
