"""What the importable names are told: which plugin this is, where its root lies, and the call in whose context they are used.

Above: the contract sets it, the modules under `names/` read it. Below: the nouns. It refuses to know: what the names do.
Where no call is under way, in a thread or a daemon of the plugin's own, the plugin's own line answers.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from pathlib import Path

from etui.contracts import Caller, Files, Line, apart

_LINE: ContextVar[Line | None] = ContextVar("sapphire_line", default=None)
_FILES: list[Files] = [Files(plugin="", source="", contract="sapphire", path="", files=())]
NOBODY = Caller()


def begin(files: Files) -> None:
    """From now on this process runs that plugin."""
    _FILES[:] = [files]


def files() -> Files:
    """The plugin that this process runs."""
    return _FILES[0]


def root() -> Path:
    """The folder that its files take for the whole installation."""
    return Path(files().root or files().work or ".").absolute()


def enter(line: Line) -> None:
    """In this context, and in what is started from it by copy, the call of that line is under way."""
    _LINE.set(line)


def leave() -> None:
    """In this context no call is under way."""
    _LINE.set(None)


def line() -> Line | None:
    """The line of the call that is under way in this context, if one is."""
    return _LINE.get()


def caller() -> Caller:
    """Who called; nobody outside of a call."""
    found = line()
    return found.caller if found is not None else NOBODY


def call() -> str:
    """The call's id; empty outside of a call."""
    found = line()
    return found.call if found is not None else ""


def ask(service: str, **args: object) -> object:
    """Ask the host and wait, from any thread but the loop's. Raises ServiceError with the host's sentence."""
    return (line() or apart.line()).ask_sync(service, **args)


def on_loop() -> bool:
    """Whether this is the thread of the worker's loop, where nothing may wait."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
