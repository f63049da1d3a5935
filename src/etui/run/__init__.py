"""Running a call: what every runner takes and gives.

`workers` runs it in the plugin's own process, `inline` in this one (for functions that a program registered itself).
Above: `session` holds a `Runner` and is the only caller. Below: the nouns and `contracts`.
It refuses to know: whether a call may run (that is the gate's), and where outcomes are kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from etui.contracts import Caller
from etui.outcome import Outcome
from etui.tool import Call, Tool

Serve = Callable[[str, dict[str, object]], Awaitable[object]]
"""Answers one request of a running tool: the service's name and its arguments. Raises `ServiceError` to refuse."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One call that has passed the gate and is in the journal."""

    call: Call
    tool: Tool
    arguments: dict[str, object]
    seconds: float | None
    """The deadline, counted from now; None is none. Time spent waiting for a person does not count."""
    caller: Caller
    serve: Serve
    """Host services on behalf of this call, `say` and `progress` included."""
    check: bool = False
    """Not a call: the outcome's data says whether the tool can be used now."""


class Runner(Protocol):
    """Runs jobs; the same questions are put to every one of them in `tests/run/`."""

    async def run(self, job: Job) -> Outcome:
        """Run it to its one end. Raises nothing but CancelledError, and then the work has ended or its worker is dead."""
        ...
