"""One call that is under way: its deadline, the time that a person takes, and the future that is its end.

Above: `worker` and `workers`. Below: `deadlines`. It refuses to know: processes; what happens at the deadline is handed in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from etui.run import Job
from etui.run.deadlines import Deadlines
from etui.run.wire import Done

PERSON = frozenset({"ask", "confirm", "approve", "input", "tools.save"})
"""The services that wait for a person, whose time does not count."""
End = Done | str
"""The worker's answer, or how the worker died."""


class Running:
    """A call in a worker."""

    __slots__ = (
        "_deadlines",
        "_expires",
        "_left",
        "_loop",
        "_overdue",
        "_people",
        "end",
        "expired",
        "job",
        "number",
        "sent",
        "tasks",
    )

    def __init__(
        self,
        number: int,
        job: Job,
        loop: asyncio.AbstractEventLoop,
        deadlines: Deadlines,
        overdue: Callable[[Running], None],
    ) -> None:
        self.number = number
        self.job = job
        self.end: asyncio.Future[End] = loop.create_future()
        self.sent = 0.0
        """When it was sent, by the clock of whoever looks for its end."""
        self.expired = False
        """True once the deadline has passed."""
        self.tasks: set[asyncio.Task[None]] = set()
        """What the host does on its behalf."""
        self._loop = loop
        self._deadlines = deadlines
        self._overdue = overdue
        self._people = 0
        self._left = job.seconds
        self._expires = 0.0
        self._wind()

    def finish(self, end: End) -> None:
        """It has ended; a second end is dropped."""
        if self._left is not None:
            self._deadlines.leave(self)
            if not self._people and isinstance(end, str):
                self._left = max(0.0, self._expires - self._loop.time())
        if not self.end.done():
            self.end.set_result(end)

    @property
    def left(self) -> float | None:
        """Seconds that were left when its worker died; None if there was no limit."""
        return self._left

    def person_asked(self) -> None:
        """From now on a person is waited for: the clock stands."""
        self._people += 1
        if self._people == 1 and self._left is not None and not self.expired:
            self._left = max(0.0, self._expires - self._loop.time())
            self._deadlines.leave(self)

    def person_answered(self) -> None:
        """The clock goes on, if nobody else is waited for."""
        self._people -= 1
        if self._people == 0 and not self.end.done() and not self.expired:
            self._wind()

    def stop_clock(self) -> None:
        """There is no deadline any more."""
        self._deadlines.leave(self)
        self._left = None

    def again(self) -> asyncio.Future[End]:
        """A new future for the end, for one whose wait was cancelled and who must see the end all the same."""
        if self.end.cancelled():
            self.end = self._loop.create_future()
        return self.end

    def _wind(self) -> None:
        if self._left is not None:
            self._expires = self._loop.time() + self._left
            self._deadlines.enter(self, self._expires)

    def expire(self) -> None:
        """Its deadline has come."""
        self.expired = True
        self._overdue(self)
