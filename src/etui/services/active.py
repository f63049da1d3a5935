"""In which chat a plugin is, and what chats are called: plugins know them by their names.

Above: the table of services. Below: the stored chats and their names. It refuses to know: what was said in them.
"""

from __future__ import annotations

from etui.services.desk import SAPPHIRE, Family
from etui.session import Session
from etui.store import Store

MOST = 200
"""Chats that are named."""


class Active:
    """The chats as one plugin sees them."""

    def __init__(self, store: Store, session: Session) -> None:
        self._store = store
        self._session = session

    async def active(self) -> object:
        """The name of the chat of this call; outside of one, of that which was used last; empty where there is none."""
        return self._store.names.of(chat) if (chat := self._chat()) else ""

    async def names(self) -> object:
        """The names of the chats that are not private, the newest first, and of the active one."""
        chats = [chat for chat in self._store.chats.all(MOST) if not chat.private]
        return {"names": [self._store.names.of(chat.id) for chat in chats], "active": await self.active()}

    async def choices(self) -> object:
        """What was chosen for the active chat."""
        return self._store.choices.of(self._chat())

    def _chat(self) -> str:
        if self._session.chat:
            return self._session.chat
        last = next((chat for chat in self._store.chats.all(MOST) if not chat.private), None)
        return last.id if last is not None else ""


FAMILY = Family(
    lambda desk: Active(desk.needs.store, desk.session),
    {"chats.active": Active.active, "chats.names": Active.names, "chats.choices": Active.choices},
    only=SAPPHIRE,
)
