"""What was chosen for one chat: its toolset, the account of each scope, and the like. The choices go with the chat.

Above: `host`. Below: `database`. It refuses to know: what a choice means, and what holds where none was made.
"""

from __future__ import annotations

from etui.errors import StoreError
from etui.store.database import Database
from etui.store.encoding import pack, unpack


class ChatChoices:
    """Values by chat and key."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.changes = 0
        """Goes up with each choice, so that whoever holds what was chosen knows when to look again."""

    def of(self, chat: str) -> dict[str, object]:
        """Everything that was chosen for the chat."""
        rows = self._database.rows("SELECT key, value FROM chat_choices WHERE chat = ?", (chat,))
        return {str(key): unpack(value) for key, value in rows}

    def put(self, chat: str, key: str, value: object) -> None:
        """Choose; None takes the choice back. Raises StoreError if there is no such chat."""
        if value is None:
            self._database.write("DELETE FROM chat_choices WHERE chat = ? AND key = ?", (chat, key))
        elif self._database.row("SELECT 1 FROM chats WHERE id = ?", (chat,)) is None:
            raise StoreError(f"There is no chat {chat!r}; it may have been deleted.")
        else:
            self._database.write("INSERT OR REPLACE INTO chat_choices VALUES (?, ?, ?)", (chat, key, pack(value)))
        self.changes += 1
