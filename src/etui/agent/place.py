"""Where in its text an answer has come to: what a reader would take the next words for, a statement or a mention.

Above: `sieve`. Below: nothing of Etui. It refuses to know: what is said there.
"""

from __future__ import annotations

import re

_QUOTES = (("“", "”"), ("«", "»"), ("„", "“"), ("‹", "›"), ("「", "」"), ("『", "』"))
PARAGRAPH = 4000
"""Characters of a paragraph that are searched for an open quotation, and for the end of code in its line."""
_BEFORE = re.compile(r"[^\s.!?…][ \t]+\Z|\A[ \t]*(?:\||\d+[.)][ \t]+\Z)")
_SHOWN = re.compile(r" {0,3}>| {4,}\Z|\t\s*\Z")


class Place:
    """The paragraph that is being written."""

    def __init__(self) -> None:
        self.paragraph = ""

    def add(self, text: str) -> None:
        """These words, which are no code, have been written."""
        self.paragraph = (self.paragraph + text).rpartition("\n\n")[2][-PARAGRAPH:]

    @property
    def line(self) -> str:
        """The line that is being written."""
        return self.paragraph.rpartition("\n")[2]

    @property
    def quoted(self) -> bool:
        """True behind an open quotation mark, in a quoted line or in indented code."""
        text = self.paragraph
        if text.count('"') % 2 or text[-1:] in {"'", "‘", "‚"}:
            return True
        if any(text.rfind(mark) > text.rfind(end) for mark, end in _QUOTES if not (mark == "“" and "„" in text)):
            return True
        return bool(_SHOWN.match(self.line))

    @property
    def amid(self) -> bool:
        """True within a sentence, in a table's row, or where a point of a list begins."""
        return bool(_BEFORE.search(self.line))

    def goes_on(self, behind: str, final: bool) -> bool | None:
        """True if a sentence or a row goes on with what comes behind something in its midst; None until that is certain."""
        if not self.amid:
            return False
        rest = behind.lstrip(" \t")[:1]
        if not rest and not final:
            return None
        return bool(rest) and (rest.islower() or rest in "|,;:.)")
