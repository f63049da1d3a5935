"""A store, a hub and a door with tools that are plain functions: what a turn needs, with nothing of the host around it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from etui.agent.loop import Ended, Loop
from etui.agent.model import Model
from etui.events import Event, Hub, Kind
from etui.outcome import Image, Outcome, Status, refused
from etui.registry import nearest
from etui.settings import Settings
from etui.store import Store
from etui.store.chats import Message
from etui.tool import Call, Risk, Tool

Body = Callable[[dict[str, object]], Awaitable[Outcome | str]]


def ok(text: str, **more: object) -> Outcome:
    """It went well."""
    return msgspec.convert({"status": Status.OK, "text": text} | more, Outcome)


class Door:
    """A session's door as the turn sees it, over the real journal."""

    def __init__(self, store: Store, chat: str) -> None:
        self.id = "session"
        self.chat = chat
        self.channel = "console"
        self.trust = "full"
        self.mode = "conversation"
        self.user_text = ""
        self.ran: list[tuple[str, object]] = []
        self._store = store
        self._tools: dict[str, tuple[Tool, Body]] = {}
        self._numbers = itertools.count(time.monotonic_ns())

    def add(self, name: str, body: Body, risk: Risk = Risk.READ, **more: object) -> None:
        """Offer a tool."""
        fields = {"name": name, "description": f"{name}.", "parameters": {"type": "object"}, "contract": "etui", "plugin": "p"}
        self._tools[name] = (msgspec.convert(fields | {"risk": risk} | more, Tool), body)

    def tools(self) -> tuple[Tool, ...]:
        return tuple(tool for tool, _ in self._tools.values())

    def kept(self, tool: str, arguments: object) -> object:
        return arguments

    async def offered(self) -> tuple[Tool, ...]:
        return self.tools()

    def elsewhere(self) -> tuple[tuple[Tool, str], ...]:
        return ()

    def taught(self, tool: str) -> tuple[str, ...]:
        return ()

    def new_call(self, tool: str, arguments: object, *, turn: str = "", id: str = "") -> Call:
        return Call(id=id or f"call_{next(self._numbers)}", tool=tool, arguments=arguments, turn=turn)

    async def call(self, call: Call) -> Outcome:
        where = {"chat": self.chat, "session": self.id, "channel": self.channel}
        journal = self._store.journal
        found = self._tools.get(call.tool)
        if found is None:
            near = ", ".join(nearest(call.tool, self._tools))
            outcome = refused("find", f"There is no tool {call.tool!r}. The nearest are {near}.")
        elif not isinstance(call.arguments, dict):
            outcome = refused("arguments", f"{call.tool} wants an object; what came is cut off.")
        else:
            tool, body = found
            self.ran.append((call.tool, call.arguments))
            journal.begin(call, tool, call.arguments, **where)
            try:
                result = await body(call.arguments)
            except BaseException:
                journal.end(call.id, Outcome(status=Status.CANCELLED, text="Stopped."))
                raise
            outcome = ok(result) if isinstance(result, str) else result
            journal.end(call.id, outcome)
            return outcome
        journal.refuse(call, outcome, tool=None, arguments=call.arguments, **where)
        return outcome


class Room:
    """One chat, its door, and everything that was told."""

    def __init__(self, path: Path | str = ":memory:", **settings: object) -> None:
        self.store = Store.open(path)
        self.hub = Hub()
        chats = self.store.chats.all()
        self.chat = chats[0].id if chats else self.store.chats.create().id
        self.door = Door(self.store, self.chat)
        self.settings = Settings(timezone="Europe/Berlin", **settings)  # type: ignore[arg-type]
        self.loop = Loop(self.store.chats, self.store.journal, self.hub, lambda: self.settings, keep=self.store.blobs.put)
        self.told: list[Event] = []
        tell = self.hub.tell

        def heard(*given: object, **more: object) -> Event:
            event = tell(*given, **more)  # type: ignore[arg-type]
            self.told.append(event)
            return event

        self.hub.tell = heard  # type: ignore[method-assign]

    async def turn(self, model: Model, text: str = "hello", **more: object) -> Ended:
        """Take one turn."""
        return await self.loop.take_turn(self.door, model, text, **more)  # type: ignore[arg-type]

    def messages(self) -> list[Message]:
        return self.store.chats.messages(self.chat)

    def words(self) -> str:
        """Everything told as text, joined."""
        return "".join(str(event.data["text"]) for event in self.told if event.kind is Kind.TEXT)

    def results(self) -> list[Message]:
        return [message for message in self.messages() if message.role == "tool"]


__all__ = ["Door", "Image", "Room", "ok"]
