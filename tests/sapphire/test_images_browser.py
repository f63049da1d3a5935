"""Pictures in the console, in real Chromium: under the call, as a numbered row, and large in front of everything."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect
from tests.sapphire.homes import save, tool
from tests.sapphire.pictures import LAB, png
from tests.web.chromium import chromium, picture
from tests.web.pages import page_at, say
from tests.web.sites import Site, site_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
ROWS = tool(
    "camera",
    "private",
    "sheet",
    "marker",
    head="""
    import io, json, urllib.request
    from core import images as ci

    COLOURS = [(176, 58, 46), (40, 116, 166), (30, 132, 73), (183, 149, 11), (108, 52, 131)]


    def drawn(colour, size=(640, 480)):
        from PIL import Image
        made = io.BytesIO()
        Image.new("RGB", size, colour).save(made, "PNG")
        return made.getvalue()
    """,
    body="""
    if function_name == "camera":
        return ci.result("Here's the camera.", [ci.for_chat(drawn(COLOURS[0]))]), True
    if function_name == "private":
        return ci.result("For your eyes.", [drawn(COLOURS[1])], display_only=True), True
    if function_name == "marker":
        return "As you wished.\\n<!--GALLERY:" + json.dumps(arguments["mark"]) + "-->", True
    names = ["A brick wall", "The sea at noon", "Moss", "Brass, polished", "Plums"]
    entries = [
        {"raw": drawn(colour), "title": name, "page": f"https://example.org/{name[:3]}"} for colour, name in zip(COLOURS, names)
    ]
    images, tail = ci.gallery("Five colours", entries)
    lines = [f"{number}. {entry['title']} — {entry['handle']}" for number, entry in enumerate(entries, 1)]
    return ci.result("\\n".join(lines) + "\\n" + tail, images), True
    """,
    properties={"mark": {}},
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home: Path = tmp_path_factory.mktemp("etui")
    save(home / "sapphire", {"plugins/pics/tools/rows.py": ROWS, "plugins/lab/tools/lab.py": LAB})
    async with site_at(home, tools="") as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


async def loaded(page: Page, selector: str) -> list[int]:
    """The widths of pictures once all of them have come."""
    await expect(page.locator(selector).first).to_be_visible()
    script = "all => Promise.all(all.map(one => one.decode().then(() => one.naturalWidth, () => 0)))"
    found: list[int] = await page.locator(selector).evaluate_all(script)
    return found


def call(name: str, **arguments: Any) -> str:
    return f"call {name} {json.dumps(arguments)}"


@pytest.mark.promise("S041")
@pytest.mark.promise("S046")
@pytest.mark.promise("S370")
async def test_the_person_sees_a_picture_under_its_call_and_opens_it_large(site: Site, browser: Browser):
    async with page_at(site, browser) as page:
        await say(page, call("camera"))
        assert await loaded(page, ".message.theirs:not(.now) > .pieces .picture img") == [640]
        assert "IMG::" not in await page.locator("main").inner_text()
        await page.locator(".message.theirs > .pieces .picture").first.click()
        await expect(page.locator("dialog.lightbox img")).to_be_visible()
        await picture(page, "images-large")
        await page.keyboard.press("Escape")
        await expect(page.locator("dialog.lightbox")).to_have_count(0)
        await expect(page.locator(".message.theirs > .pieces .picture").first).to_be_focused()
        await expect(page.locator("#say")).to_have_value("")
        await say(page, call("private"))
        await expect(page.get_by_text("Only you see this picture; the model does not.").first).to_be_visible()
        await picture(page, "images-under-a-call")


@pytest.mark.promise("S074")
@pytest.mark.promise("S076")
@pytest.mark.promise("S079")
@pytest.mark.promise("S080")
async def test_a_gallery_is_a_numbered_row_that_is_moved_through_by_keys(site: Site, browser: Browser):
    async with page_at(site, browser) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await say(page, call("sheet"))
        tiles = page.locator(".message.theirs:not(.now) .gallery .tile")
        await expect(page.locator(".message.theirs:not(.now) .step").last).not_to_contain_text("The user sees")
        await expect(tiles).to_have_count(5)
        await expect(page.locator(".message.theirs:not(.now) .gallery > figcaption").first).to_have_text("Five colours")
        assert await loaded(page, ".message.theirs:not(.now) .tile img") == [640] * 5
        assert [await tiles.nth(one).locator(".tile-number").inner_text() for one in range(5)] == ["1", "2", "3", "4", "5"]
        shown = [url for url in asked if "/images/" in url]
        assert shown and all(url.startswith(f"{site.base}/api/chats/") for url in shown)
        assert all(url.startswith(site.base) for url in asked)
        colour = "image => { const c = document.createElement('canvas'); c.width = c.height = 1; const x = c.getContext('2d');"
        colour += " x.drawImage(image, 0, 0, 1, 1); return [...x.getImageData(0, 0, 1, 1).data].slice(0, 3); }"
        assert await tiles.nth(3).locator("img").evaluate(colour) == [183, 149, 11], "the fourth of the sheet and of the text"
        await picture(page, "images-gallery", whole=True)

        await tiles.nth(1).focus()
        await page.keyboard.press("Enter")
        box = page.locator("dialog.lightbox")
        await expect(box.locator("figcaption")).to_contain_text("2 of 5")
        await expect(box.locator("figcaption")).to_contain_text("The sea at noon")
        source = box.get_by_role("link", name="Source: example.org")
        await expect(source).to_have_attribute("href", "https://example.org/The")
        await expect(source).to_have_attribute("rel", "noopener noreferrer nofollow")
        await picture(page, "images-lightbox")
        for key, title in (
            ("ArrowRight", "Moss"),
            ("ArrowLeft", "The sea"),
            ("End", "Plums"),
            ("ArrowRight", "A brick"),
            ("Home", "A brick"),
        ):
            await page.keyboard.press(key)
            await expect(box.locator("figcaption")).to_contain_text(title)
        await page.keyboard.press("Escape")
        await expect(box).to_have_count(0)
        await expect(tiles.nth(1)).to_be_focused()


@pytest.mark.promise("S078")
@pytest.mark.promise("S080")
@pytest.mark.promise("S081")
async def test_tiles_of_routes_and_the_older_forms_draw_in_their_order(site: Site, browser: Browser):
    async with page_at(site, browser) as page:
        asked: list[str] = []

        async def served(route: Route) -> None:
            asked.append(route.request.url.removeprefix(site.base))
            await route.fulfill(body=png(20 + len(asked), 20), content_type="image/png")

        await page.route("**/api/plugin/**", served)
        newer = {
            "title": "Served",
            "items": [{"thumb": "/api/plugin/pics/t.jpg", "full": "/api/plugin/pics/f.jpg", "title": "one"}, {}],
        }
        older = [{"thumb": "/api/plugin/pics/a.jpg", "full": "", "title": "a", "page": "javascript:alert(1)"}]
        # What the browser would take for another plugin's address is a tile without a picture.
        elsewhere = [f"/api/plugin/pics/{up}/other/x.jpg" for up in ("%2e%2e", ".%2E", "a/%2e%2e/%2E.", "%2e")]
        plain = ["/api/plugin/pics/b.jpg", "/api/plugin/pics/c.jpg?w=2", *elsewhere]
        for number, mark in enumerate((newer, older, plain), 1):
            await say(page, call("marker", mark=mark))
            await expect(page.locator(".message.theirs:not(.now) .gallery")).to_have_count(number)
            await expect(page.locator("#say")).to_have_value("")  # the box is ready for more
        assert 0 not in await loaded(page, ".message.theirs:not(.now) .tile img")
        assert list(dict.fromkeys(asked)) == [f"/api/plugin/pics/{name}" for name in ("t.jpg", "a.jpg", "b.jpg", "c.jpg?w=2")]
        tiles = page.locator(".message.theirs:not(.now) .tile")
        await expect(tiles.nth(1)).to_be_disabled()
        await tiles.nth(0).click()
        await expect(page.locator("dialog.lightbox img")).to_have_attribute("src", "/api/plugin/pics/f.jpg")
        await page.keyboard.press("Escape")
        await tiles.nth(2).click()
        await expect(page.locator("dialog.lightbox img")).to_have_attribute("src", "/api/plugin/pics/a.jpg")
        await expect(page.locator("dialog.lightbox a")).to_have_count(0)
        assert "GALLERY" not in await page.locator("main").inner_text()


@pytest.mark.promise("S082")
async def test_the_browser_asks_nobody_but_the_host_for_pictures_of_the_web(site: Site, browser: Browser):
    async with page_at(site, browser) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        fetched: list[str] = []

        async def outside(route: Route) -> None:
            fetched.append(route.request.url)
            await route.fulfill(body=png(), content_type="image/png")

        await page.route("**/api/outside?*", outside)
        proxied = "/api/outside?u=https%3A%2F%2Fexample.org%2Fp.jpg"
        mark = [
            {"thumb": "https://example.org/bare.jpg", "title": "Bare", "page": "https://example.org/bare"},
            {"thumb": proxied, "title": "Proxied"},
            {"thumb": "//example.org/x.jpg"},
            {"thumb": "/api/plugin/pics/../../evil"},
            {"thumb": "/api/plugin/lab/theirs.jpg"},
            {"thumb": "/api/outside?u=x&call=other"},
            {"handle": "img:../../x"},
        ]
        await say(page, call("marker", mark=mark))
        tiles = page.locator(".message.theirs:not(.now) .tile")
        await expect(tiles).to_have_count(7)
        assert await loaded(page, ".message.theirs:not(.now) .tile img") == [8]
        assert len(fetched) >= 1 and all(url.startswith(f"{site.base}{proxied}&call=") for url in fetched)
        assert all(url.startswith(site.base) for url in asked)
        await expect(page.get_by_role("link", name="Bare", exact=True)).to_have_attribute("href", "https://example.org/bare")
        await expect(tiles.first).to_have_text("not shown1")


@pytest.mark.promise("S069")
@pytest.mark.promise("S054")
async def test_the_image_route_gives_what_is_in_the_chat_and_nothing_afterwards(site: Site):
    chat = site.host.store.chats.create("", "console").id
    session = site.host.session("console", chat=chat)
    wish = session.new_call("lab", {"code": "out = [ci.stash(drawn((31, 7)))]"}, turn="t")
    handle = json.loads((await session.call(wish)).text)[0]
    path = f"/api/chats/{chat}/images/{handle.removeprefix('img:')}"
    async with site.browser() as client:
        found = await client.get(path)
        assert found.status_code == 200 and found.headers["content-type"] == "image/png"
        assert found.headers["cache-control"] == "private, no-cache" and "sandbox" in found.headers["content-security-policy"]
        part = await client.get(path, headers={"range": "bytes=0-7"})
        assert part.status_code == 206 and part.content == b"\x89PNG\r\n\x1a\n"
        other = site.host.store.chats.create("", "console").id
        assert (await client.get(path.replace(chat, other))).status_code == 404
        assert (await client.delete(f"/api/chats/{chat}")).status_code == 200
        assert (await client.get(path)).status_code == 404
        assert (await client.get("/api/images/0123456789ab.png")).status_code == 404
        gone = await client.get("/api/outside?u=https%3A%2F%2Fexample.org%2F&call=none")
        assert gone.status_code == 400 and gone.json()["error"] == "No result names this image."
    async with site.client() as nobody:
        assert (await nobody.get(path)).status_code == 401 and (await nobody.get("/api/outside?u=x")).status_code == 401
    given = await site.get(f"/api/chats/{other}/messages")
    assert given["messages"] == []


@pytest.mark.promise("S054")
@pytest.mark.promise("S083")
async def test_the_history_for_the_browser_has_the_markers_and_the_terminal_has_words(site: Site):
    chat = site.host.store.chats.create("", "console").id
    await site.host.conversations.turn(chat, call("camera"), channel="console")
    given = await site.get(f"/api/chats/{chat}/messages")
    ((step,),) = given["steps"].values()
    assert step["shown"].startswith("<<IMG::tool:") and step["shown"].endswith(">>\nHere's the camera.")
    told = next(one for one in site.host.store.chats.messages(chat) if one.role == "tool")
    assert told.meta["shown"] == "Here's the camera." and "<<" not in told.text


async def test_a_small_window_and_the_dark_keep_the_row_readable(site: Site, browser: Browser):
    async with page_at(site, browser, viewport={"width": 390, "height": 780}, color_scheme="dark") as page:
        await say(page, call("sheet"))
        assert await loaded(page, ".message.theirs:not(.now) .tile img") == [640] * 5
        script = "[...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right > innerWidth + 1)"
        assert await page.evaluate(f"{script}.map(one => one.className)") == [], "nothing stands out to the side"
        await picture(page, "images-gallery-small", whole=True)
        await page.locator(".message.theirs:not(.now) .tile").nth(2).click()
        await expect(page.locator("dialog.lightbox figcaption")).to_contain_text("3 of 5")
        await picture(page, "images-lightbox-small")


async def test_what_was_said_last_stays_in_sight_when_pictures_come_late(site: Site, browser: Browser):
    shown = asyncio.Event()

    async def late(route: Route) -> None:
        await shown.wait()
        await route.continue_()

    async with page_at(site, browser, viewport={"width": 900, "height": 500}) as page:
        await page.route(re.compile("/(images|blobs)/"), late)
        await say(page, call("sheet"))
        await expect(page.locator(".message.theirs:not(.now) .gallery .tile")).to_have_count(5)
        shown.set()
        await page.wait_for_function(
            "() => { const all = [...document.querySelectorAll('.message.theirs:not(.now) .picture img')];"
            " return all.length && all.every((one) => one.complete && one.naturalWidth); }"
        )
        end = "() => { const { scrollHeight, scrollTop, clientHeight } = document.scrollingElement;"
        end += " return scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 5; }"
        await page.wait_for_function(end, timeout=4000)
        await page.get_by_role("button", name="Tools of this chat").click()
        await expect(page.get_by_label("Toolset", exact=True)).to_be_in_viewport()
