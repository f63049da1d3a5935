"""From the last write of an edit to the new version answering, against the watcher's own notice of the same write."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from pathlib import Path

import watchfiles
from ratio import line

from etui.home import Home
from etui.host import open_host
from etui.plugins.watching import STEP_MS

ROUNDS = 15
FILE = '''from etui import tool

@tool
def answer() -> int:
    """Say the number."""
    return {number}
'''


async def edit_to_live(folder: Path) -> list[float]:
    taken = []
    async with open_host(Home(folder), {"shelf": False}, environ={}) as host:
        session = host.session("python")
        file = folder / "tools" / "answer.py"
        for number in range(ROUNDS + 1):
            file.write_text(FILE.format(number=number))
            started = time.perf_counter()
            while (await session.call(session.new_call("answer", {}))).data != number:  # noqa: ASYNC110
                await asyncio.sleep(0)
            if number:
                taken.append(time.perf_counter() - started)
    return taken


async def notice(folder: Path) -> list[float]:
    """The watcher alone, set as the host sets it."""
    taken = []
    seen = asyncio.Event()

    async def watch() -> None:
        async for _ in watchfiles.awatch(folder, step=STEP_MS, debounce=10 * STEP_MS):
            seen.set()

    task = asyncio.create_task(watch())
    await asyncio.sleep(0.5)
    for number in range(ROUNDS):
        seen.clear()
        (folder / "file.py").write_text(str(number))
        started = time.perf_counter()
        await seen.wait()
        taken.append(time.perf_counter() - started)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return taken


async def main() -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        ours, theirs = await edit_to_live(Path(one)), await notice(Path(other))
    print(line("from an edit to the new version answering", ours, theirs, "the watcher's own notice", "at most 5"))


if __name__ == "__main__":
    asyncio.run(main())
