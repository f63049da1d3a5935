"""What the console needs of the host, and what each route finds at hand.

Above: every route. Below: the nouns, a Session and the store.
It refuses to know: `host` itself, which stands above all surfaces.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from starlette.requests import Request

from etui.events import Hub
from etui.outcome import Outcome
from etui.settings import Settings
from etui.tool import Call, Plugin, Problem, Tool

if TYPE_CHECKING:
    from etui.agent.jobs import Job
    from etui.cards import Cards
    from etui.plugins.families import Family
    from etui.plugins.fresh import Listing
    from etui.plugins.packaged import Packaged
    from etui.store import Store
    from etui.surfaces.web.live import Live
    from etui.surfaces.web.tokens import Tokens


class Door(Protocol):
    """A session, as far as the console goes through it."""

    id: str

    def new_call(self, tool: str, arguments: object, *, turn: str = "", id: str = "", plugin: str = "") -> Call: ...

    async def call(self, call: Call) -> Outcome: ...


class Alive(Protocol):
    """A session that lives, as far as the console shows it."""

    id: str
    chat: str
    channel: str
    caller: str

    @property
    def trust(self) -> str: ...


class House(Protocol):
    """The host, as far as the console asks it; `host.Host` is one."""

    @property
    def settings(self) -> Settings: ...

    @property
    def home(self) -> Path: ...

    @property
    def store(self) -> Store: ...

    @property
    def hub(self) -> Hub: ...

    @property
    def cards(self) -> Cards: ...

    @property
    def packaged(self) -> Packaged: ...

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

    def warm(self) -> None: ...

    def say(self, chat: str, text: str, *, channel: str = "console", attended: bool = True) -> str: ...

    def end_session(self, id: str, reason: str = "user") -> bool: ...

    def hang_up(self, chat: str, channel: str) -> bool: ...

    async def press(self, chat: str, channel: str, key: str) -> str: ...

    def pin(self) -> dict[str, Any]: ...

    async def set_pin(self, digits: str) -> None: ...

    def living(self) -> tuple[Alive, ...]: ...

    async def folders(self) -> tuple[Listing, ...]: ...

    def stop(self, chat: str) -> bool: ...

    def delete_chat(self, chat: str) -> bool: ...

    def tools(self) -> tuple[Tool, ...]: ...

    def plugins(self) -> tuple[Plugin, ...]: ...

    def problems(self) -> tuple[Problem, ...]: ...

    def switched_off(self) -> frozenset[str]: ...

    def families(self) -> tuple[Family, ...]: ...

    def switch(self, tool: str, on: bool) -> None: ...

    def grant(self, plugin: str) -> dict[str, Any]: ...

    def give(self, plugin: str, name: str, value: str | None = None) -> None: ...

    def take(self, plugin: str, name: str) -> None: ...

    def forbid(self, plugin: str, what: str, on: bool) -> None: ...

    def jobs(self) -> tuple[Job, ...]: ...

    def cancel_job(self, job: str) -> bool: ...

    def teach(self, tool: str, sentence: str) -> None: ...

    def unteach(self, tool: str, sentence: str) -> None: ...

    def taught(self, tool: str) -> tuple[str, ...]: ...

    def report(self) -> dict[str, Any]: ...

    def model_choices(self) -> list[dict[str, Any]]: ...

    async def look_for_models(self) -> None: ...

    async def choose_model(self, id: str) -> None: ...

    async def set_setting(self, name: str, value: object) -> None: ...


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
