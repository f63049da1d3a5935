"""A path of a model's, resolved and held inside a folder. Behind it stands the kernel.

Above: `context`, `boxes`, and tool files by `kotoba.core.path_security`. Below: the operating system.
It refuses to know: which folder it is, and who asks.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path


class PathSecurityError(Exception):
    """The path leads out of the folder, or is none."""


def validate_within_dir(path: str | os.PathLike[str], root: str | os.PathLike[str]) -> Path:
    """The absolute path that is meant, links followed; it need not exist. Raises PathSecurityError, and nothing else."""
    inside = _resolved(_path(root))
    found = _resolved(inside / _path(path))
    if found != inside and inside not in found.parents:
        raise PathSecurityError(f"{os.fspath(path)!r} leads out of the folder.")
    return found


def _path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise PathSecurityError(f"A path is text; {type(path).__name__!r} is none.")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # no such user
        raise PathSecurityError(f"{str(path)!r} is no path: {error}") from None


def _resolved(path: Path) -> Path:
    try:
        found = path.resolve()
        path.stat()
    except (RuntimeError, ValueError) as error:  # links in a circle, a zero byte
        raise PathSecurityError(f"{str(path)!r} is no path: {error}") from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):
            raise PathSecurityError(f"{str(path)!r} is no path: {error.strerror}") from None
        return path.resolve()
    return found
