"""Running a plugin's functions for the host: in a thread, so that they may wait; coroutines on one loop of the plugin's own.

Above: `handling`, `daemons`, `routes`, `streaming`. Below: `current`, `scoping`. It refuses to know: which functions,
and what they give.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from typing import Any

from etui.contracts import Line
from etui.contracts.sapphire import current, scoping

Function = Callable[..., Any]


async def called(line: Line, function: Function, *arguments: Any, **named: Any) -> Any:
    """What the function gave, in the context of that line; a coroutine of it has run to its end. Raises whatever it raises."""
    return await asyncio.to_thread(_called, line, function, arguments, named)


def _called(line: Line, function: Function, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    current.enter(line)
    scoping.enter(line.caller)
    given = function(*arguments, **named)
    return OWN_LOOP.run(given) if asyncio.iscoroutine(given) or isinstance(given, Awaitable) else given


class _OwnLoop:
    """One loop for all coroutines of the plugin, in a thread of its own, so that they may share what belongs to a loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def run(self, awaitable: Awaitable[Any]) -> Any:
        """What it came to; the thread that asks waits."""
        return self.begin(awaitable).result()

    def begin(self, awaitable: Awaitable[Any]) -> Future[Any]:
        """Run it there; from any thread."""
        context = copy_context()

        async def whole() -> Any:
            return await awaitable

        return asyncio.run_coroutine_threadsafe(_in(context, whole), self._started())

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.SelectorEventLoop()
                threading.Thread(target=self._loop.run_forever, name="handlers", daemon=True).start()
            return self._loop


async def _in(context: Context, whole: Callable[[], Any]) -> Any:
    return await asyncio.get_running_loop().create_task(whole(), context=context)


OWN_LOOP = _OwnLoop()
