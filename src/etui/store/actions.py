"""The audit of what was done: one row for each call that acted, and one for each decision about it, saying who permitted it.

Above: `journal`, which offers it. Below: `database`, `redact`. It refuses to know: who asks, and how a decision came about.
A call that only read, or that did not run, has no row of its own.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

import msgspec

from etui.outcome import BAD, Status
from etui.store.database import Database, Row, run
from etui.store.encoding import clean, unpack
from etui.store.redact import mask, mask_text, secrets_in

WIDEST = 180
"""Characters of the arguments that a row shows."""
EXECUTED, DECISION = "executed", "decision"
NOBODY = "agent-loop"
"""Who let an action through about which nobody was asked."""
BY: Mapping[str, str] = {
    NOBODY: "Nobody was asked: the settings allow it.",
    "user": "You decided it.",
    "saved": "You said yes to this once and for all.",
    "saved-exact": "You said yes to exactly this once and for all.",
    "allowlist": "The settings list it as allowed.",
    "auto-safe": "Nobody was asked: it only looks, and only at the working folder.",
    "expired": "Nobody answered in time.",
    "dismissed": "The question went away before it was answered.",
    "error": "It could not be asked.",
    "never": "Nobody was asked: no tool may do that.",
    "default": "Nobody could be asked, so the answer was no.",
}
"""Whoever decides, and what an owner reads about it."""
_ENDED = (Status.OK, Status.CANCELLED, *sorted(BAD))
_MARKS = ", ".join("?" for _ in _ENDED)
_CALLS = f"""SELECT c.id, c.session, c.chat, c.tool, c.arguments, c.risk, c.status, c.ended, d.verdict, d.decider
    FROM calls AS c LEFT JOIN decisions AS d
        ON d.number = (SELECT max(number) FROM decisions WHERE call = c.id AND verdict = 'approved')
    WHERE c.risk IN ('write', 'network', 'exec') AND c.ended < ? AND c.status IN ({_MARKS})
    ORDER BY c.number DESC LIMIT ?"""
_DECISIONS = """SELECT d.call, ifnull(c.session, ''), ifnull(c.chat, ''), ifnull(c.tool, ''), ifnull(c.arguments, '{}'),
        d.action, d.risk, d.verdict, d.decider, d.at
    FROM decisions AS d LEFT JOIN calls AS c ON c.id = d.call WHERE d.at < ? ORDER BY d.number DESC LIMIT ?"""


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the audit."""

    call: str
    session: str
    chat: str
    tool: str
    action: str
    """The tool's name and its arguments, without secrets and cut; or the command that was decided about."""
    risk: str
    approved: bool
    approver: str
    """One of `BY`."""
    detail: str
    """`executed`, `executed:failed`, `executed:cancelled` or `decision`."""
    authority: str
    """Who permitted it, in a sentence."""
    at: float
    """Seconds since the epoch."""


def decided(database: Database, at: float, call: str, action: str, risk: str, verdict: str, by: str) -> None:
    """Write a decision down soon."""
    row = (call, clean(mask_text(action)), risk, verdict, by, at)
    database.soon("INSERT INTO decisions (call, action, risk, verdict, decider, at) VALUES (?, ?, ?, ?, ?, ?)", row)


def newest(database: Database, limit: int, before: float | None) -> list[Action]:
    """The newest rows first."""
    end = float("inf") if before is None else before
    found = [_executed(row) for row in database.rows(_CALLS, (end, *_ENDED, limit))]
    found += [_decision(row) for row in database.rows(_DECISIONS, (end, limit))]
    # Of the same moment, what was decided came before what was done.
    found.sort(key=lambda action: (action.at, action.detail != DECISION), reverse=True)
    return found[:limit]


def forget_chat(connection: sqlite3.Connection, chat: str) -> None:
    """Within a transaction, and before its calls are unlinked: empty what was decided about in a chat."""
    run(
        connection,
        "UPDATE decisions SET action = '' WHERE call IN (SELECT id FROM calls WHERE chat = ? AND chat <> '')",
        (chat,),
    )


def action_of(tool: str, arguments: object) -> str:
    """A call as the audit names it."""
    text = json.dumps(mask(arguments, secrets_in(arguments)), ensure_ascii=False)
    return f"{tool} {text[:WIDEST]}"


def _executed(row: Row) -> Action:
    call, session, chat, tool, arguments, risk, status, ended, verdict, decider = row
    approver = decider if verdict else NOBODY
    how = ":cancelled" if status == Status.CANCELLED else "" if status == Status.OK else ":failed"
    return Action(
        call=call,
        session=session,
        chat=chat,
        tool=tool,
        action=action_of(tool, unpack(arguments)),
        risk=risk,
        approved=bool(verdict),
        approver=approver,
        detail=EXECUTED + how,
        authority=BY.get(approver, ""),
        at=ended,
    )


def _decision(row: Row) -> Action:
    call, session, chat, tool, arguments, action, risk, verdict, decider, at = row
    return Action(
        call=call,
        session=session,
        chat=chat,
        tool=tool,
        action=action or action_of(tool, unpack(arguments)),
        risk=risk,
        approved=verdict == "approved",
        approver=decider,
        detail=DECISION,
        authority=BY.get(decider, "") if decider != "user" or verdict == "approved" else "You said no.",
        at=at,
    )
