"""The whole composition: what an Etui is made of, and the order in which it starts and ends.

Above: `__main__` and `testing` open one, and so may a program. Below: everything; this room alone knows
all the parts, some of which are put together in modules of its own. Surfaces hold one, ask what `front` offers of it, and
reach tools only through `session`.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Set
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from etui.agent.chosen import Chosen
from etui.agent.history import Picture
from etui.agent.jobs import Jobs
from etui.agent.loop import Loop
from etui.agent.model import Model
from etui.agent.models import Models, embedded_at
from etui.agent.running import Running
from etui.briefing import Briefing
from etui.builtins import TOOLS as BUILT_INS
from etui.cards import Cards
from etui.entrance import Entrance
from etui.events import Hub, Kind
from etui.front.choosing import Choosing
from etui.front.conversations import Conversations
from etui.front.functions import Functions
from etui.front.installed import Installed
from etui.front.making import Making
from etui.front.models import ModelChoice
from etui.front.outside import Outside
from etui.front.plugins import Plugins
from etui.front.problems import Problems
from etui.front.report import Report
from etui.front.routes import Routes
from etui.front.settings import LiveSettings
from etui.front.tools import Tools
from etui.home import Home, write_private
from etui.host import reaching
from etui.host.happening import Happening
from etui.host.opening import Opening
from etui.host.tooling import Tooling
from etui.host.voice import Voice
from etui.owner.confirming import Confirming
from etui.owner.decisions import Taught
from etui.reminding import Reminding
from etui.selection import Selections
from etui.selection.saved import Saved
from etui.services import Services
from etui.services.keys import Keys
from etui.services.needs import Needs
from etui.sessions import Sessions
from etui.store import Store
from etui.tool import Tool

PERSONA = "Etui"
"""Who answers, whichever model it is."""


@asynccontextmanager
async def open_host(
    home: Home,
    overrides: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    model: Model | None = None,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Host]:
    """Open the host of a home and close it in good order. Raises EtuiError where the home or the database cannot be used.

    `model` answers instead of the chosen one; `clock` gives seconds since the epoch.
    """
    home.make()
    with home.locked():
        host = Host(home, overrides or {}, os.environ if environ is None else environ, model, clock)
        try:
            await host.start()
            yield host
        finally:
            await host.close()


class Host:
    """One running Etui."""

    def __init__(
        self,
        home: Home,
        overrides: Mapping[str, object],
        environ: Mapping[str, str],
        model: Model | None,
        clock: Callable[[], float],
    ) -> None:
        self._home = home
        self.hub = Hub(clock)
        self.settings = LiveSettings(home, environ, overrides, self.hub, self._took)
        self.store = Store.open(home.database, clock, home.sapphire / "user" / "tool_images")
        self.cards = Cards(self.hub, clock=clock, seconds=lambda: self.settings.now.ask_seconds)
        self.entrance = Entrance(
            self.store,
            self.hub,
            lambda: self.settings.now,
            clock,
            say=lambda session, text, notice: self._running.say(session, text, notice=notice),
            hang_up=lambda session, reason: self.sessions.end(session, reason),
        )
        self._tooling = Tooling(
            home,
            environ,
            self.store,
            self.hub,
            settings=lambda: self.settings.now,
            clock=clock,
            pin_set=self.entrance.is_set,
            apart=lambda files: self.happening.apart(files),
        )
        self.registry = self._tooling.registry
        self.workers = self._tooling.workers
        self.packaged = self._tooling.packaged
        known, switches = self._tooling.known, self._tooling.switches
        self._chosen = Chosen(
            Models(environ, self._picture, embedded_at(home.vectors)), self.settings.now, environ, fixed=model
        )
        self.tools = Tools(
            known,
            switches,
            Taught(self.store.values),
            catalogue=self._tooling.catalogue,
            servers=self._tooling.servers,
            availability=self._tooling.availability,
        )
        self.accounts = self._tooling.accounts
        self._selections = Selections(
            snapshot=lambda: self.registry.snapshot,
            off=self.tools.off,
            gated=lambda name: bool(self._tooling.installation.config().get(name)),
            of=self.store.choices.of,
            changes=lambda: self.store.choices.changes,
            named=self.store.names.of,
            saved=Saved(self._tooling.toolsets, write_private),
        )
        self.choosing = Choosing(
            self._selections,
            self.store.choices,
            self.accounts,
            self.hub,
            snapshot=lambda: self.registry.snapshot,
            off=self.tools.off,
            changed=self._tooling.catalogue.tell_changed,
        )
        self._reminding = Reminding(self.store, self.hub, clock)
        self._voice = Voice(
            self.hub, home.path, settings=lambda: self.settings.now, tool=known.tool, model=lambda: self._chosen.name
        )
        self.happening = Happening(
            self._tooling,
            self.store,
            self.hub,
            services=lambda: services,
            session=lambda channel, **options: self.session(channel, **options),
            running=lambda: self._running,
            off=lambda: switches.off,
            clock=clock,
            zone=lambda: self.settings.now.timezone,
        )
        maker = Making(
            home.sapphire,
            self._tooling.catalogue,
            self._tooling.installation,
            self._selections,
            self.store.choices,
            level=lambda: self.settings.now.tool_maker,
            snapshot=lambda: self.registry.snapshot,
            off=lambda: switches.off,
            describe=self.workers.describe,
            disown=self._tooling.disown,
        )
        self.keys = Keys()
        self.hooks, self.schedules = self.happening.hooks, self.happening.scheduling
        services = Services(
            Needs(
                store=self.store,
                hub=self.hub,
                cards=self.cards,
                settings=lambda: self.settings.now,
                clock=clock,
                woken=self._reminding.wake,
                confirming=Confirming(self.store.values, self.cards, home.files, self.store.journal.decided),
                spoken=lambda session, text: self.conversations.typed(session, text),
                activate=lambda session, meant: self._opening.activate(session, meant),
                jobs=lambda: self.jobs,
                snapshot=lambda: self.registry.snapshot,
                off=self.tools.off,
                selections=self._selections,
                accounts=self.accounts,
                keys=self.keys,
                time=lambda: self.happening,
                register=self._tooling.catalogue.register,
                installed=lambda: self.installed,
                maker=lambda: maker,
                note=self.happening.noted.add,
                hide=self._tooling.hiding.line,
            )
        )
        briefing = Briefing(
            lambda: self.registry.snapshot,
            lambda: switches.off,
            self.store.chats,
            self._voice.personality.table,
            self._tooling.installation,
            lambda chat: {"chat": self.store.names.of(chat), "persona": PERSONA, "model": self._chosen.name},
        )
        self._opening = Opening(
            self._tooling,
            self.tools,
            self.store,
            self.hub,
            cards=self.cards,
            entrance=self.entrance,
            services=services,
            briefing=briefing,
            settings=lambda: self.settings.now,
            sessions=lambda: self.sessions,
            selections=self._selections,
            around=self.hooks,
        )
        self.session = self._opening.session
        """Opens a conversation's view of the host, the only way to its tools."""
        self.sessions = Sessions(
            self.hub,
            self.session,
            lambda: self.settings.now.session_minutes,
            lambda chat: self._running.stop(chat),
            lambda session: self.workers.end_instance(session.id),
        )
        self._loop = Loop(
            self.store.chats, self.store.journal, self.hub, lambda: self.settings.now, clock, self.store.blobs.put
        )
        self._running = Running(self._loop, lambda: self._chosen.model, self.entrance.hear, self.sessions.ready, self.hooks)
        self.jobs = Jobs(
            self._running,
            self.store.chats,
            self.store.values,
            self.hub,
            self._opening.for_job,
            lambda: self.settings.now.job_seconds,
            clock,
        )
        self.conversations = Conversations(
            self._running, self.jobs, self.sessions, self.store.chats, self.store.names, self.hooks.tell
        )
        self.models = ModelChoice(self._chosen, self.settings, lambda: self._loop.request(self.session("console")))
        self.plugins = Plugins(
            known,
            self._tooling.grants,
            catalogue=self._tooling.catalogue,
            fresh=self._tooling.fresh,
            availability=self._tooling.availability,
            regrant=self.workers.regrant,
        )
        self.installed = Installed(
            self._tooling.catalogue,
            self._tooling.installation,
            self._tooling.aliases,
            self.hub,
            handlers=lambda: self.happening.handlers,
            off=lambda: switches.off,
            rest=self.workers.rest_plugin,
            ready=lambda: self.hooks.tell("plugins_ready"),
            disown=self._tooling.disown,
            withdraw=switches.withdraw,
        )
        self.routes = Routes(
            self.happening.handlers,
            lambda: self.registry.snapshot,
            lambda: switches.off,
            self._tooling.installation.settings,
        )
        self.outside = Outside(
            self.store.journal,
            may=lambda plugin: any(one.name == plugin and one.grant.network for one in known.plugins()),
            allowed=lambda: self.settings.now.allow_network != "refuse",
            proxy=self._tooling.proxy,
        )
        self._functions = Functions(self._tooling.added, known, BUILT_INS, self._tooling.catalogue.renew)
        self.problems = Problems(
            lambda: (
                *self.settings.problems(),
                *self._tooling.odd,
                *self._tooling.installation.problems(),
                *self._selections.problems(),
                *self.happening.noted.all(),
            ),
            (
                self.entrance.problem,
                self._voice.personality.problem,
                self._tooling.secrets_problem,
                self._tooling.accounts_problem,
                self._tooling.settings_problem,
                self._tooling.proxy_problem,
            ),
            known,
            self.registry,
            self._tooling.availability,
        )
        self.report = Report(
            home,
            self.registry,
            self.problems,
            machine=self._tooling.machine,
            python=self._tooling.python,
            workers=self.workers.report,
            secrets=self._tooling.secrets_place,
            answers=lambda: {"model": self._chosen.name, "time_zone": self.settings.now.timezone},
        )

    @property
    def home(self) -> Path:
        """The folder that holds everything."""
        return self._home.path

    async def start(self) -> None:
        """Workers, tools, reminders, and the turns that the last end cut short."""
        await self._tooling.start()
        await self.settings.open()
        self._reminding.start()
        self._voice.start()
        self.sessions.start()
        self.entrance.start()
        self.models.look_around()
        self.happening.start()
        self.jobs.begin()
        for turn in self.store.chats.unfinished():
            if self.jobs.resume(turn):
                continue
            # What the person had proved, they had proved in a session that is over.
            session = self.sessions.of(turn.chat, turn.channel)
            session.attended = turn.channel == "console"
            self._running.resume(session, turn)

    async def close(self) -> None:
        """Everything that was started, in the opposite order."""
        await self.jobs.close()
        await self._running.close()
        await self.happening.close()
        self.entrance.close()
        self.sessions.close()
        await self._voice.close()
        await self.settings.close()
        await self._reminding.close()
        await self._tooling.rest()
        await self.models.close()
        await self._tooling.close()
        self.store.close()

    def addressed(self, address: str) -> None:
        """The console answers at this address, for tools too."""
        self._tooling.installation.more["API_URL"] = address

    def add(self, function: Callable[..., Any], **options: object) -> Tool:
        """Offer a function of this program as a tool that runs in its process; `options` are those of `@tool`.

        From the host's loop only. Raises UsageError where the function is no tool, or the name is taken.
        """
        return self._functions.add(function, options)

    def remove(self, name: str) -> None:
        """Take back a function that was added; its calls under way end as they would. Raises UsageError where there is none."""
        self._functions.remove(name)

    async def _took(self, names: Set[str]) -> None:
        """Let these settings hold at once."""
        before = self._chosen.name
        self._chosen.changed(self.settings.now)
        if self._chosen.name != before:
            self.hooks.tell("provider_switched", metadata={"provider": self._chosen.name, "previous": before})
        self._tooling.catalogue.stir()
        self.hub.tell(Kind.SETTINGS_CHANGED, {"names": sorted(names)})
        if names & reaching.SETTINGS:
            self.workers.reach_anew()
        if names & {"sources", "shelf"}:
            await self._tooling.moved()
        if "session_minutes" in names:
            self.sessions.look()
        if "mcp_servers" in names:
            self._tooling.servers.look()

    def _picture(self, image: str) -> Picture | None:
        blob = self.store.blobs.get(image)
        return Picture(blob.media_type, blob.data) if blob is not None else None
