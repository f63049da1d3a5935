"""Handlers of plugins: whoever stops waiting for one does not end it, and the host's end does."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from etui.contracts import Caller
from etui.handlers import Handlers
from etui.outcome import Outcome, Status
from etui.run import Job
from etui.session import Session
from etui.tool import Call, Handler, Plugin

PLUGIN = Plugin(name="lamp", contract="sapphire", source="tools", path="lamp", files=(), digest="1")
HOOK = Handler(kind="hook", name="pre_chat", entry="@hook:lamp.py")


class Somebody:
    """As much of a session as a handler is run for."""

    def new_call(self, tool: str, arguments: object, *, turn: str = "") -> Call:
        return Call(id="call_1", tool=tool, arguments=arguments, turn=turn)

    def caller_of(self, tool: object, call: Call) -> Caller:
        return Caller(session="s", channel="python", trust="full")


class Slow:
    """A runner whose work takes as long as a test wants."""

    def __init__(self) -> None:
        self.begun, self.free = asyncio.Event(), asyncio.Event()
        self.how = ""

    async def run(self, job: Job) -> Outcome:
        self.begun.set()
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.how = "cancelled"
            raise
        self.how = "ended"
        return Outcome(status=Status.OK, data=1)


def handlers_of(slow: Slow) -> Handlers:
    async def serve(service: str, arguments: dict[str, object]) -> object:
        return None

    return Handlers(
        lambda tool: slow, lambda tool, call, session: serve, lambda: cast(Session, Somebody()), lambda tool, outcome: outcome
    )


async def begun(handlers: Handlers, slow: Slow) -> asyncio.Task[Any]:
    task = asyncio.create_task(handlers.run(PLUGIN, HOOK, {}))
    await slow.begun.wait()
    return task


async def test_who_stops_waiting_for_a_handler_does_not_end_it():
    slow = Slow()
    handlers = handlers_of(slow)
    waiting = await begun(handlers, slow)
    [work] = handlers._running
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    slow.free.set()
    assert ((await work).data, slow.how) == (1, "ended")


async def test_the_end_of_the_host_ends_what_still_runs():
    slow = Slow()
    handlers = handlers_of(slow)
    waiting = await begun(handlers, slow)
    await handlers.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert slow.how == "cancelled"
