"""How the host gets a new worker process, whichever way it is started.

Above: `living` launches, `worker` talks. Below: nothing. `forks` (the zygote) and `spawn` are the two ways.
It refuses to know: plugins.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Iterator, Mapping
from typing import Protocol

from etui.run.confine import Limits

KEPT = ("PATH", "LANG", "HOME", "TZ")
"""The environment variables that every worker gets."""
FIXED = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "KERYX_ACTOR": "service",
}
"""They keep libraries from starting threads before the fork, stale bytecode from being written, and git from ending because it
may not read its owner's settings; the last one tells commands of Etui and Keryx that it is not the owner who runs them."""


KILLED = "it was killed by SIGKILL"
"""How one dies that the host (or the kernel, out of memory) killed."""


WHERE = signal.SIGUSR2
"""Makes a worker print what each of its threads is doing, even if it is stuck."""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """What this thread starts meanwhile hears no Ctrl-C, which until it has a session of its own is meant for it too.

    It begins with the signal held back, and lets go of that by `settle`.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def settle() -> None:
    """For a process that was started so: Ctrl-C is nothing to it from now on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


class Process:
    """A started worker: its number, its wire, where its output comes out, and the promise to say how it died."""

    def __init__(self, pid: int, wire: socket.socket, output: int, pidfd: int = -1) -> None:
        self.pid = pid
        self.wire = wire
        self.output = output
        """The end of its output pipe that is read; whoever takes the process closes it."""
        self.exited: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Done when it and what it started is gone; how it died, in words."""
        self._pidfd = pidfd

    def kill(self) -> None:
        """End it now, stopped or not, and with it its process group; `exited` follows."""
        if self._pidfd < 0:
            self.kill_group()
            return
        self.signal(signal.SIGKILL)  # the zygote sees to the group

    def signal(self, number: signal.Signals) -> None:
        """Send it that, if it is still there."""
        with contextlib.suppress(OSError):
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, number)
            elif not self.exited.done():
                os.kill(self.pid, number)

    def kill_group(self) -> None:
        """The same by number, where there is no pidfd or no zygote any more."""
        if not self.exited.done():
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)

    def gone(self, how: str) -> None:
        """For launchers: it is dead."""
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if not self.exited.done():
            self.exited.set_result(how)


class Launcher(Protocol):
    """Starts workers."""

    async def launch(self, limits: Limits, environment: Mapping[str, str]) -> Process:
        """A new worker. Raises `WorkerGone` with a sentence if none could be started."""
        ...

    async def close(self) -> None:
        """End everything that was launched."""
        ...


def base_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What every worker's environment holds, out of the host's."""
    return {name: environ[name] for name in KEPT if name in environ} | FIXED


def how(code: int) -> str:
    """An exit code in words; a negative one is a signal."""
    if code >= 0:
        return f"it ended itself with code {code}"
    try:
        return f"it was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was killed by signal {-code}"


def ends() -> tuple[socket.socket, socket.socket, int, int]:
    """The wire's two ends (host's first) and the output pipe's (reading end first), none inheritable."""
    mine, its = socket.socketpair()
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    return mine, its, reading, writing
