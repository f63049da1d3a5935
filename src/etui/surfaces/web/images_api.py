"""Images: by the store's id, by the name under which a chat knows them, and those of the web, fetched here.

Above: `api` gives each function its path. Below: `pieces`, the host's store, and what is in front for the web.
It refuses to know: how a page draws them.
"""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import Response

from etui.store.blobs import Blob
from etui.surfaces.web.chats_api import find_chat
from etui.surfaces.web.needs import desk
from etui.surfaces.web.pieces import sent
from etui.surfaces.web.replies import Wrong

GONE = "This image or file is not kept (any more)."
ASKED = re.compile(r"(?:.*&)?u=([^&]*)")
A_DAY = "private, max-age=86400"


async def blob(request: Request) -> Response:
    """An image or a file, whole or a range of its bytes."""
    found = desk(request).host.store.blobs.get(request.path_params["blob"])
    if found is None:
        raise Wrong(404, GONE)
    return sent(request, found)


async def of_chat(request: Request) -> Response:
    """An image by its name in a chat, which goes with the chat."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    return _named(request, at.host.store.images.find(chat.id, request.path_params["name"]))


async def of_no_chat(request: Request) -> Response:
    """An image by its name that came from outside of any chat."""
    return _named(request, desk(request).host.store.images.find("", request.path_params["name"]))


async def outside(request: Request) -> Response:
    """An image of the web that the result of a call names."""
    written = ASKED.match(request.url.query)
    call = request.query_params.get("call", "")
    found = await desk(request).host.outside.image(call, written[1] if written else "")
    return sent(request, Blob(id="", data=found.data, media_type=found.media_type, name="image"), A_DAY)


def _named(request: Request, found: Blob | None) -> Response:
    if found is None:
        raise Wrong(404, GONE)
    return sent(request, found, "private, no-cache")
