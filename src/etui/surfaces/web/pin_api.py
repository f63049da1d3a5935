"""The owner's PIN, and the keys of a telephone. The digits come in a request's body, which nothing writes down.

Above: `api` gives each function its path. Below: `needs`. It refuses to know: how a PIN is kept and compared.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from etui.surfaces.web.chats_api import find_chat
from etui.surfaces.web.needs import desk
from etui.surfaces.web.replies import body, reply, text_of


async def pin(request: Request) -> Response:
    """Whether one is set, and until when none is taken."""
    return reply(desk(request).host.pin())


async def set_pin(request: Request) -> Response:
    """Set another one."""
    host = desk(request).host
    await host.set_pin(text_of(await body(request), "pin", most=100))
    return reply(host.pin())


async def clear_pin(request: Request) -> Response:
    """Have none from now on."""
    host = desk(request).host
    await host.set_pin("")
    return reply(host.pin())


async def key(request: Request) -> Response:
    """A key was pressed in the session of a chat on one channel; `status` says what became of the PIN, once it was whole."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    given = await body(request)
    channel = text_of(given, "channel", needed=False, most=40) or "phone"
    return reply({"status": await at.host.press(chat.id, channel, text_of(given, "key", most=10))})
