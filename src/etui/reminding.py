"""Timers, alarms and reminders that come due: says them, writes them into their chat, moves the repeating ones on.

What came due while the host was off is said at the start. Above: `host` starts it and wakes it. Below: `store`, `events`.
It refuses to know: which tool made a reminder.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import structlog

from etui.errors import StoreError
from etui.events import Hub, Kind
from etui.store import Store
from etui.store.chats import Message
from etui.store.reminders import Reminder

log = structlog.get_logger(__name__)
LOOK = 5.0
"""Seconds after which the clock is looked at in any case: the machine may have slept, and its clock may have been set."""
LATE = 60.0
"""Seconds after which a reminder says that it is late."""


class Reminding:
    """The loop that waits for the next reminder."""

    def __init__(self, store: Store, hub: Hub, clock: Callable[[], float], look: float = LOOK) -> None:
        self._store = store
        self._hub = hub
        self._clock = clock
        self._look = look
        self._unkept: set[tuple[str, float]] = set()
        """What was said and could not be written down: id and time."""
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; what is overdue is said at once."""
        self.fire_due()
        self._task = asyncio.create_task(self._run(), name="reminding")

    def wake(self) -> None:
        """Look again: a reminder or the clock has changed."""
        self._wake.set()

    async def close(self) -> None:
        """End the loop; nothing is lost, the rest is said after the next start."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def fire_due(self) -> list[Reminder]:
        """Say everything that is due now."""
        now = self._clock()
        try:
            due = self._store.reminders.due(now)
        except StoreError as error:
            log.warning("reminders cannot be read", error=str(error))
            return []
        for reminder in due:
            self._fire(reminder, now)
        return due

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pause()):
                    await self._wake.wait()
            self.fire_due()

    def _pause(self) -> float:
        if self._unkept:
            return self._look
        try:
            following = self._store.reminders.next_due()
        except StoreError:
            return self._look
        return self._look if following is None else min(self._look, max(0.0, following - self._clock()))

    def _fire(self, reminder: Reminder, now: float) -> None:
        text = reminder.text
        if now - reminder.due > LATE:
            text = f"{text} (This was due while I was away.)"
        this = (reminder.id, reminder.due)
        said = this in self._unkept
        try:
            self._keep(reminder, text, now)
            self._unkept.discard(this)
        except StoreError as error:
            # The disk may be full: it is said all the same, once, and written down when that can be done.
            log.warning("reminder cannot be written down", reminder=reminder.id, error=str(error))
            self._unkept.add(this)
        if not said:
            self._hub.tell(Kind.SAID, {"text": text, "why": reminder.kind}, chat=reminder.chat, session=reminder.session)
            self._hub.tell(Kind.REMINDERS_CHANGED, {"reminder": reminder.id}, chat=reminder.chat)

    def _keep(self, reminder: Reminder, text: str, now: float) -> None:
        """Into its chat first: a death in between says it twice, and never not at all."""
        if reminder.chat and self._store.chats.get(reminder.chat) is not None:
            self._store.chats.add(Message(chat=reminder.chat, role="notice", text=text, meta={"why": reminder.kind}))
        self._store.reminders.finish(reminder.id, now)
