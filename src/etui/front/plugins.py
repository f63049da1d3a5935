"""The plugins of a host, and what each may touch, as its owner decides it.

Above: surfaces. Below: what is known, the owner's grants, and the parts that follow them. It refuses to know: what a worker
does with a grant, and how a plugin is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from etui.availability import Availability
from etui.errors import UsageError
from etui.owner.grants import Grants
from etui.plugins.catalogue import Catalogue
from etui.plugins.fresh import Fresh, Listing
from etui.plugins.known import Known
from etui.plugins.servers import MCP
from etui.tool import INLINE, Grant, Plugin


class Plugins:
    """The plugins of one host."""

    def __init__(
        self,
        known: Known,
        grants: Grants,
        *,
        catalogue: Catalogue,
        fresh: Fresh,
        availability: Availability,
        regrant: Callable[[str, Grant], object],
    ) -> None:
        """The rest follows a grant; `regrant` lets the workers of a plugin that is read afresh have another one."""
        self._known = known
        self._grants = grants
        self._catalogue = catalogue
        self._fresh = fresh
        self._availability = availability
        self._regrant = regrant

    def all(self) -> tuple[Plugin, ...]:
        """Every plugin."""
        return self._known.plugins()

    async def folders(self) -> tuple[Listing, ...]:
        """What the folders hold whose files are read afresh for each session, read now."""
        return await self._fresh.look()

    def grant(self, plugin: str) -> dict[str, Any]:
        """What a plugin has and asks for, and what was given, is missing, forbidden and allowed. Raises UsageError."""
        return dict(self._grants.view(self._held(plugin)))

    def give(self, plugin: str, name: str, value: str | None = None) -> None:
        """Let a plugin see a variable, as the host has it or with this value. Raises UsageError where that cannot be."""
        self._grants.give(self._held(plugin).name, name, value)
        self._decided(plugin)

    def take(self, plugin: str, name: str) -> None:
        """Take a variable back from a plugin. Raises UsageError if it was not given."""
        self._grants.take(self._held(plugin).name, name)
        self._decided(plugin)

    def open(self, plugin: str, path: str, *, write: bool) -> None:
        """Let a plugin read a folder or a file of the owner's, or write there too. Raises UsageError where nobody is let in."""
        self._grants.open(self._held(plugin).name, path, write=write)
        self._decided(plugin)

    def shut(self, plugin: str, path: str) -> None:
        """Take a folder or a file back from a plugin. Raises UsageError if it was not opened."""
        self._grants.shut(self._held(plugin).name, path)
        self._decided(plugin)

    def forbid(self, plugin: str, what: str, on: bool) -> None:
        """Forbid a plugin `network`, `subprocess` or `write`, or with `on` false let it. Raises UsageError."""
        self._grants.forbid(plugin, what, on, self._held(plugin).wishes)
        self._decided(plugin)

    def _held(self, name: str) -> Plugin:
        """The plugin of this name. Raises UsageError where there is none, or Etui does not hold it to anything."""
        plugin = self._known.plugin(name)
        if plugin.contract in (INLINE, MCP):
            raise UsageError(f"What {name!r} may touch is not Etui's to say: it runs in a process of its own making.")
        return plugin

    def _decided(self, plugin: str) -> None:
        self._catalogue.decided(plugin)
        if grant := self._fresh.grant(plugin):
            self._regrant(plugin, grant)
        self._availability.forget(plugin)
        self._catalogue.tell_changed(*(tool.name for tool in self._known.tools() if tool.plugin == plugin))
