"""`kotoba.core.events`: what a tool shows on the person's screen. A plan is shown; faces and rows are the host's own to tell.

Below: `witnesses`. It refuses to know: surfaces.
"""

from __future__ import annotations

from typing import Any

from etui.contracts.kotoba.witnesses import line, witness


def has_listener(session_id: str | None) -> bool:
    """Whether a person is there who could answer."""
    found = witness()
    return bool(session_id) and found is not None and found.line.caller.attended


def draws_cards(session_id: str | None) -> bool:
    """Whether a card would be seen."""
    return has_listener(session_id)


async def emit_task_list(session_id: str | None, list_frame: dict[str, Any], run_id: str = "") -> None:
    """Show a plan with its steps."""
    kept = {name: list_frame.get(name) for name in ("list_id", "title", "status", "tasks", "rev")}
    await line().ask("show", list=kept)


async def emit_task(session_id: str | None, kind: str, **data: Any) -> None:
    """Show a plan; of everything else the host tells by itself, so that it is not told twice."""
    if kind == "task_list":
        await emit_task_list(session_id, data)


async def emit_emotion(session_id: str | None, emotion: str, run_id: str = "") -> None:
    """Nothing: which face is shown follows from what happens."""
