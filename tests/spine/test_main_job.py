"""The main job, whole: drop in a tool file, say what you want, and the right tool runs."""

from __future__ import annotations

import asyncio
import time

from tests.spine.homes import DICE, host_at, tool_changed, until

from etui.events import Kind
from etui.outcome import Status


async def said(host, text, chat=None):
    chat = chat or host.store.chats.create(channel="console")
    return await host.conversations.turn(chat.id, text, channel="console", attended=False)


async def test_a_tool_file_is_live_as_soon_as_it_is_saved(tmp_path):
    async with host_at(tmp_path) as host, host.hub.listen() as events:
        (tmp_path / "tools" / "dice.py").write_text(DICE)
        await tool_changed(events, "roll")
        session = host.session("python")
        outcome = await session.call(session.new_call("roll", {"count": 3}))
        assert outcome.status is Status.OK
        assert len(outcome.data) == 3
        answer = await said(host, "roll three dice")
        entry = host.store.journal.recent("roll", 1)[0]
        assert entry.arguments == {"count": 3}
        assert all(str(number) in answer for number in entry.data)


async def test_a_broken_edit_leaves_the_last_good_version_serving_and_shows_the_error_with_file_and_line(tmp_path):
    file = tmp_path / "tools" / "dice.py"
    async with host_at(tmp_path) as host, host.hub.listen() as events:
        file.write_text(DICE)
        await tool_changed(events, "roll")
        file.write_text(DICE + "\ndef broken(:\n")
        event = await until(events, Kind.PROBLEM)
        problem = event.data["problem"]
        assert problem["file"] == str(file)
        assert problem["line"] == 9
        session = host.session("python")
        assert (await session.call(session.new_call("roll", {}))).ok
        file.write_text(DICE.replace("1, 6", "7, 7"))
        await until(events, Kind.PROBLEM_GONE)
        outcome = await session.call(session.new_call("roll", {"count": 2}))
        assert outcome.data == [7, 7]
        assert host.problems.all() == ()


async def test_the_last_good_version_serves_after_a_restart_too(tmp_path):
    file = tmp_path / "tools" / "dice.py"
    (tmp_path / "tools").mkdir()
    file.write_text(DICE)
    async with host_at(tmp_path) as host:
        assert [tool.name for tool in host.tools.all()] == ["roll"]
    file.write_text("def broken(:\n")
    async with host_at(tmp_path) as host:
        session = host.session("python")
        assert (await session.call(session.new_call("roll", {}))).ok
        assert host.problems.all()[0].file == str(file)
        assert "last version" in host.problems.all()[0].hint


async def test_a_file_that_is_removed_takes_its_tool_with_it(tmp_path):
    async with host_at(tmp_path) as host, host.hub.listen() as events:
        file = tmp_path / "tools" / "dice.py"
        file.write_text(DICE)
        await tool_changed(events, "roll")
        file.unlink()
        await tool_changed(events, "roll")
        session = host.session("python")
        outcome = await session.call(session.new_call("roll", {}))
        assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")


async def test_the_shelf_answers_what_a_newcomer_says(tmp_path):
    async with host_at(tmp_path, shelf=True) as host:
        chat = host.store.chats.create(channel="console")
        assert "Tokyo" in await said(host, "What time is it in Tokyo?", chat)
        assert "10 minute" in await said(host, "set a timer for ten minutes", chat)
        assert "milk" in (await said(host, "add milk to my shopping list", chat)).lower()
        assert "milk" in (await said(host, "what's on it?", chat)).lower()
        steps = [(entry.tool, entry.status) for entry in reversed(host.store.journal.recent(limit=10))]
        assert [status for _, status in steps] == ["ok"] * 4
        assert host.problems.all() == ()


async def test_a_question_of_knowledge_gets_an_honest_answer(tmp_path):
    async with host_at(tmp_path, shelf=True) as host:
        answer = await said(host, "Who was Napoleon?")
        assert "model" in answer
        assert host.store.journal.recent(limit=1) == []


async def test_a_timer_speaks_up_when_it_ends_also_after_a_restart(tmp_path):
    now = [time.time()]
    async with host_at(tmp_path, shelf=True, clock=lambda: now[0]) as host:
        chat = host.store.chats.create(channel="console")
        await said(host, "set a timer for ten minutes", chat)
        assert len(host.store.reminders.upcoming()) == 1
    now[0] += 3600
    async with host_at(tmp_path, shelf=True, clock=lambda: now[0]) as host:
        notices = [message for message in host.store.chats.messages(chat.id) if message.role == "notice"]
        assert len(notices) == 1
        assert "timer" in notices[0].text.lower()
        assert host.store.reminders.upcoming() == []


async def test_a_tool_that_a_person_taught_a_sentence_is_found_by_it(tmp_path):
    async with host_at(tmp_path) as host, host.hub.listen() as events:
        (tmp_path / "tools" / "dice.py").write_text(DICE)
        await tool_changed(events, "roll")
        host.tools.teach("roll", "let fortune speak {count} times")
        await said(host, "let fortune speak four times")
        assert host.store.journal.recent("roll", 1)[0].arguments == {"count": 4}


async def test_many_sessions_call_at_once_and_each_call_has_one_outcome(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "dice.py").write_text(DICE)
    async with host_at(tmp_path) as host:
        sessions = [host.session("python") for _ in range(20)]
        outcomes = await asyncio.gather(
            *(session.call(session.new_call("roll", {"count": count})) for session in sessions for count in range(1, 6))
        )
        assert [len(outcome.data) for outcome in outcomes] == [1, 2, 3, 4, 5] * 20
        assert {entry.status for entry in host.store.journal.audit(limit=200)} == {"ok"}


async def test_a_tool_that_wants_more_than_it_declared_is_told_what_to_declare(tmp_path):
    (tmp_path / "tools").mkdir()
    source = '''from pathlib import Path
import urllib.request
from etui import tool

@tool
def write() -> str:
    """Write outside."""
    Path("/tmp/etui-should-not-be-here").write_text("x")
    return "written"

@tool
def fetch() -> str:
    """Use the network."""
    return urllib.request.urlopen("http://127.0.0.1:9/").read().decode()
'''
    (tmp_path / "tools" / "greedy.py").write_text(source)
    async with host_at(tmp_path) as host:
        session = host.session("python")
        for name in ("write", "fetch"):
            outcome = await session.call(session.new_call(name, {}))
            assert outcome.status is Status.FAILED
            assert "declares risk 'read'" in outcome.text
            assert "etui-should-not-be-here" not in outcome.text
