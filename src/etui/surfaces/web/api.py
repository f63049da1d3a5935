"""Every path under `/api`, on one page.

Above: `app`. Below: the modules that answer. It refuses to know: how any of them does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from etui.surfaces.web import (
    accounts_api,
    chats_api,
    choosing_api,
    extras_api,
    house_api,
    images_api,
    own_api,
    owners_api,
    pin_api,
    plugins_api,
    routes_api,
    tools_api,
)

Endpoint = Callable[[Request], Awaitable[Response]]

TABLE: tuple[tuple[str, str, Endpoint], ...] = (
    ("GET", "/api/state", chats_api.state),
    ("GET", "/api/events", house_api.events),
    ("GET", "/api/chats", chats_api.chats),
    ("POST", "/api/chats", chats_api.create),
    ("PATCH", "/api/chats/{chat}", chats_api.rename),
    ("DELETE", "/api/chats/{chat}", chats_api.delete),
    ("POST", "/api/chats/{chat}/clear", chats_api.clear),
    ("GET", "/api/chats/{chat}/messages", chats_api.messages),
    ("POST", "/api/chats/{chat}/say", chats_api.say),
    ("POST", "/api/chats/{chat}/stop", chats_api.stop),
    ("POST", "/api/chats/{chat}/end", chats_api.hang_up),
    ("POST", "/api/chats/{chat}/key", pin_api.key),
    ("GET", "/api/chats/{chat}/choices", choosing_api.choices),
    ("PUT", "/api/chats/{chat}/choices", choosing_api.choose),
    ("GET", "/api/toolsets", choosing_api.toolsets),
    ("PUT", "/api/toolsets/{toolset}", choosing_api.save),
    ("DELETE", "/api/toolsets/{toolset}", choosing_api.remove),
    ("GET", "/api/accounts", accounts_api.accounts),
    ("PUT", "/api/accounts/{kind}/{account}", accounts_api.keep),
    ("DELETE", "/api/accounts/{kind}/{account}", accounts_api.forget),
    ("POST", "/api/accounts/{kind}/{account}/grant", accounts_api.grant),
    ("GET", "/api/pin", pin_api.pin),
    ("PUT", "/api/pin", pin_api.set_pin),
    ("DELETE", "/api/pin", pin_api.clear_pin),
    ("GET", "/api/tools", tools_api.tools),
    ("GET", "/api/tools/{tool}", tools_api.tool),
    ("POST", "/api/tools/{tool}/call", tools_api.try_it),
    ("POST", "/api/tools/{tool}/switch", tools_api.switch),
    ("POST", "/api/tools/{tool}/teach", tools_api.teach),
    ("DELETE", "/api/tools/{tool}/teach", tools_api.unteach),
    ("GET", "/api/plugins/{plugin}/grant", owners_api.grant),
    ("POST", "/api/plugins/{plugin}/grant", owners_api.decide),
    ("GET", "/api/plugins/{plugin}/settings", plugins_api.settings),
    ("PUT", "/api/plugins/{plugin}/settings", plugins_api.save),
    ("DELETE", "/api/plugins/{plugin}/settings", plugins_api.reset),
    ("POST", "/api/plugins/{plugin}/reload", plugins_api.reload),
    ("POST", "/api/plugins/{plugin}/alias", plugins_api.alias),
    ("DELETE", "/api/plugins/{plugin}", plugins_api.uninstall),
    ("POST", "/api/plugins", plugins_api.rescan),
    ("GET", "/api/extras", extras_api.extras),
    ("POST", "/api/extras", extras_api.install_waiting),
    ("GET", "/api/extras/{plugin}", extras_api.extra),
    ("POST", "/api/extras/{plugin}", extras_api.install),
    ("DELETE", "/api/extras/{plugin}", extras_api.remove),
    ("GET", "/api/jobs", owners_api.jobs),
    ("DELETE", "/api/jobs/{job}", owners_api.cancel_job),
    ("GET", "/api/cards", tools_api.cards),
    ("POST", "/api/cards/{card}", tools_api.answer),
    ("GET", "/api/audit", tools_api.audit),
    ("GET", "/api/actions", tools_api.actions),
    ("GET", "/api/reminders", house_api.reminders),
    ("DELETE", "/api/reminders/{reminder}", house_api.cancel),
    ("GET", "/api/schedules", house_api.schedules),
    ("PATCH", "/api/schedules", house_api.switch_schedule),
    ("DELETE", "/api/schedules", house_api.drop_schedule),
    ("GET", "/api/settings", house_api.settings),
    ("PUT", "/api/settings/{name}", house_api.set_setting),
    ("GET", "/api/models", house_api.models),
    ("POST", "/api/models", house_api.choose),
    ("GET", "/api/doctor", house_api.doctor),
    ("GET", "/api/blobs/{blob}", images_api.blob),
    ("GET", "/api/chats/{chat}/images/{name}", images_api.of_chat),
    ("GET", "/api/images/{name}", images_api.of_no_chat),
    ("GET", "/api/outside", images_api.outside),
    ("GET", "/api/plugin/{plugin}/{path:path}", routes_api.ask),
    ("POST", "/api/plugin/{plugin}/{path:path}", routes_api.ask),
    ("PUT", "/api/plugin/{plugin}/{path:path}", routes_api.ask),
    ("DELETE", "/api/plugin/{plugin}/{path:path}", routes_api.ask),
    *(("GET", path, answer) for path, answer in own_api.TABLE.items()),
    ("POST", "/api/call", tools_api.call),
    ("POST", "/api/chat", house_api.chat),
    ("POST", "/api/links", house_api.link),
    ("POST", "/api/logout", house_api.logout),
)
"""Method, path, and what answers."""


def routes() -> list[BaseRoute]:
    """The table as Starlette wants it: one route a path, so that a wrong method is told from a wrong path."""
    return [Route(path, endpoint, methods=[method]) for method, path, endpoint in TABLE]
