"""The last steps of a new process on its way to being a worker: streams, environment, folder, confinement, and in.

Above: `zygote` after a fork, `alone` after a start. Below: `confine`, `child`. It refuses to know: which of the two it was.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import socket
import sys
from typing import TextIO

from etui.run import child, limits
from etui.run.birth import Birth
from etui.run.confine import confine
from etui.run.launch import WHERE, settle


def _streams(output: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it lives as long as the process
    sys.stdout = _printing(1)
    sys.stderr = _printing(2)


def _printing(descriptor: int) -> TextIO:
    """A text stream that writes each line at once and stumbles over no character."""
    return open(descriptor, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)


def enter(wanted: Birth, wire: int, output: int) -> None:
    """Be that worker, in this process, until the wire is closed."""
    _streams(output)
    settle()
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(WHERE, file=2, all_threads=True)
    end = socket.socket(fileno=wire)
    end.set_inheritable(False)
    os.environ.update(wanted.environment)
    with contextlib.suppress(OSError):
        os.chdir(wanted.limits.work or "/")
    limits.adopt_strays()
    child.main(end, confine(wanted.limits))
