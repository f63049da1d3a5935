"""`kotoba.core.loop`: how a tool says that it refused or failed. Above: tool files. Below: the witness of the running call.

It refuses to know: the loop itself, which runs in the host.
"""

from __future__ import annotations

from typing import Any

from etui.contracts.kotoba.witnesses import witness

TOOL_TIMEOUT = 30
"""Seconds that a call may take where its module says nothing."""


def note_tool_refusal(ctx: Any) -> None:
    """Nothing happened: the call of `ctx` declined by itself. Does nothing without a call's id."""
    found = witness()
    if found is not None and found.line.call == str(getattr(ctx, "call_id", "") or ""):
        found.refused = True


def note_tool_failure(reason: str = "") -> None:
    """It ran and did not land; the reason is for the owner. Does nothing outside a running call."""
    found = witness()
    if found is not None:
        found.failed(str(reason))
