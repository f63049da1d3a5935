"""The scopes as plugins read them: a ContextVar for each key, set anew for each call, and there only while its plugin is.

A thread that a tool starts has a context of its own, and reads the defaults there. Above: `calling` sets them, the name
`core.chat.function_manager` gives them out. Below: `current`. It refuses to know: what was chosen, and what a scope opens.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from etui.contracts import Caller
from etui.contracts.sapphire import current

PREFIX = "scope_"
CORE: dict[str, object] = {"rag": None, "private": False}
"""The scopes that there always are, and what each stands for by default."""
CONTEXT = "context"
"""Among what a tool is told: its chat's name, the persona, and the model."""

tool_context: ContextVar[dict[str, object] | None] = ContextVar("tool_context", default=None)
"""In whose conversation the call is: chat, persona, model and channel; None outside of one."""
_variables: dict[str, ContextVar[Any]] = {}
_told: list[frozenset[str]] = []
"""The keys that there were when the host last said which."""


def variable(name: str) -> ContextVar[Any]:
    """The variable of that name, such as `scope_email`. Raises AttributeError while no plugin has such a scope."""
    key = name.removeprefix(PREFIX)
    if key == name or key not in known():
        raise AttributeError(f"module 'core.chat.function_manager' has no attribute {name!r}")
    return _of(key)


def known() -> frozenset[str]:
    """The keys that there are: those that the host told with the last call, and until then those that manifests declare."""
    told = _told[0] if _told else frozenset(_declared())
    return told | CORE.keys()


def enter(caller: Caller) -> None:
    """Let the variables stand for what this call's chat has chosen, and every other one for its default."""
    if caller.scopes:
        _told[:] = [frozenset(caller.scopes)]
    values = {**dict.fromkeys(_variables), **caller.scopes}
    for key, value in values.items():
        _of(key).set(value if key in caller.scopes else default(key))
    tool_context.set(_context(caller))


def default(key: str) -> object:
    """What a scope stands for where nothing was chosen."""
    return CORE[key] if key in CORE else _declared().get(key, "default")


def _of(key: str) -> ContextVar[Any]:
    if (found := _variables.get(key)) is not None:
        return found
    # Two threads may come here at once: both get the one that was kept.
    usual = default(key)
    return _variables.setdefault(key, ContextVar(f"{PREFIX}{key}", default=usual))


def _declared() -> dict[str, object]:
    """The defaults by key: of the scopes that the host told of when the files were run, and of the plugin's own."""
    files = current.files()
    found: dict[str, object] = {}
    for rows in (files.facts.get("scopes"), files.manifest.get("scopes")):
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and isinstance(key := row.get("key"), str):
                found.setdefault(key, _usual(row.get("default")))
    return found


def _usual(said: object) -> object:
    """What a manifest's `default` stands for."""
    return None if said and str(said).lower() == "none" else said or "default"


def _context(caller: Caller) -> dict[str, object] | None:
    told = caller.more.get(CONTEXT)
    return {**told, "channel": caller.channel} if isinstance(told, dict) and caller.chat else None
