"""A result that is too large to travel, made smaller: what ran is never a failure for its size.

Above: the contracts. Below: the nouns. It refuses to know: what a model is shown of it, which is far less.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from etui.contracts import Ran
from etui.outcome import File, Image

WHOLE = 8_000_000
"""Bytes of all that a call gives back."""
LARGEST = 6_000_000
"""Bytes of its texts and data; of larger ones not all is passed on."""
TOGETHER = 7_000_000
"""Bytes of its images, where a contract chooses among them itself."""
_SMALL = 1_000_000
_HALF = LARGEST // 16
"""Characters of the beginning, and of the end, of a text that is cut."""
_BESIDE = 100_000
"""Characters of each text beside the one for the model, where all are too long."""
_NAMED = 10

_Piece = TypeVar("_Piece", Image, File)


def within(ran: Ran) -> Ran:
    """The same where it can travel; else without its data, or the images and files that are too much, and its text says so."""
    size = len(ran.text) + len(ran.shown) + len(ran.notes) + len(ran.why) + len(ran.detail)
    if size <= _SMALL and ran.data is None and not ran.images and not ran.files:
        return ran
    size = _words(ran)
    if size > LARGEST:
        ran = _shorter(ran)
        size = _words(ran)
    return _lighter(ran, WHOLE - size) if ran.images or ran.files else ran


def shortened(text: str) -> str:
    """A text that can travel."""
    return text if _bytes(text) <= LARGEST else _cut(text)


def fitting(pieces: Iterable[_Piece], room: int) -> tuple[_Piece, ...]:
    """Those that go into so many bytes, in their order."""
    kept: list[_Piece] = []
    for piece in pieces:
        if len(piece.data) <= room:
            room -= len(piece.data)
            kept.append(piece)
    return tuple(kept)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _words(ran: Ran) -> int:
    """Bytes of the texts and the data."""
    texts = sum(map(_bytes, (ran.text, ran.shown, ran.notes, ran.why, ran.detail)))
    return texts if ran.data is None else texts + len(msgspec.json.encode(ran.data))


def _shorter(ran: Ran) -> Ran:
    text = ran.text
    if len(text) > 3 * _HALF:
        text = _cut(text)
    elif ran.data is not None:
        text = f"{text}\n[... its data are left out: they are too large ...]"
    return msgspec.structs.replace(
        ran,
        text=text,
        data=None,
        shown=ran.shown[:_BESIDE],
        notes=ran.notes[:_BESIDE],
        why=ran.why[:_BESIDE],
        detail=ran.detail[:_BESIDE],
    )


def _cut(text: str) -> str:
    told = f"\n[... {len(text) - 2 * _HALF:,} characters are left out: the result is too large ...]\n"
    return text[:_HALF] + told + text[-_HALF:]


def _lighter(ran: Ran, room: int) -> Ran:
    images = fitting(ran.images, room)
    files = fitting(ran.files, room - sum(len(image.data) for image in images))
    if len(images) == len(ran.images) and len(files) == len(ran.files):
        return ran
    kept = {id(piece) for piece in (*images, *files)}
    left = [f"image {number}{_size(image)}" for number, image in enumerate(ran.images, 1) if id(image) not in kept]
    left += [f"the file {file.name[:200]!r}{_size(file)}" for file in ran.files if id(file) not in kept]
    told = ", ".join([*left[:_NAMED], *([f"{len(left) - _NAMED} more"] if len(left) > _NAMED else [])])
    told = f"\n(Left out, as a whole result may have {WHOLE // 1_000_000} MB: {told}.)"
    shown = ran.shown + told if ran.shown else ""
    return msgspec.structs.replace(ran, text=ran.text + told, shown=shown, images=images, files=files)


def _size(piece: Image | File) -> str:
    return f" with {len(piece.data) / 1e6:.1f} MB"
