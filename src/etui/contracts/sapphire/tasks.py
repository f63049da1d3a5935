"""The scheduler of tasks, as a plugin reaches it.

Above: `system`, which hands it out. Below: `current`, the host's `tasks` services. It refuses to know: how the host keeps time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from etui.contracts.sapphire import current
from etui.errors import ServiceError


class Scheduler:
    """`continuity_scheduler`: the tasks that this plugin made; each says its message in a chat at its time."""

    def list_tasks(self) -> list[dict[str, Any]]:
        """All of them."""
        found: Any = current.ask("tasks.list")
        return list(found)

    def get_task(self, task_id: str) -> dict[str, Any] | None:
        """The one with this id."""
        return next((task for task in self.list_tasks() if task["id"] == task_id), None)

    def create_task(self, data: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """Make one of its name, its cron `schedule` and the rest; gives it as kept, with an id of eight characters.

        Raises ValueError with a sentence where it cannot be kept.
        """
        try:
            made: Any = current.ask("tasks.create", data={**(data or {}), **more})
        except ServiceError as error:
            raise ValueError(str(error)) from None
        return dict(made)

    def update_task(self, task_id: str, data: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any] | None:
        """Change one; None if there is none."""
        made: Any = current.ask("tasks.update", id=task_id, data={**(data or {}), **more})
        return dict(made) if made else None

    def delete_task(self, task_id: str) -> bool:
        """Take one back; False if there is none."""
        return bool(current.ask("tasks.delete", id=task_id))
