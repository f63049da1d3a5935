"""A zygote by a fork instead of a start: the tests open about a thousand hosts, and each would import the same modules again.

What is forked is the zygote itself, in a process of its own, with the same modules, environment, descriptors and limits; only
its way there is shorter. The second host of a kind gets it. The first of a kind, and the tests of the zygote, start it really.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

ROOM = 1 << 16
HELD: set[int] = set()
"""Descriptors of this process by which its mothers are asked: they stay open until the last test."""


class Born:
    """A zygote that a mother forked; as much of `subprocess.Popen` as its host asks for."""

    def __init__(self, args: Sequence[str], pidfd: int, reading: int) -> None:
        self.args = list(args)
        self.stderr = os.fdopen(reading, "rb")
        self._pidfd = pidfd

    def wait(self, timeout: float | None = None) -> int:
        if self._pidfd >= 0:
            poll = select.poll()
            poll.register(self._pidfd, select.POLLIN)
            if not poll.poll(None if timeout is None else timeout * 1000):
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._let_go()
        return 0

    def kill(self) -> None:
        if self._pidfd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _let_go(self) -> None:
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def communicate(self, timeout: float | None = None) -> tuple[None, bytes]:
        self.wait(timeout)
        return None, self.stderr.read()

    def __del__(self) -> None:
        self.stderr.close()
        self._let_go()


class Mother:
    """One process that has imported what a zygote imports."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        python, *_, boot, _, names = command[:6]
        self._socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        HELD.add(self._socket.fileno())
        with its:
            self._process = subprocess.Popen(
                [python, "-I", "-B", __file__, boot, names, str(its.fileno())],
                env=dict(environment),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
                start_new_session=True,
            )

    def bear(self, command: Sequence[str], control: int) -> Born:
        """Fork a zygote on this control socket."""
        reading, writing = os.pipe()
        socket.send_fds(self._socket, [json.dumps(command[5:6]).encode()], [control, writing])
        os.close(writing)
        _, [pidfd], _, _ = socket.recv_fds(self._socket, ROOM, 1)
        return Born(command, pidfd, reading)

    def end(self) -> None:
        """Let it go; its zygotes have gone with their hosts."""
        HELD.discard(self._socket.fileno())
        self._socket.close()
        self._process.wait(10)


def _main(boot: str, names: str, control: str) -> None:
    spec = importlib.util.spec_from_file_location("boot", boot)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.load()
    zygote = importlib.import_module("etui.run.zygote")
    zygote.preload(names.split(","))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    wire = socket.socket(fileno=int(control))
    while True:
        data, descriptors, _, _ = socket.recv_fds(wire, ROOM, 2)
        if not data:
            return
        pid = os.fork()
        if pid == 0:
            _become(zygote, json.loads(data), wire, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        pidfd = os.pidfd_open(pid)
        wire.sendmsg([b"born"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pidfd]))])
        os.close(pidfd)


def _become(zygote: Any, names: list[str], wire: socket.socket, control: int, writing: int) -> None:
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        wire.close()
        os.dup2(writing, 2)
        os.close(writing)
        zygote.main([*names, str(control)])
    finally:
        os._exit(0)


if __name__ == "__main__":
    _main(*sys.argv[1:])
