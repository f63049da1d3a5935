"""Daemons: started with their plugin, stopped with it, again when their process dies; and what becomes of events."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.sapphire.homes import Room, manifest, sapphire, tool

from etui.events import Kind

DAEMON = """
import threading

from core.mind_events import publish_mind_changed
from core.plugin_loader import plugin_loader

ticks = threading.Event()


def start(plugin_loader, settings):
    state = plugin_loader.get_plugin_state("watch")
    state.update_with_lock("log", lambda log: [*log, ["start", settings.get("pace"), ticks.is_set()]], default=[])
    plugin_loader.register_reply_handler("watch", replied)
    ticks.set()
    threading.Thread(target=watch, args=(plugin_loader,), daemon=True).start()


def watch(loader):
    loader.get_chat_state("watch").put("Inbox", "from a thread", True)
    publish_mind_changed("watch", None, "done")


def replied(task, event_data, text):
    plugin_loader.get_plugin_state("watch").save("reply", [task["name"], event_data, text])


def stop():
    plugin_loader.get_plugin_state("watch").update_with_lock("log", lambda log: [*log, ["stop"]], default=[])
"""
TOOLS = tool(
    "log",
    "emit",
    "wait_for",
    "die",
    writes=True,
    head="""
    import json
    import os

    from core.api_fastapi import get_system
    from core.plugin_loader import plugin_loader

    state = plugin_loader.get_plugin_state("watch")
    """,
    body="""
    if function_name == "emit":
        plugin_loader.emit_daemon_event(arguments.get("source", "mail"), json.dumps({"from": "Ada"}))
        return "told", True
    if function_name == "wait_for":
        task = {"name": "answer mail", "source": "mail", "initial_message": "A mail came.", "chat_target": "Inbox"}
        return json.dumps(get_system().continuity_scheduler.create_task(task)), True
    if function_name == "die":
        os._exit(1)
    return json.dumps(state.all()), True
    """,
)
FILES = {
    "plugins/watch/plugin.json": manifest(
        "watch",
        "tools/watch.py",
        daemon={"entry": "daemon.py", "event_sources": [{"name": "mail"}]},
        settings=[{"key": "pace", "type": "number", "default": 7}],
    ),
    "plugins/watch/tools/watch.py": TOOLS,
    "plugins/watch/daemon.py": DAEMON,
}


def kept(room: Room) -> dict[str, Any]:
    """The plugin's state, as it lies on the disk."""
    return json.loads((room.user / "plugin_state" / "watch.json").read_text())


async def settled(room: Room) -> None:
    await room.host.happening.daemons.settled()


async def gone(room: Room) -> None:
    """Until no process of the plugin is left."""
    await asyncio.gather(*(worker.exited for worker in room.host.workers._living if worker.files.plugin == "watch"))


@pytest.mark.promise("S412")
async def test_a_daemon_is_started_once_and_stopped_once_with_its_plugin(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        room.host.store.chats.create("Inbox", "python")
        await settled(room)
        await room.call("log")
        room.host.happening.daemons.look()
        await settled(room)
        assert kept(room)["log"] == [["start", 7, False]]
        room.host.tools.switch("plugin:watch", False)
        await gone(room)
        assert kept(room)["log"] == [["start", 7, False], ["stop"]]
        async with room.host.hub.listen(Kind.WORKER_STARTED) as started:
            room.host.tools.switch("plugin:watch", True)
            await started.next()
        await settled(room)
        assert kept(room)["log"] == [["start", 7, False], ["stop"], ["start", 7, False]]
    assert kept(room)["log"][-1] == ["stop"] and len(kept(room)["log"]) == 4


@pytest.mark.promise("S412")
async def test_a_task_waits_for_an_event_and_the_daemon_hears_what_was_answered(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        chat = room.host.store.chats.create("Inbox", "python").id
        await settled(room)
        await room.value("wait_for")
        await room.call("emit", {"source": "weather"})
        room.script("Answered.")
        assert await room.ran("emit") == ("told", True)
        await settled(room)
        assert kept(room)["reply"] == ["answer mail", {"from": "Ada"}, "Answered."]
        said = [message.text for message in room.host.store.chats.messages(chat)]
        assert said[0].endswith('not typed by the user]\nA mail came.\n{"from": "Ada"}') and said[1:] == ["Answered."]


async def test_in_a_thread_of_its_own_a_daemon_reaches_state_and_rows(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        chat = room.host.store.chats.create("Inbox", "python").id
        await settled(room)
        plugin = room.host.registry.snapshot.plugins["watch"]
        [daemon] = [one for one in plugin.handlers if one.kind == "daemon"]
        async with room.host.hub.listen(Kind.MIND_CHANGED) as told:
            for what in ("stop", "start"):
                await room.host.happening.handlers.run(plugin, daemon, {"do": what})
            assert (await told.next()).data["action"] == "done"
        assert room.host.store.rows.get(chat, "watch", "from a thread") == "true"


async def test_a_daemon_whose_process_died_is_started_again_but_not_for_ever(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        await settled(room)
        for deaths in (1, 2, 3):
            async with room.host.hub.listen(Kind.WORKER_GONE, Kind.WORKER_STARTED, Kind.PROBLEM) as told:
                await room.call("die")
                assert (await told.next()).kind is Kind.WORKER_GONE
                assert (await told.next()).kind is (Kind.WORKER_STARTED if deaths < 3 else Kind.PROBLEM)
            await settled(room)
        await settled(room)
        assert kept(room)["log"] == [["start", 7, False]] * 3
        assert any("died 3 times" in reason for reason in room.reasons("watch"))


ECHO = """
from core.plugin_loader import plugin_loader


def post_chat(event):
    plugin_loader.emit_daemon_event("mail", event.response)
"""


async def test_a_plugin_that_tells_of_each_answer_is_not_answered_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("etui.daemons.EVENTS", 3)
    files = {
        **FILES,
        "plugins/watch/plugin.json": manifest("watch", "tools/watch.py", hooks={"post_chat": "hooks.py"}),
        "plugins/watch/hooks.py": ECHO,
    }
    async with sapphire(tmp_path, files) as room:
        chat = room.host.store.chats.create("Inbox", "python").id
        await room.value("wait_for")
        async with room.host.hub.listen(Kind.PROBLEM) as told:
            await room.turn("hello", *["Hi."] * 9)
            assert "3 turns" in (await told.next()).data["problem"]["reason"]
        await settled(room)
        assert [message.role for message in room.host.store.chats.messages(chat)] == ["user", "assistant"] * 3
