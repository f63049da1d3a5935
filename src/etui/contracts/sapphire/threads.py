"""Threads that a call starts, by themselves or in a pool: while the call is under way, what they keep belongs to its chat.

Everything else of a call stays its own: such a thread reads the scopes' defaults, and asks by the plugin's own line. Above:
`calling` tells which calls are under way, `keeping` asks for the chat. Below: `current`. It refuses to know: what threads do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from etui.contracts import Line
from etui.contracts.sapphire import current

_BEGUN: ContextVar[Line | None] = ContextVar("sapphire_begun", default=None)
"""In whose call this thread, or this piece of a pool's work, was begun."""
_open: set[str] = set()
"""The calls that are under way."""
_start: Callable[[threading.Thread], None] = threading.Thread.start
_submit: Callable[..., Future[Any]] = ThreadPoolExecutor.submit


@contextmanager
def under_way(line: Line) -> Iterator[None]:
    """That call is under way meanwhile."""
    _open.add(line.call)
    try:
        yield
    finally:
        _open.discard(line.call)


def chat() -> str:
    """The id of the chat in whose call this thread was begun; empty in a call itself, and where that one is over."""
    begun = _BEGUN.get()
    return begun.caller.chat if current.line() is None and begun is not None and begun.call in _open else ""


def follow() -> None:
    """From now on, know of each thread and each piece of a pool's work in whose call it was begun."""
    threading.Thread.start = _started  # type: ignore[method-assign, assignment]
    ThreadPoolExecutor.submit = _submitted  # type: ignore[method-assign, assignment]


def _started(thread: threading.Thread) -> None:
    if (line := _here()) is not None:
        thread.run = _within(line, thread.run)  # type: ignore[method-assign]
    _start(thread)


def _submitted(pool: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
    return _submit(pool, _within(_here(), function), *args, **kwargs)


def _here() -> Line | None:
    return current.line() or _BEGUN.get()


def _within(line: Line | None, function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        before = _BEGUN.set(line)
        try:
            return function(*args, **kwargs)
        finally:
            _BEGUN.reset(before)

    return run
