"""How a call is told when it begins and ends: the data of its events, without secrets, and the one line of its row.

Above: `session` tells it. Below: the nouns. It refuses to know: who listens, and how a row is drawn.
"""

from __future__ import annotations

from collections.abc import Callable

from etui.contracts.marks import unmarked
from etui.outcome import BAD, Outcome
from etui.tool import Call, Tool

Mask = Callable[[object], object]
"""A copy without secrets."""
AT_A_CARD = {
    "declined": "You said no, so it did not run.",
    "unanswered": "No answer came, so it did not run.",
    "unreachable": "Nobody was there to be asked, so it did not run.",
    "dismissed": "The question went away unanswered, so it did not run.",
}
"""What the row of a call says that ended at a question to a person without a yes; an outcome's `why` says at which."""
WIDEST = 160
"""Characters of the one line in which a row says how its call ended."""


def started(call: Call, tool: Tool | None, arguments: object, channel: str, runs: bool, mask: Mask) -> dict[str, object]:
    """The data of `CALL_STARTED`."""
    return {
        "tool": tool.name if tool else call.tool,
        "plugin": tool.plugin if tool else "",
        "arguments": mask(arguments),
        "risk": tool.risk.value if tool else "",
        "face": tool.face if tool else "",
        "channel": channel,
        "runs": runs,
    }


def ended(call: Call, tool: Tool | None, outcome: Outcome, mask: Mask) -> dict[str, object]:
    """The data of `CALL_ENDED`."""
    return {
        "tool": tool.name if tool else call.tool,
        "plugin": tool.plugin if tool else "",
        "status": outcome.status.value,
        "text": mask(outcome.text),
        "shown": mask(outcome.shown),
        "why": mask(outcome.why),
        "seconds": outcome.seconds,
        "rule": outcome.rule,
        "images": [{"id": image.id, "withheld": True} if image.withheld else image.id for image in outcome.images],
        "files": [{"id": file.id, "name": file.name} for file in outcome.files],
        "silent": outcome.silent,
        "reference": outcome.reference,
        **row(tool, outcome, mask),
    }


def row(tool: Tool | None, outcome: Outcome, mask: Mask) -> dict[str, object]:
    """How the row of a call that has ended looks: its mark, its one line, and what it opens to."""
    note = tool.words.note if tool else ""
    at_a_card = "" if outcome.ok or outcome.status in BAD else AT_A_CARD.get(outcome.why, "")
    kept, given = at_a_card or unmarked(outcome.shown) or outcome.text, outcome.text
    if outcome.status in BAD:
        kept, given = kept.removesuffix(note), given.removesuffix(note)
    line = next((line.strip() for line in kept.splitlines() if line.strip()), "done")[:WIDEST]
    return {
        "mark": "green" if outcome.ok else "red" if outcome.status in BAD else "grey",
        "line": mask(f"! {line}" if outcome.status in BAD else line),
        "full": "" if at_a_card else mask(given),
    }
