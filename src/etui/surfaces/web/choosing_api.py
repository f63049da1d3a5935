"""Toolsets and what chats choose: the picker, the saved toolsets, the tools and accounts of one chat.

Above: `api` gives each function its path. Below: `needs`, `replies`. It refuses to know: what a choice leads to.
"""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from etui.errors import UsageError
from etui.surfaces.web.chats_api import find_chat
from etui.surfaces.web.needs import desk
from etui.surfaces.web.replies import Wrong, body, reply, text_of


async def toolsets(request: Request) -> Response:
    """Every tool under its heading, and the saved toolsets."""
    choosing = desk(request).host.choosing
    return reply(
        {
            "groups": msgspec.to_builtins(choosing.groups()),
            "toolsets": msgspec.to_builtins(choosing.toolsets()),
            "trouble": choosing.trouble(),
        }
    )


async def save(request: Request) -> Response:
    """Save a toolset."""
    given = await body(request)
    functions = given.get("functions")
    if not isinstance(functions, list) or not all(isinstance(one, str) for one in functions):
        raise Wrong(400, "'functions' must be a list of names.")
    emoji = text_of(given, "emoji", needed=False, most=16)
    return reply(msgspec.to_builtins(desk(request).host.choosing.save(request.path_params["toolset"], functions, emoji)))


async def remove(request: Request) -> Response:
    """Forget a saved toolset."""
    name = request.path_params["toolset"]
    if not desk(request).host.choosing.remove(name):
        raise Wrong(404, f"There is no saved toolset {name!r} that is yours to remove.")
    return reply({"removed": name})


async def choices(request: Request) -> Response:
    """What a chat has chosen."""
    at = desk(request)
    return reply(msgspec.to_builtins(at.host.choosing.of(find_chat(at, request.path_params["chat"]).id)))


async def choose(request: Request) -> Response:
    """Choose one thing for a chat; null takes it back."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    given = await body(request)
    key = text_of(given, "key", most=100)
    if "value" not in given:
        raise UsageError("Say a 'value'; null takes the choice back.")
    at.host.choosing.choose(chat.id, key, given["value"])
    return reply(msgspec.to_builtins(at.host.choosing.of(chat.id)))
