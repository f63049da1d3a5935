"""The machine dies in the middle of a turn: after the restart the turn goes on, and nothing is done twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from tests.cli.processes import environ
from tests.spine import doomed
from tests.spine.homes import DEEDS, LONG, deeds, doers, ended, gate, host_at, reached, tools_in

from etui.events import Kind
from etui.store import Store

ROOT = Path(__file__).parents[2]
ALL = ["look left", "look right", "act once", "act more"]
SERVE = ["serve", "--port", "0", "--no-browser"]


class Served:
    """A host in a process of its own, and the owner's way to it."""

    def __init__(self, process: asyncio.subprocess.Process, client: httpx2.AsyncClient) -> None:
        self.process = process
        self.client = client

    async def post(self, path: str, **body: object) -> dict:
        answer = await self.client.post(path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def get(self, path: str) -> dict:
        return (await self.client.get(path)).json()

    @asynccontextmanager
    async def events(self, last: str = "") -> AsyncIterator[AsyncIterator[dict]]:
        """Every event from now on, as the console gets them."""
        headers = {"last-event-id": last} if last else {}
        async with self.client.stream("GET", "/api/events", headers=headers) as answer:
            lines = answer.aiter_lines()
            async for line in lines:
                if line.startswith("data: "):
                    break  # it says hello, and hears everything from then on
            yield (json.loads(line.removeprefix("data: ")) async for line in lines if line.startswith("data: "))

    async def kill(self) -> None:
        """As a power cut would."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        assert await self.process.wait() == -signal.SIGKILL


@asynccontextmanager
async def served(home: Path, point: str = "", **env: str) -> AsyncIterator[Served]:
    """`etui serve` in a process of its own; with a point, the one that dies there."""
    (home / "script.json").write_text(json.dumps(doomed.SCRIPT))
    program = ["-m", "tests.spine.doomed", point] if point else ["-m", "etui"]
    more = {"ETUI_MODEL": f"scripted:{home / 'script.json'}", "PYTHONPATH": str(ROOT), **env}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *program, *SERVE, stdout=asyncio.subprocess.PIPE, env=environ(home, **more), cwd=ROOT
    )
    try:
        async with asyncio.timeout(LONG):
            line = await process.stdout.readline()
            assert b"Etui is here" in line
            door = json.loads((home / "run.json").read_text())
            headers = {"authorization": f"Bearer {door['token']}"}
            async with httpx2.AsyncClient(base_url=door["address"], headers=headers, trust_env=False, timeout=LONG) as client:
                yield Served(process, client)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def until(events: AsyncIterator[dict], kind: str, **data: object) -> dict:
    async for event in events:
        if event.get("kind") == kind and all(event["data"].get(key) == value for key, value in data.items()):
            return event
    raise AssertionError(f"no {kind} came")


async def say(host: Served) -> str:
    """Begin the turn; gives its chat."""
    chat = (await host.post("/api/chats"))["id"]
    await host.post(f"/api/chats/{chat}/say", text="do it")
    return chat


async def finished(host) -> None:
    """Wait until the turns that were cut short have ended."""
    async with host.hub.listen(Kind.TURN_ENDED) as events:
        while host.store.chats.unfinished():
            await events.next()


async def goes_on(home: Path, chat: str, statuses: list[str], done: list[str]) -> None:
    """After a restart the turn ends by itself, well-formed, with these ends of its four calls and these deeds."""
    model = doomed.model()
    async with host_at(home, model=model) as host:
        await finished(host)
        messages = host.store.chats.messages(chat)
        results = [message for message in messages if message.role == "tool"]
        assert [message.role for message in messages] == [
            "user",
            "assistant",
            "tool",
            "tool",
            "assistant",
            "tool",
            "tool",
            "assistant",
        ]
        called = [call.id for message in messages for call in message.calls]
        assert sorted(message.call for message in results) == sorted(called)
        by_call = {message.call: message for message in results}
        assert [by_call[call].meta["status"] for call in called] == statuses
        assert [by_call[call].text for call, status in zip(called, statuses, strict=True) if status == "ok"] == [
            f"{deed} done" for deed, status in zip(ALL, statuses, strict=True) if status == "ok"
        ]
        assert (messages[0].text, messages[1].text, messages[-1].text) == ("do it", "Let me see.", "All done.")
        # What only reads is run side by side; what acts in order.
        assert sorted(deeds(home)) == sorted(done)
        assert [deed for deed in deeds(home) if deed.startswith("act")] == ALL[2:]
        assert host.store.journal.running() == []
        told = [message.text for ask in model.asked for message in ask.messages if message.role == "tool"]
        assert any("may have happened" in text for text in told) == ("unknown" in statuses)
        audit = host.store.journal.audit(limit=20)
        assert sorted(entry.status for entry in audit if not entry.id.endswith("+")) == sorted(
            "unknown" if deed.startswith("look") and done.count(deed) > 1 else status
            for deed, status in zip(ALL, statuses, strict=True)
        )


@pytest.mark.parametrize(
    ("held", "statuses", "done"),
    [
        ("look right", ["ok", "ok", "ok", "ok"], ["look left", "look right", "look right", "act once", "act more"]),
        ("act once", ["ok", "ok", "unknown", "ok"], ALL),
        ("act more", ["ok", "ok", "ok", "unknown"], ALL),
    ],
)
async def test_a_host_killed_while_a_tool_runs_goes_on_after_the_restart(tmp_path, held, statuses, done):
    tools_in(tmp_path, DEEDS)
    path = gate(tmp_path, held)
    async with served(tmp_path) as host, host.events() as events:
        chat = await say(host)
        before = {"look right": 1, "act once": 2, "act more": 3}[held]
        for _ in range(before):
            await until(events, "call_ended", status="ok")
        # What ended is told at once and written down a moment later; whoever asks finds it written.
        await host.get(f"/api/chats/{chat}/messages")
        async with reached(path):
            worker = os.pidfd_open(doers(tmp_path)[-1])
            await host.kill()
            # No tool outlives its host.
            await ended(worker)
            os.close(worker)
    path.unlink()
    await goes_on(tmp_path, chat, statuses, done)


@pytest.mark.parametrize("point", ["asking 0", "telling 0", "asking 1", "asking 2", "telling 2"])
async def test_a_host_killed_while_the_model_is_asked_or_speaks_goes_on_after_the_restart(tmp_path, point):
    tools_in(tmp_path, DEEDS)
    async with served(tmp_path, point) as host:
        with contextlib.suppress(httpx2.HTTPError):
            await say(host)
        assert await host.process.wait() == -signal.SIGKILL
    store = Store.open(tmp_path / "etui.db")
    (turn,) = store.chats.unfinished()
    store.close()
    await goes_on(tmp_path, turn.chat, ["ok"] * 4, ALL)


async def test_a_served_host_goes_on_by_itself_and_a_page_and_the_audit_show_what_became_of_it(tmp_path):
    tools_in(tmp_path, DEEDS)
    path = gate(tmp_path, "act once")
    async with served(tmp_path) as host:
        chat = await say(host)
        async with reached(path):
            await host.kill()
    async with served(tmp_path) as host, host.events() as events:
        shown = await host.get(f"/api/chats/{chat}/messages")
        if shown["live"]:
            await until(events, "turn_ended")
            shown = await host.get(f"/api/chats/{chat}/messages")
        assert [message["text"] for message in shown["messages"]] == ["do it", "Let me see.", "All done."]
        (steps,) = shown["steps"].values()
        assert [(step["tool"], step["status"]) for step in steps] == [
            ("look", "ok"),
            ("look", "ok"),
            ("act", "unknown"),
            ("act", "ok"),
        ]
        audit = (await host.get("/api/audit?status=unknown"))["entries"]
        assert [(entry["tool"], entry["arguments"]) for entry in audit] == [("act", {"what": "once"})]
    assert sorted(deeds(tmp_path)) == sorted(ALL)


async def test_a_host_killed_while_a_person_is_asked_asks_again_after_the_restart(tmp_path):
    tools_in(tmp_path, DEEDS.replace('risk="write"', 'risk="exec"'))
    async with served(tmp_path) as host, host.events() as events:
        chat = await say(host)
        first = (await until(events, "card_opened"))["data"]["card"]["id"]
        await host.post(f"/api/cards/{first}", choice="approve")
        second = (await until(events, "card_opened"))["data"]["card"]
        # What ended is told at once and written down a moment later; whoever asks finds it written.
        await host.get(f"/api/chats/{chat}/messages")
        await host.kill()
    assert deeds(tmp_path)[-1] == "act once" and second["arguments"] == {"what": "more"}
    async with host_at(tmp_path, model=doomed.model()) as host, host.hub.listen(Kind.CARD_OPENED) as opened:
        (card,) = host.cards.open() or [None]
        while card is None:
            await opened.next()
            (card,) = host.cards.open()
        assert (card.tool, card.arguments) == ("act", {"what": "more"}) and card.id != second["id"]
        assert host.cards.answer(card.id, "approve")
        await finished(host)
        messages = host.store.chats.messages(chat)
        assert [message.meta["status"] for message in messages if message.role == "tool"] == ["ok"] * 4
        assert [message.text for message in messages if message.role == "user"] == ["do it"]
        assert messages[-1].text == "All done."
    assert sorted(deeds(tmp_path)) == sorted(ALL) and deeds(tmp_path)[2:] == ALL[2:]


async def test_a_page_opened_after_the_restart_shows_the_turn_that_goes_on_and_can_stop_it(tmp_path):
    tools_in(tmp_path, DEEDS)
    path = gate(tmp_path, "look right")
    async with served(tmp_path) as host, host.events() as events:
        chat = await say(host)
        await until(events, "call_ended", status="ok")
        await host.get(f"/api/chats/{chat}/messages")
        async with reached(path):
            await host.kill()
    async with served(tmp_path) as host, host.events() as events, reached(path):
        live = (await host.get("/api/state"))["live"]
        assert [(step["tool"], step["status"]) for step in live[chat]["steps"] if step["status"] == "running"] == [
            ("look", "running")
        ]
        assert (await host.post(f"/api/chats/{chat}/stop"))["stopped"]
        assert (await until(events, "turn_ended"))["data"]["why"] == "stopped"
    async with host_at(tmp_path, model=doomed.model()) as host:
        assert host.store.chats.unfinished() == [] and host.store.journal.running() == []
        messages = host.store.chats.messages(chat)
        assert [message.meta["status"] for message in messages if message.role == "tool"] == ["ok", "cancelled"]


async def test_a_host_killed_twice_in_the_same_call_runs_it_until_it_has_an_end(tmp_path):
    tools_in(tmp_path, DEEDS)
    path = gate(tmp_path, "look right")
    async with served(tmp_path) as host, host.events() as events:
        chat = await say(host)
        await until(events, "call_ended", status="ok")
        await host.get(f"/api/chats/{chat}/messages")
        async with reached(path):
            await host.kill()
    async with served(tmp_path) as host, reached(path):
        await host.kill()
    path.unlink()
    model = doomed.model()
    async with host_at(tmp_path, model=model) as host:
        await finished(host)
        assert [message.text for message in host.store.chats.messages(chat)][-1] == "All done."
    assert deeds(tmp_path).count("look left") == 1
    assert deeds(tmp_path).count("look right") == 3
    assert deeds(tmp_path)[-2:] == ALL[-2:]


async def test_a_killed_host_leaves_no_lock_and_no_door_behind(tmp_path):
    tools_in(tmp_path, DEEDS)
    async with served(tmp_path) as host:
        await host.kill()
    assert (tmp_path / "run.json").exists()
    async with served(tmp_path) as host:
        assert (await host.post("/api/call", tool="act", arguments={"what": "once"}))["status"] == "ok"
