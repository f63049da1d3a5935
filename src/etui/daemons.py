"""Plugins' daemons: started once their plugin is on, again when its worker died, and heard by tasks that wait for events.

A daemon ends with its worker, which stops it first. Above: the host starts it. Below: `handlers`, the stored tasks, the
registry. It refuses to know: what daemons do, and how a turn is taken.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from etui.errors import EtuiError, ServiceError
from etui.events import Event, Hub, Kind
from etui.handlers import Handlers
from etui.outcome import Status
from etui.registry import Registry
from etui.services.tasks import told
from etui.store.tasks import Task, Tasks
from etui.tool import Handler, Plugin, Problem

log = structlog.get_logger(__name__)
STORM, WHILE = 3, 60.0
"""So many deaths of a worker within so many seconds, and its daemon is not started again until its plugin changes."""
WAITING = 20
"""Events of a plugin whose turns are not over yet."""
EVENTS = 60
"""Turns about events of one plugin within `WHILE`: a hook that tells of each answer would go on for ever."""
EVENT = 100_000
"""Characters of what an event tells."""


class Daemons:
    """Every plugin's daemon."""

    def __init__(
        self,
        handlers: Handlers,
        registry: Registry,
        off: Callable[[], frozenset[str]],
        hub: Hub,
        tasks: Tasks,
        settings: Callable[[str], dict[str, object]],
        say: Callable[[Task, str], Coroutine[Any, Any, str]],
        note: Callable[[Problem], None],
    ) -> None:
        """`settings` gives a plugin's own; `say` takes the turn of a task about an event, and gives the answer."""
        self._handlers = handlers
        self._registry = registry
        self._off = off
        self._hub = hub
        self._tasks = tasks
        self._settings = settings
        self._say = say
        self._note = note
        self._started: dict[str, str] = {}
        """By plugin, the digest of the code whose daemon was started."""
        self._deaths: dict[str, list[float]] = {}
        self._work: set[asyncio.Task[None]] = set()
        self._waiting: Counter[str] = Counter()
        self._told: dict[str, list[float]] = {}
        """By plugin, when turns about its events were begun lately."""
        self._listening: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start those of the plugins that are on, and follow what becomes of them."""
        self._listening = asyncio.create_task(self._listen(), name="daemons")
        self.look()

    async def close(self) -> None:
        """Follow nothing more; the daemons end with their workers."""
        tasks = [*self._work, *([self._listening] if self._listening is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def look(self) -> None:
        """Start every daemon that should run and was not started."""
        those = self._those()
        names = {plugin.name for plugin, _ in those}
        self._started = {name: digest for name, digest in self._started.items() if name in names}
        for plugin, handler in those:
            if self._started.get(plugin.name) != plugin.digest:
                self._deaths.pop(plugin.name, None)
                self._begin(plugin, handler)

    async def settled(self) -> None:
        """Everything that was to be started or answered is over."""
        while self._work:
            await asyncio.wait(list(self._work))

    def emitted(self, plugin: str, event: str, text: str) -> int:
        """Let the tasks that wait for it take their turns; how many. Raises ServiceError where that is too much."""
        if len(text) > EVENT:
            raise ServiceError(f"What an event tells has at most {EVENT:,} characters.")
        waiting = [one for one in self._tasks.all() if one.enabled and (one.plugin, one.event) == (plugin, event)]
        if self._waiting[plugin] + len(waiting) > WAITING:
            raise ServiceError(f"{WAITING} events of {plugin!r} are being answered already; this one was dropped.")
        self._pace(plugin, len(waiting))
        for task in waiting:
            if task.once:
                self._tasks.drop(task.id)
            self._waiting[plugin] += 1
            self._keep(self._answered(task, text))
        return len(waiting)

    def _pace(self, plugin: str, turns: int) -> None:
        """Count them. Raises ServiceError, and tells the owner, where there were too many lately."""
        now = asyncio.get_running_loop().time()
        lately = self._told[plugin] = [at for at in self._told.get(plugin, ()) if now - at < WHILE]
        if len(lately) + turns > EVENTS:
            said = f"{EVENTS} turns about events of {plugin!r} were begun within a minute; what came then was dropped."
            self._note(Problem(what=f"{plugin}: events", reason=said, plugin=plugin, refused=False))
            raise ServiceError(said)
        lately += [now] * turns

    def _those(self) -> list[tuple[Plugin, Handler]]:
        off = self._off()
        return [
            (plugin, handler)
            for plugin in self._registry.snapshot.plugins.values()
            if plugin.family not in off
            for handler in plugin.handlers
            if handler.kind == "daemon"
        ]

    def _begin(self, plugin: Plugin, handler: Handler) -> None:
        self._started[plugin.name] = plugin.digest
        self._keep(self._start(plugin, handler))

    async def _start(self, plugin: Plugin, handler: Handler) -> None:
        arguments = {"do": "start", "settings": self._settings(plugin.name)}
        outcome = await self._handlers.run(plugin, handler, arguments)
        if outcome.status is not Status.OK:
            log.warning("a daemon could not be started", plugin=plugin.name, why=outcome.text)
            self._tell(plugin, f"Its daemon could not be started: {outcome.text}", outcome.detail)

    async def _answered(self, task: Task, text: str) -> None:
        try:
            answer = await self._say(task, text)
        except EtuiError as error:
            log.warning("an event could not be answered", plugin=task.plugin, task=task.name, error=str(error))
            return
        finally:
            self._waiting[task.plugin] -= 1
        for plugin, handler in self._those():
            if plugin.name == task.plugin:
                reply: dict[str, object] = {"do": "reply", "task": told(task), "event": _read(text), "text": answer}
                await self._handlers.run(plugin, handler, reply)

    async def _listen(self) -> None:
        async with self._hub.listen(Kind.TOOLS_CHANGED, Kind.WORKER_STARTED, Kind.WORKER_GONE) as events:
            async for event in events:
                if event.kind is Kind.TOOLS_CHANGED:
                    self.look()
                else:
                    self._worker(event)

    def _worker(self, event: Event) -> None:
        """In a new worker the daemon is not started yet; where one has died it is started again, unless it dies too often."""
        name = str(event.data.get("plugin"))
        found = next(((plugin, handler) for plugin, handler in self._those() if plugin.name == name), None)
        if found is None or name not in self._started:
            return
        if event.kind is Kind.WORKER_GONE:
            now = asyncio.get_running_loop().time()
            deaths = self._deaths[name] = [at for at in self._deaths.get(name, []) if now - at < WHILE] + [now]
            if len(deaths) >= STORM:
                self._tell(found[0], f"Its process died {STORM} times within a minute, so its daemon is not started again.")
                return
        if len(self._deaths.get(name, ())) < STORM:
            self._begin(*found)

    def _tell(self, plugin: Plugin, reason: str, trace: str = "") -> None:
        what = f"{plugin.name}: daemon"
        self._note(
            Problem(
                what=what,
                reason=reason,
                file=plugin.path,
                plugin=plugin.name,
                source=plugin.source,
                refused=False,
                trace=trace,
            )
        )

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)


def _read(text: str) -> object:
    """What the event told; the text itself where that is no JSON."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
