"""Each plugin's own values by key, with versions for atomic updates and a full-text index over what is text.

The index changes in the transaction that changes the value. A version never comes twice for a key, deleted and made anew or
not, so that compare-and-swap cannot be fooled. Above: `services` serves it to tools. Below: `database`.
It refuses to know: which plugin may see what; its callers name the plugin.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
import unicodedata

from etui.store.database import Database, run
from etui.store.encoding import clean, pack, unpack

_MARK = """INSERT INTO state_marks SELECT ?1, max(version) FROM state WHERE plugin = ?1 AND {which} HAVING count(*)
    ON CONFLICT (plugin) DO UPDATE SET version = max(version, excluded.version)"""
_STARTS = "substr(CAST({column} AS BLOB), 1, length(CAST(?2 AS BLOB))) = CAST(?2 AS BLOB)"
_MATCH = f"""SELECT key, value, title, body
    FROM state_text JOIN state ON state.id = state_text.rowid
    WHERE state_text MATCH ?1 AND {_STARTS.format(column="key")} AND plugin = ?3
    ORDER BY bm25(state_text, 4.0, 1.0), state.id DESC LIMIT ?4"""
_CONTAIN = f"""SELECT key, value, title, body FROM state_text JOIN state ON state.id = state_text.rowid
    WHERE plugin = ?1 AND {_STARTS.format(column="key")} ORDER BY state.id DESC"""
_PART = re.compile(r"[^\W_]+")
WORDS = 32
"""How many words of a search count."""
REACH = 60
"""Characters that a snippet shows on either side of what was found."""


class State:
    """Values by plugin and key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, plugin: str, key: str) -> tuple[object, int] | None:
        """The value and its version, or None where there is none."""
        row = self._database.row("SELECT value, version FROM state WHERE plugin = ? AND key = ?", (plugin, key))
        return (unpack(row[0]), row[1]) if row else None

    def put(self, plugin: str, key: str, value: object) -> int:
        """Keep the value in place of what was there, and give its version."""
        with self._database.change() as connection:
            return _put(connection, plugin, key, value)

    def swap(self, plugin: str, key: str, value: object, version: int) -> bool:
        """Keep the value if the version is still this one, where 0 stands for no value; False, and no change, if it is not."""
        with self._database.change() as connection:
            row = run(connection, "SELECT version FROM state WHERE plugin = ? AND key = ?", (plugin, key)).fetchone()
            if (row[0] if row else 0) != version:
                return False
            _put(connection, plugin, key, value)
        return True

    def delete(self, plugin: str, key: str) -> bool:
        """Forget the value; False if there was none."""
        with self._database.change() as connection:
            run(connection, _MARK.format(which="key = ?2"), (plugin, key))
            run(
                connection,
                "DELETE FROM state_text WHERE rowid = (SELECT id FROM state WHERE plugin = ? AND key = ?)",
                (plugin, key),
            )
            return run(connection, "DELETE FROM state WHERE plugin = ? AND key = ?", (plugin, key)).rowcount > 0

    def keys(self, plugin: str, prefix: str = "") -> list[str]:
        """The keys that begin with the prefix, sorted."""
        rows = self._database.rows(
            f"SELECT key FROM state WHERE plugin = ?1 AND key >= ?2 AND {_STARTS.format(column='key')} ORDER BY key",
            (plugin, prefix),
        )
        return [row[0] for row in rows]

    def clear(self, plugin: str) -> None:
        """Forget everything of the plugin."""
        with self._database.change() as connection:
            run(connection, _MARK.format(which="true"), (plugin,))
            run(connection, "DELETE FROM state_text WHERE rowid IN (SELECT id FROM state WHERE plugin = ?)", (plugin,))
            run(connection, "DELETE FROM state WHERE plugin = ?", (plugin,))

    def search(self, plugin: str, prefix: str, query: str, limit: int = 20) -> list[tuple[str, object, str]]:
        """Key, value and a snippet of each text that has all the words, or words that begin with them; the best first.

        Searched are strings, and the `title` and `text` of objects. Where no word fits, a text that holds the query as it
        stands is found, which is what emoji and scripts without spaces need. Any query may be typed; an empty one finds none.
        """
        query = clean(query).replace("\0", " ").strip()
        if not query or limit < 1:
            return []
        words = {word.casefold(): word for word in query.split() if any(map(str.isalnum, word))}
        if words:
            match = " ".join('"' + word.replace('"', '""') + '"*' for word in itertools.islice(words.values(), WORDS))
            if rows := self._database.rows(_MATCH, (match, prefix, plugin, limit)):
                parts = tuple(_bare(part) for part in _PART.findall(" ".join(words.values())))
                return [(key, unpack(value), _snippet(title, body, parts)) for key, value, title, body in rows]
        return self._containing(plugin, prefix, query.casefold(), limit)

    def _containing(self, plugin: str, prefix: str, query: str, limit: int) -> list[tuple[str, object, str]]:
        found: list[tuple[str, object, str]] = []
        for key, value, title, body in self._database.rows(_CONTAIN, (plugin, prefix)):
            text = next((text for text in (title, body) if query in text.casefold()), None)
            if text is not None:
                at = max(text.casefold().find(query), 0)
                found.append((key, unpack(value), _around(text, at, at + len(query))))
            if len(found) == limit:
                break
        return found


def _put(connection: sqlite3.Connection, plugin: str, key: str, value: object) -> int:
    packed = pack(value)
    # A fresh key begins above every version that the plugin's deleted keys have had.
    id, version = run(
        connection,
        """INSERT INTO state (plugin, key, value, version)
           VALUES (?1, ?2, ?3, 1 + coalesce((SELECT version FROM state_marks WHERE plugin = ?1), 0))
           ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value, version = version + 1
           RETURNING id, version""",
        (plugin, key, packed),
    ).fetchone()
    run(connection, "DELETE FROM state_text WHERE rowid = ?", (id,))
    if text := _text(value):
        run(connection, "INSERT INTO state_text (rowid, title, body) VALUES (?, ?, ?)", (id, *text))
    return int(version)


def _text(value: object) -> tuple[str, str] | None:
    """The title and the body of a value that can be searched, or None."""
    if isinstance(value, str):
        return "", value
    if not isinstance(value, dict):
        return None
    title, body = value.get("title"), value.get("text")
    if not isinstance(title, str) and not isinstance(body, str):
        return None
    return title if isinstance(title, str) else "", body if isinstance(body, str) else ""


def _snippet(title: str, body: str, parts: tuple[str, ...]) -> str:
    """The part of the body, or else of the title, around the first word that begins with one of the parts.

    FTS5 has a function for this, which takes minutes for a long text that says the same word again and again.
    """
    for text in (body, title):
        for found in _PART.finditer(text):
            if _bare(found[0]).startswith(parts):
                return _around(text, found.start(), found.end())
    return _around(body or title, 0, 0)


def _bare(word: str) -> str:
    """The word without case and accents, much as the index has it."""
    if word.isascii():
        return word.lower()
    return "".join(char for char in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(char))


def _around(text: str, start: int, end: int) -> str:
    """The text from a little before `start` to a little after `end`."""
    start, end = max(start - REACH, 0), min(end + REACH, len(text))
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
