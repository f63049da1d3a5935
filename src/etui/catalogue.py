"""The registry kept in step with what lies in the folders, live.

A change is loaded at once and swapped in whole. What does not load, or offers less than before, may be half written: it is
believed once it has looked the same for a while; then the owner sees why, and the last good version goes on serving.
Above: `host` starts it. Below: `load`, `registry`, `good`, and the workers that run what it decides.
It refuses to know: sessions, the gate, how a tool runs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from etui.contracts import Files
from etui.events import Hub, Kind
from etui.good import Good
from etui.load import Loader
from etui.registry import Registry, build
from etui.sources import Candidate, Place, holds, scan
from etui.tool import Grant, Plugin, Problem
from etui.watching import Watching

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
    ) -> None:
        """`added` gives the plugins that lie in no folder."""
        self._places = places
        self._loader = loader
        self._registry = registry
        self._runs = runs
        self._good = good
        self._owners = owners
        self._hub = hub
        self._added = added
        self._order: list[str] = []
        self._odd: list[Problem] = []
        """What could not be read in the places when they were last looked at."""
        self._serving: dict[str, Serving] = {}
        self._doubts: dict[str, tuple[Candidate | None, float]] = {}
        """What looks broken, or with None gone, and since when."""
        self._due: dict[str, tuple[Files, Grant] | None] = {}
        """What runs from the next swap on, or with None no more."""
        self._lock = asyncio.Lock()
        self._watching = Watching(lambda: [place.path for place in places()], lambda: self.refresh(settled=False))
        self._unkept: list[Candidate] = []
        """What was taken and is to be copied."""
        self._settling: asyncio.Task[None] | None = None

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
        for name, runs in self._due.items():
            if runs is None:
                self._runs.remove_plugin(name)
            else:
                self._runs.set_plugin(*runs)
        self._due.clear()
        plugins = [self._serving[name].plugin for name in self._order if name in self._serving] + self._added()
        before = self._registry.snapshot
        owners = self._owners.read()
        snapshot, now = build(plugins, owners, generation=before.generation + 1)
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

    async def moved(self) -> None:
        """The places are others now."""
        self._watching.moved()
        await self.refresh()

    def where(self, files: Files) -> Files:
        """Where a version lies now, for a worker that is to load it: in its copy while the disk holds another. Any thread."""
        serving = self._serving.get(files.plugin)
        if serving is None or holds(map(Path, files.files), files.digest):
            return files
        copy = self._good.find(serving.candidate)
        return self._loader.files(copy) if copy is not None and copy.digest == files.digest else files

    async def close(self) -> None:
        """Stop following."""
        await self._watching.close()
        if self._settling is not None:
            self._settling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._settling

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
        if serving is not None and serving.candidate == candidate:
            self._doubts.pop(candidate.name, None)
            return True
        plugin = self._loader.known(candidate)
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
        self._serving[candidate.name] = Serving(candidate, _with_problems(serving, broken))
        copy = await asyncio.to_thread(self._good.find, candidate)
        if copy is not None and copy.digest == serving.digest:
            self._due[candidate.name] = (self._loader.files(copy), serving.grant)

    def _take(self, candidate: Candidate, plugin: Plugin) -> None:
        self._serving[candidate.name] = Serving(candidate, plugin)
        if not plugin.tools:
            self._due[plugin.name] = None
            return
        self._due[plugin.name] = (self._loader.files(candidate), plugin.grant)
        self._unkept.append(candidate)

    def _remove(self, name: str) -> None:
        serving = self._serving.pop(name)
        self._doubts.pop(name, None)
        self._due[name] = None
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
