"""Markers in a result's text: for the person's copy, and stripped from every copy that a model reads.

Above: `results`, the names. Below: `contracts.marks`. It refuses to know: how they are drawn.
"""

from __future__ import annotations

import json
import re

from etui.contracts.marks import unmarked

_NOTE = re.compile(
    r"\(The user sees (?:one picture|a row of \d{1,3} pictures, numbered 1 to \d{1,3})"
    r"(?:; you see (?:it|them on one sheet with the same numbers))?\.\)\n?"
)
"""What a gallery tells the model of what the person sees."""


def line(kind: str, value: object) -> str:
    """A marker of that kind: one line, however odd the texts in it are."""
    told = json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!--{kind}:{told}-->"


def stripped(text: str) -> str:
    """The text without them; where one was taken out, nothing hangs behind."""
    plain = unmarked(text)
    return plain if plain == text else plain.rstrip()


def for_person(text: str) -> str:
    """The text with its markers, and without what a gallery tells only the model."""
    return _NOTE.sub("", text)
