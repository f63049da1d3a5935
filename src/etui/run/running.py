"""One call that is under way: its deadline, the time that a person takes, and the future that is its end.

Above: `worker` and `workers`. Below: the event loop's clock. It refuses to know: processes; what happens at the deadline is
handed in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from etui.run import Job
from etui.run.wire import Done

End = Done | str
"""The worker's answer, or how the worker died."""


class Running:
    """A call in a worker."""

    __slots__ = ("_at", "_left", "_loop", "_overdue", "_people", "_timer", "began", "end", "expired", "job", "number", "tasks")

    def __init__(self, number: int, job: Job, loop: asyncio.AbstractEventLoop, overdue: Callable[[Running], None]) -> None:
        self.number = number
        self.job = job
        self.end: asyncio.Future[End] = loop.create_future()
        self.expired = False
        """True once the deadline has passed."""
        self.tasks: set[asyncio.Task[None]] = set()
        """What the host does on its behalf."""
        self.began = loop.time()
        self._loop = loop
        self._overdue = overdue
        self._people = 0
        self._left = job.seconds
        self._at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._wind()

    def finish(self, end: End) -> None:
        """It has ended; a second end is dropped."""
        self._unwind()
        if not self.end.done():
            self.end.set_result(end)

    def person_asked(self) -> None:
        """From now on a person is waited for: the clock stands."""
        self._people += 1
        if self._people == 1 and self._timer is not None and self._left is not None:
            self._left = max(0.0, self._left - (self._loop.time() - self._at))
            self._unwind()

    def person_answered(self) -> None:
        """The clock goes on, if nobody else is waited for."""
        self._people -= 1
        if self._people == 0 and not self.end.done() and not self.expired:
            self._wind()

    def again(self) -> asyncio.Future[End]:
        """A new future for the end, for one whose wait was cancelled and who must see the end all the same."""
        if self.end.cancelled():
            self.end = self._loop.create_future()
        return self.end

    def stop_clock(self) -> None:
        """There is no deadline any more."""
        self._unwind()
        self._left = None

    def _wind(self) -> None:
        if self._left is not None:
            self._at = self._loop.time()
            self._timer = self._loop.call_later(self._left, self._expire)

    def _unwind(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        self.expired = True
        self._overdue(self)
