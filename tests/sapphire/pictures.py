"""Pictures for the tests, made without Pillow, and plugins that make, keep and look at some.

`lab` runs the code that it is given beside `core.images`, and gives `out`: what the code says must be JSON, or a tool's result.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

from tests.sapphire.homes import tool

LAB = tool(
    "lab",
    head="""
    import base64, io, json, os, threading, time
    from pathlib import Path
    from core import images as ci

    resolve = ci.resolve  # else it would be seen nowhere that this file uses the network


    def drawn(size=(100, 50), colour=(200, 30, 30), form="PNG", mode="RGB", **more):
        from PIL import Image
        made = io.BytesIO()
        Image.new(mode, size, colour).save(made, form, **more)
        return made.getvalue()


    def seen(raw):
        from PIL import Image
        return Image.open(io.BytesIO(raw))


    def at(picture, x, y):
        return list(picture.getpixel((x, y)))


    def said(function, *args, **kwargs):
        try:
            function(*args, **kwargs)
        except ci.ImageError as error:
            return str(error)
        return "no error"
    """,
    body="""
    names = dict(globals(), arguments=arguments)
    exec(arguments["code"], names)
    out = names["out"]
    return out if isinstance(out, tuple) else (json.dumps(out), True)
    """,
    properties={"code": {"type": "string"}, "raw": {"type": "string"}},
    writes=False,
)
LOOK = tool(
    "look",
    head="from core import images as ci",
    body="""
    try:
        found = ci.resolve(arguments.get("image_id"))
    except ci.ImageError as error:
        return f"I could not look: {error}.", False
    return ci.result(f"This is {found.label}, of {found.size} bytes.", [found.data]), True
    """,
    properties={"image_id": {"type": "string"}},
)
"""A viewing tool of another plugin, as the model is told of by a handle."""


def png(width: int = 8, height: int = 8, colour: tuple[int, int, int] = (200, 40, 40)) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def text(raw: bytes) -> str:
    """As a tool gets it by its arguments."""
    return base64.b64encode(raw).decode()


def bytes_of(room: Any, image: str) -> bytes:
    """What the store holds under an id."""
    blob = room.host.store.blobs.get(image)
    assert blob is not None
    return bytes(blob.data)
