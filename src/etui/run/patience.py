"""How a worker waits: right after an answer it looks for the next call for a moment before it sleeps, as long as that pays.

To sleep and be woken costs host and worker more than all the rest of a call, so calls that come in a row are taken awake. Only
they are: what decides is how soon the last ones came, and looking in vain too often ends it for a growing number of calls. To
look on the core that the host wants to call from would only keep it from calling: a worker that finds itself there steps aside.
Above: `toolloop`. Below: `worth`, `cores`. It refuses to know: calls, and what comes on the sockets.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable

from etui.run import cores
from etui.run.cores import Place
from etui.run.worth import Worth

LOOK = 300e-6
"""Seconds that it looks at the most; a call in a row comes much sooner, unless the host slept or wrote to the disk."""
SOON = 400e-6
"""What came within so many seconds after the worker fell asleep might have been met awake."""
GAP = 15e-6
"""Seconds between two glances after which another process must have had the core: the host, perhaps, on its way to call."""
BUSY = 500e-6
"""Seconds after which it was one that has enough to do to take it again and again."""
HEAVY = 8
"""For how many looks in vain one counts that such a process ended."""


class Patience(selectors.DefaultSelector):
    """A selector like any other, with a way to say that something may come at once."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter, count: int = 0, place: Place | None = None) -> None:
        """`clock` gives seconds; where there is but one core (0: ask the system) looking would only keep others from it.

        `place` is where this thread runs.
        """
        super().__init__()
        self._clock = clock
        self._place = place or Place()
        self._able = (count or cores.count()) > 1
        self._expecting = False
        self._worth = Worth()

    def expect(self) -> None:
        """The next call may come at once."""
        self._expecting = self._able

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As in the standard library."""
        if not self._expecting or (timeout is not None and timeout < LOOK):
            return super().select(timeout)
        self._expecting = False
        began = self._clock()
        if self._worth.may() and (ready := self._look(began)):
            return ready
        if not self._worth.soon:
            self._place.forget()
        self._place.stay_aside()
        try:
            ready = super().select(timeout)
        finally:
            self._place.roam()
        self._worth.soon = self._clock() - began < LOOK + SOON
        return ready

    def _look(self, now: float) -> list[tuple[selectors.SelectorKey, int]]:
        """What there is to see within `LOOK`, or as soon as somebody else was given this core meanwhile."""
        if ready := super().select(0):
            return ready  # it was there already: to sleep would not have cost anything
        end, before = now + LOOK, now
        cores.give_way()
        now = self._clock()
        while not ready and now < end and now - before < GAP:
            ready = super().select(0)
            before, now = now, self._clock()
        gap = now - before
        if ready and gap < GAP:
            self._worth.paid()
            return ready
        busy = gap >= BUSY
        lasting = not self._worth.failed(HEAVY if busy else 1)
        if lasting and gap >= GAP and not self._place.step_aside() and busy:
            self._worth.rest()
        return ready
