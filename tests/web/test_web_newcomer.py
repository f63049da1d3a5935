"""A newcomer's first minutes in real Chromium, over everything that comes with Etui: no model but the built-in matcher."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.web.chromium import picture
from tests.web.pages import answered, page_at, say
from tests.web.sites import site_at

from etui.agent.model import Ask, End, Text
from etui.agent.scripted import call
from etui.events import Kind
from etui.store.reminders import Reminder

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
DICE = '''from etui import tool

@tool(examples=["roll {count} dice", "roll a die"])
def roll(count: int = 1) -> list[int]:
    """Roll six-sided dice and say what came up."""
    return [4 for _ in range(count)]
'''


async def test_the_first_minutes_go_as_the_readme_says(tmp_path: Path, browser: Browser) -> None:
    async with site_at(tmp_path, tools="", model=None, shelf=True) as site, page_at(site, browser) as page:
        last = page.locator(".message.theirs:not(.now)").last
        for said, tool, told in (
            ("What time is it in Tokyo?", "time_in", "Tokyo"),
            ("set a timer for ten minutes", "set_timer", "10 minutes"),
            ("add milk to my shopping list", "list_add", "milk"),
            ("what's on it?", "list_show", "milk"),
        ):
            await say(page, said)
            await expect(page.locator(".message.mine").last).to_contain_text(said)
            await expect(last.locator(".step-name")).to_have_text(tool)
            await expect(last.locator(".step-end")).to_have_text("done")
            await expect(last.locator(".bubble")).to_contain_text(told)
        await picture(page, "console-chat")
        await say(page, "Who was Napoleon?")
        await expect(last.locator(".bubble")).to_contain_text("built-in command matcher")
        (tmp_path / "tools" / "dice.py").write_text(DICE)
        await page.get_by_role("link", name="The tool roll is ready.").click()
        await expect(page.locator(".one h2")).to_have_text("roll")
        await expect(page.locator(".toast")).to_have_count(0)
        await expect(page.locator(".group h2").first).to_have_text("dice")
        await page.get_by_label("A sentence that means this tool").fill("throw the bones {count} times")
        await page.get_by_role("button", name="Teach it").click()
        await expect(page.locator(".sayings")).to_contain_text("throw the bones")
        await page.go_back()
        await say(page, "roll three dice")
        await answered(page, "4, 4 and 4")
        await say(page, "throw the bones two times")
        await answered(page, "4 and 4")
        (tmp_path / "tools" / "dice.py").write_text(DICE.replace("range(count)]", "range(count)"))
        await expect(page.locator(".toast.bad")).to_contain_text("dice.py was refused")
        await say(page, "roll two dice")
        await answered(page, "4 and 4")


async def test_a_timer_that_ends_while_the_host_restarts_is_told_once(tmp_path: Path, browser: Browser) -> None:
    async with site_at(tmp_path, tools="", model=None, shelf=True) as first:
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(first.link)
        await say(page, "set a timer for 2 seconds")
        await answered(page, "Timer set for 2 seconds.")
        chat = page.url
        await page.goto(f"{first.base}/#/tools")
        port = first.port
    await expect(page.locator(".banner")).to_be_visible()
    async with site_at(tmp_path, tools="", model=None, shelf=True, again=port):
        await expect(page.locator(".banner")).to_have_count(0, timeout=15_000)
        toast = page.locator(".toast.loud")
        await expect(toast).to_contain_text("2 second timer", timeout=15_000)
        await expect(toast).to_have_count(1)
        await page.goto(chat)
        await expect(page.locator(".line.timer")).to_have_count(1)
        await expect(toast).to_have_count(0)
        await page.reload()
        await expect(page.locator(".line.timer")).to_have_count(1)
    await context.close()


EVIL = "<img src=x onerror=window.hurt=1> <script>window.hurt=2</script> [x](javascript:window.hurt=3)"
WORSE = f'''from etui import Context, Result, ToolError, tool

@tool(name="bad name {EVIL}")
def refused() -> str:
    """Never loads: {EVIL}"""
    return ""

@tool(risk="exec")
def run(text: str = "x") -> str:
    """Runs."""
    raise ToolError({EVIL!r})

@tool(interactive=True)
async def ask(ctx: Context) -> Result:
    """Asks."""
    answer = await ctx.ask({EVIL!r}, choices=[{EVIL!r}, "no"])
    return Result(answer.text, files=[({EVIL!r}, b"x")])
'''


async def test_markup_in_names_problems_cards_files_and_reminders_is_only_ever_words(tmp_path: Path, browser: Browser) -> None:
    async with site_at(tmp_path, tools=WORSE) as site, page_at(site, browser) as page:
        (tmp_path / "tools" / "half.py").write_text(f"raise ValueError({EVIL!r})\n")
        site.host.store.reminders.add(Reminder(kind="reminder", text=EVIL, label=EVIL, due=4e9, zone="Europe/Berlin"))
        site.host.hub.tell(Kind.REMINDERS_CHANGED, {"reminder": "x"})
        await say(page, 'call run {"text": "' + EVIL.replace('"', "") + '"}')
        await expect(page.locator(".card .args")).to_contain_text("<img src=x")
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator(".step.is-failed")).to_have_count(1)
        await say(page, "call ask")
        card = page.locator(".card.question")
        await expect(card.locator("h3")).to_contain_text("<script>")
        await card.get_by_role("button", name="<img").click()
        await expect(page.locator(".message.theirs > .pieces .paper")).to_contain_text("img src=x")
        for where, words in (("tools", "half.py"), ("reminders", "<script>"), ("audit", "run"), ("tools/run", "Last calls")):
            await page.goto(f"{site.base}/#/{where}")
            await expect(page.locator("main")).to_contain_text(words)
            assert await page.locator("main script, main img, .toast script, .toast img, .tray img").count() == 0
            assert set(await page.locator("a").evaluate_all("all => all.map(one => one.protocol)")) == {"http:"}
        assert await page.evaluate("window.hurt") is None


LONG = '''from etui import tool

@tool
def count(n: int) -> str:
    """Counts."""
    return f"number {n}"

@tool
def everything() -> str:
    """Tells a lot."""
    return "a long line of words\\n" * 700 + "THE-END"
'''


def sixty(ask: Ask) -> object:
    """Calls `count` sixty times, or tells everything."""
    said = next(message.text for message in reversed(ask.messages) if message.role == "user")
    done = sum(message.role == "tool" and message.tool == "count" for message in ask.messages)
    if said == "sixty" and done < 60:
        return [call("count", {"n": done}, id=f"c{done}")]
    if said == "everything" and ask.messages[-1].role == "user":
        return [call("everything", {}, id="e")]
    return [Text(ask.messages[-1].text), End()]


async def test_of_very_much_only_as_much_shows_as_can_be_read(tmp_path: Path, browser: Browser) -> None:
    async with site_at(tmp_path, tools=LONG, model=sixty, calls_a_turn=100) as site, page_at(site, browser) as page:
        await say(page, "sixty")
        await answered(page, "number 59")
        await expect(page.locator(".step")).to_have_count(6)
        await page.get_by_role("button", name="Show the 54 steps before").click()
        await expect(page.locator(".step")).to_have_count(60)
        await say(page, "everything")
        bubble = page.locator(".message.theirs:not(.now) .bubble").last
        await expect(bubble).to_contain_text("a long line of words")
        assert "THE-END" not in await bubble.inner_text()
        await bubble.get_by_role("button", name="Show all of it").click()
        await expect(bubble).to_contain_text("THE-END")
        step = page.locator(".step").last
        await step.locator("summary").click()
        await expect(step.locator("h4", has_text="Arguments")).to_be_in_viewport()
