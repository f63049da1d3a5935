"""The threads of a worker, each known by the call that it runs for.

Above: `child`, which must not say that a call has ended while a thread of it still runs. Below: the standard library.
It refuses to know: contracts. Whatever a contract hands to the loop's default executor (`asyncio.to_thread` too) passes here.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

CALL: ContextVar[int] = ContextVar("call", default=0)
"""The number of the call for which this code runs; 0 outside of calls."""
MOST = 64
"""Threads at once; more wait for their turn."""

_T = TypeVar("_T")


class Threads(concurrent.futures.ThreadPoolExecutor):
    """A thread pool that can say which threads a call still has."""

    def __init__(self) -> None:
        super().__init__(max_workers=MOST, thread_name_prefix="tool")
        self._of: dict[int, set[concurrent.futures.Future[Any]]] = {}

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[_T]:
        """As in the standard library, and noted for the call in whose context it happens."""
        future = super().submit(fn, *args, **kwargs)
        call = CALL.get()
        if call:
            self._of.setdefault(call, set()).add(future)
        return future

    async def ended(self, call: int) -> None:
        """Wait until no thread runs for that call; those that have not begun never will."""
        mine = self._of.get(call, set())
        for future in mine:
            future.cancel()
        running = [asyncio.wrap_future(future) for future in mine if not future.done()]
        if running:
            await asyncio.wait(running)

    def forget(self, call: int) -> None:
        """The call is over."""
        self._of.pop(call, None)
