"""Resource limits, capabilities and the process's own flags.

Above: `confine`, `zygote`, `spawn`, and the host for its own protection. Below: `kernel`. It refuses to know: grants.
Memory is limited by RLIMIT_DATA and small thread stacks, never RLIMIT_AS, which stops a plugin at a dozen threads.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import struct
import sys
import threading
from pathlib import Path

from etui.run import kernel

_PDEATHSIG, _DUMPABLE, _BOUNDING_DROP, _CHILD_SUBREAPER, _NO_NEW_PRIVS, _AMBIENT = 1, 4, 24, 36, 38, 47
_AMBIENT_CLEAR = 4
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION = 0x20080522

STACK = 512 << 10
"""Bytes of stack for each thread of a worker."""
OPEN_FILES = 256
FILE_SIZE = 64 << 20
"""Bytes that a file may grow to."""
PROCESSES = 512
"""How many more processes and threads than now the user may have, as long as the user is not root."""


def _hold(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))


def _threads_of_user() -> int:
    """How many threads this user has now, as the kernel counts them for RLIMIT_NPROC."""
    count = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if folder.stat().st_uid == os.getuid():
                    count += sum(1 for _ in (folder / "task").iterdir())
    return count


def hold(memory: int, *, subprocess: bool) -> bool:
    """Put the limits in force on this process, `memory` in bytes; True if memory is really limited."""
    threading.stack_size(STACK)
    _hold(resource.RLIMIT_CORE, 0)
    _hold(resource.RLIMIT_NOFILE, OPEN_FILES)
    _hold(resource.RLIMIT_FSIZE, FILE_SIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if not sys.platform.startswith("linux"):
        return False
    if subprocess and os.getuid():
        _hold(resource.RLIMIT_NPROC, _threads_of_user() + PROCESSES)
    _hold(resource.RLIMIT_DATA, memory)
    return True


def drop_capabilities() -> None:
    """Give up every capability, now and for programs started later. Raises OSError."""
    with contextlib.suppress(OSError):
        kernel.prctl(_AMBIENT, _AMBIENT_CLEAR)
    for capability in range(64):
        try:
            kernel.prctl(_BOUNDING_DROP, capability)
        except OSError:
            break  # past the last one, or not entitled, which an ordinary user need not be
    number = _CAPSET.get(os.uname().machine)
    if number is not None:
        header = kernel.read_only(struct.pack("Ii", _CAPABILITY_VERSION, 0))
        kernel.syscall(number, header, kernel.read_only(bytes(24)))


def no_new_privileges() -> None:
    """No program started from here gains rights by being started. Raises OSError."""
    kernel.prctl(_NO_NEW_PRIVS, 1)


def die_with_parent(number: signal.Signals = signal.SIGKILL) -> None:
    """Get that signal when the parent dies; does nothing on other systems than Linux."""
    if sys.platform.startswith("linux"):
        kernel.prctl(_PDEATHSIG, int(number))


def adopt_strays() -> None:
    """Become the parent of descendants whose own parent dies; does nothing on other systems than Linux."""
    if sys.platform.startswith("linux"):
        kernel.prctl(_CHILD_SUBREAPER, 1)


def shield() -> None:
    """Close this process's memory and environment to others of the same user; for the host, once, early."""
    if sys.platform.startswith("linux"):
        kernel.prctl(_DUMPABLE, 0)
