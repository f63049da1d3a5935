"""What was said in chats, without those that are private.

Above: the table of services. Below: `store.said`. It refuses to know: why somebody wants to know.
"""

from __future__ import annotations

import asyncio

import msgspec

from etui.services.desk import Family
from etui.services.texts import text_of
from etui.store.said import Sayings

QUERY = 500
"""Characters of a search that are looked for."""


class Chats:
    """The chats as one call may look into them."""

    def __init__(self, said: Sayings, turn: str) -> None:
        """`turn` is the one that the call is part of."""
        self._said = said
        self._turn = turn

    async def search(self, query: str, limit: int = 5) -> object:
        """What was said in chats that are not private, in earlier turns than this one."""
        words = text_of(query, QUERY)
        found = await asyncio.to_thread(self._said.search, words, limit, without=self._turn)
        return [msgspec.to_builtins(one) for one in found]

    async def recent(self, chat: str, limit: int = 20) -> object:
        """What was said last in a chat; nothing of a private one."""
        return [msgspec.to_builtins(one) for one in self._said.recent(chat, limit)]

    async def count(self) -> object:
        """How many things were said in chats that are not private."""
        return self._said.count()

    async def list(self, limit: int = 20) -> object:
        """The chats that are not private, the newest first."""
        return [msgspec.to_builtins(one) for one in self._said.chats(limit)]


FAMILY = Family(
    lambda desk: Chats(desk.needs.store.said, desk.call.turn),
    {"chats.search": Chats.search, "chats.recent": Chats.recent, "chats.count": Chats.count, "chats.list": Chats.list},
)
