"""The plugins with a root, as their owner keeps them: their settings, read anew, under other names, and off the disk again.

Above: surfaces, and the services of running plugins. Below: the catalogue, the installation, the handlers, handed in. It
refuses to know: how a settings file is written, and what a plugin makes of its settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from etui.contracts import REFRESH
from etui.errors import UsageError
from etui.events import Hub, Kind
from etui.handlers import Handlers
from etui.owner.decisions import Aliases
from etui.plugins.catalogue import Catalogue
from etui.plugins.installation import Installation, called
from etui.plugins.uninstalling import Removed, check, uninstall
from etui.tool import Handler, Plugin

ANEW = Handler(kind="refresh", name="tools", entry=REFRESH)
"""How a plugin is asked what its tools are, now that its settings are others."""


class Installed:
    """The plugins with a root of one host."""

    def __init__(
        self,
        catalogue: Catalogue,
        installation: Installation,
        aliases: Aliases,
        hub: Hub,
        *,
        handlers: Callable[[], Handlers],
        off: Callable[[], frozenset[str]],
        rest: Callable[[str], Any],
        disown: Callable[[str], object],
        withdraw: Callable[[str], object],
        ready: Callable[[], object] = lambda: None,
    ) -> None:
        """`off` names the families that are off; `rest` lets a plugin clear up and its worker go; `ready` hears of looks.

        `disown` takes back all that the owner gave a plugin of that name, `withdraw` that a family of that name is to be on.
        """
        self._catalogue = catalogue
        self._installation = installation
        self._aliases = aliases
        self._hub = hub
        self._handlers = handlers
        self._off = off
        self._rest = rest
        self._disown = disown
        self._withdraw = withdraw
        self._ready = ready

    def names(self) -> tuple[str, ...]:
        """What they are called in the house."""
        return self._installation.names()

    def form(self, name: str) -> dict[str, Any]:
        """Its settings for its owner: rows, values, which secrets were given, where they are kept. Raises UsageError."""
        plugin = self._plugin(name)
        known = {tool.name: tool.name for tool in plugin.tools} | dict(self._aliases.of(name))
        shown = self._installation.shown(plugin)
        return {"plugin": name, "title": plugin.title or name, "called": self._called(name), "names": known, **shown}

    async def save(self, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Keep these settings over those that it has; its tools are described anew. Raises EtuiError."""
        plugin = self._plugin(name)
        await asyncio.to_thread(self._installation.save, plugin, values)
        await self._changed(name)
        return self.form(name)

    async def reset(self, name: str) -> dict[str, Any]:
        """Back to its defaults. Raises EtuiError."""
        plugin = self._plugin(name)
        await asyncio.to_thread(self._installation.reset, plugin)
        await self._changed(name)
        return self.form(name)

    def alias(self, name: str, tool: str, alias: str) -> None:
        """Give one of its tools another name here, or with an empty one its own again. Raises UsageError."""
        plugin = self._plugin(name)
        if tool not in {one.name for one in plugin.tools}:
            raise UsageError(f"{name} has no tool {tool!r}.")
        self._aliases.give(name, tool, "" if alias == tool else alias)
        self._catalogue.renew()

    async def reload(self, name: str) -> bool:
        """Read it anew as it lies there, which its owner accepts, and run it afresh; False where it did not load.

        Raises UsageError where there is none.
        """
        self._plugin(name)
        self._catalogue.accept(name)
        return await self.reread(name)

    async def reread(self, name: str) -> bool:
        """The same without the owner's word: what waits for it goes on waiting."""
        self._plugin(name)
        await self._catalogue.reload(name)
        plugin = self._catalogue.plugin(name)
        loaded = plugin is not None and not any(problem.refused for problem in plugin.problems)
        return loaded and not self._catalogue.waits(name)

    async def rescan(self) -> dict[str, list[str]]:
        """Look at every folder now; what came and what went, as the plugins call themselves."""
        before = {name: self._called(name) for name in self.names()}
        await self._catalogue.refresh()
        self._ready()
        after = {name: self._called(name) for name in self.names()}
        return {
            "added": sorted(after[name] for name in after.keys() - before.keys()),
            "removed": sorted(before[name] for name in before.keys() - after.keys()),
        }

    async def uninstall(self, name: str) -> Removed:
        """Let it clear up, and take it off the disk, with its settings. Raises EtuiError."""
        candidate = self._installation.candidate(name)
        if candidate is None:
            raise UsageError(f"There is no plugin {name!r} with a folder of its own to be removed.")
        check(candidate)
        try:
            await self._rest(name)
            # Before its folder goes: from then on another plugin may have its name, and what was said of that one is its own.
            self._withdraw(candidate.family)
            removed = await asyncio.to_thread(uninstall, candidate)
            await asyncio.to_thread(self._installation.forget, name, candidate)
            await asyncio.to_thread(self._disown, name)
        finally:
            await self._catalogue.refresh()
            self._catalogue.wake(name)
        return removed

    def info(self, name: str, near: str) -> dict[str, Any] | None:
        """What a plugin may know of another one of its root, by what that one calls itself; `near` is who asks."""
        asker = self._installation.candidate(near)
        found = self._installation.named(name, asker.root) if asker is not None else None
        if found is None:
            return None
        on = found.family not in self._off()
        plugin = self._catalogue.plugin(found.name)
        loaded = on and plugin is not None and bool(plugin.tools or plugin.handlers)
        said = {key: found.manifest.get(key, "") for key in ("version", "description", "author", "url", "icon", "title")}
        band = found.manifest.get("band", "user")
        return {"name": name, "enabled": on, "loaded": loaded, "band": band, "path": str(found.path), **said}

    def neighbours(self, near: str) -> list[str]:
        """What the plugins of one root call themselves; `near` is one of them, in the house."""
        asker = self._installation.candidate(near)
        return self._installation.called_in(asker.root) if asker is not None else []

    def folders(self, near: str) -> dict[str, str]:
        """Where the plugins of one root lie that are on, by their folders' names; `near` is one of them, in the house."""
        asker = self._installation.candidate(near)
        return self._installation.folders(asker.root) if asker is not None else {}

    def settings(self, name: str, near: str) -> dict[str, Any]:
        """The settings of a plugin by what it calls itself; what is secret only for itself."""
        asker = self._installation.candidate(near)
        if asker is None:
            return {}
        if not name or called(asker) == name:
            return self._installation.settings(near)
        found = self._installation.named(name, asker.root)
        return self._installation.open(found) if found is not None else {}

    def in_the_house(self, name: str, near: str) -> str:
        """What a plugin of that name is called in the house; empty where there is none in the root of `near`."""
        asker = self._installation.candidate(near)
        found = self._installation.named(name, asker.root) if asker is not None else None
        return found.name if found is not None else ""

    async def _changed(self, name: str) -> None:
        """Its settings are others: it says anew what its tools are, and everybody looks again at what is offered."""
        candidate, plugin = self._installation.candidate(name), self._catalogue.plugin(name)
        if candidate is not None and plugin is not None and candidate.lively and candidate.family not in self._off():
            outcome = await self._handlers().run(plugin, ANEW, {})
            if outcome.ok and isinstance(outcome.data, list):
                self._catalogue.refreshed(name, plugin.digest, [one for one in outcome.data if isinstance(one, dict)])
        self._catalogue.stir()
        self._hub.tell(Kind.SETTINGS_CHANGED, {"names": [], "plugin": name})

    def _plugin(self, name: str) -> Plugin:
        plugin = self._catalogue.plugin(name)
        if plugin is None or not self._installation.has(name):
            raise UsageError(f"There is no plugin {name!r} whose settings Etui keeps; `etui tools` lists what there is.")
        return plugin

    def _called(self, name: str) -> str:
        candidate = self._installation.candidate(name)
        return called(candidate) if candidate is not None else name
