"""Sessions: each reads the folder as it is then and keeps that; how long they live, and what ends with them."""

from __future__ import annotations

import asyncio
import os
import py_compile
import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.keryx.homes import MOON, Room, keryx, save, tool
from tests.spine.homes import LONG, until

from etui.agent.scripted import call
from etui.events import Event, Kind
from etui.session import Session

COUNTER = tool("global N\nN += 1\nreturn N", name="count", head="N = 0")
TOKEN = tool("return [TOKEN, os.getpid()]", name="token", head="import os\nfrom uuid import uuid4\nTOKEN = uuid4().hex")


class Ticks:
    """A clock that stands until it jumps, with what is to happen at its time."""

    def __init__(self, room: Room) -> None:
        self.now = 0.0
        self._due: list[tuple[float, Callable[[], None]]] = []
        sessions = room.host.sessions
        sessions.ticks, sessions.later = lambda: self.now, self._later

    def jump(self, minutes: float) -> None:
        self.now += minutes * 60
        while due := [one for one in self._due if one[0] <= self.now]:
            self._due.remove(due[0])
            due[0][1]()

    def _later(self, seconds: float, act: Callable[[], None]) -> Ticks.Handle:
        one = (self.now + seconds, act)
        self._due.append(one)
        return self.Handle(lambda: one in self._due and self._due.remove(one))

    class Handle:
        def __init__(self, cancel: Callable[[], object]) -> None:
            self.cancel = cancel


async def value(room: Room, session: Session, name: str) -> object:
    return (await room.payload(session, name))["result"]


def of_sessions(events: list[Event]) -> list[tuple[str, str, dict[str, object]]]:
    kinds = (Kind.SESSION_STARTED, Kind.SESSION_ENDED, Kind.TRUST_CHANGED)
    return [(event.kind.value, event.session, event.data) for event in events if event.kind in kinds]


def workers(room: Room) -> list[tuple[str, str]]:
    return sorted((one.instance, one.plugin) for one in room.host.workers.report() if not one.leaving)


@pytest.mark.promise("X004", "X169", "X170")
async def test_each_session_has_an_instance_of_its_own_of_each_file(tmp_path):
    async with keryx(tmp_path, {"count.py": COUNTER, "token.py": TOKEN}) as room:
        one, other = await asyncio.gather(room.open(), room.open("phone"))
        counted = [await value(room, session, "count") for session in (one, other, one, other, one)]
        assert counted == [1, 1, 2, 2, 3]
        tokens = [await value(room, session, "token") for session in (one, other, one)]
        assert tokens[0] == tokens[2]
        assert all(mine != theirs for mine, theirs in zip(tokens[0], tokens[1], strict=True))
        assert tokens[0][1] != os.getpid()
        assert await value(room, await room.open(), "count") == 1
        assert len(workers(room)) == 6


async def test_a_file_is_run_once_for_each_session_and_a_look_at_the_folder_leaves_no_worker(tmp_path):
    mark = tmp_path / "home" / "files" / "marks"
    loud = tool(head=f"open({str(mark)!r}, 'a').write('x')")
    async with keryx(tmp_path, {"loud.py": loud}) as room:
        session = await room.open()
        await room.payload(session, "x")
        await room.payload(session, "x")
        assert mark.read_text() == "x"
        await room.host.plugins.folders()
        assert workers(room) == [(session.id, "keryx.loud")]


@pytest.mark.promise("X006", "X015", "X017", "X180", "X304", "X316")
async def test_what_is_saved_counts_from_the_next_session_on_and_changes_none_that_is_open(tmp_path):
    async with keryx(tmp_path, {"moon.py": MOON, "count.py": COUNTER}) as room:
        first = await room.open()
        before = first.tools()
        saved = f"import pathlib; pathlib.Path({str(room.folder / 'b.py')!r}).write_text({tool(name='b')!r})"
        subprocess.run([sys.executable, "-c", saved], check=True, umask=0o077)
        (room.folder / "count.py").unlink()
        save(room.folder, {"moon.py": MOON.replace("moon_phase", "moon_rise").replace("waxing", "waning")})
        second = await room.open()
        assert list(second.own) == ["b", "moon_rise"]
        assert await room.payload(second, "moon_rise") == {"phase": "waning gibbous"}
        assert first.tools() is before
        assert list(first.own) == ["count", "moon_phase"]
        assert [await value(room, first, "count") for _ in range(2)] == [1, 2]
        for worker in room.host.workers.report():
            os.kill(worker.pid, 9)
        await until_gone(room)
        assert await room.payload(first, "moon_phase") == {"phase": "waxing gibbous"}, "the first version, to its end"
        assert (await room.run(first, "b")).rule == "find"


async def until_gone(room: Room) -> None:
    async with room.host.hub.listen(Kind.WORKER_GONE) as events:
        for _ in workers(room):
            await until(events, Kind.WORKER_GONE)


@pytest.mark.promise("X016", "X172")
async def test_content_decides_never_a_time_a_size_or_bytecode(tmp_path):
    async with keryx(tmp_path, {"moon.py": MOON}) as room:
        file = room.folder / "moon.py"
        stamp = file.stat()
        assert await room.payload(await room.open(), "moon_phase") == {"phase": "waxing gibbous"}
        assert not (room.folder / "__pycache__").exists()
        planted = py_compile.compile(str(file), doraise=True)
        file.write_text(MOON.replace("waxing", "waning"))
        os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        assert (file.stat().st_size, file.stat().st_mtime_ns) == (stamp.st_size, stamp.st_mtime_ns)
        assert await room.payload(await room.open(), "moon_phase") == {"phase": "waning gibbous"}
        assert [str(path) for path in (room.folder / "__pycache__").iterdir()] == [planted]


async def test_the_turns_of_a_chat_on_a_channel_are_taken_in_one_session(tmp_path):
    async with keryx(tmp_path, {"count.py": COUNTER}) as room:
        for expected in ("1", "2"):
            await room.turn("count", [call("count")], "Done.")
            assert room.results()[-1].text == f'{{"result": {expected}}}'
        await room.turn("count", [call("count")], "Done.", channel="console")
        assert room.results()[-1].text == '{"result": 1}'
        python, console = room.host.sessions.all()
        assert (python.channel, console.channel, python.chat == console.chat) == ("python", "console", True)
        told = of_sessions(await room.events())
        assert told == [
            ("session_started", one.id, {"channel": one.channel, "trust": "full", "caller": ""}) for one in (python, console)
        ]


async def test_a_session_that_was_opened_is_the_one_that_its_chat_talks_in(tmp_path):
    async with keryx(tmp_path, {"count.py": COUNTER}) as room:
        room.chat = room.host.store.chats.create("", "phone").id
        session = await room.open("phone", chat=room.chat, caller="+4930123")
        assert await value(room, session, "count") == 1
        await room.turn("count", [call("count")], "Done.", channel="phone")
        assert room.results()[-1].text == '{"result": 2}'
        assert room.host.sessions.all() == (session,)
        (started,) = of_sessions(await room.events())
        assert started == ("session_started", session.id, {"channel": "phone", "trust": "none", "caller": "+4930123"})


async def test_a_session_of_a_program_reads_the_folder_when_it_first_needs_it(tmp_path):
    async with keryx(tmp_path, {"count.py": COUNTER}) as room:
        session = room.host.session("python")
        assert (dict(session.own), workers(room)) == ({}, [])
        assert [await value(room, session, "count") for _ in range(2)] == [1, 2]
        assert (await room.run(session, "cuont")).text == "There is no tool called 'cuont'. The nearest is count."
        assert room.host.sessions.end_by_id(session.id)
        assert workers(room) == []


@pytest.mark.parametrize("end", ["ended", "deleted", "idle", "closing"])
async def test_a_session_ends_with_all_that_is_its_own(tmp_path, end):
    async with keryx(tmp_path, {"count.py": COUNTER}) as room:
        ticks = Ticks(room)
        await room.turn("count", [call("count")], "Done.")
        (session,) = room.host.sessions.all()
        await room.events()
        match end:
            case "ended":
                assert room.host.sessions.end_by_id(session.id, "ended")
                assert not room.host.sessions.end_by_id(session.id)
            case "deleted":
                room.host.conversations.delete(room.chat)
            case "idle":
                ticks.jump(29)
                assert room.host.sessions.all() == (session,)
                ticks.jump(1)
            case "closing":
                room.host.sessions.close()
        assert [(kind, id, data) for kind, id, data in of_sessions(await room.events())] == [
            ("session_ended", session.id, {"reason": end})
        ]
        assert (session.ended, workers(room), room.host.sessions.all()) == (end, [], ())
        assert (await room.run(session, "count")).rule == "ended"
        if end != "deleted":
            await room.turn("count", [call("count")], "Done.")
            assert room.results()[-1].text == '{"result": 1}', "the next turn begins a new one"


async def test_what_is_used_is_not_idle(tmp_path):
    async with keryx(tmp_path, {"count.py": COUNTER}, session_minutes=10) as room:
        ticks = Ticks(room)
        opened = await room.open()
        await room.turn("hello", "Hello.")
        (_, talking) = room.host.sessions.all()
        for expected in (1, 2, 3):
            ticks.jump(9)
            assert await value(room, opened, "count") == expected
            await room.turn("hello", "Hello.")
            assert room.host.sessions.all() == (opened, talking)
        ticks.jump(9)
        await room.host.settings.set("session_minutes", 5)
        assert room.host.sessions.all() == ()


async def test_a_session_does_not_end_under_a_turn_that_takes_long(tmp_path):
    async with keryx(tmp_path, {"moon.py": MOON}) as room:
        ticks = Ticks(room)

        async def long() -> None:
            ticks.jump(45)

        assert await room.turn("hello", [long, call("moon_phase")], "Done.") == "Done."
        (session,) = room.host.sessions.all()
        assert (session.ended, room.results()[-1].text) == ("", '{"phase": "waxing gibbous"}')
        ticks.jump(30)
        assert session.ended == "idle"


async def test_a_turn_that_runs_is_cut_short_by_the_end_of_its_session(tmp_path):
    async with keryx(tmp_path, {"moon.py": MOON}) as room:
        ended = []

        async def end() -> None:
            ended.append(room.host.sessions.end_by_id(room.host.sessions.all()[0].id))
            await asyncio.Event().wait()

        with pytest.raises(asyncio.CancelledError):
            await room.turn("hello", [end], "never")
        assert ended == [True]
        assert [event.data["why"] for event in await room.events() if event.kind is Kind.TURN_ENDED] == ["stopped"]


async def test_what_waits_for_its_turn_is_taken_in_the_next_session_once_this_one_has_ended(tmp_path):
    async with keryx(tmp_path, {"x.py": tool("ctx.session.request_end()\nreturn 1")}) as room:
        room.chat = room.host.store.chats.create("", "python").id
        room.script([call("x")], "Goodbye.", "Hello again.")
        answers = await asyncio.gather(*(room.host.conversations.turn(room.chat, text) for text in ("bye", "hello")))
        assert answers == ["Goodbye.", "Hello again."]
        told = [(kind, data.get("reason", "")) for kind, _, data in of_sessions(await room.events())]
        assert told == [("session_started", ""), ("session_ended", "user"), ("session_started", "")]


async def test_a_background_job_has_a_session_of_its_own_which_ends_with_it(tmp_path):
    async with keryx(tmp_path, {"count.py": COUNTER}) as room:
        await room.turn("count", [call("count")], "Done.")
        (session,) = room.host.sessions.all()
        room.script([call("count")], "All done.")
        async with room.host.hub.listen(Kind.SESSION_ENDED) as events:
            job = room.host.jobs.start(session, "count it all")
            ended = await until(events, Kind.SESSION_ENDED, reason="done")
        assert ended.chat == job.id
        assert [one.text for one in room.host.store.chats.messages(job.id) if one.role == "tool"] == ['{"result": 1}']
        assert (room.host.sessions.all(), workers(room)) == ((session,), [(session.id, "keryx.count")])


async def test_what_a_session_proves_is_told_once(tmp_path):
    async with keryx(tmp_path, {}) as room:
        session = await room.open("phone")
        await room.events()
        for _ in range(2):
            session.press()
            session.authorize()
        assert [(data["trust"], data["keypressed"]) for _, _, data in of_sessions(await room.events())] == [
            ("none", True),
            ("full", True),
        ]
        placed = await room.open("phone", possession=True)
        assert (placed.trust, placed.authorized) == ("possession", False)
        assert [(await room.open(channel)).trust for channel in ("python", "console", "terminal", "http", "mcp", "voice")] == [
            "full",
            "full",
            "full",
            "none",
            "none",
            "none",
        ]


async def test_a_session_that_ends_while_it_opens_leaves_nothing_behind(tmp_path):
    async with keryx(tmp_path, {"count.py": COUNTER}) as room:
        session = room.host.session("python")
        room.host.sessions.keep(session)
        opening = asyncio.create_task(session.open())
        async with room.host.hub.listen(Kind.WORKER_STARTED) as events:
            await until(events, Kind.WORKER_STARTED)
        room.host.sessions.end_by_id(session.id)
        await opening
        assert (workers(room), room.host.sessions.all()) == ([], ())


async def test_code_that_hung_once_is_not_waited_for_again_until_it_changes(tmp_path):
    async with keryx(tmp_path, {"hang.py": "while True: pass", "moon.py": MOON}) as room:
        room.host.workers._describing.seconds = 0.3
        assert list((await room.open()).own) == ["moon_phase"]
        room.host.workers._describing.seconds = LONG
        for channel in ("python", "phone"):
            assert list((await room.open(channel)).own) == ["moon_phase"]
            assert [reason for _, reason, _ in room.problems()] == ["It was not loaded after 0.3 s."]
        (listing,) = await room.host.plugins.folders()
        assert [(one.file, one.reason) for one in listing.refused] == [("hang.py", "It was not loaded after 0.3 s.")]
        save(room.folder, {"hang.py": tool(name="mended")})
        assert list((await room.open()).own) == ["mended", "moon_phase"]
        assert room.problems() == []
        save(room.folder, {"copy.py": "while True: pass"})
        assert list((await room.open()).own) == ["mended", "moon_phase"]
