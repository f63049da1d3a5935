"""The deadlines of many calls on one timer, which is set anew only when an earlier deadline comes.

Above: `running` enters and leaves calls. Below: the event loop's clock. It refuses to know: what a call is. A timer for each
call would cost more than the rest of the call's bookkeeping, and nearly all deadlines never come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadlines:
    """Calls what was entered once its time has come, unless it has left before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._entered: dict[Callable[[], None], float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def enter(self, expire: Callable[[], None], at: float) -> None:
        """`expire` is called at that time of the loop's clock."""
        self._entered[expire] = at
        if self._timer is None:
            self._timer = self._loop.call_at(at, self._due)
        elif at < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(at, self._due)

    def leave(self, expire: Callable[[], None]) -> None:
        """It is not called any more."""
        self._entered.pop(expire, None)

    def close(self) -> None:
        """Nothing is called any more."""
        self._entered.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> None:
        self._timer = None
        now = self._loop.time()
        late = [expire for expire, at in self._entered.items() if at <= now]
        for expire in late:
            self._entered.pop(expire, None)
        if self._entered:
            self._timer = self._loop.call_at(min(self._entered.values()), self._due)
        for expire in late:
            expire()
