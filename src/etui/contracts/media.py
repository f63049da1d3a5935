"""The pictures and files in a result, taken out of it as bytes, and text that can always be encoded.

Above: the contracts. Below: the nouns. It refuses to know: what else a result holds.
"""

from __future__ import annotations

import base64
import binascii
import mimetypes
import os
import re
from pathlib import Path, PurePath

from etui.outcome import File, Image

_DATA_URI = re.compile(r"data:([a-z]+/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=\s]+)\Z", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"GIF87a", "image/gif", "gif"),
    (b"GIF89a", "image/gif", "gif"),
    (b"BM", "image/bmp", "bmp"),
)


class Unusable(Exception):
    """The result cannot be passed on; the text is a sentence's end that says why."""


def clean(text: str) -> str:
    """The text, as `str` itself, with halves of characters joined where they are a pair, else replaced."""
    if type(text) is not str:
        text = str.__str__(text)
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def repr_of(error: BaseException) -> str:
    """The kind and the text of an error whose own text may not work."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # a foreign __str__
        return type(error).__name__


class Media:
    """The images and files of one result, taken out of it in their order."""

    def __init__(self) -> None:
        self.images: list[Image] = []
        self.files: list[File] = []

    def add_bytes(self, data: bytes, media_type: str = "") -> str:
        """Take bytes out as an image or a file; returns the words that stand in their place."""
        picture = _picture(data)
        if picture or media_type.startswith("image/"):
            self.images.append(Image(picture[0] if picture else media_type, data))
            return f"(image {len(self.images)})"
        self.files.append(File(f"result-{len(self.files) + 1}.bin", media_type or "application/octet-stream", data))
        return f"(file {self.files[-1].name!r})"

    def add_image(self, image: object) -> None:
        if isinstance(image, Image):
            self.images.append(image)
            return
        data, media_type = _bytes_of(image)
        picture = _picture(data)
        if picture is None and not media_type.startswith("image/"):
            raise Unusable("one of its images is in no format that is known")
        self.images.append(Image(picture[0] if picture else media_type, data))

    def add_file(self, file: object) -> None:
        if isinstance(file, File):
            self.files.append(file)
            return
        name = ""
        if isinstance(file, tuple | list) and len(file) == 2:
            name, file = str(file[0]), file[1]
        elif isinstance(file, str | PurePath) and not str(file).startswith("data:"):
            name, file = Path(file).name, Path(file)
        if isinstance(file, str) and not file.startswith("data:"):
            file = file.encode("utf-8", "replace")
        data, media_type = _bytes_of(file)
        name = name or f"result-{len(self.files) + 1}"
        media_type = media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.files.append(File(clean(name), media_type, data))

    def listed(self) -> str:
        """What was taken out, in words."""
        words = [f"{len(self.images)} image{'s' * (len(self.images) > 1)}"] if self.images else []
        words += [f"the file {file.name!r}" for file in self.files]
        return f"({', '.join(words)})" if words else ""


def _bytes_of(value: object) -> tuple[bytes, str]:
    """The bytes of an image or file, and its media type where it says so."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value), ""
    if isinstance(value, str) and (found := data_uri(value)):
        return found[1], found[0]
    if isinstance(value, str | os.PathLike):
        try:
            return Path(value).read_bytes(), mimetypes.guess_type(os.fspath(value))[0] or ""
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise Unusable(f"a file that it names cannot be read ({why})") from error
    raise Unusable(f"{type(value).__name__!r} is neither bytes nor a file")


def data_uri(text: str) -> tuple[str, bytes] | None:
    match = _DATA_URI.match(text)
    if match is None:
        return None
    try:
        return match[1].lower(), base64.b64decode(match[2], validate=False)
    except (binascii.Error, ValueError):
        return None


LARGEST = 6_000_000
"""Bytes of an image that can be handed over by its name, as text in one message between host and worker."""


def picture_type(data: bytes) -> str:
    """The media type of bytes that begin as an image does, in the forms that are met; empty for anything else."""
    if found := _picture(data):
        return found[0]
    if len(data) > 16:
        if data[:4] in (b"II*\x00", b"MM\x00*"):
            return "image/tiff"
        if data[4:8] == b"ftyp":
            return {b"avif": "image/avif", b"avis": "image/avif", b"heic": "image/heic", b"heix": "image/heic"}.get(
                data[8:12], "image/heif" if data[8:12] in (b"mif1", b"msf1") else ""
            )
    return ""


def _picture(data: bytes) -> tuple[str, str] | None:
    """Media type and ending of bytes that begin as a picture does."""
    for start, media_type, ending in _PICTURES:
        if data.startswith(start) and len(data) > 8:
            return media_type, ending
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp", "webp"
    return None
