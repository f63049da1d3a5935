"""Files for the person: one marker line, which the console draws as a row of players and downloads under the result.

It names nothing but routes of the plugin's own, so that text of any origin can lead the browser nowhere else. Above:
`core.attachments`. Below: `current`, `markers`, `contracts.marks`. It refuses to know: how a row is drawn, and what a route
serves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from etui.contracts import marks
from etui.contracts.sapphire import current
from etui.contracts.sapphire.markers import line

KIND = "FILES"
MOST = 12
"""Files in one row; the rest is left out."""
LONGEST = 120
"""Characters of a title and of a name."""
_ROUTE = re.compile(r"/api/plugin/(?P<plugin>[A-Za-z0-9_-]+)/[A-Za-z0-9_./-]+(?:\?[A-Za-z0-9_=&-]*)?")
_UNWANTED = re.compile(r'[\r\n<>"]')


def marker(title: object, items: Iterable[Mapping[str, Any]]) -> str:
    """The line for these files, each `{"url", "name"}`; empty where there are none. Raises ValueError for a foreign URL."""
    drawn = [_item(one) for _, one in zip(range(MOST), items or (), strict=False)]
    if not drawn:
        return ""
    return line(KIND, {"title": " ".join(str(title or "").split())[:LONGEST], "items": drawn})


def safe_url(url: object) -> str:
    """The URL, if it is a route of the plugin's own; else nothing."""
    text = url if isinstance(url, str) else ""
    match = _ROUTE.fullmatch(text)
    ours = match is not None and match["plugin"] == current.files().manifest.get("name")
    return text if ours and ".." not in text and "//" not in text else ""


def strip(text: str) -> str:
    """The text without such lines."""
    return marks.without(text, KIND)


def _item(given: Mapping[str, Any]) -> dict[str, str]:
    url = given.get("url") if isinstance(given, Mapping) else None
    safe = safe_url(url)
    if not safe:
        name = current.files().manifest.get("name")
        own = f"/api/plugin/{name}/..." if name else "/api/plugin/<name>/..., and a loose module has none"
        raise ValueError(f"{url!r} cannot be offered: a file's URL is one of the plugin's own routes, {own}.")
    name = _UNWANTED.sub("", str(given.get("name") or "")).strip()[:LONGEST].strip()
    return {"url": safe, "name": name or safe.partition("?")[0].rstrip("/").rpartition("/")[2][:LONGEST]}
