"""The owner's PIN, and the keys of a telephone. The digits come in a request's body, which nothing writes down.

Above: `api` gives each function its path. Below: `needs`. It refuses to know: how a PIN is kept and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from etui.surfaces.web.chats_api import find_chat
from etui.surfaces.web.needs import desk
from etui.surfaces.web.replies import body, reply, text_of

if TYPE_CHECKING:
    from etui.owner.pin import Pins


async def pin(request: Request) -> Response:
    """Whether one is set, and until when none is taken."""
    return reply(_row(desk(request).host.entrance.pins))


async def set_pin(request: Request) -> Response:
    """Set another one."""
    pins = desk(request).host.entrance.pins
    await pins.set(text_of(await body(request), "pin", most=100))
    return reply(_row(pins))


async def clear_pin(request: Request) -> Response:
    """Have none from now on."""
    pins = desk(request).host.entrance.pins
    pins.clear()
    return reply(_row(pins))


async def key(request: Request) -> Response:
    """A key was pressed in the session of a chat on one channel; `status` says what became of the PIN, once it was whole."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    given = await body(request)
    channel = text_of(given, "channel", needed=False, most=40) or "phone"
    session = at.host.sessions.of(chat.id, channel)
    return reply({"status": await at.host.entrance.key(session, text_of(given, "key", most=10))})


def _row(pins: Pins) -> dict[str, object]:
    return {"set": pins.is_set, "locked_until": pins.locked_until}
