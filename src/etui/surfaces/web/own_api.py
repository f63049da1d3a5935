"""What tools ask of this host over HTTP with a key of their own: which tools there are, the active chat, what was said in it.

It is read from the desk of the key's plugin, so a key opens nothing that its plugin may not ask for anyway. Above: `guard` lets
keys in here and nowhere else, `api` gives each function its path. Below: `services.keys`. It refuses to know: sessions.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from etui.errors import ServiceError
from etui.services.keys import Holder
from etui.surfaces.web.needs import desk
from etui.surfaces.web.replies import Wrong, reply

SAID = 50
"""Messages that are told."""
NOWHERE = "Etui has nothing of this kind: it has no prompts to switch, and the browser speaks."


async def functions(request: Request) -> Response:
    """Every tool that is on, by module, each with whether a model is offered it in this chat."""
    holder = _holder(request)
    there: Any = await _ask(holder, "functions.all")
    offered: Any = await _ask(holder, "functions.enabled")
    modules: dict[str, Any] = {}
    for name, told in there.items():
        module = modules.setdefault(told["module"], {"functions": [], "count": 0, "emoji": told["emoji"]})
        row = {"name": name, "description": told["description"], "enabled": name in offered, "is_network": told["network"]}
        module["functions"].append(row)
        module["count"] += 1
    return reply({"modules": modules})


async def toolset(request: Request) -> Response:
    """The toolset of this chat, and the tools that a model is offered in it."""
    holder = _holder(request)
    offered: Any = await _ask(holder, "functions.enabled")
    chosen: Any = await _ask(holder, "chats.choices")
    name = chosen.get("toolset") or "all"
    return reply(
        {
            "name": name if isinstance(name, str) else "custom",
            "type": "user",
            "function_count": len(offered),
            "enabled_functions": offered,
        }
    )


async def active(request: Request) -> Response:
    """The name of this chat."""
    return reply({"active_chat": await _ask(_holder(request), "chats.active")})


async def history(request: Request) -> Response:
    """What was said last in this chat; nothing of a private one."""
    holder = _holder(request)
    said: Any = await _ask(holder, "chats.recent", chat=holder.chat, limit=SAID) if holder.chat else []
    return reply({"messages": [{"role": one["role"], "content": one["text"], "timestamp": one["at"]} for one in said]})


async def nowhere(request: Request) -> Response:
    """What there is not."""
    _holder(request)
    raise Wrong(404, NOWHERE)


TABLE = {
    "/api/functions": functions,
    "/api/toolsets/current": toolset,
    "/api/chats/active": active,
    "/api/history/messages": history,
    "/api/prompts": nowhere,
    "/api/tts/voices": nowhere,
}
"""Everything that a key opens."""


def _holder(request: Request) -> Holder:
    holder = request.scope.get("etui.holder")
    if not isinstance(holder, Holder):
        raise Wrong(403, "This address is for tools, which ask with a key of their own.")
    host = desk(request).host
    plugin = next((one for one in host.plugins.all() if one.name == holder.plugin), None)
    if plugin is None or plugin.family in host.tools.off():
        raise Wrong(403, f"The plugin {holder.plugin!r} is not on, so its key opens nothing.")
    return holder


async def _ask(holder: Holder, service: str, **arguments: object) -> object:
    try:
        return await holder.serve(service, dict(arguments))
    except ServiceError as error:
        raise Wrong(403, str(error)) from None
