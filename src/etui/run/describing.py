"""What a plugin offers, learnt by loading it in a worker of its own: that it crashes or hangs is part of the answer.

Above: `workers`. Below: `living`, `worker`. It refuses to know: whether what it learns is used, and who asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from etui.contracts import Description, Files
from etui.errors import WorkerGone
from etui.run.living import Living
from etui.run.log import Log
from etui.run.worker import Worker
from etui.tool import Grant, Problem

AT_ONCE = 4
"""Plugins that are described at the same time."""
AGAIN = 1.0
"""Seconds for code to load that hung before."""


def no_more(worker: Worker, description: Description) -> bool:
    """A worker that has described itself is not needed any more."""
    return False


class Describing:
    """Asks plugins what they offer."""

    def __init__(self, living: Living, seconds: float) -> None:
        """Within so many seconds a plugin has to load."""
        self._living = living
        self.seconds = seconds
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._hung: set[str] = set()
        """Digests of code that did not load in time: nobody waits as long for it again."""

    async def describe(
        self, files: Files, grant: Grant, log: Log | None = None, keep: Callable[[Worker, Description], bool] = no_more
    ) -> Description:
        """What the plugin offers; its worker ends then, unless `keep` says that it stays. Raises nothing but CancelledError."""
        async with self._turn:
            try:
                worker = await self._living.launch(files, grant, log or Log())
            except WorkerGone as error:
                return _undescribed(files, f"No process could be started to read it: {error}")
            kept = False
            try:
                description = await self._learn(worker)
                kept = keep(worker, description)
                return description
            finally:
                if not kept:
                    worker.kill("it has described itself")
                    await asyncio.wait([worker.exited])

    async def _learn(self, worker: Worker) -> Description:
        """What it says it offers; that it died, or says nothing for too long, is a problem."""
        digest = worker.files.digest
        seconds = min(self.seconds, AGAIN) if digest in self._hung else self.seconds
        done, _ = await asyncio.wait([worker.described], timeout=seconds)
        if not done:
            self._hung |= {digest} - {""}
            undescribed = _undescribed(
                worker.files,
                f"It was not loaded after {seconds:g} s.",
                "Look for a loop, or for waiting, at its top level.",
            )
            return msgspec.structs.replace(undescribed, hung=True)
        if worker.described.cancelled():
            return _undescribed(worker.files, f"Its process died while it was loaded: {worker.why}.")
        self._hung.discard(digest)
        return worker.described.result()


def _undescribed(files: Files, reason: str, hint: str = "") -> Description:
    problem = Problem(what=files.plugin, reason=reason, hint=hint, file=files.path, plugin=files.plugin, source=files.source)
    return Description(contract="" if files.contract == "auto" else files.contract, problems=(problem,))
