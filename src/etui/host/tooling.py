"""Where the tools of a host come from, and what runs them: the parts that find, read, hold, check and start them, put together.

Above: `host`. Below: plugins, workers and the other runners, the owner's switches and grants. It refuses to know: sessions,
turns, and who calls.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from etui.availability import Availability
from etui.builtins import TOOLS as BUILT_INS
from etui.builtins import BuiltIn
from etui.contracts import Description, Files
from etui.events import Hub, Kind
from etui.front.lanes import Proxy
from etui.home import Home, write_private
from etui.host import reaching
from etui.owner.accounts import Accounts
from etui.owner.decisions import Aliases, Owners, Switches
from etui.owner.grants import Grants
from etui.owner.hiding import Hiding
from etui.owner.pin import AUTHORIZED
from etui.owner.sealed import VARIABLE, HomeKey
from etui.owner.secrets import Secrets, place, system_ring
from etui.plugins import roots
from etui.plugins.accepted import Accepted
from etui.plugins.added import Added
from etui.plugins.candidates import MANIFESTS, Candidate, Place
from etui.plugins.catalogue import Catalogue
from etui.plugins.configuration import config_of
from etui.plugins.enabled import Enabled
from etui.plugins.fresh import Fresh
from etui.plugins.good import Good
from etui.plugins.installation import Installation
from etui.plugins.installed import packages_of
from etui.plugins.kept import Kept
from etui.plugins.known import Known
from etui.plugins.load import Loader
from etui.plugins.packaged import Packaged
from etui.plugins.places import Places
from etui.plugins.servers import MCP, Servers
from etui.registry import Registry
from etui.run import Runner, Serve
from etui.run.confine import probe
from etui.run.inline import Inline
from etui.run.remote import Remote
from etui.run.workers import Timing, Workers
from etui.settings import Settings
from etui.store import Store
from etui.store.descriptions import Descriptions
from etui.tool import BUILT_IN, INLINE, Grant, Problem, Tool

SHELF = Path(__file__).parents[1] / "shelf"
PRELOAD = ("json", "re", "datetime", "random", "zoneinfo", "decimal", "difflib", "urllib.parse")
"""What most tool files import; the process that workers are forked from has it already."""


class Tooling:
    """The parts of one host that tools come from and run in."""

    def __init__(
        self,
        home: Home,
        environ: Mapping[str, str],
        store: Store,
        hub: Hub,
        *,
        settings: Callable[[], Settings],
        clock: Callable[[], float],
        pin_set: Callable[[], bool],
        apart: Callable[[Files], Serve],
    ) -> None:
        """`apart` gives what serves a plugin outside of any call; `clock` gives seconds since the epoch.

        `pin_set` says whether the owner has set a PIN.
        """
        self._home = home
        self._environ = environ
        self._settings = settings
        self._pin_set = pin_set
        self._toolsets: tuple[object, list[Path]] = (None, [])
        """The files of toolsets, and the sources that they were found by: every call looks whether one has changed."""
        self.registry = Registry()
        self._ring = partial(system_ring, environ)
        self._key = HomeKey(home.key, environ.get(VARIABLE, ""), write_private)
        if VARIABLE in environ:  # From here on nobody gets it: no plugin, no worker, no server.
            environ = {name: value for name, value in environ.items() if name != VARIABLE}
        self.secrets, self._of_accounts, self._of_settings = (
            Secrets(file, self._ring, write_private, self._key) for file in (home.secrets, home.accounts, home.hidden_settings)
        )
        self._kept = (self.secrets, self._of_accounts, self._of_settings)
        self.accounts = Accounts(self._of_accounts, store.values)
        self.hiding = Hiding(
            self.accounts.hidden,
            self.secrets.hidden,
            self._of_settings.hidden,
            lambda plugin: self.installation.hidden(plugin),
            lambda _: reaching.secret(self.proxy()),
        )
        self.grants = Grants(
            store.values,
            environ,
            str(home.files),
            self.secrets,
            lambda plugin: self.installation.writes(plugin),
            home=home.path,
            code=self._code,
        )
        self.switches = Switches(store.values)
        self.machine = probe()
        self.built_in = BuiltIn(good=frozenset({AUTHORIZED}))
        self.inline = Inline()
        self.remote = Remote()
        self.workers = Workers(
            tools_python=self.python(),
            preload=PRELOAD,
            memory=settings().memory_mb,
            timing=Timing(grace=settings().grace_seconds),
            environ=environ,
            tell=hub.tell,
            where=lambda files: self.catalogue.where(files),
            given=self.grants.environment,
            apart=apart,
            reaching=lambda: reaching.variables(self.proxy()),
        )
        self.added = Added(self.inline, str(home.files))
        self.servers = Servers(
            self.remote,
            tables=lambda: settings().mcp_servers,
            off=lambda: self.switches.off,
            environ=environ,
            home=home.path,
            config=home.config,
            changed=lambda: self.catalogue.renew(),
        )
        self._places = Places(
            home.path,
            shelf=SHELF,
            tools=home.tools,
            plugins=home.plugins,
            sapphire=home.sapphire,
            keryx=home.keryx,
            settings=settings,
            packages=lambda: packages_of(self.python()),
        )
        self.installation = Installation(
            Kept(write_private),
            self._of_settings,
            config=lambda: config_of(settings()),
            off=lambda: self.switches.off,
            plugins=lambda: self.registry.snapshot.plugins.values(),
        )
        self.aliases = Aliases(store.values)
        self._enabled = Enabled(self.switches, store.values)
        self.accepted = Accepted(home.accepted, home.files, store.values)
        self.catalogue = Catalogue(
            self._places.live,
            Loader(
                self._describe,
                Descriptions(store.values),
                home.files,
                self.grants,
                self.installation,
                self.accepted.sealed,
            ),
            self.registry,
            self.workers,
            Good(home.good),
            self.accepted,
            Owners(store.values),
            hub,
            lambda: self.added.plugins() + self.servers.plugins(),
            lambda: self.switches.off,
            BUILT_INS,
            self._looked,
            self.aliases.of,
        )
        self.fresh = Fresh(
            self._places.fresh,
            self.workers,
            self.grants,
            hub,
            taken=lambda: (*BUILT_INS, *self.registry.snapshot.tools),
            facts=self._facts,
            off=lambda: self.switches.off,
            work=home.files,
        )
        self.known = Known(self.registry, self.fresh)
        self.packaged = Packaged(
            lambda: self._places.fresh()[0].path,
            self._refused_in,
            write_private,
            self.secrets,
            lambda name: f"{self._places.fresh()[0].name}.{name}",
        )
        self.availability = Availability(
            self.workers.run, clock, lambda problem: hub.tell(Kind.PROBLEM, {"problem": msgspec.to_builtins(problem)})
        )

        self.odd: tuple[Problem, ...] = ()
        """What is not as it has to be in the home's own root."""

    async def start(self) -> None:
        """The folders, the secrets, the workers, the tools, and the servers of the settings."""
        await asyncio.to_thread(self.fresh.make)
        self.odd = await asyncio.to_thread(roots.make, self._home.sapphire)
        for kept in self._kept:
            await asyncio.to_thread(kept.trouble)  # Now, since a keyring may ask to be unlocked.
        await self.workers.start()
        await self.catalogue.open()
        self.servers.look()

    async def _describe(self, files: Files, grant: Grant) -> Description:
        self.accepted.granted(grant)
        return await self.workers.describe(files, grant)

    def _looked(self, candidates: list[Candidate]) -> None:
        self.installation.look(candidates)
        self._enabled.look(candidates)

    async def moved(self) -> None:
        """The settings name other places now."""
        await asyncio.to_thread(self.fresh.make)
        await self.catalogue.moved()

    async def rest(self) -> None:
        """Ask no tool anything more, and follow no folder."""
        await self.availability.close()
        await self.catalogue.close()

    async def close(self) -> None:
        """End what runs tools."""
        await self.remote.close()
        await self.workers.close()

    def disown(self, plugin: str) -> None:
        """Take back all that the owner gave a plugin of this name: grants, variables, accounts, secret settings."""
        self.grants.forget(plugin)
        self.accounts.take_all(plugin)
        self.installation.disown(plugin)

    def runner(self, tool: Tool) -> Runner:
        """What runs this tool."""
        if tool.contract == BUILT_IN:
            return self.built_in
        if tool.contract == INLINE:
            return self.inline
        return self.remote if tool.contract == MCP else self.workers

    def enforced(self, tool: Tool) -> bool:
        """Whether the kernel holds this tool to what it declares."""
        if tool.contract in (INLINE, MCP, BUILT_IN):
            return True  # Nothing is declared that the kernel could be asked to hold.
        return self.machine.whole

    def python(self) -> str:
        """The Python that tools run in."""
        return tools_python(self._home, self._settings())

    def _code(self) -> list[Path]:
        """Where what Etui runs lies: tool files, the Python for tools, Etui's own."""
        pythons = {Path(self.python()).parents[1], Path(sys.prefix), Path(sys.base_prefix), SHELF.parent}
        places = (*self._places.live(), *self._places.fresh())
        return [*pythons, *(place.path for place in places if not place.group)]

    def proxy(self) -> Proxy | None:
        """The owner's proxy, if the open web is reached through one."""
        return reaching.proxy(self._settings(), self._environ)

    def proxy_problem(self) -> Problem | None:
        """What the proxy lacks."""
        return reaching.problem(self._settings(), self._environ)

    def secrets_place(self) -> str:
        """Where secrets lie, in words. It may have to look for a keyring, so not from a loop."""
        return place(self._kept, self._ring(), self._key)

    def secrets_problem(self) -> Problem | None:
        """What is wrong with the place where plugins' secrets are kept."""
        return _trouble("secrets", self.secrets)

    def accounts_problem(self) -> Problem | None:
        """What is wrong with the place where accounts are kept."""
        return _trouble("accounts", self._of_accounts)

    def settings_problem(self) -> Problem | None:
        """What is wrong with the place where plugins' secret settings are kept."""
        return _trouble("secret settings", self._of_settings)

    def toolsets(self) -> list[Path]:
        """The files in which toolsets are saved: the home's own, and those of the checkouts that the settings name."""
        sources = self._settings().sources
        if self._toolsets[0] is not sources:
            roots = [self._home.sapphire]
            for source in sources:
                if source.path and source.contract == MANIFESTS:
                    roots.append(self._home.path / Path(source.path).expanduser())
            self._toolsets = (sources, [root / "user" / "toolsets" / "toolsets.json" for root in roots])
        return self._toolsets[1]

    async def _refused_in(self, folder: Path) -> dict[str, str]:
        """Read the folders that are read afresh, and say why something in this one gives no tool, by the names of its files."""
        found = [listing for listing in await self.fresh.look() if listing.directory == str(folder)]
        return {refused.file: refused.reason for listing in found for refused in reversed(listing.refused)}

    def _facts(self, place: Place) -> dict[str, object]:
        """What the files of such a source may know of this host."""
        return {
            "data_dir": str(place.path.parent),
            "has_pin": self._pin_set(),
            "briefing_before_pin": self._settings().briefing_before_pin,
        }


def _trouble(what: str, kept: Secrets) -> Problem | None:
    trouble = kept.trouble()
    return Problem(what=what, reason=trouble, file=str(kept.sealed), refused=False) if trouble else None


def tools_python(home: Home, settings: Settings) -> str:
    """The Python that tools run in: of the named environment, the home's own, the one that `make run` made, else the host's."""
    beside = Path(f"{sys.prefix}-tools")
    for folder in (Path(settings.tools_env).expanduser() if settings.tools_env else None, home.env, beside):
        if folder is not None and (folder / "bin" / "python").exists():
            return str(folder / "bin" / "python")
    return sys.executable
