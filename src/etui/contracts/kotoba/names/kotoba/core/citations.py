"""`kotoba.core.citations`: which Markdown a turn wrote, and the sources below it.

Here no provider reports its sources to tools, so there is nothing to add unless a tool collected some itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def append_sources(body: str, sources: Mapping[str, str]) -> str | None:
    """The text with those addresses below it that it does not name yet; None if there are none."""
    missing = [(address, title) for address, title in (sources or {}).items() if address not in body]
    if not missing:
        return None
    rows = "\n".join(f"- [{title or address}]({address})" for address, title in missing)
    return f"{body.rstrip()}\n\n## Sources\n\n{rows}\n"


def note_markdown_write(ctx: Any, rel_path: str) -> None:
    """Note on the context that this file was written."""
    written = getattr(ctx, "_md_writes", None)
    if written is None:
        written = ctx._md_writes = []
    if rel_path not in written:
        written.append(rel_path)
