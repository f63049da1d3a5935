"""A flat folder of tool files that its owner alone may write, read so that what was judged is what runs.

Owner and mode are judged before a byte is read, and of each file through the very descriptor that its bytes then come from;
the folder's own descriptor is held meanwhile. So nothing that is swapped in between gains anything. Above: the host, which has
the bytes described, and in a worker Keryx's own loader. Below: the operating system. It refuses to know: what the files hold.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from pathlib import Path

import msgspec

from etui.contracts.importing import LARGEST
from etui.contracts.naming import spelled

ANOTHERS = "owned by another user"
LOOSE = "writable by other users (chmod go-w)"
PRIVATE = 0o700
_READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""A pipe without a writer is opened at once, and then seen to be none that can be read."""
_CHUNK = 1 << 16
_WAYS = (b"__file__", b"sys.path", b"addsitedir")
"""What a file has in its text that takes code from its own folder, which is on no import path."""
_DEPTHS = ("*.py", "*/*.py")
_MOST = 1 << 20
"""Bytes of helpers that one tool file may have and still be told from them what they ask for."""


class OwnFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of such a folder: its bytes, or why they are not to be run."""

    path: Path
    code: bytes = b""
    refused: str = ""
    """The reason; empty where the bytes are good to run."""

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes: what is remembered about it is bound to them alone."""
        return hashlib.sha256(self.code).hexdigest()


class OwnFolder(msgspec.Struct, frozen=True, kw_only=True):
    """What such a folder holds."""

    path: Path
    files: tuple[OwnFile, ...] = ()
    """In the order of their names, without drafts (`_x.py`) and files of other kinds."""
    refused: str = ""
    """Why nothing in it was read; empty for a folder that was read, and for one that there is not."""


def own_folder(path: Path) -> OwnFolder:
    """Read a folder. Raises nothing: what cannot be read is refused with its reason."""
    try:
        folder = os.open(path, _READING | os.O_DIRECTORY)
    except OSError as error:
        gone = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        return OwnFolder(path=path, refused="" if gone else worded(error, path))
    try:
        if reason := fault(os.fstat(folder)):
            return OwnFolder(path=path, refused=reason)
        with os.scandir(folder) as entries:
            names = sorted(one.name for one in entries if one.name.endswith(".py") and not one.name.startswith("_"))
        return OwnFolder(path=path, files=tuple(_own_file(path / name, folder) for name in names))
    except OSError as error:
        return OwnFolder(path=path, refused=worded(error, path))
    finally:
        os.close(folder)


def helpers(file: OwnFile) -> dict[str, bytes]:
    """By path, the Python files below its folder that its text or theirs names, drafts too: what it may take from there.

    Judged like tool files; what nobody should trust is left out. Raises nothing.
    """
    found: dict[str, bytes] = {}
    if not any(way in file.code for way in _WAYS):
        return found
    left = {path: _stem(path) for path in _below(file.path.parent) if path != file.path}
    texts = [file.code]
    while texts:
        text = texts.pop()
        for path in [path for path, stem in left.items() if stem in text]:
            del left[path]
            helper = _helper(path)
            if not helper.refused and sum(map(len, found.values())) + len(helper.code) <= _MOST:
                found[str(path)] = helper.code
                texts.append(helper.code)
    return found


def _below(folder: Path) -> list[Path]:
    try:
        found = {path for depth in _DEPTHS for path in folder.glob(depth)}
    except OSError:
        return []
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def _stem(path: Path) -> bytes:
    """What an import calls it."""
    return os.fsencode(path.parent.name if path.stem == "__init__" else path.stem)


def _helper(path: Path) -> OwnFile:
    try:
        folder = os.open(path.parent, _READING | os.O_DIRECTORY)
    except OSError as error:
        return OwnFile(path=path, refused=worded(error, path))
    try:
        return _own_file(path, folder)
    finally:
        os.close(folder)


def fault(info: os.stat_result) -> str:
    """Why something is not to be trusted, going by its owner and its mode; empty for what only this user may write."""
    user = getattr(os, "getuid", None)
    if user is not None and info.st_uid != user():
        return ANOTHERS
    return LOOSE if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


def worded(error: OSError, path: Path) -> str:
    """An error of the operating system as Python prints one about this path."""
    return f"{type(error).__name__}: [Errno {error.errno}] {error.strerror}: {str(path)!r}"


def make_own(path: Path) -> None:
    """See that the folder is there and that its owner alone may look into it; whoever else owns it is left alone."""
    with contextlib.suppress(OSError):
        path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        folder = os.open(path, _READING | os.O_DIRECTORY)
        try:
            info = os.fstat(folder)
            if fault(info) != ANOTHERS and stat.S_IMODE(info.st_mode) != PRIVATE:
                os.fchmod(folder, PRIVATE)
        finally:
            os.close(folder)


def _own_file(path: Path, folder: int) -> OwnFile:
    if (name := spelled(path.name)) != path.name:
        return OwnFile(path=path.with_name(name), refused="UnicodeError: its name is no UTF-8 text: rename it")
    try:
        handle = os.open(path.name, _READING, dir_fd=folder)
    except OSError as error:
        return OwnFile(path=path, refused=worded(error, path))
    try:
        info = os.fstat(handle)
        if reason := fault(info):
            return OwnFile(path=path, refused=f"PermissionError: {reason}")
        if stat.S_ISDIR(info.st_mode):
            return OwnFile(path=path, refused=worded(IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)), path))
        if not stat.S_ISREG(info.st_mode):
            return OwnFile(path=path, refused="OSError: it is no regular file")
        code = _bytes(handle)
    except OSError as error:
        return OwnFile(path=path, refused=worded(error, path))
    finally:
        os.close(handle)
    if len(code) > LARGEST:
        return OwnFile(path=path, refused=f"OSError: it has more than {LARGEST >> 20} MB, the most that a tool file may have")
    return OwnFile(path=path, code=code)


def _bytes(handle: int) -> bytes:
    """The bytes of an open file, up to one more than it may have."""
    found = bytearray()
    while len(found) <= LARGEST and (chunk := os.read(handle, _CHUNK)):
        found += chunk
    return bytes(found)
