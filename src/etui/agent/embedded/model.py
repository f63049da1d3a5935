"""The default model, without a key: matches what a person says to a tool, fills its arguments, else asks back or says so.

Above: the turn asks it as it asks any model. Below: understand, questions, smalltalk and answers. It refuses to chat and to
guess, and it keeps nothing: all that it remembers stands in the chat's messages. The matching runs on a thread.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from etui.agent.embedded import answers, followup, letting_in, questions, smalltalk
from etui.agent.embedded.choose import Index
from etui.agent.embedded.fill import Filled
from etui.agent.embedded.grounding import ungrounded
from etui.agent.embedded.known import Known
from etui.agent.embedded.parameters import Parameter
from etui.agent.embedded.questions import Open, Wish
from etui.agent.embedded.understand import Understanding, Verdict, understand
from etui.agent.embedded.vectors import Vectors
from etui.agent.embedded.words import LONGEST
from etui.agent.model import Ask, CallPart, End, Meta, Part, Text, ToolView
from etui.owner.pin import AGAIN

if TYPE_CHECKING:
    from etui.store.chats import Message


class Reply(msgspec.Struct, frozen=True):
    """What the matcher does with a sentence: says something, calls tools, leaves a question open."""

    text: str = ""
    calls: tuple[Wish, ...] = ()
    open: Open | None = None
    undoes: str = ""
    """The call that is taken back."""


class _Ready:
    """The tools that were asked about last, ready to be chosen from; turns of several chats ask, each in its own thread."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._views: tuple[ToolView, ...] = ()
        self._index: Index | None = None
        self._lock = threading.Lock()

    def of(self, views: tuple[ToolView, ...]) -> Index:
        """These."""
        with self._lock:
            if self._index is None or self._views != views:
                if self._index is not None:
                    self._index.stop()
                self._index, self._views = Index(views, self._vectors), views
            return self._index

    def stop(self) -> None:
        """End what is still being made for them, and wait for it."""
        with self._lock:
            if self._index is not None:
                self._index.stop()


class EmbeddedModel:
    """The command matcher as a `Model`."""

    name = "embedded"

    def __init__(self, vectors: Vectors | None = None, cache: Path | None = None) -> None:
        """`cache`: a file in which the vectors of the tools' sentences outlive the process."""
        self._vectors = vectors or Vectors(cache=cache)
        self._tools = _Ready(self._vectors)
        self._shut = _Ready(self._vectors)
        """The tools that the chat has not."""
        self._stopping = threading.Event()

    async def stream(self, ask: Ask) -> AsyncIterator[Part]:
        """The answer: a text, or calls with their arguments whole. Raises ModelError if its own file is not the known one."""
        reply = await asyncio.to_thread(self.answer, ask)
        for index, wish in enumerate(reply.calls):
            yield CallPart(index, f"m{len(ask.messages)}_{index}", wish.tool, json.dumps(wish.arguments, ensure_ascii=False))
        if reply.text:
            yield Text(reply.text)
        meta: dict[str, object] = {}
        if reply.open:
            meta["open"] = msgspec.to_builtins(reply.open)
        if reply.undoes:
            meta["undoes"] = reply.undoes
        if meta:
            yield Meta(meta)
        yield End("calls" if reply.calls else "stop")

    async def close(self) -> None:
        """Ends what is still being made ready and waits for it: nothing of onnxruntime runs while the program ends."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._stopping.set()
        self._tools.stop()
        self._shut.stop()
        self._vectors.wait()

    async def warm(self, ask: Ask) -> None:
        """Makes everything ready for these tools, so that the first sentence does not wait."""
        await asyncio.to_thread(self._warm, ask)

    def _warm(self, ask: Ask) -> None:
        self._vectors.load()
        self._tools.of(ask.tools).warm(self._stopping)

    def answer(self, ask: Ask) -> Reply:
        """The whole answer; blocking, for a thread."""
        last = ask.messages[-1] if ask.messages else None
        if last is None:
            return Reply("What can I do for you?")
        if last.role == "tool":
            if waiting := letting_in.asked(ask.messages):
                return Reply(waiting[0], open=waiting[1])
            return Reply(answers.told(_results(ask.messages)))
        at = next((at for at in range(len(ask.messages) - 1, -1, -1) if ask.messages[at].role == "user"), None)
        person = ask.messages[at] if at is not None else None
        if person is None or not person.text.strip():
            return Reply("I didn't catch that. What can I do for you?")
        index, before = self._tools.of(ask.tools), ask.messages[:at]
        turn = _Turn(index, ask, before, person.text[:LONGEST].strip(), self._shut.of)
        pin = letting_in.became(ask.messages[at:])
        return turn.let_in(pin) if pin else turn.reply()


def _results(messages: Sequence[Message]) -> list[str]:
    """What the tools' messages since the model last spoke hold for a person: what stands in them for a model is left out."""
    found = []
    for message in reversed(messages):
        if message.role == "assistant":
            break
        if message.role == "tool":
            found.append(str(message.meta.get("shown") or message.text))
    return found[::-1]


class _Turn:
    """One sentence of a person, with the chat before it."""

    def __init__(
        self,
        index: Index,
        ask: Ask,
        before: Sequence[Message],
        sentence: str,
        elsewhere: Callable[[tuple[ToolView, ...]], Index],
    ) -> None:
        """`elsewhere` makes tools ready that the chat has not."""
        self.index, self.before, self.sentence = index, before, sentence
        self._ask, self._elsewhere = ask, elsewhere
        self._why = {one.tool.name: one.why for one in ask.elsewhere}
        self.now: datetime = ask.now

    def reply(self) -> Reply:
        spoke = next((message for message in reversed(self.before) if message.role == "assistant"), None)
        question = questions.opened(spoke.meta) if spoke else None
        if question:
            answered = self._answered(question)
            if answered:
                return answered
        return self._fresh()

    def let_in(self, status: str) -> Reply:
        """The answer to the PIN: what waited for it is done, and what was said besides it."""
        spoke = next((message for message in reversed(self.before) if message.role == "assistant"), None)
        question = questions.opened(spoke.meta) if spoke else None
        waiting = question if question and question.kind == "pin" else None
        if words := letting_in.not_in(status):
            return Reply(words, open=waiting if status in AGAIN else None)
        rest = letting_in.left(self.sentence)
        if waiting and not rest:
            return Reply(calls=tuple(waiting.calls))
        self.sentence = rest
        return self._fresh() if rest else Reply("Thank you.")

    # a sentence of its own

    def _fresh(self) -> Reply:
        if followup.asks_undo(self.sentence):
            return self._undo()
        if smalltalk.asks_what(self.sentence):
            return Reply(smalltalk.abilities(self.index.tools, self._ask.elsewhere))
        understood = understand(self.index, self.sentence, self.now)
        if not (understood.verdict is Verdict.DO and understood.whole):
            idle = smalltalk.reply(self.sentence)
            meant = understood.verdict in (Verdict.DO, Verdict.MAYBE, Verdict.WHICH) and smalltalk.only_ends(self.sentence)
            if idle and not understood.opens and not meant:
                return Reply(idle)
            earlier = [message.text for message in self.before if message.role == "user"]
            again = followup.again(self.sentence, self.before, self.index, self.now)
            if again:
                return self._do([again], [*earlier, self.sentence])
            for sentence, said in followup.readings(self.sentence, self.before):
                fuller = understand(self.index, sentence, self.now)
                if fuller.verdict is Verdict.DO and fuller.whole and not fuller.calls[0].missing:
                    return self._act(fuller, [*said, sentence])
            if lacking := self._lacking(understood):
                return Reply(lacking)
        return self._act(understood, [self.sentence])

    def _lacking(self, understood: Understanding) -> str:
        """Why nothing is done, where a tool is meant that the chat has not; what its own tools may be asked for goes first."""
        if not self._why or understood.verdict is Verdict.NOT:
            return ""
        other = understand(self._elsewhere(tuple(one.tool for one in self._ask.elsewhere)), self.sentence, self.now)
        beyond_doubt = other.verdict is Verdict.DO and other.whole
        if other.verdict in (Verdict.NOTHING, Verdict.NOT) or not (beyond_doubt or understood.verdict is Verdict.NOTHING):
            return ""
        call = other.calls[0]
        why = self._why[call.known.name]
        return why if other.verdict is Verdict.DO else f"If you mean “{call.known.sentence(call.arguments)}”: {why}"

    def _act(self, understood: Understanding, said: list[str]) -> Reply:
        match understood.verdict:
            case Verdict.DO:
                return self._do([Wish(call.known.name, call.arguments) for call in understood.calls], said)
            case Verdict.MAYBE:
                call = understood.calls[0]
                wish = Wish(call.known.name, call.arguments)
                if call.known.risky and not call.missing:
                    return self._do([wish], said)
                return Reply(
                    f"Did you mean “{call.known.sentence(call.arguments)}”? (yes/no)",
                    open=Open(kind="maybe", calls=[wish], said=said),
                )
            case Verdict.WHICH:
                return self._which(understood.calls, said)
            case Verdict.NOT:
                return Reply("All right, I won't.")
            case _:
                return Reply(smalltalk.cannot(self.index.tools))

    def _which(self, calls: tuple[Filled, ...], said: list[str]) -> Reply:
        lines = [f"“{call.known.sentence(call.arguments)}”" for call in calls]
        if len({*lines}) < len(lines):
            lines = [f"{line} by {call.known.name}" for line, call in zip(lines, calls, strict=True)]
        wishes = [Wish(call.known.name, call.arguments) for call in calls]
        return Reply(f"Did you mean {' or '.join(lines)}?", open=Open(kind="which", calls=wishes, said=said))

    # on the way to a call

    def _do(self, wishes: list[Wish], said: list[str], sure: bool = False) -> Reply:
        """The calls, or the first question that stands before them."""
        for number, wish in enumerate(wishes):
            tool = self.index.by_name(wish.tool)
            if tool is None:
                return Reply(self._why.get(wish.tool, f"The tool {wish.tool!r} is not there any more."))
            missing = self._missing(tool, wish, said)
            if missing:
                first = (
                    wish
                    if missing.name not in wish.arguments
                    else Wish(wish.tool, {k: v for k, v in wish.arguments.items() if k != missing.name})
                )
                rest = [first, *wishes[:number], *wishes[number + 1 :]]
                return Reply(
                    questions.question_for(tool, missing),
                    open=Open(kind="argument", calls=rest, missing=missing.name, said=said),
                )
        if not sure and any(tool.risky for wish in wishes if (tool := self.index.by_name(wish.tool))):
            return Reply(f"{self._repeated(wishes)}? (yes/no)", open=Open(kind="confirm", calls=wishes, said=said))
        return Reply(calls=tuple(wishes))

    def _missing(self, tool: Known, wish: Wish, said: list[str]) -> Parameter | None:
        for parameter in tool.required:
            if parameter.name not in wish.arguments:
                return parameter
        return ungrounded(tool, wish.arguments, said, self.now)

    def _repeated(self, wishes: list[Wish]) -> str:
        parts = []
        for wish in wishes:
            tool = self.index.by_name(wish.tool)
            if tool:
                parts.append(f"“{tool.sentence(wish.arguments)}”")
        return f"Shall I do this: {' and '.join(parts)}"

    # an answer to a question

    def _answered(self, question: Open) -> Reply | None:
        """What the sentence makes of an open question; None where it is a sentence of its own."""
        if questions.drops(self.sentence):
            return Reply("All right, never mind.")
        if question.kind == "pin" or any(self.index.by_name(wish.tool) is None for wish in question.calls):
            return None
        said = [*question.said, self.sentence]
        if question.kind in ("confirm", "maybe"):
            agreed = questions.yes_or_no(self.sentence)
            if agreed is None:
                return None
            return self._do(question.calls, said, sure=True) if agreed else Reply("All right, I won't.")
        if question.kind == "which":
            tools = [tool for wish in question.calls if (tool := self.index.by_name(wish.tool))]
            if questions.yes_or_no(self.sentence) is False:
                return Reply("All right, neither.")
            if self._is_command():
                return None
            chosen = questions.which(self.sentence, tools)
            return None if chosen is None else self._do([question.calls[chosen]], said)
        if self._is_command() or followup.asks_undo(self.sentence) or smalltalk.asks_what(self.sentence):
            return None
        return self._filled(question, said)

    def _filled(self, question: Open, said: list[str]) -> Reply | None:
        wish = question.calls[0]
        tool = self.index.by_name(wish.tool)
        parameter = tool.parameters.get(question.missing) if tool else None
        if tool is None or parameter is None:
            return None
        given = questions.answer_to(tool, parameter, self.sentence, self.now)
        if not given:
            if smalltalk.reply(self.sentence) or len(self.sentence.split()) > 8:
                return None
            return Reply(f"I didn't get that. {questions.question_for(tool, parameter)}", open=question)
        return self._do([Wish(wish.tool, {**wish.arguments, **given}), *question.calls[1:]], said)

    def _is_command(self) -> bool:
        """True if the sentence is plainly a command of its own."""
        understood = understand(self.index, self.sentence, self.now)
        return (
            understood.verdict is Verdict.DO
            and understood.whole
            and understood.confidence >= 0.999
            and not understood.calls[0].missing
        )

    def _undo(self) -> Reply:
        found = followup.undo(self.before)
        if found is None:
            return Reply("There is nothing in this chat that I can undo.")
        call, tool, arguments = found
        if self.index.by_name(tool) is None:
            return Reply(f"I can't undo that. {self._why.get(tool, f'The tool {tool!r} is not available.')}")
        return Reply(calls=(Wish(tool, arguments),), undoes=call)
