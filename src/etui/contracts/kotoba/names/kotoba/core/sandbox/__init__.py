"""`kotoba.core.sandbox`: whether commands can be run, and what runs them. Below: `boxes`."""

from __future__ import annotations

from pathlib import Path

from etui.contracts.kotoba.boxes import LOCAL, Sandbox, backend

__all__ = ["backend_name", "create_sandbox", "sandbox_available_sync"]


def backend_name() -> str:
    """`local` where the owner lets this plugin start programs, else `none`."""
    return backend()


def sandbox_available_sync() -> bool:
    """Whether commands can be run."""
    return backend() == LOCAL


def create_sandbox(workdir: str | Path) -> Sandbox | None:
    """A sandbox on that folder; None where commands cannot be run."""
    return Sandbox(Path(workdir)) if sandbox_available_sync() else None
