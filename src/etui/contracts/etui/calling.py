"""One call of a function: its arguments decoded, in a thread or on the loop, to its one end.

Above: the contract, and whoever has one function. Below: `functions`, `results`.
It refuses to know: how the function was found, and deadlines.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from asyncio import current_task, get_running_loop  # by name: a tool may put something else into `asyncio`
from collections.abc import Callable, Mapping
from types import CoroutineType, NoneType
from typing import Any

from etui.contracts import Line, Ran
from etui.contracts.etui import results
from etui.contracts.etui.authoring import Refusal, ToolError
from etui.contracts.etui.context import AsyncContext, Context
from etui.contracts.etui.functions import Bound, Refused
from etui.contracts.faults import trace
from etui.contracts.media import clean, repr_of
from etui.contracts.threads import Threads
from etui.errors import ServiceError
from etui.outcome import Status

THREADS = 64
"""How many blocking calls one worker runs at once."""
_STREAM = 100_000
"""How many values a generator may give."""
_PLAIN = frozenset({str, dict, list, int, float, bool, NoneType})
"""What most tools give back, where nothing is to be awaited or walked."""

_pool: Threads | None = None
_pool_lock = threading.Lock()


async def run(bound: Bound, arguments: Mapping[str, object], line: Line) -> Ran:
    """One call. Raises nothing but CancelledError, and that only when the call itself is cancelled."""
    try:
        positional, named = bound.decode(arguments)
    except Refused as error:
        return results.refusal(str(error))
    maker = AsyncContext if bound.is_async else Context
    for name in bound.contexts:
        named[name] = maker(line, bound.work)
    try:
        if bound.is_async:
            value = bound.function(*positional, **named)
            if type(value) is CoroutineType:
                value = await value
        else:
            value, raised = await _in_thread(bound.function, positional, named)
            if raised is not None:
                return failed(raised)
        return results.ran(value if type(value) in _PLAIN else await _settled(value))
    except asyncio.CancelledError as error:
        task = current_task()
        if task is not None and task.cancelling():
            raise
        return failed(error)
    except (
        BaseException
    ) as error:  # a tool may raise anything, SystemExit and KeyboardInterrupt among it: it costs this one call
        return failed(error)


async def _in_thread(
    function: Callable[..., Any], positional: list[object], named: dict[str, object]
) -> tuple[Any, BaseException | None]:
    """Call a blocking function in a thread of its own context; what it raised is given back, never raised."""

    def call() -> tuple[Any, BaseException | None]:
        try:
            value = function(*positional, **named)
            if inspect.isgenerator(value):
                value = _drained(value)
        except BaseException as error:  # StopIteration and SystemExit must not travel through a future
            return None, error
        return value, None

    return await get_running_loop().run_in_executor(_threads(), contextvars.copy_context().run, call)


def _threads() -> Threads:
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = Threads(THREADS, thread_name_prefix="tool")
        return _pool


def _drained(values: Any) -> list[object]:
    out: list[object] = []
    for value in values:
        out.append(value)
        if len(out) > _STREAM:
            values.close()
            raise ToolError(f"The tool gave more than {_STREAM:,} values.")
    return out


async def _settled(value: Any) -> Any:
    """The value itself, once whatever is to be awaited or walked has been."""
    while inspect.isawaitable(value):
        value = await value
    if inspect.isasyncgen(value):
        out: list[object] = []
        async for one in value:
            out.append(one)
            if len(out) > _STREAM:
                await value.aclose()
                raise ToolError(f"The tool gave more than {_STREAM:,} values.")
        return out
    if inspect.isgenerator(value):
        return _drained(value)
    return value


def failed(error: BaseException) -> Ran:
    """How a call ended that raised."""
    if isinstance(error, Refusal):
        return results.refusal(error.sentence)
    if isinstance(error, ToolError):
        return results.failure(error.sentence, trace(error) if error.__cause__ else "")
    if isinstance(error, ServiceError):
        return results.failure(str(error), trace(error))
    kind = type(error).__name__
    if isinstance(error, SystemExit | KeyboardInterrupt):
        text = f"The tool tried to end the program ({clean(repr_of(error)).rstrip(': ')})."
    elif isinstance(error, asyncio.CancelledError):
        text = "The tool cancelled itself."
    else:
        text = f"The tool failed with {kind}."
    return Ran(status=Status.FAILED, text=text, error=kind, detail=trace(error))
