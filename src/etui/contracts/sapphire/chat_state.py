"""`get_chat_state`: a plugin's rows and values in the chats' own database; they go where the chat goes, and with it.

Values travel as the JSON text that was made of them here. Above: `names/core/plugin_loader`. Below: `current`, the host's
`rows` services. It refuses to know: which chats there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from etui.contracts.sapphire import current
from etui.contracts.sapphire.state import checked


class PluginChatState:
    """One plugin's store for chats, which plugins know by their names."""

    def __init__(self, name: str) -> None:
        self.name = checked(name)

    def put(self, chat: str, key: str, value: Any) -> None:
        """Keep one value under the key, in place of whatever was there."""
        self._ask("put", chat=chat, key=key, value=_packed(value))

    def get(self, chat: str, key: str, default: Any = None) -> Any:
        """The value under the key, the last one of several; the default where there is none."""
        found = self._ask("get", chat=chat, key=key)
        return json.loads(found) if isinstance(found, str) else default

    def append(self, chat: str, key: str, row: Any) -> int:
        """Add a row behind the others; gives its number."""
        return self.append_many(chat, key, [row])[0]

    def append_many(self, chat: str, key: str, rows: Iterable[Any]) -> list[int]:
        """Add all of these rows, or none; gives their numbers."""
        packed = [_packed(row) for row in rows]
        numbers: Any = self._ask("append", chat=chat, key=key, values=packed) if packed else []
        return list(numbers)

    def read_all(self, chat: str, key: str) -> list[Any]:
        """Every row under the key, in order."""
        rows: list[Any] = []
        after, mark = 0, ""
        while True:
            part: Any = self._ask("read", chat=chat, key=key, after=after)
            if mark and part["mark"] != mark:
                rows, after, mark = [], 0, ""
                continue  # others were put in their place meanwhile
            rows += [json.loads(text) for text in part["rows"]]
            if not part["more"]:
                return rows
            after, mark = part["last"], part["mark"]

    def replace(self, chat: str, key: str, rows: Iterable[Any]) -> None:
        """Put these rows in place of all that were there, numbered anew."""
        self._ask("replace", chat=chat, key=key, values=[_packed(row) for row in rows])

    def delete(self, chat: str, key: str | None = None) -> int:
        """Forget a key, or everything of the chat; gives how many rows that were."""
        gone: Any = self._ask("delete", chat=chat, key=key)
        return int(gone)

    def keys(self, chat: str) -> list[str]:
        """The keys under which there is something."""
        found: Any = self._ask("keys", chat=chat)
        return list(found)

    def get_all_chats(self, key: str) -> dict[str, Any]:
        """By the name of each chat that has the key, its value."""
        found: Any = self._ask("everywhere", key=key)
        return {name: json.loads(text) for name, text in found}

    def meta(self, chat: str, key: str) -> dict[str, Any] | None:
        """How many `rows` there are, and `updated_at`, when they were changed last (ISO 8601); None where there are none."""
        found: Any = self._ask("meta", chat=chat, key=key)
        return dict(found) if found else None

    def _ask(self, what: str, **args: object) -> object:
        if args.get("key") is not None:
            args["key"] = str(args["key"])  # a number names a row as its digits do
        return current.ask(f"rows.{what}", store=self.name, **args)


def _packed(value: Any) -> str:
    """The value as JSON. Raises TypeError or ValueError for what JSON has no word for."""
    packed = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        packed.encode()
    except UnicodeEncodeError:  # half of a pair that no encoding takes, which JSON can spell
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    return packed
