"""A plugin's own reminders: what is said at a time to come, in the chat in which it was asked for.

Above: the table of services. Below: `store.reminders`. It refuses to know: who waits for them, and how they are said.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from etui.errors import ServiceError
from etui.events import LINE, Kind
from etui.services.desk import Desk, Family
from etui.services.texts import LABEL, text_of
from etui.session import Session
from etui.settings import Settings
from etui.store.reminders import Reminder, Reminders

MOST = 500
"""Reminders of a plugin that may wait at once."""


class OwnReminders:
    """The reminders of one plugin."""

    def __init__(
        self,
        reminders: Reminders,
        plugin: str,
        session: Session,
        *,
        settings: Callable[[], Settings],
        clock: Callable[[], float],
        changed: Callable[[str], None],
    ) -> None:
        """`clock` gives seconds since the epoch; `changed` hears the id of one that was added or cancelled."""
        self._reminders = reminders
        self._plugin = plugin
        self._session = session
        self._settings = settings
        self._clock = clock
        self._changed = changed

    async def add(
        self,
        text: str,
        at: float,
        kind: str = "reminder",
        label: str = "",
        repeat: str = "",
        wall: str = "",
        zone: str = "",
    ) -> object:
        """Say `text` at that time (seconds since the epoch), also after a restart; gives the reminder's id."""
        if len(self._reminders.upcoming("", self._plugin)) >= MOST:
            raise ServiceError(f"{self._plugin!r} has {MOST} reminders that are still to come; cancel some first.")
        reminder = Reminder(
            id="",
            plugin=self._plugin,
            kind=kind,
            text=text_of(text, LINE),
            label=text_of(label, LABEL),
            due=float(at),
            zone=zone or self._settings().timezone,
            wall=wall,
            repeat=repeat,
            chat=self._session.chat,
            session=self._session.id,
            created=self._clock(),
            done=None,
        )
        kept = self._reminders.add(reminder)
        self._changed(kept.id)
        return kept.id

    async def list(self, kind: str = "") -> object:
        """The plugin's own reminders that are still to come."""
        return [msgspec.to_builtins(one) for one in self._reminders.upcoming(kind, self._plugin)]

    async def cancel(self, id: str) -> object:
        """Cancel one of the plugin's own; False if there is none."""
        reminder = self._reminders.get(id)
        if reminder is None or reminder.plugin != self._plugin:
            return False
        cancelled = self._reminders.cancel(id)
        self._changed(id)
        return cancelled


def _made(desk: Desk) -> OwnReminders:
    def changed(reminder: str) -> None:
        desk.needs.woken()
        desk.tell(Kind.REMINDERS_CHANGED, {"reminder": reminder})

    return OwnReminders(
        desk.needs.store.reminders,
        desk.plugin,
        desk.session,
        settings=desk.needs.settings,
        clock=desk.needs.clock,
        changed=changed,
    )


FAMILY = Family(
    _made,
    {"remind.add": OwnReminders.add, "remind.list": OwnReminders.list, "remind.cancel": OwnReminders.cancel},
    told=True,
)
