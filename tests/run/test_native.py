"""Tool files of the contract `etui` in real workers: the whole way from `@tool` to an outcome."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.run.kit import Desk, job, processes_with, workers

from etui.contracts import Files
from etui.outcome import Status
from etui.run import Job
from etui.run.workers import Timing, Workers
from etui.tool import Grant, Tool

TOOLS = '''
import asyncio, subprocess, sys, time
from etui import Context, Refusal, tool

@tool
def roll(count: int = 1) -> list[int]:
    """Roll dice."""
    import random
    return [random.randint(1, 6) for _ in range(count)]

@tool
async def nap(seconds: float) -> str:
    """Sleep."""
    await asyncio.sleep(seconds)
    return "rested"

@tool
def hang(ctx: Context) -> str:
    """Block."""
    ctx.say("hanging")
    time.sleep(60)
    return "never"

@tool
async def sly() -> str:
    """Block the loop."""
    time.sleep(60)

@tool
def leave() -> None:
    """End the program."""
    sys.exit(2)

@tool
def mute() -> None:
    """Raise without a word."""
    raise TimeoutError()

@tool
def sorry() -> None:
    """Refuse."""
    raise Refusal("Not today.")

@tool(risk="write")
def save(ctx: Context, text: str) -> str:
    """Write into the folder."""
    ctx.files.write_text("note.txt", text)
    return ctx.files.read_text("note.txt")

@tool(risk="exec")
async def pipes() -> str:
    """Start a process from the loop."""
    made = await asyncio.create_subprocess_exec("sh", "-c", "echo a | tr a b", stdout=asyncio.subprocess.PIPE)
    out, _ = await made.communicate()
    return out.decode()

@tool
def matrix() -> float:
    """Use numpy within the limits."""
    import numpy
    return float((numpy.ones((300, 300)) @ numpy.ones((300, 300))).sum())

@tool(risk="exec")
def shell() -> str:
    """Start a tree of processes."""
    return subprocess.run(["bash", "-c", "sleep 61.0481 & sleep 61.0481"], capture_output=True, text=True).stdout
'''


class Native:
    def __init__(self, made: Workers, tools: dict[str, Tool]) -> None:
        self.made = made
        self.tools = tools

    def job(self, name: str, arguments: dict[str, object] | None = None, **more: object) -> Job:
        base = job(name, arguments, plugin="native", **more)
        return Job(
            call=base.call,
            tool=self.tools[name],
            arguments=base.arguments,
            seconds=base.seconds,
            caller=base.caller,
            serve=base.serve,
        )


@pytest.fixture
async def native(tmp_path: Path) -> AsyncIterator[Native]:
    path, work = tmp_path / "native.py", tmp_path / "work"
    path.write_text(TOOLS)
    files = Files(plugin="native", source="t", contract="auto", path=str(path), files=(str(path),), work=str(work))
    grant = Grant(write=(str(work),), subprocess=True)
    async with workers(contract_path="", timing=Timing(grace=0.2, stop=0.1)) as made:
        described = await made.describe(files, Grant())
        assert described.contract == "etui"
        assert described.problems == ()
        made.set_plugin(files, grant)
        yield Native(made, {tool.name: tool for tool in described.tools})


async def test_a_typed_function_runs(native):
    outcome = await native.made.run(native.job("roll", {"count": 3}))
    assert outcome.status is Status.OK
    assert isinstance(outcome.data, list)
    assert len(outcome.data) == 3


async def test_the_folder_can_be_used(native):
    outcome = await native.made.run(native.job("save", {"text": "milk"}))
    assert (outcome.status, "milk" in outcome.text) == (Status.OK, True)


async def test_the_ways_to_end_badly_are_told_apart(native):
    assert "tried to end the program" in (await native.made.run(native.job("leave"))).text
    assert "TimeoutError" in (await native.made.run(native.job("mute"))).text
    refused = await native.made.run(native.job("sorry"))
    assert (refused.status, refused.rule) == (Status.REFUSED, "tool")


@pytest.mark.parametrize("name", ["hang", "sly"])
async def test_a_blocking_tool_is_really_ended_and_its_owner_sees_where_it_hung(native, name):
    await native.made.run(native.job("roll"))
    [before] = native.made.report()
    outcome = await native.made.run(native.job(name, seconds=0.2))
    assert outcome.status is Status.TIMED_OUT
    assert f"in {name}\n" in outcome.detail
    assert outcome.reference
    assert not Path(f"/proc/{before.pid}").exists()
    assert (await native.made.run(native.job("roll"))).status is Status.OK


async def test_forty_hung_calls_each_end_in_time_and_a_quick_one_answers_at_once(native):
    began = time.monotonic()
    outcomes = await asyncio.gather(*(native.made.run(native.job("hang", seconds=0.5)) for _ in range(40)))
    assert {outcome.status for outcome in outcomes} == {Status.TIMED_OUT}
    assert time.monotonic() - began < 5
    assert (await native.made.run(native.job("roll"))).status is Status.OK


async def test_a_stopped_call_of_a_function_frees_its_caller_and_ends_its_work(native):
    desk = Desk()
    call = asyncio.create_task(native.made.run(native.job("hang", desk=desk)))
    await desk.next("say")
    [before] = native.made.report()
    call.cancel()
    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert time.monotonic() - began < 1
    assert not Path(f"/proc/{before.pid}").exists()


async def test_a_tree_of_processes_is_gone_after_a_timeout(native):
    assert (await native.made.run(native.job("shell", seconds=0.4))).status is Status.TIMED_OUT
    assert not processes_with("61.0481")


async def test_a_process_can_be_started_from_the_loop(native):
    assert (await native.made.run(native.job("pipes"))).text.strip() == "b"


async def test_numpy_works_within_the_limits(native):
    assert (await native.made.run(native.job("matrix"))).data == 27_000_000


async def test_calls_of_one_plugin_do_not_wait_for_each_other(native):
    outcomes = await asyncio.gather(*(native.made.run(native.job("nap", {"seconds": 0.2})) for _ in range(50)))
    assert {outcome.status for outcome in outcomes} == {Status.OK}
