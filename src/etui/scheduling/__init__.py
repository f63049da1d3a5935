"""What runs by the clock for plugins: the schedules of their manifests, and the tasks that they made.

A schedule runs in its plugin's worker, and one that was missed while the host was off is passed over. A task is said in a chat
as a turn; one that comes only once is said late rather than never. Above: the host starts it. Below: `cron`, the stored tasks,
`handlers`. It refuses to know: how a turn is taken, and what a schedule does.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import msgspec
import structlog

from etui.errors import StoreError
from etui.events import Hub, Kind
from etui.handlers import Handlers
from etui.outcome import Status
from etui.registry import Snapshot
from etui.scheduling import cron
from etui.store.tasks import Task, Tasks
from etui.store.values import Values
from etui.tool import Handler, Plugin, Problem

log = structlog.get_logger(__name__)
LOOK = 5.0
"""Seconds after which the clock is looked at in any case: the machine may have slept, and its clock may have been set."""
SECONDS = 600.0
"""How long a schedule may run."""
SPACE = "schedule_off"
"""Of the owner's values: the schedules that they switched off."""


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule or task as the owner sees it."""

    id: str
    kind: str
    """`schedule` for one of a manifest, `task` for one that a plugin made."""
    plugin: str
    name: str
    text: str
    """What it is for."""
    cron: str
    event: str = ""
    on: bool
    due: float | None
    """When it runs next, in seconds since the epoch."""
    once: bool = False


class Scheduling:
    """Keeps the time for plugins."""

    def __init__(
        self,
        tasks: Tasks,
        values: Values,
        handlers: Handlers,
        snapshot: Callable[[], Snapshot],
        off: Callable[[], frozenset[str]],
        hub: Hub,
        clock: Callable[[], float],
        zone: Callable[[], str],
        say: Callable[[Task], Coroutine[Any, Any, object]],
        note: Callable[[Problem], None],
        look: float = LOOK,
    ) -> None:
        """`zone` is the owner's time zone; `say` takes the turn of a task; `note` takes what the owner should know."""
        self._tasks = tasks
        self._values = values
        self._handlers = handlers
        self._snapshot = snapshot
        self._off = off
        self._hub = hub
        self._clock = clock
        self._zone = zone
        self._say = say
        self._note = note
        self._look = look
        self._due: dict[str, tuple[str, float]] = {}
        """Of each schedule that is on: its cron expression, and when it runs next."""
        self._running: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._closed = False
        self._troubled = False
        """The store could not be read or written at the last look, so what is due stays so."""
        self.dice: Callable[[], int] = lambda: random.randint(1, 100)
        """From 1 to 100; a test brings its own."""

    def start(self) -> None:
        """Begin; a task that is overdue and comes only once is said at once."""
        self.look()
        self._loop = asyncio.create_task(self._run(), name="scheduling")

    def wake(self) -> None:
        """Look again: a plugin, a task or the clock has changed."""
        self._wake.set()

    async def close(self) -> None:
        """End the loop and what runs."""
        self._closed = True  # a wait that ends just when it is cancelled does not tell of it
        tasks = [*self._running.values(), *([self._loop] if self._loop is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def look(self) -> list[asyncio.Task[None]]:
        """Start everything that is due now; gives what was started."""
        now = self._clock()
        started, self._troubled = [], False
        try:
            started = [self._run_schedule(plugin, handler, now) for plugin, handler in self._due_schedules(now)]
            started += [self._run_task(task, now) for task in self._waiting() if task.due <= now]
        except StoreError as error:
            self._troubled = True
            log.warning("tasks cannot be looked at", error=str(error))
        return [one for one in started if one is not None]

    async def settled(self) -> None:
        """Everything that runs now has ended."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    def all(self) -> list[Schedule]:
        """Every schedule and task, for the owner; schedules of plugins that are off are not there."""
        switched_off = self._values.all(SPACE)
        found = []
        for plugin, handler in self._schedules():
            id = _id(plugin, handler)
            on = id not in switched_off and _enabled(handler)
            due = self._due.get(id) if on else None
            text = str(handler.facts.get("description") or "")
            expression = str(handler.facts.get("cron") or "")
            found.append(
                Schedule(
                    id=id,
                    kind="schedule",
                    plugin=plugin.name,
                    name=handler.name,
                    text=text,
                    cron=expression,
                    on=on,
                    due=due[1] if due else None,
                )
            )
        waiting = {task.id for task in self._waiting()}
        return [*found, *(_of_task(task, task.id in waiting) for task in self._tasks.all())]

    def switch(self, id: str, on: bool) -> bool:
        """Switch a schedule or a task on or off; False if there is none of this id."""
        task = self._tasks.get(id)
        if task is not None:
            due = self.next(task.cron) if on and task.cron else task.due
            self._tasks.keep(msgspec.structs.replace(task, enabled=on, due=due))
        elif any(_id(plugin, handler) == id for plugin, handler in self._schedules()):
            self._values.delete(SPACE, id) if on else self._values.put(SPACE, id, True)
        else:
            return False
        self.changed()
        return True

    def drop(self, id: str) -> bool:
        """Take back a task; False if there is none of this id."""
        gone = self._tasks.drop(id)
        if gone:
            self.changed()
        return gone

    def changed(self) -> None:
        """A task or a switch has changed: look again, and tell everybody."""
        self.wake()
        self._hub.tell(Kind.REMINDERS_CHANGED, {"reminder": ""})

    def next(self, expression: str) -> float:
        """When such a thing runs next, in seconds since the epoch. Raises UsageError for what is no cron expression."""
        return cron.next_after(expression, self._clock(), self._zone())

    def _waiting(self) -> list[Task]:
        """The tasks that wait for their time; those of plugins that are off or gone are left alone."""
        plugins, off = self._snapshot().plugins, self._off()
        on = {name for name, plugin in plugins.items() if plugin.family not in off}
        return [task for task in self._tasks.all() if task.enabled and task.due and task.plugin in on]

    def _schedules(self) -> Iterable[tuple[Plugin, Handler]]:
        off = self._off()
        for plugin in self._snapshot().plugins.values():
            if plugin.family not in off:
                yield from ((plugin, handler) for handler in plugin.handlers if handler.kind == "schedule")

    def _due_schedules(self, now: float) -> list[tuple[Plugin, Handler]]:
        """Those whose time has come; it is wound on for all of them, and those that are gone are forgotten."""
        switched_off = self._values.all(SPACE)
        ready, wound = [], {}
        for plugin, handler in self._schedules():
            id, expression = _id(plugin, handler), str(handler.facts.get("cron") or "")
            if id in switched_off or not _enabled(handler):
                continue
            known = self._due.get(id)
            if known is not None and known[0] == expression and known[1] > now:
                wound[id] = known
                continue
            if why := cron.wrong(expression):
                self._note(_never(plugin, handler, why))
                continue
            if known is None or known[0] != expression:
                wound[id] = expression, cron.next_after(expression, now, self._zone())
            else:
                ready.append((plugin, handler))
                wound[id] = expression, cron.next_after(expression, now, self._zone())
        self._due = wound
        return ready

    def _run_schedule(self, plugin: Plugin, handler: Handler, now: float) -> asyncio.Task[None] | None:
        chance = handler.facts.get("chance")
        return self._once(_id(plugin, handler), chance, self._ran(plugin, handler, now))

    async def _ran(self, plugin: Plugin, handler: Handler, now: float) -> None:
        file = handler.entry.rpartition(":")[2]
        task = {**handler.facts, "name": handler.name, "handler": file, "plugin": plugin.name, "at": now}
        outcome = await self._handlers.run(plugin, handler, {"task": task}, seconds=SECONDS)
        if outcome.status is not Status.OK:
            log.warning("a schedule went wrong", plugin=plugin.name, schedule=handler.name, why=outcome.text)
            reason = f"Its schedule {handler.name!r} went wrong: {outcome.text}"
            what = f"{plugin.name}: {handler.name}"
            self._note(
                Problem(what=what, reason=reason, plugin=plugin.name, source=plugin.source, refused=False, trace=outcome.detail)
            )

    def _run_task(self, task: Task, now: float) -> asyncio.Task[None] | None:
        if task.once:
            self._tasks.drop(task.id)
        else:
            self._tasks.keep(msgspec.structs.replace(task, due=cron.next_after(task.cron, now, self._zone()), ran=now))
        self._hub.tell(Kind.REMINDERS_CHANGED, {"reminder": task.id})
        return self._once(task.id, task.chance, self._said(task))

    async def _said(self, task: Task) -> None:
        try:
            await self._say(task)
        except StoreError as error:
            log.warning("a task cannot be said", task=task.name, error=str(error))

    def _once(self, id: str, chance: object, work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """Start it, unless it still runs from the last time, or the dice are against it."""
        least = _percent(chance)
        if id in self._running or (least < 100 and self.dice() > least):
            work.close()
            return None
        started = self._running[id] = asyncio.get_running_loop().create_task(work, name=f"schedule {id}")
        started.add_done_callback(lambda _: self._running.pop(id, None))
        return started

    async def _run(self) -> None:
        while not self._closed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._left()):
                    await self._wake.wait()
            self._wake.clear()
            self.look()

    def _left(self) -> float:
        """Seconds until something is due, or the clock is to be looked at."""
        if self._troubled:
            return self._look
        try:
            dues = [due for _, due in self._due.values()]
            dues += [task.due for task in self._waiting()]
        except StoreError:
            return self._look
        return max(0.0, min([due - self._clock() for due in dues] + [self._look]))


def _enabled(handler: Handler) -> bool:
    """As its manifest says, which some authors write as a word."""
    said = handler.facts.get("enabled", True)
    return said.strip().lower() not in ("", "0", "false", "no", "off") if isinstance(said, str) else bool(said)


def _percent(chance: object) -> float:
    """How likely it is to run, of 100; certain where that is no number."""
    try:
        return 100 if isinstance(chance, bool) else float(str(chance))
    except ValueError:
        return 100


def _id(plugin: Plugin, handler: Handler) -> str:
    return f"{plugin.name}/{handler.name}"


def _never(plugin: Plugin, handler: Handler, why: str) -> Problem:
    return Problem(
        what=f"{plugin.name}: {handler.name}",
        reason=f"Its schedule {handler.name!r} never runs: {why}",
        plugin=plugin.name,
        source=plugin.source,
        refused=False,
    )


def _of_task(task: Task, waits: bool) -> Schedule:
    return Schedule(
        id=task.id,
        kind="task",
        plugin=task.plugin,
        name=task.name,
        text=task.message,
        cron=task.cron,
        event=task.event,
        on=task.enabled,
        due=task.due if waits else None,
        once=task.once,
    )
