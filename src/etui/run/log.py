"""What a plugin prints, kept for its owner: always drained, never more than the last piece of it.

Above: `worker`, `living`. Below: `asyncio`. It refuses to know: who reads it.
"""

from __future__ import annotations

import asyncio
import os

KEPT = 64 << 10
"""Bytes of output that are kept."""
_AT_ONCE = 64 << 10
_PAUSE = 0.002


class Log:
    """The last `KEPT` bytes that were printed."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        """Append, and forget the oldest."""
        self._data += data
        if len(self._data) > KEPT:
            del self._data[: len(self._data) - KEPT]

    @property
    def text(self) -> str:
        """As text; what is no UTF-8 is shown as replacement characters."""
        return self._data.decode("utf-8", "replace")


class Drain:
    """Empties one output pipe into a log until it is closed, in small bites so that a flood does not hold the loop."""

    def __init__(self, descriptor: int, log: Log) -> None:
        self._descriptor = descriptor
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._later: asyncio.TimerHandle | None = None
        self._watch()

    def close(self) -> None:
        """Take what is still in the pipe and let go of it."""
        if self._descriptor < 0:
            return
        if self._take() == _AT_ONCE:
            self._take()
        self._stop()

    def _watch(self) -> None:
        self._later = None
        self._loop.add_reader(self._descriptor, self._readable)

    def _readable(self) -> None:
        count = self._take()
        if count == 0:
            self._stop()
        elif count == _AT_ONCE:
            self._loop.remove_reader(self._descriptor)
            self._later = self._loop.call_later(_PAUSE, self._watch)

    def _take(self) -> int | None:
        """Bytes taken; 0 at the end, None if there is nothing now."""
        try:
            data = os.read(self._descriptor, _AT_ONCE)
        except BlockingIOError:
            return None
        except OSError:
            return 0
        self._log.add(data)
        return len(data)

    def _stop(self) -> None:
        if self._later is not None:
            self._later.cancel()
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1
