"""In real Chromium: a chat is cleared by a click, and what plugins do by the clock is seen and switched off."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect
from tests.sapphire.homes import manifest, save
from tests.web.chromium import chromium, picture
from tests.web.pages import answered, page_at, say
from tests.web.sites import Site, site_at

from etui.store.tasks import Task

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
FILES = {
    "plugins/garden/plugin.json": manifest(
        "garden",
        schedule=[{"name": "Water", "cron": "0 7 * * *", "handler": "run.py", "description": "Waters what is dry"}],
        voice_commands=[{"triggers": ["hello"], "match": "contains", "bypass_llm": True, "handler": "run.py"}],
    ),
    "plugins/garden/run.py": """
def run(event):
    pass


def pre_chat(event):
    event.response = "Hello from the garden."
""",
}


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


async def test_a_chat_is_cleared_by_a_click_and_goes_on(site, browser):
    async with page_at(site, browser) as page:
        await say(page, "hello there")
        await answered(page, "Hello from the garden.")
        await page.get_by_role("button", name="Clear this chat").click()
        asked = page.get_by_role("alertdialog", name="Clear the chat “hello there”?")
        await expect(asked.get_by_role("button", name="Cancel")).to_be_focused()
        await picture(page, "chat-clear")
        await asked.press("Escape")
        await expect(asked).to_have_count(0)
        await expect(page.locator(".bubble")).to_have_count(2)
        await page.get_by_role("button", name="Clear this chat").click()
        await page.get_by_role("button", name="Clear it").click()
        await expect(page.locator(".bubble")).to_have_count(0)
        [chat] = site.host.store.chats.all()
        assert (chat.title, site.host.store.chats.messages(chat.id)) == ("hello there", [])
        await say(page, "hello again")
        await answered(page, "Hello from the garden.")
        await expect(page.locator(".bubble")).to_have_count(2)
        await page.get_by_role("button", name="Delete this chat").click()
        await expect(page.get_by_role("alertdialog", name="Delete the chat “hello there”?")).to_contain_text("Everything in it")
        await page.get_by_role("button", name="Delete it").click()
        await expect(page.locator(".bubble")).to_have_count(0)
        assert site.host.store.chats.all() == []


async def test_schedules_and_tasks_are_seen_switched_off_and_taken_back(site, browser):
    task = site.host.store.tasks.keep(
        Task(
            id="",
            plugin="garden",
            name="Harvest",
            message="Bring in the apples.",
            cron="0 9 * * 6",
            due=site.host.schedules.next("0 9 * * 6"),
        )
    )
    async with page_at(site, browser, "reminders") as page:
        rows = page.get_by_role("region", name="Schedules").get_by_role("listitem")
        await expect(rows).to_have_count(2)
        await expect(rows.first).to_contain_text("Waters what is dry")
        await expect(rows.last).to_contain_text("Bring in the apples.")
        await picture(page, "schedules")
        await rows.first.get_by_role("switch").click()
        await expect(rows.first.get_by_role("switch")).to_have_attribute("aria-checked", "false")
        assert [one.on for one in site.host.schedules.all()] == [False, True]
        await rows.last.get_by_role("button", name="Delete Harvest").click()
        await expect(rows).to_have_count(1)
        assert site.host.store.tasks.get(task.id) is None
