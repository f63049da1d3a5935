"""What plugins write or bring along, as the host may read it: regular files in their own place, and JSON that can be told.

Above: `manifests`, `kept`. Below: the file system. It refuses to know: what any of it means.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def decoded(content: bytes) -> Any:
    """The value in these bytes of JSON, if every part of the house can be told it. Raises ValueError."""
    try:
        value = json.loads(content, parse_constant=_no_number)
        msgspec.msgpack.encode(value)
        json.dumps(value, allow_nan=False)
    except OverflowError:
        raise ValueError("it holds a number that is too large") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half a character") from None
    return value


def content_of(top: Path, parts: Sequence[str], most: int) -> bytes:
    """The bytes of a file below a folder that plugins write: no link is followed, nothing but a file read. Raises OSError."""
    with ExitStack() as stack:
        folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, folder)
        for part in parts[:-1]:
            folder = os.open(part, _FOLDER, dir_fd=folder)
            stack.callback(os.close, folder)
        handle = os.open(parts[-1], _FILE, dir_fd=folder)
        stack.callback(os.close, handle)
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "it is no regular file")
        if found.st_size > most:
            raise OSError(0, f"it has {found.st_size:,} bytes, more than {most:,}")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
