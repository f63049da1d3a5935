"""Background jobs: a turn of its own that works towards a goal while the conversation goes on, one at a time in each chat.

A job's chat is its own, its id is that chat's id, and its calls are events like any others. How it ended is kept as a notice in
the chat that it was started from, which the next turn there is told. Above: `host`, and `services` for the tools that start and
cancel one. Below: `running`, the store, the events. It refuses to know: models and rules.

A job survives what a turn survives: where the machine's death cut it short it goes on; where Etui ended in good order it was
stopped, and the conversation is told.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

import msgspec
import structlog

from etui.agent.asking import JOB
from etui.agent.calls import Door
from etui.agent.history import shorten
from etui.agent.loop import Ended, Why
from etui.agent.running import Running
from etui.agent.worktime import Later, WorkTime
from etui.errors import StoreError, UsageError
from etui.events import Event, Hub, Kind
from etui.modes import WORK
from etui.store.chats import CHANNEL_OF_JOBS, Chats, Message, Turn
from etui.store.values import Values

log = structlog.get_logger(__name__)
SPACE = "job"
"""Where they are kept, by id."""
SUMMARY = 500
"""Characters of what a conversation is told about the end of a job."""
KEPT = 50
"""Jobs that have ended and are still listed."""
RULES = (
    "You are working in the background on one job, which the person's message states; nobody reads along. Do it step by step "
    f"with your tools. Then answer with a summary for the person, of at most {SUMMARY} characters: what was done, what was "
    "found, and what could not be done."
)
"""What a model is told in a job."""
RUNNING, DONE, FAILED, CANCELLED, STOPPED = "running", "done", "failed", "cancelled", "stopped"
"""The states of a job; `stopped` by the end of Etui, `cancelled` by somebody."""


class Opened(Door, Protocol):
    """The session that a job is started from, or works in."""

    private: bool
    attended: bool
    withheld: frozenset[str]

    @property
    def toolsets(self) -> frozenset[str] | None:
        """The only families that it may see; None is all."""
        ...


Open = Callable[["Job"], Opened]
"""Opens the session that a job works in."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One job, as it is kept and shown."""

    id: str
    """The id of the chat in which it works, too."""
    chat: str
    """The chat that it was started from."""
    goal: str
    state: str = RUNNING
    """running, done, failed, cancelled or stopped."""
    started: float = 0.0
    """Seconds since the epoch."""
    ended: float | None = None
    summary: str = ""
    channel: str = "console"
    trust: str = ""
    private: bool = False
    attended: bool = False
    toolsets: tuple[str, ...] | None = None
    """What its conversation was confined to, and what was kept back from it: a job is no way around that."""
    withheld: tuple[str, ...] = ()


class Jobs:
    """The background jobs of one host."""

    def __init__(
        self,
        running: Running,
        chats: Chats,
        values: Values,
        hub: Hub,
        open_session: Open,
        seconds: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        """`seconds` is how long a job may work, `clock` gives seconds since the epoch."""
        self._running = running
        self._chats = chats
        self._values = values
        self._hub = hub
        self._open = open_session
        self._seconds = seconds
        self._now = clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        """What waits for the end of each job that runs."""
        self._clocks: dict[str, WorkTime] = {}
        self._why: dict[str, str] = {}
        """Why a job was stopped, where it did not end by itself: cancelled, stopped or late."""
        self._listening: asyncio.Task[None] | None = None
        self.later: Later = lambda seconds, act: asyncio.get_running_loop().call_later(seconds, act)
        self.ticks: Callable[[], float] = lambda: asyncio.get_running_loop().time()
        """The clock of the time that a job may work, in seconds; a test brings its own, together with `later`."""

    def begin(self) -> None:
        """Listen from now on, and end what a death left behind without a turn to go on with."""
        self._listening = asyncio.create_task(self._listen(), name="jobs")
        unfinished = {turn.chat for turn in self._chats.unfinished()}
        for job in self.all():
            if self._chats.get(job.chat) is None and job.id not in unfinished:
                self._drop(job)
            elif job.state == RUNNING and job.id not in unfinished:
                self._end(job, self._state_of(job), self._last_words(job))

    async def close(self) -> None:
        """Stop every job and wait for it."""
        for id in self._tasks:
            self._stop(id, STOPPED)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        if self._listening is not None:
            self._listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listening

    def all(self) -> list[Job]:
        """Every job that is kept, the newest first."""
        kept = []
        for value in self._values.all(SPACE).values():
            with contextlib.suppress(msgspec.ValidationError):
                kept.append(msgspec.convert(value, Job))
        return sorted(kept, key=lambda job: -job.started)

    def of(self, chat: str) -> Job | None:
        """The job that runs for a chat, or that has this id."""
        return next((job for job in self.all() if job.state == RUNNING and chat in (job.chat, job.id)), None)

    def start(self, session: Opened, goal: str) -> Job:
        """Start one. Raises UsageError with a sentence where there can be none."""
        goal = goal.strip()
        if session.mode == WORK:
            raise UsageError("This is a background job already, and it cannot start another one.")
        if not session.chat or self._chats.get(session.chat) is None:
            raise UsageError("A background job needs a conversation that can be told when it is done.")
        if not goal:
            raise UsageError("A background job needs a goal.")
        if other := self.of(session.chat):
            raise UsageError(
                f"A background job is already running here: {shorten(other.goal, 200)!r}. "
                "No second one was started; wait for it, or cancel it first."
            )
        chat = self._chats.create(title=shorten(goal, 60), channel=CHANNEL_OF_JOBS, private=session.private)
        job = Job(
            id=chat.id,
            chat=session.chat,
            goal=goal,
            started=self._now(),
            channel=session.channel,
            trust=session.trust,
            private=session.private,
            attended=session.attended,
            toolsets=None if session.toolsets is None else tuple(session.toolsets),
            withheld=tuple(session.withheld),
        )
        self._keep(job)
        self._hub.tell(Kind.WORK_STARTED, {"job": job.id, "goal": goal}, session=session.id, chat=job.chat)
        self._watch(job, self._running.say(self._open(job), goal, system=RULES)[1])
        return job

    def resume(self, turn: Turn) -> bool:
        """Go on with a job whose turn a death cut short; False if the turn is no job's."""
        job = next((job for job in self.all() if job.id == turn.chat and job.state == RUNNING), None)
        if job is None:
            return False
        self._hub.tell(Kind.WORK_STARTED, {"job": job.id, "goal": job.goal}, chat=job.chat)
        # Nobody need be at the other channels any more.
        session = self._open(msgspec.structs.replace(job, attended=job.channel == "console"))
        self._watch(job, self._running.resume(session, turn, system=RULES))
        return True

    def cancel(self, chat: str) -> bool:
        """Cancel the job of a chat, or the one with this id; False if there is none."""
        job = self.of(chat)
        return job is not None and self._stop(job.id, CANCELLED)

    def forget(self, chat: str) -> None:
        """A conversation was deleted, and takes its jobs along."""
        for job in self.all():
            if job.chat == chat and not self._stop(job.id, CANCELLED):
                self._drop(job)

    def _stop(self, id: str, why: str) -> bool:
        self._why.setdefault(id, why)
        return self._running.stop(id)

    def _watch(self, job: Job, turn: asyncio.Task[Ended]) -> None:
        self._clocks[job.id] = WorkTime(self._seconds(), lambda: self._late(job.id), self.later, self.ticks)
        self._tasks[job.id] = task = asyncio.create_task(self._until(job, turn), name=f"job {job.id}")
        task.add_done_callback(lambda _: self._tasks.pop(job.id, None))

    def _late(self, id: str) -> None:
        self._stop(id, "late")

    async def _until(self, job: Job, turn: asyncio.Task[Ended]) -> None:
        """Wait for the job's turn, however it ends, and tell it."""
        await asyncio.wait([turn])
        self._clocks.pop(job.id).stop()
        why = self._why.pop(job.id, "")
        try:
            if turn.cancelled():
                state, summary = self._stopped(why)
            elif turn.exception() is not None:
                state, summary = FAILED, "It could not be stored."
            else:
                state, summary = self._state_of(job, turn.result()), self._last_words(job) or turn.result().text
            self._end(job, state, summary)
        except StoreError as error:
            log.warning("the end of a job cannot be stored", job=job.id, error=str(error))

    def _stopped(self, why: str) -> tuple[str, str]:
        if why == "late":
            return FAILED, f"It was ended after {self._seconds():g} s of work, which is the most that a job may take."
        if why == STOPPED:
            return STOPPED, "It was stopped because Etui ended. It was not finished."
        return CANCELLED, "It was cancelled."

    def _state_of(self, job: Job, ended: Ended | None = None) -> str:
        if ended is None:
            return DONE if self._last_words(job) else STOPPED
        return DONE if ended.why == Why.DONE else FAILED

    def _last_words(self, job: Job) -> str:
        """What the model said last."""
        said = [one.text for one in self._chats.messages(job.id) if one.role == "assistant" and not one.calls and one.text]
        return said[-1] if said else ""

    def _end(self, job: Job, state: str, summary: str) -> None:
        """Keep how it ended, leave a notice in its conversation, and tell everybody."""
        job = msgspec.structs.replace(job, state=state, ended=self._now(), summary=shorten(summary.strip(), SUMMARY))
        if self._chats.get(job.chat) is None:
            self._drop(job)
        else:
            self._keep(job)
            head = {DONE: "is done", FAILED: "did not succeed"}.get(state, f"was {state}")
            words = f"The background job {shorten(job.goal, 200)!r} {head}."
            meta: dict[str, object] = {"why": "notice", JOB: job.id}
            self._chats.add(Message(chat=job.chat, role="notice", text=f"{words}\n{job.summary}".strip(), meta=meta))
        data: dict[str, object] = {
            "job": job.id,
            "goal": job.goal,
            "ok": state == DONE,
            "summary": job.summary,
            "cancelled": state == CANCELLED,
        }
        self._hub.tell(Kind.WORK_DONE, data, chat=job.chat)

    def _keep(self, job: Job) -> None:
        self._values.put(SPACE, job.id, msgspec.to_builtins(job))
        for old in [one for one in self.all() if one.state != RUNNING][KEPT:]:
            self._drop(old)

    def _drop(self, job: Job) -> None:
        self._values.delete(SPACE, job.id)
        self._chats.delete(job.id)

    async def _listen(self) -> None:
        async with self._hub.listen(Kind.CARD_OPENED, Kind.CARD_CLOSED) as events:
            async for event in events:
                if clock := self._clocks.get(event.chat):
                    _person(clock, event)


def _person(clock: WorkTime, event: Event) -> None:
    """A person is asked, or has answered; a card that no call waits for stops no clock."""
    card = event.data["card"]
    if event.kind is Kind.CARD_OPENED and isinstance(card, dict):
        if event.data.get("waits"):
            clock.opened(str(card["id"]))
    else:
        clock.closed(str(card))
