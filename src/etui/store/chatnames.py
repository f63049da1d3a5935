"""What a chat is called by plugins that know chats by their names: its title, as long as no older chat has the same.

Above: `services` and the host. Below: `database`. It refuses to know: what is kept under a name; everything is kept by the id.
"""

from __future__ import annotations

import re

from etui.store.database import Database

_WITH_ID = re.compile(r"\((\w+)\)\Z")


class ChatNames:
    """Names of chats, both ways."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, id: str) -> str:
        """The chat's name; the id itself where it has no title, or there is no such chat."""
        row = self._database.row("SELECT title FROM chats WHERE id = ?", (id,))
        if row is None or not row[0]:
            return id
        return str(row[0]) if self._first(row[0]) == id else f"{row[0]} ({id})"

    def find(self, name: str) -> str:
        """The id of the chat with this name, or with this id; empty where there is none."""
        return self._has(name) or self._first(name) or self._with_id(name)

    def _with_id(self, name: str) -> str:
        found = _WITH_ID.search(name)
        return self._has(found[1]) if found and self.of(found[1]) == name else ""

    def _has(self, id: str) -> str:
        return id if self._database.row("SELECT 1 FROM chats WHERE id = ?", (id,)) else ""

    def _first(self, title: str) -> str:
        """The oldest chat with this title; a title that is another chat's id is nobody's name."""
        if not title or self._has(title):
            return ""
        row = self._database.row("SELECT id FROM chats WHERE title = ? ORDER BY created, rowid LIMIT 1", (title,))
        return str(row[0]) if row else ""
