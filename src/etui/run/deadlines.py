"""The deadlines of many calls on one timer, which is set anew only when an earlier deadline comes.

Above: `running` enters and leaves calls. Below: the event loop's clock. It refuses to know: what a call is. A timer for each
call would cost more than the rest of the call's bookkeeping, and nearly all deadlines never come.
"""

from __future__ import annotations

import asyncio
from typing import Protocol


class Expiring(Protocol):
    """What has a deadline."""

    def expire(self) -> None:
        """Its time has come."""
        ...


class Deadlines:
    """Tells what was entered once its time has come, unless it has left before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._entered: dict[Expiring, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def enter(self, one: Expiring, at: float) -> None:
        """It is told at that time of the loop's clock."""
        self._entered[one] = at
        if self._timer is None:
            self._timer = self._loop.call_at(at, self._due)
        elif at < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(at, self._due)

    def leave(self, one: Expiring) -> None:
        """It is not told any more."""
        self._entered.pop(one, None)

    def close(self) -> None:
        """Nothing is told any more."""
        self._entered.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> None:
        self._timer = None
        now = self._loop.time()
        late = [one for one, at in self._entered.items() if at <= now]
        for one in late:
            del self._entered[one]
        if self._entered:
            self._timer = self._loop.call_at(min(self._entered.values()), self._due)
        for one in late:
            one.expire()
