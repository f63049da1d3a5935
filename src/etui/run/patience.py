"""How a worker waits: right after an answer it looks for the next call for a moment before it sleeps, as long as that pays.

To sleep and be woken costs host and worker more than all the rest of a call, so calls that come in a row are taken awake. Only
they are: what decides is how soon the last ones came, and looking in vain too often ends it for a growing number of calls. To
look on the core that the host wants to call from would only keep it from calling, so a worker that finds itself there moves on.
Above: `toolloop`. Below: the standard library. It refuses to know: calls, and what comes on the sockets.
"""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable

from etui.run import kernel

LOOK = 200e-6
"""Seconds that it looks at the most; a call in a row comes much sooner, unless the host slept or wrote to the disk."""
SOON = 400e-6
"""What came within so many seconds after the worker fell asleep might have been met awake."""
GAP = 40e-6
"""Seconds between two glances after which another process must have had the core: the host, perhaps, on its way to call."""
TRIES = 8
"""How many more looks in vain than such that paid are put up with."""
REST = 64, 4096
"""Chances that are then passed over: the first time, and at the most, doubling until a look has paid."""


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _give_way() -> None:
    """Whoever waits for this core has it first."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()


def move_on() -> bool:
    """Take this thread to another of the cores that it may use, bound to none of them; whether there was one (Linux only)."""
    here = kernel.core()
    mine = os.sched_getaffinity(0) if here is not None else set[int]()
    others = mine - {here}
    if not others:
        return False
    try:
        os.sched_setaffinity(0, others)
        os.sched_setaffinity(0, mine)
    except OSError:
        return False
    return True


class Patience(selectors.DefaultSelector):
    """A selector like any other, with a way to say that something may come at once."""

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, cores: int = 0, move: Callable[[], bool] = move_on
    ) -> None:
        """`clock` gives seconds; where there is but one core (0: ask the system) looking would only keep others from it.

        `move` takes this thread to another core, and says whether it could.
        """
        super().__init__()
        self._clock = clock
        self._move = move
        self._able = (cores or _cores()) > 1
        self._expecting = False
        self._soon = False
        """The last one came so soon that to look for the next may pay."""
        self._tries = TRIES
        self._rest = REST[0]
        self._resting = 0

    def expect(self) -> None:
        """The next call may come at once."""
        self._expecting = self._able

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As in the standard library."""
        if not self._expecting or (timeout is not None and timeout < LOOK):
            return super().select(timeout)
        self._expecting = False
        began = self._clock()
        if self._soon and self._may_look() and (ready := self._look(began)):
            return ready
        ready = super().select(timeout)
        self._soon = self._clock() - began < LOOK + SOON
        return ready

    def _may_look(self) -> bool:
        if self._resting:
            self._resting -= 1
            return False
        return True

    def _look(self, now: float) -> list[tuple[selectors.SelectorKey, int]]:
        """What there is to see within `LOOK`, or as soon as somebody else was given this core meanwhile."""
        if ready := super().select(0):
            return ready  # it was there already: to sleep would not have cost anything
        end, before = now + LOOK, now
        _give_way()
        now = self._clock()
        while not ready and now < end and now - before < GAP:
            ready = super().select(0)
            before, now = now, self._clock()
        if ready and now - before < GAP:
            self._tries = min(self._tries + 1, TRIES)
            self._rest = REST[0]
        else:
            self._in_vain(crowded=now - before >= GAP)
        return ready

    def _in_vain(self, *, crowded: bool) -> None:
        """Looking did not pay; where another wants the same core, it is given up at once, for another one if there is one."""
        self._tries -= 1
        if not self._tries or (crowded and not self._move()):
            self._tries = TRIES
            self._resting = self._rest
            self._rest = min(2 * self._rest, REST[1])
