"""What is going on right now: the turns that run, what each has said so far, and its steps.

A page that is opened or reloaded in the middle of a turn starts from here and follows the events after `number`.
Above: `app` feeds it every event, the routes show it. Below: the nouns. It refuses to know: what is over and kept in the store.
"""

from __future__ import annotations

from typing import Any

import msgspec

from etui.events import Event, Kind, Listener

Step = dict[str, Any]
PLANS = 100
"""Plans that are kept, of the chats in which one was shown last."""


class Running(msgspec.Struct, kw_only=True):
    """One turn that has not ended."""

    turn: str
    chat: str
    said: str
    """What the person said."""
    started: float
    pieces: list[str] = []
    """The answer so far."""
    steps: list[Step] = []
    working: bool = False
    """Whether it is acting."""
    face: str = ""
    """The expression that was told last."""

    def row(self) -> Step:
        """As the page gets it."""
        row = msgspec.structs.asdict(self)
        row["text"] = "".join(row.pop("pieces"))
        return row


class Live:
    """Follows the events and keeps the turns that run, by chat."""

    def __init__(self) -> None:
        self.turns: dict[str, Running] = {}
        self.tasks: dict[str, object] = {}
        """The plan that was shown last, by chat."""
        self.number = 0
        """The last event that is taken in here."""

    async def follow(self, events: Listener) -> None:
        """Take in every event until the listener is closed."""
        async for event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        """Take in one event; what belongs to no running turn is passed over."""
        self.number = max(self.number, event.number)
        if event.kind is Kind.TURN_STARTED:
            said = str(event.data.get("text", ""))
            self.turns[event.chat] = Running(turn=event.turn, chat=event.chat, said=said, started=event.at)
            return
        if event.kind is Kind.TASKS:
            self._plan(event)
            return
        running = self.turns.get(event.chat)
        if running is None and event.turn and event.chat and event.kind in (Kind.TEXT, Kind.CALL_STARTED):
            # It began before anybody listened here: a turn that goes on after a restart.
            running = self.turns[event.chat] = Running(turn=event.turn, chat=event.chat, said="", started=event.at)
        if running is None or running.turn != event.turn:
            return
        if event.kind is Kind.TEXT:
            running.pieces.append(str(event.data.get("text", "")))
        elif event.kind is Kind.TURN_ENDED:
            del self.turns[event.chat]
        elif event.kind is Kind.CALL_STARTED:
            running.steps.append(
                {**event.data, "call": event.call, "chat": event.chat, "status": "running", "started": event.at}
            )
        elif event.kind in (Kind.CALL_ENDED, Kind.CALL_PROGRESS):
            _amend(running.steps, event)
        elif event.kind is Kind.WORKING:
            running.working = event.data.get("on") is True
        elif event.kind is Kind.FACE:
            running.face = str(event.data.get("face", ""))

    def _plan(self, event: Event) -> None:
        plan = event.data.get("list")
        self.tasks.pop(event.chat, None)
        if plan is None:
            return
        self.tasks[event.chat] = plan
        while len(self.tasks) > PLANS:
            del self.tasks[next(iter(self.tasks))]


def _amend(steps: list[Step], event: Event) -> None:
    news = {"progress": event.data} if event.kind is Kind.CALL_PROGRESS else event.data
    for step in steps:
        if step["call"] == event.call:
            step.update(news)
            return
    if event.kind is Kind.CALL_ENDED:
        steps.append({**event.data, "call": event.call, "chat": event.chat, "started": event.at})
