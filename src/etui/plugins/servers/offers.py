"""From what one MCP server says it offers to tools, and one reason for each thing that is not taken.

Above: `servers`. Below: `orders`, `references`, the nouns. It refuses to know: connections. A server is a stranger: nothing of
its words reaches a model that tries to give it orders, and no name that a provider would not take.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from etui.plugins.servers.orders import order_in
from etui.plugins.servers.references import whole
from etui.tool import Checks, Problem, Risk, Tool

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
LONGEST = 64
"""Characters of a tool's whole name, which providers take no longer."""
DESCRIPTION = 1500
"""Characters of a description that a model gets."""
READ = 4000
"""Characters of the longest description that is looked at."""
SCHEMA = 30_000
"""Characters of the largest schema, as JSON."""
MOST = 200
"""Tools of one server that are taken."""
SECONDS = 60.0
BROWSER, PAGE = "browser", 24_000
"""The server whose results are pages, and how many characters of one a model gets."""
MCP = "mcp"
"""The contract of what an MCP server offers, and the beginning of its plugin's name and of its toolset."""


def plugin_of(server: str) -> str:
    """The name of the plugin, and of the toolset, that a server is."""
    return f"{MCP}:{server}"


def read(server: str, offered: Iterable[Mapping[str, Any]], seed: str) -> tuple[tuple[Tool, ...], tuple[Problem, ...]]:
    """Its tools, and what was not taken. `seed` says which server it is, for the digest."""
    tools: dict[str, Tool] = {}
    problems: list[Problem] = []
    offered = list(offered)
    if len(offered) > MOST:
        why = f"It offers {len(offered)} tools, and {MOST} are the most; the first of them are taken."
        problems.append(Problem(what=server, reason=why, plugin=plugin_of(server), source=plugin_of(server)))
    for one in offered[:MOST]:
        name = str(one.get("name", ""))
        try:
            parameters = whole(one.get("inputSchema"))
            why = _wrong(name, one, parameters) or (f"It offers {name!r} twice." if name in tools else "")
        except RecursionError:
            why = "Its arguments are described too deeply to be read."
        if why:
            problems.append(
                Problem(what=f"{server}__{name}"[:LONGEST], reason=why, plugin=plugin_of(server), source=plugin_of(server))
            )
        else:
            tools[name] = _tool(server, name, str(one.get("description") or ""), parameters, seed)
    return tuple(tools.values()), tuple(problems)


def _wrong(name: str, one: Mapping[str, Any], parameters: dict[str, Any]) -> str:
    """Why it is not taken; empty if it is."""
    if not NAME.fullmatch(name):
        return (
            f"Its name {name[:80]!r} cannot be offered to a model: a name has 1 to 64 letters, digits, underscores and hyphens."
        )
    description = str(one.get("description") or "")
    if len(description) > READ or len(json.dumps(parameters)) > SCHEMA:
        return f"It is described with more than {READ:,} characters, or its arguments with more than {SCHEMA:,}."
    for text in (description, *_texts(parameters)):
        if found := order_in(text):
            return f"Its words try to give the model orders ({found!r}), so it is not offered."
    return ""


def _texts(node: object) -> Iterator[str]:
    """Every text in a schema, its keys too: a model reads them all."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(node, list):
        for item in node:
            yield from _texts(item)


def _tool(server: str, name: str, description: str, parameters: dict[str, Any], seed: str) -> Tool:
    description = description.strip() or f"{name.replace('_', ' ').strip().capitalize()}."
    told = json.dumps([seed, name, description, parameters], sort_keys=True)
    return Tool(
        name=named(server, name),
        description=description[:DESCRIPTION],
        parameters=parameters,
        contract=MCP,
        plugin=plugin_of(server),
        source=plugin_of(server),
        entry=name,
        digest=hashlib.sha256(told.encode()).hexdigest(),
        risk=Risk.NETWORK,
        checks=Checks.PASS,
        timeout=SECONDS,
        toolset=plugin_of(server),
        chars=PAGE if server == BROWSER else 0,
    )


def named(server: str, name: str) -> str:
    """The tool's name in the host; a long one is cut, the same way at each start."""
    full = f"{server}__{name}"
    return full if len(full) <= LONGEST else f"{full[:55]}_{hashlib.sha256(full.encode()).hexdigest()[:8]}"
