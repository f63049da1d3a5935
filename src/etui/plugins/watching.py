"""Folders that are followed: whoever asked hears that something in them changed, soon and once it is quiet for a moment.

Above: `catalogue`. Below: `watchfiles`. It refuses to know: what lies in the folders, and what is done about a change.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog
import watchfiles

log = structlog.get_logger(__name__)
STEP_MS = 60
"""Milliseconds without a change after which a change is told."""
LOOK_MS = 1000
"""Milliseconds after which a folder that was put in another's place, or has come back, is noticed."""
NO_TEXT = "Unable to decode path"
"""What the library says when it ends over a file whose name is no text; it is begun again, and what it missed looked for."""
POLL_MS = 300
"""Milliseconds between two looks where the system tells of no changes."""


class Watching:
    """Follows the folders that there are at any time."""

    def __init__(
        self,
        folders: Callable[[], list[Path]],
        changed: Callable[[], Awaitable[None]],
        glance: Callable[[], object] = tuple,
    ) -> None:
        """`folders` names the folders to follow; `changed` is awaited at each change, one after the other.

        `glance` gives something that changes with what lies in no folder that is followed; it is asked now and then, and quick.
        """
        self._folders = folders
        self._changed = changed
        self._glance = glance
        self._glanced: object = None
        self._again = asyncio.Event()
        """Set when the folders to follow are others, or none."""
        self._following = asyncio.Event()
        self._closed = False
        self._polling = False
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Follow from now on: no change after this returns is missed."""
        self._glanced = self._glance()
        self._task = asyncio.create_task(self._run(), name="watching")
        await self._following.wait()

    def moved(self) -> None:
        """The folders are others now."""
        self._again.set()

    async def close(self) -> None:
        """Stop following."""
        self._closed = True
        self._again.set()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while not self._closed:
            self._again.clear()
            try:
                await self._follow(self._there())
            except* (OSError, RuntimeError) as found:
                error = str(found.exceptions[0])
                if NO_TEXT not in error:
                    # The system has no watches left, or a folder went away under one: look again, by polling.
                    log.warning("watching by polling", error=error)
                    self._polling = True

    async def _follow(self, folders: dict[Path, tuple[int, int]]) -> None:
        """Follow these folders until they are others."""
        # What changed while nothing was followed is seen at the first sign of life.
        unseen = self._following.is_set()
        changes = watchfiles.awatch(
            *folders,
            watch_filter=_matters,
            step=STEP_MS,
            debounce=10 * STEP_MS,
            stop_event=self._again,
            force_polling=self._polling or None,
            poll_delay_ms=POLL_MS,
            rust_timeout=LOOK_MS,
            yield_on_timeout=True,
        )
        # The first step puts the watches in place before it waits.
        asyncio.get_running_loop().call_soon(self._following.set)
        async for change in changes:
            if self._there() != folders:
                self._again.set()
            glanced = self._glance()
            if change or unseen or self._again.is_set() or glanced != self._glanced:
                unseen, self._glanced = False, glanced
                await self._tell()

    async def _tell(self) -> None:
        try:
            await self._changed()
        except Exception:
            # One change that could not be dealt with must not be the last one that is heard of.
            log.exception("a change could not be dealt with")

    def _there(self) -> dict[Path, tuple[int, int]]:
        """The folders that are there, each with what tells it from another one that takes its place."""
        found = {}
        for folder in self._folders():
            with contextlib.suppress(OSError):
                info = folder.stat()
                found[folder] = (info.st_dev, info.st_ino)
        return found


def _matters(change: watchfiles.Change, path: str) -> bool:
    name = Path(path).name
    return not (name.endswith((".pyc", ".swp", ".swx", "~", ".tmp")) or name.startswith(".") or "__pycache__" in path)
