"""What plugins do besides answering calls, put together: hooks, schedules, tasks, daemons, and what they ask for alone.

Above: `host`. Below: `handlers` and the rooms of each. It refuses to know: surfaces, and which tools there are.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from etui.agent.running import Running
from etui.contracts import Files
from etui.daemons import Daemons
from etui.errors import ServiceError
from etui.events import Hub
from etui.handlers import Handlers
from etui.hooks import Hooks
from etui.host.tooling import Tooling
from etui.owner.noted import Noted
from etui.run import Serve
from etui.scheduling import Scheduling
from etui.services import Services
from etui.services.desk import SAPPHIRE
from etui.session import Session
from etui.store import Store
from etui.store.tasks import Task
from etui.tool import Call, Tool

CHANNEL = "plugin"
"""The channel of what no conversation asked for."""


class Happening:
    """What happens in the plugins of one host besides calls."""

    def __init__(
        self,
        tooling: Tooling,
        store: Store,
        hub: Hub,
        *,
        services: Callable[[], Services],
        session: Callable[..., Session],
        running: Callable[[], Running],
        off: Callable[[], frozenset[str]],
        clock: Callable[[], float],
        zone: Callable[[], str],
    ) -> None:
        """`session` opens one; `zone` is the owner's time zone."""
        self._tooling = tooling
        self._store = store
        self._services = services
        self._session = session
        self._running = running
        self._clock = clock
        self._off = off
        self.noted = Noted(hub)
        self._there: dict[str, tuple[str, bool]] = {}
        self.handlers = Handlers(
            tooling.runner, lambda tool, call, session: services().desk(tool, call, session), self.nobody, tooling.hiding.hide
        )
        self.hooks = Hooks(self.handlers, lambda: tooling.registry.snapshot, off, store.names.of, self.noted.add)
        self.scheduling = Scheduling(
            store.tasks,
            store.values,
            self.handlers,
            lambda: tooling.registry.snapshot,
            off,
            hub,
            clock,
            zone,
            self.say,
            self.noted.add,
        )
        self.daemons = Daemons(
            self.handlers,
            tooling.registry,
            off,
            hub,
            store.tasks,
            tooling.installation.settings,
            self.say,
            self.noted.add,
        )

    def start(self) -> None:
        """The plugins have been read: begin."""
        self._there = self._known()
        self._tooling.registry.follow(self._changed)
        self.daemons.start()
        self.scheduling.start()
        self.hooks.tell("plugins_ready")

    async def close(self) -> None:
        """Begin nothing any more."""
        await self.scheduling.close()
        await self.hooks.close()
        await self.daemons.close()
        await self.handlers.close()

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._clock()

    def next(self, expression: str) -> float:
        """When a cron expression comes true next. Raises UsageError."""
        return self.scheduling.next(expression)

    def changed(self) -> None:
        """A task was made or changed."""
        self.scheduling.changed()

    def drop(self, id: str) -> bool:
        """Take back a task."""
        return self.scheduling.drop(id)

    def emitted(self, plugin: str, event: str, text: str) -> int:
        """A daemon tells of something."""
        return self.daemons.emitted(plugin, event, text)

    def nobody(self) -> Session:
        """The session of what no conversation asked for: it has no chat, and nobody is there."""
        return self._session(CHANNEL, trust="none")

    def apart(self, files: Files) -> Serve:
        """What serves a plugin outside of any call."""
        tool = Tool(
            name=files.plugin,
            description="",
            parameters={},
            contract=files.contract,
            plugin=files.plugin,
            source=files.source,
        )

        async def serve(service: str, arguments: dict[str, object]) -> object:
            if files.contract not in SAPPHIRE:
                raise ServiceError(f"{service!r} can only be asked for in a call.")
            call = Call(id=f"apart_{secrets.token_hex(8)}", tool=tool.name)
            return await self._services().desk(tool, call, self.nobody())(service, arguments)

        return serve

    async def say(self, task: Task, event: str = "") -> str:
        """Take the turn of a task in its chat; gives the answer. It may do no more than the conversation that made the task."""
        chat = task.chat
        if not chat or self._store.chats.get(chat) is None:
            chat = self._store.chats.create(title=task.name, channel="console").id
            if not task.once:
                self._store.tasks.keep_chat(task.id, chat)
        session = self._session(task.channel, chat=chat, trust=task.trust)
        why = "something happened" if task.event else "its time has come"
        head = f"[Schedule ({' '.join(task.name.split())}) — {why}; not typed by the user]"
        text = "\n".join(part for part in (head, task.message, event) if part)
        _, turn = self._running().say(session, text, typed=False)
        return (await turn).text

    def _changed(self) -> None:
        """Something that is offered has changed, and maybe which plugins are there, or on."""
        before, self._there = self._there, self._known()
        for name, (digest, _) in before.items():
            if name not in self._there or self._there[name][0] != digest:
                self.noted.forget(name)
        self.daemons.look()
        self.scheduling.wake()
        if self._there != before:  # else a plugin that registers a tool when it hears of it would hear of it for ever
            self.hooks.tell("plugins_ready")

    def _known(self) -> dict[str, tuple[str, bool]]:
        """Of the plugins that are there, the digest, and whether it is on."""
        off = self._off()
        plugins = self._tooling.registry.snapshot.plugins.values()
        return {plugin.name: (plugin.digest, plugin.family not in off) for plugin in plugins}
