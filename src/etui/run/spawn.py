"""Workers that are started one by one, for systems without the zygote; the same wire, the same confinement where there is any.

Above: `living`. Below: `launch`, `birth`. It refuses to know: plugins, calls. A process that a worker started and that left
its process group outlives it here: only the zygote can adopt and end those.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from etui.errors import WorkerGone
from etui.run import birth
from etui.run.confine import Limits
from etui.run.launch import Process, base_environment, ends, how, undisturbed

_GROUP_SECONDS = 2.0


class Spawn:
    """Launches each worker as a Python of its own."""

    def __init__(self, python: str = sys.executable, environ: Mapping[str, str] = os.environ) -> None:
        self._command = [python, "-I", "-B", str(Path(__file__).with_name("boot.py")), "worker"]
        self._environment = base_environment(environ)
        self._processes: set[Process] = set()

    async def launch(self, limits: Limits, environment: Mapping[str, str]) -> Process:
        """A new worker. Raises `WorkerGone`."""
        mine, its, reading, writing = ends()
        try:
            started = self._start(its.fileno(), writing)
        except OSError as error:
            mine.close()
            os.close(reading)
            raise WorkerGone(f"The tools' Python {self._command[0]!r} could not be started: {error.strerror}.") from None
        finally:
            its.close()
            os.close(writing)
        data = birth.encode(birth.Birth(1, limits, dict(environment)))
        with contextlib.suppress(OSError):  # if it is dead already, `exited` says so
            mine.sendall(struct.pack(">I", len(data)) + data)
        process = Process(started.pid, mine, reading)
        self._processes.add(process)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._watch, args=(loop, started, process), daemon=True).start()
        return process

    async def close(self) -> None:
        """End every worker."""
        for process in self._processes:
            process.kill()
        await asyncio.gather(*(process.exited for process in self._processes))

    def _start(self, wire: int, output: int) -> subprocess.Popen[bytes]:
        with undisturbed():
            return subprocess.Popen(
                [*self._command, str(wire), str(output)],
                env=self._environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[wire, output],
                start_new_session=True,
            )

    def _watch(self, loop: asyncio.AbstractEventLoop, started: subprocess.Popen[bytes], process: Process) -> None:
        """In a thread of its own: wait for the exit, end the rest of the group, then tell the loop."""
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, started.pid, os.WEXITED | os.WNOWAIT)  # unreaped, its number is still its own
        else:
            started.wait()
        with contextlib.suppress(OSError):
            os.killpg(started.pid, signal.SIGKILL)
        code = started.wait()
        _wait_for_group(started.pid)
        words = how(code)
        with contextlib.suppress(RuntimeError):  # the loop is closed, nobody listens
            loop.call_soon_threadsafe(self._gone, process, words)

    def _gone(self, process: Process, words: str) -> None:
        self._processes.discard(process)
        process.gone(words)


def _wait_for_group(group: int) -> None:
    """In a thread: come back once nobody of a killed process group is left, or after a while."""
    until = time.monotonic() + _GROUP_SECONDS
    while _lives(group) and time.monotonic() < until:
        time.sleep(0.002)


def _lives(group: int) -> bool:
    """Whether a process of that group is left, besides those that only wait to be reaped."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            state, _, of = status.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if of == str(group) and state not in ("Z", "X"):
                return True
    return False
