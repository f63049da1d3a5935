"""The face of a turn: what it shows while a tool runs, when one fails, and with the reply; and the sign that the turn acts.

It tells each change right where it belongs among the turn's other events. Above: `host` starts it. Below: `events`, the tools.
It refuses to know: how a face is drawn, and what a reply says; the first tag in it comes as a face of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from etui.events import Event, Hub, Kind
from etui.outcome import BAD
from etui.tool import FACES, Risk, Tool

ACTS, FOCUS, FAIL = "determined", "thinking", "sad"
"""The usual faces: of a turn that begins to act, of a tool that runs, of one that failed."""
HEARD = (Kind.CALL_STARTED, Kind.CALL_ENDED, Kind.FACE, Kind.TURN_ENDED)


class _Turn(msgspec.Struct):
    """What one turn showed so far."""

    working: bool = False
    reply: str = ""
    """The face of the last words that had one."""
    shown: bool = True
    """Nothing else was shown since."""


class Faces:
    """Tells the faces of one host's turns."""

    def __init__(self, hub: Hub, tool: Callable[[str], Tool | None]) -> None:
        """`tool` finds a tool by its name."""
        self._hub = hub
        self._tool = tool
        self._turns: dict[str, _Turn] = {}

    def start(self) -> None:
        """Show faces from now on."""
        self._hub.interpret(self, *HEARD)

    def before(self, event: Event) -> None:
        """What is shown first."""
        match event.kind:
            case Kind.CALL_STARTED if event.data.get("runs"):
                self._begun(event)
            case Kind.CALL_ENDED if event.data.get("status") in BAD:
                tool = self._tool(str(event.data["tool"]))
                self._show(event, tool.fail_face if tool else "", FAIL, "fail")
            case Kind.TURN_ENDED:
                self._end(event)

    def after(self, event: Event) -> None:
        """A reply's own face was shown."""
        if event.kind is Kind.FACE and event.data.get("why") == "reply":
            turn = self._turn(event)
            turn.reply, turn.shown = str(event.data["face"]), True

    def _begun(self, event: Event) -> None:
        turn = self._turn(event)
        if event.data.get("risk") != Risk.READ and not turn.working:
            turn.working = True
            self._show(event, ACTS, ACTS, "acts")
            self._tell(event, Kind.WORKING, {"on": True})
        self._show(event, str(event.data.get("face") or ""), FOCUS, "focus")

    def _end(self, event: Event) -> None:
        turn = self._turns.pop(event.turn, None)
        if turn is None:
            return
        if turn.reply and not turn.shown:
            self._tell(event, Kind.FACE, {"face": turn.reply, "why": "reply"})
            self._turns.pop(event.turn, None)
        if turn.working:
            self._tell(event, Kind.WORKING, {"on": False})

    def _turn(self, event: Event) -> _Turn:
        return self._turns.setdefault(event.turn, _Turn())

    def _show(self, event: Event, face: str, usual: str, why: str) -> None:
        self._turn(event).shown = False
        self._tell(event, Kind.FACE, {"face": face if face in FACES else usual, "why": why})

    def _tell(self, event: Event, kind: Kind, data: dict[str, object]) -> None:
        call = event.call if kind is Kind.FACE and data["why"] != "reply" else ""
        self._hub.tell(kind, data, session=event.session, chat=event.chat, turn=event.turn, call=call)
