"""A start of Etui with 1,000 known tools against a start with none: the whole process, up to the first list. No plugin's code
runs. The second figure is of the host alone, in a process that has imported everything."""

from __future__ import annotations

import asyncio
import subprocess
import sys
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


def process(home: Path) -> float:
    """A start as a person sees it: from nothing to the list."""
    started = time.perf_counter()
    subprocess.run([sys.executable, __file__, str(home)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


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
        ours, theirs, host, none = [], [], [], []
        for _ in range(ROUNDS):
            ours.append(process(Path(full)))
            theirs.append(process(Path(empty)))
            host.append((await once(Path(full)))[0])
            none.append((await once(Path(empty)))[0])
        print(line(f"a start with {TOOLS} known tools", ours, theirs, "a start with none", "at most 2"))
        print(line("the same, the host alone", host, none, "a start with none", "none"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(asyncio.run(once(Path(sys.argv[1]))))
    else:
        asyncio.run(main())
