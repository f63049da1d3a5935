"""The tools that there are, as tools of the contract `sapphire` may ask about them: what each is, which a selection means.

Above: the table of services. Below: the registry's snapshot, the selections. It refuses to know: how any of them is called.
"""

from __future__ import annotations

from collections.abc import Callable

from etui.registry import Snapshot
from etui.selection import Selections
from etui.selection.words import category_of
from etui.services.desk import SAPPHIRE, Desk, Family
from etui.tool import Plugin, Risk, Tool

WRITES = "writes"
"""The badge of a tool whose file says that it changes something or acts."""


class Functions:
    """What one plugin may know of the tools of the host."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        off: Callable[[], frozenset[str]],
        selections: Selections,
        offered: Callable[[], tuple[Tool, ...]],
    ) -> None:
        """`offered` gives the tools of the session in which it is asked."""
        self._snapshot = snapshot
        self._off = off
        self._selections = selections
        self._offered = offered

    async def all(self) -> object:
        """What every tool is that is switched on, by its name."""
        modules, off, snapshot = self._selections.modules(), self._off(), self._snapshot()
        return {
            name: _told(tool, modules[name], snapshot.plugins.get(tool.plugin))
            for name, tool in snapshot.tools.items()
            if name not in off and tool.toolset not in off
        }

    async def resolve(self, selection: object, closed: list[str] | None = None) -> object:
        """The names of the tools that a selection means, without those that need one of the closed scopes."""
        names, unknown = self._selections.resolve(selection, closed or ())
        return {"names": sorted(names), "unknown": list(unknown)}

    async def enabled(self) -> object:
        """The names of the tools that a model is offered in this chat."""
        return [tool.name for tool in self._offered()]


def _told(tool: Tool, module: str, plugin: Plugin | None) -> dict[str, object]:
    writes = WRITES in tool.badges if tool.contract in SAPPHIRE else tool.risk is not Risk.READ
    return {
        "name": tool.name,
        "description": tool.description,
        "category": category_of(tool),
        "writes": writes,
        "scope": tool.scope,
        "is_local": "endpoint" if "endpoint" in tool.badges else tool.local,
        "network": "network" in tool.badges,
        "hidden": tool.hidden,
        "plugin": plugin.manifest.get("name", plugin.name) if plugin is not None else tool.plugin,
        "module": module,
        "emoji": tool.icon,
        "group": tool.group,
    }


def _made(desk: Desk) -> Functions:
    needs = desk.needs
    return Functions(needs.snapshot, needs.off, needs.selections, lambda: desk.session.tools())


FAMILY = Family(
    _made,
    {"functions.all": Functions.all, "functions.resolve": Functions.resolve, "functions.enabled": Functions.enabled},
    only=SAPPHIRE,
)
