"""Images and files that tools gave, kept once however often they come.

A blob's id is the hash of its bytes, media type and name, so the same thing has the same id in every chat; what goes with a
chat is the use, and the blob with its last use. Above: `session` stores, surfaces show. Below: `database`.
It refuses to know: what the bytes are, and whether a browser should be shown them.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable

import msgspec

from etui.store.database import Database, run
from etui.store.encoding import clean

_IN_CHAT = "FROM blob_uses CROSS JOIN blobs ON blobs.id = blob_uses.blob WHERE chat = ?"


class Blob(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes with what they are and what they are called."""

    id: str
    data: bytes
    media_type: str
    """Such as `image/png`, as the tool said; not to be believed by who serves it."""
    name: str = ""
    at: float = 0.0
    """When it first came, in seconds since the epoch."""


class Blobs:
    """Bytes by id."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def put(self, data: bytes, media_type: str, name: str = "", chat: str = "", call: str = "") -> str:
        """Keep the bytes and give their id; `chat` and `call` are where they came from."""
        name, media_type = clean(name), clean(media_type)
        digest = hashlib.sha256(f"{media_type}\0{name}\0".encode())
        digest.update(data)
        id = digest.hexdigest()[:40]
        with self._database.change() as connection:
            run(connection, "INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?, ?)", (id, media_type, name, self._clock(), data))
            run(connection, "INSERT OR IGNORE INTO blob_uses VALUES (?, ?, ?)", (id, chat, call))
        return id

    def get(self, id: str) -> Blob | None:
        """The blob, or None where there is none."""
        row = self._database.row("SELECT media_type, name, at, data FROM blobs WHERE id = ?", (id,))
        return Blob(id=id, media_type=row[0], name=row[1], at=row[2], data=row[3]) if row else None

    def named(self, chat: str, name: str) -> str:
        """The id of what has this name in the chat, the newest if there are several; empty where there is none."""
        row = self._database.row(f"SELECT blobs.id {_IN_CHAT} AND name = ? ORDER BY blobs.rowid DESC LIMIT 1", (chat, name))
        return str(row[0]) if row else ""

    def newest(self, chat: str, pattern: str) -> str:
        """The name, like this pattern of SQLite's GLOB, of what came into the chat last; empty where there is none."""
        row = self._database.row(f"SELECT name {_IN_CHAT} AND name GLOB ? ORDER BY blobs.rowid DESC LIMIT 1", (chat, pattern))
        return str(row[0]) if row else ""

    def drop(self, chat: str, name: str) -> None:
        """Take what has this name out of the chat; the bytes go with their last use."""
        with self._database.change() as connection:
            ids = [row[0] for row in run(connection, f"SELECT blobs.id {_IN_CHAT} AND name = ?", (chat, name)).fetchall()]
            for id in ids:
                run(connection, "DELETE FROM blob_uses WHERE blob = ? AND chat = ?", (id, chat))
                run(
                    connection,
                    "DELETE FROM blobs WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = ?1)",
                    (id,),
                )


def forget_chat(connection: sqlite3.Connection, chat: str) -> None:
    """Within a transaction: drop the chat's uses, and every blob that nothing else uses."""
    run(
        connection,
        """DELETE FROM blobs WHERE id IN (SELECT blob FROM blob_uses WHERE chat = ?1)
           AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.id AND chat <> ?1)""",
        (chat,),
    )
    run(connection, "DELETE FROM blob_uses WHERE chat = ?", (chat,))
