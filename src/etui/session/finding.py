"""Which tool a name means, among the host's own, the registry's and those that are one session's alone.

Above: `session`. Below: the registry's snapshot. It refuses to know: who may see what, and what the gate says.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Set

from etui.registry import Snapshot, nearest, squeeze
from etui.selection.chosen import Chosen
from etui.tool import Problem, Tool

FEW = 10
"""Names that are told of tools that a chat has."""
NO_NAMES = "none"
CHOOSE = "Change that under “Tools of this chat” in the console, or with `etui toolsets chat`"


def every(snapshot: Snapshot, first: Mapping[str, Tool], own: Mapping[str, Tool]) -> tuple[Tool, ...]:
    """The host's tools, the registry's, and behind them its own, which keep their names whatever comes later."""
    tools = snapshot.tools
    if not own and not first:
        return tuple(tools.values())
    rest = (tool for name, tool in tools.items() if name not in own and name not in first)
    return (*first.values(), *rest, *own.values())


def meant(name: str, snapshot: Snapshot, first: Mapping[str, Tool], own: Mapping[str, Tool]) -> Tool | tuple[str, ...]:
    """The tool by its name, or by its letters and digits where that leaves no doubt; else the names that it could be."""
    tool = first.get(name) or own.get(name) or snapshot.tools.get(name)
    if tool is not None:
        return tool
    bare = squeeze(name)
    for other, tool in first.items():
        if squeeze(other) == bare:
            return tool
    alike = tuple(dict.fromkeys((*snapshot.loose.get(bare, ()), *(other for other in own if squeeze(other) == bare))))
    return (own.get(alike[0]) or snapshot.tools[alike[0]]) if len(alike) == 1 else alike


def unchosen(tool: Tool, names: Iterable[str]) -> str:
    """That a tool is not among those of the chat, in its contract's words where it has some; empty where it has none."""
    return tool.words.not_chosen.replace("{tool}", tool.name).replace(
        "{names}", ", ".join(itertools.islice(names, FEW)) or NO_NAMES
    )


def kept_from(tool: Tool, off: Set[str], chosen: Chosen) -> str:
    """For the owner: why a chat lacks a tool, and where that is changed; empty where neither switch nor choice is why."""
    if tool.name in off or tool.toolset in off:
        what = "it" if tool.name in off else repr(tool.toolset)
        return f"{tool.name!r} is switched off. Switch {what} on on the console's Tools page or with `etui tools`."
    if tool.gated and not chosen.offers(tool):
        return ""  # A setting of the house may be why.
    if chosen.offered is not None and tool.name not in chosen.offered:
        return f"This chat does not have the tool {tool.name!r}. {CHOOSE}."
    if tool.scope and tool.scope in chosen.closed:
        return f"{tool.name!r} needs the scope {tool.scope!r}, which is closed in this chat. {CHOOSE}."
    return ""


def unknown(name: str, problems: Iterable[Problem], names: Iterable[str]) -> str:
    """That there is no tool of this name: why it was refused, where one of these problems says so, or the nearest names."""
    for problem in problems:
        if problem.refused and name in (problem.what, problem.what.removesuffix(".py")):
            where = f" ({problem.file}:{problem.line})" if problem.file else ""
            return f"There is no tool called {name!r}: {problem.reason}{where}"
    near = nearest(name, names)
    nearest_are = f" The nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}."
    hint = nearest_are if near else " `etui tools` lists what there is."
    return f"There is no tool called {name!r}.{hint}"
