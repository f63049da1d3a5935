"""The turn: from what the person said to the end of the answer.

The model is asked, its calls are run, and it is asked again, until it answers in words or somebody stops it; past a limit it is
asked once more, without tools. Everything is stored before it is acted upon, so that `resume` goes on where the machine's death
cut a turn short.
Above: the host, which starts turns and cancels them. Below: `answer` hears the model, `calls` runs what it wants.
It refuses to know: providers, rules, how a tool runs.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from typing import Protocol

import msgspec
import structlog

from etui.agent.answer import Answer, listen
from etui.agent.asking import Asking, Stored
from etui.agent.calls import Calls, Door, Entries, Limits, Messages
from etui.agent.history import shorten
from etui.agent.model import Ask, Model
from etui.agent.sight import FORMS
from etui.errors import ModelError, StoreError
from etui.events import Hub, Kind
from etui.keeping import Keep
from etui.modes import WORK
from etui.settings import Settings
from etui.store.chats import Message, ToolCall, Turn

log = structlog.get_logger(__name__)
_GAP = "\n\n"


class Why:
    """The reasons for which a turn ends."""

    DONE, STOPPED, LIMIT, FAILED = "done", "stopped", "limit", "failed"


class Ended(msgspec.Struct, frozen=True):
    """How a turn ended."""

    turn: str
    text: str
    """The whole answer as it was told; empty if only silence was asked for."""
    why: str
    """done, stopped, limit or failed."""


class Turns(Messages, Stored, Protocol):
    """Where chats and turns are stored."""

    def begin_turn(self, turn: Turn, message: Message) -> Message:
        """The turn and what the person said, together."""
        ...

    def end_turn(self, turn_id: str, why: str, message: Message | None = None) -> Message | None:
        """The end and the last message, together."""
        ...


class Loop:
    """Takes turns, any number at a time, each in the task of its caller."""

    def __init__(
        self,
        chats: Turns,
        journal: Entries,
        hub: Hub,
        settings: Callable[[], Settings] = Settings,
        clock: Callable[[], float] = time.time,
        keep: Keep | None = None,
    ) -> None:
        """`keep` keeps the images that models make; without it they are only told of."""
        self._keep = keep
        self._chats = chats
        self._journal = journal
        self._hub = hub
        self._settings = settings
        self._clock = clock

    async def take_turn(
        self,
        session: Door,
        model: Model,
        text: str,
        *,
        turn: str = "",
        images: tuple[str, ...] = (),
        system: str = "",
        notice: Message | None = None,
    ) -> Ended:
        """Answer what the person said. Cancelling the task stops the turn, which is stored before CancelledError goes on.

        `turn` is the turn's id, made if it is empty; `images` are ids of blobs; `system` is added to the system prompt.
        `notice` is what the host has to say about what was said, for the model and the person.
        Raises StoreError if it cannot even be begun.
        """
        begun = Turn(
            id=turn or f"turn_{secrets.token_hex(8)}",
            chat=session.chat,
            session=session.id,
            text=text,
            started=self._clock(),
            channel=session.channel,
            trust=session.trust,
            model=model.name,
        )
        said = Message(chat=session.chat, turn=begun.id, role="user", text=text, images=images)
        try:
            kept = self._chats.begin_turn(begun, said)
            if notice is not None:
                self._chats.add(msgspec.structs.replace(notice, chat=session.chat, turn=begun.id))
        except StoreError:
            # The chat was deleted while the turn waited, or the disk is full: the listeners learn that it is over.
            self.missed(session, begun.id, Why.FAILED)
            raise
        return await self._under_way(begun, kept, session, model, system).run()

    def missed(self, session: Door, turn: str, why: str = Why.STOPPED) -> None:
        """Tell the end of a turn that was announced and never begun."""
        data: dict[str, object] = {"text": "", "why": why, "message": 0}
        self._hub.tell(Kind.TURN_ENDED, data, session=session.id, chat=session.chat, turn=turn)

    def request(self, session: Door) -> Ask:
        """What a model would be asked in this session now, before anything is said; to make it ready."""
        return Asking(self._chats, self._settings(), self._clock, "").beforehand(session)

    async def resume(self, turn: Turn, session: Door, model: Model, *, system: str = "") -> Ended:
        """Go on with a turn that never ended, from what is stored of it: no call that has ended is run again."""
        stored = [message for message in self._chats.messages(turn.chat) if message.turn == turn.id]
        said = next((message for message in stored if message.role == "user"), None)
        under_way = self._under_way(turn, said, session, model, system)
        under_way.calls.recall(stored)
        under_way.rounds = sum(message.role == "assistant" for message in stored)
        under_way.said = _GAP.join(message.text for message in stored if message.role == "assistant" and message.text)
        return await under_way.run()

    def _under_way(self, turn: Turn, said: Message | None, session: Door, model: Model, system: str) -> _UnderWay:
        settings = self._settings()
        limits = _limits(settings, session.mode)
        session.user_text = turn.text
        self._hub.tell(
            Kind.TURN_STARTED,
            {"text": turn.text, "message": said.id if said else 0},
            session=session.id,
            chat=turn.chat,
            turn=turn.id,
        )
        calls = Calls(session, turn.id, limits, self._chats, self._journal)
        ask = Asking(self._chats, settings, self._clock, system)
        return _UnderWay(turn, session, model, self._chats, self._hub, calls, limits, ask, self._keep)


class _UnderWay:
    """One turn while it is taken."""

    def __init__(
        self,
        turn: Turn,
        session: Door,
        model: Model,
        chats: Turns,
        hub: Hub,
        calls: Calls,
        limits: Limits,
        ask: Asking,
        keep: Keep | None,
    ) -> None:
        self._keep = keep
        self._turn = turn
        self._session = session
        self._model = model
        self._chats = chats
        self._hub = hub
        self._limits = limits
        self._ask = ask
        self.calls = calls
        self.said = ""
        """Everything that was told so far."""
        self._answer = Answer()
        self._carried = ""
        """Words from behind the last step's calls, told and not yet stored."""
        self._parted = False
        self.rounds = 0
        """How often the model has answered."""

    async def run(self) -> Ended:
        """Take the turn to its end, whatever happens on the way."""
        try:
            return await self._guarded()
        except StoreError as error:
            # The chat was deleted meanwhile, or the disk is full: nothing can be kept, but the listeners learn of the end.
            log.warning("turn cannot be stored", turn=self._turn.id, error=str(error))
            return self._told(Why.FAILED, None)

    async def _guarded(self) -> Ended:
        try:
            return await self._steps()
        except asyncio.CancelledError:
            self._stop()
            raise
        except ModelError as error:
            return self._end(Why.FAILED, str(error))
        except StoreError:
            raise
        except Exception:
            # A fault of a model's own: the person still gets a sentence, and the owner the traceback.
            log.exception("turn failed", turn=self._turn.id, model=self._model.name)
            words = f"Something went wrong in the model {self._model.name!r}; try again, or choose another one."
            return self._end(Why.FAILED, words)

    async def _steps(self) -> Ended:
        if self.calls.open:
            await self.calls.run()
        while not self.calls.silent:
            self._answer = answer = Answer()
            self._parted = bool(self.said)
            last = self.calls.spent or self.rounds >= self._limits.calls
            ask = await self._ask(self._session, last=last)
            await listen(answer, self._model, ask, self._say, self._look, self._ask.offered, self._unsay, self._waits)
            self.rounds += 1
            if not answer.calls:
                return self._answered(answer)
            if last:
                return self._end(Why.LIMIT, self._last_word())
            await self._run(answer)
        return self._end(Why.DONE)

    async def _run(self, answer: Answer) -> None:
        """Store what the model wants, then do it."""
        wanted = [(self._session.new_call(call.tool, call.arguments, turn=self._turn.id).id, call) for call in answer.calls]
        calls = tuple(ToolCall(id=id, tool=call.tool, arguments=call.arguments) for id, call in wanted)
        kept = (msgspec.structs.replace(one, arguments=self._session.kept(one.tool, one.arguments)) for one in calls)
        self._chats.add(self._message(answer, tuple(kept)))
        self._answer, self._carried = Answer(), ""
        self.calls.begin(calls, wrong=(id for id, call in wanted if not call.known))
        await self.calls.run()
        if answer.after.strip() and not self.calls.silent:
            self._parted = bool(self.said)
            self._say(answer.after.strip())
            self._carried = answer.after.strip()

    def _message(self, answer: Answer, calls: tuple[ToolCall, ...] = ()) -> Message:
        return Message(
            chat=self._turn.chat,
            turn=self._turn.id,
            role="assistant",
            text=_GAP.join(piece for piece in (self._carried, answer.text.strip()) if piece),
            calls=calls,
            images=self._images(answer),
            meta=dict(answer.meta),
        )

    def _say(self, words: str) -> None:
        if self._parted:
            words, self._parted = _GAP + words.lstrip(), False
        self.said += words
        self._tell(Kind.TEXT, {"text": words})

    def _unsay(self, words: str) -> None:
        """What was told of an answer was thinking: the end of the turn tells the words without it."""
        self.said = self.said.removesuffix(words).rstrip("\n")
        self._parted = bool(self.said)

    def _look(self, face: str) -> None:
        self._tell(Kind.FACE, {"face": face, "why": "reply"})

    def _waits(self, line: str) -> None:
        self._tell(Kind.SAID, {"text": line, "why": "heartbeat"})

    def _images(self, answer: Answer) -> tuple[str, ...]:
        """The ids under which what the model has drawn is kept."""
        if self._keep is None:
            return ()
        chat = self._turn.chat
        return tuple(self._keep(one.data, one.media_type, "", chat, "") for one in answer.pictures if one.media_type in FORMS)

    def _answered(self, answer: Answer) -> Ended:
        if answer.text.strip():
            cut = answer.why == "length"
            return self._end(Why.DONE, "(The answer was cut off here: the model ran out of room.)" if cut else "")
        if self._carried:
            return self._end(Why.DONE)
        if answer.pictures:
            here = self._keep is not None and any(one.media_type in FORMS for one in answer.pictures)
            return self._end(Why.DONE, f"The model answered with an image{'' if here else ', which cannot be shown here'}.")
        return self._end(Why.DONE if self.calls.step else Why.FAILED, self._instead(answer))

    def _instead(self, answer: Answer) -> str:
        """What is said where the model said nothing at all."""
        if answer.unreadable:
            return "The model tried to call a tool, but its call could not be read; say it again, or choose another model."
        if answer.why == "length":
            return "The model ran out of room before it answered; begin a new chat, or choose a model that reads more."
        if answer.why == "filter":
            return "The model's provider held the answer back; say it in another way."
        results = [
            str(message.meta.get("shown") or message.text) for message in self.calls.step if not message.meta.get("silent")
        ]
        if results:
            return shorten("\n".join(results), 2000)
        return "The model gave no answer; say it in another way, or choose another model."

    def _last_word(self) -> str:
        if self.calls.failing:
            last = next((message.text for message in reversed(self.calls.step) if message.meta.get("status") != "ok"), "")
            reason = f" The last one: {shorten(last, 300)}" if last else ""
            return f"I stopped here, for {self.calls.failed} calls failed in this {self._limits.what}.{reason}"
        what = self._limits.what
        if rounds := self.calls.over_rounds:
            return f"I stopped here, for one {what} may use these tools {rounds} times in a row. Say so if I am to go on."
        return f"I stopped here, for one {what} may make {self._limits.calls} tool calls. Say so if I am to go on."

    def _end(self, why: str, words: str = "") -> Ended:
        """Say the last words, store the answer, end the turn and tell it."""
        self.calls.abandon()
        if words:
            self._parted = bool(self.said)
            self._say(words)
            self._answer.text = _GAP.join(piece for piece in (self._answer.text.strip(), words) if piece)
        return self._told(why, self._kept(why))

    def _stop(self) -> None:
        """Cancelled: keep what was said so far, give every call a result, and end the turn."""
        try:
            self.calls.abandon()
            self._told(Why.STOPPED, self._kept(Why.STOPPED))
        except StoreError as error:
            log.warning("stopped turn cannot be stored", turn=self._turn.id, error=str(error))
            self._told(Why.STOPPED, None)

    def _kept(self, why: str) -> Message | None:
        message = self._message(self._answer)
        return self._chats.end_turn(self._turn.id, why, message if message.text or message.meta else None)

    def _told(self, why: str, message: Message | None) -> Ended:
        self._tell(Kind.TURN_ENDED, {"text": self.said, "why": why, "message": message.id if message else 0})
        return Ended(self._turn.id, self.said, why)

    def _tell(self, kind: Kind, data: dict[str, object]) -> None:
        self._hub.tell(kind, data, session=self._session.id, chat=self._turn.chat, turn=self._turn.id)


def _limits(settings: Settings, mode: str) -> Limits:
    """What a turn may use in this mode."""
    if mode == WORK:
        return Limits(
            what="background job",
            calls=settings.calls_a_job,
            failures=settings.failures_a_job,
            result_chars=settings.result_chars,
            turn_chars=settings.job_chars,
        )
    return Limits(
        calls=settings.calls_a_turn,
        failures=settings.failures_a_turn,
        result_chars=settings.result_chars,
        turn_chars=settings.turn_chars,
    )
