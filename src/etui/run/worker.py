"""The host's side of one live worker: its wire, its calls, its output and its death. Every byte from it is taken as hostile.

Above: `workers` starts, swaps and ends them. Below: `launch`, `channel`, `running`, `log`. It refuses to know: which plugin
should run, retries, outcomes. An answer to a call that was never given, or any other breach, is the end of the worker.
"""

from __future__ import annotations

import asyncio
import os

from etui.contracts import Description, Files
from etui.contracts.standing import Standing
from etui.errors import EtuiError, ServiceError, WireError
from etui.run import Job, Serve, parting, wire
from etui.run.channel import Channel
from etui.run.deadlines import Deadlines
from etui.run.enforced import Enforced
from etui.run.launch import KILLED, WHERE, Process
from etui.run.log import Drain, Log
from etui.run.running import PERSON, Running
from etui.run.worth import Worth
from etui.tool import Grant

_PAGE = os.sysconf("SC_PAGE_SIZE")
_WORDS = 8000
_TELLING = 64
"""Lines and progress reports under way before the worker has to wait."""
_ASKING = 256
"""Requests under way before the next is refused."""


class Worker:
    """One process in which one version of one plugin runs."""

    def __init__(
        self,
        process: Process,
        files: Files,
        log: Log,
        *,
        contract: str = "",
        grace: float = 1.0,
        grant: Grant = Grant(),  # noqa: B008 - frozen
        apart: Serve | None = None,
    ) -> None:
        """`apart` answers what the plugin asks for outside of any call; without one that is refused."""
        loop = asyncio.get_running_loop()
        self.pid = process.pid
        self.files = files
        self.grant = grant
        self.enforced: Enforced | None = None
        self.described: asyncio.Future[Description] = loop.create_future()
        """What it says it offers; cancelled if it died before."""
        self.exited: asyncio.Future[str] = process.exited
        self.alive = True
        self.leaving = False
        """True once it only finishes what it has."""
        self.calls: dict[int, Running] = {}
        self.looks: dict[str, Worth] = {}
        """By tool, whether it pays to look for its answer."""
        self._loop = loop
        self._process = process
        self._grace = grace
        self._deadlines = Deadlines(loop)
        self._last = 0
        self._why = ""
        self._telling = 0
        self._asking = 0
        self._apart = apart
        self.parted: asyncio.Future[None] | None = None
        """Done once the plugin has cleared up; None where it was not told to go, or wants to do nothing then."""
        self._alone: set[asyncio.Task[None]] = set()
        """What the host does for the plugin outside of any call."""
        self._log = log
        self._drain = Drain(process.output, log)
        self._channel = Channel(loop, process.wire, self._receive, self.kill)
        self._channel.send(wire.frame(wire.Load(files, contract)))
        process.exited.add_done_callback(self._exited)

    def begin(self, job: Job) -> Running:
        """Send the call. Raises `WireError` if its arguments cannot travel; nothing was sent then."""
        number = self._last + 1
        tool = job.tool
        frame = wire.frame(
            wire.Invoke(number, job.call.id, tool.entry or tool.name, wire.to_json(job.arguments), job.caller, job.check)
        )
        self._last = number
        running = self.calls[number] = Running(number, job, self._loop, self._deadlines, self.cancel)
        self._channel.send(frame)
        return running

    def glance(self) -> bool:
        """Take in what it has sent until now, which the loop would do else; False once nothing is read from it."""
        return self._channel.glance()

    @property
    def telling(self) -> bool:
        """Whether it said something that whoever hears of it has not been told yet."""
        return self._telling > 0

    def cancel(self, running: Running, grace: float | None = None) -> None:
        """Ask the worker to end that call, and kill it if it does not within the grace period (seconds)."""
        if running.end.done() and not running.end.cancelled():
            return
        self._channel.send(wire.frame(wire.Cancel(running.number)))
        seconds = self._grace if grace is None else grace
        self._loop.call_later(seconds / 2, self._ask_where, running)
        self._loop.call_later(seconds, self._insist, running)

    def tell(self, session: str, standing: Standing) -> None:
        """Say what a session has proved now, if a call of it runs here; each call brings along what was known before."""
        if self.alive and any(running.job.caller.session == session for running in self.calls.values()):
            self._channel.send(wire.frame(wire.Told(session, standing)))

    def leave(self) -> None:
        """Finish what there is, then go; a plugin that wants to clear up may do so before."""
        self.leaving = True
        if self.files.parting and self.parted is None and self.alive and self.described.done():
            self.parted = self._loop.create_task(parting.part(self), name="parting")
            self.parted.add_done_callback(lambda _: self._leave_if_idle())
        self._leave_if_idle()

    def kill(self, why: str) -> None:
        """End it now; every call it has ends when it is really gone."""
        if self.alive:
            self._why = self._why or why
            # In this order: a worker whose wire closes ends itself, and that is not what it died of.
            self._process.kill()
            self._channel.close()

    def last_words(self, end: wire.Done | str) -> str:
        """For the owner, if the worker died: how, and the last that it printed."""
        return f"{end}\n{self._log.text[-_WORDS:]}".rstrip() if isinstance(end, str) else ""

    @property
    def printed(self) -> str:
        """The last that it printed."""
        return self._log.text

    @property
    def memory(self) -> int:
        """Bytes that the process holds in memory now; 0 where that cannot be told."""
        return resident(self.pid)

    def _ask_where(self, running: Running) -> None:
        """Let it print where it hangs: its owner will want to know."""
        if running.number in self.calls and self.alive:
            self._process.signal(WHERE)

    def _insist(self, running: Running) -> None:
        if running.number in self.calls:
            self.kill(f"{running.job.tool.name!r} did not end when it was told to")

    def _leave_if_idle(self) -> None:
        if self.leaving and self.alive and not self.calls and (self.parted is None or self.parted.done()):
            self._channel.send(wire.frame(wire.Stop()))
            self._loop.call_later(self._grace, self.kill, "it did not go when it was told to")

    def _exited(self, exited: asyncio.Future[str]) -> None:
        self.alive = False
        self._channel.close()
        self._drain.close()
        self._deadlines.close()
        if not self.described.done():
            self.described.cancel()
        for running in list(self.calls.values()):
            self._finish(running, self.why)
        for task in self._alone:
            task.cancel()

    @property
    def why(self) -> str:
        """How it died, in words: what the host killed it for, unless it died of something else first."""
        how = self.exited.result() if self.exited.done() else ""
        return self._why if self._why and how in ("", KILLED) else how

    def _finish(self, running: Running, end: wire.Done | str) -> None:
        del self.calls[running.number]
        for task in running.tasks:
            task.cancel()
        running.finish(end)

    def _receive(self, data: bytes) -> None:
        message = wire.for_host(data)
        if type(message) is wire.Done:
            running = self._call(message.id)
            if running is not None:
                self._finish(running, message)
                if self.leaving:
                    self._leave_if_idle()
        else:
            self._receive_other(message)

    def _receive_other(self, message: wire.ToHost) -> None:
        match message:
            case wire.Ready() if self.enforced is None and message.pid == self.pid:
                self.enforced = message.enforced
            case wire.Described() if self.enforced is not None and not self.described.done():
                self.described.set_result(message.description)
            case wire.Said():
                self._tell(message.call, "say", {"text": message.text})
            case wire.Progress():
                fraction = message.fraction
                if fraction is not None and not 0.0 <= fraction <= 1.0:
                    fraction = None
                self._tell(message.call, "progress", {"fraction": fraction, "text": message.text})
            case wire.Request():
                self._ask(message)
            case _:
                raise WireError(f"it sent {type(message).__name__} out of turn")

    def _call(self, number: int) -> Running | None:
        """The call of that number; None for one that has ended. Raises `WireError` for one that was never given."""
        running = self.calls.get(number)
        if running is None and not 0 < number <= self._last:
            raise WireError(f"it answered call {number}, which it was never given")
        return running

    def _tell(self, call: int, service: str, arguments: dict[str, object]) -> None:
        running = None if call == wire.APART else self._call(call)
        serve = self._apart if running is None else running.job.serve
        if serve is None or (running is None and call != wire.APART):
            return
        self._telling += 1
        if self._telling >= _TELLING:
            self._channel.pause()
        task = self._loop.create_task(self._serve_quietly(serve, service, arguments))
        task.add_done_callback(self._told)

    async def _serve_quietly(self, serve: Serve, service: str, arguments: dict[str, object]) -> None:
        try:
            await serve(service, arguments)
        except EtuiError:
            return  # nobody waits for an answer to a line that was said

    def _told(self, _: asyncio.Task[None]) -> None:
        self._telling -= 1
        if self._telling < _TELLING:
            self._channel.resume()

    def _ask(self, message: wire.Request) -> None:
        running = None if message.call == wire.APART else self._call(message.call)
        if running is None and message.call != wire.APART:
            return
        arguments = wire.from_json(message.arguments)
        if not isinstance(arguments, dict):
            raise WireError("it asked a service with arguments that are no object")
        if self._asking >= _ASKING:
            self._channel.send(wire.frame(wire.Reply(message.id, error="Too many requests of this plugin are under way.")))
            return
        serve = self._apart if running is None else running.job.serve
        if serve is None:
            self._channel.send(
                wire.frame(wire.Reply(message.id, error=f"{message.service!r} can only be asked for in a call."))
            )
            return
        self._asking += 1
        if running is not None and message.service in PERSON:
            running.person_asked()
        task = self._loop.create_task(self._serve(serve, message, arguments))
        tasks = self._alone if running is None else running.tasks
        tasks.add(task)
        task.add_done_callback(lambda task: self._served(running, message.service, tasks, task))

    def _served(self, running: Running | None, service: str, tasks: set[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
        self._asking -= 1
        tasks.discard(task)
        if running is not None and service in PERSON:
            running.person_answered()

    async def _serve(self, serve: Serve, message: wire.Request, arguments: dict[str, object]) -> None:
        try:
            reply = wire.Reply(message.id, wire.to_json(await serve(message.service, arguments)))
        except ServiceError as error:
            reply = wire.Reply(message.id, error=str(error) or f"{message.service!r} was refused.")
        except WireError as error:
            reply = wire.Reply(message.id, error=f"What {message.service!r} answered cannot be sent. {error}")
        except Exception as error:  # a fault of the host's must not leave the tool waiting for ever
            self._loop.call_exception_handler({"message": f"The service {message.service!r} failed", "exception": error})
            reply = wire.Reply(message.id, error=f"The host could not serve {message.service!r}: {type(error).__name__}.")
        self._channel.send(wire.frame(reply))


def resident(pid: int) -> int:
    """Bytes that a process holds in memory; 0 where that cannot be told."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0
