"""The calls of one turn: run through the session's door, the same one never twice, each with a result that is stored.

Above: `loop`, which asks the model between them. Below: the session, the journal and the chats. It refuses to know: models.
What the machine's death cut short is taken from the journal: an ended call is not run again, one that only reads is, and of any
other that had begun nobody knows, which the model is told.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from etui.agent.history import shorten
from etui.agent.odd import canonical
from etui.contracts.marks import unmarked
from etui.outcome import BAD, Image, Outcome, Status, refused
from etui.registry import nearest
from etui.store.chats import Message, ToolCall
from etui.store.journal import RUNNING, Entry
from etui.tool import Call, Risk, Tool

LIMIT, REPEAT = "limit", "repeat"
"""Rules of the turn's own, by which a call is answered without reaching the door."""
PIN = "pin"
"""The gate's rule for what waits for the owner's PIN, which may be given at any moment: such a call is always asked anew."""
WITHHELD = "withheld"
"""The gate's rule for a tool that was kept back from the session."""
NOT_RUN = "THIS CALL DID NOT RUN"
"""How the answer to a call over a limit begins."""
_LEAST = 200
"""Characters that a result keeps even where the turn's room is used up."""


class Door(Protocol):
    """What a turn needs of a session."""

    id: str
    chat: str
    channel: str
    mode: str
    user_text: str

    @property
    def trust(self) -> str:
        """What it has proved: full, possession or none."""
        ...

    def tools(self) -> tuple[Tool, ...]:
        """The tools that it may see."""
        ...

    async def offered(self) -> tuple[Tool, ...]:
        """Those of them that can be used now."""
        ...

    def elsewhere(self) -> tuple[tuple[Tool, str], ...]:
        """Tools that its owner keeps from it, each with why and where that is changed."""
        ...

    def taught(self, tool: str) -> tuple[str, ...]:
        """Sentences that a person taught for a tool."""
        ...

    def new_call(self, tool: str, arguments: object, *, turn: str = "", id: str = "") -> Call:
        """A call with an id of its own."""
        ...

    def kept(self, tool: str, arguments: object) -> object:
        """The arguments of a call as they may be written down."""
        ...

    async def call(self, call: Call) -> Outcome:
        """Run it, if it may; raises nothing but CancelledError."""
        ...


class Messages(Protocol):
    """Where results are stored."""

    def add(self, message: Message) -> Message:
        """Keep it."""
        ...


class Entries(Protocol):
    """What is known of calls that were begun."""

    def get(self, call_id: str) -> Entry | None:
        """The call as it was."""
        ...

    def end(self, call_id: str, outcome: Outcome) -> None:
        """Write down how it ended."""
        ...


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one turn may use."""

    what: str = "turn"
    """What a person calls it: a turn or a background job."""
    calls: int = 8
    failures: int = 3
    """Calls that failed, of no tool or with no arguments, and those that failed before and were wanted again."""
    result_chars: int = 16_000
    turn_chars: int = 132_000


class Calls:
    """The calls of one turn, and what they came to."""

    def __init__(self, door: Door, turn: str, limits: Limits, chats: Messages, journal: Entries) -> None:
        self._door = door
        self._turn = turn
        self._limits = limits
        self._chats = chats
        self._journal = journal
        self._firsts: dict[tuple[str, str], Message] = {}
        self._rounds = 0
        """How many replies have called."""
        self._most_rounds = 0
        """How many may, where one of the tools says so."""
        self._times: Counter[str] = Counter()
        """How often each tool was called, whatever came of it."""
        self._room = limits.turn_chars
        self._failures = limits.failures
        self._wrong: frozenset[str] = frozenset()
        self._cut: frozenset[str] = frozenset()
        self._in_reply = 0
        """How many calls of the last reply run, and then one after another; 0 is all of them."""
        self._too_many: frozenset[str] = frozenset()
        """The ids of those that are too many."""
        self._over: dict[str, Outcome] = {}
        """How calls ended whose neighbours were cut short, by id."""
        self.open: dict[str, ToolCall] = {}
        """Calls that wait for their result, by id."""
        self.step: list[Message] = []
        """The results of the last step, in the order of its calls."""
        self.made = 0
        self.failed = 0

    @property
    def failing(self) -> bool:
        """True once too many of its calls failed."""
        return self.failed >= self._failures

    @property
    def spent(self) -> bool:
        """True once the turn may make no more calls."""
        return self.made >= self._limits.calls or self.failing or self.over_rounds > 0

    @property
    def over_rounds(self) -> int:
        """How many replies may call in a turn that calls such tools, once as many have; else 0."""
        return self._most_rounds if self._rounds >= self._most_rounds else 0

    @property
    def silent(self) -> bool:
        """True if the last step's calls all went well and ask for no words."""
        return bool(self.step) and all(
            message.meta.get("silent") and message.meta.get("status") == "ok" for message in self.step
        )

    def recall(self, messages: Iterable[Message]) -> None:
        """Take up a turn from what is stored of it."""
        for message in messages:
            if message.role == "assistant" and message.calls:
                self._step(message.calls)
            elif message.role == "tool" and (call := self.open.pop(message.call, None)):
                self.made += message.meta.get("rule") != LIMIT
                self._times[call.tool] += 1
                self._count(call, message)
        self._cut = frozenset(self.open)

    def begin(self, calls: Sequence[ToolCall], wrong: Iterable[str] = ()) -> None:
        """A new step; `wrong` holds the ids of calls in the text whose name was not offered."""
        self._step(calls)
        self._wrong = frozenset(wrong)

    async def run(self) -> None:
        """Run what is open: neighbours that only read at the same time, all else in order; results are stored in order."""
        for group in self._groups():
            tasks = {call.id: asyncio.create_task(self._one(call)) for call in group}
            try:
                for call in group:
                    self._store(call, await tasks[call.id])
                    _obey()
            except BaseException:
                # Cancelled, or the store failed: leave no call behind that nobody waits for.
                for task in tasks.values():
                    task.cancel()
                await asyncio.wait(tasks.values())
                self._over = {id: task.result() for id, task in tasks.items() if not task.cancelled() and not task.exception()}
                raise

    def abandon(self) -> None:
        """Give every open call its result: how it ended, if it did, else that it was stopped."""
        for call in list(self.open.values()):
            stopped = Outcome(status=Status.CANCELLED, text=f"{call.tool} was stopped by the person.")
            self._store(call, self._over.get(call.id, stopped))

    def _step(self, calls: Sequence[ToolCall]) -> None:
        """A reply that calls: what its tools allow of it and of the turn."""
        self.open = {call.id: call for call in calls}
        self.step = []
        self._rounds += 1
        tools = [tool for call in calls if (tool := self._tool(call.tool)) is not None]
        most = [tool.rounds for tool in tools if tool.rounds]
        self._most_rounds = min([*most, *filter(None, [self._most_rounds])], default=0)
        self._in_reply = min((tool.in_reply for tool in tools if tool.in_reply), default=0)
        ids = [call.id for call in calls]
        self._too_many = frozenset(ids[self._in_reply :] if self._in_reply else ())

    def _groups(self) -> list[list[ToolCall]]:
        if self._in_reply:
            return [[call] for call in self.open.values()]
        reading = {tool.name for tool in self._door.tools() if tool.risk is Risk.READ}
        groups: list[list[ToolCall]] = []
        keys: set[tuple[str, str]] = set()
        for call in self.open.values():
            joins = groups and call.tool in reading and groups[-1][-1].tool in reading and _key(call) not in keys
            if joins:
                groups[-1].append(call)
            else:
                groups.append([call])
                keys = set()
            keys.add(_key(call))
        return groups

    async def _one(self, call: ToolCall) -> Outcome:
        outcome = self._known(call)
        self.made += outcome is None or outcome.rule != LIMIT
        self._times[call.tool] += 1
        return outcome or await self._run(call)

    def _known(self, call: ToolCall) -> Outcome | None:
        """The answer to a call that need not run, or must not."""
        if call.id in self._wrong:
            near = nearest(call.tool, (tool.name for tool in self._door.tools()))
            hint = f" The nearest are {', '.join(near)}." if near else ""
            return refused("find", f"There is no tool called {call.tool!r}, so nothing was run.{hint}")
        if call.id in self._too_many:
            text = f"{NOT_RUN}: only {self._in_reply} calls of one reply run. Call it again if it is still needed."
            return refused(LIMIT, text)
        if self.made >= self._limits.calls:
            text = f"{NOT_RUN}: one {self._limits.what} may make {self._limits.calls} calls. Answer with what there is."
            return refused(LIMIT, text)
        if (first := self._firsts.get(_key(call))) and first.meta.get("rule") != PIN:
            status, rule = Status(str(first.meta["status"])), str(first.meta.get("rule", ""))
            text = _again(status, rule, first.text)
            return Outcome(status=status, text=text, rule=REPEAT, silent=bool(first.meta.get("silent")))
        tool = self._tool(call.tool)
        most = tool.most if tool else 0
        if most and self._times[call.tool] >= most:
            text = f"{NOT_RUN}: {call.tool} may be called {most} times in one {self._limits.what}. Go on without it."
            return refused(LIMIT, text)
        return None

    async def _run(self, call: ToolCall) -> Outcome:
        id = call.id
        entry = self._journal.get(id) if id in self._cut else None
        while entry and entry.risk == Risk.READ and entry.status in (RUNNING, Status.UNKNOWN):
            text = f"{call.tool} was cut short when Etui ended, and was run again."
            self._journal.end(id, Outcome(status=Status.UNKNOWN, text=text))
            id += "+"
            entry = self._journal.get(id)
        if entry is None:
            return await self._door.call(self._door.new_call(call.tool, call.arguments, turn=self._turn, id=id))
        if entry.status != RUNNING:
            return _ended(entry)
        outcome = Outcome(status=Status.UNKNOWN, text=_nobody_knows(call.tool))
        self._journal.end(id, outcome)
        return outcome

    def _store(self, call: ToolCall, outcome: Outcome) -> None:
        meta: dict[str, object] = {"status": outcome.status.value, "seconds": outcome.seconds}
        if outcome.silent:
            meta["silent"] = True
        if outcome.rule:
            meta["rule"] = outcome.rule
        if isinstance(outcome.data, dict) and outcome.data.get("undo") and outcome.ok:
            meta["undo"] = outcome.data["undo"]
        shown = unmarked(outcome.shown)
        if shown and shown != outcome.text:
            meta["shown"] = shown
        tool = self._tool(call.tool)
        # What a contract promises of one result, the door has seen to.
        most = self._room if tool is not None and tool.chars else min(self._limits.result_chars, self._room)
        message = Message(
            chat=self._door.chat,
            turn=self._turn,
            role="tool",
            text=shorten(outcome.text or self._no_words(call, outcome), max(_LEAST, most)) + self._warning(tool, outcome),
            call=call.id,
            tool=call.tool,
            images=tuple(image.id for image in outcome.images if image.id and not image.withheld),
            meta=meta,
        )
        self.open.pop(call.id, None)
        self._count(call, self._chats.add(message))

    def _warning(self, tool: Tool | None, outcome: Outcome) -> str:
        """What stands behind a result of a tool that was called often in this turn."""
        times = self._times[tool.name] if tool is not None else 0
        if tool is None or not tool.warn_after or times < tool.warn_after or outcome.rule == LIMIT:
            return ""
        return "\n\n" + tool.warning.replace("{count}", str(times))

    def _no_words(self, call: ToolCall, outcome: Outcome) -> str:
        """What a result without text is told as; what the model's own provider ran needs no telling."""
        tool = self._tool(call.tool)
        return "" if tool and tool.provided and outcome.ok else f"{call.tool} ended with no words ({outcome.status})."

    def _count(self, call: ToolCall, message: Message) -> None:
        rule, status = message.meta.get("rule"), message.meta.get("status")
        first = self._firsts.get(_key(call), message) if rule == REPEAT else message
        self.step.append(message)
        if status in BAD or first.meta.get("rule") in ("find", "arguments"):
            self.failed += 1
            tool = self._tool(call.tool)
            if tool is not None and tool.failures and self._door.mode == "conversation":
                self._failures = min(self._failures, tool.failures)
        self._room -= len(message.text)
        if rule in (REPEAT, LIMIT):
            return
        if status == Status.OK and not self._reads(call.tool):
            # What was read before something was changed may be read anew.
            self._firsts = {key: first for key, first in self._firsts.items() if not self._reads(key[0])}
        self._firsts[_key(call)] = message

    def _tool(self, name: str) -> Tool | None:
        return next((tool for tool in self._door.tools() if tool.name == name), None)

    def _reads(self, name: str) -> bool:
        tool = self._tool(name)
        return tool is not None and tool.risk is Risk.READ


def _obey() -> None:
    """Stop where the turn was stopped, also if the call that was waited for took the stop for its own and ended well."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _key(call: ToolCall) -> tuple[str, str]:
    return call.tool, canonical(call.arguments)


def _again(status: Status, rule: str, text: str) -> str:
    """The answer to a call that was made before in this turn; it follows how the first one ended."""
    if rule == WITHHELD:
        return "Not run again: this tool is withheld in this turn, as you were told. Do without it."
    if status is Status.OK:
        why, gave = "this is the same call as before, with the same arguments, and it is done.", "It gave"
    elif status in (Status.REFUSED, Status.NEEDS_APPROVAL):
        why, gave = "the same call was turned down before, and nothing happened.", "The answer was"
    else:
        why, gave = "the same call with the same arguments went wrong before. Try something else.", "It gave"
    return f"Not run again: {why} {gave}:\n{text}" if text else f"Not run again: {why}"


def _nobody_knows(tool: str) -> str:
    return (
        f"Etui ended while {tool} was running: it may have happened or not, and it was not run again. "
        "Tell the person so, and check before it is tried again."
    )


def _ended(entry: Entry) -> Outcome:
    """The outcome that the journal holds."""
    return Outcome(
        status=Status(entry.status),
        text=entry.text,
        shown=entry.shown,
        data=entry.data,
        images=tuple(Image(media_type="", id=id, withheld=id in entry.withheld) for id in entry.images),
        seconds=entry.seconds,
        silent=entry.silent,
        rule=entry.rule,
        reference=entry.reference,
    )
