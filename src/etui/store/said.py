"""What was said in chats that are not private, found again by its words: what tools may search.

There is no index: what is deleted is gone at once, and a chat costs nothing more to keep. So a search looks at the newest
`REACH` messages, which takes some hundredths of a second, and is asked from a thread. Above: `services`. Below: `database`.
It refuses to know: who asks. Only what persons and models said counts, never what tools gave.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import msgspec

from etui.store.database import Database

REACH = 50_000
"""How many messages, the newest first, a search looks at."""
MOST = 100
"""How many things are given at once."""
_TERM = re.compile(r'"([^"]*)"\s*(\*?)|(\S+)')
_WORD = re.compile(r"[^\W_]+")
_OPEN = "role IN ('user', 'assistant') AND text <> '' AND chats.private = 0"
_FROM = "messages JOIN chats ON chats.id = messages.chat"


class Said(msgspec.Struct, frozen=True):
    """One thing that was said."""

    chat: str
    role: str
    """`user` or `assistant`."""
    text: str
    at: float
    """Seconds since the epoch."""
    created: float
    """When its chat began."""


class Heard(msgspec.Struct, frozen=True):
    """One chat as an overview shows it."""

    id: str
    created: float
    count: int
    first: str
    """What was said first."""


class Sayings:
    """What was said, over all chats that are not private."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(self, query: str, limit: int = 5, *, without: str = "") -> list[Said]:
        """What has every word of the query, the newest first, but nothing of the turn `without`.

        The query may be written as for SQLite's FTS5: words in quotes, `*` for any ending, `OR` between words. Capitals and
        accents make no difference.
        """
        wanted = _wanted(query)
        if not wanted:
            return []
        rows = self._database.rows(
            f"SELECT chat, role, text, at, created FROM {_FROM} WHERE {_OPEN} AND turn <> ? ORDER BY messages.id DESC LIMIT ?",
            (without or "-", REACH),
        )
        fits = (Said(*row) for row in rows if _fits(wanted, row[2]))
        return [said for said, _ in zip(fits, range(_most(limit)), strict=False)]

    def recent(self, chat: str, limit: int = 20) -> list[Said]:
        """What was said last in that chat, oldest first; nothing of a private one."""
        rows = self._database.rows(
            f"SELECT chat, role, text, at, created FROM {_FROM} WHERE {_OPEN} AND chat = ? ORDER BY messages.id DESC LIMIT ?",
            (chat, _most(limit)),
        )
        return [Said(*row) for row in reversed(rows)]

    def count(self) -> int:
        """How many things were said."""
        row = self._database.row(f"SELECT count(*) FROM {_FROM} WHERE {_OPEN}")
        return int(row[0]) if row else 0

    def chats(self, limit: int = 20) -> list[Heard]:
        """The chats in which something was said, the newest first."""
        rows = self._database.rows(
            f"""SELECT chat, created, count, (SELECT text FROM messages WHERE id = first) FROM
            (SELECT chat, created, count(*) AS count, min(messages.id) AS first FROM {_FROM} WHERE {_OPEN} GROUP BY chat)
            ORDER BY created DESC, first DESC LIMIT ?""",
            (_most(limit),),
        )
        return [Heard(*row) for row in rows]


def _most(limit: int) -> int:
    return max(0, min(limit, MOST))


def _wanted(query: str) -> list[list[tuple[tuple[str, ...], bool]]]:
    """What must be there: groups of which one must fit, each of words in a row, the last perhaps with any ending."""
    groups: list[list[tuple[tuple[str, ...], bool]]] = []
    either = False
    for quoted, star, bare in _TERM.findall(query):
        if bare in ("OR", "AND", "NOT"):
            either = bare == "OR"
            continue
        row = tuple(_words(quoted or bare))
        if not row:
            continue
        one = (row, bool(star) or bare.endswith("*"))
        if either and groups:
            groups[-1].append(one)
        else:
            groups.append([one])
        either = False
    return groups


def _words(text: str) -> Iterator[str]:
    bare = text.casefold()
    if not bare.isascii():
        bare = "".join(char for char in unicodedata.normalize("NFD", bare) if not unicodedata.combining(char))
    return (found[0] for found in _WORD.finditer(bare))


def _fits(wanted: list[list[tuple[tuple[str, ...], bool]]], text: str) -> bool:
    said = tuple(_words(text))
    return all(any(_has(said, row, open_ended) for row, open_ended in group) for group in wanted)


def _has(said: tuple[str, ...], row: tuple[str, ...], open_ended: bool) -> bool:
    """Whether these words stand there in a row."""
    size = len(row)
    for at in range(len(said) - size + 1):
        if said[at : at + size - 1] == row[:-1]:
            last = said[at + size - 1]
            if last == row[-1] or (open_ended and last.startswith(row[-1])):
                return True
    return False
