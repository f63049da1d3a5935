"""Texts that a tool gives to be shown: that they are texts, and no longer than a person reads.

Above: the families of services. Below: nothing. It refuses to know: what is shown where.
"""

from __future__ import annotations

LABEL, DETAIL = 500, 4000
"""Characters of a question, and of what is said about it, that are shown."""


def text_of(value: object, most: int | None = None) -> str:
    """The text, cut where it is too long to be shown. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {type(value).__name__}")
    return value if most is None or len(value) <= most else f"{value[:most]}…"
