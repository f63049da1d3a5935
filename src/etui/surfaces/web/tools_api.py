"""Tools: looking at them, trying them, switching, teaching; and the cards that calls wait for.

Above: `api` gives each function its path. Below: `needs`, `shapes`, and a Session for each call.
It refuses to know: the gate and every runner.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from etui.outcome import Outcome
from etui.surfaces.web.needs import Desk, desk
from etui.surfaces.web.replies import Wrong, body, number_of, reply, switch_of, text_of
from etui.surfaces.web.shapes import plain, plugin_row, step_row, tool_page, tool_row
from etui.tool import Tool


async def tools(request: Request) -> Response:
    """Every tool, every plugin and toolset, and everything that was refused; folders that are read afresh are read now."""
    host = desk(request).host
    folders = await host.plugins.folders()
    off = host.tools.off()
    return reply(
        {
            "tools": [tool_row(host, tool, off) for tool in host.tools.all()],
            "plugins": [plugin_row(plugin) for plugin in host.plugins.all()],
            "families": [plain(family) for family in host.tools.families()],
            "problems": [plain(problem) for problem in host.problems.all()],
            "folders": [plain(folder) for folder in folders],
        }
    )


async def find_tool(at: Desk, name: str) -> Tool:
    """The tool of that name, if need be of a folder that is read afresh. Raises Wrong where there is none."""
    found = _named(at, name)
    if found is None:
        await at.host.plugins.folders()
        found = _named(at, name)
    if found is None:
        raise Wrong(404, f"There is no tool {name!r} (any more).")
    return found


def _named(at: Desk, name: str) -> Tool | None:
    return next((tool for tool in at.host.tools.all() if tool.name == name), None)


async def tool(request: Request) -> Response:
    """One tool, with its last calls."""
    at = desk(request)
    found = await find_tool(at, request.path_params["tool"])
    return reply(tool_page(at.host, found, at.host.tools.off(), at.host.store.journal.recent(found.name, 10)))


async def switch(request: Request) -> Response:
    """Switch a tool, or a whole toolset, on or off."""
    at = desk(request)
    wanted = request.path_params["tool"]
    name = wanted if wanted in {family.name for family in at.host.tools.families()} else (await find_tool(at, wanted)).name
    on = switch_of(await body(request), "on")
    at.host.tools.switch(name, on)
    return reply({"tool": name, "on": on})


async def teach(request: Request) -> Response:
    """Teach a tool a sentence."""
    at = desk(request)
    found = await find_tool(at, request.path_params["tool"])
    at.host.tools.teach(found.name, text_of(await body(request), "sentence", most=500).strip())
    return reply({"taught": list(at.host.tools.taught(found.name))})


async def unteach(request: Request) -> Response:
    """Take a taught sentence back."""
    at = desk(request)
    found = await find_tool(at, request.path_params["tool"])
    at.host.tools.unteach(found.name, text_of(await body(request), "sentence", most=500))
    return reply({"taught": list(at.host.tools.taught(found.name))})


async def try_it(request: Request) -> Response:
    """Call a tool from its page; a card may be asked and answered meanwhile."""
    at = desk(request)
    found = await find_tool(at, request.path_params["tool"])
    given = await body(request)
    session = at.host.session("console", attended=True)
    try:
        wish = session.new_call(found.name, given.get("arguments", {}))
        outcome = await while_here(request, session.call(wish))
    finally:
        at.host.sessions.end_by_id(session.id)
    return reply({**outcome_row(outcome), "call": wish.id})


async def call(request: Request) -> Response:
    """Call any tool by name, for the terminal."""
    at = desk(request)
    given = await body(request)
    channel = text_of(given, "channel", needed=False, most=40) or "terminal"
    session = at.host.session(channel, attended=switch_of(given, "attended", False))
    plugin = text_of(given, "plugin", needed=False, most=500)
    wish = session.new_call(text_of(given, "tool", most=500), given.get("arguments", {}), plugin=plugin)
    try:
        return reply(outcome_row(await while_here(request, session.call(wish))))
    finally:
        at.host.sessions.end_by_id(session.id)


def outcome_row(outcome: Outcome) -> dict[str, object]:
    """An outcome as JSON values; bytes stay in the store."""
    bare = msgspec.structs.replace(
        outcome,
        images=tuple(msgspec.structs.replace(image, data=b"") for image in outcome.images),
        files=tuple(msgspec.structs.replace(file, data=b"") for file in outcome.files),
    )
    shown: dict[str, object] = plain(bare)
    return shown


async def while_here(request: Request, work: Awaitable[Outcome]) -> Outcome:
    """Wait for the outcome as long as the one who asked is there; then the call is cancelled."""
    task = asyncio.ensure_future(work)
    left = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({task, left}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise Wrong(499, "Nobody waited for the outcome, so the call was cancelled.")
        return task.result()
    finally:
        task.cancel()
        left.cancel()
        await asyncio.gather(task, left, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def cards(request: Request) -> Response:
    """The cards that wait for an answer."""
    return reply([plain(card) for card in desk(request).host.cards.open()])


async def answer(request: Request) -> Response:
    """Answer a card."""
    at = desk(request)
    choice = text_of(await body(request), "choice", most=10_000)
    card = next((one for one in at.host.cards.open() if one.id == request.path_params["card"]), None)
    if card is None:
        raise Wrong(404, "This question is no longer open; it was answered, or its time ran out.")
    if not at.host.cards.answer(card.id, choice):
        raise Wrong(400, "That is not one of the answers to this question.")
    return reply({"card": card.id, "choice": choice})


async def audit(request: Request) -> Response:
    """What was called, newest first; `next` is the `before` of the following page."""
    at = desk(request)
    query = request.query_params
    limit = number_of(request, "limit", 50, 1, 200)
    before = number_of(request, "before", 0, 0, 1 << 62) or None
    entries = at.host.store.journal.audit(limit, before, query.get("tool", ""), query.get("status", ""))
    following = entries[-1].number if len(entries) == limit else None
    return reply({"entries": [step_row(entry) for entry in entries], "more": following is not None, "next": following})


async def actions(request: Request) -> Response:
    """What was done and what was decided about it, newest first; `next` is the `before` of the following page."""
    at = desk(request)
    limit = number_of(request, "limit", 50, 1, 200)
    try:
        before = float(request.query_params.get("before") or "inf")
    except ValueError:
        raise Wrong(400, "`before` must be a number.") from None
    rows = at.host.store.journal.actions(limit, before)
    return reply({"actions": plain(rows), "next": rows[-1].at if len(rows) == limit else None})
