"""The end of a call that the gate did not simply allow: a person's yes or no to it, or the refusal that stands for it.

Above: `session`. Below: `cards`, and what persons said "always" to. It refuses to know: the rules, and how a card is shown.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from etui.cards import ALWAYS_CALL, ALWAYS_TOOL, Card
from etui.outcome import Outcome, Status
from etui.rows import AT_A_CARD
from etui.session.parts import Parts
from etui.tool import Tool
from etui.verdict import PIN, Verdict

DECIDED = {
    "answered": ("approved", "user"),
    "declined": ("declined", "user"),
    "nobody": ("unanswered", "expired"),
    "dismissed": ("dismissed", "dismissed"),
}
"""Verdict and who gave it, by how a card ended."""


async def ask(
    parts: Parts, card: Card, tool: Tool, arguments: Mapping[str, object], asker: str, verdict: Verdict
) -> Outcome | None:
    """Ask with this card; None once a person said yes, else the end of the call. `asker` is for whom an "always" is kept."""
    answer = await parts.cards.ask(card)
    parts.decided(card.call, "", tool.risk.value, *DECIDED[answer.state])
    if answer.state == "nobody":
        return unsaid(verdict, "unanswered", "Nobody answered.")
    if answer.state == "dismissed":
        return unsaid(verdict, "dismissed", "Nobody decided it yet.")
    if answer.state == "declined":
        text = f"The person declined {tool.name}. Do not try it again unless they ask."
        shown = AT_A_CARD["declined"]
        return Outcome(status=Status.REFUSED, rule="declined", text=text, shown=shown, why="declined")
    if answer.text in (ALWAYS_CALL, ALWAYS_TOOL):
        parts.memory.remember(tool, asker, arguments if answer.text == ALWAYS_CALL else None)
    return None


def unsaid(verdict: Verdict, why: str, text: str) -> Outcome:
    """The end of a call to which nobody said yes or no."""
    return Outcome(status=Status.NEEDS_APPROVAL, rule=verdict.rule, text=f"{verdict.reason} {text}", why=why)


def pin_first(tool: Tool, verdict: Verdict) -> Outcome:
    """The refusal of a call before the PIN: in the contract's own words where it has some, which are JSON."""
    own = verdict.reason in (tool.words.pin, tool.words.no_pin)
    return Outcome(
        status=Status.REFUSED,
        rule=verdict.rule,
        text=verdict.reason,
        data=msgspec.json.decode(verdict.reason) if own else None,
        shown=f"{tool.name} waits for the owner's PIN" + ("." if verdict.rule == PIN else ", and none is configured."),
    )
