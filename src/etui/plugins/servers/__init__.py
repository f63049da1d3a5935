"""The MCP servers that the settings name: each is a plugin, whose tools are known once it has been reached.

Nothing waits for a server: it is started in the background, and its tools join when it has said them. One that fails is a
problem that the owner sees, with its last words; it is tried again when somebody wants it.
Above: `host` tells it when the settings changed; `catalogue` asks for the plugins. Below: `offers`, `reading`, and whoever
opens the connections, who is handed in. It refuses to know: the SDK, processes, sessions.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from etui.errors import SettingError, UsageError, WorkerGone
from etui.plugins.servers.offers import MCP, plugin_of, read
from etui.plugins.servers.reading import read as read_table
from etui.plugins.servers.reading import secrets_of
from etui.settings import McpServer
from etui.tool import Grant, Plugin, Problem, Tool

__all__ = ["MCP", "Servers", "plugin_of", "wanted"]

PASSED_OVER = frozenset(
    {
        *("a", "all", "an", "and", "any", "for", "from", "i", "in", "it", "me", "my", "need", "of", "on", "please", "some"),
        *("the", "their", "to", "use", "want", "with", "mcp", "server", "servers", "tool", "tools"),
    }
)
"""Words that say nothing about which server is meant."""


class Links(Protocol):
    """Who opens the connections; by the plugins' names."""

    def open(self, name: str, server: McpServer, heard: Any) -> None:
        """Start it in the background, instead of an earlier one of that name; `heard` is told what comes of it."""
        ...

    def drop(self, name: str) -> None:
        """End it in the background."""
        ...

    async def wait(self, name: str) -> None:
        """Wait until it is connected; one that is not is tried again. Raises WorkerGone."""
        ...


class One(msgspec.Struct):
    """One server of the settings."""

    table: object
    """Its table, as it stood when it was last read."""
    server: McpServer | None = None
    """What is to be started; None if the table cannot be used."""
    tools: tuple[Tool, ...] = ()
    refused: tuple[Problem, ...] = ()
    """What of its offer was not taken."""
    fault: Problem | None = None
    """Why it cannot be reached."""
    up: bool = False
    off: bool = False
    """Switched off by the owner: it does not run."""


class Servers:
    """Keeps the servers of one host as the settings say."""

    def __init__(
        self,
        links: Links,
        *,
        tables: Callable[[], Mapping[str, Mapping[str, object]]],
        off: Callable[[], frozenset[str]],
        environ: Mapping[str, str],
        home: Path,
        config: Path,
        changed: Callable[[], None],
    ) -> None:
        """`tables` are those of the settings, `off` what is switched off; `changed` is called when `plugins` has changed."""
        self._links = links
        self._tables = tables
        self._off = off
        self._environ = environ
        self._home = home
        self._config = str(config)
        self._changed = changed
        self._ones: dict[str, One] = {}

    def look(self) -> None:
        """Start what is new, end what is gone or switched off, and start anew what is another now."""
        tables, off, before = self._tables(), self._off(), self.plugins()
        for name in self._ones.keys() - tables.keys():
            self._links.drop(plugin_of(name))
            del self._ones[name]
        for name, table in tables.items():
            one, shut = self._ones.get(name), plugin_of(name) in off
            if one is None or one.table != table:
                self._links.drop(plugin_of(name))
                self._ones[name] = self._begin(name, table, shut)
            elif one.off != shut:
                one.off, one.up, one.fault = shut, False, None if one.server else one.fault
                self._start(name, one)
        self._ones = {name: self._ones[name] for name in tables}
        if self.plugins() != before:
            self._changed()

    def plugins(self) -> list[Plugin]:
        """One for each server, in the order of the settings."""
        return [self._plugin(name, one) for name, one in self._ones.items()]

    def connected(self) -> dict[str, list[str]]:
        """The servers that answer, each with the names of its tools."""
        return {name: [tool.name for tool in one.tools] for name, one in self._ones.items() if one.up}

    async def wake(self, meant: str) -> dict[str, list[str]]:
        """The servers that somebody means, by name or by a word they share, each with the names of its tools; one that does not
        run is tried again. Raises UsageError with what there is, or why it cannot be had."""
        names = wanted(meant, self._ones)
        if not names:
            there = ", ".join(sorted(self._ones)) or "none"
            raise UsageError(f"There is no MCP server {meant[:80]!r}. There are: {there}.")
        faults = await asyncio.gather(*(self._reach(name) for name in names))
        if all(faults):
            raise UsageError(" ".join(faults))
        reached = [name for name, fault in zip(names, faults, strict=True) if not fault]
        return {name: [tool.name for tool in self._ones[name].tools] for name in reached}

    async def _reach(self, name: str) -> str:
        one = self._ones[name]
        if one.off:
            return f"The MCP server {name!r} is switched off; the owner can switch {plugin_of(name)!r} on."
        if one.server is None:
            return one.fault.reason if one.fault else ""
        try:
            await self._links.wait(plugin_of(name))
        except WorkerGone as error:
            return f"The MCP server {name!r} cannot be reached: {error}."
        return ""

    def listed(self, name: str, tools: list[dict[str, Any]]) -> None:
        """It is connected, and these are its tools now."""
        name = name.removeprefix(f"{MCP}:")
        if one := self._ones.get(name):
            one.tools, one.refused = read(name, tools, repr(one.table))
            one.up, one.fault = True, None
            self._changed()

    def gone(self, name: str, why: str, last: str) -> None:
        """It could not be reached, or has ended by itself. The tools that it had stay: a call of one starts it again."""
        name = name.removeprefix(f"{MCP}:")
        if (one := self._ones.get(name)) and one.server:
            for secret in secrets_of(one.server):
                why, last = why.replace(secret, "..."), last.replace(secret, "...")
            words = f" Its last words: {last.splitlines()[-1].strip()[:200]!r}." if last else ""
            was = "has ended" if one.up else "cannot be reached"
            again = f"Mend [mcp_servers.{name}] in the settings." if not one.tools else "The next call of it starts it again."
            one.up, one.fault = False, self._problem(name, f"The MCP server {name!r} {was}: {why}.{words}", again, trace=last)
            self._changed()

    def _begin(self, name: str, table: Mapping[str, object], off: bool) -> One:
        one = One(table=dict(table), off=off)
        try:
            one.server = read_table(name, table, self._environ, self._home)
        except SettingError as error:
            one.fault = self._problem(name, str(error), "`etui config mcp_servers` shows what is set.")
        self._start(name, one)
        return one

    def _start(self, name: str, one: One) -> None:
        if one.server is not None and not one.off:
            self._links.open(plugin_of(name), one.server, self)
        else:
            self._links.drop(plugin_of(name))

    def _plugin(self, name: str, one: One) -> Plugin:
        where = one.server and (one.server.command or one.server.url)
        how = "a program of its own" if one.server and one.server.command else "another program, at an address"
        return Plugin(
            name=plugin_of(name),
            contract=MCP,
            source=plugin_of(name),
            path=where or "",
            grant=Grant(network=True, subprocess=bool(one.server and one.server.command)),
            tools=one.tools,
            problems=(*((one.fault,) if one.fault else ()), *one.refused),
            notes=(f"Its tools run in {how}, which Etui does not hold to anything.",) if one.tools else (),
        )

    def _problem(self, name: str, reason: str, hint: str, trace: str = "") -> Problem:
        return Problem(
            what=plugin_of(name),
            reason=reason,
            hint=hint,
            file=self._config,
            plugin=plugin_of(name),
            source=plugin_of(name),
            trace=trace,
        )


def wanted(meant: str, names: Iterable[str]) -> list[str]:
    """The names that somebody means: the one that it is, or every one with which it shares a word."""
    names = list(names)
    bare = meant.strip().casefold().removeprefix(f"{MCP}:")
    if exact := [name for name in names if name.casefold() == bare]:
        return exact
    words = _words(meant)
    return [name for name in names if _words(name) & words]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.casefold())) - PASSED_OVER
