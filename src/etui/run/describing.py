"""What a plugin offers, learnt by loading it in a worker of its own: that it crashes or hangs is part of the answer.

Above: `workers`. Below: `living`, `worker`. It refuses to know: whether what it learns is used, and who asked.
"""

from __future__ import annotations

import asyncio
import re
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
HINTS = {
    "ended itself": "Remove what ends the program at its top level.",
    "of memory": "Load what is large inside the tool and not at the top level.",
    **dict.fromkeys(
        ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE"),
        "Code that is no Python crashed: import the packages one by one to find the one.",
    ),
}
"""What may help, by how a process died."""
_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in')
"""Where it was in Python, as the system's last words have it."""


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
            return _died(worker)
        self._hung.discard(digest)
        return worker.described.result()


def _died(worker: Worker) -> Description:
    """Its process died while it was loaded: of what, in which line where that shows, and what may help."""
    how = worker.why
    hint = next((hint for sign, hint in HINTS.items() if sign in how), "")
    place = next((one for one in _PLACE.finditer(worker.printed) if one["file"] in worker.files.files), None)
    file, line = (place["file"], int(place["line"])) if place is not None else ("", 0)
    return _undescribed(
        worker.files, f"Its process died while it was loaded: {how}.", hint, file=file, line=line, trace=worker.last_words(how)
    )


def _undescribed(files: Files, reason: str, hint: str = "", *, file: str = "", line: int = 0, trace: str = "") -> Description:
    problem = Problem(
        what=files.plugin,
        reason=reason,
        hint=hint,
        file=file or files.path,
        line=line,
        plugin=files.plugin,
        source=files.source,
        trace=trace,
    )
    return Description(contract="" if files.contract == "auto" else files.contract, problems=(problem,))
