"""Images by their names: kept in a chat at once, handed out again to any tool there, and the newest of a chat.

A call's own chat is meant where none is named; what belongs to no chat is found outside of chats only. Above: the table of
services. Below: `store.images`. It refuses to know: what is in an image, and who drew it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from etui.contracts.media import LARGEST
from etui.errors import ServiceError
from etui.events import Kind
from etui.services.desk import SAPPHIRE, Desk, Family
from etui.store import Store
from etui.store.chats import Message
from etui.store.images import KIND, NAME

AT_ONCE = 500
"""Images that one call may keep."""


class Images:
    """The images that one call keeps and finds."""

    def __init__(self, store: Store, chat: str, call: str, changed: Callable[[str], None]) -> None:
        """`changed` hears of a chat to which something was added outside of its turns."""
        self._store = store
        self._chat = chat
        self._call = call
        self._changed = changed
        self._kept = 0

    async def stash(self, data: str, media_type: str, name: str, chat: str = "", shown: bool = False) -> object:
        """Keep an image, as base64, under a name; `shown` puts it before the person and the model outside of any call."""
        found = self._meant(chat)
        if not NAME.fullmatch(name) or not KIND.fullmatch(media_type):
            raise ServiceError(f"{name!r} of the type {media_type!r} is no image that can be kept.")
        if len(data) > LARGEST * 4 // 3 + 4:
            raise ServiceError(f"An image may have {LARGEST:,} bytes.")
        self._kept += 1
        if self._call and self._kept > AT_ONCE:
            raise ServiceError(f"One call may keep {AT_ONCE} images.")
        if self._store.images.id_of(found, name):
            raise ServiceError(f"There is an image {name!r} already.")
        try:
            raw = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            raise ServiceError("The image is no base64.") from None
        id = self._store.images.keep(raw, media_type, name, found, self._call)
        if shown and found:
            self._store.chats.add(
                Message(chat=found, role="notice", text=f"(image img:{name})", images=(id,), meta={"why": "image"})
            )
            self._changed(found)
        return None

    async def get(self, name: str, chat: str = "") -> object:
        """The bytes, as base64, and the media type; None where the chat has no image of that name."""
        found = self._store.images.find(self._meant(chat), name)
        if found is None:
            return None
        return {"data": base64.b64encode(found.data).decode(), "media_type": found.media_type}

    async def last(self, chat: str = "") -> object:
        """The name of the newest; None where there is none."""
        return self._store.images.last(self._meant(chat)) or None

    def _meant(self, chat: str) -> str:
        """The id of the chat of that name, or of the call's own; no other private one. Raises ServiceError."""
        if not chat:
            return self._chat
        found = self._store.chats.get(self._store.names.find(chat))
        if found is None or (found.private and found.id != self._chat):
            raise ServiceError(f"There is no chat {chat!r}.")
        return found.id


def _made(desk: Desk) -> Images:
    def changed(chat: str) -> None:
        desk.needs.hub.tell(Kind.CHATS_CHANGED, {"chat": chat}, chat=chat)

    return Images(desk.needs.store, desk.session.chat, desk.call.id, changed)


FAMILY = Family(
    _made,
    {"images.stash": Images.stash, "images.get": Images.get, "images.last": Images.last},
    only=SAPPHIRE,
)
