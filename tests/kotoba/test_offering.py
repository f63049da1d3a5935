"""Which tools a request offers: what a check says, how long that counts, and what the owner switched off meanwhile."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.kotoba.homes import PING, Room, kotoba, ping
from tests.spine.homes import LONG, tool_changed

from etui.agent.model import Ask
from etui.agent.scripted import Step, call
from etui.events import Kind

CHECKED = """
STATE = {"answer": %r, "asked": 0, "traces": []}


def check():
    STATE["asked"] += 1
    if STATE["answer"] == "raise":
        raise ValueError("the service flickers")
    return STATE["answer"]
"""
"""A check whose answer a call of the tool sets, and which counts itself."""
NOON = 1_800_000_000.0
TOLD = 'STATE.update(args)\nreturn str(STATE["asked"])'


class Clock:
    """The time, which a test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now

    def at(self, seconds: float) -> None:
        """So many seconds after noon."""
        self.now = NOON + seconds


def checked(answer: object = True) -> str:
    return ping(TOLD, head=CHECKED % (answer,))


async def offered(room: Room) -> bool:
    """Whether a new request offers `ping`."""
    await room.turn("hello", "Hello.")
    return "ping" in room.offered()


async def answers(room: Room, answer: object) -> int:
    """Let the check answer so from now on; gives how often it was asked so far."""
    return int((await room.call("ping", {"answer": answer})).text)


@pytest.mark.promise("K043", "K045")
async def test_a_check_is_asked_before_its_tool_is_offered(tmp_path: Path) -> None:
    files = {
        "p/yes.py": ping(TOLD, name="yes", head=CHECKED % (True,)),
        "p/no.py": ping(TOLD, name="no", head=CHECKED % (False,)),
        "q/ping.py": PING,
    }
    async with kotoba(tmp_path, files) as room:

        async def asked(name: str) -> str:
            return (await room.call(name)).text

        await room.turn("hello", "Hello.")
        assert room.offered() == ["ping", "yes"]
        assert [await asked("yes"), await asked("no")] == ["1", "1"]
        await room.turn("hello", [call("ping")], "Done.")
        assert all("ping" in room.offered(at) for at in range(3))


@pytest.mark.promise("K044")
async def test_an_answer_counts_for_thirty_seconds(tmp_path: Path) -> None:
    clock = Clock()
    async with kotoba(tmp_path, {"p/ping.py": checked()}, clock=clock) as room:
        for seconds in (0, 10, 29):
            clock.at(seconds)
            assert await offered(room)
        assert await answers(room, True) == 1
        clock.at(31)
        assert await offered(room) and await answers(room, True) == 2


@pytest.mark.promise("K173", "K168")
async def test_a_false_answer_counts_as_long(tmp_path: Path) -> None:
    clock = Clock()
    async with kotoba(tmp_path, {"p/ping.py": checked(False)}, clock=clock) as room:
        assert not await offered(room)
        clock.at(5)
        await answers(room, True)
        clock.at(29)
        assert not await offered(room)
        clock.at(31)
        assert await offered(room)


@pytest.mark.promise("K047")
async def test_every_request_of_a_turn_makes_its_offer_anew(tmp_path: Path) -> None:
    clock = Clock()
    async with kotoba(tmp_path, {"p/ping.py": checked(), "q/pong.py": ping(name="pong")}, clock=clock) as room:

        def later(ask: Ask) -> Step:
            clock.at(31)
            return [call("ping", {"answer": False})]

        await room.turn("hello", later, "Done.")
        assert room.offered(0) == ["ping", "pong"] and room.offered(1) == ["pong"]


@pytest.mark.promise("K050", "K051", "K053", "K174")
async def test_where_a_check_raises_its_last_answer_stands_and_the_owner_is_warned(tmp_path: Path) -> None:
    clock = Clock()
    with capture_logs() as logs:
        async with kotoba(tmp_path, {"p/ping.py": checked()}, clock=clock) as room:
            seen = []
            for at, answer in enumerate([True, "raise", True, "raise", "raise", "raise", "raise"]):
                clock.at(31 * at)
                await answers(room, answer)
                seen.append(await offered(room))
            assert seen == [True] * 7
            (problem,) = [problem for problem in room.host.problems.all() if problem.what == "ping"]
            assert "check failed (ValueError: the service flickers" in problem.reason
            assert "the service flickers" in problem.trace and not problem.refused
            await answers(room, False)
            clock.at(31 * 8)
            assert not await offered(room)
            assert [problem for problem in room.host.problems.all() if problem.what == "ping"] == []
            await answers(room, "raise")
            clock.at(31 * 9)
            assert not await offered(room)  # False stands, too
    warnings = [log for log in logs if log["log_level"] == "warning" and log.get("tool") == "ping"]
    assert len(warnings) == 6
    assert all("Traceback" in log["trace"] and "the service flickers" in log["trace"] for log in warnings)


@pytest.mark.promise("K052", "K175", "K278", "K051")
async def test_a_check_that_raises_at_first_hides_its_tool_and_that_is_kept(tmp_path: Path) -> None:
    clock = Clock()
    with capture_logs() as logs:
        async with kotoba(tmp_path, {"p/ping.py": checked("raise")}, clock=clock) as room:
            assert not await offered(room)
            clock.at(5)
            await answers(room, True)
            clock.at(10)
            assert not await offered(room)
            clock.at(31)
            assert await offered(room)
    assert len([log for log in logs if log["log_level"] == "warning" and log.get("tool") == "ping"]) == 1


@pytest.mark.promise("K048")
async def test_a_slow_check_holds_up_no_other_plugin(tmp_path: Path) -> None:
    slow = ping(head="import time\n\n\ndef check():\n    time.sleep(5)\n    return True\n")
    async with kotoba(tmp_path, {"p/ping.py": slow, "q/pong.py": ping(name="pong")}) as room:
        await room.call("pong")
        room.host._tooling.availability._patience = 0.5
        asking = asyncio.create_task(room.turn("hello", "Hello."))
        await asyncio.sleep(0)
        assert (await room.call("pong")).text == "pong"
        assert not asking.done()
        await asking
        assert room.offered() == ["pong"]


@pytest.mark.promise("K172")
async def test_a_check_that_never_returns_costs_its_tool_the_offer_and_nothing_else(tmp_path: Path) -> None:
    hung = ping(head="import time\n\n\ndef check():\n    while True:\n        time.sleep(0.01)\n")
    with capture_logs() as logs:
        async with kotoba(tmp_path, {"p/ping.py": hung, "q/pong.py": ping(name="pong")}) as room:
            room.host._tooling.availability._patience = 0.3
            assert not await offered(room)
            room.host._tooling.availability._patience = 600  # nobody waits for the same answer twice
            await room.turn("hello", [call("pong")], "Done.")
            assert [result.text for result in room.results()] == ["pong"]
            assert "check" in next(problem.reason for problem in room.host.problems.all() if problem.what == "ping")
    assert [log["tool"] for log in logs if log["log_level"] == "warning" and log.get("tool")] == ["ping"]


async def test_an_answer_from_before_a_decision_of_the_owner_does_not_count_after_it(tmp_path: Path) -> None:
    head = """
    import os
    import time


    def check():
        while "THE_TOKEN" not in os.environ:
            time.sleep(0.01)
        return True
    """
    async with kotoba(tmp_path, {"p/ping.py": ping(head=head)}) as room:
        room.host._tooling.availability._patience = 0.2
        assert not await offered(room)
        room.host._tooling.availability._patience = LONG
        room.host.plugins.give("p", "THE_TOKEN", "x")
        assert await offered(room)


@pytest.mark.promise("K054")
async def test_a_name_that_was_offered_still_runs_when_its_check_says_no(tmp_path: Path) -> None:
    ask = "from kotoba.tools.registry import dispatchable\nreturn repr(dispatchable('ping') is not None)"
    clock = Clock()
    async with kotoba(tmp_path, {"p/ping.py": checked(), "q/look.py": ping(ask, name="look")}, clock=clock) as room:

        def no(ask: Ask) -> Step:
            clock.at(31)
            return [call("ping", {"answer": False})]

        again = [call("look"), call("ping", {"answer": False, "n": 1}, 1)]
        await room.turn("hello", no, again, "Done.")
        assert "ping" in room.offered(0) and "ping" not in room.offered(1)
        assert [(result.meta["status"], result.text) for result in room.results()] == [("ok", "1"), ("ok", "True"), ("ok", "2")]


@pytest.mark.promise("K279")
async def test_a_changed_file_has_its_check_asked_at_once(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": checked(False)}, clock=Clock()) as room:
        assert not await offered(room)
        async with room.host.hub.listen(Kind.TOOLS_CHANGED) as told:
            (room.folder / "p/ping.py").write_text(checked(True))
            await tool_changed(told, "ping")
        assert await offered(room)


@pytest.mark.promise("K280", "K281")
async def test_a_check_that_cannot_be_called_hides_its_tool_and_an_async_one_does_not(tmp_path: Path) -> None:
    files = {
        "p/ping.py": ping(head="check = True"),
        "q/pong.py": ping(name="pong", head="async def check():\n    return False\n"),
        "o/object.py": ping(
            name="object", head="class Check:\n    async def __call__(self):\n        return False\n\n\ncheck = Check()\n"
        ),
        "f/part.py": ping(
            name="part", head="import functools\n\n\nasync def no(x):\n    return False\n\n\ncheck = functools.partial(no, 1)\n"
        ),
    }
    with capture_logs() as logs:
        async with kotoba(tmp_path, files) as room:
            await room.turn("hello", "Hello.")
            assert room.offered() == ["object", "part", "pong"]
            for name in ("object", "part", "pong"):
                (warning,) = [problem for problem in room.host.problems.all() if problem.file.endswith(f"{name}.py")]
                assert "check" in warning.reason and warning.line > 3 and not warning.refused
    assert [log["tool"] for log in logs if log["log_level"] == "warning" and log.get("tool")] == ["ping"]


@pytest.mark.promise("K194", "K195", "K276", "K197")
async def test_what_is_switched_off_in_mid_turn_is_neither_offered_nor_run(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": PING, "q/pong.py": ping(name="pong")}) as room:

        def off(ask: Ask) -> Step:
            room.host.tools.switch("plugin:p", False)
            return [call("ping"), call("ping", {"n": 1}, 1)]

        def on(ask: Ask) -> Step:
            room.host.tools.switch("plugin:p", True)
            return [call("ping", {"n": 2})]

        began = time.monotonic()
        await room.turn("hello", off, on, "Done.")
        assert time.monotonic() - began < 5
        assert [room.offered(at) for at in range(3)] == [["ping", "pong"], ["pong"], ["ping", "pong"]]
        first, second, third = room.results()
        assert all(result.meta["status"] == "refused" and "switched OFF" in result.text for result in (first, second))
        assert room.offered(2) != []  # two refusals are no failures
        assert (third.meta["status"], third.text) == ("ok", "pong")


READER = ping(
    """
    from kotoba.core.loop import note_tool_failure
    if args.get("fail"):
        note_tool_failure("no such page")
        return "The page is not there."
    return "a page"
    """,
    name="web_extract",
)


@pytest.mark.promise("K287")
async def test_a_reader_of_pages_is_offered_while_there_is_a_link_to_read(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/web_extract.py": READER}) as room:

        async def said(text: str, *steps: Step) -> bool:
            await room.turn(text, *(steps or ("Hm.",)))
            return room.offered() == ["web_extract"]

        assert not await said("hello")
        assert await said("read https://example.com/a")
        assert await said("and now?") and await said("go on")
        assert not await said("and then?")
        assert await said("and HTTP://example.com")
        assert not await said("read it", [call("web_extract", {"fail": 1})], "It failed.")
        assert "web_extract" in room.offered(-2)
        assert not await said("again")
        assert await said("then https://example.com/b")


async def test_a_check_is_asked_in_a_background_job_too(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": checked(False), "q/pong.py": ping(name="pong")}) as room:
        chat = room.host.store.chats.create("", "python").id
        room.script("Done.")
        async with room.host.hub.listen(Kind.WORK_DONE) as told:
            room.host.jobs.start(room.host.session("python", chat=chat), "look")
            assert await asyncio.wait_for(told.next(), LONG)
        assert room.offered() == ["pong"]
