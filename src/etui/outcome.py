"""How a call ended: one of a closed set, with what the model, the person and the owner each get to see.

Above: everything that calls a tool. Below: `msgspec`. It refuses to know: who asked, and how it is shown.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Status(StrEnum):
    """The closed set of ends. Each call gets exactly one."""

    OK = "ok"
    """It ran and gave a result."""
    REFUSED = "refused"
    """Nothing happened: a rule, a person or the tool itself said no."""
    NEEDS_APPROVAL = "needs_approval"
    """Nothing happened: a person must say yes, and nobody is there."""
    FAILED = "failed"
    """It ran and ended in an error."""
    TIMED_OUT = "timed_out"
    """It ran longer than it may and was ended."""
    CANCELLED = "cancelled"
    """Somebody stopped it."""
    CRASHED = "crashed"
    """Its process died."""
    UNKNOWN = "unknown"
    """The host or the worker died while it ran: it may have happened, and it is not run again."""


BAD = frozenset({Status.FAILED, Status.TIMED_OUT, Status.CRASHED, Status.UNKNOWN})
"""The ends that count as failures."""


class Image(msgspec.Struct, frozen=True):
    """A picture that a tool gave."""

    media_type: str
    """Such as `image/png`."""
    data: bytes = b""
    """The bytes; empty once they are in the store."""
    id: str = ""
    """The store's name for it; empty until it is there."""
    alt: str = ""
    """What it shows, in words."""
    name: str = ""
    """As what it is kept; empty where nobody was told a name."""
    withheld: bool = False
    """For the person's eyes only: no model is shown it."""


class File(msgspec.Struct, frozen=True):
    """A file that a tool gave to the person."""

    name: str
    media_type: str = "application/octet-stream"
    data: bytes = b""
    id: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The one final end of a call."""

    status: Status
    text: str = ""
    """For the model: never empty after `finish`, capped, without secrets of the owner's."""
    notes: str = ""
    """For the model alone: what the session puts behind the capped text; empty afterwards."""
    shown: str = ""
    """For the person, where it differs from `text`."""
    why: str = ""
    """For the person and the owner, not for the model: what went wrong, as the tool puts it."""
    data: object = None
    """The result as JSON values, where it has a structure."""
    images: tuple[Image, ...] = ()
    files: tuple[File, ...] = ()
    seconds: float = 0.0
    silent: bool = False
    """Joins the conversation and asks for no new words."""
    rule: str = ""
    """The gate's rule that refused or asked; `tool` when the tool itself refused; `arguments`, `find`."""
    reference: str = ""
    """A short number under which the owner finds `detail`."""
    detail: str = ""
    """For the owner only: the error's own text and the traceback."""

    @property
    def ok(self) -> bool:
        """True if it ran and gave a result."""
        return self.status is Status.OK


def refused(rule: str, text: str) -> Outcome:
    """A refusal by the named rule; `text` is a whole sentence for the model and the person."""
    return Outcome(status=Status.REFUSED, text=text, rule=rule)
