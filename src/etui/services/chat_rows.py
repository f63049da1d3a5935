"""A plugin's own rows in chats, which it knows by their names.

Above: the table of services. Below: `store.rows`, `store.names`. It refuses to know: what the rows are; they are JSON text
here.
"""

from __future__ import annotations

import msgspec

from etui.errors import ServiceError
from etui.services.desk import SAPPHIRE, Family
from etui.services.texts import text_of
from etui.store.chatnames import ChatNames
from etui.store.chatrows import ChatRows

KEY = 500
"""Characters of a key."""


class OwnRows:
    """The rows of one plugin; what it calls its `store` tells apart several that it may have."""

    def __init__(self, rows: ChatRows, names: ChatNames, plugin: str) -> None:
        self._rows = rows
        self._names = names
        self._plugin = plugin

    async def put(self, store: str, chat: str, key: str, value: str) -> object:
        """Keep one value."""
        self._rows.put(self._written(chat), self._of(store), _key(key), text_of(value))
        return None

    async def get(self, store: str, chat: str, key: str) -> object:
        """The value, or None."""
        return self._rows.get(self._names.find(chat), self._of(store), _key(key))

    async def append(self, store: str, chat: str, key: str, values: list[str]) -> object:
        """Add rows; their numbers."""
        return self._rows.append(self._written(chat), self._of(store), _key(key), [text_of(value) for value in values])

    async def read(self, store: str, chat: str, key: str, after: int = 0) -> object:
        """Rows after that number, and whether there are more."""
        return msgspec.to_builtins(self._rows.read(self._names.find(chat), self._of(store), _key(key), int(after)))

    async def replace(self, store: str, chat: str, key: str, values: list[str]) -> object:
        """Put rows in place of all."""
        self._rows.replace(self._written(chat), self._of(store), _key(key), [text_of(value) for value in values])
        return None

    async def delete(self, store: str, chat: str, key: str | None = None) -> object:
        """Forget a key, or everything of the chat; how many rows."""
        return self._rows.delete(self._names.find(chat), self._of(store), None if key is None else _key(key))

    async def keys(self, store: str, chat: str) -> object:
        """The keys."""
        return self._rows.keys(self._names.find(chat), self._of(store))

    async def everywhere(self, store: str, key: str) -> object:
        """Name of each chat that has the key, and its value."""
        found = self._rows.everywhere(self._of(store), _key(key))
        return [[self._names.of(chat), value] for chat, value in found.items()]

    async def meta(self, store: str, chat: str, key: str) -> object:
        """How many rows, and since when; or None."""
        return self._rows.meta(self._names.find(chat), self._of(store), _key(key))

    def _written(self, chat: str) -> str:
        """The id of a chat that is to be written to. Raises ServiceError where there is none."""
        found = self._names.find(text_of(chat))
        if not found:
            raise ServiceError(f"There is no chat {chat!r}, so nothing was kept.")
        return found

    def _of(self, store: str) -> str:
        """Whose rows: the plugin's, whatever it calls them; no name leads to another's."""
        return self._plugin if store == self._plugin else f"{self._plugin}:{text_of(store, KEY)}"


def _key(key: str) -> str:
    if len(text_of(key)) > KEY:
        raise ServiceError(f"A key may have {KEY} characters.")
    return key


FAMILY = Family(
    lambda desk: OwnRows(desk.needs.store.rows, desk.needs.store.names, desk.plugin),
    {
        "rows.put": OwnRows.put,
        "rows.get": OwnRows.get,
        "rows.append": OwnRows.append,
        "rows.read": OwnRows.read,
        "rows.replace": OwnRows.replace,
        "rows.delete": OwnRows.delete,
        "rows.keys": OwnRows.keys,
        "rows.everywhere": OwnRows.everywhere,
        "rows.meta": OwnRows.meta,
    },
    only=SAPPHIRE,
)
