"""A result that is too large to travel, cut to its beginning and its end: what ran is never a failure for its length.

Above: the contracts. Below: the nouns. It refuses to know: what a model is shown of it, which is far less.
"""

from __future__ import annotations

import msgspec

from etui.contracts import Ran

LARGEST = 6_000_000
"""Bytes of a result's text and data together; of a larger one not all is passed on."""
_HALF = LARGEST // 16
"""Characters of the beginning, and of the end, of a text that is cut."""


def within(ran: Ran) -> Ran:
    """The same where it can travel; else without its data, and with a text that says what is left out."""
    if len(ran.text) <= LARGEST // 8:  # four bytes a character at most, and the data are as long again
        return ran
    size = len(ran.text.encode()) * (1 if ran.data is None else 2)
    return ran if size <= LARGEST else msgspec.structs.replace(ran, text=_cut(ran.text), data=None)


def shortened(text: str) -> str:
    """A text that can travel."""
    return text if len(text) <= LARGEST // 4 or len(text.encode()) <= LARGEST else _cut(text)


def _cut(text: str) -> str:
    told = f"\n[... {len(text) - 2 * _HALF:,} characters are left out: the result is too large ...]\n"
    return text[:_HALF] + told + text[-_HALF:]
