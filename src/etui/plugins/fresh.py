"""Sources that are read afresh for each session: their tools belong to that session alone, and never change in it.

The files are judged and read by `owned`, each is described in a worker of the session's own, all at once, and names are settled
in the order of the files: the first to take one keeps it. Nothing here is live, watched or kept over a restart. Above: `host`
has a session's tools read when it opens, and lists the folders. Below: `owned`, the workers, the nouns. It refuses to know:
sessions, the registry, how a file is written.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
import structlog

from etui.contracts import Description, Files
from etui.contracts.owned import OwnFile, OwnFolder, helpers, make_own, own_folder
from etui.events import Hub, Kind
from etui.plugins.candidates import Place
from etui.plugins.load import REST
from etui.tool import Grant, Plugin, Problem, Tool

CONTRACTS = frozenset({"keryx"})
"""The contracts whose sources are read afresh."""
log = logging.getLogger("keryx.tools.custom")
"""By the name under which Keryx's owners look for it."""
log.addHandler(logging.NullHandler())
hosts_log = structlog.get_logger(log.name)
"""The same for those who read what the host itself notes; what was refused it notes anyway, as a problem."""


class Runs(Protocol):
    """Who runs the files' code."""

    async def describe(self, files: Files, grant: Grant) -> Description:
        """What a file offers; nothing of it stays."""
        ...

    async def adopt(self, files: Files, grant: Grant) -> Description:
        """The same, and the worker stays for the calls of this instance."""
        ...

    def end_instance(self, instance: str, plugin: str = "") -> None:
        """Nothing of this instance runs any more; of one plugin, or of all."""
        ...


class Owner(Protocol):
    """What the owner lets a plugin touch."""

    def of(self, plugin: str, asked: Grant) -> Grant:
        """What it may touch if this is what it asks for."""
        ...

    def notes(self, plugin: Plugin) -> tuple[str, ...]:
        """What the owner should know about it, a sentence each."""
        ...


def plugin_name(place: Place, file: Path) -> str:
    """What a file of such a source is called as a plugin."""
    return f"{place.name}.{file.stem}"


def family_of(plugin: str) -> str:
    """The toolset that switches such a plugin on and off as a whole."""
    return f"plugin:{plugin}"


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """One tool that a folder holds."""

    name: str
    needs_pin: bool
    file: str
    """The file's name in the folder."""
    description: str


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """One file, tool or folder that is not offered."""

    file: str
    """The file's name in the folder, or the folder's own."""
    reason: str


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What one folder holds, and what of it was refused."""

    directory: str
    tools: tuple[Held, ...] = ()
    refused: tuple[Refused, ...] = ()


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """One file as it was read and described."""

    place: Place
    file: OwnFile
    plugin: str
    wishes: Grant = Grant()
    grant: Grant = Grant()
    description: Description = Description()

    @property
    def family(self) -> str:
        """The toolset that switches it on and off as a whole."""
        return family_of(self.plugin)


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken from all folders at one moment."""

    tools: Mapping[str, Tool]
    """By name, in the order of the folders, their files and their definitions."""
    plugins: tuple[Plugin, ...]
    problems: tuple[Problem, ...]
    listings: tuple[Listing, ...]


class Fresh:
    """Reads the sources that are read afresh."""

    def __init__(
        self,
        places: Callable[[], Sequence[Place]],
        runs: Runs,
        owner: Owner,
        hub: Hub,
        *,
        taken: Callable[[], Iterable[str]],
        facts: Callable[[Place], dict[str, object]],
        off: Callable[[], frozenset[str]],
        work: Path,
    ) -> None:
        """`taken` gives the names that no tool may have, `facts` what a file may know, `work` is the working folder.

        `off` names what is switched off: of a file that is off as a whole no code runs.
        """
        self._places = places
        self._runs = runs
        self._owner = owner
        self._hub = hub
        self._taken = taken
        self._facts = facts
        self._off = off
        self._work = str(work)
        self._wishes: dict[str, tuple[tuple[object, ...], Grant]] = {}
        """By path, what the bytes with this digest and these helpers ask for."""
        self._hung: dict[str, Description] = {}
        """What came of bytes that never loaded, by their digest: no session waits for them again."""
        self._last = Taken(tools={}, plugins=(), problems=(), listings=())

    def make(self) -> None:
        """See that every folder is there and its owner's alone. Blocks for a moment."""
        for place in self._places():
            make_own(place.path)

    async def open(self, instance: str) -> Mapping[str, Tool]:
        """The tools of one session; the workers that read them are the session's own, until `end_instance`."""
        taken = await self._take(instance, self._runs.adopt)
        for plugin in taken.plugins:
            if not plugin.tools:
                self._runs.end_instance(instance, plugin.name)
        self._tell(taken)
        return taken.tools

    async def look(self) -> tuple[Listing, ...]:
        """What each folder holds now; nothing of it stays. An empty folder of the host's own making is left out."""
        taken = await self._take(f"look_{secrets.token_hex(8)}", self._runs.describe)
        own = {str(place.path) for place in self._places() if place.create}
        return tuple(one for one in taken.listings if one.tools or one.refused or one.directory not in own)

    @property
    def last(self) -> Taken:
        """What was taken when the folders were read last; its tools are the ones of that reading."""
        return self._last

    def plugins(self) -> tuple[Plugin, ...]:
        """The files as they were read last, each with what its owner lets it touch now."""
        return tuple(self._shown(plugin) for plugin in self._last.plugins)

    def grant(self, plugin: str) -> Grant | None:
        """What a file may touch now; None for one that was not read last."""
        return next((found.grant for found in self.plugins() if found.name == plugin), None)

    async def _take(self, instance: str, describe: Callable[[Files, Grant], Awaitable[Description]]) -> Taken:
        places = list(self._places())
        names = tuple(sorted(set(self._taken())))
        folders = await asyncio.gather(*(asyncio.to_thread(own_folder, place.path) for place in places))
        looks = [
            self._look(place, file, instance, names, describe)
            for place, folder in zip(places, folders, strict=True)
            for file in folder.files
            if not file.refused
        ]
        found = {one.file.path: one for one in await asyncio.gather(*looks)}
        taken = _Settling(names, instance).settle(places, folders, found)
        self._notice(taken)
        return taken

    async def _look(
        self,
        place: Place,
        file: OwnFile,
        instance: str,
        taken: tuple[str, ...],
        describe: Callable[[Files, Grant], Awaitable[Description]],
    ) -> _Found:
        path, digest, plugin = str(file.path), file.digest, plugin_name(place, file.path)
        if family_of(plugin) in self._off():
            resting = Description(contract=place.contract, notes=(REST,))
            return _Found(place=place, file=file, plugin=plugin, description=resting)
        beside = await asyncio.to_thread(helpers, file)
        files = Files(
            plugin=plugin,
            source=place.name,
            contract=place.contract,
            path=path,
            files=(path,),
            digest=digest,
            work=self._work,
            instance=instance,
            code={path: file.code, **beside},
            taken=taken,
            facts=self._facts(place),
        )
        known = self._wishes.get(path)
        texts = (digest, *beside.items())
        if known is None or known[0] != texts:
            # Asked of a worker too: no byte that others wrote is looked into in this process.
            unread = msgspec.structs.replace(files, unread=True)
            known = self._wishes[path] = texts, (await self._runs.describe(unread, Grant())).wishes
        wishes = known[1]
        grant = self._owner.of(plugin, wishes)
        if (description := self._hung.get(digest)) is None:
            description = await describe(files, grant)
            if description.hung:
                self._hung[digest] = description
        else:
            problems = (msgspec.structs.replace(problem, what=plugin) for problem in description.problems)
            description = msgspec.structs.replace(description, problems=tuple(problems))
        return _Found(place=place, file=file, plugin=files.plugin, wishes=wishes, grant=grant, description=description)

    def _notice(self, taken: Taken) -> None:
        """Keep it to be looked at, and tell what is wrong now and was not before, and what is mended."""
        before, self._last = self._last.problems, taken
        for problem in taken.problems:
            if problem not in before:
                self._hub.tell(Kind.PROBLEM, {"problem": msgspec.to_builtins(problem)})
        for plugin in {problem.plugin for problem in before} - {problem.plugin for problem in taken.problems}:
            self._hub.tell(Kind.PROBLEM_GONE, {"plugin": plugin})

    def _tell(self, taken: Taken) -> None:
        """What a session got and did not get, into the log."""
        for listing in taken.listings:
            for refused in listing.refused:
                log.warning("custom tool %s refused: %s", _line(refused.file), _line(refused.reason))
        if taken.tools:
            told = f"custom tools: {', '.join(taken.tools)}"
            log.info("%s", told)
            hosts_log.info(told)

    def _shown(self, plugin: Plugin) -> Plugin:
        plugin = msgspec.structs.replace(plugin, grant=self._owner.of(plugin.name, plugin.wishes))
        return msgspec.structs.replace(plugin, notes=(*plugin.notes, *self._owner.notes(plugin)))


class _Settling:
    """Who keeps which name: folders, files and definitions in their order."""

    def __init__(self, taken: Iterable[str], instance: str) -> None:
        self._names = set(taken)
        self._instance = instance
        self._tools: dict[str, Tool] = {}
        self._plugins: list[Plugin] = []
        self._problems: list[Problem] = []

    def settle(self, places: Iterable[Place], folders: Iterable[OwnFolder], found: Mapping[Path, _Found]) -> Taken:
        """All of it."""
        listings = []
        for place, folder in zip(places, folders, strict=True):
            tools: list[Held] = []
            refused: list[Refused] = []
            if folder.refused:
                refused.append(self._refuse(place, folder.path, folder.refused))
            for file in folder.files:
                if file.refused:
                    refused.append(self._refuse(place, file.path, file.refused))
                else:
                    self._file(found[file.path], tools, refused)
            listings.append(Listing(directory=str(place.path), tools=tuple(tools), refused=tuple(refused)))
        return Taken(tools=self._tools, plugins=tuple(self._plugins), problems=tuple(self._problems), listings=tuple(listings))

    def _file(self, one: _Found, tools: list[Held], refused: list[Refused]) -> None:
        """One file's tools and problems; what it takes is taken for the files after it."""
        problems = [self._problem(one, problem) for problem in one.description.problems]
        kept: list[Tool] = []
        for tool in one.description.tools:
            if tool.name in self._names:
                problems.append(self._problem(one, Problem(what=tool.name, reason=_already(tool.name), line=tool.line)))
            else:
                kept.append(self._placed(one, tool))
        self._names |= {tool.name for tool in kept}
        self._tools |= {tool.name: tool for tool in kept}
        name = one.file.path.name
        tools += [Held(name=tool.name, needs_pin=tool.pin, file=name, description=tool.description) for tool in kept]
        refused += [Refused(file=name, reason=problem.reason) for problem in problems if problem.refused]
        self._problems += problems
        self._plugins.append(
            Plugin(
                name=one.plugin,
                contract=one.place.contract,
                source=one.place.name,
                path=str(one.file.path),
                files=(str(one.file.path),),
                digest=one.file.digest,
                grant=one.grant,
                wishes=one.wishes,
                family=one.family,
                tools=tuple(kept),
                problems=tuple(problems),
                notes=one.description.notes,
            )
        )

    def _problem(self, one: _Found, problem: Problem) -> Problem:
        """A problem of this file's; that a name is taken comes before everything but that it is none."""
        reason = problem.reason
        later = (f"{problem.what!r} has no description", f"{problem.what!r}: ")
        if problem.what in self._names and reason.startswith(later):
            reason = _already(problem.what)
        hint = self._way_out(problem.what) if reason == _already(problem.what) else problem.hint
        return msgspec.structs.replace(
            problem, reason=reason, hint=hint, file=str(one.file.path), plugin=one.plugin, source=one.place.name
        )

    def _way_out(self, name: str) -> str:
        """What to do about a tool whose name another has."""
        first = self._tools.get(name)
        who = f"{Path(first.file).name} has it" if first is not None else "A tool of the host or of another plugin has it"
        return f'{who}; give yours another name: `@custom_tool("my_{name}", ...)`.'

    def _placed(self, one: _Found, tool: Tool) -> Tool:
        return msgspec.structs.replace(
            tool,
            plugin=one.plugin,
            source=one.place.name,
            file=str(one.file.path),
            digest=one.file.digest,
            toolset=one.family,
            instance=self._instance,
        )

    def _refuse(self, place: Place, path: Path, reason: str) -> Refused:
        plugin = plugin_name(place, path) if path != place.path else place.name
        self._problems.append(Problem(what=path.name, reason=reason, file=str(path), plugin=plugin, source=place.name))
        return Refused(file=path.name, reason=reason)


def _already(name: str) -> str:
    return f"{name!r} is already a tool's name"


def _line(text: str) -> str:
    """The text on one line of a log, whatever a file wrote into it."""
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
