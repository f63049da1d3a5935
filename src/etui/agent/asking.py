"""One request of a turn: the chat as it stands, the tools that the session sees now, and the time where the person is.

Above: `loop`. Below: `model`, `prompt`, the session's door. It refuses to know: what the model makes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from etui.agent import prompt
from etui.agent.calls import Door
from etui.agent.model import Ask, ToolView
from etui.settings import Settings
from etui.store.chats import Message


class Stored(Protocol):
    """Where the chat is kept."""

    def messages(self, chat: str, after: int = 0) -> list[Message]:
        """The chat so far."""
        ...


class Asking:
    """Makes the requests of one turn."""

    def __init__(self, chats: Stored, settings: Settings, clock: Callable[[], float], system: str) -> None:
        self._chats = chats
        self._settings = settings
        self._clock = clock
        self._system = system

    def __call__(self, session: Door) -> Ask:
        """The request as of now."""
        zone, name = _zone(self._settings.timezone)
        now = datetime.fromtimestamp(self._clock(), zone or UTC)
        if zone is None:
            now = now.astimezone()
            name = now.tzname() or "UTC"
        return Ask(
            messages=tuple(self._chats.messages(session.chat)),
            tools=views(session),
            now=now,
            timezone=name,
            language=self._settings.language,
            system=prompt.system(now, name, self._settings.language, self._system),
            chat=session.chat,
        )


def views(session: Door) -> tuple[ToolView, ...]:
    """The session's tools as a model sees them."""
    return tuple(
        ToolView(
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            examples=tool.examples,
            taught=session.taught(tool.name),
            risk=tool.risk,
            silent=tool.silent,
            plugin=tool.plugin,
        )
        for tool in session.tools()
    )


def _zone(name: str) -> tuple[tzinfo | None, str]:
    """The zone of that name; None for the machine's own."""
    try:
        return (ZoneInfo(name), name) if name else (None, "")
    except (ZoneInfoNotFoundError, ValueError):
        return None, ""
