"""A start of the host with 1,000 known tools against a start with none, up to the first list. No plugin's code runs."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from ratio import line

from etui.home import Home
from etui.host import open_host

ROUNDS, TOOLS = 7, 1000
FILE = '''from etui import tool

print("this code runs only in a worker")

@tool
def tool_{number}(count: int = 1) -> int:
    """Tool number {number}."""
    return count
'''


async def once(home: Path) -> tuple[float, int]:
    started = time.perf_counter()
    async with open_host(Home(home), {"shelf": False}, environ={}) as host:
        tools = host.session("python").tools()
        seconds = time.perf_counter() - started
        assert host.workers.report() == []
        return seconds, len(tools)


async def main() -> None:
    with tempfile.TemporaryDirectory() as full, tempfile.TemporaryDirectory() as empty:
        folder = Path(full) / "tools"
        folder.mkdir()
        for number in range(TOOLS):
            (folder / f"tool_{number}.py").write_text(FILE.format(number=number))
        first, count = await once(Path(full))
        assert count == TOOLS
        print(f"the first start, which describes {TOOLS} files: {first:.1f} s")
        await once(Path(empty))
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append((await once(Path(full)))[0])
            theirs.append((await once(Path(empty)))[0])
        print(line(f"a start with {TOOLS} known tools", ours, theirs, "a start with none", "at most 2"))


if __name__ == "__main__":
    asyncio.run(main())
