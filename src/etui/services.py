"""What a running tool may ask of the host: its own state, settings and reminders, a question to the person, a line to be said.

One `Desk` serves one call. It knows the plugin from the host's own record of the call, never from what the worker sends.
Above: `host` hands desks to jobs. Below: `store`, `cards`, `session`. It refuses to know: how requests travel.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from etui.cards import Card, Cards
from etui.errors import ServiceError, StoreError
from etui.events import Hub, Kind
from etui.session import Session
from etui.settings import Settings
from etui.store import Store
from etui.store.reminders import Reminder
from etui.tool import Call, Tool


class Services:
    """The services of one host."""

    def __init__(
        self,
        *,
        store: Store,
        hub: Hub,
        cards: Cards,
        settings: Callable[[], Settings],
        clock: Callable[[], float],
        woken: Callable[[], None],
    ) -> None:
        self.store = store
        self.hub = hub
        self.cards = cards
        self.settings = settings
        self.clock = clock
        self.woken = woken
        """Called when a reminder was added, moved or cancelled."""

    def desk(self, tool: Tool, call: Call, session: Session) -> Callable[[str, dict[str, object]], Awaitable[object]]:
        """What serves this one call."""
        return Desk(self, tool, call, session).serve


class Desk:
    """Serves one call of one plugin's tool."""

    def __init__(self, services: Services, tool: Tool, call: Call, session: Session) -> None:
        self._services = services
        self._tool = tool
        self._call = call
        self._session = session

    async def serve(self, service: str, args: dict[str, object]) -> object:
        """Answer one request. Raises ServiceError, with a sentence for the tool's author, for what cannot be had."""
        handler = SERVICES.get(service)
        if handler is None:
            raise ServiceError(f"There is no service {service!r}.")
        try:
            return await handler(self, **args)
        except TypeError as error:
            raise ServiceError(f"The service {service!r} was asked with wrong arguments: {error}.") from None
        except StoreError as error:
            raise ServiceError(str(error)) from None

    async def state_get(self, key: str) -> object:
        """The value and its version, or None."""
        return self._services.store.state.get(self._tool.plugin, key)

    async def state_put(self, key: str, value: object) -> object:
        """Set it, whatever is there."""
        self._services.store.state.put(self._tool.plugin, key, value)
        return None

    async def state_swap(self, key: str, value: object, version: int) -> object:
        """Set it if it still has this version; version 0 is "not there"."""
        return self._services.store.state.swap(self._tool.plugin, key, value, version)

    async def state_delete(self, key: str) -> object:
        """Remove it."""
        return self._services.store.state.delete(self._tool.plugin, key)

    async def state_keys(self, prefix: str = "") -> object:
        """The keys that begin so."""
        return self._services.store.state.keys(self._tool.plugin, prefix)

    async def state_search(self, query: str, prefix: str = "", limit: int = 20) -> object:
        """Key, value and snippet of what matches, best first."""
        return self._services.store.state.search(self._tool.plugin, prefix, query, limit)

    async def settings_get(self, name: str) -> object:
        """One setting of the plugin's own table, or None."""
        return self._services.settings().plugin.get(self._tool.plugin, {}).get(name)

    async def remind_add(
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
        reminder = Reminder(
            id="",
            plugin=self._tool.plugin,
            kind=kind,
            text=text,
            label=label,
            due=float(at),
            zone=zone or self._services.settings().timezone,
            wall=wall,
            repeat=repeat,
            chat=self._session.chat,
            session=self._session.id,
            created=self._services.clock(),
            done=None,
        )
        kept = self._services.store.reminders.add(reminder)
        self._changed(kept.id)
        return kept.id

    async def remind_list(self, kind: str = "") -> object:
        """The plugin's own reminders that are still to come."""
        return [msgspec.to_builtins(one) for one in self._services.store.reminders.upcoming(kind, self._tool.plugin)]

    async def remind_cancel(self, id: str) -> object:
        """Cancel one of the plugin's own; False if there is none."""
        reminder = self._services.store.reminders.get(id)
        if reminder is None or reminder.plugin != self._tool.plugin:
            return False
        cancelled = self._services.store.reminders.cancel(id)
        self._changed(id)
        return cancelled

    async def ask(self, question: str, choices: list[str] | None = None, default: str = "") -> object:
        """Ask the person; `nobody` at once where nobody is there."""
        if not self._session.attended:
            return {"state": "nobody", "answer": default}
        card = Card(
            id="",
            kind="question",
            question=question,
            choices=tuple(choices or ()),
            tool=self._tool.name,
            plugin=self._tool.plugin,
            session=self._session.id,
            chat=self._session.chat,
            turn=self._call.turn,
            call=self._call.id,
        )
        answer = await self._services.cards.ask(card)
        return {"state": answer.state, "answer": answer.text if answer.state == "answered" else default}

    async def say(self, text: str) -> object:
        """Show and speak a line now."""
        self._tell(Kind.SAID, {"text": text, "why": "tool"})
        return None

    async def progress(self, fraction: float | None = None, text: str = "") -> object:
        """Tell how far the call is."""
        self._tell(Kind.CALL_PROGRESS, {"fraction": fraction, "text": text})
        return None

    def _tell(self, kind: Kind, data: dict[str, object]) -> None:
        session = self._session
        self._services.hub.tell(kind, data, session=session.id, chat=session.chat, turn=self._call.turn, call=self._call.id)

    def _changed(self, reminder: str) -> None:
        self._services.woken()
        self._tell(Kind.REMINDERS_CHANGED, {"reminder": reminder})


SERVICES: Mapping[str, Callable[..., Any]] = {
    "state.get": Desk.state_get,
    "state.put": Desk.state_put,
    "state.swap": Desk.state_swap,
    "state.delete": Desk.state_delete,
    "state.keys": Desk.state_keys,
    "state.search": Desk.state_search,
    "settings.get": Desk.settings_get,
    "remind.add": Desk.remind_add,
    "remind.list": Desk.remind_list,
    "remind.cancel": Desk.remind_cancel,
    "ask": Desk.ask,
    "say": Desk.say,
    "progress": Desk.progress,
}
"""The closed set of services, by the names that go over the wire."""
