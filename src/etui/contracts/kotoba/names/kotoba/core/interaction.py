"""`kotoba.core.interaction`: questions to the person, and how each of them ended.

Each question is the host's: it knows whether a person is there, draws the card, and watches the clock. Below: `asking`,
`witnesses`. It refuses to know: surfaces. A question that did not end in a yes is noted, so that a call that ended at a card is
a refusal and no success.
"""

from __future__ import annotations

from typing import Any

from etui.contracts.kotoba.asking import APPROVED, DECLINED, DISMISSED, UNANSWERED, UNREACHABLE, noted
from etui.contracts.kotoba.database import KEYS
from etui.contracts.kotoba.witnesses import line, witness

__all__ = ["APPROVED", "DECLINED", "DISMISSED", "UNANSWERED", "UNREACHABLE"]
DEFAULT_TIMEOUT = 180.0
TEXT_APPROVAL_TIMEOUT = DEFAULT_TIMEOUT
LOCAL_VOICE_APPROVAL_TIMEOUT = 60.0
VOICE_APPROVAL_TIMEOUT = 25.0
_SECRET = frozenset({"key", "secret"})


def el_agent_turn(ctx: Any) -> bool | None:
    """Whether an ElevenLabs agent holds the clock of this turn; None where nobody said."""
    return getattr(ctx, "el_call_bound", None)


def approval_timeout(channel: str | None, *, el_agent: bool | None = None) -> float:
    """Seconds for which a card stays open, by the way in which the person is reached."""
    if channel == "text":
        return TEXT_APPROVAL_TIMEOUT
    return LOCAL_VOICE_APPROVAL_TIMEOUT if el_agent is False else VOICE_APPROVAL_TIMEOUT


def note_no_run(ctx: Any, verdict: str) -> None:
    """Note that the running call ended at a card and did nothing; nothing happens where the call has no id."""
    if getattr(ctx, "call_id", ""):
        noted(str(verdict))


def no_run_verdict(ctx: Any, call_id: str) -> str:
    """How the call ended at a card; empty if it did not, or is not the running one."""
    found = witness()
    return found.verdict if found is not None and call_id and call_id == found.line.call else ""


def refusal_note(verdict: str, what: str) -> str:
    """For the model: that `what` was not done, and whose decision that was, if anybody's."""
    endings = {
        DECLINED: f"The person said no, so {what} did not happen. Accept that and do not ask for it again.",
        UNANSWERED: (
            f"Nobody answered the question about {what} in time, so it did not happen. That was no decision: "
            "say that the question ran out, and offer to put it again."
        ),
        DISMISSED: (
            f"The question about {what} was put away unanswered, so it did not happen. That was no decision: "
            "go on without it, and mention that it still waits for a yes."
        ),
    }
    return endings.get(
        verdict, f"There was nobody to ask about {what}, so it did not happen. Say plainly that the question could not be put."
    )


def refusal_row(verdict: str) -> str:
    """For the person, in a line: that it never ran, and why."""
    return {
        DECLINED: "you said no; it never ran",
        UNANSWERED: "nobody answered; it never ran",
        UNREACHABLE: "there was nobody to ask; it never ran",
        DISMISSED: "the question was put away; it never ran",
    }.get(verdict, "")


def no_run_result(ctx: Any, what: str, fallback: str) -> str:
    """What a tool answers after a no: the sentence for the ending that was noted, else the fallback."""
    found = witness()
    return refusal_note(found.verdict, what) if found is not None and found.verdict else fallback


async def ask_approval(ctx: Any, action: str, family: str | None = None, notice: object = None) -> str:
    """Ask the person about an action; the ending, noted where it is no yes."""
    answer: Any = await line().ask("approve", action=str(action), family=family, notice=_words(notice))
    return noted(answer["verdict"])


async def request_approval(
    session_id: str | None,
    action: str,
    timeout: float | None = None,  # noqa: ASYNC109 (the name that tools give)
    channel: str | None = None,
    family: str | None = None,
    card: dict[str, Any] | None = None,
    notice: object = None,
    el_agent: bool | None = None,
) -> tuple[bool, bool]:
    """Ask the person about an action: whether they said yes, and False, as the host itself remembers an "always"."""
    answer: Any = await line().ask("approve", action=str(action), family=family, notice=_words(notice))
    if card is not None:
        card["verdict"] = answer["verdict"]
    return answer["verdict"] == APPROVED, False


async def request_input(
    session_id: str | None,
    label: str,
    kind: str = "text",
    timeout: float = DEFAULT_TIMEOUT,  # noqa: ASYNC109 (the name that tools give)
    detail: str | None = None,
    name: str | None = None,
    card: dict[str, Any] | None = None,
) -> str | None:
    """Wait for what the person types, or None; how it ended is put into `card`."""
    seconds = None if timeout == DEFAULT_TIMEOUT else float(timeout)
    answer: Any = await line().ask("input", label=str(label), detail=str(detail or ""), secret=kind in _SECRET, seconds=seconds)
    if card is not None:
        card["verdict"] = answer["verdict"]
    value: str | None = answer["value"]
    return value


async def open_input_card(
    session_id: str | None, label: str, kind: str = "text", detail: str | None = None, name: str | None = None
) -> bool:
    """Show a box to type into and go on; whether anybody sees it. What is typed is the person's next sentence.

    A key goes into the plugin's own keys instead, under its name, and the conversation never holds it.
    """
    keep = KEYS + str(name or label) if kind in _SECRET else ""
    return bool(await line().ask("card.open", label=str(label), detail=str(detail or ""), keep=keep))


async def open_link_card(session_id: str | None, url: str, why: str = "") -> bool:
    """Offer a link to the person and go on; whether anybody sees it."""
    return bool(await line().ask("card.open", label=str(why), url=str(url)))


def _words(notice: object) -> str:
    """A notice as one text; some tools give a table."""
    if isinstance(notice, dict):
        return " ".join(str(value) for value in notice.values() if value)
    return str(notice or "")
