"""The shelf under test: the real contract loads it and runs its calls; only the host around it is a stand-in.

A `Desk` is one plugin of the shelf with its state, reminders, settings and a clock that the test sets.
"""

from __future__ import annotations

import asyncio
import copy
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from etui.contracts import Caller, Description, Files, Ran
from etui.contracts.etui.contract import EtuiContract
from etui.outcome import Status
from etui.store import Store

SHELF = Path(__file__).parents[2] / "src/etui/shelf"
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
"""A Monday."""


@cache
def _read(plugin: str) -> tuple[EtuiContract, Description, list[Any]]:
    """The plugin, imported once for all tests, what it offers, and its modules: they keep nothing from one call to the next."""
    path = SHELF / plugin if (SHELF / plugin).is_dir() else SHELF / f"{plugin}.py"
    files = tuple(str(file) for file in sorted(path.rglob("*.py"))) if path.is_dir() else (str(path),)
    contract = EtuiContract()
    description = contract.describe(
        Files(plugin=plugin, source="shelf", contract="etui", path=str(path), files=files, work="unused")
    )
    return contract, description, [module for module in list(sys.modules.values()) if _lies_in(module, path)]


def _at(contract: EtuiContract, work: Path) -> EtuiContract:
    """The same plugin, with this working folder."""
    moved = EtuiContract()
    for name, bound in contract._bound.items():
        moved._bound[name] = copy.copy(bound)
        moved._bound[name].work = str(work)
    return moved


class Desk:
    """One plugin of the shelf, at a time, in a zone."""

    call = "c1"

    def __init__(self, plugin: str, work: Path, *, zone: str = "UTC", now: datetime = NOON, language: str = "en") -> None:
        read, self.description, self._modules = _read(plugin)
        self.contract = _at(read, work)
        self.plugin = plugin
        self.work = work
        self.tools = {tool.name: tool for tool in self.description.tools}
        self.caller = Caller(session="s1", channel="console", trust="full", chat="k1", timezone=zone, language=language)
        self.store = Store.open(":memory:")
        self.settings: dict[str, object] = {}
        self.reminders: list[dict[str, Any]] = []
        self.said: list[str] = []
        self.now = now

    @property
    def now(self) -> datetime:
        """What the plugin takes for now."""
        return self._now

    @now.setter
    def now(self, moment: datetime) -> None:
        self._now = moment.astimezone(UTC)
        for module in self._modules:
            if hasattr(module, "utc_now"):
                module.utc_now = lambda: self._now

    def run(self, tool: str, **arguments: object) -> Ran:
        """One call with JSON arguments, the way a worker runs it."""
        return asyncio.run(self._run(tool, arguments))

    async def _run(self, tool: str, arguments: dict[str, object]) -> Ran:
        return await self.contract.invoke(tool, arguments, self)

    def say_of(self, tool: str, **arguments: object) -> str:
        """The sentence of a call that goes well."""
        ran = self.run(tool, **arguments)
        assert ran.status is Status.OK, f"{ran.status}: {ran.text}\n{ran.detail}"
        return ran.text

    def fail_of(self, tool: str, **arguments: object) -> str:
        """The sentence of a call that fails, as the tool meant it."""
        ran = self.run(tool, **arguments)
        assert ran.status is Status.FAILED, f"{ran.status}: {ran.text}"
        assert not ran.error, ran.detail
        return ran.text

    def undo(self, ran: Ran) -> str:
        """Do what the call says takes it back."""
        assert isinstance(ran.data, dict) and "undo" in ran.data, ran
        undo = ran.data["undo"]
        return self.say_of(undo["tool"], **undo["arguments"])

    # The worker's side of the wire

    async def ask(self, service: str, **args: object) -> object:
        """A host service, for an async tool."""
        return self.ask_sync(service, **args)

    def ask_sync(self, service: str, **args: Any) -> object:
        """A host service, from the tool's thread."""
        state = self.store.state
        services: dict[str, Callable[..., object]] = {
            "state.get": lambda key: state.get(self.plugin, key),
            "state.put": lambda key, value: state.put(self.plugin, key, value) and None,
            "state.swap": lambda key, value, version: state.swap(self.plugin, key, value, version),
            "state.delete": lambda key: state.delete(self.plugin, key),
            "state.keys": lambda prefix="": state.keys(self.plugin, prefix),
            "state.search": lambda query, prefix="", limit=20: state.search(self.plugin, prefix, query, limit),
            "settings.get": self.settings.get,
            "remind.add": self._remind,
            "remind.list": lambda kind="": [one for one in self.reminders if kind in {"", one["kind"]}],
            "remind.cancel": self._cancel,
        }
        return services[service](*([args.pop("name")] if service == "settings.get" else []), **args)

    def say(self, text: str) -> None:
        """A line for the person."""
        self.said.append(text)

    def progress(self, fraction: float | None, text: str) -> None:
        """How far the call is."""

    def _remind(self, **reminder: Any) -> str:
        id = f"r{len(self.reminders) + 1}x{len(self.said)}"
        self.reminders.append({**reminder, "id": id, "due": reminder["at"]})
        return id

    def _cancel(self, id: str) -> bool:
        before = len(self.reminders)
        self.reminders = [one for one in self.reminders if one["id"] != id]
        return len(self.reminders) < before

    def due(self, zone: str = "") -> datetime:
        """When the last reminder comes, by the wall of the zone."""
        return datetime.fromtimestamp(self.reminders[-1]["due"], ZoneInfo(zone or self.caller.timezone))


def _lies_in(module: Any, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return bool(file) and Path(file).is_relative_to(path)
