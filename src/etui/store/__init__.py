"""What Etui remembers: one SQLite file, opened once, seen as small stores.

    chats      what was said, and the turns
    names      what plugins call the chats
    choices    what was chosen for a chat
    rows       what plugins keep with a chat
    said       what was said, found again by its words
    journal    every call, written down before it runs if it acts
    state      the plugins' own values, with full-text search
    blobs      images and files
    images     the images among them that have a name, and those outside of chats
    reminders  timers, alarms and reminders, by the wall clock of a named zone
    values     the host's own small values
    tasks      what plugins want said at a time to come

Above: `services`, `agent`, surfaces and `host`. Below: the nouns. It refuses to know: who asks, and whether they may.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from etui.store.blobs import Blobs
from etui.store.chatchoices import ChatChoices
from etui.store.chatnames import ChatNames
from etui.store.chatrows import ChatRows
from etui.store.chats import Chats
from etui.store.database import Database
from etui.store.images import NamedImages
from etui.store.journal import Journal
from etui.store.migrations import migrate
from etui.store.reminders import Reminders
from etui.store.said import Sayings
from etui.store.state import State
from etui.store.tasks import Tasks
from etui.store.values import Values

__all__ = ["Store"]


class Store:
    """The open store. Its methods are quick and may be called from any thread and from several processes at once."""

    def __init__(self, database: Database, clock: Callable[[], float], images: Path | None) -> None:
        """Use `Store.open`."""
        self._database = database
        self.chats = Chats(database, clock)
        self.names = ChatNames(database)
        self.choices = ChatChoices(database)
        self.rows = ChatRows(database, clock)
        self.said = Sayings(database)
        self.journal = Journal(database, clock)
        self.state = State(database)
        self.blobs = Blobs(database, clock)
        self.images = NamedImages(self.blobs, images)
        self.reminders = Reminders(database, clock)
        self.values = Values(database)
        self.tasks = Tasks(self.values)

    @classmethod
    def open(cls, path: Path | str, clock: Callable[[], float] = time.time, images: Path | None = None) -> Store:
        """Open or create the database and bring it to today's shape; `:memory:` is one that nobody keeps.

        `images` is the folder for images outside of chats.
        Raises StoreError with a sentence for what is damaged, newer, another program's or not writable, and leaves it alone.
        """
        database = Database(None if str(path) == ":memory:" else Path(path).absolute())
        try:
            migrate(database, clock())
        except BaseException:
            database.close()
            raise
        return cls(database, clock, images)

    def close(self) -> None:
        """Write everything home and let go of the file; a second time does nothing."""
        self._database.close()
