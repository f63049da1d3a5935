"""The toolsets as the owner sees and switches them: one row each, with the tools and the plugins that belong to it.

Above: `host` gives the rows to surfaces. Below: `registry`. It refuses to know: what a switch does.
"""

from __future__ import annotations

from collections.abc import Set

import msgspec

from etui.registry import Snapshot


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One toolset."""

    name: str
    """Such as `plugin:dice` or `web`; with it the whole of it is switched on and off."""
    tools: tuple[str, ...]
    plugins: tuple[str, ...]
    """Those that have a tool in it, and those that it switches as a whole."""
    sources: tuple[str, ...]
    on: bool
    loaded: bool
    """Whether code of it may run; not so for plugins that are off as a whole."""


def families(snapshot: Snapshot, off: Set[str]) -> tuple[Family, ...]:
    """Every toolset that has a tool, and every plugin that is off and whose tools are not known, in the names' order."""
    tools: dict[str, list[str]] = {}
    plugins: dict[str, set[str]] = {}
    for tool in snapshot.tools.values():
        tools.setdefault(tool.toolset, []).append(tool.name)
        plugins.setdefault(tool.toolset, set()).add(tool.plugin)
    for plugin in snapshot.plugins.values():
        if plugin.family and (plugin.family in tools or plugin.family in off or plugin.whole):
            tools.setdefault(plugin.family, [])
            if plugin.tools or plugin.family in off or plugin.whole:
                plugins.setdefault(plugin.family, set()).add(plugin.name)
    return tuple(
        Family(
            name=name,
            tools=tuple(tools[name]),
            plugins=tuple(sorted(plugins[name])),
            sources=tuple(sorted({snapshot.plugins[one].source for one in plugins[name] if one in snapshot.plugins})),
            on=name not in off,
            loaded=not all(_whole(snapshot, one) in off for one in plugins[name]),
        )
        for name in sorted(tools)
    )


def _whole(snapshot: Snapshot, plugin: str) -> str:
    """The toolset that switches a plugin as a whole."""
    return snapshot.plugins[plugin].family if plugin in snapshot.plugins else ""
