"""The last that a plugin's worker is told before it goes: the entry `@shutdown`, once, with a short limit.

What runs is let finish for a moment first. Nothing can be asked of the host any more, least of all a tool. Above: `worker`
leaves by it, `workers` waits for it before the next version of the plugin is read. Below: the nouns. It refuses to know: why.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from etui.contracts import SHUTDOWN, Caller, Files
from etui.errors import ServiceError, WireError
from etui.run import Job
from etui.run.running import Running
from etui.tool import Call, Risk, Tool

PATIENCE = 1.0
"""Seconds that calls under way have to end before the plugin clears up all the same."""
LIMIT = 3.0
"""Seconds that it may take to clear up."""


class Leaving(Protocol):
    """A worker that is to go."""

    pid: int
    files: Files
    alive: bool
    calls: dict[int, Running]
    exited: asyncio.Future[str]

    def begin(self, job: Job) -> Running:
        """Send the call."""
        ...


async def part(worker: Leaving) -> None:
    """Let the plugin of this worker clear up. Raises nothing but CancelledError."""
    if worker.calls:
        await asyncio.wait([running.end for running in worker.calls.values()], timeout=PATIENCE)
    if not worker.alive:
        return
    tool = Tool(
        name=f"{worker.files.plugin} shutdown",
        description="",
        parameters={},
        contract=worker.files.contract,
        plugin=worker.files.plugin,
        entry=SHUTDOWN,
        risk=Risk.EXEC,
        timeout=LIMIT,
    )
    call = Call(id=f"shutdown_{worker.pid}", tool=tool.name)
    try:
        running = worker.begin(Job(call=call, tool=tool, arguments={}, seconds=LIMIT, caller=Caller(), serve=_refuse))
    except WireError:
        return
    ends: set[asyncio.Future[Any]] = {running.end, worker.exited}
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)


async def _refuse(service: str, arguments: dict[str, object]) -> object:
    raise ServiceError(f"The plugin is going: {service!r} cannot be asked for any more.")
