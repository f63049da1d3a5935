"""A plugin's own tasks: what is to be said in a chat at a time, or when its daemon tells of something.

Above: the table of services. Below: the stored tasks, and who keeps the time. It refuses to know: cron, and how a turn is
taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from etui.errors import ServiceError, UsageError
from etui.services.desk import SAPPHIRE, Family
from etui.services.needs import Timekeeper
from etui.services.texts import LABEL, text_of
from etui.session import Session
from etui.store.chatnames import ChatNames
from etui.store.tasks import Task, Tasks

MOST = 100
"""Tasks that a plugin may have."""
MESSAGE = 4000
"""Characters of what is said when its time comes."""
SAID = 20_000
"""Characters of everything that it says of one, as JSON: the clock looks through all of them again and again."""
SAYS = ("initial_message", "message", "prompt", "description")
"""Where a plugin may have put that, the first that is there."""
ALIKE = (frozenset(SAYS[:3]), frozenset(("schedule", "cron")), frozenset(("source", "event_source")))
"""Keys that mean the same: of one that is changed, what the others said before counts no more."""


class OwnTasks:
    """The tasks of one plugin."""

    def __init__(self, tasks: Tasks, names: ChatNames, time: Timekeeper, plugin: str, session: Session) -> None:
        self._tasks = tasks
        self._names = names
        self._time = time
        self._plugin = plugin
        self._session = session

    async def list(self) -> object:
        """All of them."""
        return [told(task) for task in self._tasks.all() if task.plugin == self._plugin]

    async def create(self, data: dict[str, Any]) -> object:
        """Make one; gives it as kept."""
        if len([task for task in self._tasks.all() if task.plugin == self._plugin]) >= MOST:
            raise ServiceError(f"{self._plugin!r} has {MOST} tasks already; delete some first.")
        session = self._session
        made = Task(
            id="",
            plugin=self._plugin,
            name="",
            message="",
            chat=session.chat,
            channel=session.channel,
            trust=session.trust,
            created=self._time.now(),
        )
        return self._kept(made, data)

    async def update(self, id: str, data: dict[str, Any]) -> object:
        """Change one; None if there is none."""
        task = self._own(id)
        if task is None:
            return None
        over = {key for keys in ALIKE if keys & dict(data).keys() for key in keys}
        return self._kept(task, {**{key: value for key, value in told(task).items() if key not in over}, **data})

    async def delete(self, id: str) -> object:
        """Take one back; False if there is none."""
        return self._own(id) is not None and self._time.drop(id)

    async def emit(self, event: str, text: str) -> object:
        """The daemon tells of something; how many tasks waited for it."""
        return self._time.emitted(self._plugin, text_of(event, LABEL), text_of(text))

    def _own(self, id: str) -> Task | None:
        task = self._tasks.get(id)
        return task if task is not None and task.plugin == self._plugin else None

    def _kept(self, task: Task, data: Mapping[str, Any]) -> dict[str, object]:
        if not isinstance(data, Mapping):
            raise TypeError("a task is a table")
        if len(msgspec.json.encode(data)) > SAID:
            raise ServiceError(f"What is said of a task has at most {SAID:,} characters.")
        read = _read(task, data)
        if not read.cron and not read.event:
            raise ServiceError("A task needs a `schedule` (five fields, as in '0 9 * * *'), or the `source` of an event.")
        try:
            due = self._time.next(read.cron) if read.cron else 0.0
        except UsageError as error:
            raise ServiceError(str(error)) from None
        chat = str(data.get("chat_target") or data.get("chat") or "")
        found = self._names.find(chat) if chat else read.chat
        kept = self._tasks.keep(msgspec.structs.replace(read, due=due, chat=found))
        self._time.changed()
        return told(kept)


def _read(task: Task, data: Mapping[str, Any]) -> Task:
    """The task as the plugin wants it."""
    trigger = data.get("trigger_config") if isinstance(data.get("trigger_config"), Mapping) else data.get("trigger")
    trigger = trigger if isinstance(trigger, Mapping) else {}
    event = data.get("source") or data.get("event_source") or trigger.get("source") or trigger.get("event_source") or ""
    cron = data.get("schedule") or data.get("cron") or ("" if event else trigger.get("cron")) or ""
    message = next((data[key] for key in SAYS if isinstance(data.get(key), str) and data[key]), data.get("name"))
    name = text_of(data.get("name") or message or "task", LABEL)
    once = data.get("delete_after_run")
    return msgspec.structs.replace(
        task,
        name=name,
        message=text_of(message or name, MESSAGE),
        cron="" if event else text_of(cron, LABEL),
        event=text_of(event, LABEL),
        enabled=data.get("enabled") is not False,
        once=once is True or data.get("one_shot") is True,
        chance=_chance(data.get("chance")),
        said=dict(data),
    )


def _chance(value: object) -> int:
    return min(max(value, 1), 100) if isinstance(value, int) and not isinstance(value, bool) else 100


def told(task: Task) -> dict[str, object]:
    """The task as its plugin sees it."""
    return {
        **task.said,
        "id": task.id,
        "name": task.name,
        "schedule": task.cron,
        "cron": task.cron,
        "source": task.event,
        "enabled": task.enabled,
        "chance": task.chance,
        "delete_after_run": task.once,
        "initial_message": task.message,
        "next_run": _iso(task.due),
        "last_run": _iso(task.ran),
        "created": _iso(task.created),
    }


def _iso(at: float) -> str | None:
    return datetime.fromtimestamp(at, UTC).isoformat() if at else None


FAMILY = Family(
    lambda desk: OwnTasks(desk.needs.store.tasks, desk.needs.store.names, desk.needs.time(), desk.plugin, desk.session),
    {
        "tasks.list": OwnTasks.list,
        "tasks.create": OwnTasks.create,
        "tasks.update": OwnTasks.update,
        "tasks.delete": OwnTasks.delete,
        "daemon.event": OwnTasks.emit,
    },
    only=SAPPHIRE,
    told=True,
)
