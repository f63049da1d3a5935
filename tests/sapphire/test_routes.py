"""Plugins' routes over HTTP: which one is meant, who may ask and how often, files and ranges, and what a browser gets."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from tests.sapphire.homes import manifest, save, tool
from tests.web.sites import Site, site_at

from etui.front import routes as front
from etui.front.routes import _match

pytestmark = pytest.mark.asyncio(loop_scope="module")
BIG = 5_000_000
HANDLERS = """
import asyncio
import sys
import threading
import time
from dataclasses import dataclass

from core.paths import PLUGIN_STATE_DIR
from fastapi import HTTPException, Request
from fastapi.responses import FileResponse, JSONResponse
from starlette.background import BackgroundTask
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

SONG = PLUGIN_STATE_DIR / "p_song.bin"


@dataclass
class Song:
    id: str
    loud: bool = True


def song(id, body, settings):
    return {"id": id, "body": body, "settings": settings}


async def later(id, body, settings):
    await asyncio.sleep(0)
    return {"id": id, "body": body, "settings": settings, "async": True}


def handle(**given):
    return given


def of_its_own(loud):
    return Song(loud)


def asks(request: Request, query):
    return {"method": request.method, "path": request.url.path, "query": query, "headers": dict(request.headers)}


async def read(request: Request):
    return JSONResponse(await request.json(), status_code=201, headers={"X-Odd": "1", "Set-Cookie": "a=b", "ETag": '"e"'})


def file():
    return FileResponse(SONG)


def named():
    return FileResponse(SONG, filename="song.bin", media_type="audio/wav")


def passing():
    copy = SONG.with_name("p_copy.bin")
    copy.write_bytes(SONG.read_bytes())
    return FileResponse(copy, background=BackgroundTask(copy.unlink))


def gone():
    return FileResponse(PLUGIN_STATE_DIR / "p_no_such_file")


def stream():
    def pieces():
        for number in range(300):
            yield bytes([number % 256]) * 10_000
    return StreamingResponse(pieces(), media_type="audio/wav")


ended = threading.Event()


async def endless():
    async def pieces():
        try:
            while True:
                yield b"x" * 100_000
        finally:
            ended.set()
    return StreamingResponse(pieces())


def breaks():
    def pieces():
        yield b"x" * 3_000_000
        raise RuntimeError("no more")
    return StreamingResponse(pieces(), headers={"content-length": "4000000"})


async def what_ended():
    return {"endless": await asyncio.to_thread(ended.wait, 20)}


def page():
    return HTMLResponse("<script>parent.document.title = 'taken'</script>hello", headers={
        "Content-Security-Policy": "script-src *", "Access-Control-Allow-Origin": "*"})


def script():
    return Response("alert(1)", media_type="text/javascript")


def raw():
    return b"0123"


def nothing():
    return Response(status_code=204)


def here():
    return RedirectResponse("/api/plugin/p/raw")


def away():
    return RedirectResponse("https://example.invalid/x")


def up(query):
    return Response(status_code=307, headers={"location": query["to"]})


def no(settings):
    raise HTTPException(418, "I am a teapot")


def wrong():
    raise KeyError("x")


def other(body):
    return FileResponse(body["path"])


def shared():
    return sys.modules["_p_shared"].data
"""
ROUTES = [
    ("GET", "song/{id}", "song"),
    ("POST", "song/{id}", "song"),
    ("put", "/later/{id}", "later"),
    ("DELETE", "later/{id}", "later"),
    ("GET", "all/{a}/{b}", ""),
    ("GET", "loud-{loud}.json", "of_its_own"),
    ("GET", "asks", "asks"),
    ("POST", "read", "read"),
    *[
        ("GET", name, name)
        for name in (
            *("file", "named", "passing", "gone", "stream", "endless", "breaks", "page", "script", "raw", "nothing", "here"),
            *("away", "up", "no", "wrong", "other", "shared", "what_ended"),
        )
    ],
]
LISTED = [
    {
        "path": path,
        "handler": f"routes/r.py:{name}" if name else "routes/r.py",
        **({} if method == "GET" else {"method": method}),
    }
    for method, path, name in ROUTES
]
SHARED = """
import sys
import types

state = types.ModuleType("_p_shared")
state.data = bytes(range(256))
sys.modules["_p_shared"] = state
"""
STATIC = "def handle(**given):\n    return {'by': 'q'}\n"
FILES: dict[str, str | bytes] = {
    "plugins/p-folder/plugin.json": manifest(
        "p", "tools/t.py", routes=LISTED, settings=[{"key": "city", "type": "string", "default": "Oslo"}]
    ),
    "plugins/p-folder/tools/t.py": tool("keeps", head=SHARED, writes=False),
    "plugins/p-folder/routes/r.py": HANDLERS,
    "plugins/q/plugin.json": manifest("q", "tools/t.py", routes=[{"path": "one", "handler": "routes/r.py"}]),
    "plugins/q/tools/t.py": tool("others", writes=False),
    "plugins/q/routes/r.py": STATIC,
    "plugins/off/plugin.json": manifest("off", routes=[{"path": "one", "handler": "routes/r.py"}]),
    "plugins/off/routes/r.py": STATIC,
    "user/plugin_state/p_song.bin": bytes(number % 251 for number in range(BIG)),
}
SONG: Any = FILES["user/plugin_state/p_song.bin"]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home: Path = tmp_path_factory.mktemp("routes")
    save(home / "sapphire", FILES, ("p", "q"))
    async with site_at(home, tools="") as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def web(site: Site) -> AsyncIterator[httpx2.AsyncClient]:
    """A signed-in browser whose requests are the first ones for a while."""
    site.host.routes._asked.clear()
    async with site.browser() as client:
        yield client


@pytest.mark.promise("S407")
async def test_a_route_is_meant_by_its_method_and_its_path_of_segments(site: Site, web: httpx2.AsyncClient) -> None:
    found = (await web.get("/api/plugin/p/song/ab12")).json()
    assert found["id"] == "ab12"
    assert (await web.get("/api/plugin/p/all/x%20y/Ä")).json() == {
        "a": "x y",
        "b": "Ä",
        "body": {},
        "settings": {"city": "Oslo"},
    }
    assert (await web.get("/api/plugin/p/loud-very.json")).json() == {"id": "very", "loud": True}
    for path in ("song/a/b", "song/", "song", "all/a", "song/%2E%2E", "song/a%2Fb", "nowhere", "", "loud-.json", "song/a%00"):
        assert (await web.get(f"/api/plugin/p/{path}")).status_code == 404, path
    wrong = await web.delete("/api/plugin/p/song/a")
    assert (wrong.status_code, "DELETE" in wrong.json()["error"]) == (405, True)
    assert (await web.patch("/api/plugin/p/song/a")).status_code == 405
    # The folder's name is not the plugin's, and what is off has no routes.
    assert (await web.get("/api/plugin/p-folder/song/a")).status_code == 404
    off = await web.get("/api/plugin/off/one")
    assert (off.status_code, off.json()["error"]) == (404, "The plugin 'off' is switched off.")


@pytest.mark.promise("S408")
async def test_a_handler_gets_path_body_and_settings_by_name_and_may_be_a_coroutine(web: httpx2.AsyncClient) -> None:
    expected = {"id": "7", "body": {"title": "Copper", "n": [1]}, "settings": {"city": "Oslo"}}
    sent = {"title": "Copper", "n": [1]}
    assert (await web.post("/api/plugin/p/song/7", json=sent)).json() == expected
    assert (await web.put("/api/plugin/p/later/7", json=sent)).json() == {**expected, "async": True}
    assert (await web.delete("/api/plugin/p/later/7")).json() == {**expected, "body": {}, "async": True}
    assert (await web.get("/api/plugin/p/song/7?q=x")).json()["body"] == {"q": "x"}
    assert (await web.post("/api/plugin/p/song/7", json=[1])).status_code == 400
    assert (await web.post("/api/plugin/p/song/7", content="{}", headers={"content-type": "text/plain"})).status_code == 415


async def test_a_handler_may_ask_for_the_request_itself_which_holds_no_secret(web: httpx2.AsyncClient) -> None:
    told = (await web.get("/api/plugin/p/asks?a=b", headers={"Range": "bytes=0-1", "X-Secret": "s"})).json()
    assert (told["method"], told["path"], told["query"]) == ("GET", "/api/plugin/p/asks", {"a": "b"})
    assert told["headers"]["range"] == "bytes=0-1"
    assert not {"cookie", "authorization", "x-etui", "x-secret", "host"} & set(told["headers"])
    answer = await web.post("/api/plugin/p/read", json={"a": 1})
    assert (answer.status_code, answer.json(), answer.headers["etag"]) == (201, {"a": 1}, '"e"')
    assert "set-cookie" not in answer.headers and "x-odd" not in answer.headers


@pytest.mark.promise("S409")
async def test_routes_are_for_those_who_are_signed_in_and_for_no_other_sites_page(site: Site, web: httpx2.AsyncClient) -> None:
    async with site.client() as nobody:
        assert (await nobody.get("/api/plugin/p/song/a")).status_code == 401
        assert (await nobody.post("/api/plugin/p/song/a", json={}, headers={"x-etui": "1"})).status_code == 401
    [(name, value)] = web.cookies.items()
    async with site.client(cookie=f"{name}={value}") as bare:
        assert (await bare.get("/api/plugin/p/song/a")).status_code == 200
        forged = await bare.post("/api/plugin/p/song/a", json={})
        assert (forged.status_code, "X-Etui" in forged.json()["error"]) == (403, True)
        for headers in (
            {"origin": "https://example.invalid"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        ):
            assert (await bare.get("/api/plugin/p/song/a", headers=headers)).status_code == 403
        assert (await bare.get("/api/plugin/p/song/a", headers={"host": "example.invalid"})).status_code == 421


@pytest.mark.promise("S409")
async def test_thirty_requests_a_minute_are_answered_for_each_plugin(site: Site, web: httpx2.AsyncClient) -> None:
    now = [1000.0]
    routes = site.host.routes
    routes._clock, real = lambda: now[0], routes._clock
    try:
        answers = [(await web.get("/api/plugin/p/raw")).status_code for _ in range(front.REQUESTS)]
        assert answers == [200] * 30
        last = await web.get("/api/plugin/p/raw")
        assert (last.status_code, int(last.headers["retry-after"])) == (429, 60)
        assert (await web.get("/api/plugin/q/one")).json() == {"by": "q"}
        # Moving about in a file that plays is no new request.
        assert (await web.get("/api/plugin/p/file", headers={"range": "bytes=5-8"})).status_code == 206
        now[0] += 60.1
        assert (await web.get("/api/plugin/p/raw")).status_code == 200
    finally:
        routes._clock = real


@pytest.mark.promise("S108", "S109")
async def test_a_file_is_given_whole_or_by_the_bytes_that_are_asked_for(web: httpx2.AsyncClient) -> None:
    whole = await web.get("/api/plugin/p/file")
    assert (whole.status_code, whole.content == SONG, whole.headers["content-length"]) == (200, True, str(BIG))
    for asked, first, last in (("100-199", 100, 199), ("-100", BIG - 100, BIG - 1), (f"{BIG - 5}-", BIG - 5, BIG - 1)):
        part = await web.get("/api/plugin/p/file", headers={"range": f"bytes={asked}"})
        assert (part.status_code, part.headers["content-range"]) == (206, f"bytes {first}-{last}/{BIG}")
        assert part.content == SONG[first : last + 1]
    long = await web.get("/api/plugin/p/named", headers={"range": "bytes=7-"})
    assert (long.status_code, long.content == SONG[7:]) == (206, True)
    assert (long.headers["content-type"], long.headers["content-disposition"]) == (
        "audio/wav",
        'attachment; filename="song.bin"',
    )
    beyond = await web.get("/api/plugin/p/file", headers={"range": f"bytes={BIG}-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{BIG}")
    head = await web.head("/api/plugin/p/file")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(BIG))
    stale = await web.get("/api/plugin/p/file", headers={"range": "bytes=0-9", "if-range": '"another"'})
    assert stale.status_code == 200


async def test_long_answers_are_fetched_in_pieces_whatever_makes_them(web: httpx2.AsyncClient) -> None:
    streamed = await web.get("/api/plugin/p/stream")
    assert streamed.content == b"".join(bytes([number % 256]) * 10_000 for number in range(300))
    passing = await web.get("/api/plugin/p/passing")
    assert passing.content == SONG
    with pytest.raises(httpx2.RemoteProtocolError):
        await web.get("/api/plugin/p/breaks")
    assert (await web.get("/api/plugin/p/gone")).status_code == 500


async def test_an_answer_that_nobody_wants_any_more_ends_in_the_worker(web: httpx2.AsyncClient) -> None:
    async with web.stream("GET", "/api/plugin/p/endless") as answer:
        async for piece in answer.aiter_bytes():
            assert piece
            break
    assert (await web.get("/api/plugin/p/what_ended", timeout=30)).json() == {"endless": True}


async def test_what_a_plugin_sends_runs_nowhere_and_leads_nowhere(web: httpx2.AsyncClient) -> None:
    page = await web.get("/api/plugin/p/page", headers={"sec-fetch-dest": "document", "sec-fetch-site": "none"})
    assert page.text.endswith("hello")
    assert page.headers["content-security-policy"].endswith("; sandbox")
    assert "script-src" not in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in page.headers
    script = await web.get("/api/plugin/p/script")
    assert script.headers["content-disposition"] == "attachment"
    for wanted in ("script", "style", "iframe", "embed", "worker", "serviceworker", "object", "manifest"):
        assert (await web.get("/api/plugin/p/script", headers={"sec-fetch-dest": wanted})).status_code == 403
    here = await web.get("/api/plugin/p/here")
    assert (here.status_code, here.headers["location"]) == (307, "/api/plugin/p/raw")
    assert (await web.get("/api/plugin/p/away", headers={"sec-fetch-dest": "audio"})).status_code == 502
    opened = await web.get("/api/plugin/p/away", headers={"sec-fetch-dest": "document"})
    assert (opened.status_code, opened.headers["location"]) == (307, "https://example.invalid/x")
    # A browser takes each of these for another address than the plugin's.
    for up in ("%2e%2E/q/one", ".%2e/q/one", ".\t./q/one", "\\..\\q", "../q/one"):
        assert (await web.get("/api/plugin/p/up", params={"to": f"/api/plugin/p/{up}"})).status_code == 502, up
    within = "/api/plugin/p/song/a%20b?x=%2F#y"
    assert (await web.get("/api/plugin/p/up", params={"to": within})).headers["location"] == within


async def test_a_route_gives_no_file_that_its_plugin_may_not_read(site: Site, web: httpx2.AsyncClient) -> None:
    if site.host.report.enforced().get("reads", "none") == "none":
        pytest.skip("this machine cannot keep a worker from reading")
    secret = site.host.home / "secret.txt"
    secret.write_text("nothing for plugins")
    answer = await web.get("/api/plugin/p/other", params={"path": str(secret)})
    assert (answer.status_code, "PermissionError" in answer.json()["error"]) == (500, True)
    assert "nothing for plugins" not in answer.text


async def test_every_kind_of_answer_and_every_failure_has_its_form(web: httpx2.AsyncClient) -> None:
    raw = await web.get("/api/plugin/p/raw")
    assert (raw.content, raw.headers["content-type"]) == (b"0123", "application/octet-stream")
    assert (await web.get("/api/plugin/p/nothing")).status_code == 204
    no = await web.get("/api/plugin/p/no")
    assert (no.status_code, no.json()["detail"], no.json()["error"]) == (418, "I am a teapot", "I am a teapot")
    wrong = await web.get("/api/plugin/p/wrong")
    assert wrong.status_code == 500
    assert re.search(r"'wrong' of 'p' failed: .*KeyError", wrong.json()["error"])


@pytest.mark.promise("S490")
async def test_a_made_up_module_is_shared_by_tool_and_route_files(web: httpx2.AsyncClient) -> None:
    shared = await web.get("/api/plugin/p/shared")
    assert shared.content == bytes(range(256))


@given(st.text(alphabet="ab/{}.-\\\0", max_size=12), st.text(alphabet="ab/{}.-\\\0", max_size=12))
async def test_no_path_means_a_route_with_another_number_of_segments(route: str, path: str) -> None:
    found = _match(route, path)
    if found is not None:
        assert len(route.strip("/").split("/")) == len(path.split("/"))
        assert all(value and "/" not in value and value not in (".", "..") for value in found.values())
