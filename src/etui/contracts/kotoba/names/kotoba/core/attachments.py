"""`kotoba.core.attachments`: pictures that the person shared. None reach a tool here: a picture stays in its chat."""

from __future__ import annotations


def unkept_images(session_id: str | None) -> list[dict[str, object]]:
    """None."""
    return []


def shared_images(session_id: str | None) -> list[dict[str, object]]:
    """None."""
    return []


def has(session_id: str | None) -> bool:
    """False."""
    return False
