"""The whole composition on one page: what an Etui is made of, and the order in which it starts and ends.

Above: `__main__` and `testing` open one. Below: everything. It is the only module that knows all the parts; surfaces get it as
what they hold, and reach tools only through `session`.
"""

from __future__ import annotations

import asyncio
import os
import platform
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Set
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import structlog

from etui import gate
from etui.agent.chosen import Chosen
from etui.agent.faces import Faces
from etui.agent.history import Picture
from etui.agent.jobs import Job, Jobs
from etui.agent.loop import Loop
from etui.agent.model import Model
from etui.agent.models import Models, embedded_at, reasons
from etui.agent.narration import Manner, Narration, in_manner
from etui.agent.running import Running
from etui.availability import Availability
from etui.briefing import Briefing
from etui.builtins import TOOLS as BUILT_INS
from etui.builtins import BuiltIn
from etui.cards import Cards
from etui.contracts.standing import Standing
from etui.entrance import Entrance
from etui.errors import SettingError, UsageError
from etui.events import Hub, Kind
from etui.home import Home, machine_zone, write_private
from etui.modes import WORK, reaches
from etui.owner.approvals import Approvals
from etui.owner.confirming import Confirming
from etui.owner.decisions import Owners, Switches, Taught
from etui.owner.grants import Grants
from etui.owner.personality import Personality
from etui.owner.pin import AUTHORIZED
from etui.owner.secrets import Secrets, system_ring
from etui.plugins.added import Added
from etui.plugins.catalogue import Catalogue
from etui.plugins.families import Family, families
from etui.plugins.fresh import Fresh, Listing
from etui.plugins.good import Good
from etui.plugins.installed import packages_of
from etui.plugins.load import Loader
from etui.plugins.packaged import Packaged
from etui.plugins.places import Places
from etui.plugins.servers import MCP, Servers, plugin_of
from etui.plugins.sources import Place
from etui.plugins.watching import Watching
from etui.registry import Registry, Snapshot
from etui.reminding import Reminding
from etui.run import Runner, Serve
from etui.run.confine import probe
from etui.run.inline import Inline
from etui.run.remote import Remote
from etui.run.workers import Timing, Workers
from etui.services import Services
from etui.session import TRUSTED, Parts, Session
from etui.sessions import Sessions
from etui.settings import STRICTEST, Settings, Unread
from etui.store import Store
from etui.store.descriptions import Descriptions
from etui.store.redact import mask
from etui.tool import BUILT_IN, INLINE, Call, Plugin, Problem, Tool

log = structlog.get_logger(__name__)
QUIET = 0.2
"""Seconds for which the configuration file is left alone once it has changed: an editor may still be writing."""
SHELF = Path(__file__).parent / "shelf"
PRELOAD = ("json", "re", "datetime", "random", "zoneinfo", "decimal", "difflib", "urllib.parse")
"""What most tool files import; the process that workers are forked from has it already."""


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
        self._overrides = dict(overrides)
        self._environ = environ
        self.settings, self._complaints = self._read_settings()
        self.hub = Hub(clock)
        self.store = Store.open(home.database, clock)
        self.registry = Registry()
        self.cards = Cards(self.hub, clock=clock, seconds=lambda: self.settings.ask_seconds)
        self._entrance = Entrance(
            self.store,
            self.hub,
            lambda: self.settings,
            clock,
            say=lambda session, text, notice: self._running.say(session, text, notice=notice),
            hang_up=lambda session, reason: self.sessions.end(session, reason),
        )
        self._built_in = BuiltIn(good=frozenset({AUTHORIZED}))
        self._secrets = Secrets(home.secrets, lambda: system_ring(environ), write_private)
        self._grants = Grants(self.store.values, environ, str(home.files), self._secrets)
        self.workers = Workers(
            tools_python=tools_python(home, self.settings),
            preload=PRELOAD,
            memory=self.settings.memory_mb,
            timing=Timing(grace=self.settings.grace_seconds),
            environ=environ,
            tell=self.hub.tell,
            where=lambda files: self._catalogue.where(files),
            given=self._grants.environment,
        )
        self.inline = Inline()
        self.remote = Remote()
        self._added = Added(self.inline, str(home.files))
        self._machine = probe()
        self.models = Chosen(Models(environ, self._picture, embedded_at(home.vectors)), self.settings, environ, fixed=model)
        self._switches = Switches(self.store.values)
        self._servers = Servers(
            self.remote,
            tables=lambda: self.settings.mcp_servers,
            off=lambda: self._switches.off,
            environ=environ,
            home=home.path,
            config=home.config,
            changed=lambda: self._catalogue.renew(),
        )
        self._taught = Taught(self.store.values)
        self._approvals = Approvals(self.store.values)
        self._reminding = Reminding(self.store, self.hub, clock)
        self.personality = Personality(self._personality_file, named=self._personality_named)
        self._faces = Faces(self.hub, self._tool)
        self._narration = Narration(self.hub, self._tool, voice=self.personality.voice, manner=self._manner)
        self._services = Services(
            store=self.store,
            hub=self.hub,
            cards=self.cards,
            settings=lambda: self.settings,
            clock=clock,
            woken=self._reminding.wake,
            confirming=Confirming(self.store.values, self.cards, home.files, self.store.journal.decided),
            spoken=self._spoken,
            activate=self._activate,
            work=lambda: self._jobs,
        )
        self._places = Places(
            home.path,
            shelf=SHELF,
            tools=home.tools,
            plugins=home.plugins,
            keryx=home.keryx,
            settings=lambda: self.settings,
            packages=lambda: packages_of(tools_python(home, self.settings)),
        )
        loader = Loader(self.workers.describe, Descriptions(self.store.values), home.files, self._grants)
        self._catalogue = Catalogue(
            self._places.live,
            loader,
            self.registry,
            self.workers,
            Good(home.good),
            Owners(self.store.values),
            self.hub,
            lambda: self._added.plugins() + self._servers.plugins(),
            lambda: self._switches.off,
            BUILT_INS,
        )
        self._fresh = Fresh(
            self._places.fresh,
            self.workers,
            self._grants,
            self.hub,
            taken=lambda: (*BUILT_INS, *self.registry.snapshot.tools),
            facts=self._facts,
            off=lambda: self._switches.off,
            work=home.files,
        )
        self.packaged = Packaged(
            lambda: self._places.fresh()[0].path,
            self._refused_in,
            write_private,
            self._secrets,
            lambda name: f"{self._places.fresh()[0].name}.{name}",
        )
        self._together = (self.registry.snapshot, self._fresh.last, self.registry.snapshot)
        self.sessions = Sessions(
            self.hub,
            lambda channel, chat: self.session(channel, chat=chat),
            lambda: self.settings.session_minutes,
            lambda chat: self._running.stop(chat),
            lambda session: self.workers.end_instance(session.id),
        )
        self._loop = Loop(self.store.chats, self.store.journal, self.hub, lambda: self.settings, clock)
        self._running = Running(self._loop, lambda: self.models.model, self._entrance.hear, self.sessions.ready)
        self._jobs = Jobs(
            self._running,
            self.store.chats,
            self.store.values,
            self.hub,
            self._session_of,
            lambda: self.settings.job_seconds,
            clock,
        )
        self._availability = Availability(
            self.workers.run, clock, lambda problem: self.hub.tell(Kind.PROBLEM, {"problem": msgspec.to_builtins(problem)})
        )
        self._briefing = Briefing(
            lambda: self.registry.snapshot, lambda: self._switches.off, self.store.chats, self.personality.table
        )
        self._following = Watching(list, self._edited, home.stamp)
        self._warming: asyncio.Task[None] | None = None
        self._parts = Parts(
            snapshot=lambda: self.registry.snapshot,
            settings=lambda: self.settings,
            decide=gate.decide,
            off=self.switched_off,
            enforced=self._enforced,
            memory=self._approvals,
            journal=self.store.journal,
            runner=self._runner,
            serve=self._serve,
            keep=self.store.blobs.put,
            mask=mask,
            hub=self.hub,
            cards=self.cards,
            taught=self._taught.of,
            decided=self.store.journal.decided,
            built_in=BUILT_INS,
            pin_set=self._entrance.is_set,
            reaches=lambda tool, mode: reaches(tool, mode, self.settings.only_in_jobs),
            unusable=self._availability.unusable,
            brief=self._briefing.brief,
            fresh=self._own_tools,
            changed=self._session_changed,
            rested=self.sessions.rested,
        )

    @property
    def home(self) -> Path:
        """The folder that holds everything."""
        return self._home.path

    async def start(self) -> None:
        """Workers, tools, reminders, and the turns that the last end cut short."""
        await asyncio.to_thread(self._fresh.make)
        await asyncio.to_thread(self._secrets.trouble)  # Now, since a keyring may ask to be unlocked.
        await self.workers.start()
        await self._catalogue.open()
        self._servers.look()
        await self._following.open()
        self._reminding.start()
        self._faces.start()
        self._narration.start()
        self.sessions.start()
        self._entrance.start()
        self.models.look_around(own=(self.settings.port,))
        self._jobs.begin()
        for turn in self.store.chats.unfinished():
            if self._jobs.resume(turn):
                continue
            # What the person had proved, they had proved in a session that is over.
            session = self.sessions.of(turn.chat, turn.channel)
            session.attended = turn.channel == "console"
            self._running.resume(session, turn)

    async def close(self) -> None:
        """Everything that was started, in the opposite order."""
        await self._jobs.close()
        await self._running.close()
        self._entrance.close()
        self.sessions.close()
        await self._availability.close()
        await self._narration.close()
        await self._following.close()
        await self._reminding.close()
        await self._catalogue.close()
        await self.models.close()
        if self._warming is not None:
            await asyncio.wait([self._warming])
        await self.remote.close()
        await self.workers.close()
        self.store.close()

    def warm(self) -> None:
        """Make the model ready in the background: for a host that stays, so that the first sentence does not wait."""
        self._warming = asyncio.create_task(self.models.warm(self._loop.request(self.session("console"))), name="warming")

    def session(
        self,
        channel: str,
        *,
        chat: str = "",
        trust: str = "",
        mode: str = "conversation",
        private: bool = False,
        attended: bool = False,
        toolsets: frozenset[str] | None = None,
        withheld: frozenset[str] = frozenset(),
        caller: str = "",
        possession: bool = False,
    ) -> Session:
        """A conversation's view; trust follows the channel where it is not said.

        Tools that are read afresh for each session are read when it first needs them; `open_session` reads them at once.
        """
        return Session(
            self._parts,
            channel=channel,
            trust=trust or ("full" if channel in TRUSTED else "none"),
            chat=chat,
            mode=mode,
            private=private,
            attended=attended,
            toolsets=toolsets,
            withheld=withheld,
            caller=caller,
            possession=possession,
        )

    async def open_session(
        self, channel: str, *, chat: str = "", caller: str = "", possession: bool = False, attended: bool = False
    ) -> Session:
        """Begin a session that lives until it is ended; the turns of its chat on its channel are taken in it.

        `caller` is who called; `possession` only for a call that the host itself placed to a number of the owner's.
        """
        session = self.session(channel, chat=chat, caller=caller, possession=possession, attended=attended)
        self.sessions.keep(session)
        await session.open()
        return session

    def end_session(self, id: str, reason: str = "user") -> bool:
        """End a session; what runs in it is cancelled. False if none with this id lives."""
        session = self.sessions.get(id)
        if session is not None:
            self.sessions.end(session, reason)
        return session is not None

    def hang_up(self, chat: str, channel: str) -> bool:
        """End the session of a chat and channel. False if none lives."""
        session = next((one for one in self.sessions.all() if (one.chat, one.channel) == (chat, channel)), None)
        return session is not None and self.end_session(session.id)

    async def folders(self) -> tuple[Listing, ...]:
        """What the folders hold whose files are read afresh for each session, read now."""
        return await self._fresh.look()

    def say(self, chat: str, text: str, *, channel: str = "console", attended: bool = True) -> str:
        """Start a turn in a chat; gives its id, and events tell the rest."""
        return self._running.say(self._attended(chat, channel, attended), text)[0]

    async def turn(self, chat: str, text: str, *, channel: str = "python", attended: bool = False) -> str:
        """Take a turn and wait for the answer."""
        _, task = self._running.say(self._attended(chat, channel, attended), text)
        return (await task).text

    def _attended(self, chat: str, channel: str, attended: bool) -> Session:
        """The session of a chat and channel, for a turn at which somebody is there or not."""
        session = self.sessions.of(chat, channel)
        session.attended = attended
        return session

    def living(self) -> tuple[Session, ...]:
        """The sessions that live now, in the order in which they began."""
        return self.sessions.all()

    async def press(self, chat: str, channel: str, key: str) -> str:
        """A key was pressed in the session of a chat and channel; as `key`."""
        return await self.key(self.sessions.of(chat, channel), key)

    async def key(self, session: Session, key: str) -> str:
        """A key was pressed in a session: a digit, `#` or `*`; what is keyed may be the PIN, and is tried once it is whole.

        Gives what became of it, or an empty text while more is awaited. Raises UsageError for what is no key.
        """
        return await self._entrance.key(session, key)

    def pin(self) -> dict[str, Any]:
        """Whether a PIN is set, and until when none is taken (seconds since the epoch, or None)."""
        return {"set": self._entrance.is_set(), "locked_until": self._entrance.pins.locked_until}

    async def set_pin(self, digits: str) -> None:
        """Keep another PIN from now on, or none with an empty text. Raises UsageError where it is no PIN."""
        if digits:
            await self._entrance.pins.set(digits)
        else:
            self._entrance.pins.clear()

    def _serve(self, tool: Tool, call: Call, session: Session) -> Serve:
        """What serves one call: of the host's own tools, that is what they do."""
        return self._entrance.serve(session) if tool.contract == BUILT_IN else self._services.desk(tool, call, session)

    def _spoken(self, session: Session, text: str) -> None:
        """What a person typed into a card that nobody waited for is their next sentence, where there is a chat."""
        if session.chat and self.store.chats.get(session.chat) is not None:
            self.say(session.chat, text, channel=session.channel)

    def stop(self, chat: str) -> bool:
        """Stop the turn that runs in a chat; where there is none, its background job."""
        return self._running.stop(chat) or self._jobs.cancel(chat)

    def jobs(self) -> tuple[Job, ...]:
        """The background jobs that run and the last that have ended, the newest first."""
        return tuple(self._jobs.all())

    def cancel_job(self, job: str) -> bool:
        """Cancel the job with this id, or the one of this chat; False if there is none that runs."""
        return self._jobs.cancel(job)

    def delete_chat(self, chat: str) -> bool:
        """Delete a conversation with all that was said and its jobs; what runs there is stopped. False if there is none."""
        self._running.stop(chat)
        self.sessions.end_chat(chat)
        gone = self.store.chats.delete(chat)
        self._jobs.forget(chat)
        return gone

    def tools(self) -> tuple[Tool, ...]:
        """Every tool, those that are switched off too; of the folders that are read afresh, as they were read last."""
        return tuple(self._known().tools.values())

    def _known(self) -> Snapshot:
        """What the registry and the folders that are read afresh hold together; the same one until something changes."""
        snapshot, taken = self.registry.snapshot, self._fresh.last
        if self._together[0] is not snapshot or self._together[1] is not taken:
            own = {plugin.name: plugin for plugin in taken.plugins}
            whole = msgspec.structs.replace(
                snapshot,
                tools=MappingProxyType({**taken.tools, **snapshot.tools}),
                plugins=MappingProxyType({**own, **snapshot.plugins}),
            )
            self._together = (snapshot, taken, whole)
        return self._together[2]

    def plugins(self) -> tuple[Plugin, ...]:
        """Every plugin."""
        return (*self.registry.snapshot.plugins.values(), *self._fresh.plugins())

    def problems(self) -> tuple[Problem, ...]:
        """What was refused or is odd, and why."""
        snapshot = self.registry.snapshot
        checks = (problem for problem in self._availability.problems() if problem.what in snapshot.tools)
        ours = (self._entrance.problem(), self.personality.problem(), self._secrets_problem())
        own = (one for one in ours if one is not None)
        return (*self._complaints, *own, *snapshot.problems, *self._fresh.last.problems, *checks)

    def add(self, function: Callable[..., Any], **options: object) -> Tool:
        """Offer a function of this program as a tool that runs in its process; `options` are those of `@tool`.

        From the host's loop only. Raises UsageError where the function is no tool, or the name is taken.
        """
        tool, bound = self._added.read(function, options)
        if tool.name.casefold() in BUILT_INS:
            raise UsageError(f"The name {tool.name!r} belongs to Etui itself and can never be taken.")
        for other in self.tools():
            if other.name.casefold() == tool.name.casefold():
                raise UsageError(
                    f"The name {tool.name!r} is already taken by plugin {other.plugin!r} ({other.file}:{other.line}). "
                    "Add it under another one: host.add(function, name=...)."
                )
        self._added.keep(tool, bound)
        self._catalogue.renew()
        return tool

    def remove(self, name: str) -> None:
        """Take back a function that was added; its calls under way end as they would. Raises UsageError where there is none."""
        self._added.remove(name)
        self._catalogue.renew()

    def switched_off(self) -> frozenset[str]:
        """Names of tools and toolsets that are switched off; the same set until something changes."""
        return self._switches.over(self._known())

    def families(self) -> tuple[Family, ...]:
        """Every toolset with its tools, as it can be switched."""
        return families(self._known(), self.switched_off())

    def switch(self, tool: str, on: bool) -> None:
        """Switch a tool or toolset on or off, from the next call on; of a plugin that is off as a whole no code runs."""
        self._switches.switch(tool, on)
        self._catalogue.switched()
        self._servers.look()
        for plugin in self.plugins():
            if plugin.family == tool:
                self._availability.forget(plugin.name)
        self._tell_changed(tool)

    def grant(self, plugin: str) -> dict[str, Any]:
        """What a plugin has and asks for, and what was given, is missing, forbidden and allowed. Raises UsageError."""
        return dict(self._grants.view(self._plugin(plugin)))

    def give(self, plugin: str, name: str, value: str | None = None) -> None:
        """Let a plugin see a variable, as the host has it or with this value. Raises UsageError where that cannot be."""
        self._grants.give(self._plugin(plugin).name, name, value)
        self._decided(plugin)

    def take(self, plugin: str, name: str) -> None:
        """Take a variable back from a plugin. Raises UsageError if it was not given."""
        self._grants.take(self._plugin(plugin).name, name)
        self._decided(plugin)

    def forbid(self, plugin: str, what: str, on: bool) -> None:
        """Forbid a plugin `network`, `subprocess` or `write`, or with `on` false let it. Raises UsageError."""
        self._grants.forbid(plugin, what, on, self._plugin(plugin).wishes)
        self._decided(plugin)

    def taught(self, tool: str) -> tuple[str, ...]:
        """The sentences that a person taught for a tool."""
        return self._taught.of(tool)

    def teach(self, tool: str, sentence: str) -> None:
        """Teach a tool a sentence. Raises UsageError with what is wrong with it."""
        known = self._tool(tool)
        if known is None:
            raise UsageError(f"There is no tool {tool!r}; `etui tools` lists what there is.")
        self._taught.teach(known, sentence)
        self._tell_changed(tool)

    def unteach(self, tool: str, sentence: str) -> None:
        """Take a taught sentence back. Raises UsageError if it was not taught."""
        self._taught.forget(tool, sentence)
        self._tell_changed(tool)

    def model_choices(self) -> list[dict[str, Any]]:
        """What could answer here, the chosen one marked."""
        return self.models.choices()

    async def look_for_models(self) -> None:
        """Look again for keys and servers: one may have been started since."""
        await self.models.looked()  # One that is under way may have passed by what is there now.
        self.models.look_around(own=(self.settings.port,))
        await self.models.looked()

    async def choose_model(self, id: str) -> None:
        """Let another model answer, from the next turn on. Raises EtuiError for one that there is not."""
        for name, value in self.models.settings_of(id).items():
            await self.set_setting(name, value)

    async def set_setting(self, name: str, value: object) -> None:
        """Set one row, in the file and at once. Raises SettingError and changes nothing if it cannot be so."""
        self._home.write(name, value)
        self._overrides.pop(name, None)
        self.settings, self._complaints = self._read_settings()
        await self._took({name})

    async def _took(self, names: Set[str]) -> None:
        """Let these settings hold at once."""
        self.models.changed(self.settings)
        self.hub.tell(Kind.SETTINGS_CHANGED, {"names": sorted(names)})
        if names & {"sources", "shelf"}:
            await asyncio.to_thread(self._fresh.make)
            await self._catalogue.moved()
        if "session_minutes" in names:
            self.sessions.look()
        if "mcp_servers" in names:
            self._servers.look()

    async def _edited(self) -> None:
        """Let hold what the owner wrote into the file by hand, once it is written."""
        await asyncio.sleep(QUIET)
        before, complaints = self.settings, self._complaints
        self.settings, self._complaints = self._read_settings(before)
        for problem in self._complaints:
            if problem not in complaints:
                self.hub.tell(Kind.PROBLEM, {"problem": msgspec.to_builtins(problem)})
        if complaints and not self._complaints:
            self.hub.tell(Kind.PROBLEM_GONE, {"plugin": ""})
        if names := {row for row in before.__struct_fields__ if getattr(before, row) != getattr(self.settings, row)}:
            await self._took(names)

    def report(self) -> dict[str, Any]:
        """What `etui doctor` prints: JSON values only."""
        snapshot = self.registry.snapshot
        return {
            "etui": {"version": version("etui"), "python": platform.python_version(), "system": platform.platform()},
            "kept_in": {"home": str(self._home.path), "tools": str(self._home.tools), "settings": str(self._home.config)},
            "enforced": self._enforced_words(),
            "tools_run_in": self._tools_run_in(),
            "answers": {"model": self.models.name, "time_zone": self.settings.timezone},
            "tools": {
                "tools": len(snapshot.tools),
                "plugins": len(snapshot.plugins),
                "refused": len([problem for problem in self.problems() if problem.refused]),
            },
            "workers": msgspec.to_builtins(self.workers.report()),
        }

    def _plugin(self, name: str) -> Plugin:
        plugin = next((plugin for plugin in self.plugins() if plugin.name == name), None)
        if plugin is None:
            raise UsageError(f"There is no plugin {name!r}; `etui tools` lists what there is.")
        if plugin.contract in (INLINE, MCP):
            raise UsageError(f"What {name!r} may touch is not Etui's to say: it runs in a process of its own making.")
        return plugin

    def _decided(self, plugin: str) -> None:
        self._catalogue.decided(plugin)
        if grant := self._fresh.grant(plugin):
            self.workers.regrant(plugin, grant)
        self._availability.forget(plugin)
        self._tell_changed(*(tool.name for tool in self.tools() if tool.plugin == plugin))

    def _read_settings(self, held: Settings | None = None) -> tuple[Settings, tuple[Problem, ...]]:
        """The settings and what is wrong with them; of a file that cannot be read the strictest rules, and else what `held`."""
        settings, errors = self._home.read(self._environ, self._overrides)
        if held is not None and any(isinstance(error, Unread) for error in errors):
            settings = msgspec.structs.replace(held, **STRICTEST)
        if not settings.timezone:
            settings = msgspec.structs.replace(settings, timezone=machine_zone(self._environ))
        return settings, tuple(self._complaint(error) for error in errors)

    def _complaint(self, error: SettingError) -> Problem:
        line = re.search(r"\(at line (\d+)", str(error))
        return Problem(
            what="settings",
            reason=str(error),
            file=str(self._home.config),
            line=int(line[1]) if line else 0,
            hint="`etui config` shows every setting.",
        )

    def _session_of(self, job: Job) -> Session:
        return self.session(
            job.channel,
            chat=job.id,
            trust=job.trust,
            mode=WORK,
            private=job.private,
            attended=job.attended,
            toolsets=None if job.toolsets is None else frozenset(job.toolsets),
            withheld=frozenset(job.withheld),
        )

    def _secrets_problem(self) -> Problem | None:
        trouble = self._secrets.trouble()
        return Problem(what="secrets", reason=trouble, file=str(self._home.secrets), refused=False) if trouble else None

    async def _refused_in(self, folder: Path) -> dict[str, str]:
        """Read the folders that are read afresh, and say why something in this one gives no tool, by the names of its files."""
        found = [listing for listing in await self._fresh.look() if listing.directory == str(folder)]
        return {refused.file: refused.reason for listing in found for refused in reversed(listing.refused)}

    def _facts(self, place: Place) -> dict[str, object]:
        """What the files of such a source may know of this host."""
        return {
            "data_dir": str(place.path.parent),
            "has_pin": self._entrance.is_set(),
            "briefing_before_pin": self.settings.briefing_before_pin,
        }

    async def _own_tools(self, session: Session) -> Mapping[str, Tool]:
        """The tools that are read for one session alone; then it lives until it is ended, and they with it."""
        tools = await self._fresh.open(session.id)
        if tools:
            self.sessions.keep(session)
        if session.ended:
            self.workers.end_instance(session.id)
        return tools

    def _session_changed(self, session: Session) -> None:
        """Something was proved in a session: everybody is told, its tools that run included."""
        standing = Standing(trust=session.trust, authorized=session.authorized, keypressed=session.keypressed)
        self.workers.tell(session.id, standing)
        data: dict[str, object] = {"trust": session.trust, "keypressed": session.keypressed}
        self.hub.tell(Kind.TRUST_CHANGED, data, session=session.id, chat=session.chat)

    def _tool(self, name: str) -> Tool | None:
        return self._known().tools.get(name)

    def _manner(self, turn: str) -> Manner:
        return in_manner(self.settings.narrate, reasons(self.models.name, self.settings.effort), turn)

    def _personality_file(self) -> Path:
        return self._home.path / Path(self.settings.personality).expanduser()

    def _personality_named(self) -> bool:
        return self.settings.personality != Settings().personality

    def _picture(self, image: str) -> Picture | None:
        blob = self.store.blobs.get(image)
        return Picture(blob.media_type, blob.data) if blob is not None else None

    def _enforced(self, tool: Tool) -> bool:
        if tool.contract in (INLINE, MCP, BUILT_IN):
            return True  # Nothing is declared that the kernel could be asked to hold.
        return self._machine.whole

    def _runner(self, tool: Tool) -> Runner:
        if tool.contract == BUILT_IN:
            return self._built_in
        if tool.contract == INLINE:
            return self.inline
        return self.remote if tool.contract == MCP else self.workers

    async def _activate(self, session: Session, meant: str) -> dict[str, list[str]]:
        """Let a job see the tools of the MCP servers that are meant."""
        found = await self._servers.wake(meant)
        session.activated |= {plugin_of(name) for name in found}
        return found

    def _enforced_words(self) -> dict[str, Any]:
        return dict(msgspec.to_builtins(self._machine))

    def _tools_run_in(self) -> str:
        python = tools_python(self._home, self.settings)
        if python == sys.executable:
            return "the host's own Python environment; `etui setup` makes one of their own"
        return str(Path(python).parent.parent)

    def _tell_changed(self, *tools: str) -> None:
        data: dict[str, object] = {
            "added": [],
            "removed": [],
            "changed": list(tools),
            "generation": self.registry.snapshot.generation,
        }
        self.hub.tell(Kind.TOOLS_CHANGED, data)


def tools_python(home: Home, settings: Settings) -> str:
    """The Python that tools run in: of the named environment, the home's own, the one that `make run` made, else the host's."""
    beside = Path(f"{sys.prefix}-tools")
    for folder in (Path(settings.tools_env).expanduser() if settings.tools_env else None, home.env, beside):
        if folder is not None and (folder / "bin" / "python").exists():
            return str(folder / "bin" / "python")
    return sys.executable
