"""The plugins with a root, for their owner: the form of their settings, reading them anew, other names, off the disk.

Above: `api` gives each function its path. Below: `needs`, `replies`. It refuses to know: where settings are kept; what is
secret goes in and never comes out.
"""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from etui.surfaces.web.needs import desk
from etui.surfaces.web.replies import Wrong, body, reply, text_of

MOST = 500
"""Settings in one request."""


async def settings(request: Request) -> Response:
    """The form: its rows, the values, and which secrets were given."""
    return reply(desk(request).host.installed.form(request.path_params["plugin"]))


async def save(request: Request) -> Response:
    """Keep some values over those that there are."""
    values = (await body(request)).get("values")
    if not isinstance(values, dict) or len(values) > MOST:
        raise Wrong(400, "'values' must be an object of settings.")
    return reply(await desk(request).host.installed.save(request.path_params["plugin"], values))


async def reset(request: Request) -> Response:
    """Back to the defaults."""
    return reply(await desk(request).host.installed.reset(request.path_params["plugin"]))


async def reload(request: Request) -> Response:
    """Read it anew and run it afresh."""
    return reply({"loaded": await desk(request).host.installed.reload(request.path_params["plugin"])})


async def rescan(request: Request) -> Response:
    """Look at every folder now."""
    return reply(await desk(request).host.installed.rescan())


async def alias(request: Request) -> Response:
    """Give one of its tools another name here."""
    given = await body(request)
    installed, name = desk(request).host.installed, request.path_params["plugin"]
    installed.alias(name, text_of(given, "tool", most=200), text_of(given, "name", needed=False, most=200).strip())
    return reply(installed.form(name))


async def uninstall(request: Request) -> Response:
    """Let it clear up and take it off the disk."""
    return reply(msgspec.to_builtins(await desk(request).host.installed.uninstall(request.path_params["plugin"])))
