"""Bytes that tools gave, as a browser may have them: an image shown, anything doubtful saved, and parts of it for players.

Above: the routes that give images and files. Below: the store's blobs. It refuses to know: whose they are.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from etui.store.blobs import Blob

INLINE = frozenset(
    f"{kind}/{name}"
    for kind, names in {
        "image": "png jpeg gif webp avif bmp",
        "audio": "mpeg ogg wav webm",
        "video": "mp4 webm",
        "text": "plain",
        "application": "json",
    }.items()
    for name in names.split()
)
"""Types that a browser may show by itself; everything else is saved as a file."""
TYPE = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
FOREVER = "private, max-age=31536000, immutable"
"""For what is named by its own hash."""


def sent(request: Request, found: Blob, caching: str = FOREVER) -> Response:
    """A blob, whole or a range of its bytes."""
    media_type = found.media_type if TYPE.fullmatch(found.media_type) else "application/octet-stream"
    inline = media_type in INLINE
    name = quote(found.name or "file", safe="", errors="replace")
    headers = {
        "content-type": f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type,
        "content-disposition": f"{'inline' if inline else 'attachment'}; filename*=utf-8''{name}",
        "content-security-policy": "default-src 'none'; sandbox",
        "accept-ranges": "bytes",
        "cache-control": caching,
    }
    span = _span(request.headers.get("range", ""), len(found.data))
    if span is None:
        return Response(found.data, 200, headers)
    start, end = span
    if start >= end:
        return Response(b"", 416, {**headers, "content-range": f"bytes */{len(found.data)}"})
    return Response(found.data[start:end], 206, {**headers, "content-range": f"bytes {start}-{end - 1}/{len(found.data)}"})


def _span(header: str, size: int) -> tuple[int, int] | None:
    """The bytes that are asked for, end excluded; None for all of them, an empty span for what is not there."""
    match = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        return (max(0, size - int(last)), size) if int(last) else (0, 0)
    return int(first), min(size, int(last) + 1) if last else size
