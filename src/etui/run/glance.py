"""How the host waits for an answer that comes at once: it looks for it for a moment before it lets its loop go on.

To sleep and be woken costs more than a quick tool, as it does at the other end (`patience`). Only a tool whose last answer came
so soon is looked for, only while its worker has nothing else to do, and the loop has its turn all the same: a look is never
longer than `LOOK`, and once the loop has waited for `TURN`, nothing is looked for until it had one.
Above: `workers`. Below: `worker`, `running`, `worth`, `cores`. It refuses to know: what the answer is, and how a call ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from etui.run import cores
from etui.run.running import Running
from etui.run.worker import Worker
from etui.run.worth import Worth

LOOK = 80e-6
"""Seconds that the host looks at the most."""
SOON = 600e-6
"""An answer that the loop brought within so many seconds might have been met by looking."""
TURN = 4e-3
"""Seconds that the loop waits for its turn at the most."""


class Glances:
    """The looking of one event loop."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter, count: int = 0) -> None:
        """`clock` gives seconds; where there is but one core (0: ask the system) looking would only keep the worker from it."""
        self._clock = clock
        self._able = (count or cores.count()) > 1
        self._since = 0.0
        """Since when the loop waits for its turn; 0 while it does not."""

    def sent(self, worker: Worker, running: Running) -> None:
        """A call was sent: look for its end if that may come at once. What is seen is taken in as the loop would."""
        now = running.sent = self._clock()
        account = worker.looks.get(running.job.tool.name)
        if account is None:
            account = worker.looks[running.job.tool.name] = Worth()
        if not self._able or len(worker.calls) > 1 or not account.may() or not self._may_hold(now):
            return
        end = now + LOOK
        while worker.glance() and now < end:
            if running.end.done():
                account.paid()
                return
            now = self._clock()
        account.failed()

    def ended(self, worker: Worker, running: Running) -> None:
        """The call has ended; as soon as this one came, the next is expected."""
        worker.looks[running.job.tool.name].soon = self._clock() - running.sent < SOON

    def _may_hold(self, now: float) -> bool:
        """Whether the loop can be kept from its turn now."""
        if not self._since:
            self._since = now
            asyncio.get_running_loop().call_soon(self._turned)
        return now - self._since < TURN

    def _turned(self) -> None:
        self._since = 0.0
