"""Wrong PINs, counted over all sessions and restarts: too many of them, and for a while none is taken at all.

Above: `pin`. Below: the store's named values, handed in. It refuses to know: PINs, and who gave them.
A record that cannot be read counts as one lockout; one that cannot be written goes on in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec
import structlog

from etui.errors import StoreError

log = structlog.get_logger(__name__)
SPACE, KEY = "pin", "failures"


class Kept(Protocol):
    """Where the record is kept."""

    def get(self, space: str, key: str) -> object | None:
        """The value, or None."""
        ...

    def put(self, space: str, key: str, value: object) -> None:
        """Keep it; raises StoreError."""
        ...


class Limits(msgspec.Struct, frozen=True):
    """How many wrong PINs are too many."""

    failures: int = 10
    window: float = 24 * 3600.0
    """Seconds in which they count."""
    lockout: float = 3600.0
    """Seconds in which none is taken."""


class _Record(msgspec.Struct):
    failures: list[float] = []
    """When each wrong one was given, in seconds since the epoch."""
    locked_until: float | None = None
    alerted_at: float | None = None


class Guard:
    """The record of one host."""

    def __init__(
        self, kept: Kept, clock: Callable[[], float], limits: Callable[[], Limits], alert: Callable[[float], None]
    ) -> None:
        """`alert` is told, once a window, until when no PIN is taken."""
        self._kept = kept
        self._clock = clock
        self._limits = limits
        self._alert = alert
        self._record: _Record | None = None

    @property
    def locked_until(self) -> float | None:
        """Until when no PIN is taken, in seconds since the epoch; None where they are."""
        record, now = self._known(), self._clock()
        if record.locked_until is None:
            return None
        # A clock that was set back shall not lock the owner out for longer than the lockout is.
        until = min(record.locked_until, now + self._limits().lockout)
        return until if until > now else None

    def failed(self) -> None:
        """A wrong one was given."""
        record, now, limits = self._known(), self._clock(), self._limits()
        record.failures = [at for at in record.failures if now - limits.window < at <= now] + [now]
        if len(record.failures) >= limits.failures:
            self._lock(record, now)
        self._write(record)

    def _known(self) -> _Record:
        if self._record is None:
            self._record = self._read()
        return self._record

    def _read(self) -> _Record:
        try:
            value = self._kept.get(SPACE, KEY)
            return _Record() if value is None else msgspec.convert(value, _Record)
        except (StoreError, msgspec.MsgspecError, UnicodeError) as error:
            log.warning("the record of wrong PINs cannot be read, so none is taken for a while", error=str(error))
            record = _Record()
            self._lock(record, self._clock())
            self._write(record)
            return record

    def _lock(self, record: _Record, now: float) -> None:
        limits = self._limits()
        record.locked_until = now + limits.lockout
        if record.alerted_at is None or not now - limits.window < record.alerted_at <= now:
            record.alerted_at = now
            self._alert(record.locked_until)

    def _write(self, record: _Record) -> None:
        try:
            self._kept.put(SPACE, KEY, msgspec.to_builtins(record))
        except StoreError as error:
            log.warning("the record of wrong PINs cannot be written, and goes on in memory", error=str(error))
