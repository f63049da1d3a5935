"""What the scopes of a chat stand for: of several accounts or slots the one that was chosen, the default, or none at all.

Above: `selection`. Below: the registry's snapshot. It refuses to know: what lies behind a name, and which tool needs which.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from etui.registry import Snapshot
from etui.tool import Scope

SCOPE = "_scope"
"""What stands behind a scope's key in the key of its choice."""
CLOSED = "none"
"""The choice that closes a scope."""
RAG, PRIVATE = "rag", "private"
"""The scopes that there always are: the chat's own documents, and whether it is private."""


def registered(snapshot: Snapshot, off: Set[str]) -> dict[str, Scope]:
    """The scopes of the plugins that are on, by key; the first plugin has a key that two name."""
    found: dict[str, Scope] = {}
    for plugin in snapshot.plugins.values():
        if plugin.scopes and plugin.family not in off:
            for scope in plugin.scopes:
                found.setdefault(scope.key, scope)
    return found


def values(scopes: Mapping[str, Scope], choices: Mapping[str, object], chat: str, private: bool) -> dict[str, object]:
    """By key, what each stands for. `chat` is the chat's name, needed where it has documents of its own."""
    found: dict[str, object] = {key: _value(choices.get(f"{key}{SCOPE}"), scope.default) for key, scope in scopes.items()}
    documents = choices.get(f"{RAG}{SCOPE}")
    found[RAG] = f"__rag__:{chat}" if documents and not closes(documents) else None
    found[PRIVATE] = private
    return found


def open_scopes(shut: Set[str]) -> frozenset[str]:
    """The keys that are closed, without those that no tool can need."""
    return frozenset(shut) - {RAG, PRIVATE, ""}


def closes(chosen: object) -> bool:
    """Whether a choice closes its scope."""
    return isinstance(chosen, str) and chosen.strip().lower() == CLOSED


def _value(chosen: object, default: str) -> str | None:
    text = chosen.strip() if isinstance(chosen, str) else ""
    text = text or default
    return None if closes(text) else text
