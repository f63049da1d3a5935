"""Small named values of the host: switches, grants, remembered answers, taught sentences, cached descriptions.

Above: `registry`, `gate` and `host` keep them here. Below: `database`. It refuses to know: what a space means.
"""

from __future__ import annotations

from etui.store.database import Database
from etui.store.encoding import pack, unpack


class Values:
    """JSON values by space and key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, space: str, key: str) -> object | None:
        """The value, or None where there is none."""
        row = self._database.row("SELECT value FROM named_values WHERE space = ? AND key = ?", (space, key))
        return unpack(row[0]) if row else None

    def put(self, space: str, key: str, value: object) -> None:
        """Keep the value in place of what was there."""
        self._database.write("INSERT OR REPLACE INTO named_values VALUES (?, ?, ?)", (space, key, pack(value)))

    def delete(self, space: str, key: str) -> bool:
        """Forget the value; False if there was none."""
        return self._database.write("DELETE FROM named_values WHERE space = ? AND key = ?", (space, key)) > 0

    def all(self, space: str) -> dict[str, object]:
        """Every value of the space by its key, in the keys' order."""
        rows = self._database.rows("SELECT key, value FROM named_values WHERE space = ? ORDER BY key", (space,))
        return {key: unpack(value) for key, value in rows}
