"""What a tool returns to have pictures seen, and what becomes of it: each gets an id, a marker for the person and a receipt for
the model.

Above: `core.images`, `results`. Below: `forms`, `keeping`, the nouns. It refuses to know: where they are kept.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import Any

import msgspec

from etui.contracts import Ran
from etui.contracts.media import LARGEST, picture_type
from etui.contracts.sapphire.images.drawing import for_chat
from etui.contracts.sapphire.images.forms import HANDLE, ImageError, data_of, media_type, new_id
from etui.contracts.sapphire.images.keeping import shown
from etui.contracts.sized import TOGETHER
from etui.outcome import Image

FORMS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What every browser draws, and every model takes that takes images; others become JPEG where they can."""
MANY = 100
"""Images of one result."""


def result(text: str, images: Iterable[object] = (), display_only: bool = False) -> dict[str, Any]:
    """The dict that a tool returns to have these images seen. Raises ImageError for what is no image."""
    given = [images] if isinstance(images, bytes | bytearray | memoryview) else list(images or ())
    return {"text": text, "images": [_entry(one, display_only) for one in given]}


def _entry(image: object, display_only: bool) -> dict[str, Any]:
    if isinstance(image, dict):
        return {**image, "display_only": bool(image.get("display_only", display_only))}
    data = data_of(image)
    try:
        kind = media_type(data)
    except ImageError:
        data, kind = _as_jpeg(data), "image/jpeg"
        if not data:
            raise
    return {
        "data": base64.b64encode(data).decode("ascii"),
        "media_type": kind,
        "display_only": bool(display_only),
    }


class Given:
    """A returned value, taken apart."""

    def __init__(self, value: object) -> None:
        self.images: list[Image] = []
        self.told: list[str] = []
        """A sentence for each image that could not be taken, or not as it was."""
        self.text: object = value
        if isinstance(value, dict) and isinstance(value.get("images"), list | tuple):
            self.text = value.get("text", "")
            for number, entry in enumerate(value["images"], 1):
                self._take(number, entry)

    def _take(self, number: int, entry: object) -> None:
        data = entry.get("data") if isinstance(entry, dict) else None
        if not data or not isinstance(entry, dict):
            return
        try:
            raw = _bytes(data)
            kind = picture_type(raw) or _declared(entry)
            if kind not in FORMS and (jpeg := _as_jpeg(raw)):
                raw, kind = jpeg, "image/jpeg"
            if not kind:
                raise ImageError("it is not an image of a form that is known")
            raw, kind = self._small_enough(number, raw, kind)
        except ImageError as error:
            self.told.append(f"(Image {number} was left out: {error}.)")
            return
        self.images.append(Image(kind, raw, name=new_id(kind), withheld=entry.get("display_only") is True))

    def _small_enough(self, number: int, raw: bytes, kind: str) -> tuple[bytes, str]:
        """The image as it is, or as a smaller one where it is too much for one message. Raises ImageError."""
        try:
            self._fits(raw)
        except ImageError as too_much:
            smaller = _as_jpeg(raw)
            if not smaller:
                raise too_much from None
            self._fits(smaller)
            self.told.append(f"(Image {number} was made smaller: it had {len(raw) / 1e6:.1f} MB.)")
            return smaller, "image/jpeg"
        return raw, kind

    def _fits(self, raw: bytes) -> None:
        """Raises ImageError where it is too much for one message."""
        size = f"it has {len(raw) / 1e6:.1f} MB"
        if len(raw) > LARGEST:
            raise ImageError(f"{size}, and {LARGEST / 1e6:.0f} MB is the most; make it smaller with for_chat")
        if len(raw) + sum(len(image.data) for image in self.images) > TOGETHER:
            most = f"{TOGETHER / 1e6:.0f} MB is the most for all of a result"
            raise ImageError(f"{size}, and {most}; keep it with stash, or make it smaller with for_chat")
        if len(self.images) >= MANY:
            raise ImageError(f"{MANY} images are the most for one result; show many as one contact sheet")


def pictured(ran: Ran, given: Given, call: str) -> Ran:
    """The end of a call with its images, and those that it has kept to be seen, each marked and receipted."""
    images = (*given.images, *shown(call))
    if not images and not given.told:
        return ran
    marks = "".join(f"<<IMG::tool:{image.name}>>\n" for image in images)
    receipts = "".join(f"\n(image {HANDLE}{image.name})" for image in images)
    notes = "".join(f"\n{sentence}" for sentence in given.told)
    for_model = notes + receipts
    text = ran.text.rstrip("\n")
    return msgspec.structs.replace(
        ran,
        images=(*ran.images, *images),
        text=text,
        notes=ran.notes + (for_model if text else for_model.lstrip("\n")),
        shown=marks + (ran.shown or ran.text) + notes,
    )


def _declared(entry: dict[str, Any]) -> str:
    """The media type that the entry says, where it is one of an image that no script can hide in."""
    said = entry.get("media_type")
    kind = said.lower().strip() if isinstance(said, str) else ""
    return kind if kind.startswith("image/") and "svg" not in kind and len(kind) < 40 else ""


def _as_jpeg(raw: bytes) -> bytes:
    """The picture as a JPEG for chats; empty where it cannot be drawn."""
    try:
        return for_chat(raw)
    except ImageError:
        return b""


def _bytes(data: object) -> bytes:
    """The bytes of an entry: base64 text, with or without the head of a data address, or the bytes themselves."""
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    if not isinstance(data, str):
        raise ImageError(f"its data is {type(data).__name__}, not base64 text")
    if data.startswith("data:"):
        data = data.partition(",")[2]
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ImageError("its data is no base64 text") from None
