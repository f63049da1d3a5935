"""Which tools can be used now, as they say themselves: asked of their own code before an offer, and kept for a while.

The asking happens in the plugin's worker, so that a slow answer holds up nobody but the offer, and that not for long. An answer
that fails leaves the last one standing. Above: `host` hands `unusable` to sessions. Below: `run` and the nouns. It refuses to
know: how tools are offered. What was offered may be called: nobody is asked again at a call.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import structlog

from etui.contracts import Caller
from etui.errors import ServiceError
from etui.outcome import Outcome, Status
from etui.run import Job
from etui.tool import Call, Problem, Tool

log = structlog.get_logger(__name__)
KEPT = 30.0
"""Seconds for which an answer counts."""
PATIENCE = 2.0
"""Seconds that an offer waits for answers."""
LONGEST = 10.0
"""Seconds that an answer may take before it is ended."""

_BRIEF = 200
"""Characters of what a check ended in."""

Run = Callable[[Job], Awaitable[Outcome]]
"""Asks a tool's code; see `run.Job.check`."""
_Key = tuple[str, str, str]
"""Plugin, name and digest of a tool that is asked."""


class _Answer(msgspec.Struct, frozen=True):
    """What a tool said of itself last."""

    plugin: str
    digest: str
    usable: bool
    at: float


class Availability:
    """The answers of one host's tools."""

    def __init__(
        self,
        run: Run,
        clock: Callable[[], float],
        told: Callable[[Problem], object],
        *,
        patience: float = PATIENCE,
        longest: float = LONGEST,
    ) -> None:
        """`clock` gives seconds; `told` hears of a check that goes wrong, once until it goes well again."""
        self._run = run
        self._clock = clock
        self._told = told
        self._patience = patience
        self._longest = longest
        self._answers: dict[str, _Answer] = {}
        self._asking: dict[_Key, asyncio.Task[None]] = {}
        self._slow: set[_Key] = set()
        """Those for which an offer has waited in vain: the next one does not wait for the same answer."""
        self._problems: dict[str, Problem] = {}

    async def unusable(self, tools: Sequence[Tool]) -> frozenset[str]:
        """Names of those that cannot be used now. Waits a moment for answers that are due; a later one is kept all the same."""
        due = [tool for tool in tools if not self._counts(tool)]
        asked = [self._asked(tool) for tool in due if _key(tool) not in self._slow]
        if asked:
            await asyncio.wait(asked, timeout=self._patience)
            for tool in due:
                self._give_up(tool)
        return frozenset(tool.name for tool in tools if not self._usable(tool))

    def problems(self) -> tuple[Problem, ...]:
        """The checks that go wrong."""
        return tuple(self._problems.values())

    def forget(self, plugin: str) -> None:
        """Ask this plugin's tools anew: something that their answers depend on has changed."""
        self._answers = {name: answer for name, answer in self._answers.items() if answer.plugin != plugin}
        for key in [key for key in self._asking if key[0] == plugin]:
            self._slow.discard(key)
            self._asking.pop(key).cancel()

    async def close(self) -> None:
        """Ask nobody any more."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _last(self, tool: Tool) -> _Answer | None:
        """Its last answer; another version's is none of its own."""
        answer = self._answers.get(tool.name)
        return answer if answer is not None and (answer.plugin, answer.digest) == (tool.plugin, tool.digest) else None

    def _counts(self, tool: Tool) -> bool:
        answer = self._last(tool)
        return answer is not None and 0 <= self._clock() - answer.at < KEPT

    def _usable(self, tool: Tool) -> bool:
        answer = self._last(tool)
        return answer is not None and answer.usable

    def _asked(self, tool: Tool) -> asyncio.Task[None]:
        """The asking that is under way, begun if there is none."""
        key = _key(tool)
        if key not in self._asking:
            self._asking[key] = task = asyncio.create_task(self._ask(tool), name=f"check of {tool.name}")
            task.add_done_callback(lambda done: self._asked_out(key, done))
        return self._asking[key]

    def _asked_out(self, key: _Key, done: asyncio.Task[None]) -> None:
        if self._asking.get(key) is done:
            del self._asking[key]
            self._slow.discard(key)

    async def _ask(self, tool: Tool) -> None:
        job = Job(
            call=Call(id=f"check_{secrets.token_hex(8)}", tool=tool.name),
            tool=tool,
            arguments={},
            seconds=self._longest,
            caller=Caller(),
            serve=_nobody,
            check=True,
        )
        outcome = await self._run(job)
        last = self._last(tool)
        if outcome.ok:
            usable = bool(outcome.data)
            self._problems.pop(tool.name, None)
        else:
            usable = last is not None and last.usable and outcome.status is not Status.TIMED_OUT
            reason = f"Its check failed ({_why(outcome)}), and its last answer stands: {_word(usable)}."
            self._warn(tool, reason, outcome)
        self._answers[tool.name] = _Answer(tool.plugin, tool.digest, usable, self._clock())

    def _give_up(self, tool: Tool) -> None:
        """The offer goes out; what comes later counts for the next one."""
        if (key := _key(tool)) in self._asking and key not in self._slow:
            self._slow.add(key)
            usable = self._usable(tool)
            self._warn(tool, f"Its check gave no answer in {self._patience:g} s; until it does, it is {_word(usable)}.")

    def _warn(self, tool: Tool, reason: str, outcome: Outcome | None = None) -> None:
        trace = (outcome.detail or outcome.text) if outcome else ""
        log.warning("check went wrong", tool=tool.name, file=tool.file, reason=reason, trace=trace)
        problem = Problem(
            what=tool.name,
            reason=reason,
            hint="A check must be quick and give True or False.",
            file=tool.file,
            line=tool.line,
            plugin=tool.plugin,
            source=tool.source,
            refused=False,
            trace=trace,
        )
        known = self._problems.get(tool.name)
        self._problems[tool.name] = problem
        if known is None:
            self._told(problem)


def _key(tool: Tool) -> _Key:
    return tool.plugin, tool.name, tool.digest


def _word(usable: bool) -> str:
    return "offered" if usable else "not offered"


def _why(outcome: Outcome) -> str:
    """What the check ended in, on one line."""
    told = outcome.why or (outcome.detail or outcome.text).strip().rpartition("\n")[2]
    return told[:_BRIEF].rstrip(".")


async def _nobody(service: str, args: dict[str, object]) -> object:
    raise ServiceError("A check stands before every call: it can ask nothing of the host.")
