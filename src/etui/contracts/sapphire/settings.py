"""The module `config`: the owner's settings as attributes, as they are in force in the call that reads them.

Its `__file__` lies in the root, which older files go by. Above: `product`. Below: `current`. It refuses to know: where settings
are kept.
"""

from __future__ import annotations

import json
import sys
from types import ModuleType

from etui.contracts.sapphire import current

_declared: dict[str, object] = {}
"""The settings that loose modules brought along, with their defaults."""


class Config(ModuleType):
    """`config`; an unknown setting is an AttributeError."""

    def __getattr__(self, name: str) -> object:
        told = current.caller().more.get("config")
        first = current.files().facts.get("config")
        for known in (told, first, _declared):
            if isinstance(known, dict) and name in known:
                return known[name]
        raise AttributeError(f"module 'config' has no attribute {name!r}")


def offer() -> None:
    """Make `config` importable."""
    _declared.clear()
    module = Config("config")
    module.__file__ = str(current.root() / "config.py")
    sys.modules["config"] = module


def config() -> ModuleType:
    """The module, as `import config` gives it."""
    return sys.modules["config"]


def declare(brought: object) -> None:
    """A loose module's SETTINGS are the owner's too: until they say otherwise, its defaults hold."""
    if isinstance(brought, dict):
        for name, default in brought.items():
            _declared.setdefault(str(name), default)


def rows(brought: object, explained: object) -> list[dict[str, object]]:
    """SETTINGS and SETTINGS_HELP of a file as a manifest would say them: a row of a form for each."""
    helps = explained if isinstance(explained, dict) else {}
    found: list[dict[str, object]] = []
    for name, default in brought.items() if isinstance(brought, dict) else ():
        try:
            value = json.loads(json.dumps(default, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            continue  # what is no JSON nobody can set in a form; the module has it all the same
        kind, widget = _kind(value)
        row = {"key": str(name), "type": kind, "label": _label(str(name)), "default": value, "help": str(helps.get(name, ""))}
        found.append(row | ({"widget": widget} if widget else {}))
    return found


def _kind(value: object) -> tuple[str, str]:
    if isinstance(value, bool):
        return "boolean", ""
    if isinstance(value, int | float):
        return "number", ""
    if isinstance(value, list):
        return "list", ""
    return "string", "textarea" if isinstance(value, str) and "\n" in value else ""


def _label(name: str) -> str:
    return name.replace("_", " ").strip().capitalize() or name
