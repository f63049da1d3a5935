"""Landlock: which files a process may touch, and which it may not even see the inside of.

Above: `confine` says which. Below: `kernel`. It refuses to know: grants and plugins. Works with any version from 1 on; what an
old version cannot say (truncating by path before 3, TCP before 4, signals before 6) is left to `seccomp`.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Collection, Iterable

from etui.run import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
_FIRST = (1 << 13) - 1
_REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_TCP = 3
_SCOPES = 3

READ = READ_FILE | READ_DIR
WRITE = _FIRST & ~EXECUTE | _REFER | TRUNCATE
DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV


def version() -> int:
    """The version that this kernel offers; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return kernel.syscall(_CREATE, None, 0, _VERSION)
    except OSError:
        return 0


def _files(abi: int) -> int:
    return _FIRST | (_REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0) | (IOCTL_DEV if abi >= 5 else 0)


def _ruleset(abi: int, tcp: bool) -> int:
    attributes = struct.pack("QQQ", _files(abi), 0 if tcp or abi < 4 else _TCP, _SCOPES if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    return kernel.syscall(_CREATE, kernel.read_only(attributes[:size]), size, 0)


def _allow(ruleset: int, path: str, access: int, *, real: bool) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there, or not for this user, needs no rule
    try:
        if real and _where(descriptor) != path:
            return
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            access &= _ON_FILES
        if access:
            rule = struct.pack("=Qi", access, descriptor)
            kernel.syscall(_ADD, ruleset, _PATH_BENEATH, kernel.read_only(rule), 0)
    finally:
        os.close(descriptor)


def _where(descriptor: int) -> str:
    """The path of what was opened, whichever links led there; empty where the system does not say."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - to be compared letter by letter
    except OSError:
        return ""


def restrict(rules: Iterable[tuple[str, int]], *, tcp: bool, abi: int, real: Collection[str] = ()) -> None:
    """Hold this thread and its descendants to the given paths and rights, for good; needs no_new_privs. Raises OSError.

    A path of `real` holds for what lies there itself: if a link leads elsewhere by now, it gives nothing.
    """
    ruleset = _ruleset(abi, tcp)
    handled = _files(abi)
    try:
        for path, access in rules:
            _allow(ruleset, path, access & handled, real=path in real)
        kernel.syscall(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)
