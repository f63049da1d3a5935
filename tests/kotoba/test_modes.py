"""Conversation and background work: which families reach which, what the owner keeps out of conversations, what is withheld."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kotoba.homes import PING, Room, kotoba, ping
from tests.spine.homes import until

from etui.agent.scripted import Step, call
from etui.events import Kind
from etui.outcome import Status

REACHING = ("web", "memory", "core", "skills", "cron", "terminal", "code", "report", "file", "discord")
ONLY_IN_JOBS = ("browser", "mcp", "subagent")


async def work(room: Room, *steps: Step) -> list[str]:
    """Let a job play the steps to its end; gives the texts of its results."""
    chat = room.host.store.chats.create("", "python").id
    room.script(*steps)
    async with room.host.hub.listen(Kind.WORK_DONE) as told:
        job = room.host.jobs.start(room.host.session("python", chat=chat), "a job")
        await until(told, Kind.WORK_DONE, job=job.id)
    return [message.text for message in room.host.store.chats.messages(job.id) if message.role == "tool"]


def of(*families: str) -> dict[str, str]:
    """A tool of each family, named after it."""
    return {f"p/{family}_tool.py": ping(name=f"{family}_tool", head=f"TOOLSET = {family!r}") for family in families}


@pytest.mark.promise("K127", "K285", "K415")
async def test_a_plugin_works_in_a_conversation_and_in_a_job(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": PING}) as room:
        await room.turn("hello", [call("ping")], "Done.")
        assert room.offered(0) == ["ping"] and [result.text for result in room.results()] == ["pong"]
        assert room.requests[1].messages[-1].text == "pong"
        assert await work(room, [call("ping")], "Done.") == ["pong"]
        assert room.offered() == ["ping"] and room.requests[-1].messages[-1].text == "pong"


@pytest.mark.promise("K285", "K415", "K275", "K159")
@pytest.mark.parametrize("pattern", ["plugin:p", "plugin:*", "contract:kotoba"])
async def test_a_plugin_that_the_owner_confines_runs_in_jobs_only(tmp_path: Path, pattern: str) -> None:
    async with kotoba(tmp_path, {"p/ping.py": PING}, only_in_jobs=[pattern]) as room:
        await room.turn("hello", [call("ping")], "It cannot be.")
        (result,) = room.results()
        assert room.offered() == [] and (result.meta["status"], result.meta["rule"]) == ("refused", "mode")
        assert "not part of a conversation" in result.text and "background job" in result.text
        assert await work(room, [call("ping")], "Done.") == ["pong"]


@pytest.mark.promise("K155", "K159", "K282", "K283", "K160", "K275")
async def test_each_family_reaches_a_conversation_or_only_a_job(tmp_path: Path) -> None:
    asked = "from kotoba.tools.registry import COMPANION_TOOLSETS\nreturn ' '.join(sorted(COMPANION_TOOLSETS))"
    files = {**of(*REACHING, *ONLY_IN_JOBS), "q/list.py": ping(asked, name="families")}
    async with kotoba(tmp_path, files, source={"families": True}) as room:
        await room.turn("hello", [call("families")], [call("subagent_tool"), call("web_tool", index=1)], "Done.")
        everywhere = {f"{family}_tool" for family in REACHING}
        assert set(room.offered()) == everywhere | {"families"}
        listed, subagent, web = room.results()
        assert listed.text.split() == sorted(REACHING)
        assert subagent.meta["status"] == "refused" and "background job" in subagent.text
        assert web.text == "pong"
        assert await work(room, [call("subagent_tool")], "Done.") == ["pong"]
        assert set(room.offered()) == everywhere | {f"{family}_tool" for family in ONLY_IN_JOBS} | {"families"}


@pytest.mark.promise("K286")
async def test_a_job_is_not_offered_to_start_or_cancel_jobs(tmp_path: Path) -> None:
    both = {"start_work", "cancel_work"}
    async with kotoba(tmp_path, {"p/ping.py": PING}, shelf=True) as room:
        await room.turn("hello", "Hello.")
        assert both <= set(room.offered())
        (text,) = await work(room, [call("start_work", {"goal": "more"})], "Done.")
        assert not both & set(room.offered()) and "ping" in room.offered()
        assert "not part of a background job" in text
    # Kotoba's own, where a file brings them.
    files = {"p/start_work.py": ping(name="start_work"), "p/cancel_work.py": ping(name="cancel_work"), "p/ping.py": PING}
    async with kotoba(tmp_path / "own", files) as room:
        await room.turn("hello", "Hello.")
        assert both <= set(room.offered())
        await work(room, "Done.")
        assert room.offered() == ["ping"]


@pytest.mark.promise("K274")
async def test_a_withheld_tool_is_neither_offered_nor_run(tmp_path: Path) -> None:
    marks = "open(ctx.workdir / 'ran', 'w').close()\nreturn 'pong'"
    async with kotoba(tmp_path, {"p/ping.py": ping(marks), "p/pong.py": ping(name="pong")}) as room:
        session = room.host.session("python", withheld=frozenset({"ping"}))
        outcome = await session.call(session.new_call("ping", {}))
        assert (outcome.status, outcome.rule) == (Status.REFUSED, "withheld") and "withheld" in outcome.text
        assert [tool.name for tool in session.tools()] == ["pong"]
        room.chat = room.host.store.chats.create("", "python").id
        room.script([call("ping"), call("pong", index=1)], "Done.")
        turn = room.host._running.say(room.host.session("python", chat=room.chat, withheld=frozenset({"ping"})), "go")[1]
        assert (await turn).text == "Done."
        assert room.offered(0) == ["pong"]
        withheld, other = room.results()
        assert (withheld.meta["status"], withheld.meta["rule"], other.text) == ("refused", "withheld", "pong")
        assert withheld.text == outcome.text
        assert not (room.host.home / "files" / "ran").exists()


@pytest.mark.promise("K152")
async def test_a_tool_can_tell_a_live_voice_turn_from_a_job(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping("return ctx.channel + ' ' + ctx.mode")}) as room:
        await room.turn("hello", [call("ping")], "Done.", channel="voice")
        assert room.results()[0].text == "voice companion"
        assert (await work(room, [call("ping")], "Done."))[0].split() == ["text", "work"]


@pytest.mark.promise("K273")
async def test_a_call_that_the_person_stopped_is_closed_and_nothing_is_said_of_it(tmp_path: Path) -> None:
    lines = 'RISK = "write"\nCOMPLETE = "There."\nFAIL = "Oh."\n'
    waits = "import asyncio\nawait asyncio.sleep(60)\nreturn 'pong'"
    async with kotoba(tmp_path, {"p/ping.py": ping(waits, head=lines)}) as room:
        room.chat = room.host.store.chats.create("", "python").id
        room.script([call("ping")], "Never.")
        async with room.host.hub.listen(Kind.CALL_STARTED, Kind.TURN_ENDED) as told:
            room.host.conversations.say(room.chat, "hello", channel="python")
            await until(told, Kind.CALL_STARTED)
            assert room.host.conversations.stop(room.chat)
            assert (await until(told, Kind.TURN_ENDED)).data["why"] == "stopped"
        events = await room.events()
        (ended,) = [event.data for event in events if event.kind is Kind.CALL_ENDED]
        assert (ended["status"], ended["why"], ended["mark"]) == ("cancelled", "interrupted", "grey")
        assert [event.data for event in events if event.kind is Kind.SAID] == []
        assert [result.meta["status"] for result in room.results()] == ["cancelled"]
