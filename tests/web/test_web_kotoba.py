"""A Kotoba plugin in the console, in real Chromium: its lines heard, its face seen, what it may touch decided by a click."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from tests.kotoba.homes import PING, ping, write
from tests.web.chromium import picture
from tests.web.pages import answered, page_at, say
from tests.web.sites import Site, site_at
from tests.web.test_web_telling import LISTENING

from etui.agent.model import Ask, End, Text
from etui.agent.scripted import call
from etui.store import Store

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
SEARCH = '''"""search_files — find text across files in the jailed working dir."""
from __future__ import annotations

import asyncio

from kotoba.core.loop import note_tool_failure
from kotoba.core.path_security import PathSecurityError, validate_within_dir

SCHEMA = {
    "type": "function",
    "name": "search_files",
    "description": "Search the working folder for a text pattern and return matching file:line results.",
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Text to search for."},
            "path": {"type": "string", "description": "Subfolder to search (default: whole workspace)."},
        },
        "required": ["query"],
    },
}
ANNOUNCE = "Let me search through the files~"
HEARTBEAT = ["Looking everywhere...", "Almost done scanning..."]
COMPLETE = "Here's what I found:"
FAIL = "I couldn't find anything matching that."
EXPRESSIONS = {"focus": "thinking", "done": "happy", "fail": "confused"}


async def execute(args: dict, ctx) -> str:
    try:
        root = validate_within_dir((args or {}).get("path") or ".", ctx.workdir)
    except PathSecurityError:
        return "That folder is outside my workspace."
    gate = root / "gate"
    if gate.exists():
        await asyncio.to_thread(gate.read_bytes)
    found = []
    for file in sorted(root.rglob("*.txt")):
        lines = file.read_text().splitlines()
        found += [f"{file.name}:{number}:{line}" for number, line in enumerate(lines, 1) if args["query"] in line]
    if not found:
        note_tool_failure("no line of any file has it")
        return "Nothing matches."
    return "\\n".join(found)
'''
"""The outline of the owners' page, with a body that searches; it waits where the test has put a gate."""
WEATHER = """
import os
import urllib.request

SCHEMA = {"type": "function", "name": "weather", "description": "Tell the weather.",
          "parameters": {"type": "object", "properties": {}, "required": []}}


def check():
    return bool(os.environ.get("WEATHER_KEY"))


async def execute(args, ctx):
    return "Sunny, by " + os.environ["WEATHER_KEY"]
"""
BACKGROUND = '''from etui import Context, tool


@tool(risk="write")
def background(ctx: Context, goal: str) -> str:
    """Start a job."""
    ctx.start_work(goal)
    return "I am on it."
'''


def with_a_face(ask: Ask) -> Any:
    """Does what it is told by `call NAME {json}`, then reads the result out with a face: sad where it did not work."""
    last = ask.messages[-1]
    if last.role == "tool":
        face = "sad" if "tool failed" in last.text else "happy"
        return [Text(f"[{face}] {last.text.split(' [tool failed')[0]}"), End()]
    _, name, *rest = last.text.split(" ", 2)
    return [call(name, rest[0] if rest else {}, id=f"c{len(ask.messages)}")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home: Path = tmp_path_factory.mktemp("etui")
    acting = ping(head='RISK = "write"\nEXPRESSIONS = {"focus": "excited"}\nANNOUNCE = "Right away!"', name="act")
    files = {"finding/search_files.py": SEARCH, "ping.py": PING, "acting/act.py": acting, "sky/weather.py": WEATHER}
    write(home / "kotoba", {**files, "acting/wave.py": ping(name="wave")})
    write(home / "files", {"notes.txt": "one\ntwo\na needle here\n"})
    dead = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('the key is missing')"]}
    rows = {
        "sources": [{"path": str(home / "kotoba"), "contract": "kotoba"}],
        "mcp_servers": {"broken": dead},
        "speak": True,
    }
    async with site_at(home, tools=BACKGROUND, model=with_a_face, environ={"WEATHER_KEY": "k-123"}, **rows) as opened:
        yield opened


async def faces(page: Page) -> list[str]:
    shown: list[str] = await page.evaluate("window.faces")
    return shown


@pytest.mark.promise("K176", "K184")
async def test_a_plugins_lines_are_seen_and_heard_and_its_face_follows_to_the_tag_of_the_reply(
    site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(site.host._voice._narration, "_later", lambda seconds, act: loop.call_later(seconds / 100, act))
    gate = site.host.home / "files" / "gate"
    os.mkfifo(gate)
    async with page_at(site, browser) as page:
        await page.evaluate(LISTENING)
        await say(page, 'call search_files {"query": "needle"}')
        said = page.locator(".now .said li")
        await expect(said.nth(2)).to_have_text("Almost done scanning...")
        await expect(page.locator(".now .step.is-running .step-name")).to_have_text("search_files")
        await expect(page.locator(".chat-head .face")).to_have_attribute("data-face", "thinking")
        await picture(page, "console-kotoba-lines")
        await asyncio.to_thread(gate.write_bytes, b"")
        gate.unlink()
        await answered(page, "notes.txt:3:a needle here")
        await expect(page.locator(".chat-head .face")).to_have_attribute("data-face", "happy")
        told = page.locator(".message.theirs .said li")
        lines = await told.all_inner_texts()
        assert lines[:3] == ["Let me search through the files~", "Looking everywhere...", "Almost done scanning..."]
        assert lines[-1] == "Here's what I found:" and set(lines[3:-1]) <= {"Almost done scanning..."}
        assert await page.evaluate("window.spoken") == [*lines, "notes.txt:3:a needle here"]
        assert (await faces(page))[-2:] == ["thinking", "happy"]
        await page.reload()
        await expect(told).to_have_text(lines)
        await picture(page, "console-kotoba-answer")


@pytest.mark.promise("K186")
async def test_a_stumble_shows_its_face_its_reason_and_its_line_before_the_reply(site: Site, browser: Browser) -> None:
    async with page_at(site, browser) as page:
        await page.evaluate(LISTENING)
        await say(page, 'call search_files {"query": "haystack"}')
        await answered(page, "Nothing matches.")
        await expect(page.locator(".chat-head .face")).to_have_attribute("data-face", "sad")
        assert (await faces(page))[-3:] == ["thinking", "confused", "sad"]
        step = page.locator(".step.is-failed")
        await expect(step.locator(".mark")).to_have_class("mark bad")
        await expect(step.locator(".step-why")).to_have_text("no line of any file has it")
        await expect(page.locator(".said li")).to_have_text(
            ["Let me search through the files~", "I couldn't find anything matching that."]
        )


@pytest.mark.promise("K042")
async def test_an_action_shows_its_risk_and_that_the_turn_acts(site: Site, browser: Browser) -> None:
    async with page_at(site, browser) as page:
        await page.evaluate(LISTENING)
        await say(page, "call act")
        await answered(page, "pong")
        await expect(page.locator(".step .risk")).to_have_text("write")
        await expect(page.locator(".chat-head .face")).to_have_attribute("data-face", "happy")
        assert [face for face in await faces(page) if face != "thinking"][-3:] == ["determined", "excited", "happy"]
        await expect(page.locator(".working")).to_have_text("")


async def test_the_owner_gives_a_variable_opens_a_folder_and_forbids_the_network_with_one_click_each(
    site: Site, browser: Browser, tmp_path: Path
) -> None:
    async with page_at(site, browser, "tools/weather") as page:
        touched = page.locator(".part", has_text="What it may touch")
        await expect(touched.locator(".variable")).to_contain_text("WEATHER_KEYasked for, not given")
        await picture(page, "console-kotoba-grants")
        await touched.get_by_role("button", name="Give WEATHER_KEY", exact=True).click()
        await expect(touched.get_by_role("button", name="Take WEATHER_KEY back")).to_be_visible()
        assert "k-123" not in await page.content()
        done = await site.post("/api/call", {"tool": "weather"})
        assert done["text"] == "Sunny, by k-123"
        await touched.get_by_role("button", name="Forbid the network").click()
        await expect(touched.get_by_role("button", name="Allow the network again")).to_be_visible()
        assert site.host.plugins.grant("sky")["forbidden"] == ["network"] and not site.host.plugins.grant("sky")["has"].network
        await touched.get_by_role("button", name="Allow the network again").click()
        await expect(touched.get_by_role("button", name="Forbid the network")).to_be_visible()
        assert site.host.plugins.grant("sky")["has"].network
        await touched.get_by_role("button", name="Take WEATHER_KEY back").click()
        await touched.get_by_role("button", name="with another value").click()
        await touched.locator(".variable + .give").get_by_label("Value").fill("mine")
        await page.keyboard.press("Enter")
        await expect(touched.get_by_role("button", name="Take WEATHER_KEY back")).to_be_visible()
        assert (await site.post("/api/call", {"tool": "weather"}))["text"] == "Sunny, by mine"
        await touched.get_by_text("Open a folder or file of yours to it").click()
        await touched.get_by_label("Path, from / or ~").fill(str(site.host.home))
        await touched.get_by_role("button", name="Open it").click()
        await expect(page.locator(".toast")).to_contain_text("Etui's own folder")
        (tmp_path / "mine").mkdir()
        await touched.get_by_label("Path, from / or ~").fill(str(tmp_path / "mine"))
        await touched.get_by_label("it may write there, too").check()
        await page.keyboard.press("Enter")
        await expect(touched.get_by_role("listitem").filter(has_text="may read and write")).to_contain_text("mine")
        await expect(touched.locator(".touches")).to_contain_text(f"Writes in {tmp_path / 'mine'}")
        await picture(page, "console-grants-opened")
        await touched.get_by_role("button", name=f"Take {tmp_path / 'mine'} back").click()
        await expect(touched.get_by_text("may read and write")).to_have_count(0)
        await page.set_viewport_size({"width": 360, "height": 740})
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_a_plugin_that_loads_only_with_a_variable_gets_it_with_one_click_and_helpers_are_no_matter(
    site: Site, browser: Browser
) -> None:
    locked = ping("return KEY", name="locked", top="import os\nKEY = os.environ['WEATHER_KEY']")
    async with page_at(site, browser, "tools") as page:
        write(site.host.home / "kotoba", {"shut/locked.py": locked, "shut/model.py": "X = 1\n"})
        problem = page.locator(".problems li", has_text="locked.py")
        await expect(problem).to_contain_text("it needs the variable WEATHER_KEY, which it was not given.")
        await expect(page.locator(".problems", has_text="model.py")).to_have_count(0)
        await picture(page, "console-kotoba-waits")
        await problem.get_by_role("button", name="Give WEATHER_KEY", exact=True).click()
        await expect(page.locator(".row-name", has_text="locked")).to_be_visible()
        await expect(problem).to_have_count(0)
        assert (await site.post("/api/call", {"tool": "locked"}))["text"] == "k-123"
        asks = page.get_by_role("region", name="Plugin shut", exact=True).get_by_role("link", name="asks for WEATHER_KEY")
        await expect(asks).to_have_count(0)
        site.host.plugins.take("shut", "WEATHER_KEY")
        await expect(asks).to_be_visible()
        (site.host.home / "kotoba" / "shut" / "locked.py").unlink()
        (site.host.home / "kotoba" / "shut" / "model.py").unlink()
        await expect(page.locator(".row-name", has_text="locked")).to_have_count(0)


@pytest.mark.promise("K161")
async def test_a_whole_plugin_is_switched_off_and_on(site: Site, browser: Browser) -> None:
    async with page_at(site, browser, "tools") as page:
        group = page.get_by_role("region", name="Plugin acting")
        whole = group.get_by_role("switch", name="Everything of acting")
        await whole.click()
        await expect(whole).to_have_attribute("aria-checked", "false")
        for tool in ("act", "wave"):
            await expect(group.get_by_role("switch", name=f"{tool} is off")).to_be_disabled()
            assert (await site.post("/api/call", {"tool": tool}))["status"] == "refused"
        assert (await site.post("/api/call", {"tool": "ping"}))["text"] == "pong"
        await whole.click()
        await expect(group.get_by_role("switch", name="act is on")).to_be_enabled()
        assert (await site.post("/api/call", {"tool": "act"}))["text"] == "pong"


async def test_a_plugin_that_is_off_from_the_start_is_listed_and_comes_on_with_a_click(
    tmp_path: Path, browser: Browser
) -> None:
    write(tmp_path / "kotoba", {"loud/ping.py": PING})
    store = Store.open(tmp_path / "etui.db")
    store.values.put("switch", "plugin:loud", False)
    store.close()
    source = {"path": str(tmp_path / "kotoba"), "contract": "kotoba"}
    async with site_at(tmp_path, tools="", sources=[source]) as site, page_at(site, browser, "tools") as page:
        asleep = page.get_by_role("region", name="Plugin loud")
        await expect(asleep).to_contain_text("none of its code runs")
        assert site.host.tools.all() == ()
        await asleep.get_by_role("switch").click()
        await expect(page.locator(".row", has_text="Reply with pong.")).to_be_visible()


async def test_a_server_that_does_not_start_is_told_with_its_own_words(site: Site, browser: Browser) -> None:
    async with page_at(site, browser, "tools") as page:
        problem = page.locator(".problems li", has_text="broken")
        await expect(problem).to_contain_text("the key is missing")


async def test_a_background_job_shows_its_steps_and_its_end_and_can_be_cancelled(site: Site, browser: Browser) -> None:
    gate = site.host.home / "files" / "gate"
    os.mkfifo(gate)
    goal = 'call search_files {\\"query\\": \\"needle\\"}'
    async with page_at(site, browser) as page:
        await say(page, f'call background {{"goal": "{goal}"}}')
        await answered(page, "I am on it.")
        job = page.locator(".jobs .job")
        await expect(job.locator(".step.is-running .step-name")).to_have_text("search_files")
        await picture(page, "console-job")
        await page.reload()
        await expect(job.locator(".step.is-running .step-name")).to_have_text("search_files")
        assert not {one["id"] for one in await site.get("/api/chats")} & {one["id"] for one in await site.get("/api/jobs")}
        await asyncio.to_thread(gate.write_bytes, b"")
        over = page.locator(".job.is-over")
        await expect(over).to_contain_text("notes.txt:3:a needle here")
        await expect(job).to_have_count(0)
        await over.locator("summary").first.click()
        await expect(over.locator(".step .step-name")).to_have_text("search_files")
        await picture(page, "console-job-over")
        await say(page, f'call background {{"goal": "{goal}"}}')
        await job.get_by_role("button", name="Cancel").click()
        await expect(page.locator(".job.is-over").last).to_contain_text("cancelled")
        gate.unlink()
