"""What the services need of the host, handed in once.

Above: `desk`, and each family, which is made with the few of these that it uses. Below: the store, events, cards, settings. It
refuses to know: which of them is used for what.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec

from etui.cards import Cards
from etui.events import Hub
from etui.owner.accounts import Accounts
from etui.owner.confirming import Confirming
from etui.registry import Snapshot
from etui.selection import Selections
from etui.services.keys import Keys
from etui.session import Session
from etui.settings import Settings
from etui.store import Store
from etui.tool import Problem, Tool


class Started(Protocol):
    """A job that was started."""

    @property
    def id(self) -> str:
        """Its id."""
        ...


class Jobs(Protocol):
    """Who starts and cancels background jobs."""

    def start(self, session: Session, goal: str) -> Started:
        """Start one for this session's chat. Raises UsageError with a sentence where there can be none."""
        ...

    def cancel(self, chat: str) -> bool:
        """Cancel the one of a chat; False if there is none."""
        ...


class Timekeeper(Protocol):
    """Who runs plugins' tasks when their time has come."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def next(self, expression: str) -> float:
        """When a cron expression comes true next, in seconds since the epoch. Raises UsageError for what is none."""
        ...

    def changed(self) -> None:
        """A task was made or changed."""
        ...

    def drop(self, id: str) -> bool:
        """Take back a task; False if there is none."""
        ...

    def emitted(self, plugin: str, event: str, text: str) -> int:
        """A plugin's daemon tells of something; how many tasks waited for it. Raises ServiceError where it is too much."""
        ...


class Installed(Protocol):
    """The plugins with a root; `near` is the one that asks, and whose root is meant."""

    def settings(self, name: str, near: str) -> dict[str, Any]:
        """A plugin's settings, by what it calls itself; what is secret only to itself."""
        ...

    def info(self, name: str, near: str) -> dict[str, Any] | None:
        """What there is to know of a plugin; None where there is none."""
        ...

    def neighbours(self, near: str) -> list[str]:
        """What the plugins of that root call themselves."""
        ...

    def folders(self, near: str) -> dict[str, str]:
        """Where the plugins of that root lie that are on, by their folders' names."""
        ...

    def in_the_house(self, name: str, near: str) -> str:
        """What a plugin of that name is called in the house; empty where there is none."""
        ...

    async def rescan(self) -> dict[str, list[str]]:
        """Look at the folders now; which plugins came and went."""
        ...

    async def reread(self, name: str) -> bool:
        """Read a plugin anew, by its name in the house; whether it loaded. Raises UsageError where there is none.

        It is no word of the owner's: what waits for that goes on waiting.
        """
        ...


class Draft(Protocol):
    """A tool file that passed what can be told without running it."""

    @property
    def shown(self) -> str:
        """What a person has to have seen before it is saved."""
        ...


class Maker(Protocol):
    """Who saves the tool files that an assistant writes. Each method raises UsageError with a sentence for the assistant."""

    def draft(self, name: str, code: str) -> Draft:
        """Look the code through; nothing of it is run."""
        ...

    async def keep(self, draft: Any, chat: str) -> str:
        """Save it, have it loaded, and let this chat use it; what was done, in a sentence."""
        ...

    async def read(self, name: str) -> str:
        """The code of one, or without a name the list of them."""
        ...

    async def load(self, chat: str) -> str:
        """Look at the folders anew, and let this chat use what an assistant made; what there is, in a sentence."""
        ...


Register = Callable[[str, tuple[Tool, ...], tuple[str, ...]], dict[str, str]]
"""Registers and takes back tools of a running plugin; gives the names that are taken, each with the reason."""


def as_said(plugin: str, told: Any) -> Any:
    """For a host that keeps no secrets."""
    return told


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of one host that services reach."""

    store: Store
    hub: Hub
    cards: Cards
    settings: Callable[[], Settings]
    clock: Callable[[], float]
    """Gives seconds since the epoch."""
    woken: Callable[[], None]
    """Called when a reminder was added, moved or cancelled."""
    confirming: Confirming
    spoken: Callable[[Session, str], None]
    """Called with what a person typed into a card that nobody waited for: it is their next sentence."""
    activate: Callable[[Session, str], Awaitable[dict[str, list[str]]]]
    """Lets a job see the tools of the MCP servers that are meant; raises UsageError with a sentence."""
    jobs: Callable[[], Jobs]
    snapshot: Callable[[], Snapshot]
    off: Callable[[], frozenset[str]]
    """Names of tools and toolsets that are switched off."""
    selections: Selections
    accounts: Accounts
    keys: Keys
    """By which tools ask this host over HTTP."""
    time: Callable[[], Timekeeper]
    register: Register
    installed: Callable[[], Installed]
    maker: Callable[[], Maker]
    note: Callable[[Problem], None]
    """Takes what the owner should know of a plugin."""
    hide: Callable[[str, Any], Any] = as_said
    """What a plugin tells, a text or JSON values, without the secrets that the owner gave it."""
