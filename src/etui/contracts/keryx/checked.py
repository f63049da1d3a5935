"""Whose file it is and who else can write it, judged and read through one descriptor: what is judged is what is read.

Above: `folder`. Below: the standard library. It refuses to know: what is in the file. The words of a refusal are Keryx's own;
the host judges likewise (`plugins.owned`) before it hands a file's bytes to a worker.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

FOREIGN = "owned by another user"
LOOSE = "writable by other users (chmod go-w)"
LARGEST = 2 * 1024 * 1024
"""Bytes that a tool file may have."""


def unsafe(status: os.stat_result) -> str:
    """Why what has this status is not trusted; empty if it is."""
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return FOREIGN
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return LOOSE
    return ""


def read(path: Path, folder: int) -> bytes:
    """The bytes of a tool file that the owner alone can write; `folder` is the open descriptor of the folder that it lies in.

    Raises PermissionError with the refusal, and OSError for what is no file. Links are followed, and their target is judged.
    """
    try:
        handle = os.open(path.name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        error.filename = str(path)
        raise
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if reason := unsafe(status):
            raise PermissionError(reason)
        if not stat.S_ISREG(status.st_mode):
            kind = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
            raise OSError(kind, os.strerror(kind), str(path))
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"a tool file may have {LARGEST >> 20} MB", str(path))
    return data
