"""Chromium for the browser tests: Debian's where it is, else Playwright's own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

SYSTEM = Path("/usr/bin/chromium")
ARTIFACTS = Path(__file__).parent.parent / ".artifacts"
OFF = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "AimEnabled", "LensOverlay", "PreconnectToSearch"),
    *("HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "MediaRouter", "OptimizationHints", "NetworkTimeServiceQuerying"),
    *("PaintHolding", "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "SpareRendererForSitePerProcess"),
)
"""Features that nobody asks for here. The two pages that Chromium keeps ready to pop up below its address bar, and the process
that it keeps ready for the next site, cost twice what the page of a test does. The rest is what Playwright turns off: only the
last such list counts."""
QUIET = [
    f"--disable-features={','.join(OFF)}",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def arguments() -> list[str]:
    """Flags that keep Chromium to itself; as root it cannot have its own sandbox."""
    return [*QUIET, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else QUIET


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A running Chromium."""
    async with async_playwright() as playwright:
        path = str(SYSTEM) if SYSTEM.exists() else None
        browser = await playwright.chromium.launch(executable_path=path, args=arguments())
        try:
            yield browser
        finally:
            await browser.close()


async def picture(page: Page, name: str, *, whole: bool = False) -> Path:
    """A screenshot in `tests/.artifacts/`, to be looked at."""
    ARTIFACTS.mkdir(exist_ok=True)
    path = ARTIFACTS / f"{name}.png"
    await page.screenshot(path=path, full_page=whole, animations="disabled")
    return path
