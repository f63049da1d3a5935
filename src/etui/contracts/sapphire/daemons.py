"""A plugin's daemon inside its worker: started once, stopped once, telling of events, and hearing what was answered to them.

Above: `handling` starts it, the contract stops it before the worker goes. Below: `running`, `replies`. It refuses
to know: what it does, and who hears its events.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from etui.contracts import Line
from etui.contracts.sapphire import current, replies
from etui.contracts.sapphire.running import called

_running: dict[str, ModuleType] = {}
"""By the module's name, the daemons that were started and not stopped."""
_lock = threading.Lock()


async def do(module: ModuleType, arguments: Mapping[str, Any], line: Line) -> None:
    """Start it, unless it runs; stop it, if it runs; or hand over an answer. Raises whatever it raises."""
    match arguments.get("do"):
        case "start":
            await _start(module, arguments, line)
        case "stop":
            await _stop(module, line)
        case "reply":
            hear = replies.of(current.files().plugin)
            if hear is not None:
                await called(line, hear, arguments.get("task"), arguments.get("event"), str(arguments.get("text") or ""))


async def stop(line: Line) -> None:
    """Stop every one that runs."""
    for module in list(_running.values()):
        await _stop(module, line)


async def _start(module: ModuleType, arguments: Mapping[str, Any], line: Line) -> None:
    with _lock:
        if module.__name__ in _running:
            return
        _running[module.__name__] = module
    settings = arguments.get("settings")
    given = (_loader(), settings if isinstance(settings, dict) else {})
    try:
        await called(line, _fresh_line(module.start), *given[: _takes(module.start)])
    except asyncio.CancelledError:
        raise  # its thread goes on: it may have been started, so it is to be stopped
    except BaseException:
        with _lock:
            _running.pop(module.__name__, None)
        raise


async def _stop(module: ModuleType, line: Line) -> None:
    with _lock:
        if _running.pop(module.__name__, None) is None:
            return
    end = getattr(module, "stop", None)
    if callable(end):
        await called(line, end)


def _fresh_line(start: Callable[..., Any]) -> Callable[..., Any]:
    """Run it outside of the call that starts it: what it starts lives on when that call is over."""

    def started(*given: Any) -> Any:
        current.leave()
        return start(*given)

    return started


def _takes(start: Callable[..., Any]) -> int:
    """How many of the two arguments it takes."""
    try:
        kinds = [one.kind for one in inspect.signature(start).parameters.values()]
    except (TypeError, ValueError):
        return 2
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return 2
    return min(2, sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds))


def _loader() -> object:
    """What plugins import as `plugin_loader`; it is lent to them alone, so it is not imported above."""
    return importlib.import_module("core.plugin_loader").plugin_loader
