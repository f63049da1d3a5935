"""What a tool may do to its worker: the call ends, a neighbour still answers, nothing leaks, the loop is never blocked."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.run.kit import Desk, files, job, processes_with, workers

from etui.outcome import Outcome, Status
from etui.run.workers import Workers
from etui.tool import Grant

HOSTILE = Path(__file__).with_name("hostile.py")
KILLED = (
    *("loop", "loop_on_loop", "long_sum", "regex_bomb", "ignores_sigterm", "stops_itself"),
    *("busy_fork_bomb",),
)
"""These run until they are killed at their deadline."""
BREACHES = (
    *("garbage_on_the_wire", "four_gigabyte_length", "deep_message", "answers_another_call"),
    *("answers_with_a_status_of_the_hosts", "introduces_itself_again", "describes_itself_again"),
    *("asks_for_nothing_sensible", "closes_the_wire"),
)
"""These break the protocol, and the worker is killed for it at once."""
EXEC = Grant(subprocess=True)
NONE = Grant()


@contextlib.asynccontextmanager
async def house(kind: str, grant: Grant, work: Path | str = "", **more: object) -> AsyncIterator[tuple[Workers, list[float]]]:
    """Workers with a hostile plugin and a neighbour that is warm, and the gaps of the loop meanwhile."""
    async with workers(zygote=kind == "zygote", **more) as made:
        made.set_plugin(files(HOSTILE, "bad", work), grant)
        made.set_plugin(files(HOSTILE, "neighbour"), Grant())
        assert (await made.run(job("ok", {"x": 1}, plugin="neighbour"))).data == 1
        gaps: list[float] = []
        beat = asyncio.create_task(heart(gaps))
        machine = Machine()
        try:
            yield made, gaps
        finally:
            beat.cancel()
            slowest = machine.slowest()
        assert (await made.run(job("ok", {"x": 2}, plugin="neighbour", seconds=5))).data == 2
        assert (await made.run(job("ok", {"x": 3}, plugin="bad", seconds=10))).data == 3
        assert max(gaps, default=0) < 0.3 + slowest


class Machine:
    """How long this machine itself, busy with other things, lets a thread wait: what the loop's gaps are compared with."""

    def __init__(self) -> None:
        self._slowest = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat)
        self._thread.start()

    def slowest(self) -> float:
        self._over.set()
        self._thread.join()
        return self._slowest

    def _beat(self) -> None:
        while not self._over.is_set():
            before = time.monotonic()
            time.sleep(0.005)
            self._slowest = max(self._slowest, time.monotonic() - before)


async def heart(gaps: list[float]) -> None:
    while True:
        before = time.monotonic()
        await asyncio.sleep(0.005)
        gaps.append(time.monotonic() - before)


async def misbehave(
    name: str, kind: str = "zygote", grant: Grant = NONE, seconds: float = 0.4, work: Path | str = "", **more: object
) -> Outcome:
    arguments = {"work": str(work), **more}
    async with house(kind, grant, work) as (made, _):
        return await made.run(job(name, arguments, plugin="bad", seconds=seconds))


@pytest.fixture(params=["zygote", "spawn"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("name", KILLED)
async def test_what_does_not_end_is_killed_at_its_deadline(name):
    began = time.monotonic()
    grant = EXEC if "fork" in name else Grant()
    outcome = await misbehave(name, grant=grant)
    assert outcome.status is Status.TIMED_OUT
    assert time.monotonic() - began < 8
    assert not processes_with("never-there")


async def test_a_spawned_worker_is_killed_at_its_deadline_too():
    assert (await misbehave("long_sum", "spawn")).status is Status.TIMED_OUT


@pytest.mark.parametrize("name", BREACHES)
async def test_a_breach_of_the_protocol_is_the_end_of_the_worker(name):
    began = time.monotonic()
    outcome = await misbehave(name, seconds=20)
    assert outcome.status is Status.UNKNOWN
    assert time.monotonic() - began < 5


async def test_a_breach_is_named(kind):
    outcome = await misbehave("four_gigabyte_length", kind, seconds=20)
    assert "it announced a message of 4294967295 bytes" in outcome.text
    outcome = await misbehave("answers_another_call", kind, seconds=20)
    assert "it answered call 999999, which it was never given" in outcome.text


@pytest.mark.parametrize("name", ["answers_with_no_json", "answers_with_deep_json"])
async def test_a_result_that_is_no_json_is_a_failed_call(name):
    outcome = await misbehave(name, seconds=20)
    assert outcome.status is Status.FAILED
    assert "cannot be used" in outcome.text


async def test_every_way_to_die_is_told_apart(kind):
    assert "it was killed by SIGSEGV" in (await misbehave("segfault", kind)).text
    assert "it ended itself with code 3" in (await misbehave("leaves", kind)).text


async def test_closing_every_descriptor_ends_the_call():
    assert (await misbehave("closes_everything", seconds=20)).status is Status.UNKNOWN


async def test_two_gigabytes_at_once_are_one_failed_call(kind):
    outcome = await misbehave("two_gigabytes", kind, seconds=20)
    assert outcome.status is Status.FAILED
    assert "MemoryError" in outcome.text


async def test_memory_by_and_by_is_one_failed_call():
    assert (await misbehave("slowly_more", seconds=20)).status is Status.FAILED


async def test_memory_that_no_limit_counts_is_seen_by_the_watchdog():
    async with house("zygote", Grant(), memory=200) as (made, _):
        outcome = await made.run(job("shared_memory", plugin="bad", seconds=20))
    assert outcome.status is Status.UNKNOWN
    assert "it used more than 200 MB of memory" in outcome.text


async def test_forking_is_refused_without_the_grant(kind):
    outcome = await misbehave("fork_bomb", kind, seconds=20)
    assert outcome.status is Status.FAILED
    assert "PermissionError" in outcome.text


async def test_a_fork_bomb_is_gone_with_its_worker():
    async with house("zygote", EXEC) as (made, _):
        outcome = await made.run(job("fork_bomb", plugin="bad", seconds=20))
        assert outcome.data == 200
        [worker] = [alive for alive in made.report() if alive.plugin == "bad"]
        children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
        assert (await made.run(job("loop", plugin="bad", seconds=0.2))).status is Status.TIMED_OUT
        assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


async def test_a_daemon_that_left_its_session_is_gone_with_its_worker():
    async with house("zygote", EXEC) as (made, _):
        await made.run(job("daemon", {"mark": "61.0471"}, plugin="bad"))
        assert processes_with("61.0471")
        await made.run(job("segfault", plugin="bad"))
        assert not processes_with("61.0471")


async def test_on_a_timeout_the_whole_tree_is_killed(kind):
    async with house(kind, EXEC) as (made, _):
        began = time.monotonic()
        outcome = await made.run(job("shell_tree", {"mark": "61.0472"}, plugin="bad", seconds=0.5))
        assert outcome.status is Status.TIMED_OUT
        assert time.monotonic() - began < 2
        assert not processes_with("61.0472")


async def test_a_neighbours_children_outlive_another_workers_death():
    async with house("zygote", EXEC) as (made, _):
        made.set_plugin(files(HOSTILE, "parent"), EXEC)
        await made.run(job("daemon", {"mark": "61.0473"}, plugin="parent"))
        await made.run(job("segfault", plugin="bad"))
        assert processes_with("61.0473")
    assert not processes_with("61.0473")


async def test_a_thousand_threads_are_one_call_with_one_end_and_a_hundred_are_no_problem():
    # How far they get is the machine's: root has no limit of its own, and a busy machine may not reach the end in time.
    outcome = await misbehave("thread_bomb", seconds=5)
    assert outcome.status in (Status.OK, Status.UNKNOWN, Status.TIMED_OUT)
    assert (await misbehave("some_threads", seconds=20)).data == 100


async def test_a_flood_of_output_is_drained_and_its_end_kept(kind):
    async with house(kind, Grant()) as (made, _):
        assert (await made.run(job("floods_stdout", plugin="bad", seconds=20))).data == "printed"
        log = made.logs("bad")
    assert len(log.encode(errors="replace")) < 400_000
    assert "garbage" in log


async def test_a_task_that_ends_the_program_does_not():
    assert (await misbehave("leaves_from_a_task", seconds=5)).data == "still here"


@pytest.mark.parametrize(("name", "gives"), [("closes_stdout", "quiet"), ("breaks_python", "patched")])
async def test_a_worker_lives_on_without_what_a_tool_broke(name, gives):
    assert (await misbehave(name, seconds=5)).data == gives


async def test_descriptors_are_limited():
    assert (await misbehave("opens_files", seconds=20)).data == errno.EMFILE


async def test_an_endless_file_ends(tmp_path):
    outcome = await misbehave("endless_file", grant=Grant(write=(str(tmp_path),)), work=tmp_path, seconds=20)
    assert outcome.status is Status.FAILED
    assert (tmp_path / "endless").stat().st_size == 64 << 20


async def test_recursion_is_one_failed_call():
    assert "RecursionError" in (await misbehave("recursion", seconds=20)).text


async def test_a_flood_of_lines_makes_the_worker_wait():
    desk = Desk()
    async with house("zygote", Grant()) as (made, _):
        outcome = await made.run(job("floods_with_lines", plugin="bad", desk=desk, seconds=20))
    assert outcome.data == "said"
    assert [said["text"] for said in desk.of("say")] == [str(number) for number in range(20000)]


async def test_a_flood_of_requests_is_cut_short():
    desk = Desk()
    gate = asyncio.Event()

    async def answer(service, arguments):
        if len(desk.asked) >= 256:
            gate.set()
        await gate.wait()
        return

    desk.answer = answer
    async with house("zygote", Grant()) as (made, _):
        outcome = await made.run(job("floods_with_requests", plugin="bad", desk=desk, seconds=20))
    assert outcome.data is not None
    assert outcome.data + len(desk.asked) == 300
