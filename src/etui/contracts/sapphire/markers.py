"""Markers in a result's text: for the person's copy, and stripped from every copy that a model reads.

Above: `results`, the names. Below: `contracts.marks`. It refuses to know: how they are drawn.
"""

from __future__ import annotations

from etui.contracts.marks import unmarked


def stripped(text: str) -> str:
    """The text without them; where one was taken out, nothing hangs behind."""
    plain = unmarked(text)
    return plain if plain == text else plain.rstrip()
