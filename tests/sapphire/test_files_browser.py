"""Files and questions of a result in the console, in real Chromium: heard, sought in, saved, answered; and nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Request, expect
from tests.sapphire.homes import manifest, save, tool
from tests.web.chromium import chromium, picture
from tests.web.pages import answered, page_at, say
from tests.web.sites import Site, site_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
HEARD = ("mp3", "wav", "ogg", "oga", "m4a", "flac")
SONG = tool(
    "save_song",
    "many",
    "ask",
    "raw",
    "page",
    "count",
    head="""
    import math
    import struct
    import urllib.request
    import wave

    from core import ask_card, attachments
    from core.paths import PLUGIN_STATE_DIR
    from plugins.music.routes import songs

    HEARD = ("wav", "mp3", "ogg", "oga", "m4a", "flac")


    def sung(path, seconds=90, rate=44100):
        second = b"".join(struct.pack("<h", round(9000 * math.sin(index / 16))) for index in range(rate))
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(second * seconds)
    """,
    body="""
    if function_name == "save_song":
        sung(PLUGIN_STATE_DIR / "my-plugin_ab12.wav")
        (PLUGIN_STATE_DIR / "my-plugin_ab12.mid").write_bytes(b"MThd-notes")
        items = [{"url": f"/api/plugin/my-plugin/song/ab12.{one}", "name": f"copper-light.{one}"} for one in (*HEARD, "mid")]
        return "Saved Copper Light.\\n" + attachments.marker("Copper Light", items), True
    if function_name == "many":
        items = [{"url": f"/api/plugin/my-plugin/song/{n}", "name": f"take {n}"} for n in range(13)]
        return "Thirteen.\\n" + attachments.marker("Takes", items), True
    if function_name == "ask":
        return "I have asked.\\n" + ask_card.marker(arguments["questions"]), True
    if function_name == "raw":
        return arguments["text"], True
    if function_name == "page":
        with urllib.request.urlopen(arguments["url"]) as page:
            return page.read().decode(), True
    return str(len(songs.ASKED)), True
    """,
    properties={"questions": {"type": "array"}},
)
ROUTES = """
from core.paths import PLUGIN_STATE_DIR
from fastapi.responses import FileResponse

ASKED = []


def song(name):
    ASKED.append(name)
    return FileResponse(PLUGIN_STATE_DIR / f"my-plugin_{name}")


def page():
    from starlette.responses import HTMLResponse
    return HTMLResponse("<h1>Hello</h1><script>document.querySelector('h1').textContent = 'taken'</script>")
"""
FILES: dict[str, str | bytes] = {
    "plugins/music/plugin.json": manifest(
        "my-plugin",
        "tools/song.py",
        routes=[
            {"path": "song/{name}", "handler": "routes/songs.py:song"},
            {"path": "page", "handler": "routes/songs.py:page"},
        ],
    ),
    "plugins/music/tools/song.py": SONG,
    "plugins/music/routes/songs.py": ROUTES,
}
THEIRS = ".message.theirs:not(.now)"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home: Path = tmp_path_factory.mktemp("etui")
    save(home / "sapphire", FILES)
    async with site_at(home, tools="") as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


def call(name: str, **arguments: Any) -> str:
    return f"call {name} {json.dumps(arguments)}"


async def told(page: Page, text: str) -> None:
    """Say it, and the answer stands there."""
    there = await page.locator(THEIRS).count()
    await say(page, text)
    await expect(page.locator(THEIRS)).to_have_count(there + 1)


def following(page: Page) -> list[Request]:
    """Every request that the page makes from now on."""
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    return asked


@pytest.mark.promise("S093", "S096", "S097", "S098", "S099", "S104", "S108", "S109", "S263")
async def test_a_song_is_heard_sought_in_and_saved_and_is_there_after_a_restart(browser: Browser, tmp_path: Path) -> None:
    save(tmp_path / "sapphire", FILES)
    async with site_at(tmp_path, tools="") as site, page_at(site, browser) as page:
        asked = following(page)
        await told(page, call("save_song"))
        await answered(page, "Saved Copper Light.")
        row = page.locator(f"{THEIRS} .files")
        await expect(row.locator("figcaption")).to_have_text("Copper Light")
        await expect(row.locator("audio")).to_have_count(len(HEARD))
        await expect(row.locator("a.paper")).to_have_count(len(HEARD) + 1)
        assert await row.locator("li", has_text="copper-light.mid").locator("audio").count() == 0
        assert await row.locator("audio").first.get_attribute("preload") == "none"
        await page.wait_for_load_state("networkidle")
        assert not [one for one in asked if "/song/" in one.url], "nothing is fetched before play is pressed"
        assert "FILES:" not in await page.locator("main").inner_text()
        await picture(page, "files-row", whole=True)

        player = row.locator("audio").first
        await player.click(position={"x": 24, "y": 20})
        await page.wait_for_function("() => document.querySelector('.files audio').currentTime > 0.2")
        await player.evaluate("audio => { audio.currentTime = audio.duration / 2; }")
        await page.wait_for_function(
            "() => { const a = document.querySelector('.files audio'); return !a.paused && a.currentTime > 45.2; }"
        )
        assert await player.evaluate("audio => audio.seekable.end(0)") == 90
        [heard, *_] = [one for one in asked if one.url.endswith("ab12.wav")]
        got = await heard.response()
        assert got is not None
        assert (got.status, (await got.all_headers())["content-range"].split("/")[0]) == (206, "bytes 0-7938043")
        await player.evaluate("audio => audio.pause()")

        async with page.expect_download() as download:
            await row.locator("a.paper", has_text="copper-light.mid").click()
        saved = await download.value
        assert (saved.suggested_filename, Path(await saved.path()).read_bytes()) == ("copper-light.mid", b"MThd-notes")
        assert all(one.url.startswith((site.base, "blob:", "data:")) for one in asked)
        await page.reload()
        await expect(row.locator("audio")).to_have_count(len(HEARD))
        chat = page.url.rpartition("/")[2]
    async with site_at(tmp_path, tools="", again=site.port) as site, page_at(site, browser, f"chat/{chat}") as page:
        await expect(page.locator(f"{THEIRS} .files figcaption")).to_have_text("Copper Light")
        async with site.owner() as owner:
            song = await owner.get("/api/plugin/my-plugin/song/ab12.wav")
        assert song.content == (tmp_path / "sapphire/user/plugin_state/my-plugin_ab12.wav").read_bytes()


@pytest.mark.promise("S106")
async def test_twelve_rows_of_thirteen_are_drawn(site: Site, browser: Browser) -> None:
    async with page_at(site, browser) as page:
        await told(page, call("many"))
        await answered(page, "Thirteen.")
        await expect(page.locator(f"{THEIRS} .files li")).to_have_count(12)


@pytest.mark.promise("S100", "S102", "S103")
async def test_a_marker_that_names_anything_else_draws_nothing_and_asks_nobody(site: Site, browser: Browser) -> None:
    outside = [
        "https://x.example/a.mp3",
        "//x.example/a.mp3",
        "/api/chats",
        "/api/plugin/other/x.mp3",
        "/api/plugin/my-plugin/../../blobs/x.mp3",
        "javascript:alert(1)",
        "data:audio/wav;base64,AA",
    ]
    row = json.dumps({"title": "Free music", "items": [{"url": url, "name": "a.mp3"} for url in outside]})
    odd = ["[]", "{", '{"items":"x"}', '{"items":[null,1,{"url":["/api/plugin/my-plugin/x"]}]}', '{"items":{"length":3}}']
    web = f"<html>Songs.\n<!--FILES:{row}-->\nThe end.</html>"

    async def give(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.0 200 OK\r\nContent-Length: {len(web)}\r\n\r\n{web}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(give, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server, page_at(site, browser) as page:
        asked = following(page)
        await told(page, call("page", url=url))
        await answered(page, "<html>Songs.\nThe end.</html>")
        for mark in odd:
            await told(page, call("raw", text=f"Odd.\n<!--FILES:{mark}-->"))
        await expect(page.locator(THEIRS)).to_have_count(1 + len(odd))
        await page.locator(f"{THEIRS} .step summary").first.click()
        await expect(page.locator(".step-more .result").first).to_have_text("<html>Songs.\nThe end.</html>")
        await page.wait_for_load_state("networkidle")
        assert await page.locator(".files li").count() == 0
        assert all(one.url.startswith(site.base) for one in asked), [one.url for one in asked]
        assert not [one for one in asked if "/api/plugin/" in one.url]


async def test_a_page_of_a_plugins_is_shown_and_runs_nothing(site: Site, browser: Browser) -> None:
    async with page_at(site, browser) as page:
        other = await page.context.new_page()
        await other.goto(f"{site.base}/api/plugin/my-plugin/page")
        await expect(other.locator("h1")).to_have_text("Hello")
        assert (
            await page.evaluate(
                "() => new Promise(done => { const s = document.createElement('script'); s.src = '/api/plugin/my-plugin/page';"
                " s.onload = () => done('ran'); s.onerror = () => done('refused'); document.head.append(s); })"
            )
            == "refused"
        )


@pytest.mark.promise("S383", "S384", "S385")
async def test_questions_are_answered_by_buttons_and_the_answers_are_the_next_message(site: Site, browser: Browser) -> None:
    questions = [
        {
            "question": "Which colour shall the case have?",
            "header": "Colour",
            "options": [{"label": "Copper", "description": "warm, and it ages"}, "Steel", "Walnut"],
        },
        {"question": "What goes in?", "multi_select": True, "options": ["Scissors", "Thimble", "Needle"]},
    ]
    model: Any = site.host._chosen.model
    async with page_at(site, browser) as page:
        await told(page, call("ask", questions=questions))
        await answered(page, "I have asked.")
        card = page.locator(f"{THEIRS} .ask")
        await expect(card.locator("legend")).to_have_text(["ColourWhich colour shall the case have?", "What goes in?"])
        await expect(card.locator(".option")).to_have_count(6)
        send = card.get_by_role("button", name="Send these answers")
        await expect(send).to_be_disabled()
        await card.get_by_role("button", name="Steel").click()
        await card.get_by_role("button", name="Copper").click()
        for one in ("Needle", "Thimble", "Scissors", "Thimble"):
            await card.get_by_role("button", name=one).click()
        await expect(card.get_by_role("button", name="Steel")).to_have_attribute("aria-pressed", "false")
        await picture(page, "questions", whole=True)
        await send.click()
        said = "Which colour shall the case have? → Copper\nWhat goes in? → Scissors, Needle"
        await answered(page, f"You said: {said}")
        await expect(page.locator(".message.mine .bubble").last).to_have_text(said)
        await expect(card.locator("fieldset[disabled]")).to_have_count(2)
        await expect(send).to_have_count(0)
        assert model.asked[-1].messages[-1].text == said
        assert not any("ASK:" in message.text for one in model.asked for message in one.messages if message.role == "tool")

        await told(page, call("ask", questions=[{"question": "Sure?", "options": ["Yes", "No"]}]))
        await answered(page, "I have asked.")
        await page.locator(f"{THEIRS} .ask").last.get_by_role("button", name="Yes").click()
        await answered(page, "You said: Sure? → Yes")

        option = [{"label": "A"}, {"label": "B"}]
        wrong = [
            {"questions": [{"question": "Five?", "options": option}] * 5},
            {"questions": [{"question": "One?", "options": option[:1]}]},
            {"questions": [{"question": "Seven?", "options": option * 4}]},
            {"questions": [{"question": ["x"], "options": option}]},
            {"questions": "x"},
            [],
        ]
        cards = await page.locator(".ask").count()
        for mark in wrong:
            await told(page, call("raw", text=f"Wrong.\n<!--ASK:{json.dumps(mark)}-->"))
        long = {
            "questions": [
                {
                    "question": "q" * 400,
                    "header": "h" * 20,
                    "options": [{"label": "l" * 100, "description": "d" * 300}, *option],
                }
            ]
        }
        await told(page, call("raw", text=f"Long.\n<!--ASK:{json.dumps(long)}-->"))
        await answered(page, "Long.")
        last = page.locator(f"{THEIRS} .ask").last
        texts = [await last.locator(one).first.inner_text() for one in (".badge", ".option-label", ".option .quiet")]
        assert [len(one) for one in texts] == [16, 80, 200]
        assert len(await last.locator("legend").inner_text()) == 300 + 16
        assert await page.locator(".ask").count() == cards + 1
        await picture(page, "questions-long")


async def test_questions_and_files_fit_a_small_dark_screen(site: Site, browser: Browser) -> None:
    async with page_at(site, browser, viewport={"width": 390, "height": 780}, color_scheme="dark") as page:
        await told(page, call("save_song"))
        await answered(page, "Saved Copper Light.")
        await expect(page.locator(f"{THEIRS} .files audio")).to_have_count(len(HEARD))
        await say(
            page,
            call("ask", questions=[{"question": "Which?", "options": ["Short", {"label": "Long", "description": "d " * 90}]}]),
        )
        await answered(page, "I have asked.")
        await picture(page, "files-small", whole=True)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
