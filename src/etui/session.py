"""One conversation's view of the host, and the only door to a tool.

`Session.call` finds, prepares the arguments, asks the gate, waits for a person where the gate says so, writes the call down,
runs it, finishes the outcome, writes that down and tells everybody. Nothing else reaches the gate or a runner.
Above: `agent` and every surface hold a session. Below: `registry`, `arguments`, `cards`; the rest is handed in as `Parts`.
It refuses to know: how a tool runs, what the rules are, where outcomes are kept.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, TypeVar

import msgspec

from etui.arguments import Invalid, prepare
from etui.budgets import deadline
from etui.cards import ALWAYS_CALL, ALWAYS_TOOL, Card, Cards
from etui.contracts import Caller
from etui.events import Hub, Kind
from etui.keeping import Keep, kept
from etui.modes import WORK, waits
from etui.outcome import BAD, Outcome, Status, refused
from etui.registry import Snapshot, nearest, squeeze
from etui.rows import AT_A_CARD, Mask, ended, started
from etui.run import Job, Runner, Serve
from etui.settings import Settings
from etui.tool import BUILT_IN, Call, Risk, Tool
from etui.verdict import FULL, NO_PIN, NONE, PIN, POSSESSION, STRANGERS, Decision, Facts, Turn, Verdict

A = TypeVar("A")
LONGEST = 100
"""Characters of a name that does not exist which are told again."""
DECIDED = {
    "answered": ("approved", "user"),
    "declined": ("declined", "user"),
    "nobody": ("unanswered", "expired"),
    "dismissed": ("dismissed", "dismissed"),
}
"""Verdict and who gave it, by how a card ended."""
UNSPOKEN = "[PIN]"
"""What stands where an argument was that is written down nowhere."""
TRUSTED = frozenset({"console", "terminal", "python"})
"""Channels that are the owner's own once they are logged in; every other one starts with no trust."""
NOTHING: Mapping[str, Tool] = MappingProxyType({})


class Journal(Protocol):
    """Where calls are written down."""

    def begin(self, call: Call, tool: Tool, arguments: dict[str, object], *, chat: str, session: str, channel: str) -> None:
        """Before it runs: committed when this returns, or soon for a tool that only reads, which could just be run again."""
        ...

    def end(self, call_id: str, outcome: Outcome) -> None:
        """After it ran."""
        ...

    def refuse(
        self, call: Call, outcome: Outcome, *, tool: Tool | None, arguments: object, chat: str, session: str, channel: str
    ) -> None:
        """A call that never began."""
        ...


class Memory(Protocol):
    """What persons said "always" to."""

    def allows(self, tool: Tool, asker: str, arguments: Mapping[str, object]) -> bool:
        """Whether this call, or every call of this tool for this asker, was said yes to, for this code."""
        ...

    def remember(self, tool: Tool, asker: str, arguments: Mapping[str, object] | None) -> None:
        """Say yes from now on: to this exact call, or with None to the tool for this asker."""
        ...


def everywhere(tool: Tool, mode: str) -> bool:
    """For a host that keeps modes apart nowhere."""
    return True


def nothing_more(tool: Tool, session: Session) -> dict[str, object]:
    """For a host that tells tools nothing besides."""
    return {}


async def nothing_unusable(tools: Sequence[Tool]) -> frozenset[str]:
    """For a host that asks nobody."""
    return frozenset()


def yes() -> bool:
    """For a host that keeps no PIN: then a tool that needs one asks for it all the same."""
    return True


async def nothing_fresh(session: Session) -> Mapping[str, Tool]:
    """For a host whose sessions have no tools of their own."""
    return NOTHING


def nobody_told(session: Session) -> None:
    """For a host that follows no session."""


def nothing_decided(call: str, action: str, risk: str, verdict: str, by: str) -> None:
    """For a host that writes no decisions down."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What the host hands to every session."""

    snapshot: Callable[[], Snapshot]
    settings: Callable[[], Settings]
    decide: Callable[[Call, Tool, Facts], Verdict]
    off: Callable[[], frozenset[str]]
    enforced: Callable[[Tool], bool]
    memory: Memory
    journal: Journal
    runner: Callable[[Tool], Runner]
    serve: Callable[[Tool, Call, Session], Serve]
    keep: Keep
    mask: Mask
    """For everything that is told or kept to be looked at."""
    hub: Hub
    cards: Cards
    taught: Callable[[str], tuple[str, ...]]
    reaches: Callable[[Tool, str], bool] = everywhere
    """Whether a tool is for this mode."""
    unusable: Callable[[Sequence[Tool]], Awaitable[frozenset[str]]] = nothing_unusable
    """Names of those that say of themselves that they cannot be used now; asked of the `checked` ones."""
    decided: Callable[[str, str, str, str, str], None] = nothing_decided
    """Writes down what was decided about a call: its id, the action (empty for the call itself), risk, verdict, by whom."""
    built_in: Mapping[str, Tool] = NOTHING
    """Tools of the host's own, by name, which stand before all others."""
    pin_set: Callable[[], bool] = yes
    """Whether the owner has set a PIN."""
    brief: Callable[[Tool, Session], dict[str, object]] = nothing_more
    """What a tool `wants` to be told with a call."""
    fresh: Callable[[Session], Awaitable[Mapping[str, Tool]]] = nothing_fresh
    """Reads the tools that belong to one session alone, when it opens."""
    changed: Callable[[Session], None] = nobody_told
    """Hears that a session's trust, or what was pressed in it, has changed."""
    rested: Callable[[Session], None] = nobody_told
    """Hears that the last call that ran in a session is over, or that it is to end, for the reason in `Session.ending`."""


class Session:
    """One conversation's view: which tools, by whom, and the door to them."""

    def __init__(
        self,
        parts: Parts,
        *,
        channel: str,
        trust: str = "full",
        chat: str = "",
        mode: str = "conversation",
        private: bool = False,
        attended: bool = False,
        toolsets: frozenset[str] | None = None,
        withheld: frozenset[str] = frozenset(),
        caller: str = "",
        possession: bool = False,
        own: Mapping[str, Tool] | None = None,
    ) -> None:
        """`caller` is who called, by their number or name; `own` the tools that are this session's alone.

        `possession` says that the host itself placed the call to a number of the owner's.
        """
        self.id = secrets.token_hex(8)
        self._prefix = f"call_{secrets.token_hex(8)}_"
        """Of the ids of this session's calls, which then count."""
        self._numbers = itertools.count(1)
        self.chat = chat
        self.channel = channel
        self.caller = caller
        self._trust = trust
        self.authorized = False
        """The PIN was given in this session."""
        self.possession = possession
        self.keypressed = False
        """A key was pressed in this session."""
        self.ending = ""
        """Why it is to end; empty while it is not."""
        self.ended = ""
        """Why it has ended; empty while it lives."""
        self.own: Mapping[str, Tool] = NOTHING if own is None else own
        """The tools that are this session's alone, by name; they never change once it has opened."""
        self._opening: asyncio.Future[None] | None = None
        self._opened = own is not None
        self._acting: set[asyncio.Task[object]] = set()
        """The tasks in which its calls run."""
        self._stopped: set[asyncio.Task[object]] = set()
        """Those of them that the session's end has cancelled."""
        self.mode = mode
        self.private = private
        self.attended = attended
        self.user_text = ""
        self.withheld = withheld
        """Names of tools that are kept back from it."""
        self.activated: frozenset[str] = frozenset()
        """Families of MCP servers that were asked for; without that a job does not see them."""
        self._toolsets = toolsets
        self._parts = parts
        self._turns: dict[str, Turn] = {}
        self._view: tuple[Tool, ...] = ()
        self._viewed: tuple[object, ...] = ()

    @property
    def trust(self) -> str:
        """What it has proved at this moment: `full`, `possession` or `none`."""
        if self._trust == FULL or self.authorized:
            return FULL
        return POSSESSION if self.possession or self._trust == POSSESSION else NONE

    @property
    def session_id8(self) -> str:
        """Its id in eight hexadecimal digits."""
        return self.id[:8]

    @property
    def may_approve(self) -> bool:
        """Whether somebody is there whose yes counts: whoever rings may answer a tool, and allow it nothing."""
        return self.attended and not (self.channel in STRANGERS and self.trust == NONE)

    @property
    def asker(self) -> str:
        """For whom a yes is remembered: for the channel, and there apart for those of whom nothing is proved yet."""
        return self.channel if self.trust == FULL else f"{self.channel}, {self.trust}"

    @property
    def acting(self) -> bool:
        """Whether a call runs in it."""
        return bool(self._acting)

    def authorize(self) -> None:
        """The owner's PIN was given: its trust is full from now on. For the host, never for a tool."""
        if not (self.authorized or self.ended):
            self.authorized = True
            self._parts.changed(self)

    def press(self) -> None:
        """A key was pressed, which one is of no matter."""
        if not self.keypressed:
            self.keypressed = True
            self._parts.changed(self)

    def end(self, reason: str = "user") -> None:
        """Let it end as soon as the turn that runs in it is over."""
        if not self.ending:
            self.ending = reason or "user"
            self._parts.rested(self)

    def stop(self, reason: str) -> None:
        """It has ended: what runs in it is cancelled, and nothing begins any more. For the host."""
        self.ended = self.ended or reason
        for task in tuple(self._acting):
            self._stopped.add(task)
            task.cancel()

    async def open(self) -> None:
        """Read the tools that are its own; once, and they never change afterwards."""
        if self._opened:
            return
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open())
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        self.own = await self._parts.fresh(self)
        self._opened = True

    @property
    def toolsets(self) -> frozenset[str] | None:
        """The only families that it may see; None is all."""
        return self._toolsets

    def tools(self) -> tuple[Tool, ...]:
        """The tools that this session may see now; the same tuple until something changed."""
        snapshot, off = self._parts.snapshot(), self._parts.off()
        seen = (snapshot, off, self._parts.settings(), self.activated, id(self.own), self.trust)
        if self._viewed != seen:
            self._view = tuple(tool for tool in self._known(snapshot) if self._sees(tool, off))
            self._viewed = seen
        return self._view

    async def offered(self) -> tuple[Tool, ...]:
        """Those of them that can be used now, as they say themselves."""
        await self.open()
        tools = self.tools()
        checked = [tool for tool in tools if tool.checked]
        unusable = await self._parts.unusable(checked) if checked else frozenset()
        return tuple(tool for tool in tools if tool.name not in unusable) if unusable else tools

    def taught(self, tool: str) -> tuple[str, ...]:
        """Sentences that a person taught for a tool."""
        return self._parts.taught(tool)

    def new_call(self, tool: str, arguments: object, *, turn: str = "", id: str = "", plugin: str = "") -> Call:
        """A call with an id of its own."""
        return Call(id=id or f"{self._prefix}{next(self._numbers):x}", tool=tool, arguments=arguments, turn=turn, plugin=plugin)

    def kept(self, tool: str, arguments: object) -> object:
        """The arguments of a call of this tool as they may be written down: without what is told to nobody."""
        found = self._find(Call(id="", tool=tool))
        return self._said(None if isinstance(found, Outcome) else found, arguments)

    def _said(self, tool: Tool | None, arguments: object) -> object:
        """The arguments as they may be written down; what nobody known sends to no tool may be a PIN beside its door."""
        if tool is not None:
            return unspoken(tool, arguments)
        return arguments if self.trust == FULL else self._parts.mask(arguments)

    async def call(self, call: Call) -> Outcome:
        """The one door to a tool. Raises nothing but CancelledError, and then the end is written down and told."""
        if not self._opened and call.tool not in self._parts.snapshot().tools:
            await self.open()
        tool = self._find(call)
        if isinstance(tool, Outcome):
            return self._turned_away(call, None, call.arguments, tool)
        turn = self._count(call)
        if self.trust != FULL and (first := self._parts.decide(call, tool, self._facts(tool, {}, turn))).rule in (PIN, NO_PIN):
            # Before anything is looked up, so that the answer is the same whatever was asked.
            return self._turned_away(call, tool, call.arguments, _pin_first(tool, first))
        notes: list[str] = []
        arguments = prepare(tool, call.arguments, notes)
        if isinstance(arguments, Invalid):
            return self._turned_away(call, tool, call.arguments, refused("arguments", arguments.sentence))
        facts = self._facts(tool, arguments, turn)
        verdict = self._parts.decide(call, tool, facts)
        if verdict.decision is not Decision.ALLOW:
            denied = await self._not_allowed(call, tool, arguments, verdict)
            if denied is not None:
                return self._turned_away(call, tool, arguments, denied)
            if self._find(call) != tool:
                # Its code changed while they were asked, and what they said yes to is not what would run.
                return await self.call(call)
        elif facts.remembered and tool.risk is not Risk.READ:
            self._parts.decided(call.id, "", tool.risk.value, "approved", "saved")
        turn.calls += 1
        outcome = await self._run(call, tool, arguments)
        if outcome.status in BAD:
            turn.failures += 1
        return outcome

    def _known(self, snapshot: Snapshot) -> tuple[Tool, ...]:
        """The host's tools, the registry's, and behind them its own, which keep their names whatever comes later."""
        first, tools = self._parts.built_in, snapshot.tools
        if not self.own and not first:
            return tuple(tools.values())
        rest = (tool for name, tool in tools.items() if name not in self.own and name not in first)
        return (*first.values(), *rest, *self.own.values())

    def _sees(self, tool: Tool, off: frozenset[str]) -> bool:
        if tool.contract == BUILT_IN:
            return self.trust != FULL and self.mode != WORK
        if tool.name in off or tool.toolset in off or tool.name in self.withheld:
            return False
        if self._toolsets is not None and tool.toolset not in self._toolsets:
            return False
        return self._parts.reaches(tool, self.mode) and not waits(tool, self.mode, self.activated)

    def _find(self, call: Call) -> Tool | Outcome:
        """The tool by its name; by its letters and digits where that leaves no doubt; else a refusal that helps."""
        if self.ended:
            return refused("ended", "This conversation has ended, so nothing runs in it any more.")
        snapshot = self._parts.snapshot()
        built_in = self._parts.built_in
        tool = built_in.get(call.tool) or self.own.get(call.tool) or snapshot.tools.get(call.tool)
        if tool is None:
            tool = next((one for name, one in built_in.items() if squeeze(name) == squeeze(call.tool)), None)
        if tool is None:
            alike = tuple(dict.fromkeys((*snapshot.loose.get(squeeze(call.tool), ()), *self._alike(call.tool))))
            if len(alike) == 1:
                tool = self.own.get(alike[0]) or snapshot.tools[alike[0]]
            elif alike:
                return refused("find", f"{call.tool[:LONGEST]!r} could be {' or '.join(map(repr, alike))}; say which.")
        if tool is None:
            return refused("find", self._unknown(call.tool[:LONGEST], snapshot))
        if call.plugin and tool.plugin != call.plugin:
            return refused("find", f"The tool {tool.name!r} belongs to plugin {tool.plugin!r}, not to {call.plugin!r}.")
        return tool

    def _alike(self, name: str) -> list[str]:
        """Names of its own tools with the same letters and digits."""
        bare = squeeze(name) if self.own else ""
        return [own for own in self.own if squeeze(own) == bare]

    def _unknown(self, name: str, snapshot: Snapshot) -> str:
        for problem in snapshot.problems if self.trust == FULL else ():
            if problem.refused and name in (problem.what, problem.what.removesuffix(".py")):
                where = f" ({problem.file}:{problem.line})" if problem.file else ""
                return f"There is no tool called {name!r}: {problem.reason}{where}"
        near = nearest(name, (tool.name for tool in self.tools()))
        hint = f" The nearest are {', '.join(near)}." if near else " `etui tools` lists what there is."
        return f"There is no tool called {name!r}.{hint}"

    def _count(self, call: Call) -> Turn:
        if not call.turn:
            return Turn()
        if call.turn not in self._turns:
            self._turns = {call.turn: Turn()}
        return self._turns[call.turn]

    def _facts(self, tool: Tool, arguments: dict[str, object], turn: Turn) -> Facts:
        parts = self._parts
        return Facts(
            settings=parts.settings(),
            channel=self.channel,
            trust=self.trust,
            mode=self.mode,
            private=self.private,
            attended=self.attended,
            off=parts.off(),
            toolsets=self._toolsets,
            withheld=self.withheld,
            activated=self.activated,
            enforced=parts.enforced(tool),
            remembered=parts.memory.allows(tool, self.asker, arguments),
            turn=turn,
            pin_set=parts.pin_set(),
        )

    async def _not_allowed(self, call: Call, tool: Tool, arguments: dict[str, object], verdict: Verdict) -> Outcome | None:
        """The end of a call that the gate did not simply allow, or None once a person said yes."""
        if verdict.decision is Decision.REFUSE:
            return refused(verdict.rule, verdict.reason)
        if not self.may_approve:
            return _unsaid(verdict, "unreachable", "Nobody is there to say yes.")
        card = Card(
            id="",
            kind="approval",
            question=f"May {tool.name} run?",
            tool=tool.name,
            plugin=tool.plugin,
            arguments=arguments,
            reason=verdict.reason,
            risk=tool.risk,
            session=self.id,
            chat=self.chat,
            turn=call.turn,
            call=call.id,
        )
        asker = self.asker
        answer = await self._parts.cards.ask(card)
        self._parts.decided(call.id, "", tool.risk.value, *DECIDED[answer.state])
        if answer.state == "nobody":
            return _unsaid(verdict, "unanswered", "Nobody answered.")
        if answer.state == "dismissed":
            return _unsaid(verdict, "dismissed", "Nobody decided it yet.")
        if answer.state == "declined":
            text = f"The person declined {tool.name}. Do not try it again unless they ask."
            shown = AT_A_CARD["declined"]
            return Outcome(status=Status.REFUSED, rule="declined", text=text, shown=shown, why="declined")
        if answer.text in (ALWAYS_CALL, ALWAYS_TOOL):
            self._parts.memory.remember(tool, asker, arguments if answer.text == ALWAYS_CALL else None)
        return None

    def _turned_away(self, call: Call, tool: Tool | None, arguments: object, outcome: Outcome) -> Outcome:
        if tool is not None and not outcome.detail:
            where = f" ({tool.file}:{tool.line})" if tool.file else ""
            detail = f"Rule {outcome.rule!r}; {tool.name!r} belongs to plugin {tool.plugin!r}{where}."
            outcome = msgspec.structs.replace(outcome, detail=detail)
        parts, arguments = self._parts, self._said(tool, arguments)
        parts.journal.refuse(
            call, outcome, tool=tool, arguments=arguments, chat=self.chat, session=self.id, channel=self.channel
        )
        self._tell_start(call, tool, arguments, runs=False)
        self._tell_end(call, tool, outcome)
        return outcome

    async def _run(self, call: Call, tool: Tool, arguments: dict[str, object]) -> Outcome:
        parts, told = self._parts, unspoken(tool, arguments)
        parts.journal.begin(call, tool, told, chat=self.chat, session=self.id, channel=self.channel)
        self._tell_start(call, tool, told)
        job = Job(
            call=call,
            tool=tool,
            arguments=arguments,
            seconds=deadline(tool, arguments, self.channel),
            caller=self._caller(tool, call),
            serve=parts.serve(tool, call, self),
        )
        started = time.perf_counter()
        task: asyncio.Task[object] | None = asyncio.current_task()
        assert task is not None
        self._acting.add(task)
        try:
            outcome = await parts.runner(tool).run(job) if not tool.provided else Outcome(status=Status.OK)
        except asyncio.CancelledError:
            seconds = time.perf_counter() - started
            ended = Outcome(status=Status.CANCELLED, text=f"{tool.name} was stopped.", why="interrupted", seconds=seconds)
            self._ended(call, tool, ended)
            if task in self._stopped and task.uncancel() == 0:
                return ended  # The session ended, and whoever waits for the call need not.
            raise
        finally:
            self._acting.discard(task)
            self._stopped.discard(task)
            if not self._acting:
                parts.rested(self)
        outcome = self._finish(call, tool, outcome, time.perf_counter() - started)
        self._ended(call, tool, outcome)
        return outcome

    def _ended(self, call: Call, tool: Tool, outcome: Outcome) -> None:
        self._parts.journal.end(call.id, outcome)
        self._tell_end(call, tool, outcome)

    def _caller(self, tool: Tool, call: Call) -> Caller:
        settings = self._parts.settings()
        return Caller(
            session=self.id,
            channel=self.channel,
            trust=self.trust,
            chat=self.chat,
            mode=self.mode,
            private=self.private,
            user_text=self.user_text,
            timezone=settings.timezone,
            language=settings.language,
            turn=call.turn,
            attended=self.attended,
            caller=self.caller,
            authorized=self.authorized,
            keypressed=self.keypressed,
            more=self._parts.brief(tool, self) if tool.wants else {},
        )

    def _finish(self, call: Call, tool: Tool, outcome: Outcome, seconds: float) -> Outcome:
        limit = tool.chars or self._parts.settings().result_chars
        return kept(call, self.chat, tool, msgspec.structs.replace(outcome, seconds=seconds), limit, self._parts.keep)

    def _tell_start(self, call: Call, tool: Tool | None, arguments: object, *, runs: bool = True) -> None:
        mask = self._parts.mask
        self._tell(Kind.CALL_STARTED, call, lambda: started(call, tool, arguments, self.channel, runs, mask))

    def _tell_end(self, call: Call, tool: Tool | None, outcome: Outcome) -> None:
        mask = self._parts.mask
        self._tell(Kind.CALL_ENDED, call, lambda: ended(call, tool, outcome, mask))

    def _tell(self, kind: Kind, call: Call, make: Callable[[], dict[str, object]]) -> None:
        self._parts.hub.tell_made(kind, make, session=self.id, chat=self.chat, turn=call.turn, call=call.id)


def _pin_first(tool: Tool, verdict: Verdict) -> Outcome:
    """The refusal of a call before the PIN: in the contract's own words where it has some, which are JSON."""
    own = verdict.reason in (tool.words.pin, tool.words.no_pin)
    return Outcome(
        status=Status.REFUSED,
        rule=verdict.rule,
        text=verdict.reason,
        data=msgspec.json.decode(verdict.reason) if own else None,
        shown=f"{tool.name} waits for the owner's PIN" + ("." if verdict.rule == PIN else ", and none is configured."),
    )


def unspoken(tool: Tool, arguments: A) -> A:
    """The arguments without what this tool wants written down nowhere; of one with secrets, no other value stays either."""
    if not tool.secrets:
        return arguments
    return dict.fromkeys(tool.secrets, UNSPOKEN)  # type: ignore[return-value]  # every kind of arguments may be an object


def _unsaid(verdict: Verdict, why: str, text: str) -> Outcome:
    """The end of a call to which nobody said yes or no."""
    return Outcome(status=Status.NEEDS_APPROVAL, rule=verdict.rule, text=f"{verdict.reason} {text}", why=why)
