"""One request of a turn: the chat as it stands, the tools that the session sees now, and the time where the person is.

Above: `loop`. Below: `model`, `prompt`, the session's door. It refuses to know: what the model makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from etui.agent import prompt
from etui.agent.calls import Door
from etui.agent.model import Ask, Elsewhere, ToolView
from etui.agent.sight import pictured
from etui.agent.told import EPHEMERAL
from etui.outcome import BAD
from etui.settings import Settings
from etui.store.chats import Message
from etui.tool import Tool

URL = re.compile(r"https?://\S", re.IGNORECASE)
LOOKED_AT = 3
"""How many of the last things that the person said may hold the link that a reader of pages needs."""
READERS = frozenset({("kotoba", "web_extract")})
"""Contract and name of tools that are offered only while there is a link to read, and until they fail on it."""
JOB = "work"
"""The key, in the meta of a notice, of the background job that it is about."""
LAST = "You have no tools any more in this turn: answer now, with what there is, and say what could not be done."


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
        self.offered: tuple[ToolView, ...] = ()
        """The tools that were on offer last."""

    async def __call__(self, session: Door, *, last: bool = False) -> Ask:
        """The request as of now; the `last` one of a turn offers no tools and wants an answer."""
        return self._request(session, () if last else await session.offered(), last)

    def beforehand(self, session: Door) -> Ask:
        """What the request would be about, for a model that is made ready: no tool's code is asked whether it can be used."""
        return self._request(session, session.tools(), last=False)

    def _request(self, session: Door, tools: Sequence[Tool], last: bool) -> Ask:
        zone, name = _zone(self._settings.timezone)
        now = datetime.fromtimestamp(self._clock(), zone or UTC)
        if zone is None:
            now = now.astimezone()
            name = now.tzname() or "UTC"
        messages = self._chats.messages(session.chat)
        shown = tuple(_view(session, tool) for tool in tools if not tool.provided and _fits(tool, messages))
        self.offered = shown or self.offered
        extra = f"{self._system}\n{LAST}" if last else self._system
        return Ask(
            messages=tuple(pictured(_replayed(messages), self._settings.image_memory_turns, self._settings.vision)),
            tools=shown,
            elsewhere=() if last else tuple(Elsewhere(tool=_view(session, tool), why=why) for tool, why in session.elsewhere()),
            provided=tuple(tool.name for tool in tools if tool.provided),
            now=now,
            timezone=name,
            language=self._settings.language,
            system=prompt.system(now, name, self._settings.language, extra),
            chat=session.chat,
        )


def _view(session: Door, tool: Tool) -> ToolView:
    """The tool as a model sees it."""
    return ToolView(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        examples=tool.examples,
        taught=session.taught(tool.name),
        risk=tool.risk,
        silent=tool.silent,
        plugin=tool.plugin,
    )


def _fits(tool: Tool, messages: Sequence[Message]) -> bool:
    """A reader of pages is there while the person lately gave it a link on which it has not failed."""
    if (tool.contract, tool.name) not in READERS:
        return True
    said = [at for at, message in enumerate(messages) if message.role == "user"][-LOOKED_AT:]
    links = [at for at in said if URL.search(messages[at].text)]
    if not links:
        return False
    after = messages[links[-1] :]
    return not any(one.role == "tool" and one.tool == tool.name and one.meta.get("status") in BAD for one in after)


def _replayed(messages: Sequence[Message]) -> Iterator[Message]:
    """The chat as it is told to models.

    Without turns that are for the person's eyes only, and without the notices of background jobs, but for those of which the
    person's last words are the first since.
    """
    unsaid = {one.turn for one in messages if one.role == "assistant" and one.meta.get(EPHEMERAL) and one.turn}
    messages = [one for one in messages if one.turn not in unsaid] if unsaid else messages
    said = [at for at, message in enumerate(messages) if message.role == "user"]
    since = said[-2] if len(said) > 1 else -1
    until = said[-1] if said else len(messages)
    for at, message in enumerate(messages):
        if message.role != "notice" or JOB not in message.meta or since < at < until:
            yield message


def _zone(name: str) -> tuple[tzinfo | None, str]:
    """The zone of that name; None for the machine's own."""
    try:
        return (ZoneInfo(name), name) if name else (None, "")
    except (ZoneInfoNotFoundError, ValueError):
        return None, ""
