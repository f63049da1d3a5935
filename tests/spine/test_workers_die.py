"""Processes die under load: each call has one end, and the next one works."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import Counter
from pathlib import Path

from tests.spine.homes import DEEDS, deeds, doers, ended, gate, host_at, reached, tools_in

from etui.outcome import Status

STEADY = '''import os
from etui import tool


@tool
def double(number: int) -> int:
    """Twice as much."""
    return number * 2


@tool
def process() -> list[int]:
    """This process and its parent."""
    return [os.getpid(), os.getppid()]
'''


async def called(host, name, /, **arguments):
    session = host.session("python")
    return await session.call(session.new_call(name, arguments))


async def doubling(host, stop: asyncio.Event) -> list:
    """One client that calls until it is told to stop."""
    outcomes, number = [], 0
    while not stop.is_set():
        outcome = await called(host, "double", number=number)
        assert not outcome.ok or outcome.data == number * 2
        outcomes.append(outcome)
        number += 1
    return outcomes


async def test_reading_calls_outlive_their_worker_and_the_zygote_under_load(tmp_path):
    tools_in(tmp_path, STEADY)
    async with host_at(tmp_path) as host:
        stop = asyncio.Event()
        clients = [asyncio.create_task(doubling(host, stop)) for _ in range(8)]
        for victim in (0, 1, 0, 1):
            # The worker, then the zygote that it was forked from.
            os.kill((await called(host, "process")).data[victim], signal.SIGKILL)
            assert [(await called(host, "double", number=number)).data for number in range(20)] == list(range(0, 40, 2))
        stop.set()
        outcomes = [outcome for client in await asyncio.gather(*clients) for outcome in client]
        # What only reads is tried once more, so nobody sees the deaths.
        assert {outcome.status for outcome in outcomes} == {Status.OK}
        assert len(outcomes) > 8
        assert len(host.workers.report()) == 1
        entries = host.store.journal.audit(limit=10_000, tool="double")
        assert Counter(entry.status for entry in entries) == {"ok": len(outcomes) + 80}


async def test_a_writing_call_whose_worker_is_killed_is_not_run_again_and_the_next_one_works(tmp_path):
    tools_in(tmp_path, DEEDS)
    path = gate(tmp_path, "act held")
    async with host_at(tmp_path) as host:
        held = asyncio.create_task(called(host, "act", what="held"))
        async with reached(path):
            os.kill(doers(tmp_path)[-1], signal.SIGKILL)
            outcome = await held
        assert outcome.status is Status.UNKNOWN or outcome.status is Status.CRASHED
        assert (await called(host, "act", what="next")).ok
        assert deeds(tmp_path) == ["act held", "act next"]
        assert [entry.status for entry in host.store.journal.recent("act", 2)] == ["ok", outcome.status]


async def test_a_reading_call_whose_worker_is_killed_is_run_again_unseen(tmp_path):
    tools_in(tmp_path, DEEDS)
    path = gate(tmp_path, "look held")
    async with host_at(tmp_path) as host:
        held = asyncio.create_task(called(host, "look", what="held"))
        async with reached(path):
            first = os.pidfd_open(doers(tmp_path)[-1])
            os.kill(doers(tmp_path)[-1], signal.SIGKILL)
            await ended(first)
            os.close(first)
        async with reached(path):
            pass
        assert (await held).text == "look held done"
        assert deeds(tmp_path) == ["look held"] * 2


async def test_the_zygote_dies_with_calls_under_way_and_every_one_has_an_end(tmp_path):
    tools_in(tmp_path, DEEDS)
    tools_in(tmp_path, STEADY, "steady.py")
    path = gate(tmp_path, "act held")
    async with host_at(tmp_path) as host:
        _, zygote = (await called(host, "process")).data
        held = asyncio.create_task(called(host, "act", what="held"))
        async with reached(path):
            worker = os.pidfd_open(doers(tmp_path)[-1])
            os.kill(zygote, signal.SIGKILL)
            outcome = await held
            await ended(worker)
            os.close(worker)
        assert outcome.status in (Status.CRASHED, Status.UNKNOWN)
        after = await asyncio.gather(*(called(host, "double", number=number) for number in range(20)))
        assert [one.data for one in after] == [number * 2 for number in range(20)]
        assert (await called(host, "process")).data[1] != zygote
        assert deeds(tmp_path) == ["act held"]


async def test_no_process_is_left_when_the_host_has_closed(tmp_path):
    tools_in(tmp_path, DEEDS)
    tools_in(tmp_path, STEADY, "steady.py")
    async with host_at(tmp_path) as host:
        await called(host, "look", what="here")
        worker, zygote = (await called(host, "process")).data
        pids = [worker, zygote, *doers(tmp_path)]
    for pid in pids:
        with contextlib.suppress(FileNotFoundError):
            assert Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
