"""The tool maker in the console, in real Chromium: a person reads the whole code, approves it, finds its settings and icon."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import expect
from tests.sapphire.test_toolmaker import ADDER
from tests.web.chromium import chromium, picture
from tests.web.pages import answered, page_at, say
from tests.web.sites import site_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio]


@pytest.mark.promise("S444", "S445")
async def test_a_person_reads_the_code_approves_it_and_calls_what_it_made(tmp_path):
    async with site_at(tmp_path, tools="", shelf=True) as site, chromium() as browser, page_at(site, browser) as page:
        await say(page, f"call tool_save {json.dumps({'name': 'adder', 'code': ADDER})}")
        card = page.locator(".card.approval")
        await expect(card.locator(".card-notice")).to_contain_text("may touch nothing until you allow it")
        shown = await card.locator("pre").text_content()
        assert shown is not None
        # Every line of it stands there, and nothing of it can be said yes to for ever.
        assert [line for line in ADDER.splitlines() if line.strip() not in shown] == []
        await card.get_by_role("button", name="There is more: show all of it").click()
        await expect(card.locator(".buttons").get_by_role("button")).to_have_text(["Approve", "Decline"])
        await picture(page, "tool-card", whole=True)
        await card.get_by_role("button", name="Approve").click()
        await answered(page, "Plugin 'adder' saved and validated. These can be called now: add_numbers.")
        await say(page, 'call add_numbers {"a": 1, "b": 2.5}')
        await answered(page, "3.5 euros")
        await page.goto(f"{site.base}/#/toolsets")
        await expect(page.get_by_role("region", name="Group adder", exact=True)).to_contain_text("🧮")
        await page.goto(f"{site.base}/#/plugins/adder")
        await expect(page.locator(".plugin-form").get_by_label("Precision")).to_have_value("2")
        await expect(page.locator(".plugin-form").get_by_label("Unit")).to_have_value("euros")
