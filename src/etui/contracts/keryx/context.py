"""What a handler is handed: the `ToolContext` of its call, and behind it the live session.

Above: `calling` makes both for each call, `names` gives `ToolContext` to tool files. Below: `trust`, `standing`, the line to
the host. It refuses to know: the gate. A tool sees what its session has proved, and cannot change it: it cannot let itself in.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

from etui.contracts import Line, standing
from etui.contracts.keryx.trust import LEVELS, TrustLevel

PHONE = "phone"
LOCAL = "local"
"""Every channel that is no phone."""


@dataclass
class ToolContext:
    """What a handler may know of the session that called it. `session` may be any object with the same names."""

    session: Any
    channel: str
    """`phone` or `local`."""
    caller: str | None = None
    """Who called: a number or a name."""

    @property
    def authorized(self) -> bool:
        """Whether the PIN was given in this session, as it is now."""
        return bool(self.session.authorized)

    @property
    def trust(self) -> TrustLevel:
        """What the session has proved, as it is now."""
        level: TrustLevel = self.session.trust
        return level


class Session:
    """The session of one call, as it is now."""

    opening_task_id: int | None = None
    """None: no session here is opened by a task."""
    reportable_task_ids: frozenset[int] = frozenset()

    def __init__(self, line: Line) -> None:
        self._line = line
        self._home = threading.get_ident()
        self._loop = asyncio.get_running_loop()
        self._told: set[asyncio.Task[object]] = set()

    @property
    def authorized(self) -> bool:
        """Whether the PIN was given."""
        return standing.of(self._line.caller.session).authorized

    @property
    def trust(self) -> TrustLevel:
        """What was proved."""
        return LEVELS.get(standing.of(self._line.caller.session).trust, TrustLevel.NONE)

    @property
    def keypressed(self) -> bool:
        """Whether a key was pressed."""
        return standing.of(self._line.caller.session).keypressed

    @property
    def channel(self) -> str:
        """`phone` or `local`."""
        return PHONE if self._line.caller.channel == PHONE else LOCAL

    @property
    def caller(self) -> str | None:
        """Who called; None where nobody can say."""
        return self._line.caller.caller or None

    @property
    def session_id(self) -> str:
        """Eight hexadecimal digits."""
        return self._line.caller.session[:8]

    def request_end(self, reason: str = "user") -> None:
        """Ask for the session's end, once what is being said now was said."""
        self._tell("session.end", reason=str(reason))

    def authorize(self) -> None:
        """Raises PermissionError, and the owner can read that it was tried."""
        self._tell("session.tried", what="authorize()")
        raise PermissionError("a tool cannot let itself in: only the owner's PIN does that")

    async def submit_pin(self, text: str) -> dict[str, Any]:
        """Raises PermissionError, and the owner can read that it was tried; nothing is compared or counted."""
        self._tell("session.tried", what="submit_pin()")
        raise PermissionError("a tool cannot try a PIN: only the person who is speaking can give it")

    async def settled(self) -> None:
        """Wait until the host has heard all that this call told it."""
        if self._told:
            await asyncio.gather(*self._told, return_exceptions=True)

    def _tell(self, service: str, **args: object) -> None:
        if threading.get_ident() == self._home:
            self._begin(service, args)
        else:
            self._loop.call_soon_threadsafe(self._begin, service, args)

    def _begin(self, service: str, args: dict[str, object]) -> None:
        self._told.add(self._loop.create_task(self._line.ask(service, **args)))


def context(line: Line) -> ToolContext:
    """The context of the call on this line, of its own. From the worker's loop only."""
    session = Session(line)
    return ToolContext(session=session, channel=session.channel, caller=session.caller)
