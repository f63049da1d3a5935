"""What a plugin wants run besides its tools: its functions looked up once, each run by its entry.

An entry is `@kind:relative/file.py:function`. Above: the contract. Below: `declared`, `running`, `hooks`, `folders`, `faults`.
It refuses to know: when the host runs what.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from etui.contracts import Files, Line, Ran
from etui.contracts.faults import fault, trace
from etui.contracts.importing import Package
from etui.contracts.sapphire import daemons, folders, hooks, product, routes, schedules
from etui.contracts.sapphire.declared import Declared, declared
from etui.contracts.sapphire.running import called
from etui.outcome import Status
from etui.tool import Handler, Problem

FIRST = ("hook", "voice")
"""The kinds whose files are run before those of tools."""
LAST = ("route", "schedule", "daemon")
Function = Callable[..., Any]


class Handling:
    """The handlers of one plugin."""

    def __init__(self, files: Files) -> None:
        self.handlers: list[Handler] = []
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._files = files
        self._folder = Path(files.path)
        self._package = Package("sapphire_faults", str(self._folder), files.files)
        self._functions: dict[str, Function] = {}
        """By entry."""
        self._modules: dict[str, ModuleType | None] = {}
        """By path within the plugin; None for one that did not load."""

    def read(self, kinds: tuple[str, ...]) -> None:
        """Run the files of these kinds of handlers, and note what can be run."""
        if not self._folder.is_dir():
            return
        for one in declared(self._files):
            if one.handler.kind in kinds:
                self._take(one)
        if "hook" in kinds:
            self.notes += hooks.notes(self._files.manifest)

    async def invoke(self, entry: str, arguments: dict[str, object], line: Line) -> Ran:
        """Run it. Raises nothing but CancelledError."""
        if entry not in self._functions:
            return Ran(status=Status.FAILED, text=f"There is nothing to run for {entry!r}.")
        return await RUNS[entry[1:].partition(":")[0]](self, entry, arguments, line)

    async def stop(self, line: Line) -> None:
        """Stop what was started and runs on. Raises nothing but CancelledError."""
        try:
            await daemons.stop(line)
        except BaseException as error:  # its end may go wrong in any way, and it goes all the same
            sys.stderr.write(_raised(error).detail)

    def function(self, entry: str) -> Function:
        """What the entry names."""
        return self._functions[entry]

    def module(self, entry: str) -> ModuleType:
        """The module of the file that the entry names."""
        found = self._modules[entry.split(":")[1]]
        assert found is not None
        return found

    def _take(self, declared: Declared) -> None:
        handler = declared.handler
        path = handler.entry.split(":")[1]
        module = self._module(path)
        if module is None:
            return
        found = next((name for name in declared.names if callable(getattr(module, name, None))), None)
        if found is None:
            wanting = " nor ".join(f"{name}()" for name in declared.names)
            self._problem(path, f"{path} has no function for its {handler.kind} {handler.name!r}: no {wanting}.")
            return
        self._functions[handler.entry] = getattr(module, found)
        self.handlers.append(handler)

    def _module(self, path: str) -> ModuleType | None:
        if path not in self._modules:
            self._modules[path] = self._load(path)
        return self._modules[path]

    def _load(self, path: str) -> ModuleType | None:
        file = self._folder / path
        if not file.resolve().is_relative_to(self._folder.resolve()):
            self._problem(path, f"{path!r} lies outside of the plugin's folder, so it is not run.")
            return None
        if not folders.there(file):
            self._problem(path, f"The manifest names {path!r}, and there is no such file.")
            return None
        try:
            return folders.load(self._files, str(file))
        except BaseException as error:  # a file may raise anything, SystemExit too: it costs this file
            self.problems.append(fault(error, str(file), self._package, self._files, product.reason))
            return None

    def _problem(self, path: str, reason: str) -> None:
        self.problems.append(Problem(what=path, reason=reason, file=str(self._folder / path), plugin=self._files.plugin))


async def _hook(handling: Handling, entry: str, arguments: dict[str, object], line: Line) -> Ran:
    event = hooks.HookEvent(arguments.get("event"))
    try:
        await called(line, handling.function(entry), event)
        return Ran(status=Status.OK, data=event.told())
    except BaseException as error:  # a handler may raise anything, or leave anything in the event: it costs this handler
        return _raised(error)


async def _voice(handling: Handling, entry: str, arguments: dict[str, object], line: Line) -> Ran:
    event = hooks.HookEvent(arguments.get("event"))
    facts = arguments.get("facts")
    try:
        if not await asyncio.to_thread(hooks.meant, facts if isinstance(facts, dict) else {}, event.input):
            return Ran(status=Status.OK)
        await called(line, handling.function(entry), event)
        return Ran(status=Status.OK, data=event.told())
    except BaseException as error:  # as above
        return _raised(error)


async def _schedule(handling: Handling, entry: str, arguments: dict[str, object], line: Line) -> Ran:
    task = arguments.get("task")
    try:
        gave = await called(line, handling.function(entry), schedules.event(task if isinstance(task, dict) else {}))
    except BaseException as error:  # as above
        return _raised(error)
    return Ran(status=Status.OK, text="" if gave is None else str(gave))


async def _daemon(handling: Handling, entry: str, arguments: dict[str, object], line: Line) -> Ran:
    try:
        await daemons.do(handling.module(entry), arguments, line)
    except BaseException as error:  # as above
        return _raised(error)
    return Ran(status=Status.OK)


async def _route(handling: Handling, entry: str, arguments: dict[str, object], line: Line) -> Ran:
    try:
        return await routes.answer(handling.function(entry), arguments, line)
    except BaseException as error:  # as above
        return _raised(error)


def _raised(error: BaseException) -> Ran:
    if isinstance(error, asyncio.CancelledError):
        raise error
    return Ran(status=Status.FAILED, text=f"{type(error).__name__}: {error}", detail=trace(error))


Run = Callable[[Handling, str, dict[str, object], Line], Awaitable[Ran]]
RUNS: dict[str, Run] = {"hook": _hook, "voice": _voice, "schedule": _schedule, "daemon": _daemon, "route": _route}
"""By kind, what runs one."""
