"""Threads for tools that block. Above: the contracts and the worker's loop. It refuses to know: what runs in them.

A plugin that took every thread there is must not take the next call with it: that one waits for a thread of ours to be free.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor


class Threads(ThreadPoolExecutor):
    """A pool whose work waits for one of its threads where the system gives no more."""

    def _adjust_thread_count(self) -> None:
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                raise
