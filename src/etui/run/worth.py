"""Whether to wait awake: what pays only sometimes is tried as long as it does, and then ever more seldom.

Above: `patience` (a worker, for the next call) and `glance` (the host, for the answer). Below: the standard library. It refuses
to know: what is waited for.
"""

from __future__ import annotations

TRIES = 32
"""How many more tries in vain than such that paid are put up with."""
REST = 16, 256
"""Chances that are then passed over: the first time, and at the most, doubling until one has paid."""


class Worth:
    """The account of one kind of try."""

    __slots__ = ("_rest", "_resting", "_tries", "soon")

    def __init__(self) -> None:
        self.soon = False
        """What was waited for last came so soon that to look for the next may pay."""
        self._tries = TRIES
        self._rest = REST[0]
        self._resting = 0

    def may(self) -> bool:
        """Whether to try this time."""
        if not self.soon:
            return False
        if self._resting:
            self._resting -= 1
            return False
        return True

    def paid(self) -> None:
        """It was worth it."""
        self._tries = min(self._tries + 1, TRIES)
        self._rest = REST[0]

    def failed(self, times: int = 1) -> bool:
        """It was in vain, and counts for so many; True if that was once too often, and it rests now."""
        self._tries -= times
        if self._tries <= 0:
            self.rest()
        return bool(self._resting)

    def rest(self) -> None:
        """Let some chances pass."""
        self._tries = TRIES
        self._resting = self._rest
        self._rest = min(2 * self._rest, REST[1])
