"""How the calls of a session are written down and told: when one begins, when it ends, and when it is turned away.

Above: `session`. Below: the journal and the events. It refuses to know: why a call ends as it does, and who is
shown it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
import structlog

from etui.errors import StoreError
from etui.events import Kind
from etui.outcome import Outcome, Status
from etui.rows import ended, started
from etui.session.parts import Parts
from etui.tool import Call, Tool

log = structlog.get_logger(__name__)
A = TypeVar("A")
UNSPOKEN = "[PIN]"
"""What stands where an argument was that is written down nowhere."""


class Record:
    """The record of one session's calls."""

    def __init__(self, parts: Parts, *, session: str, chat: str, channel: str) -> None:
        self._parts = parts
        self._session = session
        self._chat = chat
        self._channel = channel

    def turned_away(self, call: Call, tool: Tool | None, arguments: object, outcome: Outcome) -> Outcome:
        """A call that never began, with its arguments as they may be written down; gives its end with the detail of it."""
        if tool is not None and not outcome.detail:
            where = f" ({tool.file}:{tool.line})" if tool.file else ""
            detail = f"Rule {outcome.rule!r}; {tool.name!r} belongs to plugin {tool.plugin!r}{where}."
            outcome = msgspec.structs.replace(outcome, detail=detail)
        try:
            self._parts.journal.refuse(
                call, outcome, tool=tool, arguments=arguments, chat=self._chat, session=self._session, channel=self._channel
            )
        except StoreError as error:
            log.warning("a refusal could not be written down", tool=call.tool, error=str(error))
        self._tell_start(call, tool, arguments, runs=False)
        self._tell_end(call, tool, outcome)
        return outcome

    def begun(self, call: Call, tool: Tool, arguments: dict[str, object]) -> Outcome | None:
        """It is about to run with these arguments; its end, if it must not, since nobody would know that it ran."""
        told = unspoken(tool, arguments)
        try:
            self._parts.journal.begin(call, tool, told, chat=self._chat, session=self._session, channel=self._channel)
        except StoreError as error:
            text = f"{tool.name} did not run, for it could not be written down before. {error}"
            outcome = Outcome(status=Status.FAILED, text=text, why="unwritten")
            self._tell_start(call, tool, told, runs=False)
            self._tell_end(call, tool, outcome)
            return outcome
        self._tell_start(call, tool, told, runs=True)
        return None

    def ended(self, call: Call, tool: Tool, outcome: Outcome) -> None:
        """It ran, and this came of it."""
        self._parts.journal.end(call.id, outcome)
        self._tell_end(call, tool, outcome)

    def _tell_start(self, call: Call, tool: Tool | None, arguments: object, *, runs: bool) -> None:
        mask = self._parts.mask
        self._tell(Kind.CALL_STARTED, call, lambda: started(call, tool, arguments, self._channel, runs, mask))

    def _tell_end(self, call: Call, tool: Tool | None, outcome: Outcome) -> None:
        mask = self._parts.mask
        self._tell(Kind.CALL_ENDED, call, lambda: ended(call, tool, outcome, mask))

    def _tell(self, kind: Kind, call: Call, make: Callable[[], dict[str, object]]) -> None:
        self._parts.hub.tell_made(kind, make, session=self._session, chat=self._chat, turn=call.turn, call=call.id)


def unspoken(tool: Tool, arguments: A) -> A:
    """The arguments without what this tool wants written down nowhere; of one with secrets, no other value stays either."""
    if not tool.secrets:
        return arguments
    return dict.fromkeys(tool.secrets, UNSPOKEN)  # type: ignore[return-value]  # every kind of arguments may be an object
