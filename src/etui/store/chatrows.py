"""What plugins keep with a chat: rows under a key, numbered from 1, or one value, which is a single row.

The rows belong to the chat: they are found by whatever it is called now, stay when it is cleared, and go in the transaction in
which it is deleted. Above: `services` serves it to plugins. Below: `database`. It refuses to know: what the values are; they
come and go as JSON text, and callers name the plugin.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from etui.errors import StoreError
from etui.store.database import Database, run

PART = 2 << 20
"""Characters of rows that are read at once."""
_HERE = "chat = ? AND plugin = ? AND key = ?"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Rows in order, as many as are read at once."""

    rows: list[str]
    last: int
    """The number of the last one."""
    more: bool
    """Whether there are more behind it."""
    mark: str
    """Another one once other rows were put in place of these."""


class ChatRows:
    """Rows by chat, plugin and key."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def put(self, chat: str, plugin: str, key: str, value: str) -> None:
        """Keep one value in place of whatever was there. Raises StoreError if there is no such chat."""
        self.replace(chat, plugin, key, [value])

    def get(self, chat: str, plugin: str, key: str) -> str | None:
        """The value, the last one of several; None where there is none."""
        row = self._database.row(f"SELECT value FROM chat_rows WHERE {_HERE} ORDER BY number DESC LIMIT 1", (chat, plugin, key))
        return str(row[0]) if row else None

    def append(self, chat: str, plugin: str, key: str, values: Sequence[str]) -> list[int]:
        """Add these behind the others, all or none; gives their numbers. Raises StoreError if there is no such chat."""
        with self._database.change() as connection:
            _there(connection, chat)
            (last,) = run(
                connection, f"SELECT coalesce(max(number), 0) FROM chat_rows WHERE {_HERE}", (chat, plugin, key)
            ).fetchone()
            return self._add(connection, chat, plugin, key, int(last), values)

    def replace(self, chat: str, plugin: str, key: str, values: Sequence[str]) -> None:
        """Put these in place of all that were there, numbered from 1. Raises StoreError if there is no such chat."""
        with self._database.change() as connection:
            _there(connection, chat)
            run(connection, f"DELETE FROM chat_rows WHERE {_HERE}", (chat, plugin, key))
            self._add(connection, chat, plugin, key, 0, values)

    def read(self, chat: str, plugin: str, key: str, after: int = 0) -> Part:
        """The rows with numbers above `after`, in order, up to `PART` characters; at least one where there is one."""
        first = self._database.row(
            f"SELECT rowid, at FROM chat_rows WHERE {_HERE} ORDER BY number LIMIT 1", (chat, plugin, key)
        )
        found = self._database.rows(
            f"""SELECT number, value FROM (
                    SELECT number, value, sum(length(value)) OVER (ORDER BY number) AS size
                    FROM chat_rows WHERE {_HERE} AND number > ?
                ) WHERE size <= ? OR number = ? + 1 ORDER BY number""",
            (chat, plugin, key, after, PART, after),
        )
        last = int(found[-1][0]) if found else after
        more = self._database.row(f"SELECT 1 FROM chat_rows WHERE {_HERE} AND number > ? LIMIT 1", (chat, plugin, key, last))
        mark = f"{first[0]}.{first[1]}" if first else ""
        return Part(rows=[str(value) for _, value in found], last=last, more=more is not None, mark=mark)

    def delete(self, chat: str, plugin: str, key: str | None = None) -> int:
        """Forget the key, or all of the plugin's in that chat; gives how many rows that were."""
        if key is None:
            return self._database.write("DELETE FROM chat_rows WHERE chat = ? AND plugin = ?", (chat, plugin))
        return self._database.write(f"DELETE FROM chat_rows WHERE {_HERE}", (chat, plugin, key))

    def keys(self, chat: str, plugin: str) -> list[str]:
        """The keys under which there is something, sorted."""
        rows = self._database.rows(
            "SELECT DISTINCT key FROM chat_rows WHERE chat = ? AND plugin = ? ORDER BY key", (chat, plugin)
        )
        return [str(row[0]) for row in rows]

    def everywhere(self, plugin: str, key: str) -> dict[str, str]:
        """By chat, the value under that key, the last one of several."""
        rows = self._database.rows(
            """SELECT chat, value FROM chat_rows AS one WHERE plugin = ? AND key = ? AND number =
               (SELECT max(number) FROM chat_rows WHERE chat = one.chat AND plugin = one.plugin AND key = one.key)""",
            (plugin, key),
        )
        return {str(chat): str(value) for chat, value in rows}

    def meta(self, chat: str, plugin: str, key: str) -> dict[str, object] | None:
        """How many rows there are, and when they were changed last, in ISO 8601; None where there are none."""
        row = self._database.row(f"SELECT count(*), max(at) FROM chat_rows WHERE {_HERE}", (chat, plugin, key))
        if row is None or not row[0]:
            return None
        return {"rows": int(row[0]), "updated_at": datetime.fromtimestamp(row[1], UTC).isoformat()}

    def _add(
        self, connection: sqlite3.Connection, chat: str, plugin: str, key: str, last: int, values: Sequence[str]
    ) -> list[int]:
        now = self._clock()
        numbers = list(range(last + 1, last + 1 + len(values)))
        for number, value in zip(numbers, values, strict=True):
            run(
                connection,
                "INSERT INTO chat_rows (chat, plugin, key, number, value, at) VALUES (?, ?, ?, ?, ?, ?)",
                (chat, plugin, key, number, value, now),
            )
        return numbers


def _there(connection: sqlite3.Connection, chat: str) -> None:
    """Raise StoreError if there is no such chat."""
    if run(connection, "SELECT 1 FROM chats WHERE id = ?", (chat,)).fetchone() is None:
        raise StoreError(f"There is no chat {chat!r}; it may have been deleted.")
