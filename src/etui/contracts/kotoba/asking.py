"""`ctx.approval`: may this be done now? The host judges, remembers and asks; here the answer is only read.

Above: `context` gives each call a gate, `names` offers the functions around it. Below: the worker's side of the wire.
It refuses to know: which commands are harmless, what was saved, and how a person is reached.
"""

from __future__ import annotations

from typing import Any

from etui.contracts import Line
from etui.contracts.kotoba.witnesses import witness

APPROVED, DECLINED, UNANSWERED, UNREACHABLE, DISMISSED = "approved", "declined", "unanswered", "unreachable", "dismissed"


class Gate:
    """The human gate of one call."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def confirm(self, action: str, risk_kind: str = "exec", family: str | None = None, force_ask: bool = False) -> bool:
        """Whether the action may be done; anything but a yes is noted as the end of the call."""
        answer: Any = await self._line.ask(
            "confirm", action=str(action), risk=str(risk_kind), family=family, force=bool(force_ask)
        )
        return noted(answer["verdict"]) == APPROVED

    def would_auto_allow(
        self, action: str, risk_kind: str = "exec", family: str | None = None, force_ask: bool = False
    ) -> bool:
        """False: only the host knows, and it can only be asked by waiting."""
        return False


def noted(verdict: str) -> str:
    """The verdict, written down for the running call where it is no yes."""
    found = witness()
    if found is not None and verdict != APPROVED:
        found.verdict = verdict
    return verdict
