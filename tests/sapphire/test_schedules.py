"""Schedules and tasks: what runs by the clock, in a worker or as a turn, over a restart too, until its owner says no."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from tests.sapphire.homes import Room, manifest, sapphire, tool

from etui.agent.scripted import call
from etui.errors import StoreError, UsageError
from etui.scheduling import LOOK, cron
from etui.store.tasks import Task

BERLIN = ZoneInfo("Europe/Berlin")
RUN = """
import json


def run(event):
    assert event["system"].continuity_scheduler is not None
    state = event["plugin_state"]
    told = [event["task"]["name"], event["task"]["cron"], event["config"].__name__, sorted(event)]
    state.update_with_lock("ran", lambda ran: [*ran, told], default=[])
    if event["task"].get("raises"):
        raise RuntimeError("no oven")
"""
PLUGIN = {
    "plugins/clockwork/plugin.json": manifest(
        "clockwork",
        "tools/seen.py",
        schedule=[
            {
                "name": "minutely",
                "cron": "* * * * *",
                "handler": "schedule/run.py",
                "description": "Each minute",
                "enabled": True,
            },
            {"name": "asleep", "cron": "* * * * *", "handler": "schedule/run.py", "enabled": False},
            {"name": "fast asleep", "cron": "* * * * *", "handler": "schedule/run.py", "enabled": "false"},
            {"name": "seldom", "cron": "@hourly", "handler": "schedule/run.py", "chance": "30"},
            {"name": "broken", "cron": "whenever", "handler": "schedule/run.py"},
            {"name": "raising", "cron": "30 5 * * *", "handler": "schedule/run.py", "raises": True},
        ],
    ),
    "plugins/clockwork/schedule/run.py": RUN,
    "plugins/clockwork/tools/seen.py": tool(
        "ran",
        head="import json\nfrom core.plugin_loader import plugin_loader",
        body='return json.dumps(plugin_loader.get_plugin_state("clockwork").get("ran", [])), True',
    ),
}
TASKS = {
    "plugins/tasks/tools/tasks.py": tool(
        "task",
        head="""
        import json

        from core.api_fastapi import get_system
        """,
        body="""
        scheduler = get_system().continuity_scheduler
        try:
            return json.dumps(getattr(scheduler, arguments["do"])(*arguments.get("given", []))), True
        except ValueError as error:
            return str(error), False
        """,
    )
}
"""A tool that does with the scheduler what it is told."""


class Clock:
    """A clock that a test sets, by the wall in Berlin."""

    def __init__(self, text: str = "2027-03-01 06:00:30") -> None:
        self.set(text)

    def set(self, text: str) -> None:
        self.now = datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()

    def __call__(self) -> float:
        return self.now


async def at(room: Room, clock: Clock, text: str) -> list[str]:
    """The clock jumps there; which schedules and tasks ran."""
    clock.set(text)
    started = room.host.schedules.look()
    await room.host.schedules.settled()
    return [task.get_name().removeprefix("schedule ") for task in started]


async def do(room: Room, what: str, *given: Any, **session: Any) -> Any:
    return await room.value("task", {"do": what, "given": list(given)}, **session)


@pytest.mark.promise("S410")
async def test_a_schedule_runs_at_its_time_with_its_event_and_none_that_is_off(tmp_path):
    clock, dice = Clock(), iter([31, 30, 1])
    async with sapphire(tmp_path, PLUGIN, clock=clock) as room:
        room.host.schedules.dice = lambda: next(dice)
        assert await at(room, clock, "2027-03-01 06:00:59") == []
        assert await at(room, clock, "2027-03-01 06:01:00") == ["clockwork/minutely"]
        assert await room.value("ran") == [["minutely", "* * * * *", "config", ["config", "plugin_state", "system", "task"]]]
        assert await at(room, clock, "2027-03-01 06:01:30") == []
        # Of what was missed, one is made up for; the one with a chance has bad luck, and then good.
        assert await at(room, clock, "2027-03-01 07:00:00") == ["clockwork/minutely"]
        assert await at(room, clock, "2027-03-01 08:00:00") == ["clockwork/minutely", "clockwork/seldom"]
        assert any("'whenever'" in reason for reason in room.reasons("clockwork"))
        assert await at(room, clock, "2027-03-02 05:30:00") == ["clockwork/minutely", "clockwork/seldom", "clockwork/raising"]
        assert any("no oven" in reason for reason in room.reasons("clockwork"))
    async with sapphire(tmp_path, PLUGIN, clock=clock) as room:
        room.host.schedules.dice = lambda: 100
        assert await at(room, clock, "2027-03-02 05:31:00") == ["clockwork/minutely"]


async def test_an_owner_sees_the_schedules_and_switches_them_off(tmp_path):
    clock = Clock()
    async with sapphire(tmp_path, PLUGIN, clock=clock) as room:
        shown = {one.name: one for one in room.host.schedules.all()}
        assert (shown["minutely"].on, shown["asleep"].on, shown["minutely"].text) == (True, False, "Each minute")
        assert shown["minutely"].due == clock.now + 30
        assert room.host.schedules.switch("clockwork/minutely", False)
        assert not room.host.schedules.switch("clockwork/nothing", False)
        assert await at(room, clock, "2027-03-01 06:05:00") == []
    async with sapphire(tmp_path, PLUGIN, clock=clock) as room:
        assert await at(room, clock, "2027-03-01 06:06:00") == []
        assert room.host.schedules.switch("clockwork/minutely", True)
        await at(room, clock, "2027-03-01 06:06:30")
        assert await at(room, clock, "2027-03-01 06:07:00") == ["clockwork/minutely"]
        room.host.tools.switch("plugin:clockwork", False)
        assert (await at(room, clock, "2027-03-01 06:09:00"), room.host.schedules.all()) == ([], [])


@pytest.mark.promise("S477", "S498", "S519")
async def test_a_task_is_said_in_its_chat_at_its_time_survives_a_restart_and_is_gone_after_it(tmp_path):
    clock = Clock()
    alarm = {"name": "(alarm) wake", "schedule": "0 7 * * *", "initial_message": "Wake up.", "delete_after_run": True}
    async with sapphire(tmp_path, TASKS, clock=clock) as room:
        chat = room.host.store.chats.create("Morning", "python").id
        made = await do(room, "create_task", alarm, chat=chat)
        assert len(made["id"]) == 8 and made["next_run"] == datetime(2027, 3, 1, 6, 0, tzinfo=UTC).isoformat()
        [listed] = await do(room, "list_tasks")
        assert listed == made and (listed["name"], listed["schedule"], listed["delete_after_run"]) == (
            "(alarm) wake",
            "0 7 * * *",
            True,
        )
    async with sapphire(tmp_path, TASKS, clock=clock) as room:
        assert [one["id"] for one in await do(room, "list_tasks")] == [made["id"]]
        room.script("Good morning.")
        assert await at(room, clock, "2027-03-01 06:59:59") == []
        assert await at(room, clock, "2027-03-01 07:00:00") == [made["id"]]
        said = [(message.role, message.text) for message in room.host.store.chats.messages(chat)]
        head = "[Schedule ((alarm) wake) — its time has come; not typed by the user]"
        assert said == [("user", f"{head}\nWake up."), ("assistant", "Good morning.")]
        assert await do(room, "list_tasks") == []


@pytest.mark.promise("S477")
async def test_tasks_come_again_are_changed_deleted_and_said_late_rather_than_never(tmp_path):
    clock = Clock()
    async with sapphire(tmp_path, TASKS, clock=clock) as room:
        daily = await do(room, "create_task", {"name": "tidy", "schedule": "0 9 * * *", "initial_message": "Tidy up."})
        once = await do(room, "create_task", {"name": "once", "schedule": "0 9 * * *", "delete_after_run": True})
        gone = await do(room, "create_task", {"name": "gone", "schedule": "0 9 * * *"})
        assert (await do(room, "delete_task", gone["id"]), await do(room, "delete_task", "nothing1")) == (True, False)
        assert (await do(room, "update_task", daily["id"], {"schedule": "0 10 * * *"}))["schedule"] == "0 10 * * *"
        for key, new, shown in (("cron", "0 8 * * *", "schedule"), ("message", "Tidy it.", "initial_message")):
            assert (await do(room, "update_task", daily["id"], {key: new}))[shown] == new
        assert (await do(room, "update_task", daily["id"], {"schedule": "0 10 * * *"}))["cron"] == "0 10 * * *"
        assert await do(room, "update_task", "nothing1", {}) is None
        clock.set("2027-03-04 12:00:00")
    async with sapphire(tmp_path, TASKS, clock=clock) as room:
        await room.host.schedules.settled()
        left = {one["name"]: one for one in await do(room, "list_tasks")}
        assert set(left) == {"tidy"} and left["tidy"]["next_run"].startswith("2027-03-05T09:00")
        titles = sorted(chat.title for chat in room.host.store.chats.all())
        assert titles == ["once", "tidy"] and once["id"] != daily["id"]
        assert await at(room, clock, "2027-03-05 10:00:00") == [daily["id"]]
        assert sorted(chat.title for chat in room.host.store.chats.all()) == titles


async def test_a_task_may_do_no_more_than_the_conversation_that_made_it(tmp_path):
    files = {
        **TASKS,
        "plugins/w/tools/w.py": tool("writes_it", body='open("user/it", "w").write("x")\nreturn "ok", True', writes=True),
    }
    clock = Clock()
    async with sapphire(tmp_path, files, clock=clock) as room:
        task = Task(
            id="", plugin="tasks", name="deed", message="Write.", cron="0 7 * * *", due=clock.now + 3570, channel="phone"
        )
        for trust, written in (("none", False), ("full", True)):
            kept = room.host.store.tasks.keep(msgspec.structs.replace(task, trust=trust))
            room.model._steps[len(room.requests) :] = [[call("writes_it")], "Over."]
            await at(room, clock, "2027-03-01 07:00:00")
            assert ((room.user / "it").exists(), room.requests[-1].messages[-1].role) == (written, "tool")
            room.host.schedules.drop(kept.id)


async def test_a_task_that_cannot_be_written_down_is_tried_again_at_the_next_look_and_not_at_once(tmp_path, monkeypatch):
    clock = Clock()
    async with sapphire(tmp_path, TASKS, clock=clock) as room:
        task = await do(room, "create_task", {"name": "tidy", "schedule": "0 9 * * *"})
        with monkeypatch.context() as full:

            def keep(_: Task) -> Task:
                raise StoreError("The disk is full.")

            full.setattr(room.host.store.tasks, "keep", keep)
            assert await at(room, clock, "2027-03-01 09:00:00") == []
            assert room.host.schedules._left() == LOOK
        assert await at(room, clock, "2027-03-01 09:00:05") == [task["id"]]
        assert room.host.schedules._left() == LOOK


@pytest.mark.parametrize(
    "data",
    [
        {"name": "x"},
        {"name": "x", "schedule": "whenever"},
        {"name": "x", "schedule": "61 * * * *"},
        {"schedule": "* * * * * *"},
    ],
)
async def test_a_task_without_a_time_that_comes_is_refused_in_words(tmp_path, data):
    async with sapphire(tmp_path, TASKS) as room:
        text, ok = await room.ran("task", {"do": "create_task", "given": [data]})
        assert (ok, "0 9 * * *" in text) == (False, True)


async def test_what_is_said_of_a_task_is_no_more_than_the_clock_can_look_through(tmp_path):
    async with sapphire(tmp_path, TASKS) as room:
        kept, endless = ({"name": "x", "schedule": "0 9 * * *", "note": "x" * many} for many in (10_000, 20_000))
        made = await room.value("task", {"do": "create_task", "given": [kept]})
        for do, given in (("create_task", [endless]), ("update_task", [made["id"], endless])):
            text, ok = await room.ran("task", {"do": do, "given": given})
            assert (ok, "at most 20,000" in text) == (False, True)
        assert [task.said["note"] for task in room.host.store.tasks.all()] == ["x" * 10_000]


@pytest.mark.parametrize(
    ("expression", "after", "next"),
    [
        ("30 2 * * *", "2026-03-28T12:00", "2026-03-29T03:00+02:00"),
        ("30 2 * * *", "2026-10-24T12:00", "2026-10-25T02:30+02:00"),
        ("0 9 * * mon-fri", "2026-11-27T09:00", "2026-11-30T09:00+01:00"),
        ("@monthly", "2026-11-27T09:00", "2026-12-01T00:00+01:00"),
        ("*/20 8-9 * * *", "2026-11-27T08:20", "2026-11-27T08:40+01:00"),
    ],
)
def test_a_cron_expression_comes_true_by_the_wall_clock(expression, after, next):
    start = datetime.fromisoformat(after).replace(tzinfo=BERLIN).timestamp()
    assert cron.next_after(expression, start, "Europe/Berlin") == datetime.fromisoformat(next).timestamp()


@pytest.mark.parametrize("expression", ["", "x", "* * * *", "* * * * * *", "0 0 30 2 *", "99 * * * *"])
def test_what_never_comes_true_is_refused(expression):
    with pytest.raises(UsageError, match="no time to run at"):
        cron.next_after(expression, 0.0, "UTC")
