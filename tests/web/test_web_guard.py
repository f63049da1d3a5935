"""The guard: every route, against hosts, origins and callers that have no business there."""

from __future__ import annotations

import asyncio
import json
import re

import httpx2
import pytest
from tests.web.sites import Site

from etui.surfaces.web import api

pytestmark = pytest.mark.asyncio(loop_scope="module")
EVERY = [(method, re.sub(r"\{\w+\}", "anything", path)) for method, path, _ in api.TABLE]
PAGES = [("GET", "/"), ("GET", "/login/anything"), ("GET", "/static/js/main.js"), ("GET", "/favicon.ico"), ("GET", "/nowhere")]
CHANGING = [(method, path) for method, path in EVERY if method != "GET"]
FOREIGN = [
    "https://evil.example",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "null",
    "http://127.0.0.1",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:1",
    "http://localhost:{port}",
    "",
]
STRANGE_HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "localhost.evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1:{port}.",
    "",
]


async def send(client: httpx2.AsyncClient, method: str, path: str, **headers: str) -> httpx2.Response:
    value = None if method == "GET" else b"{}"
    return await client.request(method, path, content=value, headers={"content-type": "application/json", **headers})


@pytest.mark.parametrize("origin", FOREIGN)
async def test_no_path_answers_another_origin_not_even_to_the_owner(site: Site, origin: str) -> None:
    async with site.owner() as client:
        for method, path in [*EVERY, *PAGES]:
            answer = await send(client, method, path, origin=origin.format(port=site.port))
            assert answer.status_code == 403, (method, path)
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", STRANGE_HOSTS)
async def test_no_path_answers_under_another_name(site: Site, host: str) -> None:
    async with site.owner() as client:
        for method, path in [*EVERY, *PAGES]:
            answer = await send(client, method, path, host=host.format(port=site.port))
            assert answer.status_code == 421, (method, path)


async def test_every_api_path_wants_to_know_who_asks(site: Site) -> None:
    async with site.client() as client:
        for method, path in EVERY:
            answer = await send(client, method, path)
            assert answer.status_code == 401, (method, path)
            assert answer.json()["error"].endswith(".")
        for token in ("wrong", "Bearer", site.door["token"] + "x", site.door["token"][:-1]):
            answer = await client.get("/api/state", headers={"authorization": f"Bearer {token}"})
            assert answer.status_code == 401
        answer = await client.get("/api/state", headers={"authorization": f"Basic {site.door['token']}"})
        assert answer.status_code == 401


async def test_with_a_cookie_alone_nothing_can_be_changed(site: Site) -> None:
    async with site.browser() as browser:
        del browser.headers["x-etui"]
        for method, path in CHANGING:
            answer = await send(browser, method, path)
            assert answer.status_code == 403 and "X-Etui" in answer.json()["error"], (method, path)
        assert (await browser.get("/api/chats")).status_code == 200


@pytest.mark.parametrize("from_where", ["cross-site", "same-site"])
async def test_a_page_of_another_site_gets_nothing_from_the_api(site: Site, from_where: str) -> None:
    async with site.browser() as browser:
        for method, path in EVERY:
            assert (await send(browser, method, path, **{"sec-fetch-site": from_where})).status_code == 403
        assert (await browser.get("/", headers={"sec-fetch-site": from_where})).status_code == 200


async def test_the_page_itself_may_use_everything(site: Site) -> None:
    async with site.browser() as browser:
        headers = {"origin": site.base, "sec-fetch-site": "same-origin"}
        answer = await browser.post("/api/chats", json={"title": "mine"}, headers=headers)
        assert answer.status_code == 201
        for name in (f"localhost:{site.port}", f"[::1]:{site.port}", f"LOCALHOST:{site.port}"):
            answer = await browser.get("/api/chats", headers={"host": name, "origin": f"http://{name}"})
            assert answer.status_code == 200


async def test_every_answer_keeps_the_page_harmless(site: Site) -> None:
    async with site.owner() as owner, site.client() as nobody:
        for client in (owner, nobody):
            for method, path in [*PAGES, ("GET", "/api/state"), ("GET", "/api/nowhere"), ("POST", "/api/call"), ("PUT", "/")]:
                headers = (await send(client, method, path)).headers
                policy = headers["content-security-policy"]
                assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy
                assert "unsafe" not in policy and "*" not in policy
                assert headers["x-content-type-options"] == "nosniff"
                assert headers["referrer-policy"] == "no-referrer"


async def raw(site: Site, *lines: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    await writer.drain()
    head = await reader.readuntil(b"\r\n")
    writer.close()
    await writer.wait_closed()
    return head


async def test_web_sockets_and_doubled_headers_are_refused(site: Site) -> None:
    own = f"Host: 127.0.0.1:{site.port}"
    upgrade = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    )
    for path in ("/", "/api/events", "/ws"):
        head = await raw(site, f"GET {path} HTTP/1.1", own, "Origin: https://evil.example", *upgrade)
        assert b" 403 " in head
    assert b" 101 " not in await raw(site, "GET /api/events HTTP/1.1", own, *upgrade)
    for two in ((own, "Host: evil.example"), (own, own)):
        assert b" 200 " not in await raw(site, "GET / HTTP/1.1", *two)
    assert b" 403 " in await raw(site, "GET / HTTP/1.1", own, f"Origin: {site.base}", "Origin: https://evil.example")


async def test_bodies_that_are_too_large_or_no_json_are_refused_with_a_sentence(site: Site) -> None:
    wrong: list[tuple[bytes, int]] = [
        (b"{", 400),
        (b"[1]", 400),
        (b'"text"', 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b'{"tool": 3}', 400),
        (b'{"tool": ""}', 400),
        (json.dumps({"tool": "greet", "arguments": "x" * 1_000_000}).encode(), 413),
    ]
    async with site.owner() as client:
        for content, status in wrong:
            answer = await client.post("/api/call", content=content, headers={"content-type": "application/json"})
            assert answer.status_code == status, content[:30]
            assert answer.json()["error"].endswith((".", ")"))

        async def pieces() -> object:
            for _ in range(30):
                yield b" " * 50_000

        answer = await client.post("/api/call", content=pieces(), headers={"content-type": "application/json"})
        assert answer.status_code == 413
        answer = await client.post("/api/call", content=b"tool=greet", headers={"content-type": "text/plain"})
        assert answer.status_code == 415


async def test_unknown_paths_and_methods_are_told_in_json_under_api(site: Site) -> None:
    async with site.owner() as client:
        answer = await client.get("/api/nothing")
        assert (answer.status_code, answer.json()) == (404, {"error": "There is nothing at '/api/nothing'."})
        answer = await client.put("/api/chats", json={})
        assert (answer.status_code, answer.json()) == (405, {"error": "'/api/chats' cannot be used with PUT."})
        answer = await client.get("/nothing")
        assert answer.status_code == 404 and answer.headers["content-type"].startswith("text/html")
        for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/js/../../app.py"):
            assert (await client.get(path)).status_code == 404
