"""The plugins with settings: how each stands, turning one on with its settings and secrets, turning it off.

Above: `api` gives each function its path. Below: `needs`, `replies`. It refuses to know: what is written where, and how a
secret is kept; none is ever in an answer. What cannot be done is 422: the request was understood, and the owner's wish was
not right.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from etui.errors import EtuiError
from etui.extras.rows import RowError
from etui.surfaces.web.needs import desk
from etui.surfaces.web.replies import Wrong, body, reply, switch_of

MOST = 100
"""Settings in one request."""


async def extras(request: Request) -> Response:
    """Every one, and the folder in which they are."""
    packaged = desk(request).host.packaged
    with _told():
        return reply({"folder": str(packaged.folder), "plugins": msgspec.to_builtins(await packaged.all())})


async def extra(request: Request) -> Response:
    """One of them, and which of its secrets were given."""
    packaged, name = desk(request).host.packaged, request.path_params["plugin"]
    with _told():
        return reply({"plugin": msgspec.to_builtins(await packaged.state(name)), "secrets": packaged.secrets(name)})


async def install(request: Request) -> Response:
    """Turn one on, or with `draft` only write its files."""
    packaged, name = desk(request).host.packaged, request.path_params["plugin"]
    given = await body(request)
    wanted, secrets = _texts(given, "set"), _texts(given, "secrets")
    with _told():
        if switch_of(given, "waiting", False) and name not in await packaged.waiting():
            state = await packaged.state(name)
            if not state.installed:
                raise Wrong(422, f"{name} has no settings in {str(packaged.folder)!r} to be turned on with.")
        act = packaged.draft if switch_of(given, "draft", False) else packaged.install
        return reply(msgspec.to_builtins(await act(name, wanted, secrets)))


async def install_waiting(request: Request) -> Response:
    """Turn on every one that is off and whose settings are there."""
    packaged = desk(request).host.packaged
    with _told():
        return reply([msgspec.to_builtins(await packaged.install(name, {})) for name in await packaged.waiting()])


async def remove(request: Request) -> Response:
    """Turn one off; with `forget` its secrets go too."""
    packaged, name = desk(request).host.packaged, request.path_params["plugin"]
    given = await body(request)
    with _told():
        return reply(msgspec.to_builtins(await packaged.remove(name, forget=switch_of(given, "forget", False))))


def _texts(given: dict[str, Any], name: str) -> dict[str, str]:
    values = given.get(name, {})
    if not isinstance(values, dict) or len(values) > MOST or not all(isinstance(value, str) for value in values.values()):
        raise Wrong(400, f"{name!r} must be an object of texts.")
    return values


@contextmanager
def _told() -> Iterator[None]:
    """Turns what the owner's wish ran into, into its sentence."""
    try:
        yield
    except (EtuiError, RowError) as error:
        raise Wrong(422, str(error)) from None
