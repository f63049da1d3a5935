"""The few calls into the kernel that Python does not offer, by `ctypes` alone.

Above: `landlock`, `seccomp`, `limits`, `zygote`. Below: libc. It refuses to know: what they are for. Nothing here works, and
nothing is called, on another system than Linux.
"""

from __future__ import annotations

import ctypes
import os
import sys

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def syscall(number: int, *arguments: object) -> int:
    """The call's result. Raises OSError with the kernel's error number."""
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def prctl(option: int, *arguments: int) -> int:
    """prctl(2) with its arguments filled up with zeros. Raises OSError."""
    filled = [ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]]
    result: int = _libc.prctl(ctypes.c_int(option), *filled)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def read_only(data: bytes) -> ctypes.Array[ctypes.c_char]:
    """A buffer that the kernel can read."""
    return ctypes.create_string_buffer(data, len(data))


def core() -> int | None:
    """The number of the core that this thread runs on just now; None where the system does not say."""
    number = _libc.sched_getcpu() if sys.platform == "linux" and hasattr(_libc, "sched_getcpu") else -1
    return number if number >= 0 else None
