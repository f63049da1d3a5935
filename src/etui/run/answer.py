"""What becomes of a call's end before it travels: of an exception, and of a result that cannot travel.

Above: `child`, `inline`. Below: `wire`. It refuses to know: what the model and the person get of it (`ends` does).
"""

from __future__ import annotations

import traceback

import msgspec

from etui.contracts import Ran
from etui.errors import WireError
from etui.outcome import Status
from etui.run import wire

ENDED = "The tool tried to end the program."


def failed(error: BaseException) -> Ran:
    """How a call ended that raised this."""
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return Ran(status=Status.FAILED, text=ENDED, detail=trace)
    return Ran(status=Status.FAILED, error=type(error).__name__, detail=trace)


def answer(number: int, ran: object) -> wire.Done:
    """What a contract gave, ready to travel; a result that has no JSON is a failed call."""
    if not isinstance(ran, Ran):
        detail = f"The contract gave {type(ran).__name__} for a result."
        return wire.Done(number, Ran(status=Status.FAILED, error="TypeError", detail=detail))
    if not all(map(_travels, (ran.text, ran.shown, ran.error, ran.detail))):
        ran = msgspec.structs.replace(
            ran,
            text=wire.clean(ran.text),
            shown=wire.clean(ran.shown),
            error=wire.clean(ran.error),
            detail=wire.clean(ran.detail),
        )
    if ran.data is None:
        return wire.Done(number, ran)
    try:
        return wire.Done(number, msgspec.structs.replace(ran, data=None), wire.to_json(ran.data))
    except (WireError, MemoryError) as error:
        return unsent(number, error)


def _travels(text: str) -> bool:
    """Whether it is whole: text with a lone surrogate in it cannot be written as UTF-8."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True


def unsent(number: int, error: BaseException) -> wire.Done:
    """The tool ran, and its result stays where it is."""
    return wire.Done(number, Ran(status=Status.FAILED, text=f"The tool ran, but its result could not be sent. {error}"))
