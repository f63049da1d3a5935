"""What a running tool may ask of the host: its own state, settings and reminders, a question to the person, a line to be said.

One `Desk` serves one call. It knows the plugin from the host's own record of the call, never from what the worker sends.
Above: `host` hands desks to jobs. Below: `store`, `cards`, `session`. It refuses to know: how requests travel.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from etui.budgets import window
from etui.cards import Answer, Card, Cards
from etui.errors import ServiceError, StoreError, UsageError
from etui.events import LINE, Hub, Kind
from etui.owner.confirming import APPROVED, DECLINED, DISMISSED, UNANSWERED, UNREACHABLE, Confirming
from etui.session import Session
from etui.settings import Settings
from etui.store import Store
from etui.store.reminders import Reminder
from etui.tool import Call, Tool

LONGEST_INPUT = 600.0
"""Seconds that a tool may let a person type."""
LONGEST_REASON = 100
"""Characters of a tool's reason for the end of its session."""
AUDITED = 500
"""Calls among which a plugin's own are looked for."""
OPEN, CARDS = 8, 50
"""Questions of a plugin that may be open at once, and that one call may ask."""
REMINDERS = 500
"""Reminders of a plugin that may wait at once."""
LABEL, DETAIL, PLAN = 500, 4000, 50
"""Characters of a question and of what is said about it, and steps of a plan, that are shown."""
CHOICES = 50
ACTION = 100_000
"""Characters of an action that a person may be asked about."""
QUERY = 500
"""Characters of a search that are looked for."""
AT_ONCE, A_SECOND = 40, 10.0
"""What a call may show right away, and each second from then on; more is dropped."""
_TYPED = {"answered": APPROVED, "declined": DECLINED, "dismissed": DISMISSED, "nobody": UNANSWERED}


class Work(Protocol):
    """Who starts and cancels background jobs."""

    def start(self, session: Session, goal: str) -> Started:
        """Start one for this session's chat. Raises UsageError with a sentence where there can be none."""
        ...

    def cancel(self, chat: str) -> bool:
        """Cancel the one of a chat; False if there is none."""
        ...


class Started(Protocol):
    """A job that was started."""

    @property
    def id(self) -> str:
        """Its id."""
        ...


class Tap:
    """Lets through so much at once, and then so much a second: nobody reads a flood."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = float(AT_ONCE)
        self._at = clock()

    def open(self) -> bool:
        """Whether one more may pass now."""
        now = self._clock()
        self._left = min(AT_ONCE, self._left + max(0.0, now - self._at) * A_SECOND)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Services:
    """The services of one host."""

    def __init__(
        self,
        *,
        store: Store,
        hub: Hub,
        cards: Cards,
        settings: Callable[[], Settings],
        clock: Callable[[], float],
        woken: Callable[[], None],
        confirming: Confirming,
        spoken: Callable[[Session, str], None],
        activate: Callable[[Session, str], Awaitable[dict[str, list[str]]]],
        work: Callable[[], Work],
    ) -> None:
        self.store = store
        self.hub = hub
        self.cards = cards
        self.settings = settings
        self.clock = clock
        self.woken = woken
        """Called when a reminder was added, moved or cancelled."""
        self.work = work
        """Gives who starts and cancels background jobs."""
        self.confirming = confirming
        self.spoken = spoken
        """Called with what a person typed into a card that nobody waited for: it is their next sentence."""
        self.activate = activate
        """Lets a job see the tools of the MCP servers that are meant; raises UsageError with a sentence."""

    def desk(self, tool: Tool, call: Call, session: Session) -> Callable[[str, dict[str, object]], Awaitable[object]]:
        """What serves this one call."""
        return Desk(self, tool, call, session).serve


class Desk:
    """Serves one call of one plugin's tool."""

    def __init__(self, services: Services, tool: Tool, call: Call, session: Session) -> None:
        self._services = services
        self._tool = tool
        self._call = call
        self._session = session
        self._tap = Tap(time.monotonic)
        self._asked = 0

    async def serve(self, service: str, args: dict[str, object]) -> object:
        """Answer one request. Raises ServiceError, with a sentence for the tool's author, for what cannot be had."""
        handler = SERVICES.get(service)
        if handler is None:
            raise ServiceError(f"There is no service {service!r}.")
        try:
            return await handler(self, **args)
        except TypeError as error:
            raise ServiceError(f"The service {service!r} was asked with wrong arguments: {error}.") from None
        except (ValueError, OverflowError) as error:
            raise ServiceError(f"The service {service!r} was asked with a wrong value: {error}.") from None
        except StoreError as error:
            raise ServiceError(str(error)) from None

    async def state_get(self, key: str) -> object:
        """The value and its version, or None."""
        return self._services.store.state.get(self._tool.plugin, key)

    async def state_put(self, key: str, value: object) -> object:
        """Set it, whatever is there."""
        self._services.store.state.put(self._tool.plugin, key, value)
        return None

    async def state_swap(self, key: str, value: object, version: int) -> object:
        """Set it if it still has this version; version 0 is "not there"."""
        return self._services.store.state.swap(self._tool.plugin, key, value, version)

    async def state_delete(self, key: str) -> object:
        """Remove it."""
        return self._services.store.state.delete(self._tool.plugin, key)

    async def state_keys(self, prefix: str = "") -> object:
        """The keys that begin so."""
        return self._services.store.state.keys(self._tool.plugin, prefix)

    async def state_search(self, query: str, prefix: str = "", limit: int = 20) -> object:
        """Key, value and snippet of what matches, best first."""
        return self._services.store.state.search(self._tool.plugin, prefix, query, limit)

    async def settings_get(self, name: str) -> object:
        """One setting of the plugin's own table, or None."""
        return self._services.settings().plugin.get(self._tool.plugin, {}).get(name)

    async def remind_add(
        self,
        text: str,
        at: float,
        kind: str = "reminder",
        label: str = "",
        repeat: str = "",
        wall: str = "",
        zone: str = "",
    ) -> object:
        """Say `text` at that time (seconds since the epoch), also after a restart; gives the reminder's id."""
        if len(self._services.store.reminders.upcoming("", self._tool.plugin)) >= REMINDERS:
            raise ServiceError(f"{self._tool.plugin!r} has {REMINDERS} reminders that are still to come; cancel some first.")
        reminder = Reminder(
            id="",
            plugin=self._tool.plugin,
            kind=kind,
            text=_text(text, LINE),
            label=_text(label, LABEL),
            due=float(at),
            zone=zone or self._services.settings().timezone,
            wall=wall,
            repeat=repeat,
            chat=self._session.chat,
            session=self._session.id,
            created=self._services.clock(),
            done=None,
        )
        kept = self._services.store.reminders.add(reminder)
        self._changed(kept.id)
        return kept.id

    async def remind_list(self, kind: str = "") -> object:
        """The plugin's own reminders that are still to come."""
        return [msgspec.to_builtins(one) for one in self._services.store.reminders.upcoming(kind, self._tool.plugin)]

    async def remind_cancel(self, id: str) -> object:
        """Cancel one of the plugin's own; False if there is none."""
        reminder = self._services.store.reminders.get(id)
        if reminder is None or reminder.plugin != self._tool.plugin:
            return False
        cancelled = self._services.store.reminders.cancel(id)
        self._changed(id)
        return cancelled

    async def ask(self, question: str, choices: list[str] | None = None, default: str = "") -> object:
        """Ask the person; `nobody` at once where nobody is there."""
        if not self._session.attended:
            return {"state": "nobody", "answer": default}
        if choices and (len(choices) > CHOICES or any(len(_text(one)) > LABEL for one in choices)):
            raise ServiceError(f"A question has at most {CHOICES} choices of {LABEL} characters.")
        self._may_ask()
        answer = await self._services.cards.ask(self._card(question, choices=tuple(choices or ())))
        state = "declined" if answer.state == "dismissed" else answer.state
        return {"state": state, "answer": answer.text if answer.state == "answered" else default}

    def _card(
        self, question: str, *, choices: tuple[str, ...] = (), detail: str = "", url: str = "", secret: bool = False
    ) -> Card:
        return Card(
            id="",
            kind="link" if url else "question",
            question=_text(question, LABEL),
            choices=choices,
            detail=_text(detail, DETAIL),
            url=url,
            secret=secret,
            tool=self._tool.name,
            plugin=self._tool.plugin,
            session=self._session.id,
            chat=self._session.chat,
            turn=self._call.turn,
            call=self._call.id,
        )

    def _may_ask(self) -> None:
        """One more question. Raises ServiceError where a person would be asked too much."""
        self._asked += 1
        mine = sum(card.plugin == self._tool.plugin for card in self._services.cards.open())
        if mine >= OPEN or self._asked > CARDS:
            raise ServiceError(f"{self._tool.name!r} asks too much: {OPEN} questions may be open at once, {CARDS} in one call.")

    async def confirm(self, action: str, risk: str = "exec", family: str | None = None, force: bool = False) -> object:
        """Whether a command may run, and who decided."""
        _short_enough(action, family)
        decision = await self._services.confirming.confirm(
            self._tool, self._call, self._session, action, _text(risk, LABEL), family, force, self._may_ask
        )
        return {"verdict": decision.verdict, "by": decision.by}

    async def approve(self, action: str, family: str | None = None, notice: str = "") -> object:
        """Ask the person about something that is no command."""
        _short_enough(action, family)
        notice = _text(notice, LABEL)
        decision = await self._services.confirming.approve(
            self._tool, self._call, self._session, action, family, notice, self._may_ask
        )
        return {"verdict": decision.verdict, "by": decision.by}

    async def input(self, label: str, detail: str = "", secret: bool = False, seconds: float | None = None) -> object:
        """Wait for something that the person types, at most so many seconds; how it ended, and the value or None."""
        if not self._session.attended:
            return {"verdict": UNREACHABLE, "value": None}
        seconds = window(self._session.channel) if seconds is None else min(max(seconds, 1.0), LONGEST_INPUT)
        self._may_ask()
        answer = await self._services.cards.ask(self._card(label, detail=detail, secret=secret), seconds)
        typed = answer.text if answer.state == "answered" else None
        return {"verdict": _TYPED[answer.state], "value": typed}

    async def card_open(self, label: str = "", detail: str = "", url: str = "", secret: bool = False, keep: str = "") -> object:
        """Show a link to open, or a box to type into, and go on; False where nobody sees it, or it is no address of the web.

        What is typed is the person's next sentence; with `keep` it goes into the plugin's state under that key instead.
        """
        if not self._session.attended or (url and not _of_the_web(url)):
            return False
        self._may_ask()
        card = self._card(label, detail=detail, url=url, secret=secret or bool(keep))
        self._services.cards.show(card, lambda answer: self._typed(answer, label, keep) if not url else None)
        return True

    def _typed(self, answer: Answer, label: str, keep: str) -> None:
        if answer.state != "answered":
            return
        if keep:
            self._services.store.state.put(self._tool.plugin, keep, answer.text)
        told = " ".join(_text(label).split())[: LABEL // 5]  # the tool's words, said as the person's: few, and on one line
        self._services.spoken(self._session, f"I typed it in: {told}" if keep else answer.text)

    async def show(self, list: dict[str, object] | None) -> object:
        """Show a plan with its steps, or take it away."""
        plan = None if list is None else _plan(list)
        if self._tap.open():
            self._tell(Kind.TASKS, {"list": plan})
        return None

    async def chats_search(self, query: str, limit: int = 5) -> object:
        """What was said in chats that are not private, in earlier turns than this one."""
        words = _text(query, QUERY)
        found = await asyncio.to_thread(self._services.store.said.search, words, limit, without=self._call.turn)
        return [msgspec.to_builtins(one) for one in found]

    async def chats_recent(self, chat: str, limit: int = 20) -> object:
        """What was said last in a chat; nothing of a private one."""
        return [msgspec.to_builtins(one) for one in self._services.store.said.recent(chat, limit)]

    async def chats_count(self) -> object:
        """How many things were said in chats that are not private."""
        return self._services.store.said.count()

    async def chats_list(self, limit: int = 20) -> object:
        """The chats that are not private, the newest first."""
        return [msgspec.to_builtins(one) for one in self._services.store.said.chats(limit)]

    async def audit_recent(self, limit: int = 50) -> object:
        """What this plugin's own tools did last, the newest first, without secrets."""
        journal = self._services.store.journal
        own = {one.id for one in journal.audit(AUDITED) if one.plugin == self._tool.plugin}
        found = (msgspec.to_builtins(one) for one in journal.actions(AUDITED) if one.call in own)
        return list(itertools.islice(found, max(0, limit)))

    async def work_start(self, goal: str) -> object:
        """Start a background job for this conversation; gives its id as `job`, or says `why` there is none."""
        try:
            return {"job": self._services.work().start(self._session, goal).id}
        except UsageError as error:
            return {"why": str(error)}

    async def work_cancel(self) -> object:
        """Cancel the background job of this conversation; False if there is none."""
        return self._services.work().cancel(self._session.chat)

    async def mcp_activate(self, server: str) -> object:
        """Let this job use the tools of the MCP servers that are meant; gives their names, by server."""
        try:
            return await self._services.activate(self._session, server)
        except UsageError as error:
            raise ServiceError(str(error)) from None

    async def session_end(self, reason: str = "user") -> object:
        """Let the session end once its turn is over: what is being said is said to its end."""
        self._session.end(reason[:LONGEST_REASON])
        return None

    async def session_tried(self, what: str) -> object:
        """The tool tried what no tool may; it stands in the audit, and nothing else comes of it."""
        self._services.store.journal.decided(self._call.id, what, self._tool.risk.value, DECLINED, "never")
        return None

    async def say(self, text: str) -> object:
        """Show and speak a line now."""
        if _text(text).strip() and self._tap.open():
            self._tell(Kind.SAID, {"text": _text(text, LINE), "why": "tool"})
        return None

    async def progress(self, fraction: float | None = None, text: str = "") -> object:
        """Tell how far the call is."""
        if self._tap.open():
            self._tell(Kind.CALL_PROGRESS, {"fraction": fraction, "text": _text(text, LABEL)})
        return None

    def _tell(self, kind: Kind, data: dict[str, object]) -> None:
        session = self._session
        self._services.hub.tell(kind, data, session=session.id, chat=session.chat, turn=self._call.turn, call=self._call.id)

    def _changed(self, reminder: str) -> None:
        self._services.woken()
        self._tell(Kind.REMINDERS_CHANGED, {"reminder": reminder})


def _text(value: object, most: int | None = None) -> str:
    """The text, cut where it is too long to be shown. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {type(value).__name__}")
    return value if most is None or len(value) <= most else f"{value[:most]}…"


def _short_enough(action: object, family: object) -> None:
    """Raises ServiceError for what a person could not read through, TypeError for what is no text."""
    if len(_text(action)) > ACTION or (family is not None and len(_text(family)) > LABEL):
        raise ServiceError(f"An action has at most {ACTION:,} characters, and its family {LABEL}.")


def _of_the_web(url: str) -> bool:
    try:
        parts = urlsplit(_text(url))
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and len(url) <= LINE


def _plan(given: object) -> dict[str, object]:
    """A plan as surfaces take it, whatever else was given. Raises TypeError for what is none."""
    if not isinstance(given, dict):
        raise TypeError("a plan is a table")
    tasks = given.get("tasks") or []
    if not isinstance(tasks, list) or not all(isinstance(one, dict) for one in tasks):
        raise TypeError("the tasks of a plan are a list of tables")
    steps = [
        {
            "order": one["order"] if type(one.get("order")) is int else number,
            "text": _text(one.get("text") or "", LABEL),
            "status": _text(one.get("status") or "", LABEL),
        }
        for number, one in enumerate(tasks[:PLAN], 1)
    ]
    return {name: _text(given.get(name) or "", LABEL) for name in ("title", "status")} | {"tasks": steps}


SERVICES: Mapping[str, Callable[..., Any]] = {
    "state.get": Desk.state_get,
    "state.put": Desk.state_put,
    "state.swap": Desk.state_swap,
    "state.delete": Desk.state_delete,
    "state.keys": Desk.state_keys,
    "state.search": Desk.state_search,
    "settings.get": Desk.settings_get,
    "remind.add": Desk.remind_add,
    "remind.list": Desk.remind_list,
    "remind.cancel": Desk.remind_cancel,
    "work.start": Desk.work_start,
    "work.cancel": Desk.work_cancel,
    "ask": Desk.ask,
    "confirm": Desk.confirm,
    "approve": Desk.approve,
    "input": Desk.input,
    "card.open": Desk.card_open,
    "show": Desk.show,
    "chats.search": Desk.chats_search,
    "chats.recent": Desk.chats_recent,
    "chats.count": Desk.chats_count,
    "chats.list": Desk.chats_list,
    "audit.recent": Desk.audit_recent,
    "mcp.activate": Desk.mcp_activate,
    "session.end": Desk.session_end,
    "session.tried": Desk.session_tried,
    "say": Desk.say,
    "progress": Desk.progress,
}
"""The closed set of services, by the names that go over the wire."""
