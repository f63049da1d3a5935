"""Signed-in pages for the browser tests, and the two things that every test does on them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, expect
from tests.web.sites import Site


@asynccontextmanager
async def page_at(site: Site, browser: Browser, where: str = "", **how: Any) -> AsyncIterator[Page]:
    """A signed-in page; it fails the test when the page throws or breaks its own policy."""
    context: BrowserContext = await browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **how})
    context.set_default_timeout(15_000)
    expect.set_options(timeout=15_000)
    troubles: list[str] = []
    page = await context.new_page()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda said: troubles.append(said.text) if "Content Security Policy" in said.text else None)
    await page.goto(site.base + (await site.post("/api/links"))["path"])
    await expect(page.locator("#say")).to_be_visible()
    if where:
        await page.goto(f"{site.base}/#/{where}")
    try:
        yield page
    finally:
        await context.close()
    assert troubles == []


async def say(page: Page, text: str) -> None:
    await page.fill("#say", text)
    await page.press("#say", "Enter")


async def answered(page: Page, text: str) -> None:
    await expect(page.locator(".message.theirs:not(.now) .bubble").last).to_have_text(text)
