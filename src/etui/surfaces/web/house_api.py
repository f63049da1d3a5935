"""The rest of the house: reminders, settings, models, the doctor's report, the terminal's chat, signing out.

Above: `api` gives each function its path. Below: `needs`, `shapes`, `stream`. It refuses to know: how any of it is kept.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from etui.events import Kind, Listener
from etui.owner.spoken import blanked
from etui.session import TRUSTED
from etui.surfaces.web.chats_api import LONGEST, find_chat
from etui.surfaces.web.guard import cookie_name
from etui.surfaces.web.needs import Desk, desk
from etui.surfaces.web.replies import Wrong, body, reply, switch_of, text_of
from etui.surfaces.web.shapes import plain, settings_rows
from etui.surfaces.web.stream import EventStream, LineStream, Streams


async def reminders(request: Request) -> Response:
    """Timers, alarms and reminders that are still to come."""
    return reply([plain(one) for one in desk(request).host.store.reminders.upcoming()])


async def cancel(request: Request) -> Response:
    """Cancel one of them."""
    at = desk(request)
    reminder = request.path_params["reminder"]
    if not at.host.store.reminders.cancel(reminder):
        raise Wrong(404, "This reminder is no longer there; it has ended or was cancelled.")
    at.host.hub.tell(Kind.REMINDERS_CHANGED, {"reminder": reminder})
    return reply({"cancelled": reminder})


async def schedules(request: Request) -> Response:
    """What plugins run by the clock, or when something happens."""
    return reply([plain(one) for one in desk(request).host.schedules.all()])


async def switch_schedule(request: Request) -> Response:
    """Switch one of them on or off; gives all as they are then."""
    at = desk(request)
    given = await body(request)
    if not at.host.schedules.switch(text_of(given, "id"), switch_of(given, "on")):
        raise Wrong(404, "This schedule is no longer there.")
    return await schedules(request)


async def drop_schedule(request: Request) -> Response:
    """Take back one that a plugin made; gives the others."""
    at = desk(request)
    if not at.host.schedules.drop(text_of(await body(request), "id")):
        raise Wrong(404, "This task is no longer there.")
    return await schedules(request)


async def settings(request: Request) -> Response:
    """The settings table with what is in force."""
    return reply(settings_rows(desk(request).host.settings.now))


async def set_setting(request: Request) -> Response:
    """Set one setting."""
    at = desk(request)
    given = await body(request)
    if "value" not in given:
        raise Wrong(400, "'value' is missing.")
    await at.host.settings.set(request.path_params["name"], given["value"])
    return reply(settings_rows(at.host.settings.now))


async def models(request: Request) -> Response:
    """What could answer here; with `look`, what was started meanwhile too."""
    host = desk(request).host
    if request.query_params.get("look"):
        await host.models.look()
    return reply(host.models.all())


async def choose(request: Request) -> Response:
    """Choose what answers."""
    at = desk(request)
    await at.host.models.choose(text_of(await body(request), "id", most=300))
    return reply(at.host.models.all())


async def doctor(request: Request) -> Response:
    """What is enforced here, and what is odd."""
    return reply(await desk(request).host.report.whole())


async def link(request: Request) -> Response:
    """A new one-time link, to sign in with another browser."""
    at = desk(request)
    return reply({"path": f"/login/{at.tokens.link()}"}, 201)


async def logout(request: Request) -> Response:
    """Sign this browser out."""
    at = desk(request)
    key = request.scope.get("etui.key", "")
    at.tokens.end(key)
    if key:
        streams(request).end(key)
    answer = reply({"signed_out": True})
    answer.delete_cookie(cookie_name(at.port), httponly=True, samesite="strict")
    return answer


def streams(request: Request) -> Streams:
    """The open streams of the app that this request came to."""
    found: Streams = request.app.state.streams
    return found


class Streamed(Response):
    """Lets a route answer with one of the streams."""

    def __init__(self, answer: EventStream | LineStream) -> None:
        super().__init__()
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._answer(scope, receive, send)


async def events(request: Request) -> Response:
    """Every event from now on."""
    last = request.headers.get("last-event-id", "") or request.query_params.get("last", "")
    return Streamed(EventStream(streams(request), desk(request).host.hub, plain, key=request.scope["etui.key"], last=last))


async def chat(request: Request) -> Response:
    """Say something from the terminal and follow the turn, as lines of JSON; the last line holds the answer."""
    at = desk(request)
    given = await body(request)
    text = text_of(given, "text", most=LONGEST)
    channel = text_of(given, "channel", needed=False, most=40) or "terminal"
    wanted = text_of(given, "chat", needed=False, most=200)
    title = text if channel in TRUSTED else blanked(text)
    chat_id = find_chat(at, wanted).id if wanted else at.host.store.chats.create(title=title[:60], channel=channel).id
    listener = streams(request).listen(at.host.hub)
    turn = at.host.conversations.say(chat_id, text, channel=channel, attended=given.get("attended") is True)
    lines = _lines(request, at, listener, chat_id, turn)
    return Streamed(LineStream(lines, lambda: at.host.conversations.stop(chat_id)))


async def _lines(request: Request, at: Desk, listener: Listener, chat_id: str, turn: str) -> AsyncIterator[object]:
    last = {"kind": "answer", "chat": chat_id, "turn": turn}
    try:
        yield {"kind": "chat", "chat": chat_id, "turn": turn}
        async for event in listener:
            if event.chat == chat_id:
                yield plain(event)
            if event.kind is Kind.TURN_ENDED and event.turn == turn:
                yield {**last, "text": event.data.get("text", ""), "why": event.data.get("why", "done")}
                return
        yield {**last, "text": "", "why": "stopped"}
    finally:
        streams(request).forget(listener)
