"""`kotoba.core.sandbox.base`: how a command ended. Below: `boxes`, `witnesses`."""

from __future__ import annotations

from etui.contracts.kotoba.boxes import ExecResult
from etui.contracts.kotoba.boxes import Sandbox as Sandbox
from etui.contracts.kotoba.witnesses import witness

__all__ = ["ExecResult", "Sandbox", "note_exit"]


def note_exit(code: int) -> None:
    """Note the exit code of a command that the running call ran; nothing happens outside of one."""
    found = witness()
    if found is not None:
        found.exited(int(code))
