"""Lines around a call: what a tool wants said before it, while it takes long and after it; or a hum where words would be wrong.

In a turn it speaks right where it belongs, before the call begins and after it has ended; no call ever waits for it.
Above: `host` starts it. Below: `events` and the tools' voices. It refuses to know: who speaks the lines, and how.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

import msgspec

from etui.events import LINE, Event, Hub, Kind
from etui.outcome import BAD, Status
from etui.tool import Tool, Voice

FIRST, THEN, LATER = 9.0, 21.0, 9.0
"""Seconds until the first heartbeat of a call, from each to the next, and by which one is put off while a person is asked."""
HEARD = (Kind.CALL_STARTED, Kind.CALL_ENDED, Kind.CARD_OPENED, Kind.CARD_CLOSED, Kind.TURN_ENDED)
SPOKEN = frozenset({"voice", "phone"})
"""Channels on which silence is heard."""
MUTE = frozenset({"mcp"})
"""Contracts whose tools have no lines of their own."""


class Handle(Protocol):
    """Something that will happen, and can be called off."""

    def cancel(self) -> object:
        """Call it off."""
        ...


Later = Callable[[float, Callable[[], None]], Handle]
"""Does something after so many seconds."""


class Manner(msgspec.Struct, frozen=True):
    """How calls are accompanied now."""

    lines: bool = True
    """The tools' lines are said."""
    hums: bool = False
    """Where they are not, because the model speaks for itself, a spoken turn hums."""


def declared(tool: Tool) -> Voice:
    """The lines that the tool's own file declares."""
    return tool.voice


def plain(turn: str) -> Manner:
    """Lines, always."""
    return Manner()


def in_manner(narrate: str, reasons: bool, turn: str) -> Manner:
    """How calls are accompanied: by the setting `narrate`, whether the model reasons, and whether it is a turn at all."""
    if narrate == "never":
        return Manner(lines=False)
    quiet = narrate == "auto" and reasons and bool(turn)
    return Manner(lines=not quiet, hums=quiet)


class _Beating(msgspec.Struct):
    """The heartbeats of a call under way."""

    event: Event
    lines: tuple[str, ...]
    """What is said, one after another; none for a hum."""
    next: int = 0
    handle: Handle | None = None


class Narration:
    """Tells the lines of one host's calls."""

    def __init__(
        self,
        hub: Hub,
        tool: Callable[[str], Tool | None],
        later: Later | None = None,
        *,
        voice: Callable[[Tool], Voice] = declared,
        manner: Callable[[str], Manner] = plain,
    ) -> None:
        """`tool` finds a tool by its name; `later` is the loop's own clock unless a test brings another.

        `voice` gives the lines in force for a tool, and `manner` how the calls of a turn (or of none) are accompanied.
        """
        self._hub = hub
        self._tool = tool
        self._later = later
        self._voice = voice
        self._manner = manner
        self._beats: dict[str, _Beating] = {}
        """By call."""
        self._voices: dict[str, Voice] = {}
        """The lines of the calls under way, as they were when each began."""
        self._asking: dict[str, str] = {}
        """The questions that a call waits for, each with its chat: nobody talks over one."""
        self._told: set[tuple[str, str, str]] = set()
        """Turn, tool and kind of line: each is said once a turn."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Accompany calls from now on."""
        self._hub.interpret(self, *HEARD)
        self._task = asyncio.create_task(self._listen(), name="narration")

    async def close(self) -> None:
        """Say nothing more."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for call in list(self._beats):
            self._quiet(call)

    async def _listen(self) -> None:
        async with self._hub.listen(*HEARD) as events:
            async for event in events:
                if not event.turn:
                    self.hear(event)

    def before(self, event: Event) -> None:
        """A call of a turn is about to begin."""
        if event.kind is Kind.CALL_STARTED:
            self.hear(event)

    def after(self, event: Event) -> None:
        """Anything else of a turn has happened."""
        if event.kind is not Kind.CALL_STARTED:
            self.hear(event)

    def hear(self, event: Event) -> None:
        """Take in what happened, and say what there is to say."""
        match event.kind:
            case Kind.CALL_STARTED if event.data.get("runs"):
                self._begun(event)
            case Kind.CALL_ENDED:
                self._ended(event)
            case Kind.CARD_OPENED if event.data.get("waits") and isinstance(card := event.data.get("card"), dict):
                self._asking[str(card["id"])] = event.chat or event.call
            case Kind.CARD_CLOSED:
                self._asking.pop(str(event.data.get("card")), None)
            case Kind.TURN_ENDED:
                self._told = {told for told in self._told if told[0] != event.turn}

    def _begun(self, event: Event) -> None:
        tool = self._tool(str(event.data["tool"]))
        if tool is None:
            return
        manner = self._manner(event.turn)
        voice = self._voice(tool) if manner.lines and tool.contract not in MUTE else Voice()
        self._voices[event.call] = voice
        self._say(event, tool.name, "announce", voice.announce)
        hums = manner.hums or (manner.lines and tool.contract in MUTE)
        if not tool.interactive and (voice.heartbeat or (hums and event.data.get("channel") in SPOKEN)):
            self._beats[event.call] = beating = _Beating(event, voice.heartbeat)
            self._beat_after(FIRST, beating)

    def _beat_after(self, seconds: float, beating: _Beating) -> None:
        later = self._later or asyncio.get_running_loop().call_later
        beating.handle = later(seconds, lambda: self._beat(beating))

    def _beat(self, beating: _Beating) -> None:
        if (beating.event.chat or beating.event.call) in self._asking.values():
            return self._beat_after(LATER, beating)
        self._beat_after(THEN, beating)
        if not beating.lines:
            return self._tell(beating.event, Kind.HUM, {})
        line = beating.lines[min(beating.next, len(beating.lines) - 1)].strip()[:LINE]
        beating.next += 1
        if line:
            self._tell(beating.event, Kind.SAID, {"text": line, "why": "heartbeat"})
        return None

    def _ended(self, event: Event) -> None:
        self._quiet(event.call)
        voice = self._voices.pop(event.call, None)
        status = event.data["status"]
        if voice is None:
            return
        if status == Status.OK:
            self._say(event, str(event.data["tool"]), "complete", voice.complete)
        elif status in BAD:
            self._say(event, str(event.data["tool"]), "fail", voice.fail)

    def _quiet(self, call: str) -> None:
        beating = self._beats.pop(call, None)
        if beating is not None and beating.handle is not None:
            beating.handle.cancel()

    def _say(self, event: Event, tool: str, why: str, text: str) -> None:
        told = (event.turn, tool, "announce" if why == "announce" else "end")
        text = text.strip()[:LINE]
        if not text or (event.turn and told in self._told):
            return
        if event.turn:
            self._told.add(told)
        self._tell(event, Kind.SAID, {"text": text, "why": why})

    def _tell(self, event: Event, kind: Kind, data: dict[str, object]) -> None:
        self._hub.tell(kind, data, session=event.session, chat=event.chat, turn=event.turn, call=event.call)
