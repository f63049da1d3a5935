"""Every tool the host knows: an immutable snapshot, swapped whole.

`build` decides who owns a name: the first to take it keeps it, also over restarts, and the other is refused with both owners
named. Above: `session` looks tools up, surfaces list them. Below: the nouns. It refuses to know: where plugins come from.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Set
from types import MappingProxyType

import msgspec

from etui.tool import Plugin, Problem, Tool


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What the host knows at one moment."""

    generation: int = 0
    """Goes up by one with each swap."""
    tools: Mapping[str, Tool] = MappingProxyType({})
    plugins: Mapping[str, Plugin] = MappingProxyType({})
    problems: tuple[Problem, ...] = ()
    loose: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Names by their letters and digits alone, for callers that spell them otherwise."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a swap changed, by the tools' names."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def squeeze(name: str) -> str:
    """Letters and digits alone, without case, and without the prefix that some models put before."""
    bare = re.sub(r"^(functions?|tools?|default_api)[.:/]", "", name.strip(), flags=re.IGNORECASE)
    return re.sub(r"[^a-z0-9]", "", bare.casefold())


def build(
    plugins: Iterable[Plugin],
    owners: Mapping[str, str],
    *,
    generation: int,
    reserved: Iterable[str] = (),
    off: Set[str] = frozenset(),
) -> tuple[Snapshot, dict[str, str]]:
    """A snapshot of these plugins, and who owns which name now. `owners` maps a name to the plugin that took it first.

    `off` are the families that are off: a plugin of one keeps no name that another plugin wants.
    """
    plugins = list(plugins)
    resting = {plugin.name for plugin in plugins if plugin.family in off}
    present = {plugin.name for plugin in plugins} - resting
    holder = {name: owner for name, owner in owners.items() if owner in present}
    plugins, problems = _without_clashing(plugins, holder, resting)
    claims = _claims(plugins, resting)
    tools: dict[str, Tool] = {}
    problems = [*(problem for plugin in plugins for problem in plugin.problems), *problems]
    kept = {name.casefold() for name in reserved}
    now: dict[str, str] = {}
    for key, claimants in claims.items():
        if key in kept:
            problems += [_reserved(tool) for tool in claimants]
            continue
        first = _first(claimants, holder.get(key))
        tools[first.name] = first
        now[key] = first.plugin
        problems += [_clash(tool, first) for tool in claimants if tool is not first]
    loose: dict[str, tuple[str, ...]] = {}
    for name in tools:
        loose[squeeze(name)] = (*loose.get(squeeze(name), ()), name)
    snapshot = Snapshot(
        generation=generation,
        tools=MappingProxyType(dict(sorted(tools.items()))),
        plugins=MappingProxyType({plugin.name: plugin for plugin in plugins}),
        problems=tuple(problems),
        loose=MappingProxyType(loose),
    )
    return snapshot, now


def _claims(plugins: Iterable[Plugin], resting: Set[str]) -> dict[str, list[Tool]]:
    """Who wants which name, those that are off behind the others."""
    claims: dict[str, list[Tool]] = {}
    for plugin in sorted(plugins, key=lambda plugin: plugin.name in resting):
        for tool in plugin.tools:
            claims.setdefault(tool.name.casefold(), []).append(tool)
    return claims


def _without_clashing(
    plugins: list[Plugin], holder: Mapping[str, str], resting: Set[str]
) -> tuple[list[Plugin], list[Problem]]:
    """The plugins, of those that are whole and find a name taken nothing but the name; and why."""
    problems: list[Problem] = []
    while True:
        claims = _claims(plugins, resting)
        firsts = {key: _first(claimants, holder.get(key)) for key, claimants in claims.items()}
        losing = (
            (plugin, tool, firsts[tool.name.casefold()])
            for plugin in plugins
            if plugin.whole
            for tool in plugin.tools
            if firsts[tool.name.casefold()].plugin != plugin.name and not tool.spare
        )
        # Those that are off first: they do not stand in the way of the others.
        found = next(iter(sorted(losing, key=lambda one: one[0].name not in resting)), None)
        if found is None:
            return plugins, problems
        plugin, tool, first = found
        if plugin.name not in resting:
            problems.append(_whole(plugin, tool, first))
        bare = msgspec.structs.replace(plugin, tools=(), handlers=(), scopes=())
        plugins = [bare if one is plugin else one for one in plugins]


def _first(claimants: list[Tool], holder: str | None) -> Tool:
    return next((tool for tool in claimants if tool.plugin == holder), claimants[0])


def _whole(plugin: Plugin, tool: Tool, first: Tool) -> Problem:
    return Problem(
        what=plugin.name,
        reason=f"The plugins {first.plugin!r} and {plugin.name!r} both have a tool {tool.name!r}, and {first.plugin!r} had it "
        "first: mutually exclusive — enable one, not both.",
        hint=f"Switch {first.plugin!r} off, or give the tool of {plugin.name!r} another name on that plugin's page in the "
        "console.",
        file=tool.file,
        line=tool.line,
        plugin=plugin.name,
        source=tool.source,
    )


def _clash(tool: Tool, first: Tool) -> Problem:
    where = f" ({first.file}:{first.line})" if first.file else ""
    return Problem(
        what=tool.name,
        reason=f"The name {tool.name!r} is already taken by plugin {first.plugin!r}{where}.",
        hint=f"Give it another name in {tool.file or 'the settings'}, or remove one of the two.",
        file=tool.file,
        line=tool.line,
        plugin=tool.plugin,
        source=tool.source,
    )


def _reserved(tool: Tool) -> Problem:
    return Problem(
        what=tool.name,
        reason=f"The name {tool.name!r} belongs to Etui itself and can never be taken.",
        hint=f"Give it another name in {tool.file}.",
        file=tool.file,
        line=tool.line,
        plugin=tool.plugin,
        source=tool.source,
    )


class Registry:
    """Holds the snapshot in force."""

    def __init__(self) -> None:
        self._snapshot = Snapshot()
        self._followers: list[Callable[[], object]] = []

    @property
    def snapshot(self) -> Snapshot:
        """What is known now; it never changes, a later one takes its place."""
        return self._snapshot

    def follow(self, act: Callable[[], object]) -> None:
        """From now on this is called after each swap."""
        self._followers.append(act)

    def swap(self, snapshot: Snapshot) -> Change:
        """Put another snapshot in force; says what that changed."""
        before, self._snapshot = self._snapshot.tools, snapshot
        after = snapshot.tools
        for act in self._followers:
            act()
        return Change(
            added=tuple(name for name in after if name not in before),
            removed=tuple(name for name in before if name not in after),
            changed=tuple(name for name in after if name in before and after[name] != before[name]),
        )


def nearest(name: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """The names most like this one, best first."""
    return difflib.get_close_matches(name, list(names), n=limit, cutoff=0.6)
