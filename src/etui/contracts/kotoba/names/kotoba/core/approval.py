"""`kotoba.core.approval`: what a command or a piece of Python could destroy, as the host judges it too. Below: `commands`."""

from __future__ import annotations

from etui import commands
from etui.contracts.kotoba.asking import Gate as ApprovalGate

__all__ = ["ApprovalGate", "command_family", "dangerous_code", "detect_dangerous"]


def detect_dangerous(command: str) -> str | None:
    """Why the command could do harm that cannot be undone, or None."""
    return commands.destroys(str(command or "")) or None


def dangerous_code(code: str) -> str | None:
    """Why a person should see this Python before it runs, or None."""
    return commands.code_harms(str(code or "")) or None


def command_family(action: str) -> str:
    """The program that a command begins with; empty where it cannot be read."""
    return commands.family(str(action or ""))
