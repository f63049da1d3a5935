"""What becomes of a call's end before it travels: of an exception, and of a result that cannot travel.

Above: `child`, `inline`. Below: `wire`. It refuses to know: what the model and the person get of it (`ends` does).
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from etui.contracts import Ran
from etui.errors import WireError
from etui.outcome import Status
from etui.run import wire

_SAYABLE: Mapping[Status, wire.Ending] = {
    Status.OK: "ok",
    Status.REFUSED: "refused",
    Status.FAILED: "failed",
    Status.CANCELLED: "cancelled",
}
ENDED = "The tool tried to end the program."


def answer(number: int, ran: object) -> wire.Done:
    """What a contract gave, ready to travel; a result that has no JSON is a failed call."""
    if not isinstance(ran, Ran):
        return _no_answer(number, f"The contract gave {type(ran).__name__} for a result.")
    try:
        data = b"" if ran.data is None else wire.to_json(ran.data)
    except (WireError, MemoryError) as error:
        return unsent(number, error)
    if ran.status not in _SAYABLE:
        return _no_answer(number, f"The contract ended a call as {ran.status!r}, which only the host can see.")
    return wire.Done(
        number,
        _SAYABLE[ran.status],
        data,
        _whole(ran.text),
        _whole(ran.shown),
        ran.images,
        ran.files,
        ran.silent,
        _whole(ran.error),
        _whole(ran.detail),
        _whole(ran.why),
        _whole(ran.notes),
    )


def failed(number: int, error: BaseException) -> wire.Done:
    """How a call ended that raised this."""
    trace = _whole("".join(traceback.format_exception(error)))
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return wire.Done(number, "failed", text=ENDED, detail=trace)
    return wire.Done(number, "failed", error=type(error).__name__, detail=trace)


def unsent(number: int, error: BaseException) -> wire.Done:
    """The tool ran, and its result stays where it is."""
    return wire.Done(number, "failed", text=f"The tool ran, but its result could not be sent. {error}")


def _no_answer(number: int, fault: str) -> wire.Done:
    return wire.Done(number, "failed", error="TypeError", detail=fault)


def _whole(text: str) -> str:
    """The text, with lone surrogates replaced, which cannot be written as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
