"""One call of one tool: its handler on the loop or in a thread, its one end, and whether the result speaks.

Above: the contract, and `registry` for tools that a file calls itself. Below: `custom`, `context`, `results`. It refuses to
know: deadlines and the PIN, which are the host's; the clock that `gated` holds is for a file's own registry only.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
from collections.abc import Awaitable, Callable
from typing import Any

from etui.contracts import Line, Ran, standing
from etui.contracts.faults import trace
from etui.contracts.keryx import results
from etui.contracts.keryx.context import Session, ToolContext, context
from etui.contracts.keryx.custom import CustomTool
from etui.contracts.keryx.trust import pin_gate
from etui.contracts.standing import Standing
from etui.outcome import Status

log = logging.getLogger("keryx.tools.custom")
GRACE = 1.0
"""Seconds that a late handler has to clear up, in a file's own registry."""
End = tuple[Any, BaseException | None]
"""What a handler gave back, or what it raised, which cannot always be raised again."""


async def run(tool: CustomTool, arguments: dict[str, Any], line: Line) -> Ran:
    """One call. Raises nothing but CancelledError, and that only when the call itself is cancelled."""
    caller = line.caller
    known = Standing(trust=caller.trust, authorized=caller.authorized, keypressed=caller.keypressed)
    standing.note(caller.session, known)
    ctx = context(line)
    session: Session = ctx.session  # a handler may put something else there
    value, problem = await ended(tool.handler, ctx, arguments)
    await session.settled()
    if problem is None:
        try:
            given, text = results.payload(value)
        except BaseException as error:  # a value's own methods may raise anything
            problem = error
    if problem is not None:
        given, text = results.error(problem)
        return Ran(status=Status.FAILED, text=text, data=given, error=type(problem).__name__, detail=trace(problem))
    silent, fault = await asked(tool.silent, arguments)
    return Ran(status=Status.OK, text=text, data=given, silent=silent, detail=trace(fault) if fault else "")


async def ended(handler: Callable[..., Any], ctx: ToolContext, arguments: dict[str, Any]) -> End:
    """How the handler ended: async ones here, others in a thread. Raises only CancelledError, when the call is cancelled."""
    try:
        if inspect.iscoroutinefunction(handler):
            return await handler(ctx, arguments), None
        value, problem = await asyncio.to_thread(_caught, handler, ctx, arguments)
        if problem is None and inspect.isawaitable(value):
            value = await value
        return value, problem
    except BaseException as error:  # a tool may raise anything, SystemExit among it: it costs this one call
        if stopped(error):
            raise
        return None, error


def stopped(error: BaseException) -> bool:
    """Whether this is the cancellation of the call itself, and none of the tool's own making."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _caught(handler: Callable[..., Any], ctx: ToolContext, arguments: dict[str, Any]) -> End:
    """In a thread: not everything that can be raised there finds its way out of it."""
    try:
        return handler(ctx, arguments), None
    except BaseException as error:  # as above
        return None, error


async def asked(silent: object, arguments: dict[str, Any]) -> tuple[bool, BaseException | None]:
    """Whether the result of a call with these arguments asks for no new words; where the tool cannot say, it speaks."""
    try:
        if not callable(silent):
            return bool(silent), None
        said = silent(arguments)
        return bool(await said if inspect.isawaitable(said) else said), None
    except BaseException as error:  # the tool's own function, and the result is worth more than what it says of it
        if stopped(error):
            raise
        return False, error


def gated(tool: CustomTool, settings: Any) -> Callable[[ToolContext, dict[str, Any]], Awaitable[dict[str, Any]]]:
    """The tool as a registry's handler: the PIN, then the time limit, then one JSON object."""
    limit = None if not math.isfinite(tool.timeout_s) else float(tool.timeout_s)

    async def handler(ctx: ToolContext, arguments: dict[str, Any]) -> dict[str, Any]:
        if tool.needs_pin and (refusal := pin_gate(ctx, settings)) is not None:
            return refusal
        end = await _within(limit, ended(tool.handler, ctx, arguments))
        if end is None:
            log.warning("custom tool %s did not answer within %g s", tool.name, limit)
            return {"error": late(tool.name)}
        value, problem = end
        if problem is not None:
            log.error("custom tool %s failed", tool.name, exc_info=problem)
            return results.error(problem)[0]
        return results.payload(value)[0]

    return handler


async def _within(limit: float | None, work: Awaitable[End]) -> End | None:
    """What it gave in that many seconds; None if it took longer, and then it has been told to end."""
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=limit)
        if done:
            return task.result()
        task.cancel()
        await asyncio.wait({task}, timeout=GRACE)
        return None
    except asyncio.CancelledError:
        task.cancel()
        raise


def late(name: str) -> str:
    """What is said of a tool that took too long."""
    return f"{name} did not answer in time"
