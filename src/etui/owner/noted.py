"""What the owner should know of plugins that run: what went wrong in them without being anybody's call.

Kept while the host runs, the newest of each plugin, and told once. Above: `front.problems` lists it. Below: the nouns, the
events. It refuses to know: who noticed it.
"""

from __future__ import annotations

import msgspec

from etui.events import Hub, Kind
from etui.tool import Problem

MOST = 20
"""How many are kept of one plugin."""


class Noted:
    """The notes of one host."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._of: dict[str, dict[str, Problem]] = {}

    def add(self, problem: Problem) -> None:
        """Note it, unless the same stands there already."""
        kept = self._of.setdefault(problem.plugin, {})
        if problem.reason in kept:
            return
        if len(kept) >= MOST:
            del kept[next(iter(kept))]
        kept[problem.reason] = problem
        self._hub.tell(Kind.PROBLEM, {"problem": msgspec.to_builtins(problem)})

    def forget(self, plugin: str) -> None:
        """The plugin is another one now, or gone."""
        self._of.pop(plugin, None)

    def all(self) -> list[Problem]:
        """Everything that is noted."""
        return [problem for kept in self._of.values() for problem in kept.values()]
