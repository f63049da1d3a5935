"""What the owner decides: what a plugin may touch, and when a background job ends.

Above: `api` gives each function its path. Below: `needs`, `shapes`. It refuses to know: how a decision is kept, and what a
worker or a job does with it.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from etui.surfaces.web.needs import Desk, desk
from etui.surfaces.web.replies import Wrong, body, reply, text_of
from etui.surfaces.web.shapes import grant_row, job_row
from etui.tool import Plugin

LONGEST = 32_000
"""Characters of a variable's value."""


WISHES = ("give", "take", "read", "write", "shut", "forbid", "allow")
"""What the owner can decide about a plugin."""


def find_plugin(at: Desk, name: str) -> Plugin:
    """The plugin of that name. Raises Wrong where there is none."""
    for plugin in at.host.plugins.all():
        if plugin.name == name:
            return plugin
    raise Wrong(404, f"There is no plugin {name!r} (any more).")


async def grant(request: Request) -> Response:
    """What a plugin may touch, and what it asks for; never the value of a variable."""
    at = desk(request)
    plugin = find_plugin(at, request.path_params["plugin"])
    return reply(grant_row(at.host, plugin))


async def decide(request: Request) -> Response:
    """Give a variable or take it back, open a path or shut it, forbid a part or allow it: one of them at a time."""
    at = desk(request)
    plugin = find_plugin(at, request.path_params["plugin"])
    given = await body(request)
    wishes = [wish for wish in WISHES if wish in given]
    if len(wishes) != 1:
        raise Wrong(400, f"Say one of {', '.join(map(repr, WISHES))}.")
    wish = wishes[0]
    what = text_of(given, wish, most=LONGEST if wish in ("read", "write", "shut") else 200).strip()
    if wish == "give":
        value = text_of(given, "value", needed=False, most=LONGEST) if given.get("value") is not None else None
        at.host.plugins.give(plugin.name, what, value)
    elif wish == "take":
        at.host.plugins.take(plugin.name, what)
    elif wish in ("read", "write"):
        at.host.plugins.open(plugin.name, what, write=wish == "write")
    elif wish == "shut":
        at.host.plugins.shut(plugin.name, what)
    else:
        at.host.plugins.forbid(plugin.name, what, wish == "forbid")
    return reply(grant_row(at.host, find_plugin(at, plugin.name)))


async def jobs(request: Request) -> Response:
    """The background jobs that run, and the last ones that ended."""
    return reply([job_row(job) for job in desk(request).host.jobs.all()])


async def cancel_job(request: Request) -> Response:
    """End a background job."""
    at = desk(request)
    job = request.path_params["job"]
    if not at.host.jobs.cancel(job):
        raise Wrong(404, f"No background job {job!r} runs (any more); `etui jobs` lists them.")
    return reply({"cancelled": job})
