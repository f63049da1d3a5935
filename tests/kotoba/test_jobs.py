"""Background jobs: started from a conversation, one at a time, with limits of their own, told once, cancelled, and not lost."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kotoba.homes import PING, Room, kotoba, ping
from tests.spine.homes import LONG, host_at, until

from etui.agent.model import Ask
from etui.agent.scripted import Scripted, Step, call
from etui.events import Kind, Listener
from etui.store.chats import Message

WAITS = ping("import asyncio\nawait asyncio.sleep(60)\nreturn 'pong'", head='RISK = "write"\n')
ASKS = ping(
    """
    from kotoba.core.interaction import ask_approval
    return str(await ask_approval(ctx, "tidy up"))
    """,
    name="asks",
)


def played(by_job: list[Step], by_chat: list[Step]) -> Callable[[Ask], Step]:
    """The next step of whichever of the two asks."""

    def step(ask: Ask) -> Step:
        steps = by_job if "working in the background" in ask.system else by_chat
        return steps.pop(0) if steps else "Nothing more."

    return step


def both(room: Room, job: list[Step], chat: list[Step]) -> None:
    """Let the model play these steps in the job and those in the conversation."""
    step = played(job, chat)
    room.script(*[step] * 40)


def start(room: Room, goal: str = "tidy up", **session: object) -> str:
    """Start a job from the room's one chat; gives its id."""
    room.chat = room.chat or room.host.store.chats.create("", "python").id
    opened = room.host.session("python", chat=room.chat, **session)  # type: ignore[arg-type]
    return room.host.jobs.start(opened, goal).id


def notices(ask: Ask) -> list[str]:
    return [message.text for message in ask.messages if message.role == "notice"]


@pytest.mark.promise("K370")
async def test_one_job_runs_beside_a_conversation_and_no_second_one(tmp_path: Path) -> None:
    held, reached = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        reached.set()
        await held.wait()

    async with kotoba(tmp_path, {"p/ping.py": PING}, shelf=True) as room, room.host.hub.listen(Kind.WORK_STARTED) as told:
        # `start_work` gives its answer while the job waits.
        both(
            room,
            [[call("ping"), hold], "Summary: " + "x" * 600],
            [[call("start_work", {"goal": "tidy up"})], "Started."],
        )
        room.chat = room.host.store.chats.create("", "python").id
        assert await room.host.conversations.turn(room.chat, "tidy up in the background") == "Started."
        assert "Started in the background" in room.results()[0].text
        began = await until(told, Kind.WORK_STARTED, goal="tidy up")
        assert began.chat == room.chat and room.host.jobs.all()[0].state == "running"
        await reached.wait()

        both(room, [], [[call("start_work", {"goal": "more"})], "One is running."])
        await room.host.conversations.turn(room.chat, "another one")
        assert room.results()[1].meta["status"] == "refused" and "already running" in room.results()[1].text
        assert len(room.host.jobs.all()) == 1


@pytest.mark.promise("K371")
async def test_the_next_turn_is_told_the_summary_and_the_one_after_is_not(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": PING}) as room:
        async with room.host.hub.listen(Kind.WORK_DONE) as told:
            room.script([call("ping")], "All is tidy. " + "x" * 600)
            id = start(room)
            done = (await until(told, Kind.WORK_DONE)).data
        assert (done["job"], done["goal"], done["ok"], done["cancelled"]) == (id, "tidy up", True, False)
        summary = str(done["summary"])
        assert summary.startswith("All is tidy.") and len(summary) <= 500
        await room.turn("hello", [call("ping")], "It is tidy.")
        first, second = room.requests[-2:]
        assert all(summary in notices(ask)[0] and len(notices(ask)) == 1 for ask in (first, second))
        await room.turn("thanks", "Welcome.")
        assert notices(room.requests[-1]) == []
        # The person finds it in the chat, and the job is no chat of theirs.
        assert room.host.store.chats.messages(room.chat)[0].role == "notice"
        assert [chat.id for chat in room.host.store.chats.all()] == [room.chat]
        # Its steps are events like any others, in its own chat.
        steps = [event for event in await room.events() if event.kind is Kind.CALL_ENDED and event.chat == id]
        assert [event.data["tool"] for event in steps] == ["ping"]


@pytest.mark.promise("K371")
async def test_a_job_that_ends_in_the_middle_of_a_turn_is_told_in_the_next(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": PING}) as room, room.host.hub.listen(Kind.WORK_DONE) as told:

        async def over() -> None:
            await until(told, Kind.WORK_DONE)

        held = asyncio.Event()
        both(room, [[held.wait], "Tidy."], [[call("ping"), lambda: _set(held), over], "Done.", "It is tidy."])
        start(room)
        await room.host.conversations.turn(room.chat, "hello")
        assert [notices(ask) for ask in room.requests if "working in the background" not in ask.system] == [[], []]
        await room.host.conversations.turn(room.chat, "and?")
        assert len(notices(room.requests[-1])) == 1


async def _set(event: asyncio.Event) -> None:
    event.set()


class Jumps:
    """A clock that a test moves, with what is to happen at a time."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, Callable[[], None]]] = []

    def later(self, seconds: float, act: Callable[[], None]) -> Jumps:
        self._due = [(self.now + seconds, act)]
        return self

    def cancel(self) -> None:
        self._due = []

    def to(self, now: float) -> None:
        """Go there, and do what is due on the way."""
        self.now = now
        due, self._due = [act for at, act in self._due if at <= now], [(at, act) for at, act in self._due if at > now]
        for act in due:
            act()


@pytest.mark.promise("K372")
async def test_a_job_may_work_for_an_hour_and_people_take_their_time(tmp_path: Path) -> None:
    jumps = Jumps()
    held, arrived = asyncio.Event(), asyncio.Event()

    async def waiting() -> None:
        arrived.set()
        await held.wait()

    body = "from kotoba.core.interaction import open_link_card\nreturn str(await open_link_card('', 'https://example.com'))"
    async with kotoba(tmp_path, {"p/asks.py": ASKS, "p/shows.py": ping(body, name="shows")}) as room:
        room.host.jobs.later, room.host.jobs.ticks = jumps.later, lambda: jumps.now
        async with room.host.hub.listen(Kind.WORK_DONE, Kind.CARD_OPENED, Kind.CARD_CLOSED) as told:
            room.script([call("asks")], [waiting], "Done.")
            start(room, attended=True)
            card = (await until(told, Kind.CARD_OPENED)).data["card"]
            await _heard(told)
            jumps.to(7200.0)
            assert room.host.cards.answer(card["id"], "approve")  # type: ignore[index]
            await until(told, Kind.CARD_CLOSED)
            await arrived.wait()
            jumps.to(7210.0)
            held.set()
            assert (await until(told, Kind.WORK_DONE)).data["ok"] is True

            held.clear()
            arrived.clear()
            room.script([call("shows")], [waiting], "Never.")
            start(room, "again", attended=True)
            await arrived.wait()
            await _heard(told)
            assert len(room.host.cards.open()) == 1  # nobody waits for it, so that the time passes
            jumps.to(7210.0 + 3599)
            assert room.host.jobs.all()[0].state == "running"
            jumps.to(7210.0 + 3600)
            done = (await until(told, Kind.WORK_DONE)).data
            assert (done["ok"], done["cancelled"]) == (False, False) and "3600 s" in str(done["summary"])


async def _heard(told: Listener) -> None:
    """Let every listener take what was told."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.promise("K373")
@pytest.mark.parametrize("way", ["tool", "stop", "host"])
async def test_a_job_is_cancelled_with_its_running_call(tmp_path: Path, way: str) -> None:
    async with kotoba(tmp_path, {"p/ping.py": WAITS}, shelf=True) as room:
        async with room.host.hub.listen(Kind.CALL_STARTED, Kind.CALL_ENDED, Kind.WORK_DONE) as told:
            both(room, [[call("ping")]], [[call("cancel_work")], "Cancelled."])
            id = start(room)
            await until(told, Kind.CALL_STARTED, tool="ping")
            if way == "tool":
                assert await room.host.conversations.turn(room.chat, "cancel it") == "Cancelled."
                assert room.results()[0].text == "The background job is cancelled."
            else:
                assert room.host.conversations.stop(room.chat) if way == "stop" else room.host.jobs.cancel(id)
            if way != "tool":
                assert (await until(told, Kind.CALL_ENDED, tool="ping")).data["status"] == "cancelled"
            done = (await until(told, Kind.WORK_DONE)).data
            assert (done["cancelled"], done["ok"]) == (True, False)
            (entry,) = room.host.store.journal.audit(tool="ping")
            assert entry.status == "cancelled"
        assert room.host.jobs.all()[0].state == "cancelled" and not room.host.jobs.cancel(id)
        both(room, [], [[call("cancel_work")], "There is none."])
        await room.host.conversations.turn(room.chat, "cancel it")
        assert (room.results()[-1].meta["status"], room.results()[-1].text) == ("refused", "No background job is running here.")


async def test_the_embedded_model_cancels_a_job_by_a_sentence(tmp_path: Path) -> None:
    async with (
        kotoba(tmp_path, {"p/ping.py": WAITS}, shelf=True) as room,
        room.host.hub.listen(Kind.CALL_STARTED, Kind.WORK_DONE) as told,
    ):
        both(room, [[call("ping")]], [])
        start(room)
        await until(told, Kind.CALL_STARTED, tool="ping")
        room.host._chosen._fixed = None
        await room.host.conversations.turn(room.chat, "cancel the background job")
        assert (await until(told, Kind.WORK_DONE)).data["cancelled"] is True


async def test_a_job_keeps_to_what_its_conversation_was_confined_to(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": PING, "q/pong.py": ping(name="pong"), "r/pang.py": ping(name="pang")}) as room:
        async with room.host.hub.listen(Kind.WORK_DONE) as told:
            room.script("Done.")
            start(room, toolsets=frozenset({"plugin:p", "plugin:r"}), withheld=frozenset({"pang"}), trust="none")
            await until(told, Kind.WORK_DONE)
        assert room.offered() == ["ping"]
        assert room.host.jobs.all()[0].trust == "none"


async def test_a_deleted_conversation_takes_its_job_along(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": WAITS}) as room:
        async with room.host.hub.listen(Kind.CALL_STARTED, Kind.WORK_DONE) as told:
            both(room, [[call("ping")]], [])
            id = start(room)
            await until(told, Kind.CALL_STARTED, tool="ping")
            assert room.host.conversations.delete(room.chat)
            assert (await until(told, Kind.WORK_DONE)).data["cancelled"] is True
        assert room.host.jobs.all() == [] and room.host.store.chats.get(id) is None


async def test_a_job_that_etui_ended_on_is_told_as_stopped(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": WAITS}) as room:
        async with room.host.hub.listen(Kind.CALL_STARTED) as told:
            both(room, [[call("ping")]], [])
            start(room)
            await until(told, Kind.CALL_STARTED, tool="ping")
        chat = room.chat
    model = Scripted(["I see."])
    async with host_at(tmp_path / "home", model=model) as host:
        assert [job.state for job in host.jobs.all()] == ["stopped"]
        await host.conversations.turn(chat, "and?")
    assert ["was stopped" in text and "not finished" in text for text in notices(model.asked[0])] == [True]


STEPS = [[call("ping", {"n": 1})], [call("ping", {"n": 2})], "Two done."]
COUNTS = ping("open(ctx.workdir / 'runs', 'a').write(str(args['n']) + '\\n')\nreturn 'pong'", head='RISK = "write"')


@pytest.mark.promise("K370")
async def test_a_job_that_a_kill_cut_short_goes_on_and_runs_no_call_again(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.kotoba.test_jobs", str(tmp_path)]
    ended = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=LONG)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    heard: list[dict[str, object]] = []
    async with kotoba(tmp_path, {"p/ping.py": COUNTS}) as room:
        # The script goes on by itself where the stored chat stands.
        room.model._by_history = True
        room.model._steps[:] = STEPS
        async with asyncio.timeout(LONG):
            while room.host.jobs.all()[0].state == "running":
                await asyncio.sleep(0.01)
        heard += [event.data for event in await room.events() if event.kind is Kind.WORK_DONE]
        (job,) = room.host.jobs.all()
        assert (job.state, job.summary) == ("done", "Two done.")
        messages: list[Message] = room.host.store.chats.messages(job.chat)
        assert ["Two done." in message.text for message in messages if message.role == "notice"] == [True]
    assert (tmp_path / "home/files/runs").read_text().split() == ["1", "2"]


async def _doomed(path: Path) -> None:
    def die(ask: Ask) -> Step:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    async with kotoba(path, {"p/ping.py": COUNTS}) as room:
        room.script(STEPS[0], die)
        start(room)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_doomed(Path(sys.argv[1])))
