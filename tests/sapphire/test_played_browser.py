"""One plugin that has everything, played through by a person in real Chromium, from the switch to the last picture."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect
from tests.sapphire.homes import manifest, save, tool
from tests.web.chromium import chromium, picture
from tests.web.pages import answered, page_at, say
from tests.web.sites import Site, site_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
STUDIO = tool(
    "look",
    "album",
    "take",
    "recall",
    head="""
    import io
    import wave

    from core import attachments, images as ci
    from core.api_fastapi import get_system
    from core.chat.function_manager import scope_studio
    from core.paths import PLUGIN_STATE_DIR
    from core.plugin_loader import plugin_loader

    CALLS = 0


    def drawn(colour):
        from PIL import Image
        made = io.BytesIO()
        Image.new("RGB", (320, 240), colour).save(made, "PNG")
        return made.getvalue()
    """,
    body="""
    global CALLS
    CALLS += 1
    chat = get_system().llm_chat.get_active_chat()
    rows = plugin_loader.get_chat_state("studio")
    rows.append(chat, "journal", function_name)
    if function_name == "look":
        return ci.result(f"The room of {scope_studio.get()} in {plugin_settings['city']}.", [ci.for_chat(drawn("teal"))]), True
    if function_name == "album":
        entries = [{"raw": drawn(one), "title": one, "page": "https://example.org/"} for one in ("navy", "olive", "maroon")]
        images, tail = ci.gallery("Three walls", entries)
        return ci.result("Three walls.\\n" + tail, images), True
    if function_name == "take":
        PLUGIN_STATE_DIR.mkdir(parents=True, exist_ok=True)
        with wave.open(str(PLUGIN_STATE_DIR / "studio_take.wav"), "wb") as file:
            file.setnchannels(1); file.setsampwidth(2); file.setframerate(8000)
            file.writeframes(bytes(16000))
        take = {"url": "/api/plugin/studio/take/studio_take.wav", "name": "take.wav"}
        return "Recorded.\\n" + attachments.marker("Take 1", [take]), True
    return " ".join([*rows.read_all(chat, "journal"), str(CALLS)]), True
    """,
    signature="function_name, arguments, config, plugin_settings=None, credentials=None",
)
ROUTES = """
from core.paths import PLUGIN_STATE_DIR
from fastapi.responses import FileResponse


def take(name):
    return FileResponse(PLUGIN_STATE_DIR / name)


def rooms():
    return {"rooms": [{"id": "north", "name": "North"}, {"id": "south", "name": "South"}]}
"""
FILES = {
    "user/plugins/studio/plugin.json": manifest(
        "studio",
        "tools/studio.py",
        settings=[{"key": "city", "type": "string", "label": "City", "default": "Oslo"}],
        scopes=[
            {
                "key": "studio",
                "label": "Room",
                "endpoint": "/api/plugin/studio/rooms",
                "data_key": "rooms",
                "value_field": "id",
                "name_field": "name",
            }
        ],
        routes=[
            {"path": "take/{name}", "handler": "routes/studio.py:take"},
            {"path": "rooms", "handler": "routes/studio.py:rooms"},
        ],
    ),
    "user/plugins/studio/tools/studio.py": STUDIO,
    "user/plugins/studio/routes/studio.py": ROUTES,
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home: Path = tmp_path_factory.mktemp("etui")
    save(home / "sapphire", FILES, on=())
    async with site_at(home, tools="") as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


def call(name: str, **arguments: Any) -> str:
    return f"call {name} {json.dumps(arguments)}"


async def test_a_plugin_with_everything_is_played_through(site: Site, browser: Browser) -> None:
    theirs = ".message.theirs:not(.now)"
    async with page_at(site, browser, "plugins") as page:
        await page.get_by_role("switch", name="Everything of studio is off").click()
        await expect(page.locator(".plugin-row")).to_contain_text("look, album, take, recall")
        await page.goto(f"{site.base}/#/plugins/studio")
        await page.get_by_label("City").fill("Bergen")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.locator(".plugin-form .saved")).to_have_text("Saved.")

        await page.goto(f"{site.base}/#/chat")
        await say(page, call("recall"))
        await answered(page, "recall 1")
        await page.get_by_role("button", name="Tools of this chat").click()
        await page.get_by_label("Room").select_option("south")
        await page.get_by_role("button", name="Done").click()
        await say(page, call("look"))
        await expect(page.locator(theirs).last).to_contain_text("The room of south in Bergen.")
        await expect(page.locator(f"{theirs} > .pieces .picture img")).to_be_visible()
        await say(page, call("album"))
        await expect(page.locator(f"{theirs} .gallery img")).to_have_count(3)
        await say(page, call("take"))
        await expect(page.locator(f"{theirs} .files audio")).to_have_count(1)
        async with page.expect_download() as download:
            await page.locator(f"{theirs} .files a.paper", has_text="take.wav").click()
        assert Path(await (await download.value).path()).read_bytes()[:4] == b"RIFF"
        await say(page, call("recall", again=True))
        await answered(page, "recall look album take recall 5")
        await picture(page, "played", whole=True)

        await page.goto(f"{site.base}/#/chat/new")
        await say(page, call("recall"))
        await answered(page, "recall 6")
