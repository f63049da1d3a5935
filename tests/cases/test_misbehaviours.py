"""What a tool can do to its worker, through the whole host: one failed call, a sentence, and nobody else notices."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from tests.cases.desk import SAYS, Desk, descendants, running

from etui.outcome import Outcome, Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE = Path(__file__).parent
TIMED_OUT, CRASHED, FAILED, OK = Status.TIMED_OUT, Status.CRASHED, Status.FAILED, Status.OK
ENDS: dict[str, tuple[Status, str]] = {
    "segfaults": (CRASHED, "SIGSEGV"),
    "aborts": (CRASHED, "SIGABRT"),
    "loops": (TIMED_OUT, "0.3 s"),
    "loops_on_the_loop": (TIMED_OUT, "0.3 s"),
    "sums": (TIMED_OUT, "0.3 s"),
    "regex_bomb": (TIMED_OUT, "0.3 s"),
    "ignores_signals": (TIMED_OUT, "0.3 s"),
    "stops_itself": (TIMED_OUT, "0.3 s"),
    "terminates_itself": (CRASHED, "SIGTERM"),
    "leaves": (CRASHED, "code 3"),
    "exits": (FAILED, "tried to end the program"),
    "exits_on_the_loop": (FAILED, "tried to end the program"),
    "interrupts": (FAILED, "tried to end the program"),
    "two_gigabytes": (FAILED, "MemoryError"),
    "ever_more": (FAILED, "MemoryError"),
    "forks": (FAILED, "PermissionError"),
    "floods": (OK, "printed"),
    "closes_its_streams": (OK, "quiet"),
    "closes_everything": (CRASHED, "closes_everything"),
    "garbage_on_the_wire": (CRASHED, "garbage_on_the_wire"),
    "four_gigabytes_on_the_wire": (CRASHED, "4294967295 bytes"),
    "answers_for_another": (CRASHED, "answers_for_another"),
    "closes_the_wire": (CRASHED, "closes_the_wire"),
    "unserialisable": (FAILED, "no kind of data"),
    "deep": (FAILED, "nests more than"),
    "holds_itself": (FAILED, "it holds itself"),
    "opens_files": (FAILED, "OSError"),
    "recurses": (FAILED, "RecursionError"),
    "raises_what_cannot_be_shown": (FAILED, "Odd"),
    "leaves_a_task_behind": (OK, "still here"),
    "stops_the_loop": (OK, "went on"),
}


async def meanwhile(desk: Desk, call: asyncio.Task[Outcome]) -> Outcome:
    """The neighbour answers until the call has ended, and once more."""
    await asyncio.sleep(0)
    while True:
        assert await desk.value("neighbour") == "here"
        if call.done():
            return await call
        await asyncio.wait([call], timeout=0.02)


async def housed(desk: Desk) -> None:
    if "behaves" not in desk.names():
        desk.save("hostile.py", (HERE / "hostile.py").read_text())
        desk.save("acts.py", (HERE / "hostile_acts.py").read_text())
        desk.save("neighbour.py", SAYS.format(name="neighbour", word="here"))
        await desk.offered("behaves", "behaves_too", "neighbour")


def is_sentence(text: str) -> bool:
    return len(text) < 600 and "Traceback" not in text and "\n" not in text.strip() and bool(re.search(r"\w", text))


@pytest.mark.parametrize("name", ENDS)
async def test_a_misbehaviour_is_one_call_and_the_neighbour_answers(desk: Desk, name: str):
    await housed(desk)
    status, word = ENDS[name]
    outcome = await meanwhile(desk, asyncio.create_task(desk.call(name)))
    assert outcome.status is status, outcome
    assert word in outcome.text, outcome
    assert is_sentence(outcome.text)
    entry = desk.host.store.journal.recent(name, 1)[0]
    assert entry.status == status.value and entry.ended
    assert await desk.value("behaves", word="again") == "again"
    assert await desk.value("neighbour") == "here"


async def test_a_result_that_is_too_large_to_travel_gives_its_beginning_and_its_end(desk: Desk):
    await housed(desk)
    outcome = await meanwhile(desk, asyncio.create_task(desk.call("big_reply")))
    assert outcome.ok and len(outcome.text) < 100_000
    assert outcome.text.startswith("xxx") and "characters" in outcome.text and outcome.text.endswith("xxx")


@pytest.mark.parametrize(
    "name", ["threads", "endless_generator", "lies_about_itself", "patches_python", "patches_asyncio", "endless_file"]
)
async def test_what_may_end_in_several_ways_ends_in_one_of_them(desk: Desk, name: str):
    """Threads may be had or not, a patched language may answer or not; the next call works either way."""
    await housed(desk)
    outcome = await meanwhile(desk, asyncio.create_task(desk.call(name)))
    assert outcome.text and is_sentence(outcome.text[:500])
    assert desk.host.store.journal.recent(name, 1)[0].ended
    for tool in ("behaves", "behaves_too"):
        assert await desk.value(tool, word="again") == "again"


@pytest.mark.parametrize("name", ["fork_bomb", "busy_fork_bomb"])
async def test_a_fork_bomb_ends_with_its_worker(desk: Desk, name: str):
    await housed(desk)
    outcome = await meanwhile(desk, asyncio.create_task(desk.call(name)))
    assert outcome.text
    await desk.call("dies")
    assert len(descendants()) < 20
    assert await desk.value("behaves_too", word="again") == "again"


async def test_a_daemon_ends_with_its_worker(desk: Desk):
    await housed(desk)
    assert await desk.value("leaves_a_daemon", mark="61.0881") == "left"
    assert running("61.0881")
    outcome = await desk.call("dies")
    assert outcome.status is Status.UNKNOWN
    assert "may have happened" in outcome.text
    assert not running("61.0881")


async def test_calls_at_once_into_a_worker_that_dies_each_have_one_end(desk: Desk):
    await housed(desk)
    names = ["behaves", "leaves", "behaves", "segfaults", "behaves"] * 4
    outcomes = await asyncio.gather(*(desk.call(name) for name in names))
    for name, outcome in zip(names, outcomes, strict=True):
        assert outcome.status in ((OK, CRASHED) if name == "behaves" else (CRASHED,)), (name, outcome)
        assert outcome.text
    assert await desk.value("behaves", word="after") == "after"
