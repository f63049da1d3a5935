"""Tools that plugins registered while they ran, beside those that their files were described with.

They are the plugin's as long as its code is the same. Above: `catalogue` asks it at each swap. Below: the nouns.
It refuses to know: how a plugin came to register them, and who else has a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from etui.plugins.load import unfit
from etui.tool import Plugin, Risk, Tool

SAID = (
    *("name", "description", "parameters", "entry", "file", "line", "risk", "checks", "timeout", "chars", "words", "in_reply"),
    *("rounds", "wants", "category", "module", "scope", "local", "badges", "hidden", "group", "icon", "gated", "prompt"),
    *("warn_after", "warning"),
)
"""What is taken of a tool as it was registered."""
MOST = 500
"""Tools that one plugin may have registered at once."""


class Registered:
    """What each plugin registered."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], dict[str, Tool]] = {}
        """By plugin and digest, its tools by name."""

    def add(self, plugin: Plugin, tools: Iterable[Tool]) -> None:
        """These are offered too from the next swap on; one of the same name takes the place of the one before."""
        found = self._of.setdefault((plugin.name, plugin.digest), {})
        for tool in tools:
            if (len(found) < MOST or tool.name in found) and not unfit(tool):
                found[tool.name] = _placed(plugin, tool)

    def remove(self, plugin: Plugin, names: Iterable[str]) -> None:
        """These are offered no more from the next swap on."""
        found = self._of.get((plugin.name, plugin.digest), {})
        for name in names:
            found.pop(name, None)

    def lost(self, plugin: Plugin, tools: Iterable[Tool], known: Mapping[str, Tool]) -> dict[str, str]:
        """Those of these tools that are not among the known ones as this plugin's, each with the reason; they are forgotten."""
        reasons = {}
        for tool in tools:
            there = known.get(tool.name)
            if there is None or there.plugin != plugin.name:
                why = f"already taken by plugin {there.plugin!r}" if there is not None else "not one that can be offered"
                reasons[tool.name] = f"The name {tool.name!r} is {why}."
        self.remove(plugin, reasons)
        return reasons

    def with_them(self, plugin: Plugin) -> Plugin:
        """The plugin with what it registered; what it had registered with other code is forgotten."""
        for key in [key for key in self._of if key[0] == plugin.name and key[1] != plugin.digest]:
            del self._of[key]
        found = self._of.get((plugin.name, plugin.digest))
        if not found:
            return plugin
        own = {tool.name for tool in plugin.tools}
        return msgspec.structs.replace(
            plugin, tools=(*plugin.tools, *(tool for name, tool in found.items() if name not in own))
        )


def _placed(plugin: Plugin, tool: Tool) -> Tool:
    """A tool of this plugin's, whatever its code says of itself; where that may start programs, so may the tool.

    Of what its code says, only what such a tool can say passes: not that it asks nobody, or is written down nowhere.
    """
    first = plugin.tools[0] if plugin.tools else None
    said = {name: getattr(tool, name) for name in SAID}
    return Tool(
        **{**said, "risk": Risk.EXEC if plugin.grant.subprocess else tool.risk},
        contract=plugin.contract,
        plugin=plugin.name,
        source=plugin.source,
        digest=plugin.digest,
        toolset=first.toolset if first is not None else plugin.family,
        spare=True,
    )
