"""What plugins want run besides their tools, run in the workers of their plugins: hooks, routes, schedules, daemons.

None of this is a call of a tool: nobody asked for it by name, so it passes no gate and stands in no journal, and it may do no
more than its plugin's grant and services let it. Above: the rooms of hooks, routes, schedules and daemons. Below: the runners
and the services, handed in. It refuses to know: when what is to be run, and what becomes of the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from etui.outcome import Outcome
from etui.run import Job, Runner, Serve
from etui.session import Session
from etui.tool import Call, Handler, Plugin, Risk, Tool

SECONDS = 30.0
"""How long one may take where nobody says otherwise."""
WANTS = ("config", "settings", "context", "scopes")
"""What each of them is told besides who it is for."""


class Handlers:
    """Runs the handlers of every plugin."""

    def __init__(
        self,
        runner: Callable[[Tool], Runner],
        serve: Callable[[Tool, Call, Session], Serve],
        nobody: Callable[[], Session],
        hide: Callable[[Tool, Outcome], Outcome],
    ) -> None:
        """`nobody` makes the session of what belongs to no conversation; `hide` keeps the owner's secrets out of an outcome."""
        self._runner = runner
        self._serve = serve
        self._nobody = nobody
        self._hide = hide
        self._running: set[asyncio.Task[Outcome]] = set()

    async def run(
        self,
        plugin: Plugin,
        handler: Handler,
        arguments: Mapping[str, object],
        *,
        session: Session | None = None,
        seconds: float = SECONDS,
        turn: str = "",
    ) -> Outcome:
        """Run it to its one end; what it answered is the outcome's `data`. Raises nothing but CancelledError.

        `session` is the conversation on whose behalf it runs, if any. What takes too long is ended with its worker. Who stops
        waiting ends nothing: a busy worker would be ended for it, with its plugin's daemon and all that runs in it.
        """
        session = session or self._nobody()
        tool = _as_tool(plugin, handler, seconds)
        call = session.new_call(tool.name, {}, turn=turn)
        job = Job(
            call=call,
            tool=tool,
            arguments=dict(arguments),
            seconds=seconds,
            caller=session.caller_of(tool, call),
            serve=self._serve(tool, call, session),
        )
        work = asyncio.get_running_loop().create_task(self._runner(tool).run(job), name=tool.name)
        self._running.add(work)
        work.add_done_callback(self._running.discard)
        return self._hide(tool, await asyncio.shield(work))

    async def close(self) -> None:
        """End what runs, whoever waits for it."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _as_tool(plugin: Plugin, handler: Handler, seconds: float) -> Tool:
    """What a runner knows it as; it can do anything, so it is never run a second time."""
    return Tool(
        name=f"{plugin.name} {handler.kind} {handler.name}",
        description="",
        parameters={},
        contract=plugin.contract,
        plugin=plugin.name,
        source=plugin.source,
        entry=handler.entry,
        digest=plugin.digest,
        risk=Risk.EXEC,
        timeout=seconds,
        wants=WANTS,
    )
