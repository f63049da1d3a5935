"""The time that a background job may still work: it passes while the job works, and stands while a person is waited for.

Above: `jobs`. Below: nothing of Etui; the clock and the timer are handed in. It refuses to know: what a job is, and what
happens when the time is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Handle(Protocol):
    """Something that will happen, and can be called off."""

    def cancel(self) -> object:
        """Call it off."""
        ...


Later = Callable[[float, Callable[[], None]], Handle]
"""Does something after so many seconds."""


class WorkTime:
    """The time of one job."""

    def __init__(self, seconds: float, over: Callable[[], None], later: Later, clock: Callable[[], float]) -> None:
        self._left = seconds
        self._over = over
        self._later = later
        self._clock = clock
        self._asking: set[str] = set()
        self._since = 0.0
        self._handle: Handle | None = None
        self._go()

    def opened(self, card: str) -> None:
        """A person is asked."""
        if not self._asking:
            self._left -= self._clock() - self._since
            self.stop()
        self._asking.add(card)

    def closed(self, card: str) -> None:
        """They have answered, or nobody did."""
        if card in self._asking:
            self._asking.discard(card)
            if not self._asking:
                self._go()

    def stop(self) -> None:
        """It stands."""
        if self._handle is not None:
            self._handle.cancel()

    def _go(self) -> None:
        self._since = self._clock()
        self._handle = self._later(max(0.0, self._left), self._over)
