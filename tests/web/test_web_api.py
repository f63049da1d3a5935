"""The API: chats and turns, tools, cards, reminders, settings, audit, images and files."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from tests.web.sites import Site, hearing, until

from etui.events import Kind
from etui.store.reminders import Reminder

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def said(site: Site, text: str, chat: str = "") -> tuple[str, str]:
    """Say it in the console and wait for the end of the turn; gives the chat and the answer."""
    chat = chat or (await site.post("/api/chats", {"title": text[:20]}))["id"]
    async with hearing(site.host.hub) as events:
        turn = (await site.post(f"/api/chats/{chat}/say", {"text": text}))["turn"]
        while (event := await until(events, Kind.TURN_ENDED)).turn != turn:
            pass
    return chat, str(event.data["text"])


async def test_the_first_paint_has_everything(site: Site) -> None:
    state = await site.get("/api/state")
    assert {"chats", "tools", "plugins", "problems", "cards", "reminders", "models", "settings", "live", "number"} <= set(state)
    greet = next(one for one in state["tools"] if one["name"] == "greet")
    assert greet["on"] and greet["examples"] == ["greet {name}", "say hello"] and greet["does"] == "only reads"
    assert state["folder"].endswith("tools")


async def test_a_turn_is_kept_with_its_steps(site: Site) -> None:
    chat, answer = await said(site, 'call greet {"name": "Ada", "times": 2}')
    assert answer == "Hello Ada!Hello Ada!"
    told = await site.get(f"/api/chats/{chat}/messages")
    assert [one["role"] for one in told["messages"]] == ["user", "assistant"]
    (step,) = told["steps"][told["messages"][0]["turn"]]
    assert (step["tool"], step["status"], step["arguments"]) == ("greet", "ok", {"name": "Ada", "times": 2})
    assert step["seconds"] > 0 and step["channel"] == "console" and told["live"] is None


async def test_secrets_in_arguments_are_masked_in_steps_and_audit(site: Site) -> None:
    chat, _ = await said(site, 'call greet {"name": "password=hunter2000"}')
    told = json.dumps((await site.get(f"/api/chats/{chat}/messages"))["steps"])
    assert "greet" in told and "hunter2000" not in told
    assert "hunter2000" not in json.dumps(await site.get("/api/audit?tool=greet"))


async def test_a_running_turn_can_be_seen_and_stopped(site: Site) -> None:
    chat = (await site.post("/api/chats"))["id"]
    async with hearing(site.host.hub) as events:
        await site.post(f"/api/chats/{chat}/say", {"text": "hold"})
        await until(events, Kind.TEXT, text=" and then")
        live = (await site.get(f"/api/chats/{chat}/messages"))["live"]
        assert live["text"] == "Beginning and then" and live["said"] == "hold"
        assert chat in (await site.get("/api/state"))["live"]
        assert (await site.post(f"/api/chats/{chat}/stop"))["stopped"]
        await until(events, Kind.TURN_ENDED, why="stopped")
    assert (await site.get(f"/api/chats/{chat}/messages"))["live"] is None
    assert not (await site.post(f"/api/chats/{chat}/stop"))["stopped"]


async def test_chats_are_renamed_and_deleted(site: Site) -> None:
    chat, _ = await said(site, "hello there")
    async with site.owner() as client:
        assert (await client.patch(f"/api/chats/{chat}", json={"title": "  Tea  "})).json()["title"] == "Tea"
        assert any(one["title"] == "Tea" for one in (await client.get("/api/chats")).json())
        assert (await client.patch(f"/api/chats/{chat}", json={"title": " "})).status_code == 400
        assert (await client.delete(f"/api/chats/{chat}")).status_code == 200
        for method, path in [("GET", "/messages"), ("POST", "/say"), ("POST", "/stop"), ("PATCH", ""), ("DELETE", "")]:
            answer = await client.request(method, f"/api/chats/{chat}{path}", json={"text": "x", "title": "x"})
            assert answer.status_code == 404 and "does not exist" in answer.json()["error"]


async def test_a_private_chat_is_told_as_one(site: Site) -> None:
    assert (await site.post("/api/chats", {"private": True}))["private"] is True
    async with site.owner() as client:
        assert (await client.post("/api/chats", json={"private": "yes"})).status_code == 400


async def test_a_tools_page_says_what_it_takes_and_may_touch(site: Site) -> None:
    tool = await site.get("/api/tools/greet")
    assert set(tool["parameters"]["properties"]) == {"name", "times", "manner"}
    assert tool["file"].endswith("things.py") and tool["line"] > 1
    words = {one["what"]: (one["given"], one["words"]) for one in tool["touches"]}
    assert words["network"][1] in ("Opens no network connections.", "Opens network connections.")
    assert words["programs"] == (True, "Starts other programs.")
    assert tool["held"]["words"].endswith(".")
    async with site.owner() as client:
        answer = await client.get("/api/tools/gret")
        assert answer.status_code == 404 and "'gret'" in answer.json()["error"]


async def test_a_try_goes_through_the_door_and_into_the_journal(site: Site) -> None:
    outcome = await site.post("/api/tools/greet/call", {"arguments": {"name": "Bo"}})
    assert (outcome["status"], outcome["text"]) == ("ok", "Hello Bo!")
    wrong = await site.post("/api/tools/greet/call", {"arguments": {"times": "many"}})
    assert (wrong["status"], wrong["rule"]) == ("refused", "arguments")
    odd = await site.post("/api/tools/greet/call", {"arguments": [1]})
    assert odd["status"] == "refused"
    calls = (await site.get("/api/tools/greet"))["calls"]
    assert [one["status"] for one in calls[:3]] == ["refused", "refused", "ok"]


async def test_refusals_and_failures_come_with_rule_and_reference(site: Site) -> None:
    assert (await site.post("/api/tools/no/call"))["text"] == "Not today."
    failed = await site.post("/api/tools/broken/call")
    assert failed["status"] == "failed" and failed["reference"] and "the inside of it" not in failed["text"]
    kept = (await site.get("/api/audit?tool=broken&status=failed"))["entries"][0]
    assert "the inside of it" in kept["detail"]


async def test_the_terminals_call_names_channel_and_plugin(site: Site) -> None:
    outcome = await site.post(
        "/api/call", {"tool": "greet", "arguments": {"name": "Cy"}, "channel": "terminal", "plugin": "things"}
    )
    assert outcome["text"] == "Hello Cy!"
    assert (await site.get("/api/audit?limit=1"))["entries"][0]["channel"] == "terminal"
    other = await site.post("/api/call", {"tool": "greet", "plugin": "other"})
    assert (other["status"], other["rule"]) == ("refused", "find")
    unknown = await site.post("/api/call", {"tool": "gret"})
    assert "greet" in unknown["text"]
    asked = await site.post("/api/call", {"tool": "shell", "arguments": {"command": "ls"}})
    assert asked["status"] == "needs_approval"


async def call_with_card(site: Site, choice: str, tool: str = "shell", arguments: object = None) -> tuple[Any, Any]:
    """Call from the tool's page, answer the card, and give the card and the outcome."""
    async with hearing(site.host.hub) as events:
        path = f"/api/tools/{tool}/call"
        calling = asyncio.create_task(site.post(path, {"arguments": arguments or {"command": "ls"}}))
        event = await until(events, Kind.CARD_OPENED)
        (card,) = await site.get("/api/cards")
        assert card == json.loads(json.dumps(event.data["card"]))
        await site.post(f"/api/cards/{card['id']}", {"choice": choice})
        return card, await calling


async def test_a_card_shows_the_exact_arguments_and_what_runs_is_what_was_shown(site: Site) -> None:
    command = "x" * 4000 + "; rm -rf ~ # \r\x1b[2K\u202e"
    card, outcome = await call_with_card(site, "approve", arguments={"command": command})
    assert card["arguments"] == {"command": command} and card["kind"] == "approval"
    assert outcome["text"] == f"ran {command}"


async def test_declined_is_refused_and_always_is_remembered(site: Site) -> None:
    _, declined = await call_with_card(site, "decline")
    assert (declined["status"], declined["rule"]) == ("refused", "declined")
    _, allowed = await call_with_card(site, "always_call", arguments={"command": "date"})
    assert allowed["status"] == "ok"
    assert (await site.post("/api/tools/shell/call", {"arguments": {"command": "date"}}))["text"] == "ran date"


async def test_a_tools_question_is_answered_with_one_of_its_choices(site: Site) -> None:
    async with hearing(site.host.hub) as events, site.owner() as client:
        calling = asyncio.create_task(site.post("/api/tools/wait/call", {"arguments": {"question": "Tea?"}}))
        card = (await until(events, Kind.CARD_OPENED)).data["card"]
        assert isinstance(card, dict) and card["question"] == "Tea?"
        answer = await client.post(f"/api/cards/{card['id']}", json={"choice": "maybe"})
        assert answer.status_code == 400
        assert (await client.post(f"/api/cards/{card['id']}", json={"choice": "yes"})).status_code == 200
        assert (await calling)["text"] == "answered: yes"
        answer = await client.post(f"/api/cards/{card['id']}", json={"choice": "yes"})
        assert answer.status_code == 404 and "no longer open" in answer.json()["error"]


async def test_who_does_not_wait_for_a_call_cancels_it(site: Site) -> None:
    async with hearing(site.host.hub) as events:
        async with site.owner() as client:
            calling = asyncio.create_task(client.post("/api/tools/wait/call", json={}))
            await until(events, Kind.CARD_OPENED)
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
        await until(events, Kind.CALL_ENDED, status="cancelled")
    assert await site.get("/api/cards") == []


async def test_tools_are_switched_off_and_on(site: Site) -> None:
    await site.post("/api/tools/keep/switch", {"on": False})
    assert (await site.post("/api/tools/keep/call", {"arguments": {"item": "a"}}))["rule"] == "switched_off"
    listed = {one["name"]: one["on"] for one in (await site.get("/api/tools"))["tools"]}
    assert listed["keep"] is False and listed["greet"] is True
    await site.post("/api/tools/keep/switch", {"on": True})
    assert (await site.post("/api/tools/keep/call", {"arguments": {"item": "a"}}))["text"] == "Kept a."


async def test_sentences_are_taught_and_forgotten(site: Site) -> None:
    taught = await site.post("/api/tools/greet/teach", {"sentence": "wave at {name}"})
    assert taught == {"taught": ["wave at {name}"]}
    async with site.owner() as client:
        answer = await client.post("/api/tools/greet/teach", json={"sentence": "wave at {nobody}"})
        assert answer.status_code == 400 and "nobody" in answer.json()["error"]
        answer = await client.request("DELETE", "/api/tools/greet/teach", json={"sentence": "wave at {name}"})
        assert answer.json() == {"taught": []}
        answer = await client.request("DELETE", "/api/tools/greet/teach", json={"sentence": "never taught"})
        assert answer.status_code == 400


async def test_the_audit_is_paged_and_filtered(site: Site) -> None:
    for item in "abc":
        await site.post("/api/tools/keep/call", {"arguments": {"item": item}})
    first = await site.get("/api/audit?tool=keep&limit=2")
    assert [one["arguments"]["item"] for one in first["entries"]] == ["c", "b"]
    second = await site.get(f"/api/audit?tool=keep&limit=2&before={first['next']}")
    assert second["entries"][0]["arguments"]["item"] == "a"
    assert all(one["status"] == "failed" for one in (await site.get("/api/audit?status=failed"))["entries"])
    async with site.owner() as client:
        assert (await client.get("/api/audit?before=x")).status_code == 400
        assert (await client.get("/api/audit?limit=x")).status_code == 400


async def test_reminders_are_listed_and_cancelled(site: Site) -> None:
    kept = site.host.store.reminders.add(Reminder(kind="timer", text="Tea", due=time.time() + 600, zone="Europe/Berlin"))
    assert [one["text"] for one in await site.get("/api/reminders")] == ["Tea"]
    async with hearing(site.host.hub) as events, site.owner() as client:
        assert (await client.delete(f"/api/reminders/{kept.id}")).status_code == 200
        await until(events, Kind.REMINDERS_CHANGED, reminder=kept.id)
        answer = await client.delete(f"/api/reminders/{kept.id}")
        assert answer.status_code == 404 and answer.json()["error"].endswith(".")


async def test_settings_are_set_or_refused_with_a_sentence(site: Site) -> None:
    async with site.owner() as client:
        rows = (await client.put("/api/settings/ask_seconds", json={"value": 120})).json()
        assert next(one["value"] for one in rows if one["name"] == "ask_seconds") == 120
        assert site.host.settings.now.ask_seconds == 120
        answer = await client.put("/api/settings/allow_exec", json={"value": "perhaps"})
        assert answer.status_code == 400 and "allow, ask, refuse" in answer.json()["error"]
        assert (await client.put("/api/settings/nothing", json={"value": 1})).status_code == 400
        assert (await client.put("/api/settings/ask_seconds", json={})).status_code == 400


async def test_models_are_offered_and_an_unknown_one_is_refused(site: Site) -> None:
    choices = await site.get("/api/models")
    assert any(one["id"] == "embedded" for one in choices)
    async with site.owner() as client:
        answer = await client.post("/api/models", json={"id": "no-such-kind:x"})
        assert answer.status_code == 400 and answer.json()["error"].endswith((".", ")"))


async def test_images_are_shown_and_pages_are_only_ever_saved(site: Site) -> None:
    outcome = await site.post("/api/tools/picture/call")
    (image,), (file,) = outcome["images"], outcome["files"]
    async with site.owner() as client:
        shown = await client.get(f"/api/blobs/{image['id']}")
        assert shown.headers["content-type"] == "image/png" and shown.headers["content-disposition"].startswith("inline")
        saved = await client.get(f"/api/blobs/{file['id']}")
        assert saved.headers["content-disposition"] == "attachment; filename*=utf-8''page.html"
        assert "sandbox" in saved.headers["content-security-policy"] and saved.content == b"<script>alert(1)</script>"
        assert (await client.get("/api/blobs/none")).status_code == 404


@pytest.mark.parametrize(
    "media_type", ["image/svg+xml", "text/html", "application/xhtml+xml", "text/xml", "nonsense\r\nx: y", ""]
)
async def test_what_could_run_is_never_shown_inline(site: Site, media_type: str) -> None:
    blob = site.host.store.blobs.put(b"<svg onload=alert(1)>", media_type, 'na"me\r\n\u202e.svg')
    async with site.owner() as client:
        answer = await client.get(f"/api/blobs/{blob}")
        assert answer.status_code == 200 and answer.headers["content-disposition"].startswith("attachment")
        assert "x" not in answer.headers and answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("asked", "status", "got", "told"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=4-", 206, b"456789", "bytes 4-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=5-2", 416, b"", "bytes */10"),
        ("bytes=-0", 416, b"", "bytes */10"),
        ("bytes=0-1,4-5", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
    ],
)
async def test_a_range_of_a_file_can_be_asked_for(site: Site, asked: str, status: int, got: bytes, told: str | None) -> None:
    blob = site.host.store.blobs.put(b"0123456789", "audio/mpeg", "a.mp3")
    async with site.owner() as client:
        answer = await client.get(f"/api/blobs/{blob}", headers={"range": asked})
    assert (answer.status_code, answer.content, answer.headers.get("content-range")) == (status, got, told)


async def lines_of(site: Site, value: dict[str, object]) -> list[dict[str, Any]]:
    async with site.owner() as client, client.stream("POST", "/api/chat", json=value) as answer:
        return [json.loads(line) async for line in answer.aiter_lines()]


async def test_the_terminals_chat_follows_the_turn_to_its_answer(site: Site) -> None:
    lines = await lines_of(site, {"text": 'call greet {"name": "Di"}'})
    kinds = [line["kind"] for line in lines]
    assert kinds[0] == "chat" and kinds[-2:] == ["turn_ended", "answer"] and "call_ended" in kinds
    assert lines[-1]["text"] == "Hello Di!" and lines[-1]["why"] == "done"
    again = await lines_of(site, {"text": "and again", "chat": lines[0]["chat"]})
    assert again[-1]["text"] == "You said: and again" and again[0]["chat"] == lines[0]["chat"]
    async with site.owner() as client:
        assert (await client.post("/api/chat", json={"text": "x", "chat": "none"})).status_code == 404


async def test_the_terminal_that_goes_stops_its_turn(site: Site) -> None:
    async with hearing(site.host.hub) as events:
        async with site.owner() as client, client.stream("POST", "/api/chat", json={"text": "hold"}):
            await until(events, Kind.TEXT, text=" and then")
        await until(events, Kind.TURN_ENDED, why="stopped")


async def frames(site: Site, until_kind: str, **headers: str) -> list[dict[str, str]]:
    """The frames of the event stream up to one of this kind; something happens as soon as it is open."""
    found: list[dict[str, str]] = []
    async with asyncio.timeout(20), site.owner() as client, client.stream("GET", "/api/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        frame: dict[str, str] = {}
        async for line in answer.aiter_lines():
            name, _, value = line.partition(": ")
            if line:
                frame[name] = value
                continue
            found.append(frame)
            if frame["event"] == "hello":
                site.host.hub.tell(Kind.SAID, {"text": "two\nlines \u2028\u2029\x85", "why": "notice"})
            if frame["event"] == until_kind:
                return found
            frame = {}
    raise AssertionError(f"no {until_kind}")


async def test_events_carry_their_number_and_one_line_of_json(site: Site) -> None:
    hello, told = await frames(site, "said")
    assert json.loads(hello["data"]) == {"back": False}
    event = json.loads(told["data"])
    assert event["data"] == {"text": "two\nlines \u2028\u2029\x85", "why": "notice"} and str(event["number"]) == told["id"]


@pytest.mark.parametrize("last", ["17", "nonsense", "-1", "9" * 400])
async def test_a_page_that_comes_back_is_told_so_whatever_it_remembers(site: Site, last: str) -> None:
    hello, _ = await frames(site, "said", **{"last-event-id": last})
    assert json.loads(hello["data"]) == {"back": True}


async def test_a_page_that_goes_is_forgotten_at_once(site: Site) -> None:
    before = len(site.host.hub._listeners)
    await frames(site, "said")
    async with asyncio.timeout(5):
        while len(site.host.hub._listeners) > before:
            await asyncio.sleep(0)
    assert len(site.host.hub._listeners) == before


async def test_a_head_request_to_the_stream_ends(site: Site) -> None:
    async with site.owner() as client:
        assert (await client.head("/api/events")).status_code == 200
