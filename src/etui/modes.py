"""Which tools belong to a conversation, which to background work, and which to both.

A conversation has a person in it who waits; a job works on its own. Families that only make sense without a person waiting are
kept to jobs, and the owner may keep more there (`only_in_jobs`).
Above: `gate` refuses by it, `host` hands it to sessions. Below: the nouns. It refuses to know: who calls, and what is offered.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

from etui.tool import Tool

CONVERSATION, WORK = "conversation", "work"
JOBS_ONLY = ("browser", "mcp", "mcp:*", "subagent")
"""Families that never reach a conversation."""
ALWAYS = frozenset({"mcp:browser"})
"""Families of MCP servers that a job need not ask for first."""


def reaches(tool: Tool, mode: str, only_in_jobs: tuple[str, ...] = ()) -> bool:
    """Whether the tool is for this mode; `only_in_jobs` are patterns of families, or `contract:<name>`, that are confined."""
    if tool.mode:
        return tool.mode == mode
    return mode == WORK or not named((tool.toolset, f"contract:{tool.contract}"), (*JOBS_ONLY, *only_in_jobs))


def waits(tool: Tool, mode: str, activated: frozenset[str]) -> bool:
    """Whether the tool is an MCP server's that this job has not asked for; `activated` are the families that it has."""
    return mode == WORK and tool.contract == "mcp" and tool.toolset not in ALWAYS and tool.toolset not in activated


@lru_cache(maxsize=4096)
def named(names: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns, such as `plugin:*`, fits one of the names. Kept, for every call asks it."""
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)
