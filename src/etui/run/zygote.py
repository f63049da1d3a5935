"""The zygote: a process with one thread and no secrets, which has imported what plugins import and forks a worker on demand.

Started by `forks` through `boot`. Its control socket carries messages of `birth` with descriptors beside them. It is the
parent of the workers: it kills what they leave behind, all of it, before it tells the host that one is gone, and when the host
is gone, it takes everybody along. Below: `enter`. It refuses to know: plugins, calls, the wire.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import NoReturn

from etui.run import birth, limits
from etui.run.enter import enter
from etui.run.launch import settle

_MOP_SECONDS = 5.0


def _threads() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def preload(names: list[str]) -> tuple[list[str], str]:
    """Import these; returns those that failed and, if one started threads, its name (the rest is then not tried)."""
    failed: list[str] = []
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:  # third-party code at import may raise anything; the zygote goes on without it
            failed.append(name)
        if _threads() != 1:
            return failed, name
    return failed, ""


def _start_over(control: int, names: list[str], left_out: list[str]) -> NoReturn:
    """Become a fresh zygote without the module that started threads: a process with threads must not fork."""
    script = str(Path(__file__).with_name("boot.py"))
    command = [sys.executable, "-I", "-B", script, "zygote", ",".join(names), str(control), ",".join(left_out)]
    os.execv(sys.executable, command)


class Zygote:
    """The loop over the control socket and the workers' pidfds."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._workers: dict[int, int] = {}
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def run(self) -> None:
        """Serve until the host closes its end."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control.fileno():
                    if not self._hear():
                        return
                elif descriptor in self._workers:
                    self._bury(descriptor)

    def tell(self, message: birth.ToHost, descriptors: list[int] | None = None) -> None:
        """Send to the host; if it is gone, the next poll says so."""
        with contextlib.suppress(OSError):
            socket.send_fds(self._control, [birth.encode(message)], descriptors or [])

    def _hear(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, birth.ROOM, 2)
        except OSError:
            return False
        if not data:
            return False
        wanted = birth.to_zygote.decode(data)
        try:
            self._fork(wanted, descriptors)
        except OSError as error:
            self.tell(birth.Unborn(wanted.number, f"no process could be started ({error.strerror})"))
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def _fork(self, wanted: birth.Birth, descriptors: list[int]) -> None:
        zygote = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_worker(wanted, descriptors, zygote)
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        self._workers[pidfd] = pid
        self._poll.register(pidfd, select.POLLIN)
        self.tell(birth.Born(wanted.number, pid), [pidfd])

    def _become_worker(self, wanted: birth.Birth, descriptors: list[int], zygote: int) -> NoReturn:
        try:
            os.setsid()
            limits.die_with_parent()
            if os.getppid() != zygote:
                os._exit(0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._control.close()
            for pidfd in self._workers:
                os.close(pidfd)
            enter(wanted, *descriptors)
        finally:
            os._exit(70)

    def _bury(self, pidfd: int) -> None:
        pid = self._workers.pop(pidfd)
        self._poll.unregister(pidfd)
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)  # while it is a zombie its number cannot be another's
        _, status = os.waitpid(pid, 0)
        os.close(pidfd)
        self.tell(birth.Died(pid, status, self._mop()))

    def _mop(self) -> int:
        """Kill every child that is no worker, and the children that thereby become ours, until there is none."""
        killed = 0
        until = time.monotonic() + _MOP_SECONDS
        while time.monotonic() < until:
            strays = self._children() - set(self._workers.values())
            if not strays:
                break
            for pid in strays:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            for pid in strays:
                with contextlib.suppress(OSError):
                    os.waitpid(pid, 0)
                    killed += 1
        return killed

    @staticmethod
    def _children() -> set[int]:
        pid = os.getpid()
        return {int(word) for word in Path(f"/proc/self/task/{pid}/children").read_text().split()}

    def end(self) -> None:
        """Take everybody along."""
        for pid in self._workers.values():
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        self._workers.clear()
        self._mop()


def main(arguments: list[str]) -> None:
    """`MODULES CONTROL [LEFT_OUT]`: a list with commas, the descriptor of the control socket, and another list."""
    names, control, left_out = _words(arguments[0]), int(arguments[1]), _words(",".join(arguments[2:]))
    limits.die_with_parent(signal.SIGTERM)
    limits.adopt_strays()
    settle()
    failed, threads = preload(names)
    if threads:
        _start_over(control, [name for name in names if name not in (threads, *failed)], [*left_out, *failed, threads])
    if _threads() != 1:
        raise SystemExit("the zygote has more than one thread and must not fork")
    end = socket.socket(fileno=control)
    end.set_inheritable(False)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    zygote = Zygote(end)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.close(nothing)
    gc.collect()
    gc.freeze()
    zygote.tell(birth.Up((*left_out, *failed)))
    try:
        zygote.run()
    finally:
        zygote.end()


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]
