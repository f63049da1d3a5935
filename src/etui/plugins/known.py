"""All the tools and plugins there are: what the registry holds, and what the folders that are read afresh held last.

Above: `front` shows and switches them, faces and lines are looked up by it. Below: `registry`, `fresh`. It refuses to know:
what is switched off, and which of them a session sees.
"""

from __future__ import annotations

from types import MappingProxyType

import msgspec

from etui.errors import UsageError
from etui.plugins.fresh import Fresh
from etui.registry import Registry, Snapshot
from etui.tool import Plugin, Problem, Tool


class Known:
    """Everything that one host knows of."""

    def __init__(self, registry: Registry, fresh: Fresh) -> None:
        self._registry = registry
        self._fresh = fresh
        self._together = (registry.snapshot, fresh.last, registry.snapshot)

    @property
    def snapshot(self) -> Snapshot:
        """Both together; the same one until something changes."""
        snapshot, taken = self._registry.snapshot, self._fresh.last
        if self._together[0] is not snapshot or self._together[1] is not taken:
            own = {plugin.name: plugin for plugin in taken.plugins}
            whole = msgspec.structs.replace(
                snapshot,
                tools=MappingProxyType({**taken.tools, **snapshot.tools}),
                plugins=MappingProxyType({**own, **snapshot.plugins}),
            )
            self._together = (snapshot, taken, whole)
        return self._together[2]

    def tools(self) -> tuple[Tool, ...]:
        """Every tool, those that are switched off too; of the folders that are read afresh, as they were read last."""
        return tuple(self.snapshot.tools.values())

    def tool(self, name: str) -> Tool | None:
        """The tool of this name."""
        return self.snapshot.tools.get(name)

    def plugins(self) -> tuple[Plugin, ...]:
        """Every plugin, each with what its owner lets it touch now."""
        return (*self._registry.snapshot.plugins.values(), *self._fresh.plugins())

    def plugin(self, name: str) -> Plugin:
        """The plugin of this name. Raises UsageError where there is none."""
        plugin = next((plugin for plugin in self.plugins() if plugin.name == name), None)
        if plugin is None:
            raise UsageError(f"There is no plugin {name!r}; `etui tools` lists what there is.")
        return plugin

    def problems(self) -> tuple[Problem, ...]:
        """What was refused or is odd when it was read."""
        return (*self._registry.snapshot.problems, *self._fresh.last.problems)
