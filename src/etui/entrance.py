"""How a conversation becomes the owner's: the PIN that is said, keyed, or handed over by a model is taken here and tried.

What was said goes on without it, with a notice of what became of it; the digits go no further than this.
Above: `host` asks it before each turn, and for each key. Below: `owner.pin`, the store, sessions. It refuses to know: what
waits for the PIN, which is the gate's to say, and how a turn is taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary
from zoneinfo import ZoneInfo

import msgspec
import structlog

from etui.agent.calls import Door
from etui.errors import UsageError
from etui.events import Event, Hub, Kind
from etui.modes import WORK
from etui.owner.guard import Guard, Limits
from etui.owner.keypad import KEYS, Keypad
from etui.owner.pin import AGAIN, AUTHORIZED, INVALID, LOCKED, Pins, Tried
from etui.owner.spoken import MARK, concealed, names
from etui.run import Serve
from etui.session import Session
from etui.settings import Settings
from etui.store import Store
from etui.store.chats import Message
from etui.tool import Problem
from etui.verdict import FULL, PIN

log = structlog.get_logger(__name__)
CALLS = frozenset({"phone"})
"""Channels on which a session is a call, which can be ended."""
GOODBYE = 10.0
"""Seconds in which goodbye is said."""
PATIENCE = 3
"""Turns for which the PIN is waited for once it was asked for."""
REASON = "pin"
"""Why a call ends in which no PIN is taken any more."""


class Handle(Protocol):
    """Something that will happen, and can be called off."""

    def cancel(self) -> object:
        """Call it off."""
        ...


Later = Callable[[float, Callable[[], object]], Handle]
"""Does something after so many seconds."""


class Entrance:
    """The one way in of one host."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        settings: Callable[[], Settings],
        clock: Callable[[], float],
        say: Callable[[Session, str, Message], object],
        hang_up: Callable[[Session, str], object],
    ) -> None:
        """`say` starts a turn with what was keyed, as the mark that stands for it, and the notice of what became of it.

        `hang_up` ends a session at once, for a reason.
        """
        self._chats = store.chats
        self._hub = hub
        self._settings = settings
        self._clock = clock
        self._say = say
        self._hang_up = hang_up
        self._leaving: WeakValueDictionary[str, Session] = WeakValueDictionary()
        """Calls that end with the turn that is about to begin, by session."""
        self._last: WeakKeyDictionary[Session, Handle] = WeakKeyDictionary()
        """What ends a call in which no PIN is taken any more, should nobody say goodbye."""
        self.later: Later = lambda seconds, act: asyncio.get_running_loop().call_later(seconds, act)
        """A test brings its own."""
        guard = Guard(store.values, clock, self._limits, self._alert)
        self.pins = Pins(store.values, guard, lambda: settings().pin_tries)
        self._keypads: WeakKeyDictionary[Session, Keypad] = WeakKeyDictionary()

    def start(self) -> None:
        """Follow the turns from now on."""
        self._hub.interpret(self, Kind.TURN_STARTED)

    def close(self) -> None:
        """Hang up on nobody any more."""
        for timer in self._last.values():
            timer.cancel()

    def before(self, event: Event) -> None:
        """A turn is about to begin."""

    def after(self, event: Event) -> None:
        """A turn has begun: if it is the last one of its call, that ends with it."""
        if (session := self._leaving.pop(event.session, None)) is not None:
            session.end(REASON)

    def is_set(self) -> bool:
        """Whether the owner has set a PIN."""
        return self.pins.is_set

    async def hear(self, session: Door, text: str) -> tuple[str, Message | None]:
        """What a person said, without the PIN that is in it, and the notice of what became of that."""
        if not isinstance(session, Session) or session.mode == WORK or session.trust == FULL:
            return text, None
        heard = await self.pins.hear(session, text, asked=_asked(self._chats.messages(session.chat)))
        if heard.tried is None:
            return heard.text, None
        self._note(session, heard.tried)
        if heard.meant:
            self._may_end(session, self._leave)
        return heard.text, _notice(heard.tried)

    async def key(self, session: Session, key: str) -> str:
        """A key was pressed: a digit, `#` or `*`. Gives what became of the PIN, or an empty text while more is awaited.

        Raises UsageError for what is no key.
        """
        if key not in KEYS:
            raise UsageError("A key is one of 0 to 9, `#` and `*`.")
        session.press()
        if session.trust == FULL or session.ended or not self.pins.is_set:
            return ""
        keypad = self._keypads.setdefault(session, Keypad(self._clock))
        keyed = keypad.press(key, self.pins.digits)
        if keyed is None:
            return ""
        tried = await self.pins.submit(session, keyed)
        self._note(session, tried)
        talks = bool(session.chat) and self._chats.get(session.chat) is not None
        self._may_end(session, self._leave if talks else _end)
        if talks:
            self._say(session, MARK, _notice(tried))
        return tried.status

    def conceal(self, session: Session, value: object) -> object:
        """What nobody known gives to a tool, as it may be written down: without any digits that they did not say."""
        messages = self._chats.messages(session.chat) if session.chat else []
        return concealed(value, [message.text for message in messages if message.role == "user"])

    def serve(self, session: Session) -> Serve:
        """What the host's own tools do for this session."""

        async def submit_pin(_: str, arguments: dict[str, object]) -> object:
            tried = await self.pins.submit(session, str(arguments.get("pin", "")))
            self._note(session, tried)
            self._may_end(session, _end)
            return tried.payload

        return submit_pin

    def problem(self) -> Problem | None:
        """What the owner should know while no PIN is taken."""
        until = self.pins.locked_until
        return self._problem(until) if until is not None else None

    def _note(self, session: Session, tried: Tried) -> None:
        """For the owner's log: who gave a wrong one."""
        if tried.status in (INVALID, LOCKED):
            log.warning("a PIN was turned down", status=tried.status, channel=session.channel, caller=session.caller)

    def _may_end(self, session: Session, end: Callable[[Session], None]) -> None:
        """A call in which no PIN is taken any more ends, once that was said, or a little later."""
        if session.channel in CALLS and self.pins.locked(session) and session not in self._last:
            self._last[session] = self.later(GOODBYE, lambda: self._hang_up(session, REASON))
            end(session)

    def _leave(self, session: Session) -> None:
        self._leaving[session.id] = session

    def _limits(self) -> Limits:
        settings = self._settings()
        return Limits(settings.pin_failures, settings.pin_window_hours * 3600.0, settings.pin_lockout_minutes * 60.0)

    def _alert(self, until: float) -> None:
        self._hub.tell(Kind.PROBLEM, {"problem": msgspec.to_builtins(self._problem(until))})

    def _problem(self, until: float) -> Problem:
        when = datetime.fromtimestamp(until, ZoneInfo(self._settings().timezone or "UTC"))
        reason = f"Too many wrong PINs were given, so none is taken until {when:%H:%M} on {when:%Y-%m-%d}."
        return Problem(
            what="pin", reason=reason, hint="`etui pin status` says when it is over; the log says who tried.", refused=False
        )


def _end(session: Session) -> None:
    session.end(REASON)


def _notice(tried: Tried) -> Message:
    """What the model and the person are told of a PIN that was given; which one it was, nobody is."""
    meta: dict[str, object] = {"why": "notice", PIN: tried.status}
    return Message(chat="", role="notice", text=tried.message, meta=meta)


def _asked(messages: Sequence[Message]) -> bool:
    """Whether the PIN is being waited for: it was asked for a few turns ago at most, and has not been given since."""
    turns = list(dict.fromkeys(message.turn for message in reversed(messages)))[:PATIENCE]
    said = [message for message in messages if message.turn in turns]
    given = max((at for at, message in enumerate(said) if message.meta.get(PIN) == AUTHORIZED), default=-1)
    return any(_asks(message) for message in said[given + 1 :])


def _asks(message: Message) -> bool:
    """Whether it asks for the PIN: a call that waits for it, what became of a wrong one, or a model in its own words."""
    if message.role == "assistant":
        return names(message.text)
    return message.meta.get("rule") == PIN or message.meta.get(PIN) in AGAIN
