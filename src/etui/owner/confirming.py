"""May a tool do what it asks about: the host's judgement of a command, what persons said "always" to, and the card.

Some commands only read in the working folder and need nobody's yes; some destroy and are asked about each time, whatever was
saved. A saved yes is bound to the code of the tool and to who asked, like every other. Each decision is written down.
Above: `services` answers tools with it. Below: `commands`, `cards`, `approvals`' way of keeping. It refuses to know: how the
command runs. A tool reaches none of this but through the wire, so it cannot judge its own commands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from etui import commands
from etui.budgets import window
from etui.cards import ALWAYS_CALL, ALWAYS_FAMILY, Answer, Card, Cards
from etui.owner.approvals import SPACE
from etui.session import Session
from etui.store.values import Values
from etui.tool import Call, Risk, Tool

APPROVED, DECLINED, UNANSWERED, UNREACHABLE, DISMISSED = "approved", "declined", "unanswered", "unreachable", "dismissed"
Decided = Callable[[str, str, str, str, str], None]
"""Writes a decision down: the call's id, the action, the risk, the verdict, and who decided."""

_ENDS = {
    "declined": (DECLINED, "user"),
    "dismissed": (DISMISSED, "dismissed"),
    "nobody": (UNANSWERED, "expired"),
}


class Decision(msgspec.Struct, frozen=True):
    """How a question to the gate ended."""

    verdict: str
    """`approved`, `declined`, `unanswered`, `unreachable` or `dismissed`."""
    by: str
    """Who decided: user, saved, saved-exact, auto-safe, expired, dismissed, or default where nobody could be asked."""


class Confirming:
    """Decides about actions of tools."""

    def __init__(self, values: Values, cards: Cards, work: Path, decided: Decided) -> None:
        self._values = values
        self._cards = cards
        self._work = work
        self._decided = decided

    async def confirm(
        self,
        tool: Tool,
        call: Call,
        session: Session,
        action: str,
        risk: str,
        family: str | None,
        force: bool,
        asking: Callable[[], None] = lambda: None,
    ) -> Decision:
        """Whether this may be done now: by itself, by what was saved, or by asking, before which `asking` may raise.

        `family` is what an "always" would stand for: None for the command's program, empty for nothing that can be saved.
        """
        harm = commands.destroys(action)
        decision = None
        if not force and not harm:
            decision = self._by_itself(tool, session, action, risk, family)
        if decision is None:
            always, named = ((), "") if force or harm else offers(action, family)
            notice = f"Careful: {harm}." if harm else ""
            asking()
            decision = await self._ask(tool, call, session, action, risk, always, named, notice)
        self._decided(call.id, action, risk, decision.verdict, decision.by)
        return decision

    async def approve(
        self,
        tool: Tool,
        call: Call,
        session: Session,
        action: str,
        family: str | None,
        notice: str,
        asking: Callable[[], None] = lambda: None,
    ) -> Decision:
        """Ask about something that is no command: nothing of it is harmless by itself, but a saved yes counts."""
        decision = self._saved(tool, session, action, family or "", named=bool(family))
        if decision is None:
            always = () if family == "" else (ALWAYS_CALL, *((ALWAYS_FAMILY,) if family else ()))
            asking()
            decision = await self._ask(tool, call, session, action, tool.risk, always, family or "", notice)
        self._decided(call.id, action, tool.risk, decision.verdict, decision.by)
        return decision

    def _by_itself(self, tool: Tool, session: Session, action: str, risk: str, family: str | None) -> Decision | None:
        program = commands.family(action)
        named = family is not None and family != program
        safe = not named and commands.only_reads(action, self._work)
        if risk == Risk.READ or safe:
            return Decision(APPROVED, "auto-safe")
        saved = self._saved(tool, session, action, program if family is None else family, named=named)
        if saved is None or saved.by == "saved-exact" or named:
            return saved
        # A yes to a program covers its plain lines; where it is one that only reads, those that stay in the folder.
        covered = commands.is_plain(action) and commands.can_be_saved(program) and not commands.runs_another(action)
        return saved if covered and commands.program(program) not in commands.READERS else None

    def _saved(self, tool: Tool, session: Session, action: str, family: str, *, named: bool) -> Decision | None:
        if self._values.get(SPACE, _key(tool, session.asker, "line", action)) is not None:
            return Decision(APPROVED, "saved-exact")
        if family and self._values.get(SPACE, _key(tool, session.asker, "family", family)) is not None:
            return Decision(APPROVED, "saved")
        return None

    async def _ask(
        self,
        tool: Tool,
        call: Call,
        session: Session,
        action: str,
        risk: str,
        always: tuple[str, ...],
        family: str,
        notice: str,
    ) -> Decision:
        if not session.attended:
            return Decision(UNREACHABLE, "default")
        card = Card(
            id="",
            kind="approval",
            question=f"May {tool.name} do this?",
            tool=tool.name,
            plugin=tool.plugin,
            arguments={"action": action},
            action=action,
            always=always,
            family=family if ALWAYS_FAMILY in always else "",
            notice=notice,
            reason=f"{tool.name} asks before it acts.",
            risk=risk,
            session=session.id,
            chat=session.chat,
            turn=call.turn,
            call=call.id,
        )
        asker = session.asker
        answer = await self._cards.ask(card, window(session.channel))
        if answer.state != "answered":
            return Decision(*_ENDS[answer.state])
        self._remember(tool, asker, action, family, answer)
        return Decision(APPROVED, "user")

    def _remember(self, tool: Tool, asker: str, action: str, family: str, answer: Answer) -> None:
        if answer.text not in (ALWAYS_CALL, ALWAYS_FAMILY):
            return
        exact = answer.text == ALWAYS_CALL
        key = _key(tool, asker, "line" if exact else "family", action if exact else family)
        kept = {"tool": tool.name, "plugin": tool.plugin, "channel": asker, "exact": exact}
        self._values.put(SPACE, key, {**kept, "what": action if exact else family})


def offers(action: str, family: str | None) -> tuple[tuple[str, ...], str]:
    """Which remembered yeses a card about a command offers, and what the wider one would stand for."""
    if family == "":
        return (), ""
    program = commands.family(action)
    if family is not None and family != program:
        return (ALWAYS_FAMILY,), family  # a name of the tool's own: its lines are never the same twice
    if not program:
        return (), ""
    wide = commands.is_plain(action) and commands.can_be_saved(program) and not commands.runs_another(action)
    return ((ALWAYS_CALL, ALWAYS_FAMILY), program) if wide else ((ALWAYS_CALL,), "")


def _key(tool: Tool, asker: str, kind: str, what: str) -> str:
    content = f"{tool.digest}\0{tool.plugin}\0{tool.name}\0{asker}\0{kind}\0{what}"
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
