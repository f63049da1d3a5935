"""What plugins offer becomes the registry's next snapshot: swapped in whole, and told to everybody who listens.

Above: `catalogue` says what serves. Below: `registry`, the events. It refuses to know: files, and what runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from etui.events import Hub, Kind
from etui.registry import Change, Registry, build
from etui.tool import Plugin, Problem


class Owners(Protocol):
    """Which plugin took which name first, kept over restarts."""

    def read(self) -> Mapping[str, str]:
        """Name of a tool, without case, to its plugin."""
        ...

    def write(self, owners: Mapping[str, str]) -> None:
        """Keep it."""
        ...


class Publishing:
    """The one who swaps the registry's snapshot."""

    def __init__(
        self, registry: Registry, owners: Owners, hub: Hub, *, reserved: Iterable[str], off: Callable[[], frozenset[str]]
    ) -> None:
        """`reserved` are names of tools that no plugin can have; `off` names what is switched off."""
        self._registry = registry
        self._owners = owners
        self._hub = hub
        self._reserved = frozenset(reserved)
        self._off = off

    def publish(self, plugins: list[Plugin], odd: Sequence[Problem]) -> None:
        """These are the plugins now, and `odd` is what is wrong besides; where nothing differs, nothing happens."""
        before, owners = self._registry.snapshot, self._owners.read()
        snapshot, now = build(plugins, owners, generation=before.generation + 1, reserved=self._reserved, off=self._off())
        snapshot = msgspec.structs.replace(snapshot, problems=(*odd, *snapshot.problems))
        if (snapshot.tools, snapshot.plugins, snapshot.problems) == (before.tools, before.plugins, before.problems):
            return
        if now != owners:
            self._owners.write(now)
        change = self._registry.swap(snapshot)
        if change:
            self.tell(change)
        self._tell_problems(set(before.problems), snapshot.problems)

    def stir(self) -> None:
        """Something that decides what is offered has changed outside of the registry: everybody looks anew."""
        before = self._registry.snapshot
        self._registry.swap(msgspec.structs.replace(before, generation=before.generation + 1))

    def tell(self, change: Change) -> None:
        """Tell everybody what has come, gone or changed."""
        data: dict[str, object] = {
            "added": list(change.added),
            "removed": list(change.removed),
            "changed": list(change.changed),
            "generation": self._registry.snapshot.generation,
        }
        self._hub.tell(Kind.TOOLS_CHANGED, data)

    def _tell_problems(self, before: set[Problem], now: tuple[Problem, ...]) -> None:
        for problem in now:
            if problem not in before:
                self._hub.tell(Kind.PROBLEM, {"problem": msgspec.to_builtins(problem)})
        for plugin in {problem.plugin for problem in before} - {problem.plugin for problem in now}:
            self._hub.tell(Kind.PROBLEM_GONE, {"plugin": plugin})


def called(plugin: Plugin, aliases: Mapping[str, str]) -> Plugin:
    """The same, its tools under the names that they have here."""
    if not aliases:
        return plugin
    tools = (
        msgspec.structs.replace(tool, name=aliases[tool.name], entry=tool.entry or tool.name) if tool.name in aliases else tool
        for tool in plugin.tools
    )
    return msgspec.structs.replace(plugin, tools=tuple(tools))
