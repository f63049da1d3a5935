"""The host's hold on the zygote: it starts it, asks it for workers, hears of deaths, and starts it again when it dies itself.

Above: `living`. Below: `launch`, `birth`. It refuses to know: plugins, calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from etui.contracts import VERSIONS
from etui.errors import WorkerGone
from etui.run import birth
from etui.run.confine import Limits
from etui.run.launch import Process, base_environment, ends, how, undisturbed

_START_SECONDS = 30.0
_BIRTH_SECONDS = 10.0


class _Zygote:
    """One running zygote and the workers that are its children."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._loop = asyncio.get_running_loop()
        self._control, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        with its:
            try:
                self._process = _start([*command, str(its.fileno())], environment, its.fileno())
            except OSError:
                self._control.close()
                raise
        self.up: asyncio.Future[tuple[str, ...]] = self._loop.create_future()
        self.alive = True
        self._births: dict[int, asyncio.Future[tuple[int, int]]] = {}
        self._numbers = itertools.count(1)
        self._processes: dict[int, Process] = {}
        self._early: dict[int, str] = {}
        """Deaths that were told before their worker was handed over."""
        self._discarded: set[int] = set()
        self._loop.add_reader(self._control.fileno(), self._readable)

    async def launch(self, limits: Limits, environment: Mapping[str, str]) -> Process:
        """Fork a worker."""
        number = next(self._numbers)
        born = self._births[number] = self._loop.create_future()
        mine, its, reading, writing = ends()
        try:
            data = birth.encode(birth.Birth(number, limits, dict(environment)))
            socket.send_fds(self._control, [data], [its.fileno(), writing])
            # Not `wait_for`: on Python 3.11 it forgets that it was cancelled where the answer came at the same moment.
            async with asyncio.timeout(_BIRTH_SECONDS):
                pid, pidfd = await born
        except (OSError, TimeoutError, WorkerGone) as error:
            mine.close()
            os.close(reading)
            why = str(error) or "the zygote does not answer"
            if not isinstance(error, WorkerGone):
                self.end()
            raise WorkerGone(why) from None
        except BaseException:
            mine.close()
            os.close(reading)
            if born.done() and not born.cancelled() and born.exception() is None:
                self._discard(*born.result())
            raise
        finally:
            self._births.pop(number, None)
            its.close()
            os.close(writing)
        process = Process(pid, mine, reading, pidfd)
        if pid in self._early:
            process.gone(self._early.pop(pid))
        else:
            self._processes[pid] = process
        return process

    def end(self) -> None:
        """It is dead, or shall be: its workers go with it."""
        if not self.alive:
            return
        self.alive = False
        self._loop.remove_reader(self._control.fileno())
        self._control.close()
        for process in self._processes.values():
            process.kill_group()
            process.gone("the zygote died, and its workers with it")
        self._processes.clear()
        gone = WorkerGone("The zygote, which starts workers, died.")
        for born in self._births.values():
            if not born.done():
                born.set_exception(gone)
        if not self.up.done():
            self.up.set_exception(WorkerGone(self._last_words()))
            self.up.exception()  # Whoever waited may have been told to stop meanwhile.

    async def close(self, seconds: float = 2.0) -> None:
        """End it and wait until its process is gone."""
        self.end()
        try:
            await asyncio.to_thread(self._process.wait, seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _last_words(self) -> str:
        try:
            _, words = self._process.communicate(timeout=2)
        except (subprocess.TimeoutExpired, ValueError):
            self._process.kill()
            words = b""
        lines = words.decode("utf-8", "replace").strip().splitlines()
        said = lines[-1] if lines else f"it said nothing, and {how(self._process.wait())}"
        return f"The tools' Python {self._process.args[0]!r} could not start: {said}"  # type: ignore[index]

    def _readable(self) -> None:
        while self.alive:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._control, birth.ROOM, 1)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                self.end()
                return
            self._hear(birth.to_host.decode(data), descriptors)

    def _hear(self, message: birth.ToHost, descriptors: list[int]) -> None:
        match message:
            case birth.Up():
                self.up.set_result(message.left_out)
            case birth.Born():
                born = self._births.get(message.number)
                if born is not None and not born.done():
                    born.set_result((message.pid, descriptors[0]))
                else:
                    self._discard(message.pid, descriptors[0])
            case birth.Unborn():
                born = self._births.get(message.number)
                if born is not None and not born.done():
                    born.set_exception(WorkerGone(message.why))
            case birth.Died():
                process = self._processes.pop(message.pid, None)
                if process is not None:
                    process.gone(how(os.waitstatus_to_exitcode(message.status)))
                elif message.pid in self._discarded:
                    self._discarded.discard(message.pid)
                else:
                    self._early[message.pid] = how(os.waitstatus_to_exitcode(message.status))

    def _discard(self, pid: int, pidfd: int) -> None:
        """Whoever wanted this worker has gone meanwhile."""
        if self._early.pop(pid, None) is None:
            self._discarded.add(pid)
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.close(pidfd)


def _start(command: Sequence[str], environment: Mapping[str, str], control: int) -> subprocess.Popen[bytes]:
    with undisturbed():
        return subprocess.Popen(
            command,
            env=dict(environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[control],
            start_new_session=True,
        )


class Forks:
    """Launches workers out of a zygote; a dead zygote is replaced at the next launch."""

    def __init__(
        self, python: str = sys.executable, preload: Sequence[str] = (), environ: Mapping[str, str] = os.environ
    ) -> None:
        modules = [*(f"etui.contracts.{name}" for name in VERSIONS), *preload]
        boot = str(Path(__file__).with_name("boot.py"))
        self._command = [python, "-I", "-B", boot, "zygote", ",".join(modules)]
        self._environment = base_environment(environ)
        self._zygote: _Zygote | None = None
        self._lock = asyncio.Lock()
        self.left_out: tuple[str, ...] = ()
        """Modules that the zygote could not preload, or that start threads."""

    async def launch(self, limits: Limits, environment: Mapping[str, str]) -> Process:
        """A new worker; starts the zygote first where there is none. Raises `WorkerGone`."""
        async with self._lock:
            zygote = await self._running()
            return await zygote.launch(limits, environment)

    async def close(self) -> None:
        """End the zygote and every worker."""
        async with self._lock:
            if self._zygote is not None:
                await self._zygote.close()
                self._zygote = None

    async def _running(self) -> _Zygote:
        if self._zygote is not None and not self._zygote.alive:
            await self._zygote.close()
            self._zygote = None
        if self._zygote is None:
            try:
                zygote = _Zygote(self._command, self._environment)
            except OSError as error:
                raise WorkerGone(f"The tools' Python {self._command[0]!r} could not be started: {error.strerror}.") from None
            try:
                async with asyncio.timeout(_START_SECONDS):
                    self.left_out = await asyncio.shield(zygote.up)
            except TimeoutError:
                await zygote.close(0)
                raise WorkerGone(f"The zygote was not ready after {_START_SECONDS:g} s.") from None
            except BaseException:
                await zygote.close(0)
                raise
            self._zygote = zygote
        return self._zygote
