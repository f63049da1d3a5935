"""What a hostile page, tool or caller may try against the console, and what the rest of the house must not notice of it."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from tests.web.sites import Site, hearing, site_at, until
from tests.web.test_web_guard import CHANGING, EVERY, raw

from etui.events import Kind

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIMPLE = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
HALF = "\\ud800"
"""Half a character, as JSON may name it."""


@pytest.mark.parametrize("media_type", SIMPLE)
async def test_a_form_of_another_site_changes_nothing_even_with_the_cookie(site: Site, media_type: str) -> None:
    async with site.browser() as browser:
        del browser.headers["x-etui"]
        for method, path in CHANGING:
            answer = await browser.request(method, path, content=b'{"on": false}', headers={"content-type": media_type})
            assert answer.status_code == 403, (method, path)


async def test_a_page_on_another_port_of_this_machine_changes_nothing(site: Site) -> None:
    async with site.browser() as browser:
        headers = {"origin": "http://127.0.0.1:3000", "sec-fetch-site": "same-site", "content-type": "application/json"}
        for method, path in EVERY:
            assert (await browser.request(method, path, content=b"{}", headers=headers)).status_code == 403, (method, path)


async def test_a_cookie_that_was_signed_out_or_made_up_opens_nothing(site: Site) -> None:
    async with site.browser() as browser:
        stale = dict(browser.cookies)
        assert (await browser.post("/api/logout", json={})).status_code == 200
        for cookies in (stale, dict.fromkeys(stale, "x" * 43), dict.fromkeys(stale, "")):
            async with site.client(**{"x-etui": "1"}) as client:
                client.cookies.update(cookies)
                for method, path in EVERY:
                    answer = await client.request(method, path, content=b"{}", headers={"content-type": "application/json"})
                    assert answer.status_code == 401, (method, path)


async def test_signing_out_ends_the_streams_of_that_browser_and_no_other(site: Site) -> None:
    async with (
        asyncio.timeout(20),
        site.browser() as leaving,
        site.browser() as staying,
        leaving.stream("GET", "/api/events") as gone,
        staying.stream("GET", "/api/events") as here,
    ):
        left, kept = gone.aiter_lines(), here.aiter_lines()
        assert (await anext(left), await anext(kept)) == ("retry: 1000", "retry: 1000")
        await leaving.post("/api/logout", json={})
        site.host.hub.tell(Kind.SAID, {"text": "for those who may hear", "why": "notice"})
        assert "for those who may hear" not in "\n".join([line async for line in left])
        async for line in kept:
            if "for those who may hear" in line:
                break


async def test_a_login_link_cannot_be_used_again_nor_guessed(site: Site) -> None:
    path = (await site.post("/api/links"))["path"]
    async with site.client() as one, site.client() as other:
        assert (await one.get(path)).status_code == 303
        assert (await one.get(path)).status_code == 303, "a signed-in browser just goes on"
        for tried in (path, path[:-1], path + "x", path.swapcase(), "/login/", "/login/%00", "/login/" + "a" * 9000):
            answer = await other.get(tried)
            assert answer.status_code in (403, 404) and "set-cookie" not in answer.headers, tried


ODD_PATHS = [
    "/static/..%2f..%2fapp.py",
    "/static/%2e%2e/%2e%2e/app.py",
    "/static//etc/passwd",
    "/static/%2fetc%2fpasswd",
    "/static/js/%00",
    "/static/..\\app.py",
    "/api/blobs/..%2f..%2fetui.db",
    "/api/blobs/%00",
    "/api/blobs/" + "a" * 5000,
    "/api/tools/a%2fb",
    "/api/tools/%25",
    "/api/tools/%ff%fe",
    "/api/tools/..",
    "/api/tools/%e2%80%ae",
    "/api/tools/" + "x" * 20_000,
    "/api/chats/%00/messages",
    "/api/chats/'%20OR%201=1/messages",
    "/api/settings/__class__",
]


@pytest.mark.parametrize("path", ODD_PATHS, ids=range(len(ODD_PATHS)))
async def test_odd_paths_lead_nowhere(site: Site, path: str) -> None:
    head = await raw(
        site, f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{site.port}", f"Authorization: Bearer {site.door['token']}"
    )
    assert head.split()[1] in (b"400", b"404", b"405"), head


def deep(levels: int) -> bytes:
    return b'{"tool": "greet", "text": "x", "arguments": ' + b'{"name":' * levels + b"1" + b"}" * levels + b"}"


BODIES = [
    b'{"tool": "greet", "arguments": {"name": "' + HALF.encode() + b'"}}',
    b'{"tool": "' + HALF.encode() + b'"}',
    b'{"tool": "greet", "plugin": "' + HALF.encode() + b'"}',
    b'{"tool": "greet", "channel": "' + HALF.encode() + b'"}',
    b'{"tool": "greet", "arguments": {"name": "\\u0000"}}',
    b'{"tool": "greet", "arguments": {"times": ' + b"9" * 4000 + b"}}",
    b'{"tool": "greet", "arguments": {"times": 1e999}}',
    b'{"tool": "greet", "arguments": {"times": NaN}}',
    b'{"tool": "greet", "arguments": [1]}',
    b'{"tool": "greet", "arguments": null}',
    b'{"tool": "greet", "tool": "shell", "arguments": {}}',
    b'{"tool": "../greet"}',
    b'{"tool": "greet", "attended": "yes"}',
    b"\xef\xbb\xbf{}",
    *(deep(levels) for levels in (50, 150, 400, 900, 5000, 50_000)),
]


@pytest.mark.parametrize("content", BODIES, ids=range(len(BODIES)))
async def test_an_odd_call_gets_an_outcome_or_a_sentence(site: Site, content: bytes) -> None:
    async with site.owner() as client:
        answer = await client.post("/api/call", content=content, headers={"content-type": "application/json"})
        assert answer.status_code in (200, 400), answer.text
        told = answer.json()
        assert told.get("text") or told["error"]
        assert (await client.get("/api/audit?limit=5")).status_code == 200
        assert (await site.post("/api/call", {"tool": "greet"}))["text"] == "Hello you!"


@pytest.mark.parametrize(
    "text", ['"\\ud800"', '"\\u0000"', '"\\u202e"', "[]", '{"a": [' + "[" * 500 + "]" * 500 + "]}", "1e400"]
)
async def test_odd_values_in_every_other_body_get_a_sentence_and_break_nothing(site: Site, text: str) -> None:
    chat = (await site.post("/api/chats"))["id"]
    names = ("text", "title", "sentence", "value", "choice", "id", "on", "private", "chat", "channel")
    content = "{" + ", ".join(f'"{name}": {text}' for name in names) + "}"
    async with site.owner() as client:
        for method, path in CHANGING:
            if path in ("/api/logout", "/api/links"):
                continue
            for known in (
                path,
                path.replace("anything", chat if "/chats" in path else "greet" if "/tools" in path else "language"),
            ):
                if method == "DELETE" and "/chats" in known:
                    continue
                answer = await client.request(method, known, content=content, headers={"content-type": "application/json"})
                assert answer.status_code < 500, (method, known, answer.text)
        for path in ("/api/state", "/api/audit", "/api/chats", f"/api/chats/{chat}/messages", "/api/settings"):
            assert (await client.get(path)).status_code == 200, path


async def test_a_call_from_the_phone_has_no_trust(site: Site) -> None:
    from_phone = {"channel": "phone", "trust": "full", "attended": True}
    outcome = await site.post("/api/call", {"tool": "door", **from_phone})
    assert (outcome["status"], outcome["rule"]) == ("refused", "no_pin")
    outcome = await site.post("/api/call", {"tool": "who", **from_phone})
    assert (outcome["status"], outcome["rule"]) == ("refused", "no_pin")
    assert (await site.post("/api/call", {"tool": "who", **from_phone, "channel": "voice"}))["text"] == "voice none"
    assert (await site.post("/api/call", {"tool": "who"}))["text"] == "terminal full"


async def test_a_media_type_or_name_of_any_letters_still_gives_the_file(site: Site) -> None:
    for media_type, name in (
        ("日本/語", "日本.txt"),
        ("text/plain\r\nset-cookie: a=b", "a\r\nset-cookie: a=b"),
        ("a/b" * 300, "x" * 9000),
    ):
        blob = site.host.store.blobs.put(b"bytes", media_type, name)
        async with site.owner() as client:
            answer = await client.get(f"/api/blobs/{blob}")
        assert (answer.status_code, answer.content) == (200, b"bytes") and "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "media_type", ["text/html", "image/svg+xml", "application/xhtml+xml", "application/pdf", "text/xml", "Text/HTML"]
)
async def test_a_file_that_could_run_is_saved_and_never_opened_in_our_origin(site: Site, media_type: str) -> None:
    blob = site.host.store.blobs.put(b"<script>alert(1)</script>", media_type, "x.html")
    async with site.owner() as client:
        answer = await client.get(f"/api/blobs/{blob}")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("last", ["\xb2", "\xb9\xb2", "0", "00017", "\xbd"])
async def test_an_odd_last_event_id_does_not_end_the_stream(site: Site, last: str) -> None:
    async with asyncio.timeout(10), site.owner() as client:
        headers = {b"last-event-id": last.encode("latin-1")}
        async with client.stream("GET", "/api/events", headers=headers) as answer:
            lines = answer.aiter_lines()
            while "hello" not in await anext(lines):
                pass
            site.host.hub.tell(Kind.SAID, {"text": "still told", "why": "heartbeat"})
            async for line in lines:
                if "still told" in line:
                    break


async def deaf(site: Site) -> socket.socket:
    """A page that opens the stream and never reads."""
    loop = asyncio.get_running_loop()
    page = socket.socket()
    page.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    page.setblocking(False)
    await loop.sock_connect(page, ("127.0.0.1", site.port))
    door = f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nAuthorization: Bearer {site.door['token']}\r\n\r\n"
    await loop.sock_sendall(page, door.encode())
    return page


async def test_pages_that_do_not_read_cost_a_bounded_queue_and_hold_nobody_up(tmp_path: Path) -> None:
    async with asyncio.timeout(40), site_at(tmp_path) as site:
        before = len(site.host.hub._listeners)
        pages = [await deaf(site) for _ in range(200)]
        while len(site.host.hub._listeners) < before + len(pages):
            await asyncio.sleep(0)
        for _ in range(12):
            for _ in range(100):
                site.host.hub.tell(Kind.TEXT, {"text": "x" * 6000}, chat="none", turn="none")
            assert (await site.post("/api/call", {"tool": "greet"}))["text"] == "Hello you!"
        for page in pages[:100]:
            page.close()
        while len(site.host.hub._listeners) > before + 100:
            await asyncio.sleep(0)
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < 4, "the host's end waited for those who do not read"
    for page in pages[100:]:
        page.close()


async def test_two_browsers_see_the_same_and_both_may_act(site: Site) -> None:
    async with (
        asyncio.timeout(20),
        site.browser() as one,
        site.browser() as other,
        other.stream("GET", "/api/events") as answer,
    ):
        lines = answer.aiter_lines()
        while "hello" not in await anext(lines):
            pass
        chat = (await one.post("/api/chats", json={"title": "shared"})).json()["id"]
        await one.post(f"/api/chats/{chat}/say", json={"text": "good morning"})
        async for line in lines:
            if '"turn_ended"' in line:
                assert "You said: good morning" in line
                break
        told = (await other.get(f"/api/chats/{chat}/messages")).json()
        assert [message["text"] for message in told["messages"]] == ["good morning", "You said: good morning"]


async def test_what_is_said_at_once_in_one_chat_is_answered_in_order(site: Site) -> None:
    chat = (await site.post("/api/chats"))["id"]
    async with hearing(site.host.hub) as events:
        started = await asyncio.gather(*(site.post(f"/api/chats/{chat}/say", {"text": f"number {n}"}) for n in range(8)))
        ended = set()
        while ended != {one["turn"] for one in started}:
            ended.add((await until(events, Kind.TURN_ENDED, why="done")).turn)
    told = await site.get(f"/api/chats/{chat}/messages")
    pairs = list(zip(told["messages"][::2], told["messages"][1::2], strict=True))
    assert len(pairs) == 8
    for said, answer in pairs:
        assert said["turn"] == answer["turn"] and answer["text"] == f"You said: {said['text']}"


async def test_stop_stops_what_runs_and_what_waits_and_the_chat_goes_on(site: Site) -> None:
    chat = (await site.post("/api/chats"))["id"]
    async with hearing(site.host.hub) as events:
        turns = [(await site.post(f"/api/chats/{chat}/say", {"text": text}))["turn"] for text in ("hold", "hold", "hold")]
        await until(events, Kind.TEXT, text=" and then")
        assert (await site.post(f"/api/chats/{chat}/stop"))["stopped"]
        ended = {(await until(events, Kind.TURN_ENDED, why="stopped")).turn for _ in turns}
        assert ended == set(turns)
        assert not (await site.post(f"/api/chats/{chat}/stop"))["stopped"]
        await site.post(f"/api/chats/{chat}/say", {"text": "and now"})
        assert (await until(events, Kind.TURN_ENDED)).data["text"] == "You said: and now"


async def test_a_chat_deleted_in_mid_turn_leaves_nothing_behind(site: Site) -> None:
    chat = (await site.post("/api/chats", {"title": "doomed"}))["id"]
    async with hearing(site.host.hub) as events, site.owner() as client:
        turns = {(await site.post(f"/api/chats/{chat}/say", {"text": text}))["turn"] for text in ("call wait", "later")}
        await until(events, Kind.CARD_OPENED)
        assert (await client.delete(f"/api/chats/{chat}")).status_code == 200
        ended = {(await until(events, Kind.TURN_ENDED)).turn for _ in turns}
        assert ended == turns
    assert await site.get("/api/cards") == []
    state = await site.get("/api/state")
    assert chat not in state["live"] and chat not in [one["id"] for one in state["chats"]]
    assert site.host.store.chats.messages(chat) == [] and site.host.store.chats.unfinished() == []


async def test_behind_something_that_speaks_https_the_configured_name_works(tmp_path: Path) -> None:
    async with site_at(tmp_path, tools="", hosts=["etui.home"]) as site, site.owner() as client:

        async def status(host: str, origin: str) -> int:
            return (await client.post("/api/chats", json={}, headers={"host": host, "origin": origin})).status_code

        assert await status("etui.home", "https://etui.home") == 201
        assert await status(f"etui.home:{site.port}", f"http://etui.home:{site.port}") == 201
        assert await status("etui.home", "https://evil.example") == 403
        assert await status("etui.home", "null") == 403
        assert await status("etui.home.evil.example", "https://etui.home.evil.example") == 421
        assert await status(f"127.0.0.1:{site.port}", f"https://127.0.0.1:{site.port}") == 403
