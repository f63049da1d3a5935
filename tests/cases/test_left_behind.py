"""What a host leaves behind when it is closed: nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.cases.desk import descendants, descriptors, desk_at, running
from tests.cases.test_misbehaviours import housed


def test_nothing_is_left_when_the_host_is_closed(tmp_path):
    """Processes and descriptors, after a host in which every kind of end was met; in a process where nothing else is open."""
    code = (
        f"import asyncio; from tests.cases.test_left_behind import nothing_left; asyncio.run(nothing_left({str(tmp_path)!r}))"
    )
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


async def nothing_left(folder: str) -> None:
    """A host for each half: the first opens what stays open for good, such as the loop's own."""
    async with desk_at(Path(folder) / "first") as desk:
        await housed(desk)
        await desk.call("behaves")
    processes, handles = descendants(), descriptors()
    async with desk_at(Path(folder) / "second") as desk:
        await housed(desk)
        for name in ENDINGS:
            await desk.call(name)
        await desk.call("leaves_a_daemon", {"mark": "61.0882"})
        assert running("61.0882")
    assert descendants() == processes
    async with asyncio.timeout(10):
        while descriptors() != handles:  # a thread of the store or of a pool may be about to close its own
            await asyncio.sleep(0.01)
    assert not running("61.0882")


ENDINGS = ("segfaults", "loops", "leaves", "garbage_on_the_wire", "stops_itself", "exits", "behaves", "neighbour", "floods")
