"""The sessions that live: one for each chat and channel, from its first turn until it is ended, idle for long, or all is over.

Above: `host` takes turns in them, and surfaces open and end them through it. Below: `session`, the events. It refuses to know:
which tools a session has, what its trust rests on, how a turn is taken. A session whose end was asked for from inside ends once
its turn is over, so that the last words are said; whatever else ends it cuts its turn and its calls short.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec

from etui.events import Event, Hub, Kind
from etui.modes import WORK
from etui.session import Session

IDLE, DELETED, CLEARED, CLOSING, DONE = "idle", "deleted", "cleared", "closing", "done"
"""Reasons of the host's own: nothing was said for long, the chat was deleted or cleared, Etui ends, the job is over."""


class Handle(Protocol):
    """Something that will happen, and can be called off."""

    def cancel(self) -> object:
        """Call it off."""
        ...


class Make(Protocol):
    """Makes a session."""

    def __call__(
        self, channel: str, *, chat: str = "", caller: str = "", possession: bool = False, attended: bool = False
    ) -> Session:
        """A new one; `caller` is who called, `possession` says that the host itself placed the call to the owner."""
        ...


class _Kept(msgspec.Struct):
    """One session, and when it was last used."""

    session: Session
    used: float
    turns: set[str] = msgspec.field(default_factory=set)
    """Those that are being taken."""


class Sessions:
    """Keeps the sessions of one host."""

    def __init__(
        self,
        hub: Hub,
        make: Make,
        minutes: Callable[[], float],
        cut: Callable[[str], object],
        gone: Callable[[Session], None],
    ) -> None:
        """`minutes` is how long one may be idle.

        `cut` stops the turn of a chat; `gone` hears of each session that has ended.
        """
        self._hub = hub
        self._make = make
        self._minutes = minutes
        self._cut = cut
        self._gone = gone
        self._kept: dict[str, _Kept] = {}
        self._of: dict[tuple[str, str], str] = {}
        """Ids by chat and channel."""
        self._timer: Handle | None = None
        self.later: Callable[[float, Callable[[], None]], Handle] = lambda seconds, act: asyncio.get_running_loop().call_later(
            seconds, act
        )
        self.ticks: Callable[[], float] = lambda: asyncio.get_running_loop().time()
        """The clock by which a session is idle, in seconds; a test brings its own, together with `later`."""

    def start(self) -> None:
        """Follow the turns from now on."""
        self._hub.interpret(self, Kind.TURN_STARTED, Kind.TURN_ENDED)

    def close(self) -> None:
        """End all of them."""
        for kept in list(self._kept.values()):
            self.end(kept.session, CLOSING)
        if self._timer is not None:
            self._timer.cancel()

    def all(self) -> tuple[Session, ...]:
        """Those that live, in the order in which they began."""
        return tuple(kept.session for kept in self._kept.values())

    def get(self, id: str) -> Session | None:
        """The one with this id, if it lives."""
        kept = self._kept.get(id)
        return kept.session if kept is not None else None

    def of(self, chat: str, channel: str) -> Session:
        """The one of a chat and channel; a new one where none lives."""
        session = self.get(self._of.get((chat, channel), "")) if chat else None
        if session is None:
            session = self._make(channel, chat=chat)
            self.keep(session)
        return session

    async def open(
        self, channel: str, *, chat: str = "", caller: str = "", possession: bool = False, attended: bool = False
    ) -> Session:
        """Begin one that lives until it is ended; the turns of its chat on its channel are taken in it.

        `caller` is who called; `possession` only for a call that the host itself placed to a number of the owner's.
        """
        session = self._make(channel, chat=chat, caller=caller, possession=possession, attended=attended)
        self.keep(session)
        await session.open()
        return session

    def keep(self, session: Session) -> None:
        """It lives from now on, until it is ended."""
        if session.id in self._kept or session.ended:
            return
        self._kept[session.id] = _Kept(session, self.ticks())
        if session.chat:
            self._of.setdefault((session.chat, session.channel), session.id)
        data: dict[str, object] = {"channel": session.channel, "trust": session.trust, "caller": session.caller}
        self._hub.tell(Kind.SESSION_STARTED, data, session=session.id, chat=session.chat)
        self._look_later()

    async def ready(self, session: Session) -> Session:
        """The session in which a turn is to be taken, open: itself, or the next one of its chat where it has ended."""
        if session.ended:
            session = self.of(session.chat, session.channel)
        await session.open()
        return session

    def rested(self, session: Session) -> None:
        """No call runs in it now, or it is to end: that it does as soon as nothing runs in it any more."""
        kept = self._kept.get(session.id)
        if kept is not None:
            kept.used = self.ticks()
        if session.ending and not session.acting and not (kept is not None and kept.turns):
            self.end(session, session.ending)

    def end(self, session: Session, reason: str) -> None:
        """End it now; what runs in it is cut short."""
        if session.ended:
            return
        kept = self._kept.pop(session.id, None)
        if self._of.get((session.chat, session.channel)) == session.id:
            del self._of[session.chat, session.channel]
        if kept is not None and kept.turns:
            self._cut(session.chat)
        session.stop(reason)
        self._gone(session)
        self._hub.tell(Kind.SESSION_ENDED, {"reason": reason}, session=session.id, chat=session.chat)

    def end_by_id(self, id: str, reason: str = "user") -> bool:
        """End the one with this id; what runs in it is cancelled. False if none lives."""
        session = self.get(id)
        if session is not None:
            self.end(session, reason)
        return session is not None

    def hang_up(self, chat: str, channel: str) -> bool:
        """End the one of a chat and channel. False if none lives."""
        session = next((one for one in self.all() if (one.chat, one.channel) == (chat, channel)), None)
        return session is not None and self.end_by_id(session.id)

    def end_chat(self, chat: str, reason: str = DELETED) -> None:
        """End every one of a chat."""
        for session in self.all():
            if session.chat == chat:
                self.end(session, reason)

    def look(self) -> None:
        """End those that have been idle for too long."""
        for kept in list(self._kept.values()):
            if self._left(kept) <= 0:
                self.end(kept.session, IDLE)
        self._look_later()

    def before(self, event: Event) -> None:
        """A turn is about to begin or to end."""
        kept = self._kept.get(event.session)
        if kept is not None and event.kind is Kind.TURN_STARTED:
            kept.turns.add(event.turn)

    def after(self, event: Event) -> None:
        """A turn has begun or ended."""
        kept = self._kept.get(event.session)
        if kept is None:
            return
        kept.used = self.ticks()
        if event.kind is not Kind.TURN_ENDED:
            return
        kept.turns.discard(event.turn)
        self.rested(kept.session)
        if kept.session.mode == WORK:
            self.end(kept.session, DONE)

    def _left(self, kept: _Kept) -> float:
        """Seconds after which it has been idle for too long."""
        if kept.turns or kept.session.acting:
            kept.used = self.ticks()
        return kept.used + self._minutes() * 60 - self.ticks()

    def _look_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        left = [self._left(kept) for kept in self._kept.values()]
        self._timer = self.later(max(0.0, min(left)), self.look) if left else None
