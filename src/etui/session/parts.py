"""What the host hands to every session, and what stands where it hands nothing.

Above: `session`. Below: the nouns, the registry, cards; the rest are Protocols and callables. It refuses to know: in which
order any of it is asked, which is the door's to say.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import msgspec

from etui.cards import Cards
from etui.events import Hub
from etui.keeping import Find, Keep, nothing_found
from etui.outcome import Outcome
from etui.registry import Snapshot
from etui.rows import Mask
from etui.run import Runner, Serve
from etui.selection.chosen import EVERYTHING, Chosen
from etui.settings import Settings
from etui.tool import Call, Tool
from etui.verdict import Facts, Verdict

if TYPE_CHECKING:
    from etui.session import Session

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


class Before(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody made of a call that may run, before it does: other arguments, or an answer instead of it."""

    arguments: dict[str, object] | None = None
    answer: str | None = None


class Around(Protocol):
    """Who is asked around calls."""

    def hooked(self, hook: str) -> bool:
        """Whether anybody is: `pre_execute`, `post_execute` or `tools_filter`."""
        ...

    async def before(self, session: Session, tool: Tool, call: Call, arguments: dict[str, object]) -> Before | None:
        """What is made of it; None where nothing is."""
        ...

    async def after(self, session: Session, tool: Tool, call: Call, arguments: dict[str, object], outcome: Outcome) -> None:
        """It ran, and this came of it."""
        ...

    async def fewer(self, session: Session, tools: Sequence[Tool]) -> frozenset[str]:
        """Names of those that are kept from the model now."""
        ...


class Nobody:
    """For a host in which nobody is asked around calls."""

    def hooked(self, hook: str) -> bool:
        """Nobody is."""
        return False

    async def before(self, session: Session, tool: Tool, call: Call, arguments: dict[str, object]) -> Before | None:
        """Nothing."""
        return None

    async def after(self, session: Session, tool: Tool, call: Call, arguments: dict[str, object], outcome: Outcome) -> None:
        """Nobody hears it."""

    async def fewer(self, session: Session, tools: Sequence[Tool]) -> frozenset[str]:
        """None."""
        return frozenset()


def everywhere(tool: Tool, mode: str) -> bool:
    """For a host that keeps modes apart nowhere."""
    return True


def nothing_more(tool: Tool, session: Session) -> dict[str, object]:
    """For a host that tells tools nothing besides."""
    return {}


def as_given(session: Session, value: object) -> object:
    """For a host that keeps no PIN."""
    return value


async def nothing_unusable(tools: Sequence[Tool]) -> frozenset[str]:
    """For a host that asks nobody."""
    return frozenset()


def yes() -> bool:
    """For a host that keeps no PIN: then a tool that needs one asks for it all the same."""
    return True


async def nothing_fresh(session: Session) -> Mapping[str, Tool]:
    """For a host whose sessions have no tools of their own."""
    return NOTHING


def everything_chosen(session: Session) -> Chosen:
    """For a host whose chats choose nothing."""
    return EVERYTHING


def nothing_hidden(tool: Tool, outcome: Outcome) -> Outcome:
    """For a host that keeps no secrets."""
    return outcome


def nobody_told(session: Session) -> None:
    """For a host that follows no session."""


def nothing_decided(call: str, action: str, risk: str, verdict: str, by: str) -> None:
    """For a host that writes no decisions down."""


NOBODY = Nobody()


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
    conceal: Callable[[Session, object], object] = as_given
    """A copy without what may be a PIN: for what nobody known gave to a tool that did not run."""
    hub: Hub
    cards: Cards
    taught: Callable[[str], tuple[str, ...]]
    find: Find = nothing_found
    """Finds an image that a call names which was kept before."""
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
    chosen: Callable[[Session], Chosen] = everything_chosen
    """Which tools and accounts were chosen for a session's chat; the same object until something changes."""
    hide: Callable[[Tool, Outcome], Outcome] = nothing_hidden
    """An outcome without the secrets that the host keeps for the tool's plugin, should it tell one."""
    changed: Callable[[Session], None] = nobody_told
    """Hears that a session's trust, or what was pressed in it, has changed."""
    rested: Callable[[Session], None] = nobody_told
    """Hears that the last call that ran in a session is over, or that it is to end, for the reason in `Session.ending`."""
    around: Around = NOBODY
    """Who is asked before and after calls, and what a model is offered."""
