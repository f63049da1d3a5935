"""The registry kept in step with what lies in the folders, live.

A change is loaded at once and swapped in whole. What does not load, or offers less than before, may be half written: it is
believed once it has looked the same for a while; then the owner sees why, and the last good version goes on serving.
Above: `host` starts it. Below: `load`, `publishing`, `good`, and the workers that run what it decides.
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
from etui.events import Hub
from etui.plugins.accepted import Accepted
from etui.plugins.candidates import Candidate, Place
from etui.plugins.doubts import SETTLE, Doubts
from etui.plugins.good import Good
from etui.plugins.lasting import Lasting, loses, with_problems
from etui.plugins.load import Loader, retold
from etui.plugins.publishing import Owners, Publishing, called
from etui.plugins.registered import Registered
from etui.plugins.sources import glance, holds, scan
from etui.plugins.watching import Watching
from etui.registry import Change, Registry
from etui.tool import Grant, Plugin, Problem, Tool

AT_ONCE = 4
"""Plugins that are described side by side."""


class Runs(Protocol):
    """Who runs the plugins' code."""

    def set_plugin(self, files: Files, grant: Grant) -> None:
        """From the next call on, this is the code; what runs finishes. The same digest replaces nothing that runs."""
        ...

    async def rest_plugin(self, name: str) -> None:
        """Let it clear up and go; its next call waits until it is set or removed."""
        ...

    def remove_plugin(self, name: str) -> None:
        """No more calls; what runs finishes."""
        ...

    def restart_plugin(self, name: str) -> None:
        """The same code in a fresh process from the next call on; what runs finishes."""
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
        accepted: Accepted,
        owners: Owners,
        hub: Hub,
        added: Callable[[], list[Plugin]] = list,
        off: Callable[[], frozenset[str]] = frozenset,
        reserved: Iterable[str] = (),
        looked: Callable[[list[Candidate]], object] | None = None,
        aliases: Callable[[str], Mapping[str, str]] = lambda _: {},
    ) -> None:
        """`added` gives the plugins that lie in no folder; `off` names what is switched off: of a whole plugin no code runs.

        `reserved` are names of tools that no plugin can have; `looked` hears what lies there, before any of it would be run.
        `aliases` gives the names that a plugin's tools have here, where the owner gave them others than their files do.
        """
        self._aliases = aliases
        self._looked = looked
        self._places = places
        self._loader = loader
        self._registry = registry
        self._runs = runs
        self._good = good
        self._accepted = accepted
        self._lasting = Lasting(good, loader)
        self._publishing = Publishing(registry, owners, hub, reserved=reserved, off=off)
        self._added = added
        self._off = off
        self._order: list[str] = []
        self._odd: list[Problem] = []
        """What could not be read in the places when they were last looked at."""
        self._serving: dict[str, Serving] = {}
        self._doubts = Doubts()
        self._registered = Registered()
        self._rested: set[str] = set()
        """Plugins whose worker was let go so that they can be read; their calls wait until they are set again."""
        self._again: set[str] = set()
        """Plugins to run afresh if they load, although their files are as they were."""
        self._afresh: set[str] = set()
        """Those of them that did."""
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
            places = self._places()
            candidates, problems = await asyncio.to_thread(scan, places)
            if self._looked is not None:
                self._looked(candidates)
            candidates = await asyncio.to_thread(self._accepted.look, places, candidates, self._off())
            gone = self._serving.keys() - {candidate.name for candidate in candidates}
            leaving = {name for name in gone if not settled and not self._doubts.believed(name, None)}
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
            if steady:
                self._due |= self._rested
                self._rested.clear()
            self.renew()
            for name in sorted(self._afresh & self._serving.keys()):
                self._runs.restart_plugin(name)
            self._afresh.clear()
            self._accepted.begun()
        if leaving or not steady:
            self._look_again()

    def accept(self, name: str) -> bool:
        """The owner accepts the code of a plugin as it lies there at the next look; False where no word of theirs is needed."""
        return self._accepted.accept(name)

    def waits(self, name: str) -> bool:
        """Whether code of a plugin lies there that waits for its owner's word."""
        return self._accepted.waits(name)

    async def reload(self, name: str) -> bool:
        """Read a plugin anew although nothing of it changed, and run it afresh; False where there is none of this name."""
        serving = self._serving.get(name)
        if serving is None:
            return False
        self._loader.forget(serving.candidate)
        self._anew.add(name)
        self._again.add(name)
        await self.refresh()
        return True

    def refreshed(self, name: str, digest: str, told: Iterable[Mapping[str, object]]) -> None:
        """A plugin says anew what its tools are: of those that it has, the description and the parameters are taken.

        What code with another digest said, which served when it was asked, is passed over.
        """
        serving = self._serving.get(name)
        if serving is None or serving.plugin.digest != digest:
            return
        tools = retold(serving.plugin.tools, told)
        if tools != serving.plugin.tools:
            serving.plugin = msgspec.structs.replace(serving.plugin, tools=tools)
            self.renew()

    def renew(self) -> None:
        """Swap in what is known now, and what was added or taken back; the folders are not looked at."""
        for name in sorted(self._due):
            self._set(name)
        self._due.clear()
        plugins = [self._shown(self._offering(name)) for name in self._order if name in self._serving]
        plugins += self._added()
        self._publishing.publish(plugins, self._odd)

    def plugin(self, name: str) -> Plugin | None:
        """The plugin of that name as its files have it, whether its tools are offered or not."""
        serving = self._serving.get(name)
        return serving.plugin if serving is not None else None

    def register(self, name: str, tools: Iterable[Tool], gone: Iterable[str]) -> dict[str, str]:
        """A running plugin offers these tools too, and those no more; gives the names that others have, with the reason."""
        serving = self._serving.get(name)
        if serving is None:
            return {}
        tools = list(tools)
        self._registered.remove(serving.plugin, gone)
        self._registered.add(serving.plugin, tools)
        self.renew()
        return self._registered.lost(serving.plugin, tools, self._registry.snapshot.tools)

    def stir(self) -> None:
        """Something that decides what is offered has changed outside of the registry: everybody looks anew."""
        self._publishing.stir()

    def wake(self, name: str) -> None:
        """A plugin that was let go so that something could be done with it is there again, or gone for good."""
        self._due.add(name)
        self.renew()

    def tell_changed(self, *tools: str) -> None:
        """Tell everybody that something about these tools or toolsets has changed that the registry does not hold."""
        self._publishing.tell(Change(changed=tools))

    async def open(self) -> None:
        """Follow changes from now on, and load what there is: nothing that changes in between is missed."""
        await self._watching.open()
        await self.refresh()

    def switched(self, family: str = "") -> None:
        """Something was switched on or off: what is off runs no more, and what is on again starts afresh.

        `family` was switched on by the owner, who accepts its code by that.
        """
        mine = {name for name, serving in self._serving.items() if serving.candidate.family == family}
        self._look_at({name for name in mine if self._accepted.accept(name)})
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
        if serving is None or files.entry:
            return files
        candidate = serving.candidate
        read = candidate.files if candidate.digest == files.digest else map(Path, files.files)
        if holds(read, files.digest):
            return files
        return self._lasting.files(serving.candidate, files.digest) or files

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
            grant = self._loader.granted(serving.plugin).grant
            self._accepted.granted(grant)
            self._runs.set_plugin(files, grant)

    def _offering(self, name: str) -> Plugin:
        """What serves, with what it registered while it ran."""
        return self._registered.with_them(self._serving[name].plugin)

    def _shown(self, plugin: Plugin) -> Plugin:
        """A plugin with what its owner lets it touch, and what they should know of it."""
        plugin = called(self._loader.granted(plugin), self._aliases(plugin.name))
        problem = self._accepted.problem(plugin.name)
        problems = plugin.problems if problem is None else (*plugin.problems, problem)
        return msgspec.structs.replace(plugin, notes=self._loader.notes(plugin), problems=problems)

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

    def _passes(self, candidate: Candidate) -> bool:
        """Take at once what needs no second thought: what is as it was, and what was described before and is whole."""
        serving = self._serving.get(candidate.name)
        if serving is not None and serving.candidate == candidate and candidate.name not in self._anew:
            self._doubts.drop(candidate.name)
            return True
        if candidate.waiting:
            self._rest(candidate)
            return True
        plugin = self._loader.known(candidate)
        if plugin is None and candidate.family in self._off():
            self._rest(candidate)
            return True
        if plugin is None or not plugin.tools or any(problem.refused for problem in plugin.problems):
            return False
        if serving is not None and loses(serving.plugin, plugin):
            return False
        self._doubts.drop(candidate.name)
        self._take(candidate, plugin)
        return True

    async def _look(self, candidate: Candidate, slots: asyncio.Semaphore, settled: bool) -> bool:
        """Take what lies there if it is good. False if it should be looked at again."""
        serving = self._serving.get(candidate.name)
        async with slots:
            if serving is not None and serving.candidate.parting and self._loader.known(candidate) is None:
                self._rested.add(candidate.name)
                await self._runs.rest_plugin(candidate.name)
            plugin = await self._loader.load(candidate)
            if plugin is None:
                return False
            before = serving.plugin if serving is not None else await self._lasting.restored(candidate, plugin)
        refused = any(problem.refused for problem in plugin.problems)
        lost = before is not None and loses(before, plugin)
        if not settled and (refused or lost) and not self._doubts.believed(candidate.name, candidate):
            return False
        self._doubts.drop(candidate.name)
        if before is not None and lost and refused:
            await self._hold(candidate, before, plugin)
        else:
            self._take(candidate, plugin)
        return True

    async def _hold(self, candidate: Candidate, serving: Plugin, broken: Plugin) -> None:
        """The last good version goes on serving; a worker that must be started loads the copy."""
        self._seen(candidate, with_problems(serving, broken))
        files = await asyncio.to_thread(self._lasting.files, candidate, serving.digest)
        if files is not None:
            self._code[candidate.name] = files

    def _take(self, candidate: Candidate, plugin: Plugin) -> None:
        afresh = self._again & {plugin.name}
        self._seen(candidate, plugin)
        if not plugin.tools and not plugin.handlers:
            self._code.pop(plugin.name, None)
            return
        self._code[plugin.name] = self._loader.files(candidate)
        self._unkept.append(candidate)
        self._afresh |= afresh

    def _rest(self, candidate: Candidate) -> None:
        """It is switched off, or waits for its owner's word: nothing of it is run until then."""
        off = candidate.family in self._off()
        plugin = (self._loader.known(candidate) if off else None) or self._loader.unread(candidate)
        self._seen(candidate, plugin if off else msgspec.structs.replace(plugin, notes=()))
        self._doubts.drop(candidate.name)
        self._code.pop(candidate.name, None)
        self._unread.add(candidate.name)

    def _seen(self, candidate: Candidate, plugin: Plugin) -> None:
        self._serving[candidate.name] = Serving(candidate, plugin)
        self._due.add(candidate.name)
        self._unread.discard(candidate.name)
        self._anew.discard(candidate.name)
        self._again.discard(candidate.name)

    def _remove(self, name: str) -> None:
        serving = self._serving.pop(name)
        self._doubts.drop(name)
        self._code.pop(name, None)
        self._unread.discard(name)
        self._anew.discard(name)
        self._due.add(name)
        self._good.forget(serving.candidate)
        self._accepted.forget(serving.candidate)
