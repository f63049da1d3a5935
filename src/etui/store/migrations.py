"""The shape of the database: numbered functions, each applied once, in a transaction of its own, and recorded by name.

Add a function at the end of `MIGRATIONS`; never change one that has been released. Above: `Store.open`. Below: `database`.
It refuses to know: what is done with the tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from etui.errors import StoreError
from etui.store.database import Database

APPLICATION = 0x45747569
"""`Etui` in ASCII, kept in the file's header so that nobody takes another program's database for ours."""

Migration = Callable[[sqlite3.Connection], None]


def m001_conversations(connection: sqlite3.Connection) -> None:
    """Chats, their messages and their turns."""
    connection.execute(
        """CREATE TABLE chats (
            id TEXT PRIMARY KEY, title TEXT NOT NULL, channel TEXT NOT NULL, private INTEGER NOT NULL,
            created REAL NOT NULL, changed REAL NOT NULL
        ) STRICT"""
    )
    connection.execute("CREATE INDEX chats_changed ON chats (changed)")
    connection.execute(
        """CREATE TABLE messages (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
            turn TEXT NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL, calls TEXT NOT NULL, call TEXT NOT NULL,
            tool TEXT NOT NULL, images TEXT NOT NULL, meta TEXT NOT NULL, at REAL NOT NULL
        ) STRICT"""
    )
    connection.execute("CREATE INDEX messages_chat ON messages (chat, id)")
    connection.execute(
        """CREATE TABLE turns (
            id TEXT PRIMARY KEY,
            chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
            session TEXT NOT NULL, text TEXT NOT NULL, started REAL NOT NULL, ended REAL, why TEXT NOT NULL,
            channel TEXT NOT NULL, trust TEXT NOT NULL, model TEXT NOT NULL
        ) STRICT"""
    )
    connection.execute("CREATE INDEX turns_chat ON turns (chat)")
    connection.execute("CREATE INDEX turns_unfinished ON turns (started) WHERE ended IS NULL")


def m002_journal(connection: sqlite3.Connection) -> None:
    """The calls, with as few indexes as will do, since each costs every call a page; and up to where all have ended."""
    connection.execute(
        """CREATE TABLE calls (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
            started REAL NOT NULL, ended REAL, seconds REAL NOT NULL DEFAULT 0, forgotten INTEGER NOT NULL DEFAULT 0,
            turn TEXT NOT NULL, chat TEXT NOT NULL, session TEXT NOT NULL, channel TEXT NOT NULL, tool TEXT NOT NULL,
            plugin TEXT NOT NULL, contract TEXT NOT NULL, risk TEXT NOT NULL, digest TEXT NOT NULL, arguments TEXT NOT NULL,
            status TEXT NOT NULL, text TEXT NOT NULL DEFAULT '', shown TEXT NOT NULL DEFAULT '',
            data TEXT NOT NULL DEFAULT 'null', rule TEXT NOT NULL DEFAULT '', reference TEXT NOT NULL DEFAULT '',
            detail TEXT NOT NULL DEFAULT '', images TEXT NOT NULL DEFAULT '[]', files TEXT NOT NULL DEFAULT '[]',
            silent INTEGER NOT NULL DEFAULT 0
        ) STRICT"""
    )
    connection.execute("CREATE INDEX calls_turn ON calls (turn) WHERE turn <> ''")
    connection.execute("CREATE TABLE calls_settled (number INTEGER NOT NULL) STRICT")
    connection.execute("INSERT INTO calls_settled VALUES (0)")


def m003_state(connection: sqlite3.Connection) -> None:
    """The plugins' own values, their full-text index, and the last version that a plugin's deleted keys had."""
    connection.execute(
        """CREATE TABLE state (
            id INTEGER PRIMARY KEY, plugin TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, version INTEGER NOT NULL,
            UNIQUE (plugin, key)
        ) STRICT"""
    )
    connection.execute("CREATE TABLE state_marks (plugin TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID")
    connection.execute(
        """CREATE VIRTUAL TABLE state_text USING fts5 (
            title, body, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
        )"""
    )


def m004_blobs(connection: sqlite3.Connection) -> None:
    """Images and files, and who uses them."""
    connection.execute(
        """CREATE TABLE blobs (
            id TEXT PRIMARY KEY, media_type TEXT NOT NULL, name TEXT NOT NULL, at REAL NOT NULL, data BLOB NOT NULL
        ) STRICT"""
    )
    connection.execute(
        """CREATE TABLE blob_uses (
            blob TEXT NOT NULL REFERENCES blobs (id) ON DELETE CASCADE, chat TEXT NOT NULL, call TEXT NOT NULL,
            PRIMARY KEY (blob, chat, call)
        ) STRICT, WITHOUT ROWID"""
    )
    connection.execute("CREATE INDEX blob_uses_chat ON blob_uses (chat)")


def m005_reminders(connection: sqlite3.Connection) -> None:
    """Timers, alarms and reminders; `anchor` is the first wall time of a series."""
    connection.execute(
        """CREATE TABLE reminders (
            id TEXT PRIMARY KEY, plugin TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, label TEXT NOT NULL,
            due REAL NOT NULL, zone TEXT NOT NULL, wall TEXT NOT NULL, anchor TEXT NOT NULL, repeat TEXT NOT NULL,
            chat TEXT NOT NULL, session TEXT NOT NULL, created REAL NOT NULL, done REAL
        ) STRICT"""
    )
    connection.execute("CREATE INDEX reminders_due ON reminders (due) WHERE done IS NULL")


def m006_named_values(connection: sqlite3.Connection) -> None:
    """The host's own small values."""
    connection.execute(
        """CREATE TABLE named_values (
            space TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (space, key)
        ) STRICT"""
    )


def m007_decisions(connection: sqlite3.Connection) -> None:
    """What was decided about calls and the actions in them, by whom; and what went wrong in a call, as its tool put it."""
    connection.execute("ALTER TABLE calls ADD COLUMN why TEXT NOT NULL DEFAULT ''")
    connection.execute(
        """CREATE TABLE decisions (
            number INTEGER PRIMARY KEY, call TEXT NOT NULL, action TEXT NOT NULL, risk TEXT NOT NULL, verdict TEXT NOT NULL,
            decider TEXT NOT NULL, at REAL NOT NULL
        ) STRICT"""
    )
    connection.execute("CREATE INDEX decisions_call ON decisions (call)")


def m008_of_chats(connection: sqlite3.Connection) -> None:
    """What plugins keep with a chat, in rows or as one value, and what was chosen for a chat; both go with it."""
    connection.execute(
        """CREATE TABLE chat_rows (
            chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
            plugin TEXT NOT NULL, key TEXT NOT NULL, number INTEGER NOT NULL, value TEXT NOT NULL, at REAL NOT NULL
        ) STRICT"""
    )
    connection.execute("CREATE UNIQUE INDEX chat_rows_of ON chat_rows (chat, plugin, key, number)")
    connection.execute(
        """CREATE TABLE chat_choices (
            chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE, key TEXT NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY (chat, key)
        ) STRICT, WITHOUT ROWID"""
    )


MIGRATIONS: tuple[Migration, ...] = (
    m001_conversations,
    m002_journal,
    m003_state,
    m004_blobs,
    m005_reminders,
    m006_named_values,
    m007_decisions,
    m008_of_chats,
)


def migrate(database: Database, at: float, migrations: tuple[Migration, ...] = MIGRATIONS) -> list[str]:
    """Bring the database to today's shape and give the names of what was applied; `at` is in seconds since the epoch.

    Raises StoreError for a database of a newer Etui or of another program, which is left alone. Several processes may do it.
    """
    if _applied(database, migrations) == len(migrations):
        return []
    done: list[str] = []
    for number, migration in enumerate(migrations):
        with database.change() as connection:
            if number == 0:
                connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at REAL NOT NULL) STRICT")
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
            name = migration.__name__
            if connection.execute("INSERT OR IGNORE INTO migrations VALUES (?, ?)", (name, at)).rowcount:
                migration(connection)
                done.append(name)
    return done


def _applied(database: Database, migrations: tuple[Migration, ...]) -> int:
    """How many of the migrations the database has seen."""
    tables = {row[0] for row in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    mark = database.row("PRAGMA application_id")
    where = str(database.path or ":memory:")
    if tables and (mark is None or mark[0] != APPLICATION):
        raise StoreError(f"The database {where!r} belongs to another program; it was left alone: choose another path.")
    if "migrations" not in tables:
        return 0
    known = {migration.__name__ for migration in migrations}
    seen = {row[0] for row in database.rows("SELECT name FROM migrations")}
    if newer := sorted(seen - known):
        raise StoreError(
            f"The database {where!r} was written by a newer Etui ({newer[-1]}); it was left alone: update Etui to open it."
        )
    return len(seen)
