"""What only the inline runner does: it cannot kill, so it lets go and says what it left."""

from __future__ import annotations

import asyncio
import threading

from tests.run.kit import bench, job

from etui.outcome import Status


async def test_a_thread_beyond_its_time_is_left_and_its_caller_goes_on():
    async with bench("inline") as made:
        outcome = await made.call("blocks", {"seconds": 0.8}, seconds=0.1)
        assert outcome.status is Status.TIMED_OUT
        assert 0.1 < outcome.seconds < 0.6


async def test_a_coroutine_that_will_not_end_is_counted_until_it_does():
    async with bench("inline") as made:
        release = asyncio.Event()

        async def deaf(tool, arguments, line):
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        made.runner.add("deaf", deaf)
        assert (await made.runner.run(job("deaf", seconds=0.05))).status is Status.TIMED_OUT
        assert made.runner.left() == ["deaf"]
        release.set()
        while made.runner.left():
            await asyncio.sleep(0)


async def test_a_tool_may_be_replaced_and_taken_back():
    async with bench("inline") as made:

        async def other(tool, arguments, line):
            raise RuntimeError(tool)

        made.runner.add("add", other)
        assert "RuntimeError" in (await made.call("add")).text
        made.runner.remove("add")
        assert (await made.call("add")).status is Status.REFUSED


async def test_functions_run_in_this_process():
    async with bench("inline") as made:
        seen = []

        async def here(tool, arguments, line):
            seen.append((tool, arguments, threading.current_thread() is threading.main_thread()))

        made.runner.add("here", here)
        assert (await made.runner.run(job("here", {"a": 1}, entry="there"))).status is Status.FAILED
        assert seen == [("there", {"a": 1}, True)]
