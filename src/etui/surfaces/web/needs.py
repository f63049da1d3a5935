"""What the console needs of the host, and what each route finds at hand.

Above: every route. Below: the nouns, a Session, the store, and the rooms of `front`.
It refuses to know: `host` itself, which stands above all surfaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec
from starlette.requests import Request

from etui.events import Hub
from etui.outcome import Outcome
from etui.tool import Call

if TYPE_CHECKING:
    from etui.agent.jobs import Jobs
    from etui.cards import Cards
    from etui.entrance import Entrance
    from etui.front.choosing import Choosing
    from etui.front.conversations import Conversations
    from etui.front.installed import Installed
    from etui.front.models import ModelChoice
    from etui.front.outside import Outside
    from etui.front.plugins import Plugins
    from etui.front.problems import Problems
    from etui.front.report import Report
    from etui.front.routes import Routes
    from etui.front.settings import LiveSettings
    from etui.front.tools import Tools
    from etui.owner.accounts import Accounts
    from etui.plugins.packaged import Packaged
    from etui.services.keys import Keys
    from etui.sessions import Sessions
    from etui.store import Store
    from etui.surfaces.web.live import Live
    from etui.surfaces.web.tokens import Tokens


class Door(Protocol):
    """A session, as far as the console goes through it."""

    id: str

    def new_call(self, tool: str, arguments: object, *, turn: str = "", id: str = "", plugin: str = "") -> Call: ...

    async def call(self, call: Call) -> Outcome: ...


class Schedules(Protocol):
    """What plugins run by the clock; `scheduling.Scheduling` is one."""

    def all(self) -> Sequence[msgspec.Struct]: ...

    def switch(self, id: str, on: bool) -> bool: ...

    def drop(self, id: str) -> bool: ...


class House(Protocol):
    """The host, as far as the console asks it; `host.Host` is one."""

    @property
    def home(self) -> Path: ...

    @property
    def settings(self) -> LiveSettings: ...

    @property
    def store(self) -> Store: ...

    @property
    def hub(self) -> Hub: ...

    @property
    def cards(self) -> Cards: ...

    @property
    def tools(self) -> Tools: ...

    @property
    def plugins(self) -> Plugins: ...

    @property
    def installed(self) -> Installed: ...

    @property
    def packaged(self) -> Packaged: ...

    @property
    def choosing(self) -> Choosing: ...

    @property
    def accounts(self) -> Accounts: ...

    @property
    def problems(self) -> Problems: ...

    @property
    def report(self) -> Report: ...

    @property
    def models(self) -> ModelChoice: ...

    @property
    def outside(self) -> Outside: ...

    @property
    def routes(self) -> Routes: ...

    @property
    def keys(self) -> Keys: ...

    def addressed(self, address: str) -> None: ...

    @property
    def conversations(self) -> Conversations: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def sessions(self) -> Sessions: ...

    @property
    def entrance(self) -> Entrance: ...

    @property
    def schedules(self) -> Schedules: ...

    def session(
        self,
        channel: str,
        *,
        chat: str = "",
        trust: str = "full",
        mode: str = "conversation",
        private: bool = False,
        attended: bool = False,
    ) -> Door: ...


class Desk(msgspec.Struct, frozen=True):
    """What every route finds at hand."""

    host: House
    tokens: Tokens
    live: Live
    port: int


def desk(request: Request) -> Desk:
    """The desk of the app that this request came to."""
    found: Desk = request.app.state.desk
    return found
