"""What looks broken or gone may only be half written: it is believed once it has looked the same for a while.

Above: `catalogue`. Below: nothing but the clock. It refuses to know: what is broken about it.
"""

from __future__ import annotations

import asyncio

from etui.plugins.candidates import Candidate

SETTLE = 0.4
"""Seconds after which what looks broken or smaller is believed."""


class Doubts:
    """Which plugins look broken or gone, and since when."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[Candidate | None, float]] = {}

    def believed(self, name: str, seen: Candidate | None) -> bool:
        """Whether a plugin has looked like this, broken or with None gone, for long enough; doubted from now on if not."""
        now = asyncio.get_running_loop().time()
        before, since = self._since.get(name, (None, now))
        if name not in self._since or before != seen:
            self._since[name] = (seen, now)
            return False
        return now - since >= SETTLE

    def drop(self, name: str) -> None:
        """There is no doubt about it any more."""
        self._since.pop(name, None)
