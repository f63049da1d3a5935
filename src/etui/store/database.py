"""One SQLite file: a connection that writes, a connection that reads, and a thread that keeps the log short.

WAL, so that readers never wait for writers, in this process or another; waiting for another writer is bounded. Commits survive
the death of the process; nothing on the way of a call waits for the disk. What may be written a moment later is, all together,
and before anything else is asked or changed. Above: every table's module. Below: the standard library's `sqlite3`.
It refuses to know: what the tables hold.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from etui.errors import StoreError
from etui.store.encoding import clean

PATIENCE = 15.0
"""Seconds that a write waits for another process's transaction before it gives up."""
LOG_SIZE = 4 * 1024 * 1024
"""Bytes of write-ahead log from which it is copied into the database in the background."""
SOON = 0.005
"""Seconds within which a change that nobody waits for is on the disk."""
CHECKED = 32 * 1024 * 1024
"""Bytes up to which a database is checked page by page when it is opened."""

Value = str | int | float | bytes | None
Row = tuple[Any, ...]


def run(connection: sqlite3.Connection, sql: str, values: Sequence[Value] = ()) -> sqlite3.Cursor:
    """Run one statement; text that is not Unicode is made so on the way in."""
    try:
        return connection.execute(sql, values)
    except UnicodeEncodeError:
        return connection.execute(sql, tuple(clean(value) if isinstance(value, str) else value for value in values))


class Database:
    """The open file; every method may be called from any thread."""

    def __init__(self, path: Path | None, *, patience: float = PATIENCE, log_size: int = LOG_SIZE, pause: float = 1.0) -> None:
        """Open or create the file, or a database in memory for None. Raises StoreError; nothing is ever deleted.

        `patience` is in seconds, `log_size` in bytes, `pause` the least number of seconds between two looks at the log.
        """
        self.path = path
        self._patience = patience
        self._log_size = log_size
        self._pause = pause
        self._writing = threading.RLock()
        self._reading = threading.RLock() if path else self._writing
        self._soon: list[tuple[str, Sequence[Value]]] = []
        """Changes that are not on the disk yet."""
        self._stirred = threading.Event()
        self._closing = threading.Event()
        self._dirty = False
        self._thread: threading.Thread | None = None
        if path:
            _make(path)
        with self._sentences():
            self._writer = self._connect()
            try:
                self._check()
                self._reader = self._connect(reads=True) if path else self._writer
            except BaseException:
                self._writer.close()
                raise
        if path:
            self._thread = threading.Thread(target=self._keep_short, name="etui-store", daemon=True)
            self._thread.start()

    def write(self, sql: str, values: Sequence[Value] = ()) -> int:
        """One change, committed when this returns; gives the number of rows it touched."""
        with self._writing:
            changes, self._soon = self._soon, []
            try:
                touched = self._together(changes, sql, values) if changes else run(self._writer, sql, values).rowcount
            except sqlite3.Error as error:
                raise self._sentence(error) from error
        if not self._dirty:
            self._stir()
        return touched

    def _together(self, changes: Sequence[tuple[str, Sequence[Value]]], sql: str, values: Sequence[Value]) -> int:
        """One change after others, in one commit; if it fails, they are there all the same."""
        run(self._writer, "BEGIN IMMEDIATE")
        try:
            for change in changes:
                run(self._writer, *change)
            try:
                return run(self._writer, sql, values).rowcount
            finally:
                if self._writer.in_transaction:
                    run(self._writer, "COMMIT")
        finally:
            if self._writer.in_transaction:
                run(self._writer, "ROLLBACK")

    def soon(self, sql: str, values: Sequence[Value] = ()) -> None:
        """One change that nobody waits for: on the disk within `SOON`, together with others; at once where no loop runs.

        Whatever is asked or changed after it finds it done. What cannot be written then is lost, and the loop's handler told.
        """
        with self._writing:
            self._soon.append((sql, values))
            if len(self._soon) > 1:
                return
        try:
            asyncio.get_running_loop().call_later(SOON, self.catch_up)
        except RuntimeError:
            self.catch_up()

    def catch_up(self) -> None:
        """Bring to the disk what was to be written soon, in one transaction."""
        with self._writing:
            changes, self._soon = self._soon, []
            if len(changes) == 1:
                self.write(*changes[0])
            elif changes:
                with self.change() as connection:
                    for change in changes:
                        run(connection, *change)

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Several statements that count together or not at all; committed at the end of the block, undone if it raises."""
        with self._writing, self._sentences():
            if self._soon:
                self.catch_up()
            run(self._writer, "BEGIN IMMEDIATE")
            try:
                yield self._writer
                run(self._writer, "COMMIT")
            finally:
                if self._writer.in_transaction:
                    run(self._writer, "ROLLBACK")
        if not self._dirty:
            self._stir()

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Everything that a question finds among what has been committed."""
        if self._soon:
            self.catch_up()
        with self._reading:
            try:
                return run(self._reader, sql, values).fetchall()
            except sqlite3.Error as error:
                raise self._sentence(error) from error

    def row(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        """The first row that a question finds, or None."""
        found = self.rows(sql, values)
        return found[0] if found else None

    def close(self) -> None:
        """Write what is left, bring the log home and close; a second time does nothing."""
        self.catch_up()
        self._closing.set()
        self._stirred.set()
        if self._thread:
            self._thread.join()
            self._thread = None
        with self._reading:
            self._reader.close()
        with self._writing:
            # Another process may be reading; then the log stays for it, and nothing is lost.
            with suppress(sqlite3.Error):
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()

    def _connect(self, *, reads: bool = False) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path or ":memory:",
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            if self.path and not reads:
                self._use_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute(f"PRAGMA journal_size_limit = {self._log_size}")
            if reads:
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _use_log(self, connection: sqlite3.Connection) -> None:
        """Switch to WAL; SQLite itself does not wait for other processes that are just doing so."""
        end = time.monotonic() + self._patience
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                self._closing.wait(0.01)

    def _check(self) -> None:
        """Raise for a file that is damaged, as far as that can be seen quickly."""
        size = self.path.stat().st_size if self.path else 0
        if self.path is None or size > CHECKED:
            return
        found = self._writer.execute("PRAGMA quick_check(1)").fetchone()
        if found is None or found[0] != "ok":
            raise StoreError(_damaged(self.path, str(found and found[0])))

    def _stir(self) -> None:
        """Tell the thread that there is something to look at; at most once in each of its rounds."""
        self._dirty = True
        self._stirred.set()

    def _keep_short(self) -> None:
        """The thread: copy the log into the database whenever it has grown, on a connection of its own."""
        with suppress(sqlite3.Error):
            connection = self._connect()
            try:
                while True:
                    self._stirred.wait()
                    if self._closing.wait(self._pause):
                        return
                    self._stirred.clear()
                    self._dirty = False
                    self._shorten(connection)
            finally:
                connection.close()

    def _shorten(self, connection: sqlite3.Connection) -> None:
        size = self._log_bytes()
        if size <= self._log_size:
            return
        # A reader or writer in the way, or a full disk, leaves the log longer for a round.
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            # A log that is never idle would grow for ever; once it is this long, writers wait for the copy.
            if size > 16 * self._log_size:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _log_bytes(self) -> int:
        try:
            return Path(f"{self.path}-wal").stat().st_size
        except OSError:
            return 0

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._sentence(error) from error

    def _sentence(self, error: sqlite3.Error) -> StoreError:
        """The error as one sentence for a person."""
        where = str(self.path) if self.path else ":memory:"
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return StoreError(_damaged(where, str(error)))
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StoreError(
                f"The database {where!r} has been locked by another program for {self._patience:g} s; close it and try again."
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
            return StoreError(_unwritable(where, str(error)))
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and self.path and _no_room(self.path)):
            return StoreError(f"The disk that holds the database {where!r} is full; make room and try again.")
        if self._closing.is_set():
            return StoreError(f"The database {where!r} is closed.")
        return StoreError(f"The database {where!r} did not take a statement: {error}")


def _no_room(path: Path) -> bool:
    """True if nothing more can be written there: SQLite calls it an I/O error where a file beside the database cannot grow."""
    try:
        return os.statvfs(path.parent).f_bavail == 0
    except OSError:
        return False


def _make(path: Path) -> None:
    """Create the file for its owner's eyes only; refuse what is there and no database, untouched."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            head = os.read(handle, 16)
        finally:
            os.close(handle)
    except OSError as error:
        raise StoreError(_unwritable(path, error.strerror or str(error))) from error
    if head and head != b"SQLite format 3\0":
        raise StoreError(_damaged(path, "it does not begin as a SQLite database does"))


def _damaged(path: Path | str, why: str) -> str:
    return (
        f"The database {str(path)!r} is damaged or no database; nothing was changed: move it aside to begin afresh, "
        f"or put a copy of it back: {why}"
    )


def _unwritable(path: Path | str, why: str) -> str:
    return f"The database {str(path)!r} cannot be written; make its folder writable, or set ETUI_HOME to another one: {why}"
