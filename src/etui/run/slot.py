"""One plugin's place among the workers: what the next call runs, the worker that runs it, and when not to try again.

Above: `workers`. Below: `worker`, `contracts`. It refuses to know: how a worker is started.
"""

from __future__ import annotations

import asyncio

from etui.contracts import Files
from etui.run.enforced import Enforced
from etui.run.log import Log
from etui.run.worker import Worker
from etui.tool import Grant

STORM = 3
"""Deaths at start, in a row, after which a plugin is left alone."""
REST = 30.0
"""Seconds for which it is left alone."""


Key = tuple[str, str]
"""The plugin, and the session that has a worker of it to itself; the second is empty where all sessions share one."""


def key_of(plugin: str, instance: str = "") -> Key:
    """What a plugin's slot is found by."""
    return plugin, instance


class Slot:
    """A plugin's current version and worker."""

    def __init__(self, files: Files, grant: Grant) -> None:
        self.key = key_of(files.plugin, files.instance)
        self.files = files
        self.grant = grant
        self.log = Log()
        self.worker: Worker | None = None
        """The one that the next call goes to; None until one is started."""
        self.starting: asyncio.Task[Worker] | None = None
        self.awake = asyncio.Event()
        """Unset while no worker may be started: its code is being read anew."""
        self.awake.set()
        self.enforced: Enforced | None = None
        """What held for the worker that was started last."""
        self._deaths = 0
        self._how = ""
        self._until = 0.0

    def holds(self, files: Files, grant: Grant) -> bool:
        """Whether what runs may go on with these: the same code, as loose as it was, under the same grant."""
        same = bool(files.digest) and files.digest == self.files.digest and files.loose == self.files.loose
        return same and grant == self.grant

    def change(self, files: Files, grant: Grant) -> None:
        """From now on this is what a call runs; the worker of the old version finishes what it has."""
        self.files = files
        self.grant = grant
        self._deaths = 0
        self.retire()

    def retire(self) -> None:
        """Let go of the worker, without hurry, and of one that is being started."""
        self.starting = None
        if self.worker is not None:
            self.worker.leave()
            self.worker = None

    def started(self, worker: Worker) -> None:
        """It answered: it takes the next call."""
        self._deaths = 0
        self.worker = worker
        self.enforced = worker.enforced

    def died_at_start(self, how: str, now: float) -> None:
        """Count it; after `STORM` in a row the plugin rests, and then gets one try at a time."""
        self._deaths += 1
        self._how = how
        if self._deaths >= STORM:
            self._until = now + REST

    def resting(self, now: float) -> str:
        """The sentence that says why the plugin is not started now, or an empty text."""
        left = self._until - now
        if self._deaths < STORM or left <= 0:
            return ""
        return (
            f"Plugin {self.files.plugin!r} is not started again for {left:.0f} s, or until its code changes: "
            f"its process died {self._deaths} times in a row while it started ({self._how})."
        )
