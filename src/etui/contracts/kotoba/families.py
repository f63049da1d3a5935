"""What a tool file learns of the tools there are: its own with all they hold, of the others their names and families.

Nothing can be changed through it: who asks another plugin's tool to be replaced or switched is refused, and its owner is told.
Above: `reading` puts the plugin's own tools in, `names` asks. Below: `witnesses`. It refuses to know: switches and rules.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from etui.contracts.kotoba.witnesses import witness

log = logging.getLogger("kotoba.tools")


@dataclass
class ToolSpec:
    """A tool as Kotoba's registry knows it."""

    name: str
    module: Any
    schema: dict[str, Any]
    toolset: str = "core"
    risk: str = "read"
    built_in: bool = False
    check: Callable[[], bool] = field(default=lambda: True)
    expressions: dict[str, Any] | None = None


OWN: dict[str, ToolSpec] = {}
"""The tools of the plugin that this worker runs."""
MODULES: dict[str, Any] = {}
"""Their modules, by name."""
SCHEMAS: list[dict[str, Any]] = []
FUNCTIONS: set[str] = set()
"""The names of those that are called here."""
PLUGIN: list[str] = [""]
"""Whose worker this is."""


def open_for(plugin: str) -> None:
    """From now on this worker is that plugin's; what was known of another is gone."""
    PLUGIN[0] = plugin
    for known in (OWN, MODULES, SCHEMAS, FUNCTIONS):
        known.clear()


def add(spec: ToolSpec) -> None:
    """One tool of the plugin."""
    OWN[spec.name] = spec
    MODULES[spec.name] = spec.module
    SCHEMAS.append(spec.schema)
    if not spec.built_in:
        FUNCTIONS.add(spec.name)


def families() -> dict[str, str]:
    """Names of tools, each with its family; outside of a call only the plugin's own are known."""
    told = _told().get("tools")
    known = {name: spec.toolset for name, spec in OWN.items()}
    return {**known, **told} if isinstance(told, dict) else known


def off() -> set[str]:
    """Names of tools and families that are switched off."""
    told = _told().get("off")
    return set(told) if isinstance(told, list) else set()


def spec(name: str) -> ToolSpec | None:
    """A tool of any plugin, whether or not it is switched off; of another plugin's only name and family are known."""
    if name in OWN:
        return OWN[name]
    family = families().get(name)
    return None if family is None else ToolSpec(name=name, module=None, schema={}, toolset=family)


def refuse(act: str, name: object) -> None:
    """Say in the owner's log that the plugin wanted to do what no tool file may."""
    log.warning("The plugin %r wanted to %s %r; a tool file cannot do that here.", PLUGIN[0], act, name)


def _told() -> dict[str, Any]:
    found = witness()
    more = found.line.caller.more.get("families") if found is not None else None
    return more if isinstance(more, dict) else {}
