"""The event loop of a worker: it starts a call's task at once, and knows which threads a call still has.

Above: `child`. Below: the standard library. It refuses to know: contracts and the wire. Whatever a contract runs in a thread
through the loop passes here (`asyncio.to_thread` too), so that a call is not said to have ended while a thread of it runs.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from contextvars import Context, ContextVar
from typing import Any

from etui.contracts.threads import Threads
from etui.run.patience import Patience

CALL: ContextVar[int] = ContextVar("call", default=0)
"""The number of the call for which this code runs; 0 outside of calls."""
MOST = 64
"""Threads at once in the loop's own pool; more wait for their turn."""


class _Work:
    """A function on its way through a thread, which can be called off until it begins."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], over: Callable[[_Work], None]) -> None:
        self._function = function
        self._arguments = arguments
        self._over = over
        self._lock = threading.Lock()
        self._off = False
        self.begun = False

    def __call__(self) -> Any:
        with self._lock:
            if self._off:
                return None
            self.begun = True
        try:
            return self._function(*self._arguments)
        finally:
            self._over(self)

    def call_off(self) -> bool:
        """True if it will never begin."""
        with self._lock:
            self._off = not self.begun
            return self._off


class ToolLoop(asyncio.SelectorEventLoop):
    """An asyncio loop like any other, with some more questions."""

    def __init__(self) -> None:
        self._patience = Patience()
        super().__init__(self._patience)
        self.set_default_executor(Threads(MOST, thread_name_prefix="tool"))
        self._work: dict[int, set[_Work]] = {}
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._first: list[tuple[Callable[..., object], Context | None]] | None = None

    def expect(self) -> None:
        """A call was answered, and none is under way: the next may come at once."""
        self._patience.expect()

    def begin(self, call: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task whose first step is taken now and not in the loop's next round, which most calls then do not need."""
        if sys.version_info >= (3, 12):
            return asyncio.Task(call, loop=self, eager_start=True)
        self._first = []
        try:
            task = asyncio.Task(call, loop=self)
            [(step, context)] = self._first
        finally:
            self._first = None
        if context is None:
            step()
        else:
            context.run(step)
        return task

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Any:  # type: ignore[override]
        """As in the standard library, except that `begin` takes the first step of its task itself, without a handle."""
        if self._first is None:
            return super().call_soon(callback, *args, context=context)
        self._first.append((callback, context))
        return None

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """As in the standard library, and noted for the call in whose context it happens."""
        call = CALL.get()
        if not call:
            return super().run_in_executor(executor, func, *args)
        work = _Work(func, args, lambda work: self._tell_over(call, work))
        self._work.setdefault(call, set()).add(work)
        return super().run_in_executor(executor, work)

    async def threads_ended(self, call: int) -> None:
        """Wait until no thread runs for that call; what has not begun never will."""
        left = {work for work in self._work.get(call, ()) if not work.call_off()}
        self._work[call] = left
        if left:
            self._waiting[call] = self.create_future()
            try:
                await self._waiting[call]
            finally:
                del self._waiting[call]

    def forget(self, call: int) -> None:
        """The call is over."""
        self._work.pop(call, None)

    def _tell_over(self, call: int, work: _Work) -> None:
        """In the thread."""
        self.call_soon_threadsafe(self._over, call, work)

    def _over(self, call: int, work: _Work) -> None:
        left = self._work.get(call, set())
        left.discard(work)
        waiting = self._waiting.get(call)
        if not left and waiting is not None and not waiting.done():
            waiting.set_result(None)
