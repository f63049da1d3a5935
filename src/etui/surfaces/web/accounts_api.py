"""The owner's accounts: what there is, keeping one, forgetting one, and which plugins may have it.

What is secret goes in and is in no answer. Above: `api` gives each function its path. Below: `needs`, `replies`. It refuses to
know: how an account is kept.
"""

from __future__ import annotations

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from etui.owner.accounts import EVERY
from etui.owner.kinds import KINDS
from etui.services.desk import SAPPHIRE
from etui.surfaces.web.needs import Desk, desk
from etui.surfaces.web.owners_api import find_plugin
from etui.surfaces.web.replies import Wrong, body, reply, switch_of, text_of


async def accounts(request: Request) -> Response:
    """Every kind with its fields, every account without its secrets, and the plugins that can be given one."""
    return reply(_all(desk(request)))


async def keep(request: Request) -> Response:
    """Keep an account; a secret that is left out stays as it was."""
    at, kind, name = _meant(request)
    values = (await body(request)).get("values")
    if not isinstance(values, dict):
        raise Wrong(400, "'values' must be an object, by field.")
    # In a thread, for a keyring takes its time.
    await asyncio.to_thread(at.host.accounts.keep, kind, name, values)
    return reply(_all(at))


async def forget(request: Request) -> Response:
    """Forget an account."""
    at, kind, name = _meant(request)
    if not await asyncio.to_thread(at.host.accounts.forget, kind, name):
        raise Wrong(404, f"There is no account {name!r} of the kind {kind!r} (any more).")
    return reply(_all(at))


async def grant(request: Request) -> Response:
    """Give an account to a plugin, or take it back."""
    at, kind, name = _meant(request)
    given = await body(request)
    plugin = find_plugin(at, text_of(given, "plugin", most=200))
    if plugin.contract not in SAPPHIRE:
        raise Wrong(400, f"Plugins of the contract {plugin.contract!r} ask for no accounts.")
    if switch_of(given, "on"):
        at.host.accounts.give(plugin.name, kind, name)
    else:
        at.host.accounts.take(plugin.name, kind, name)
    return reply(_all(at))


def _meant(request: Request) -> tuple[Desk, str, str]:
    return desk(request), request.path_params["kind"], request.path_params["account"]


def _all(at: Desk) -> dict[str, object]:
    accounts = at.host.accounts
    return {
        "kinds": [
            msgspec.to_builtins(kind) | {"fields": msgspec.to_builtins([*kind.fields.values()])} for kind in KINDS.values()
        ],
        "accounts": msgspec.to_builtins(accounts.all()),
        "given": {plugin: sorted(given) for plugin, given in accounts.given().items()},
        "every": EVERY,
        "plugins": [plugin.name for plugin in at.host.plugins.all() if plugin.contract in SAPPHIRE],
        "trouble": accounts.trouble(),
    }
