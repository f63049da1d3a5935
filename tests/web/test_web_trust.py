"""A caller in the console, in real Chromium: who asks, from where, and whether they have given the PIN."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect
from tests.keryx.pins import pin_in
from tests.web.pages import page_at
from tests.web.sites import site_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_the_console_shows_who_asks_and_what_they_have_proved(tmp_path, browser: Browser) -> None:
    async with site_at(tmp_path) as site:
        await pin_in(site.host, "739518")
        chat = site.host.store.chats.create("A call", "phone").id
        session = await site.host.sessions.open("phone", chat=chat, caller="+49 30 1234")
        async with page_at(site, browser, f"chat/{chat}") as page:
            badge = page.locator(".chat-head .badge")
            await expect(badge).to_have_text("phone · +49 30 1234 · no PIN yet")
            await site.host.conversations.turn(chat, "my PIN is 739518", channel="phone")
            await expect(badge).to_have_text("phone · +49 30 1234 · PIN given")
            await expect(page.locator(".message.mine .bubble")).to_have_text("my PIN is [PIN]")
            assert "739518" not in await page.content()
            site.host.sessions.end_by_id(session.id)
            await expect(badge).to_have_count(0)
