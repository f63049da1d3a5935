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
from collections.abc import Mapping

import msgspec

from etui.arguments import Invalid, prepare
from etui.budgets import deadline
from etui.cards import Card
from etui.contracts import Caller
from etui.keeping import kept
from etui.outcome import BAD, Outcome, Status, refused
from etui.run import Job
from etui.session.approving import ask, pin_first, unsaid
from etui.session.finding import meant, unchosen, unknown
from etui.session.parts import NOTHING, Parts
from etui.session.recording import Record, unspoken
from etui.session.viewing import View
from etui.tool import Call, Risk, Tool
from etui.verdict import FULL, NO_PIN, NONE, NOT_CHOSEN, PIN, POSSESSION, STRANGERS, Decision, Facts, Turn, Verdict

LONGEST = 100
"""Characters of a name that does not exist which are told again."""
SCOPES = "scopes"
"""Among what a tool wants: what the scopes of the chat stand for."""
TRUSTED = frozenset({"console", "terminal", "python"})
"""Channels that are the owner's own once they are logged in; every other one starts with no trust."""


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
        chooses: str = "",
    ) -> None:
        """`caller` is who called, by their number or name; `own` the tools that are this session's alone.

        `chooses` is the chat whose choices hold in it, where that is not its own.

        `possession` says that the host itself placed the call to a number of the owner's.
        """
        self.id = secrets.token_hex(8)
        self._prefix = f"call_{secrets.token_hex(8)}_"
        """Of the ids of this session's calls, which then count."""
        self._numbers = itertools.count(1)
        self.chat = chat
        self.chooses = chooses or chat
        """The chat whose choices of tools and accounts hold in it."""
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
        self._record = Record(parts, session=self.id, chat=chat, channel=channel)
        self._turns: dict[str, Turn] = {}
        self._view = View(self, parts)

    @property
    def trust(self) -> str:
        """What it has proved at this moment: `full`, `possession` or `none`."""
        if self._trust == FULL or self.authorized:
            return FULL
        return POSSESSION if self.possession or self._trust == POSSESSION else NONE

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
        return self._view.tools()

    async def offered(self) -> tuple[Tool, ...]:
        """Those of them that can be used now, as they say themselves."""
        await self.open()
        return await self._view.offered()

    def elsewhere(self) -> tuple[tuple[Tool, str], ...]:
        """Tools that its owner switched off or did not choose for it, each with where that is changed; for the owner alone."""
        return self._view.elsewhere()

    def taught(self, tool: str) -> tuple[str, ...]:
        """Sentences that a person taught for a tool."""
        return self._parts.taught(tool)

    def new_call(self, tool: str, arguments: object, *, turn: str = "", id: str = "", plugin: str = "") -> Call:
        """A call with an id of its own."""
        return Call(id=id or f"{self._prefix}{next(self._numbers):x}", tool=tool, arguments=arguments, turn=turn, plugin=plugin)

    def kept(self, tool: str, arguments: object) -> object:
        """The arguments of a call of this tool as they may be written down: without what is told to nobody."""
        found = self._find(Call(id="", tool=tool))
        if isinstance(found, Outcome):
            return self._unrun(None, arguments)
        shut = self.trust != FULL and self._decided(Call(id="", tool=tool), found, {}, Turn()).rule in (PIN, NO_PIN)
        return self._unrun(found, arguments) if shut else unspoken(found, arguments)

    def _unrun(self, tool: Tool | None, arguments: object) -> object:
        """The arguments of what did not run, as they may be written down; a stranger's may be a PIN beside its door."""
        said = arguments if tool is None else unspoken(tool, arguments)
        if self.trust == FULL:
            return said
        return self._parts.conceal(self, said if tool is not None else self._parts.mask(said))

    def _decided(self, call: Call, tool: Tool, arguments: dict[str, object], turn: Turn) -> Verdict:
        return self._parts.decide(call, tool, self._facts(tool, arguments, turn))

    async def call(self, call: Call) -> Outcome:
        """The one door to a tool. Raises nothing but CancelledError, and then the end is written down and told."""
        if not self._opened and call.tool not in self._parts.snapshot().tools:
            await self.open()
        tool = self._find(call)
        if isinstance(tool, Outcome):
            return self._turned_away(call, None, call.arguments, tool)
        turn = self._count(call)
        if self.trust != FULL and (first := self._decided(call, tool, {}, turn)).rule in (PIN, NO_PIN):
            # Before anything is looked up, so that the answer is the same whatever was asked.
            return self._turned_away(call, tool, call.arguments, pin_first(tool, first))
        notes: list[str] = []
        arguments = prepare(tool, call.arguments, notes)
        if isinstance(arguments, Invalid):
            return self._turned_away(call, tool, call.arguments, refused("arguments", arguments.sentence))
        facts = self._facts(tool, arguments, turn)
        verdict = self._parts.decide(call, tool, facts)
        if verdict.decision is not Decision.REFUSE and self._parts.around.hooked("pre_execute"):
            altered = await self._altered(call, tool, arguments)
            if isinstance(altered, Outcome):
                return altered
            if self._find(call) != tool:
                return await self.call(call)
            arguments = altered
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
        if self._parts.around.hooked("post_execute"):
            await self._parts.around.after(self, tool, call, arguments, outcome)
        return outcome

    async def _altered(self, call: Call, tool: Tool, arguments: dict[str, object]) -> dict[str, object] | Outcome:
        """The arguments with which it is to run, as others leave them and checked again; or its end, if it is not to run."""
        before = await self._parts.around.before(self, tool, call, arguments)
        if before is None:
            return arguments
        if before.answer is not None:
            if (unwritten := self._record.begun(call, tool, arguments)) is not None:
                return unwritten
            outcome = self._finish(call, tool, Outcome(status=Status.OK, text=before.answer, rule="pre_execute"), 0.0)
            self._record.ended(call, tool, outcome)
            return outcome
        prepared = prepare(tool, before.arguments, [])
        if isinstance(prepared, Invalid):
            return self._turned_away(call, tool, before.arguments, refused("arguments", prepared.sentence))
        return prepared

    def _find(self, call: Call) -> Tool | Outcome:
        """The tool by its name; by its letters and digits where that leaves no doubt; else a refusal that helps."""
        if self.ended:
            return refused("ended", "This conversation has ended, so nothing runs in it any more.")
        snapshot, name = self._parts.snapshot(), call.tool[:LONGEST]
        tool = meant(call.tool, snapshot, self._parts.built_in, self.own)
        if isinstance(tool, tuple):
            if tool:
                return refused("find", f"{name!r} could be {' or '.join(map(repr, tool))}; say which.")
            problems = snapshot.problems if self.trust == FULL else ()
            return refused("find", unknown(name, problems, (one.name for one in self.tools())))
        if call.plugin and tool.plugin != call.plugin:
            return refused("find", f"The tool {tool.name!r} belongs to plugin {tool.plugin!r}, not to {call.plugin!r}.")
        return tool

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
            withheld=self._kept_back(turn),
            activated=self.activated,
            enforced=parts.enforced(tool),
            remembered=parts.memory.allows(tool, self.asker, arguments),
            turn=turn,
            pin_set=parts.pin_set(),
            chosen=parts.chosen(self),
        )

    def _kept_back(self, turn: Turn) -> frozenset[str]:
        """Names of tools that are not for it; in a turn, those too that the model was not offered."""
        filtered = self._view.filtered
        asked = filtered and any(turn is one for one in self._turns.values())
        return self.withheld | filtered if asked else self.withheld

    async def _not_allowed(self, call: Call, tool: Tool, arguments: dict[str, object], verdict: Verdict) -> Outcome | None:
        """The end of a call that the gate did not simply allow, or None once a person said yes."""
        if verdict.decision is Decision.REFUSE:
            own = unchosen(tool, (one.name for one in self.tools())) if verdict.rule == NOT_CHOSEN else ""
            return refused(verdict.rule, own or verdict.reason)
        if not self.may_approve:
            return unsaid(verdict, "unreachable", "Nobody is there to say yes.")
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
        return await ask(self._parts, card, tool, arguments, self.asker, verdict)

    def _turned_away(self, call: Call, tool: Tool | None, arguments: object, outcome: Outcome) -> Outcome:
        return self._record.turned_away(call, tool, self._unrun(tool, arguments), outcome)

    async def _run(self, call: Call, tool: Tool, arguments: dict[str, object]) -> Outcome:
        parts = self._parts
        if (unwritten := self._record.begun(call, tool, arguments)) is not None:
            return unwritten
        job = Job(
            call=call,
            tool=tool,
            arguments=arguments,
            seconds=deadline(tool, arguments, self.channel),
            caller=self.caller_of(tool, call),
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
            self._record.ended(call, tool, ended)
            if task in self._stopped and task.uncancel() == 0:
                return ended  # The session ended, and whoever waits for the call need not.
            raise
        finally:
            self._acting.discard(task)
            self._stopped.discard(task)
            if not self._acting:
                parts.rested(self)
        outcome = self._finish(call, tool, outcome, time.perf_counter() - started)
        self._record.ended(call, tool, outcome)
        return outcome

    def caller_of(self, tool: Tool, call: Call) -> Caller:
        """What the tool is told of who calls."""
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
            scopes=self._parts.chosen(self).scopes if SCOPES in tool.wants else {},
            more=self._parts.brief(tool, self) if tool.wants else {},
        )

    def _finish(self, call: Call, tool: Tool, outcome: Outcome, seconds: float) -> Outcome:
        limit = tool.chars or self._parts.settings().result_chars
        outcome = msgspec.structs.replace(self._parts.hide(tool, outcome), seconds=seconds)
        return kept(call, self.chat, tool, outcome, limit, self._parts.keep, self._parts.find)
