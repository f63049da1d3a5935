"""`kotoba.core.task_list`: the plan of a conversation, kept as long as the plugin's process lives.

One plan for each conversation; a background job's plan is that job's alone. Below: nothing. It refuses to know: how it is
shown.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

STEPS, TITLE, TEXT, NOTES = 20, 200, 200, 600
"""How many steps a plan has, and how many characters a title, a step and its notes."""
_OPEN = ("pending", "active")
_plans: dict[str, dict[str, Any]] = {}
_jobs: dict[str, str] = {}


def get(session_id: str) -> dict[str, Any] | None:
    """The plan, or None."""
    return _plans.get(session_id)


def clear(session_id: str) -> None:
    """Take the plan away."""
    _plans.pop(session_id, None)


def held_from(session_id: str, run_id: str) -> bool:
    """Whether the open plan belongs to another job than this run."""
    plan = _plans.get(session_id)
    return plan is not None and plan["status"] == "open" and plan["owner_run"] not in ("", run_id or "")


def bind_run(session_id: str, run_id: str) -> str:
    """From now on the conversation's plan is that job's; the job's id if there is a plan, else an empty text."""
    if not run_id:
        return ""
    _jobs[session_id] = run_id
    plan = _plans.get(session_id)
    if plan is None or plan["status"] != "open":
        return ""
    plan["owner_run"] = run_id
    return run_id


def release_run(session_id: str, run_id: str) -> None:
    """The job is over: its plan is anybody's again."""
    if run_id and _jobs.get(session_id) == run_id:
        del _jobs[session_id]
    plan = _plans.get(session_id)
    if run_id and plan is not None and plan["owner_run"] == run_id:
        plan["owner_run"] = ""


def same_steps(session_id: str, steps: Sequence[Any]) -> bool:
    """Whether the plan has exactly these steps."""
    plan = _plans.get(session_id)
    return plan is not None and [task["text"] for task in plan["tasks"]] == [text for text, _ in _read(steps)]


def open_list(session_id: str, steps: Sequence[Any], title: str = "", by_run: str = "") -> dict[str, Any]:
    """A new plan in place of the old one; the old one, marked `refused_run`, if that is another job's."""
    if held_from(session_id, by_run):
        held = _plans[session_id]
        held["refused_run"] = held["owner_run"]
        return held
    id = secrets.token_hex(6)
    tasks = [
        {"id": f"{id}:{order}", "text": text, "detail": notes, "status": "pending", "order": order}
        for order, (text, notes) in enumerate(_read(steps), 1)
    ]
    plan = {"list_id": id, "title": str(title or "")[:TITLE], "tasks": tasks, "status": "open", "rev": 1}
    plan |= {"origin": session_id, "owner_run": by_run if by_run and _jobs.get(session_id) == by_run else "", "refused_run": ""}
    _plans[session_id] = plan
    return plan


def update(
    session_id: str,
    done: Iterable[int] | None = None,
    active: int | None = None,
    drop: Iterable[int] | None = None,
    close: bool = False,
    by_run: str = "",
) -> dict[str, Any] | None:
    """Mark steps by their number, from 1, and close the plan; what could not be marked is listed in `ignored`."""
    plan = _plans.get(session_id)
    if plan is None or plan["status"] != "open":
        return plan
    plan["refused_run"] = plan["owner_run"] if held_from(session_id, by_run) else ""
    if plan["refused_run"]:
        return plan
    before = [task["status"] for task in plan["tasks"]]
    plan["ignored"] = [*_settle(plan, done or (), "done"), *_settle(plan, drop or (), "drop"), *_activate(plan, active)]
    if close:
        plan["status"] = "abandoned" if any(task["status"] in _OPEN for task in plan["tasks"]) else "done"
    if close or before != [task["status"] for task in plan["tasks"]]:
        plan["rev"] += 1
    return plan


def frame(session_id: str) -> dict[str, Any] | None:
    """The plan as it is shown: without the notes of its steps."""
    plan = _plans.get(session_id)
    if plan is None:
        return None
    tasks = [{name: value for name, value in task.items() if name != "detail"} for task in plan["tasks"]]
    return {name: plan[name] for name in ("list_id", "title", "status", "rev")} | {"tasks": tasks}


def _read(steps: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Text and notes of each step, which is a text, or a table of both."""
    for step in list(steps or ())[:STEPS]:
        if isinstance(step, dict):
            yield str(step.get("text") or "")[:TEXT], str(step.get("detail") or "")[:NOTES]
        else:
            yield str(step)[:TEXT], ""


def _step(plan: dict[str, Any], order: int) -> dict[str, Any] | None:
    return next((task for task in plan["tasks"] if task["order"] == order), None)


def _settle(plan: dict[str, Any], orders: Iterable[int], word: str) -> Iterator[str]:
    for order in orders:
        task = _step(plan, order)
        if task is None:
            yield f"{word}={order}"
        elif task["status"] in _OPEN:
            task["status"] = "done" if word == "done" else "dropped"


def _activate(plan: dict[str, Any], order: int | None) -> Iterator[str]:
    if order is None:
        return
    wanted = _step(plan, order)
    if wanted is None or wanted["status"] not in _OPEN:
        yield f"active={order}"
        return
    for task in plan["tasks"]:
        if task["status"] == "active":
            task["status"] = "pending"
    wanted["status"] = "active"
