"""The registry kept in step with what lies in the folders, live.

A change is loaded at once and swapped in whole. What does not load, or offers less than before, may be half written: it is
believed once it has looked the same for a while; then the owner sees why, and the last good version goes on serving.
Above: `host` starts it. Below: `load`, `registry`, `good`, and the workers that run what it decides.
It refuses to know: sessions, the gate, how a tool runs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import Protocol

import msgspec

from etui.contracts import Files
from etui.events import Hub, Kind
from etui.plugins.good import Good
from etui.plugins.load import Loader
from etui.plugins.sources import Candidate, Place, glance, holds, scan
from etui.plugins.watching import Watching
from etui.registry import Registry, build
from etui.tool import Grant, Plugin, Problem

SETTLE = 0.4
"""Seconds after which what looks broken or smaller is believed."""
AT_ONCE = 4
"""Plugins that are described side by side."""


class Runs(Protocol):
    """Who runs the plugins' code."""

    def set_plugin(self, files: Files, grant: Grant) -> None:
        """From the next call on, this is the code; what runs finishes. The same digest replaces nothing that runs."""
        ...

    def remove_plugin(self, name: str) -> None:
        """No more calls; what runs finishes."""
        ...

    def restart_plugin(self, name: str) -> None:
        """The same code in a fresh process from the next call on; what runs finishes."""
        ...


class Owners(Protocol):
    """Which plugin took which name first, kept over restarts."""

    def read(self) -> Mapping[str, str]:
        """Name of a tool, without case, to its plugin."""
        ...

    def write(self, owners: Mapping[str, str]) -> None:
        """Keep it."""
        ...


class Serving(msgspec.Struct):
    """One plugin as it serves, and as it lies on the disk."""

    candidate: Candidate
    """What was last looked at."""
    plugin: Plugin
    """What serves; its problems are those of what was last looked at."""


class Catalogue:
    """Scans, loads, and swaps the registry's snapshot."""

    def __init__(
        self,
        places: Callable[[], list[Place]],
        loader: Loader,
        registry: Registry,
        runs: Runs,
        good: Good,
        owners: Owners,
        hub: Hub,
        added: Callable[[], list[Plugin]] = list,
        off: Callable[[], frozenset[str]] = frozenset,
        reserved: Iterable[str] = (),
    ) -> None:
        """`added` gives the plugins that lie in no folder; `off` names what is switched off: of a whole plugin no code runs.

        `reserved` are names of tools that no plugin can have.
        """
        self._reserved = frozenset(reserved)
        self._places = places
        self._loader = loader
        self._registry = registry
        self._runs = runs
        self._good = good
        self._owners = owners
        self._hub = hub
        self._added = added
        self._off = off
        self._order: list[str] = []
        self._odd: list[Problem] = []
        """What could not be read in the places when they were last looked at."""
        self._serving: dict[str, Serving] = {}
        self._doubts: dict[str, tuple[Candidate | None, float]] = {}
        """What looks broken, or with None gone, and since when."""
        self._code: dict[str, Files] = {}
        """What each plugin runs, as long as it is on."""
        self._due: set[str] = set()
        """Plugins whose code or grant holds from the next swap on."""
        self._unread: set[str] = set()
        """Plugins that are off and that nobody has described as they lie there now."""
        self._anew: set[str] = set()
        """Plugins to look at again although their files are as they were."""
        self._lock = asyncio.Lock()
        self._watching = Watching(
            lambda: [place.path for place in places() if not place.group], lambda: self.refresh(settled=False), self._glance
        )
        self._unkept: list[Candidate] = []
        """What was taken and is to be copied."""
        self._settling: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None

    async def refresh(self, *, settled: bool = True) -> None:
        """Bring the registry in step with every place. Unless it is settled, what looks broken or gone is given a while."""
        async with self._lock:
            candidates, problems = await asyncio.to_thread(scan, self._places())
            gone = self._serving.keys() - {candidate.name for candidate in candidates}
            leaving = {name for name in gone if not settled and not self._believed(name, None)}
            for name in gone - leaving:
                self._remove(name)
            slots = asyncio.Semaphore(AT_ONCE)
            # While something is leaving, what is new may be the same under another name.
            looks = [
                self._look(candidate, slots, settled)
                for candidate in candidates
                if (not leaving or candidate.name in self._serving) and not self._passes(candidate)
            ]
            steady = all(await asyncio.gather(*looks))
            self._order, self._odd = [candidate.name for candidate in candidates] + sorted(leaving), problems
            # Kept before anybody is told of it: the next save may come at once.
            taken, self._unkept = self._unkept, []
            if taken:
                await asyncio.to_thread(self._good.keep_all, taken)
            self.renew()
        if leaving or not steady:
            self._look_again()

    def renew(self) -> None:
        """Swap in what is known now, and what was added or taken back; the folders are not looked at."""
        for name in sorted(self._due):
            self._set(name)
        self._due.clear()
        plugins = [self._shown(self._serving[name].plugin) for name in self._order if name in self._serving]
        plugins += self._added()
        before = self._registry.snapshot
        owners = self._owners.read()
        snapshot, now = build(plugins, owners, generation=before.generation + 1, reserved=self._reserved)
        snapshot = msgspec.structs.replace(snapshot, problems=(*self._odd, *snapshot.problems))
        if (snapshot.tools, snapshot.plugins, snapshot.problems) == (before.tools, before.plugins, before.problems):
            return
        if now != owners:
            self._owners.write(now)
        change = self._registry.swap(snapshot)
        if change:
            data: dict[str, object] = {
                "added": list(change.added),
                "removed": list(change.removed),
                "changed": list(change.changed),
                "generation": snapshot.generation,
            }
            self._hub.tell(Kind.TOOLS_CHANGED, data)
        self._tell_problems(set(before.problems), snapshot.problems)

    async def open(self) -> None:
        """Follow changes from now on, and load what there is: nothing that changes in between is missed."""
        await self._watching.open()
        await self.refresh()

    def switched(self) -> None:
        """Something was switched on or off: what is off runs no more, and what is on again starts afresh."""
        self._due |= self._serving.keys()
        on = {name for name in self._unread if self._serving[name].plugin.family not in self._off()}
        self.renew()
        if on:
            self._look_at(on)

    def decided(self, name: str) -> None:
        """The owner decided anew what a plugin may touch: it holds from the next call on, and may change what it offers."""
        self._due |= self._serving.keys() & {name}
        self.renew()
        self._runs.restart_plugin(name)
        self._look_at({name} & self._serving.keys())

    async def moved(self) -> None:
        """The places are others now."""
        self._watching.moved()
        await self.refresh()

    def where(self, files: Files) -> Files:
        """Where a version lies now, for a worker that is to load it: in its copy while the disk holds another. Any thread."""
        serving = self._serving.get(files.plugin)
        if serving is None or files.entry or holds(map(Path, files.files), files.digest):
            return files
        copy = self._good.find(serving.candidate)
        return self._loader.files(copy) if copy is not None and copy.digest == files.digest else files

    async def close(self) -> None:
        """Stop following."""
        await self._watching.close()
        for task in (self._settling, self._looking):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    def _set(self, name: str) -> None:
        """Let a plugin run what it is to run."""
        files, serving = self._code.get(name), self._serving.get(name)
        if files is None or serving is None or serving.plugin.family in self._off():
            self._runs.remove_plugin(name)
        else:
            self._runs.set_plugin(files, self._loader.granted(serving.plugin).grant)

    def _shown(self, plugin: Plugin) -> Plugin:
        """A plugin with what its owner lets it touch, and what they should know of it."""
        plugin = self._loader.granted(plugin)
        return msgspec.structs.replace(plugin, notes=self._loader.notes(plugin))

    def _glance(self) -> object:
        return glance(self._places(), [serving.candidate for serving in self._serving.values()])

    def _look_at(self, names: Set[str]) -> None:
        """Look soon at these again."""
        self._anew |= names
        if names and (self._looking is None or self._looking.done()):
            self._looking = asyncio.get_running_loop().create_task(self._look_now(), name="looking")

    async def _look_now(self) -> None:
        while self._anew & self._serving.keys():
            before = set(self._anew)
            await self.refresh(settled=False)
            if before == self._anew:
                return  # what looks broken is looked at again in a while, by the same way as ever

    def _look_again(self) -> None:
        if self._settling is not None and self._settling is not asyncio.current_task():
            self._settling.cancel()
        self._settling = asyncio.create_task(self._settle(), name="settling")

    async def _settle(self) -> None:
        await asyncio.sleep(SETTLE)
        await self.refresh(settled=False)

    def _believed(self, name: str, seen: Candidate | None) -> bool:
        """Whether a plugin has looked like this, broken or gone, for long enough that it is not just being written."""
        now = asyncio.get_running_loop().time()
        before, since = self._doubts.get(name, (None, now))
        if name not in self._doubts or before != seen:
            self._doubts[name] = (seen, now)
            return False
        return now - since >= SETTLE

    def _passes(self, candidate: Candidate) -> bool:
        """Take at once what needs no second thought: what is as it was, and what was described before and is whole."""
        serving = self._serving.get(candidate.name)
        if serving is not None and serving.candidate == candidate and candidate.name not in self._anew:
            self._doubts.pop(candidate.name, None)
            return True
        plugin = self._loader.known(candidate)
        if plugin is None and candidate.family in self._off():
            self._rest(candidate)
            return True
        if plugin is None or not plugin.tools or any(problem.refused for problem in plugin.problems):
            return False
        if serving is not None and _lost(serving.plugin, plugin):
            return False
        self._doubts.pop(candidate.name, None)
        self._take(candidate, plugin)
        return True

    async def _look(self, candidate: Candidate, slots: asyncio.Semaphore, settled: bool) -> bool:
        """Take what lies there if it is good. False if it should be looked at again."""
        serving = self._serving.get(candidate.name)
        async with slots:
            plugin = await self._loader.load(candidate)
            if plugin is None:
                return False
            before = serving.plugin if serving is not None else await self._restored(candidate, plugin)
        refused = any(problem.refused for problem in plugin.problems)
        lost = before is not None and _lost(before, plugin)
        if not settled and (refused or lost) and not self._believed(candidate.name, candidate):
            return False
        self._doubts.pop(candidate.name, None)
        if before is not None and lost and refused:
            await self._hold(candidate, before, plugin)
        else:
            self._take(candidate, plugin)
        return True

    async def _restored(self, candidate: Candidate, broken: Plugin) -> Plugin | None:
        """At a start, the last good version of a plugin that does not load."""
        if broken.tools or not any(problem.refused for problem in broken.problems):
            return None
        copy = await asyncio.to_thread(self._good.find, candidate)
        if copy is None:
            return None
        plugin = await self._loader.load(copy)
        if plugin is None or not plugin.tools:
            return None
        tools = tuple(msgspec.structs.replace(tool, file=_original(tool.file, copy, candidate)) for tool in plugin.tools)
        return msgspec.structs.replace(plugin, path=str(candidate.path), tools=tools)

    async def _hold(self, candidate: Candidate, serving: Plugin, broken: Plugin) -> None:
        """The last good version goes on serving; a worker that must be started loads the copy."""
        self._seen(candidate, _with_problems(serving, broken))
        copy = await asyncio.to_thread(self._good.find, candidate)
        if copy is not None and copy.digest == serving.digest:
            self._code[candidate.name] = self._loader.files(copy)

    def _take(self, candidate: Candidate, plugin: Plugin) -> None:
        self._seen(candidate, plugin)
        if not plugin.tools:
            self._code.pop(plugin.name, None)
            return
        self._code[plugin.name] = self._loader.files(candidate)
        self._unkept.append(candidate)

    def _rest(self, candidate: Candidate) -> None:
        """It is switched off, and what it offers is not known: that stays so until it is on."""
        self._seen(candidate, self._loader.unread(candidate))
        self._doubts.pop(candidate.name, None)
        self._code.pop(candidate.name, None)
        self._unread.add(candidate.name)

    def _seen(self, candidate: Candidate, plugin: Plugin) -> None:
        self._serving[candidate.name] = Serving(candidate, plugin)
        self._due.add(candidate.name)
        self._unread.discard(candidate.name)
        self._anew.discard(candidate.name)

    def _remove(self, name: str) -> None:
        serving = self._serving.pop(name)
        self._doubts.pop(name, None)
        self._code.pop(name, None)
        self._unread.discard(name)
        self._anew.discard(name)
        self._due.add(name)
        self._good.forget(serving.candidate)

    def _tell_problems(self, before: set[Problem], now: tuple[Problem, ...]) -> None:
        for problem in now:
            if problem not in before:
                self._hub.tell(Kind.PROBLEM, {"problem": msgspec.to_builtins(problem)})
        for plugin in {problem.plugin for problem in before} - {problem.plugin for problem in now}:
            self._hub.tell(Kind.PROBLEM_GONE, {"plugin": plugin})


def _lost(before: Plugin, after: Plugin) -> bool:
    """Whether a tool that serves is missing from the new version."""
    return bool({tool.name for tool in before.tools} - {tool.name for tool in after.tools})


def _with_problems(serving: Plugin, broken: Plugin) -> Plugin:
    return msgspec.structs.replace(serving, problems=tuple(_still(problem) for problem in broken.problems))


def _still(problem: Problem) -> Problem:
    if not problem.refused:
        return problem
    return msgspec.structs.replace(problem, hint=f"{problem.hint} The last version that loaded goes on serving.".strip())


def _original(file: str, copy: Candidate, candidate: Candidate) -> str:
    path = Path(file)
    if path.is_relative_to(copy.path.parent):
        return str(candidate.path.parent / path.relative_to(copy.path.parent))
    return file
