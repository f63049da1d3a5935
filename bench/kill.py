"""From a killed worker to the next answer, against a first call that starts a worker; and the loop while a tool blocks."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from pathlib import Path

from ratio import line

from etui.home import Home
from etui.host import Host, open_host

ROUNDS = 25
TOOL = '''import os
import time

from etui import tool

@tool
def pid() -> int:
    """Say the worker's process id."""
    return os.getpid()

@tool
async def block(seconds: float) -> str:
    """Hold up the worker's own loop."""
    time.sleep(seconds)
    return "done"
'''


async def timed_pid(host: Host) -> tuple[float, int]:
    session = host.session("python")
    started = time.perf_counter()
    outcome = await session.call(session.new_call("pid", {}))
    assert isinstance(outcome.data, int), outcome
    return time.perf_counter() - started, outcome.data


async def first_calls(folder: Path) -> list[float]:
    """A worker that was never started, each time in a plugin of its own."""
    home = folder / "many"
    (home / "tools").mkdir(parents=True)
    for number in range(ROUNDS):
        (home / "tools" / f"one_{number}.py").write_text(
            TOOL.replace("def pid", f"def pid_{number}").replace("def block", f"def block_{number}")
        )
    taken = []
    async with open_host(Home(home), {"shelf": False}, environ={}) as host:
        session = host.session("python")
        for number in range(ROUNDS):
            started = time.perf_counter()
            assert (await session.call(session.new_call(f"pid_{number}", {}))).ok
            taken.append(time.perf_counter() - started)
    return taken


async def after_kills(folder: Path) -> tuple[list[float], float]:
    home = folder / "one"
    (home / "tools").mkdir(parents=True)
    (home / "tools" / "one.py").write_text(TOOL)
    taken = []
    async with open_host(Home(home), {"shelf": False}, environ={}) as host:
        _, pid = await timed_pid(host)
        for _ in range(ROUNDS):
            os.kill(pid, signal.SIGKILL)
            seconds, pid = await timed_pid(host)
            taken.append(seconds)
        return taken, await gap(host)


async def gap(host: Host) -> float:
    """The longest pause of the host's loop, in seconds, while a tool blocks for two."""
    session = host.session("python")
    call = asyncio.create_task(session.call(session.new_call("block", {"seconds": 2})))
    longest, before = 0.0, time.perf_counter()
    while not call.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    assert call.result().ok
    return longest


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        theirs = await first_calls(Path(folder))
        ours, longest = await after_kills(Path(folder))
    print(line("from a killed worker to the next answer", ours, theirs, "a first call", "at most 3"))
    print(f"the longest pause of the host's loop while a tool blocks for 2 s: {longest * 1e3:.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())
