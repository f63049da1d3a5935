"""How a call ended: from what `execute` gave back or raised, and what it said about itself, to the one end.

The grade follows the owners' table: a call that ended at a card or refused itself did nothing; an exception, nothing at all and
a failure that it noted are failures, with a note for the model; a command that failed marks the call, without the note.
Above: `calling`. Below: `witnesses`, `context`, the nouns. It refuses to know: how the call ran.
"""

from __future__ import annotations

import json
import re
from typing import Any

from etui.contracts import Ran
from etui.contracts.etui.authoring import ToolError
from etui.contracts.etui.results import plain
from etui.contracts.faults import brief, trace
from etui.contracts.kotoba.context import ToolResult
from etui.contracts.kotoba.witnesses import Witness
from etui.contracts.media import clean, data_uri, repr_of
from etui.contracts.sized import TOGETHER, fitting
from etui.outcome import Image, Status

NOTE = " [tool failed — do not retry the same call; try another approach.]"
CUT = "\n\n[…truncated {more} more chars — summarize what you have or fetch a more specific item]"
NOTHING = "The tool returned nothing."
ERRORED = "The tool errored."
TIMED_OUT = "The tool timed out."
BELOW = "[image below]"
_ENDINGS = {"jpeg": "jpg", "svg+xml": "svg", "x-icon": "ico"}


class Given:
    """What a tool gave back, taken apart."""

    def __init__(self, value: Any, call: str, tool: str) -> None:
        """Raises whatever the value's own methods raise."""
        self.text = ""
        self.notes = ""
        """Lines about its pictures."""
        self.data: object = None
        self.images: tuple[Image, ...] = ()
        if not value:
            return
        if isinstance(value, ToolResult):
            self._result(value, call, tool)
        elif isinstance(value, dict | list):
            self._json(value)
        else:
            self.text = clean(str(value))

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it to read or to see."""
        return not self.images and not self.text.strip()

    def _json(self, value: Any) -> None:
        try:
            self.data = plain(value)
        except ToolError:  # it holds itself, or what is no data: then Python's own notation has to do
            self.text = clean(str(value))
        else:
            self.text = json.dumps(self.data, ensure_ascii=False)

    def _result(self, result: ToolResult, call: str, tool: str) -> None:
        found = [data_uri(str(image)) for image in result.images or ()]
        stem = f"{tool}-{re.sub(r'[^A-Za-z0-9]', '', call)[-6:]}"
        images = [
            Image(media_type, data, name=f"{stem}-{number}.{_ending(media_type)}")
            for number, (media_type, data) in enumerate((one for one in found if one), 1)
        ]
        self.images = fitting(images, TOGETHER)
        self.text = clean(str(result))
        if self.images and not self.text.strip():
            self.text = BELOW
        if self.images:
            self.notes = f"\n[kept for the person as {', '.join(image.name for image in self.images)}]"
        if lost := found.count(None):
            self.notes += f"\n[{lost} image{'s' * (lost > 1)} could not be read]"
        if left := len(images) - len(self.images):
            self.notes += f"\n[{left} image{'s' * (left > 1)} left out: all together may have {TOGETHER // 1_000_000} MB]"


def _ending(media_type: str) -> str:
    kind = media_type.partition("/")[2]
    return _ENDINGS.get(kind, kind)


def graded(value: Any, witness: Witness, *, tool: str) -> Ran:
    """The end of a call that gave `value` back. Raises nothing."""
    try:
        given = Given(value, witness.line.call, tool)
    except Exception as error:  # its own __bool__, __str__ or the like may raise anything
        return raised(error, witness)
    text = given.text if not given.empty else NOTHING
    if _did_nothing(witness):
        return Ran(status=Status.REFUSED, text=text, why=witness.verdict)
    if given.empty or witness.reasons:
        why = "; ".join(clean(reason) for reason in witness.reasons if reason)
        notes = given.notes + NOTE
        return Ran(status=Status.FAILED, text=text, notes=notes, why=why, data=given.data, images=given.images)
    if bad := [code for code in witness.codes if code]:
        why = f"A command ended with exit code {bad[0]}."
        return Ran(status=Status.FAILED, text=text, notes=given.notes, why=why, data=given.data, images=given.images)
    return Ran(status=Status.OK, text=text, notes=given.notes, data=given.data, images=given.images)


def raised(error: BaseException, witness: Witness) -> Ran:
    """The end of a call that raised: the model learns that it did, the owner what it was."""
    kind = type(error).__name__
    text = ERRORED
    if isinstance(error, SystemExit | KeyboardInterrupt):
        text = f"The tool tried to end the program ({clean(repr_of(error)).rstrip(': ')})."
    if _did_nothing(witness):
        return Ran(status=Status.REFUSED, text=text, why=witness.verdict, detail=trace(error))
    why = "; ".join(clean(reason) for reason in witness.reasons if reason) or brief(error)
    return Ran(status=Status.FAILED, text=text, notes=NOTE, why=why, error=kind, detail=trace(error))


def unawaitable(value: object, name: str) -> Ran:
    """The end of a call whose `execute` gave back what cannot be awaited."""
    why = f"`execute` of {name} gave back {type(value).__name__!r}, which cannot be awaited: write `async def execute`."
    return Ran(status=Status.FAILED, text=ERRORED, notes=NOTE, why=why, detail=why)


def _did_nothing(witness: Witness) -> bool:
    return bool(witness.verdict) or witness.refused
