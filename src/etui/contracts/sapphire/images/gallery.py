"""Many pictures at once: each kept under a handle, a numbered row of tiles for the person, and one sheet for the model.

Above: `core.images`. Below: `drawing`, `keeping`, `markers`. It refuses to know: how tiles are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, MutableMapping
from typing import Any
from urllib.parse import quote

from etui.contracts.sapphire.images.drawing import contact_sheet, for_chat
from etui.contracts.sapphire.images.forms import ImageError
from etui.contracts.sapphire.images.keeping import stash
from etui.contracts.sapphire.markers import line

KIND = "GALLERY"
OUTSIDE = "/api/outside?u="
"""The host's route that fetches an image from the web for the person's browser."""
SIDE = 1536
"""Pixels that a sheet is at most wide, for a model's sake."""
TITLE = 300


def proxied(url: str) -> str:
    """The address under which the browser gets an image of the web from this host, and from nobody else; empty for none."""
    text = str(url or "").strip()
    if text.startswith("/api/"):
        return text
    if not text.lower().startswith(("http://", "https://")):
        return ""
    return OUTSIDE + quote(text, safe="")


def gallery(title: str, entries: Iterable[MutableMapping[str, Any]], view: bool = True) -> tuple[list[bytes], str]:
    """The model's pictures, and the note and marker that stand behind the tool's own text; sets each entry's `handle`.

    An entry has raw, title, page, and if wanted full, thumb, show (what stands on the sheet in place of raw, or False for an
    empty cell), stash (False keeps nothing). One that cannot be kept is shown by its thumb.
    """
    given = list(entries)
    if not given:
        return [], ""
    items = [_item(entry) for entry in given]
    images = _pictures([_on_sheet(entry) for entry in given]) if view else []
    marker = line(KIND, {"title": _line(title), "items": items})
    return images, f"{_note(len(given), bool(images))}\n{marker}"


def _item(entry: MutableMapping[str, Any]) -> dict[str, str]:
    item: dict[str, str] = {}
    if entry.get("stash", True) is not False:
        try:
            item["handle"] = entry["handle"] = _stashed(entry.get("raw"), bool(entry.get("thumb")))
        except ImageError:
            entry["handle"] = None
    if "handle" not in item and entry.get("thumb"):
        item["thumb"] = proxied(entry["thumb"])
    if entry.get("full"):
        item["full"] = proxied(entry["full"])
    item |= {name: _line(entry[name]) for name in ("title", "page") if entry.get(name)}
    return {name: value for name, value in item.items() if value}


def _stashed(raw: object, has_thumb: bool) -> str:
    """The handle of the picture; where it cannot be kept and has no thumb, of a smaller one. Raises ImageError."""
    try:
        return stash(raw)
    except ImageError:
        if has_thumb:
            raise
        return stash(for_chat(raw))


def _on_sheet(entry: MutableMapping[str, Any]) -> object:
    show = entry.get("show")
    if show is False:
        return b""
    return show if isinstance(show, bytes | bytearray | memoryview) else entry.get("raw")


def _pictures(raws: list[object]) -> list[bytes]:
    """One sheet, or the one picture; nothing where nothing of it is a picture."""
    try:
        if len(raws) == 1:
            return [for_chat(raws[0])]
        columns = math.ceil(math.sqrt(len(raws)))
        return [contact_sheet(raws, cell=min(400, SIDE // columns))]
    except ImageError:
        return []


def _note(count: int, seen: bool) -> str:
    what = "one picture" if count == 1 else f"a row of {count} pictures, numbered 1 to {count}"
    if not seen:
        return f"(The user sees {what}.)"
    return f"(The user sees {what}; you see {'it' if count == 1 else 'them on one sheet with the same numbers'}.)"


def _line(value: object) -> str:
    return " ".join(str(value).split())[:TITLE] if value else ""
