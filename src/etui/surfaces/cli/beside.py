"""A host at hand beside the person: its loop runs on a thread of its own, and finds the host again when that was started anew.

Above: `talk`. Below: `reach`. It refuses to know: what is said, and how it is shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from etui.errors import EtuiError
from etui.surfaces.cli.reach import Reach, Way, find_running

T = TypeVar("T")
BLINK = 0.1
"""Seconds after which a thread that waits looks for signals."""
LOOK = 0.5
"""Seconds between two looks for a host that has ended."""


class Beside:
    """A host at hand on a loop of its own, on a thread beside the person's."""

    reach: Reach

    def __init__(self, way: Way) -> None:
        self._way = way
        self._over = threading.Event()
        self._told: Callable[[dict[str, Any]], Awaitable[None]] | None = None
        self._lost: Callable[[bool], None] = lambda _: None
        self._early: deque[dict[str, Any]] = deque(maxlen=100)
        """Events that came before anybody was told of them."""
        self._ready: Future[Reach] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._work, name="etui-chat")

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start something there."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Future[T]) -> T:
        """The end of what was started. Ctrl-C is heard here, whichever thread the system gives the signal to."""
        while not work.done():
            # Only a signal of its own wakes a thread that waits without end, and another thread may be given it.
            wait([work], BLINK)
        return work.result()

    def tell(self, told: Callable[[dict[str, Any]], Awaitable[None]], lost: Callable[[bool], None]) -> None:
        """Tell of every event from the first one on, and whether the host is lost, on the loop there."""
        self._lost = lost

        async def begin() -> None:
            while self._early:
                await told(self._early.popleft())
            self._told = told

        self.start(begin())

    def __enter__(self) -> Beside:
        self._thread.start()
        try:
            self.reach = self.wait(self._ready)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _work(self) -> None:
        try:
            asyncio.run(self._hold())
        except BaseException as error:  # It belongs to whoever waits on the other thread.
            if not self._ready.done():
                self._ready.set_exception(error)

    async def _hold(self) -> None:
        self._ending = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        if self._over.is_set():
            return
        async with self._way.reach() as reach:
            while not self._ending.is_set():
                try:
                    await self._listen(reach)
                except EtuiError:
                    if not self._ready.done():
                        raise
                if not self._ending.is_set():
                    await self._find_again(reach)

    async def _listen(self, reach: Reach) -> None:
        """Hear what happens until this is over or the host has ended. Raises EtuiError where it cannot be heard at all."""
        async with reach.hearing(self._hear) as hearing:
            if not self._ready.done():
                self._ready.set_result(reach)
            ending = asyncio.create_task(self._ending.wait())
            await asyncio.wait({hearing, ending}, return_when=asyncio.FIRST_COMPLETED)
            ending.cancel()

    async def _find_again(self, reach: Reach) -> None:
        """Wait until a host runs on this home. None is started here: it would be in the way of the one that comes."""
        told = False
        while (found := await find_running(self._way.home.door)) is None:
            if not told:
                self._lost(True)
                told = True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._ending.wait()
            if self._ending.is_set():
                return
        await reach.renew(found, anew=told)
        if told:
            self._lost(False)

    async def _hear(self, event: dict[str, Any]) -> None:
        if self._told is not None:
            await self._told(event)
        else:
            self._early.append(event)

    def _end(self) -> None:
        self._over.set()
        if self._loop is not None and not self._loop.is_closed():
            # The loop may close by itself in this very moment.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()
