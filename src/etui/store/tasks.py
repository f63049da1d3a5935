"""What a plugin wants said in a chat at a time to come, once or again and again, or when something happens.

Above: `services` and the scheduler. Below: the host's named values. It refuses to know: cron, and how a turn is taken.
"""

from __future__ import annotations

import contextlib
import secrets

import msgspec

from etui.store.values import Values

SPACE = "task"


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One of them."""

    id: str
    """Eight characters."""
    plugin: str
    name: str
    message: str
    """What is said in the chat when its time has come."""
    cron: str = ""
    """When: five fields; empty for one that waits for an event."""
    event: str = ""
    """What it waits for: an event of its plugin's daemon."""
    enabled: bool = True
    once: bool = False
    """It is over once it has run."""
    chance: int = 100
    """In how many of a hundred cases it really runs."""
    chat: str = ""
    """The id of the chat in which it is said; empty for one of its own."""
    channel: str = "python"
    trust: str = "none"
    """What the conversation in which it was made had proved: it may do no more."""
    due: float = 0.0
    """When it runs next, in seconds since the epoch; 0 where it waits for no time."""
    ran: float = 0.0
    """When it ran last, in seconds since the epoch; 0 where it never did."""
    created: float = 0.0
    """Seconds since the epoch."""
    said: dict[str, object] = {}
    """Everything else that the plugin said of it."""


class Tasks:
    """Every plugin's tasks."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def all(self) -> list[Task]:
        """All of them, in the order in which they were made."""
        found = [task for value in self._values.all(SPACE).values() if (task := _read(value)) is not None]
        return sorted(found, key=lambda task: (task.created, task.id))

    def get(self, id: str) -> Task | None:
        """The one with this id."""
        return _read(self._values.get(SPACE, id))

    def keep(self, task: Task) -> Task:
        """Keep it, under an id of its own where it has none; gives it as kept."""
        if not task.id:
            task = msgspec.structs.replace(task, id=secrets.token_hex(4))
        self._values.put(SPACE, task.id, msgspec.to_builtins(task))
        return task

    def keep_chat(self, id: str, chat: str) -> None:
        """From now on it is said in that chat."""
        task = self.get(id)
        if task is not None:
            self.keep(msgspec.structs.replace(task, chat=chat))

    def drop(self, id: str) -> bool:
        """Forget it; False if there is none."""
        return self._values.delete(SPACE, id)


def _read(value: object) -> Task | None:
    """The task that was kept so; None for what is none, or not any more."""
    with contextlib.suppress(msgspec.ValidationError):
        return msgspec.convert(value, Task)
    return None
