"""Timers and reminders: over restarts, with clocks that jump, many at once, cancelled, orphaned, on a full disk."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from tests.spine.homes import LONG, host_at, tools_in, until
from tests.spine.test_death import served
from tests.spine.test_death import until as told

from etui.errors import StoreError
from etui.events import Hub, Kind
from etui.reminding import Reminding
from etui.store import Store
from etui.store.reminders import Reminder

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 3, 27, 12, tzinfo=BERLIN).timestamp()
"""Two days before Berlin's clocks go forward."""
TOOLS = '''from etui import Context, tool


@tool(risk="write")
def remind(ctx: Context, text: str, seconds: float, repeat: str = "", kind: str = "timer") -> str:
    """Remind in so many seconds."""
    return ctx.remind(text, seconds, repeat=repeat, kind=kind)


@tool(risk="write")
def forget(ctx: Context, id: str) -> bool:
    """Forget one."""
    return ctx.forget(id)


@tool
def pending(ctx: Context) -> list[str]:
    """What is to come."""
    return [one.text for one in ctx.reminders()]
'''


class Clock:
    """A clock that a test sets."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def reminder(text: str, due: float, **more: object) -> Reminder:
    rows = {"id": "", "plugin": "p", "kind": "timer", "label": "", "zone": "Europe/Berlin", "wall": "", "repeat": ""}
    rows |= {"chat": "", "session": "", "created": NOON, "done": None, **more}
    return Reminder(text=text, due=due, **rows)


def notices(host, chat: str) -> list[str]:
    return [message.text for message in host.store.chats.messages(chat) if message.role == "notice"]


async def called(host, name, chat="", /, **arguments):
    session = host.session("console", chat=chat)
    return await session.call(session.new_call(name, arguments))


async def test_what_came_due_while_the_host_was_off_is_said_at_the_start_and_stands_in_its_chat(tmp_path):
    clock = Clock()
    async with host_at(tmp_path, clock=clock) as host:
        chat = host.store.chats.create()
        host.store.reminders.add(reminder("The eggs are done.", NOON + 10, chat=chat.id))
        host.store.reminders.add(reminder("Bread.", NOON + 3600, chat=chat.id))
        last = host.hub.tell(Kind.CHATS_CHANGED).number
    clock.now += 600
    async with host_at(tmp_path, clock=clock) as host:
        assert notices(host, chat.id) == ["The eggs are done. (This was due while I was away.)"]
        assert [event.data["text"] for event in host.hub.said_after(last)] == notices(host, chat.id)
        assert [one.text for one in host.store.reminders.upcoming()] == ["Bread."]
    async with host_at(tmp_path, clock=clock) as host:
        assert len(notices(host, chat.id)) == 1
        assert host.hub.said_after(0) == []


async def test_one_that_repeats_is_said_once_for_all_the_times_that_were_missed_and_goes_on_by_the_wall_clock(tmp_path):
    clock = Clock()
    async with host_at(tmp_path, clock=clock) as host:
        chat = host.store.chats.create()
        host.store.reminders.add(reminder("Pills.", 0, wall="2026-03-28T08:00", repeat="daily", chat=chat.id, kind="reminder"))
    clock.now = datetime(2026, 3, 30, 12, tzinfo=BERLIN).timestamp()
    async with host_at(tmp_path, clock=clock) as host, host.hub.listen(Kind.SAID) as events:
        assert len(notices(host, chat.id)) == 1
        (following,) = host.store.reminders.upcoming()
        # Eight by the clock on the wall, on the other side of the change to summer time.
        assert following.due == datetime(2026, 3, 31, 8, tzinfo=BERLIN).timestamp()
        clock.now = following.due + 1
        host._reminding.wake()
        assert (await events.next()).data == {"text": "Pills.", "why": "reminder"}
        assert notices(host, chat.id)[1:] == ["Pills."]


async def test_many_at_once_are_each_said_once_in_their_order(tmp_path):
    clock = Clock()
    async with host_at(tmp_path, clock=clock) as host, host.hub.listen(Kind.SAID) as events:
        chat = host.store.chats.create()
        for number in range(200):
            host.store.reminders.add(reminder(str(number), NOON + 1 + number / 1000, chat=chat.id))
        clock.now += 5
        host._reminding.wake()
        assert [(await events.next()).data["text"] for _ in range(200)] == [str(number) for number in range(200)]
        assert notices(host, chat.id) == [str(number) for number in range(200)]
        assert host.store.reminders.upcoming() == []


async def test_a_tool_sets_lists_and_cancels_and_what_is_cancelled_stays_silent(tmp_path):
    tools_in(tmp_path, TOOLS)
    async with host_at(tmp_path) as host, host.hub.listen(Kind.SAID) as events:
        chat = host.store.chats.create().id
        silent = (await called(host, "remind", chat, text="never", seconds=3600)).text
        assert (await called(host, "pending")).data == ["never"]
        assert (await called(host, "forget", id=silent)).data is True
        assert (await called(host, "forget", id=silent)).data is False
        await called(host, "remind", chat, text="now", seconds=0)
        assert (await events.next()).data["text"] == "now"
        assert notices(host, chat) == ["now"]
        assert (await called(host, "pending")).data == []


async def test_a_plugin_neither_sees_nor_cancels_the_reminders_of_another(tmp_path):
    tools_in(tmp_path, TOOLS)
    tools_in(tmp_path, TOOLS.replace("def ", "def other_"), "other.py")
    async with host_at(tmp_path) as host:
        mine = (await called(host, "remind", text="mine", seconds=3600)).text
        assert (await called(host, "other_pending")).data == []
        assert (await called(host, "other_forget", id=mine)).data is False
        assert [one.text for one in host.store.reminders.upcoming()] == ["mine"]


async def test_a_timer_of_a_chat_that_was_deleted_is_still_said(tmp_path):
    clock = Clock()
    async with host_at(tmp_path, clock=clock) as host, host.hub.listen(Kind.SAID) as events:
        chat = host.store.chats.create()
        host.store.reminders.add(reminder("Tea.", NOON + 10, chat=chat.id))
        host.store.chats.delete(chat.id)
        clock.now += 20
        host._reminding.wake()
        event = await events.next()
        assert (event.data["text"], event.chat) == ("Tea.", "")
        assert host.store.reminders.upcoming() == []


@pytest.fixture
def desk(tmp_path):
    """A store, a hub, a clock that is set by hand, and reminders that look at it all the time."""
    clock = Clock()
    store = Store.open(tmp_path / "etui.db", clock)
    hub = Hub(clock)
    yield store, hub, clock, Reminding(store, hub, clock, look=0.01)
    store.close()


async def test_a_clock_that_jumps_while_nobody_looks_is_noticed(desk):
    """A machine that slept: no timer of the program has run meanwhile, and nothing wakes the loop."""
    store, hub, clock, reminding = desk
    store.reminders.add(reminder("Morning.", NOON + 8 * 3600))
    reminding.start()
    async with asyncio.timeout(LONG), hub.listen(Kind.SAID) as events:
        clock.now += 8 * 3600 + 1
        assert (await events.next()).data["text"] == "Morning."
    await reminding.close()


async def test_a_clock_that_is_set_back_says_nothing_twice_and_nothing_early(desk):
    store, hub, clock, reminding = desk
    store.reminders.add(reminder("first", NOON + 10))
    store.reminders.add(reminder("second", NOON + 60))
    async with hub.listen(Kind.SAID) as events:
        clock.now = NOON + 20
        assert [one.text for one in reminding.fire_due()] == ["first"]
        clock.now = NOON - 3600
        assert reminding.fire_due() == []
        clock.now = NOON + 61
        assert [one.text for one in reminding.fire_due()] == ["second"]
        assert [(await events.next()).data["text"] for _ in range(2)] == ["first", "second"]


async def test_what_cannot_be_written_down_is_said_once_all_the_same(desk, monkeypatch):
    store, hub, clock, reminding = desk
    store.reminders.add(reminder("Fire.", NOON + 10))
    clock.now += 11
    tries = asyncio.Queue()

    def full(id, now):
        tries.put_nowait(id)
        raise StoreError("The disk is full.")

    async with asyncio.timeout(LONG), hub.listen(Kind.SAID) as events:
        with monkeypatch.context() as broken:
            broken.setattr(store.reminders, "finish", full)
            reminding.start()
            for _ in range(3):
                await tries.get()
        while store.reminders.upcoming():
            await asyncio.sleep(0)
        hub.tell(Kind.SAID, {"text": "end"})
        assert [(await events.next()).data["text"] for _ in range(2)] == ["Fire.", "end"]
    await reminding.close()


async def test_a_page_that_comes_back_over_a_restart_hears_what_was_said_meanwhile(tmp_path):
    async with served(tmp_path) as host, host.events() as events:
        chat = (await host.post("/api/chats"))["id"]
        await host.post(f"/api/chats/{chat}/say", text="hello")
        last = (await told(events, "turn_ended"))["number"]
        await host.kill()
    store = Store.open(tmp_path / "etui.db")
    store.reminders.add(reminder("The eggs are done.", time.time() - 1, chat=chat))
    store.close()
    async with served(tmp_path) as host:
        async with host.events(last=str(last)) as events:
            event = await told(events, "said")
            assert (event["data"]["text"], event["chat"]) == ("The eggs are done.", chat)
            assert event["number"] > last
        # Heard once: a page that comes back after it is not told again.
        async with host.events(last=str(event["number"])) as events:
            await host.post(f"/api/chats/{chat}/say", text="and now")
            assert [(await anext(events))["kind"] for _ in range(2)] == ["session_started", "turn_started"]
        shown = await host.get(f"/api/chats/{chat}/messages")
        assert "The eggs are done." in [message["text"] for message in shown["messages"]]


async def test_a_timer_made_in_a_turn_speaks_in_that_chat(tmp_path):
    clock = Clock()
    async with host_at(tmp_path, clock=clock, shelf=True) as host, host.hub.listen(Kind.SAID) as events:
        chat = host.store.chats.create()
        await host.conversations.turn(chat.id, "set a timer for ten minutes", channel="console")
        (timer,) = host.store.reminders.upcoming()
        clock.now = timer.due
        host._reminding.wake()
        event = await until(events, Kind.SAID, why="timer")
        assert event.chat == chat.id
        assert notices(host, chat.id) == [event.data["text"]]
