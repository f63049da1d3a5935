"""One call of a file's `execute`: in a thread, with the chat's scopes set anew, by position, whatever it returns.

Above: the contract. Below: `exports`, `results`, `current`, `settings`.
It refuses to know: how files were found, and deadlines.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Callable
from typing import Any

from etui.contracts import Line, Ran
from etui.contracts.sapphire import current, scoping, settings, threads
from etui.contracts.sapphire.exports import Exports
from etui.contracts.sapphire.images.giving import Given, pictured
from etui.contracts.sapphire.images.keeping import await_result
from etui.contracts.sapphire.results import graded, raised
from etui.contracts.sized import within
from etui.outcome import Status

Execute = Callable[..., Any]
NO_IMAGES = Given(None)


async def run(exports: Exports, tool: str, arguments: dict[str, object], line: Line) -> Ran:
    """One call. Raises nothing but CancelledError."""
    execute = exports.execute
    if execute is None:
        return without(tool)
    return await asyncio.to_thread(_run, execute, exports.parameters, tool, arguments, line)


def without(tool: str) -> Ran:
    """The end of a call for which there is nothing to run."""
    return Ran(status=Status.FAILED, text=f"The tool {tool} is recognized but has no execution logic.")


def _run(execute: Execute, count: int, tool: str, arguments: dict[str, object], line: Line) -> Ran:
    current.enter(line)
    scoping.enter(line.caller)
    await_result(line.call)
    given: list[Any] = [tool, arguments, settings.config()]
    try:
        if count >= 4:
            given.append(line.caller.more.get("settings") or {})
        if count >= 5:
            given.append(importlib.import_module("core.credentials_manager").credentials)
        with threads.under_way(line):
            returned = execute(*given)
            if inspect.iscoroutine(returned):
                returned = asyncio.run(returned)
        return within(graded(returned, tool))
    except BaseException as error:  # a tool may raise anything, SystemExit too: it is one failed call
        return within(pictured(raised(error, tool), NO_IMAGES, line.call))
