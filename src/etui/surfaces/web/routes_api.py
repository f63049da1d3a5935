"""Plugins' own routes, as a browser may have them: what they send is shown, played or saved, and never part of the page.

Of their headers only harmless ones pass; nothing that they send may run in the console's origin, be framed by it, or lead it
elsewhere. Above: `api` gives it its path. Below: `front.routes`. It refuses to know: which routes there are.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from etui.front.routes import Answer, Asked, NoAnswer, Rest
from etui.surfaces.web.needs import desk
from etui.surfaces.web.pieces import INLINE
from etui.surfaces.web.replies import Wrong, body, reply

SHOWN = INLINE | {
    "image/svg+xml",
    "text/html",
    "audio/x-wav",
    "audio/wave",
    "audio/flac",
    "audio/x-flac",
    "audio/mp4",
    "audio/aac",
}
"""Types that a browser may show by itself, in a box without scripts; everything else is saved as a file."""
BOXED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; sandbox"
FOR = frozenset({"", "empty", "document", "audio", "video", "image", "track"})
"""What a browser may want an answer for: no script, style, frame or worker."""
TOLD = ("accept", "accept-language", "content-type", "if-modified-since", "if-none-match", "if-range", "range", "user-agent")
"""The headers of a request that a plugin is told; cookies and keys are none of them."""
PASSED = frozenset(
    {
        "accept-ranges",
        "cache-control",
        "content-disposition",
        "content-language",
        "content-length",
        "content-range",
        "content-type",
        "etag",
        "expires",
        "last-modified",
        "retry-after",
    }
)
"""The headers of an answer that pass as they are."""
BARE = frozenset({204, 205, 304})
"""Answers without a body."""
LINE = re.compile(r"[\x20-\x7e\x80-\xff\t]*")
PLAIN = re.compile(r"[A-Za-z0-9_./~!$&'()*+,;=:@?#%-]*")
"""An address that a browser reads as it is written, but for what `%` stands for: it drops a tab, and takes `\\` for `/`."""
LATER = re.compile(r"bytes=(?!0-)\d")


async def ask(request: Request) -> Response:
    """Ask a plugin's route. Raises Wrong with a sentence where it does not answer itself."""
    wanted = request.headers.get("sec-fetch-dest", "")
    if wanted not in FOR:
        raise Wrong(403, f"A plugin's route gives nothing that the browser may use as {wanted!r}.")
    path = request.path_params["path"]
    asked = Asked(
        plugin=request.path_params["plugin"],
        path=path,
        method=request.method,
        query=dict(request.query_params),
        query_string=request.url.query,
        headers={name: request.headers[name] for name in TOLD if name in request.headers},
        body=await body(request) if request.method not in ("GET", "HEAD") else {},
        later=LATER.match(request.headers.get("range", "").strip()) is not None,
    )
    try:
        answer = await desk(request).host.routes.ask(asked)
        if answer.headers is None:
            return reply(answer.value)
        return _sent(request, asked, answer)
    except NoAnswer as error:
        wrong = Wrong(error.status, str(error))
        wrong.headers = {"retry-after": str(error.wait)} if error.wait else None
        raise wrong from None


def _sent(request: Request, asked: Asked, answer: Answer) -> Response:
    status = answer.status
    if not 200 <= status <= 599:
        raise NoAnswer(502, f"The route answered with {status}, which is no end of a request.")
    given = {name.lower(): value for name, value in answer.headers or () if LINE.fullmatch(value)}
    headers = {name: value for name, value in given.items() if name in PASSED}
    headers["content-security-policy"] = BOXED
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in SHOWN and not headers.get("content-disposition", "").lower().startswith("attachment"):
        headers["content-disposition"] = "attachment"
    if 300 <= status < 400 and status != 304:
        headers["location"] = _leading(request, asked, given.get("location", ""))
    length = headers.pop("content-length", "")
    if request.method == "HEAD" or status in BARE:
        if answer.rest is not None:
            answer.rest.close()
        if length.isdecimal() and status not in BARE:
            headers["content-length"] = length
        return Response(None, status, headers)
    if answer.rest is None:
        return Response(answer.first, status, headers)
    if length.isdecimal():
        headers["content-length"] = length
    return _Streamed(answer.first, answer.rest, status, headers)


class _Streamed(StreamingResponse):
    """An answer piece by piece; it ends in the worker as soon as this one is over, however it ended."""

    def __init__(self, first: bytes, rest: Rest, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(_all(first, rest), status, headers)
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. A generator that waits at its `yield` would hear of the end only once it is collected."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._rest.close()


async def _all(first: bytes, rest: Rest) -> AsyncIterator[bytes]:
    if first:
        yield first
    async for piece in rest:
        yield piece


def _leading(request: Request, asked: Asked, to: str) -> str:
    """Where a route leads: to one of the same plugin, or, where a person opened it, to a page of the web. Raises NoAnswer."""
    if to.startswith(f"/api/plugin/{asked.plugin}/") and PLAIN.fullmatch(to) and ".." not in unquote(to):
        return to
    if request.headers.get("sec-fetch-dest") == "document" and to.lower().startswith(("https://", "http://")):
        return to
    raise NoAnswer(502, "The route wants to lead the browser elsewhere, where it may not.")
