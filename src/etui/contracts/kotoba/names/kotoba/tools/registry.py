"""`kotoba.tools.registry`: which tools and families there are, to be read. Above: tool files. Below: `families`.

It refuses to know: how a switch is thrown; what would change another plugin's tool is refused and told to the owner.
"""

from __future__ import annotations

from typing import Any

from etui.contracts.kotoba import families
from etui.contracts.kotoba.families import ToolSpec

__all__ = [
    "COMPANION_ONLY_TOOLS",
    "COMPANION_TOOLSETS",
    "ToolSpec",
    "all_toolsets",
    "deregister",
    "disabled_toolsets",
    "discover",
    "dispatchable",
    "function_tool_names",
    "modules_by_name",
    "register",
    "registry",
    "schemas_for",
    "set_toolset_enabled",
]

COMPANION_TOOLSETS = frozenset({"web", "memory", "core", "skills", "cron", "terminal", "code", "report", "file", "discord"})
"""The families of Kotoba's own that reach a conversation."""
COMPANION_ONLY_TOOLS = frozenset({"start_work", "cancel_work"})
"""What a background job is not offered."""


def registry() -> dict[str, ToolSpec]:
    """Every tool there is; of another plugin's only name and family are known."""
    return {name: found for name in families.families() if (found := families.spec(name))}


def dispatchable(name: str) -> ToolSpec | None:
    """The tool that a call of this name reaches; None if there is none or its family is switched off."""
    found, off = families.spec(name), families.off()
    return None if found is None or name in off or found.toolset in off else found


def all_toolsets() -> list[str]:
    """The families there are, sorted."""
    return sorted(set(families.families().values()))


def disabled_toolsets() -> set[str]:
    """The families that are switched off."""
    known = families.families()
    return {name for name in families.off() if name not in known or name in known.values()}


def function_tool_names() -> set[str]:
    """Names of the tools that are called here."""
    return {name for name, found in registry().items() if not found.built_in}


def modules_by_name() -> dict[str, Any]:
    """The plugin's own modules, by the names of their tools."""
    return dict(families.MODULES)


def schemas_for(
    mode: str = "companion",
    allow_risk: set[str] | None = None,
    toolset_filter: str | None = None,
    mcp_active: set[str] | None = None,
    exclude_tools: frozenset[str] | None = None,
) -> list[dict[str, Any]]:
    """What the plugin's own tools offer to a model, those left out that are switched off or excluded."""
    return [
        found.schema
        for name, found in families.OWN.items()
        if dispatchable(name)
        and (allow_risk is None or found.risk in allow_risk)
        and (toolset_filter is None or found.built_in or found.toolset == toolset_filter)
        and name not in (exclude_tools or ())
    ]


def discover() -> None:
    """Nothing: the host finds tools."""


def register(spec: ToolSpec, *, allow_override: bool = True) -> None:
    """Refused: a tool is a file."""
    families.refuse("register", getattr(spec, "name", spec))


def deregister(name: str) -> None:
    """Refused: the owner switches tools off."""
    families.refuse("remove", name)


def set_toolset_enabled(toolset: str, enabled: bool) -> None:
    """Refused: only the owner throws switches."""
    families.refuse("switch on" if enabled else "switch off", toolset)
