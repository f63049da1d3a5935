"""What an image is to the rest: bytes whose beginning tells the form, an id, and the one error with a readable text.

Above: every other module of this package. Below: `contracts.media`. It refuses to know: Pillow, and where images are kept.
"""

from __future__ import annotations

import re
import secrets

from etui.contracts.media import LARGEST, picture_type

ID = re.compile(r"[0-9a-f]{12}\.(?:jpg|png)")
HANDLE = "img:"


class ImageError(ValueError):
    """Something cannot be had as an image; the text says what and why, for a person."""


def media_type(raw: object) -> str:
    """The media type of an image's bytes. Raises ImageError for what is none."""
    found = picture_type(data_of(raw))
    if not found:
        raise ImageError(f"These {len(data_of(raw)):,} bytes are not an image of a form that is known.")
    return found


def new_id(media_type: str) -> str:
    """An id that nothing has yet: 12 hexadecimal digits, and an ending."""
    return f"{secrets.token_hex(6)}.{'png' if 'png' in str(media_type).lower() else 'jpg'}"


def data_of(raw: object) -> bytes:
    """The bytes themselves. Raises ImageError for what is none."""
    if isinstance(raw, bytes):
        return raw
    if isinstance(raw, bytearray | memoryview):
        return bytes(raw)
    raise ImageError(f"An image is given as its bytes, not as {type(raw).__name__}.")


def small_enough(data: bytes, what: str) -> None:
    """Raises ImageError for what is too large to be kept."""
    if len(data) > LARGEST:
        raise ImageError(
            f"{what} has {len(data) / 1e6:.1f} MB, and {LARGEST / 1e6:.0f} MB is the most that can be kept: "
            "make it smaller with for_chat."
        )
