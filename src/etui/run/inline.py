"""Functions that a program registered itself, run in that program's own process: the same jobs, the same outcomes.

Above: `session` holds it as a `Runner`. Below: `contracts` (what it runs looks like one's `invoke`), `running`, `ends`.
It refuses to know: schemas and decorators. Nothing here can be killed: when its time is over, a coroutine is cancelled, a
thread is left to itself, and the caller goes on either way.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import threading
from collections.abc import Awaitable, Callable

from etui.contracts import Caller, Line, Ran
from etui.errors import EtuiError, ServiceError, WireError
from etui.outcome import Outcome, Status
from etui.run import Job, ends, wire
from etui.run.answer import answer, failed
from etui.run.deadlines import Deadlines
from etui.run.running import PERSON, Running

Invoke = Callable[[str, dict[str, object], Line], Awaitable[Ran]]
"""Runs one call: the tool's entry (or name), its arguments, the line to the host; as `contracts.Contract.invoke`."""


class Inline:
    """Runs jobs in this process; `etui.run.Runner`."""

    def __init__(self, grace: float = 0.4) -> None:
        """`grace` is how many seconds a coroutine has to end once it was cancelled, before its caller goes on without it."""
        self._grace = grace
        self._invokes: dict[str, Invoke] = {}
        self._numbers = itertools.count(1)
        self._deadlines: Deadlines | None = None
        self._left: dict[asyncio.Task[None], str] = {}

    def add(self, name: str, invoke: Invoke) -> None:
        """The tool of that name is run by this; replaces an earlier one."""
        self._invokes[name] = invoke

    def remove(self, name: str) -> None:
        """It is not run any more; calls under way end as they would."""
        self._invokes.pop(name, None)

    def left(self) -> list[str]:
        """The tools of calls that go on although their callers have gone, one name for each call."""
        return sorted(self._left.values())

    async def run(self, job: Job) -> Outcome:
        """Run it to its one end. Raises nothing but CancelledError."""
        tool = job.tool
        invoke = self._invokes.get(tool.name)
        if invoke is None:
            text = f"{tool.name!r} is not there any more: the program that had registered it took it back."
            return Outcome(status=Status.REFUSED, text=text, rule="find")
        loop = asyncio.get_running_loop()
        began = loop.time()
        if self._deadlines is None:
            self._deadlines = Deadlines(loop)
        running = Running(next(self._numbers), job, loop, self._deadlines, lambda running: self._end(running, task))
        line = InlineLine(job, running, loop)
        task = loop.create_task(self._invoke(invoke, running, line))
        try:
            end = await running.end
        except asyncio.CancelledError:
            await self._stop(running, task)
            raise
        finally:
            line.close()
        seconds = loop.time() - began
        if running.expired:
            return ends.timed_out(tool, job.seconds, seconds)
        assert not isinstance(end, str)
        return ends.ended(tool, end, seconds)

    async def _invoke(self, invoke: Invoke, running: Running, line: InlineLine) -> None:
        job = running.job
        try:
            arguments = wire.from_json(wire.to_json(job.arguments))
            done = answer(running.number, await invoke(job.tool.entry or job.tool.name, arguments, line))  # type: ignore[arg-type]
        except asyncio.CancelledError:
            done = wire.Done(running.number, "cancelled")
        except WireError as error:
            done = wire.Done(
                running.number, "failed", text=f"{job.tool.name!r} did not run: its arguments cannot be sent. {error}"
            )
        except BaseException as error:  # a tool may raise anything, and it is one failed call
            done = failed(running.number, error)
        running.finish(done)

    def _end(self, running: Running, task: asyncio.Task[None]) -> None:
        """Cancel it, and let its caller go after the grace period at the latest."""
        task.cancel()
        asyncio.get_running_loop().call_later(self._grace, self._leave, running, task)

    def _leave(self, running: Running, task: asyncio.Task[None]) -> None:
        if not task.done():
            self._left[task] = running.job.tool.name
            task.add_done_callback(lambda task: self._left.pop(task, None))
            running.finish(wire.Done(running.number, "cancelled"))

    async def _stop(self, running: Running, task: asyncio.Task[None]) -> None:
        if task.done():
            return
        end = running.again()
        running.stop_clock()
        self._end(running, task)
        while not end.done():
            try:
                await asyncio.wait([end])
            except asyncio.CancelledError:
                continue  # already on the way out


class InlineLine:
    """`contracts.Line` for a call in this process."""

    def __init__(self, job: Job, running: Running, loop: asyncio.AbstractEventLoop) -> None:
        self.call = job.call.id
        self.caller: Caller = job.caller
        self._serve = job.serve
        self._running = running
        self._loop = loop
        self._home = threading.get_ident()
        self._tasks: set[asyncio.Task[object]] = set()
        self._over = False

    async def ask(self, service: str, **args: object) -> object:
        """Ask a host service and wait; raises `ServiceError` with the host's sentence."""
        if service not in PERSON:
            return await self._plainly(service, args)
        self._running.person_asked()
        try:
            return await self._plainly(service, args)
        finally:
            self._running.person_answered()

    def ask_sync(self, service: str, **args: object) -> object:
        """The same from another thread than the loop's; blocks that thread."""
        if threading.get_ident() == self._home:
            raise ServiceError(
                f"{service!r} was asked for in a way that would block the program: await it, or ask from a thread."
            )
        if self._over:
            raise ServiceError("The call was ended while the tool waited for an answer.")
        return asyncio.run_coroutine_threadsafe(self.ask(service, **args), self._loop).result()

    async def _plainly(self, service: str, args: dict[str, object]) -> object:
        try:
            arguments = wire.from_json(wire.to_json(args))
            return wire.from_json(wire.to_json(await self._serve(service, arguments)))  # type: ignore[arg-type]
        except WireError as error:
            raise ServiceError(f"What {service!r} takes or answered cannot be sent. {error}") from None

    def say(self, text: str) -> None:
        """A line for the person, now. From any thread; never blocks."""
        self._tell("say", {"text": str(wire.clean(str(text)))})

    def progress(self, fraction: float | None, text: str) -> None:
        """How far the call is, 0 to 1. From any thread; never blocks."""
        if fraction is not None:
            fraction = min(1.0, max(0.0, float(fraction))) if math.isfinite(fraction) else None
        self._tell("progress", {"fraction": fraction, "text": str(wire.clean(str(text)))})

    def close(self) -> None:
        """The call is over: what is said from now on is dropped."""
        self._over = True

    def _tell(self, service: str, arguments: dict[str, object]) -> None:
        if threading.get_ident() == self._home:
            self._start(service, arguments)
        else:
            self._loop.call_soon_threadsafe(self._start, service, arguments)

    def _start(self, service: str, arguments: dict[str, object]) -> None:
        if not self._over:
            task = self._loop.create_task(self._quietly(service, arguments))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _quietly(self, service: str, arguments: dict[str, object]) -> object:
        try:
            return await self._serve(service, arguments)
        except EtuiError:
            return None  # nobody waits for an answer to a line that was said
