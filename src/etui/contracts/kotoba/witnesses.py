"""What a call says about itself while it runs, besides what it returns: it refused, it failed, it ended at a card, exit codes.

`calling` opens one for each call and grades by it afterwards; the importable names of `names/` note things down here.
Above: `calling`, `asking`, `boxes`, `names`. Below: `contracts`. It refuses to know: how a call is graded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from etui.contracts import Line

REASONS = 8
"""How many reasons of a failure are kept."""
CODES = 32
"""How many exit codes are kept."""


class Witness:
    """What one call noted down."""

    def __init__(self, line: Line, work: str = "") -> None:
        self.line = line
        self.work = work
        """The working folder."""
        self.refused = False
        """The tool said that it did nothing."""
        self.reasons: list[str] = []
        """Why it did not land; not empty as soon as a failure was noted, though a reason may be."""
        self.verdict = ""
        """How it ended at a person's card without a yes; empty if it did not."""
        self.codes: list[int] = []
        """How the commands ended that it ran."""

    def failed(self, reason: str) -> None:
        """It ran and did not land."""
        if len(self.reasons) < REASONS:
            self.reasons.append(reason)

    def exited(self, code: int) -> None:
        """A command that it ran has ended."""
        if len(self.codes) < CODES or code:
            self.codes.append(code)


_CURRENT: ContextVar[Witness | None] = ContextVar("kotoba_witness", default=None)


@contextmanager
def witnessing(line: Line, work: str = "") -> Iterator[Witness]:
    """Note down what the call says about itself, in the tasks and threads that it starts too."""
    witness = Witness(line, work)
    token = _CURRENT.set(witness)
    try:
        yield witness
    finally:
        _CURRENT.reset(token)


def witness() -> Witness | None:
    """What is noted down for the running call; None outside of one."""
    return _CURRENT.get()


def line() -> Line:
    """The way to the host of the running call. Raises RuntimeError outside of one."""
    return _running().line


def work() -> Path:
    """The working folder of the running call. Raises RuntimeError outside of one."""
    return Path(_running().work)


def _running() -> Witness:
    found = _CURRENT.get()
    if found is None:
        raise RuntimeError("This works only while a tool is called.")
    return found
