"""What happened, told to everybody who listens. One struct, a closed set of kinds, one hub.

Above: session, agent and host tell; surfaces, narration and tests listen.
Below: `msgspec` and `asyncio`. It refuses to know: who listens. A slow listener loses events of its own, counted, and
never slows the teller.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from enum import StrEnum
from typing import Protocol

import msgspec


class Kind(StrEnum):
    """The closed set of things that happen; the line under each says what `data` holds."""

    TURN_STARTED = "turn_started"
    """text: what the person said; message: its id."""
    TEXT = "text"
    """text: the next piece of the answer."""
    TURN_ENDED = "turn_ended"
    """text: the whole answer; why: done, stopped, limit or failed; message: its id."""
    CALL_STARTED = "call_started"
    """tool, plugin, arguments, risk, face, channel; runs: False for a call that is turned away."""
    CALL_PROGRESS = "call_progress"
    """fraction: 0 to 1 or null; text."""
    CALL_ENDED = "call_ended"
    """tool, plugin, status, text, shown, why, seconds, rule, images, files, silent, reference; of its row: mark (green, grey or
    red), line (the end in one line), full (what the row opens to)."""
    FACE = "face"
    """face: the expression from now on; why: acts, focus, fail or reply."""
    WORKING = "working"
    """on: whether the turn is acting."""
    HUM = "hum"
    """Nothing: a sign of life without words, while a call takes long and the model narrates itself."""
    TASKS = "tasks"
    """list: a plan with its steps, as `title`, `status` and `tasks` (`order`, `text`, `status`), or null."""
    WORK_STARTED = "work_started"
    """job: its id; goal."""
    WORK_DONE = "work_done"
    """job: its id; goal; ok; summary; cancelled."""
    SAID = "said"
    """text: a line to show and speak now; why: announce, heartbeat, complete, fail, tool, timer, alarm, reminder, notice."""
    CARD_OPENED = "card_opened"
    """card: see `cards.Card`."""
    CARD_CLOSED = "card_closed"
    """card: its id; answer."""
    TOOLS_CHANGED = "tools_changed"
    """added, removed, changed: names of tools; plugin; generation: number of the registry's snapshot."""
    PROBLEM = "problem"
    """problem: see `tool.Problem`."""
    PROBLEM_GONE = "problem_gone"
    """plugin: whose problems are mended."""
    REMINDERS_CHANGED = "reminders_changed"
    """reminder: its id."""
    CHATS_CHANGED = "chats_changed"
    """chat: its id."""
    MIND_CHANGED = "mind_changed"
    """domain, scope, action: what changed of that which a plugin remembers; plugin."""
    SETTINGS_CHANGED = "settings_changed"
    """names: of the settings."""
    SESSION_STARTED = "session_started"
    """channel, trust, caller; `Event.session` is its id."""
    SESSION_ENDED = "session_ended"
    """reason: user, idle, deleted, closing, or what a tool or a surface gave."""
    TRUST_CHANGED = "trust_changed"
    """trust: full, possession or none; keypressed: whether a key was pressed in this session."""
    WORKER_STARTED = "worker_started"
    """plugin, pid, enforced."""
    WORKER_GONE = "worker_gone"
    """plugin, pid, why."""
    DROPPED = "dropped"
    """count: how many events this listener was too slow for."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened."""

    kind: Kind
    data: dict[str, object] = msgspec.field(default_factory=dict)
    """JSON values only; the keys that `Kind` names."""
    session: str = ""
    chat: str = ""
    turn: str = ""
    call: str = ""
    at: float = 0.0
    """Seconds since the epoch."""
    number: int = 0
    """Counts up by one; the order in which things happened, over restarts too."""


LINE = 2000
"""Characters of a line that is said."""
MISSED = 50
"""Lines that are kept for listeners who were away."""


class _Made(msgspec.Struct, kw_only=True):
    """An event whose data is made when the first listener takes it."""

    kind: Kind
    make: Callable[[], dict[str, object]]
    session: str
    chat: str
    turn: str
    call: str
    at: float
    number: int
    event: Event | None = None

    def whole(self) -> Event:
        """The event with its data."""
        if self.event is None:
            self.event = Event(
                kind=self.kind,
                data=self.make(),
                session=self.session,
                chat=self.chat,
                turn=self.turn,
                call=self.call,
                at=self.at,
                number=self.number,
            )
        return self.event


class Interpreter(Protocol):
    """Tells what belongs right before an event of a turn, and right after it."""

    def before(self, event: Event) -> None:
        """That event is about to be told; it has no number yet."""
        ...

    def after(self, event: Event) -> None:
        """That event was told."""
        ...


class Hub:
    """Takes events from anywhere on the loop and gives each listener its own bounded queue."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        # Later than every number of an earlier host on this clock, so that a page that comes back knows what it missed.
        self._numbers = itertools.count(1 + int(clock() * 1000))
        self._listeners: set[Listener] = set()
        self._interpreters: dict[Kind, tuple[Interpreter, ...]] = {}
        self._said: deque[Event] = deque(maxlen=MISSED)

    def tell(
        self,
        kind: Kind,
        data: dict[str, object] | None = None,
        *,
        session: str = "",
        chat: str = "",
        turn: str = "",
        call: str = "",
    ) -> Event:
        """Tell everybody; returns the event as told. Never blocks, never raises for a listener's sake."""
        interpreters = self._interpreters.get(kind, ()) if turn else ()
        if interpreters:
            coming = Event(kind=kind, data=data or {}, session=session, chat=chat, turn=turn, call=call, at=self._clock())
            for interpreter in interpreters:
                interpreter.before(coming)
        event = Event(
            kind=kind,
            data=data or {},
            session=session,
            chat=chat,
            turn=turn,
            call=call,
            at=self._clock(),
            number=next(self._numbers),
        )
        self._spread(event)
        for interpreter in interpreters:
            interpreter.after(event)
        return event

    def _spread(self, event: Event) -> None:
        if event.kind is Kind.SAID:
            self._said.append(event)
        for listener in self._listeners:
            listener._put(event)

    def tell_made(
        self, kind: Kind, make: Callable[[], dict[str, object]], *, session: str, chat: str, turn: str, call: str
    ) -> None:
        """The same, with data that is made when the first listener takes the event: the teller has no time for it now."""
        if turn and kind in self._interpreters:
            self.tell(kind, make(), session=session, chat=chat, turn=turn, call=call)
            return
        if not self._listeners:
            return
        number, at = next(self._numbers), self._clock()
        made = _Made(kind=kind, make=make, session=session, chat=chat, turn=turn, call=call, at=at, number=number)
        for listener in self._listeners:
            listener._put(made)

    def said_after(self, number: int) -> list[Event]:
        """The last lines that were said, from after that number on, for a listener that was away."""
        return [event for event in self._said if event.number > number]

    def interpret(self, interpreter: Interpreter, *kinds: Kind) -> None:
        """From now on it is asked around every event of these kinds that belongs to a turn, after those that came before it."""
        for kind in kinds:
            self._interpreters[kind] = (*self._interpreters.get(kind, ()), interpreter)

    def listen(self, *kinds: Kind, limit: int = 1000) -> Listener:
        """A listener of the given kinds, or of all; it hears what is told from now on until it is closed."""
        listener = Listener(self, frozenset(kinds), limit)
        self._listeners.add(listener)
        return listener

    def _forget(self, listener: Listener) -> None:
        self._listeners.discard(listener)


class Listener:
    """One listener's queue, for one reader: `async with hub.listen() as events: async for event in events`."""

    def __init__(self, hub: Hub, kinds: frozenset[Kind], limit: int) -> None:
        self._hub = hub
        self._kinds = kinds
        self._limit = limit
        self._events: deque[Event | _Made] = deque()
        self._woken: asyncio.Future[None] | None = None
        self._closed = False
        self._dropped = 0

    def _put(self, event: Event | _Made) -> None:
        if self._kinds and event.kind not in self._kinds:
            return
        if len(self._events) + (self._dropped > 0) >= self._limit:
            self._dropped += 1
            return
        if self._dropped:
            self._events.append(Event(kind=Kind.DROPPED, data={"count": self._dropped}, at=event.at, number=event.number))
            self._dropped = 0
        self._events.append(event)
        self._wake()

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def next(self) -> Event | None:
        """The next event, or None once closed."""
        while not self._events:
            if self._closed:
                return None
            self._woken = asyncio.get_running_loop().create_future()
            await self._woken
        event = self._events.popleft()
        return event.whole() if isinstance(event, _Made) else event

    def close(self) -> None:
        """Hear nothing more; whoever waits gets None."""
        self._hub._forget(self)
        self._closed = True
        self._events.clear()
        self._wake()

    async def __aenter__(self) -> Listener:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        event = await self.next()
        if event is None:
            raise StopAsyncIteration
        return event
