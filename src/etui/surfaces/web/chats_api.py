"""Chats: the first paint, the messages with their steps, saying and stopping.

Above: `api` gives each function its path. Below: `needs`, `shapes`. It refuses to know: what a turn does.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from etui.events import Kind
from etui.surfaces.web.needs import Desk, desk
from etui.surfaces.web.replies import Wrong, body, reply, switch_of, text_of
from etui.surfaces.web.shapes import (
    job_row,
    line_row,
    message_row,
    plain,
    plugin_row,
    session_row,
    settings_rows,
    step_row,
    tool_row,
)

if TYPE_CHECKING:
    from etui.store.chats import Chat

LONGEST = 20_000
"""Characters of one thing that a person says."""


async def state(request: Request) -> Response:
    """Everything that the first paint needs."""
    at = desk(request)
    host = at.host
    off = host.tools.off()
    return reply(
        {
            "number": at.live.number,
            "version": version("etui"),
            "home": str(host.home),
            "folder": str(host.home / "tools"),
            "chats": [plain(chat) for chat in host.store.chats.all(200)],
            "tools": [tool_row(host, tool, off) for tool in host.tools.all()],
            "plugins": [plugin_row(plugin) for plugin in host.plugins.all()],
            "families": [plain(family) for family in host.tools.families()],
            "problems": [plain(problem) for problem in host.problems.all()],
            "cards": [plain(card) for card in host.cards.open()],
            "reminders": [plain(one) for one in host.store.reminders.upcoming()],
            "schedules": [plain(one) for one in host.schedules.all()],
            "models": host.models.all(),
            "settings": settings_rows(host.settings.now),
            "live": {chat: plain(running.row()) for chat, running in at.live.turns.items()},
            "tasks": plain(at.live.tasks),
            "sessions": [session_row(one) for one in host.sessions.all()],
            "jobs": [job_row(job) for job in host.jobs.all()],
        }
    )


async def chats(request: Request) -> Response:
    """The chats, the last changed first."""
    return reply([plain(chat) for chat in desk(request).host.store.chats.all(200)])


async def create(request: Request) -> Response:
    """A new chat."""
    given = await body(request)
    title = text_of(given, "title", needed=False, most=200)
    chat = desk(request).host.store.chats.create(title=title, channel="console", private=switch_of(given, "private", False))
    return reply(plain(chat), 201)


def find_chat(at: Desk, chat_id: str) -> Chat:
    """The chat of that id. Raises Wrong where there is none."""
    found = at.host.store.chats.get(chat_id)
    if found is None:
        raise Wrong(404, "This chat does not exist (any more).")
    return found


async def rename(request: Request) -> Response:
    """Give a chat another title."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    at.host.conversations.rename(chat.id, text_of(await body(request), "title", most=200).strip())
    return reply(plain(find_chat(at, chat.id)))


async def delete(request: Request) -> Response:
    """Delete a chat and its messages; a running turn is stopped first."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    at.host.conversations.delete(chat.id)
    return reply({"deleted": chat.id})


async def clear(request: Request) -> Response:
    """Forget everything that was said in a chat; a running turn is stopped first."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    await at.host.conversations.clear(chat.id)
    at.host.hub.tell(Kind.CHATS_CHANGED, {"chat": chat.id}, chat=chat.id)
    return reply(plain(find_chat(at, chat.id)))


async def messages(request: Request) -> Response:
    """The messages of a chat, the steps of each turn, and the turn that runs."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    store = at.host.store
    kept = store.chats.messages(chat.id)
    found = [one for one in kept if one.role != "tool" and (one.text or one.images)]
    turns = dict.fromkeys(one.turn for one in kept if one.turn)
    running = at.live.turns.get(chat.id)
    return reply(
        {
            "chat": plain(chat),
            "messages": [message_row(one) for one in found],
            "steps": {turn: [step_row(entry) for entry in store.journal.of_turn(turn)] for turn in turns},
            "live": plain(running.row()) if running else None,
            "lines": [line_row(event) for event in at.host.hub.said_after(0) if event.chat == chat.id and event.turn],
            "number": at.live.number,
        }
    )


async def say(request: Request) -> Response:
    """Say something; the answer comes as events."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    text = text_of(await body(request), "text", most=LONGEST)
    return reply({"turn": at.host.conversations.say(chat.id, text, channel="console", attended=True)}, 202)


async def stop(request: Request) -> Response:
    """End the turn that runs in a chat."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    return reply({"stopped": at.host.conversations.stop(chat.id)})


async def hang_up(request: Request) -> Response:
    """End the session of a chat on one channel: whoever was there has gone. The chat itself stays."""
    at = desk(request)
    chat = find_chat(at, request.path_params["chat"])
    channel = text_of(await body(request), "channel", needed=False, most=40) or "terminal"
    return reply({"ended": at.host.sessions.hang_up(chat.id, channel)})
