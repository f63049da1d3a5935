"""From how a call ended in its worker, or did not, to the one outcome that everybody sees.

Above: `workers`, `inline`. Below: the nouns, `wire`. It refuses to know: processes and deadlines. Of an unexpected exception
the model gets the kind and a reference number; the exception's own text and the traceback are for the owner.
"""

from __future__ import annotations

import json
import secrets

import msgspec

from etui.errors import WireError
from etui.outcome import Outcome, Status
from etui.run import wire
from etui.run.answer import ENDED
from etui.run.blocked import ALONE, beside, blocked, denied
from etui.tool import Grant, Risk, Tool

NOTES, WHY, KEPT = 4000, 4000, 200_000
"""Characters of a note for the model, of a reason, and of what a person is shown or an owner finds, that a worker may give."""
NATIVE = "etui"
"""The contract whose tools declare all that they may touch."""


def reference() -> str:
    """A short number under which the owner finds the details."""
    return secrets.token_hex(2).upper()


def ended(tool: Tool, end: wire.Done, seconds: float, grant: Grant | None = None, work: str = "") -> Outcome:
    """The outcome of a call that was answered; `grant` is what its worker was held to, and `work` its working folder."""
    if len(end.notes) > NOTES or len(end.why) > WHY or len(end.shown) > KEPT or len(end.detail) > KEPT:
        end = msgspec.structs.replace(
            end, notes=end.notes[:NOTES], why=end.why[:WHY], shown=end.shown[:KEPT], detail=end.detail[:KEPT]
        )
    try:
        value = wire.from_json(end.data) if end.data else None
    except WireError as error:
        return broken(tool, Status.FAILED, f"{tool.name!r} gave a result that cannot be used. {error}", seconds)
    if end.status == "ok":
        return Outcome(
            status=Status.OK,
            text=end.text,
            notes=end.notes,
            shown=end.shown,
            data=value,
            images=end.images,
            files=end.files,
            seconds=seconds,
            silent=tool.silent if end.silent is None else end.silent,
            detail=end.detail,
        )
    if end.status == "refused":
        text = end.text or f"{tool.name!r} refused and gave no reason."
        return Outcome(status=Status.REFUSED, text=text, shown=end.shown, why=end.why, data=value, seconds=seconds, rule="tool")
    why = blocked(tool, grant, work, end.detail) if grant is not None and end.detail else ""
    return _failed(tool, end, value, seconds, " ".join(part for part in (end.why, why) if part))


def _failed(tool: Tool, end: wire.Done, value: object, seconds: float, why: str) -> Outcome:
    number = reference() if end.error or end.detail else ""
    own = (tool.words.note or tool.words.payload) and end.text and end.text != ENDED
    return Outcome(
        status=Status.FAILED,
        text=end.text if own else said(tool, _sentence(tool, end, number)),  # its contract may have sentences of its own
        notes=end.notes if own else end.notes or tool.words.note,
        shown=end.shown,
        why=why,
        data=value,
        images=end.images,
        files=end.files,
        seconds=seconds,
        reference=number,
        detail=end.detail,
    )


def _sentence(tool: Tool, end: wire.Done, number: str) -> str:
    if end.error in ("SystemExit", "KeyboardInterrupt") or end.text == ENDED:
        return f"{tool.name} failed: it tried to end the program (reference {number})."
    if end.error:
        return f"{tool.name} failed: {end.error} (reference {number}){_held(tool, end)}"
    if end.status == "cancelled":
        return f"{tool.name} failed: it cancelled itself."
    return end.text or f"{tool.name} failed and gave no reason."


def said(tool: Tool, text: str) -> str:
    """A sentence of the host's own as the tool's contract tells an error."""
    return json.dumps({"error": text}, ensure_ascii=False) if tool.words.payload else text


def _held(tool: Tool, end: wire.Done) -> str:
    """What to do where it wanted more than it declared; the words that the kernel uses are in the owner's detail."""
    if tool.contract != NATIVE or (end.error != "PermissionError" and not denied(end.detail)):
        return ""
    if beside(tool, end.detail):
        return f". {ALONE}"
    return f". {tool.name} declares risk {tool.risk.value!r} and is held to it; what goes beyond must be declared in its file."


def broken(tool: Tool, status: Status, text: str, seconds: float, detail: str = "") -> Outcome:
    """The outcome of a call that has no answer."""
    return _unanswered(tool, status, said(tool, text), seconds, detail)


def _unanswered(tool: Tool, status: Status, text: str, seconds: float, detail: str) -> Outcome:
    number = reference() if detail else ""
    return Outcome(status=status, text=text, notes=tool.words.note, seconds=seconds, reference=number, detail=detail)


def died(tool: Tool, how: str, seconds: float, detail: str) -> Outcome:
    """Its worker died while it ran: of a tool that acts nobody knows what it has done."""
    if tool.risk is Risk.READ:
        return broken(tool, Status.CRASHED, f"The process of {tool.name!r} died while it ran: {how}.", seconds, detail)
    text = f"The process of {tool.name!r} died while it ran ({how}): what it was to do may have happened. It is not run again."
    return broken(tool, Status.UNKNOWN, text, seconds, detail)


def timed_out(tool: Tool, limit: float | None, seconds: float, detail: str = "") -> Outcome:
    """It took longer than it may; `detail` says where it hung, if it had to be killed."""
    text = tool.words.timed_out or said(tool, f"{tool.name!r} took longer than {limit or 0:g} s and was ended.")
    return _unanswered(tool, Status.TIMED_OUT, text, seconds, detail)
