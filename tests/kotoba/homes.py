"""A whole host with Kotoba plugins and a scripted model: what the tests of this contract share.

`async with kotoba(tmp_path, {"p/ping.py": PING}) as room: await room.turn("hello", [call("ping")], "Done.")`
"""

from __future__ import annotations

import textwrap
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.spine.homes import host_at

from etui.agent.model import Ask
from etui.agent.scripted import Scripted, Step
from etui.events import Event, Kind, Listener
from etui.host import Host
from etui.outcome import Outcome
from etui.store.chats import Message

PING = """
SCHEMA = {"type": "function", "name": "ping", "description": "Reply with pong.",
          "parameters": {"type": "object", "properties": {}, "required": []}}


async def execute(args, ctx):
    return "pong"
"""
"""The smallest plugin of the owners' page, to the letter."""


def ping(body: str = 'return "pong"', *, name: str = "ping", head: str = "", top: str = "") -> str:
    """The smallest plugin with another body, more attributes (`head`), or something above everything (`top`)."""
    return f"""{textwrap.dedent(top)}
SCHEMA = {{"type": "function", "name": {name!r}, "description": "Reply with pong.",
          "parameters": {{"type": "object", "properties": {{}}, "required": []}}}}
{textwrap.dedent(head)}

async def execute(args, ctx):
{textwrap.indent(textwrap.dedent(body).strip(), "    ")}
"""


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Save files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


class Room:
    """A host, its plugins' folder, its scripted model, and every event since it opened."""

    def __init__(self, host: Host, folder: Path, model: Scripted, heard: Listener) -> None:
        self.host = host
        self.folder = folder
        self.model = model
        self._heard = heard
        self.chat = ""

    @property
    def requests(self) -> list[Ask]:
        """What the model was asked, request by request."""
        return self.model.asked

    def offered(self, request: int = -1) -> list[str]:
        """Names of the tools in a request."""
        return [tool.name for tool in self.requests[request].tools]

    def script(self, *steps: Step) -> None:
        """Steps that the model plays next."""
        self.model._steps[len(self.model.asked) :] = steps

    async def turn(self, text: str, *steps: Step, channel: str = "python", attended: bool = False) -> str:
        """Say something in the one chat of this room; the model plays the steps. Gives the answer."""
        self.chat = self.chat or self.host.store.chats.create("", channel).id
        self.script(*steps)
        return await self.host.conversations.turn(self.chat, text, channel=channel, attended=attended)

    def results(self) -> list[Message]:
        """The results that the model was given, oldest first."""
        return [message for message in self.host.store.chats.messages(self.chat) if message.role == "tool"]

    async def call(self, name: str, arguments: object = None, **session: Any) -> Outcome:
        """One call through a session's door, outside any turn."""
        opened = self.host.session(**{"channel": "python", **session})
        return await opened.call(opened.new_call(name, {} if arguments is None else arguments))

    async def events(self) -> list[Event]:
        """Every event told so far and not yet taken."""
        taken = []
        while self._heard._events:
            event = await self._heard.next()
            if event is not None:
                taken.append(event)
        return taken

    def problems(self) -> list[tuple[str, str, bool]]:
        """What was refused or is odd: what, reason, refused."""
        return [(problem.what, problem.reason, problem.refused) for problem in self.host.problems.all()]


@asynccontextmanager
async def kotoba(
    path: Path,
    files: Mapping[str, str | bytes],
    *,
    clock: Callable[[], float] | None = None,
    source: Mapping[str, object] | None = None,
    **settings: object,
) -> AsyncIterator[Room]:
    """A host on `path/home` whose one source is `path/kotoba`, holding these files; `source` adds to the source's row."""
    folder = path / "kotoba"
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, files)
    model = Scripted([])
    row = {"path": str(folder), "contract": "kotoba", **(source or {})}
    async with (
        host_at(path / "home", model=model, clock=clock, **{"sources": [row], **settings}) as host,
        host.hub.listen(limit=100_000) as heard,
    ):
        yield Room(host, folder, model, heard)


def kinds(events: list[Event], *wanted: Kind) -> list[tuple[str, dict[str, object]]]:
    """The events of these kinds, as kind and data."""
    return [(event.kind.value, event.data) for event in events if event.kind in wanted]
