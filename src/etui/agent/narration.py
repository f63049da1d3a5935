"""Lines around a call: what a tool wants said before it, while it takes long, and after it.

A listener like any other: it hears of calls and tells lines, and no call ever waits for it.
Above: `host` starts it. Below: `events` and the tools' voices. It refuses to know: who speaks the lines, and how.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

from etui.events import Event, Hub, Kind
from etui.outcome import BAD, Status
from etui.tool import Tool

FIRST, THEN = 9.0, 21.0
"""Seconds until the first heartbeat of a call, and from each to the next."""
HEARD = (Kind.CALL_STARTED, Kind.CALL_ENDED, Kind.CARD_OPENED, Kind.CARD_CLOSED, Kind.TURN_ENDED)


class Handle(Protocol):
    """Something that will happen, and can be called off."""

    def cancel(self) -> object:
        """Call it off."""
        ...


Later = Callable[[float, Callable[[], None]], Handle]
"""Does something after so many seconds."""


class Narration:
    """Tells the lines of one host's calls."""

    def __init__(self, hub: Hub, tool: Callable[[str], Tool | None], later: Later | None = None) -> None:
        """`tool` finds a tool by its name; `later` is the loop's own clock unless a test brings another."""
        self._hub = hub
        self._tool = tool
        self._later = later
        self._beats: dict[str, Handle] = {}
        """The next heartbeat, by call."""
        self._asking: set[str] = set()
        """Calls that wait for a person: nobody talks over a question."""
        self._told: set[tuple[str, str, str]] = set()
        """Turn, tool and kind of line: each is said once a turn."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Listen from now on."""
        self._task = asyncio.create_task(self._listen(), name="narration")

    async def close(self) -> None:
        """Say nothing more."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for beat in self._beats.values():
            beat.cancel()

    async def _listen(self) -> None:
        async with self._hub.listen(*HEARD) as events:
            async for event in events:
                self.hear(event)

    def hear(self, event: Event) -> None:
        """Take in what happened, and say what there is to say."""
        match event.kind:
            case Kind.CALL_STARTED if event.data.get("runs"):
                self._begun(event)
            case Kind.CALL_ENDED:
                self._ended(event)
            case Kind.CARD_OPENED:
                self._asking.add(event.call)
            case Kind.CARD_CLOSED:
                self._asking.discard(event.call)
            case Kind.TURN_ENDED:
                self._told = {told for told in self._told if told[0] != event.turn}

    def _begun(self, event: Event) -> None:
        tool = self._tool(str(event.data["tool"]))
        if tool is None:
            return
        self._say(event, tool, "announce", tool.voice.announce)
        if tool.voice.heartbeat:
            self._beat(event, tool, FIRST)

    def _beat(self, event: Event, tool: Tool, seconds: float) -> None:
        def beat() -> None:
            if event.call not in self._asking:
                self._tell(event, "heartbeat", tool.voice.heartbeat[0])
            self._beat(event, tool, THEN)

        later = self._later or asyncio.get_running_loop().call_later
        self._beats[event.call] = later(seconds, beat)

    def _ended(self, event: Event) -> None:
        if beat := self._beats.pop(event.call, None):
            beat.cancel()
        self._asking.discard(event.call)
        tool = self._tool(str(event.data["tool"]))
        status = event.data["status"]
        if tool is None:
            return
        if status == Status.OK:
            self._say(event, tool, "complete", tool.voice.complete)
        elif status in BAD:
            self._say(event, tool, "fail", tool.voice.fail)

    def _say(self, event: Event, tool: Tool, why: str, text: str) -> None:
        told = (event.turn, tool.name, why)
        if not text or (event.turn and told in self._told):
            return
        self._told.add(told)
        self._tell(event, why, text)

    def _tell(self, event: Event, why: str, text: str) -> None:
        self._hub.tell(
            Kind.SAID, {"text": text, "why": why}, session=event.session, chat=event.chat, turn=event.turn, call=event.call
        )
