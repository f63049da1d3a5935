"""The working folder, as a tool sees it: relative names only, and no way out.

Each component of a name is opened without following links, relative to the folder before it, and what is checked is the handle
that is then used. So there is no moment between the check and the use in which a link could be slipped in.
Above: `Context.files`. Below: the operating system. It refuses to know: which tool asks, and what the kernel adds to this.
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import functools
import operator
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import IO, Any

from etui.contracts.etui.authoring import Refusal


def _flags(*names: str) -> int:
    """The flags of the operating system by these names; one that it does not know counts for nothing."""
    return functools.reduce(operator.or_, (int(getattr(os, name, 0)) for name in names), 0)


_READER = _flags("O_DIRECTORY", "O_CLOEXEC")
_FOLDER = _READER | _flags("O_PATH", "O_NOFOLLOW")
_PLAIN = _flags("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK")
_ROOT = _READER | _flags("O_PATH")
_TEMPORARY = ".etui-"
_DEPTH = 64

_MODES = {
    "r": os.O_RDONLY,
    "r+": os.O_RDWR,
    "w": os.O_WRONLY | os.O_CREAT,
    "w+": os.O_RDWR | os.O_CREAT,
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "a+": os.O_RDWR | os.O_CREAT | os.O_APPEND,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    "x+": os.O_RDWR | os.O_CREAT | os.O_EXCL,
}


class Outside(Refusal):
    """The name is none of a file inside the working folder; nothing was touched."""


class Folder:
    """The jailed folder. Names are relative and use `/`; whatever would lead outside raises `Refusal`."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._root = os.fspath(root)

    def read_text(self, name: str | PurePath, encoding: str = "utf-8") -> str:
        """The text of a file. Raises FileNotFoundError, UnicodeDecodeError."""
        return self.read_bytes(name).decode(encoding)

    def read_bytes(self, name: str | PurePath) -> bytes:
        """The bytes of a file. Raises FileNotFoundError."""
        with self._opened(name, os.O_RDONLY) as (handle, _), os.fdopen(os.dup(handle), "rb") as file:
            return file.read()

    def write_text(self, name: str | PurePath, text: str, encoding: str = "utf-8") -> int:
        """Write a whole file, making its folders; others see the old text or the new one, never half. Returns its size."""
        return self.write_bytes(name, text.encode(encoding))

    def write_bytes(self, name: str | PurePath, data: bytes) -> int:
        """Write a whole file, making its folders; others see the old bytes or the new ones, never half."""
        parts = self._parts(name)
        with self._folder(parts[:-1], name, make=True) as folder:
            mode = self._replaceable(folder, parts[-1], name)
            temporary = _TEMPORARY + secrets.token_hex(8)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN, mode, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:  # nothing half-written stays, whatever ended the write
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
        return len(data)

    def open(self, name: str | PurePath, mode: str = "r", encoding: str | None = None) -> IO[Any]:
        """The file, opened as the built-in `open` does; text is UTF-8 unless said otherwise. `w` here is not atomic."""
        bare = "".join(sorted(mode.replace("b", "").replace("t", "")))
        flags = _MODES.get(bare[::-1] if bare.startswith("+") else bare)
        if flags is None or ("b" in mode and "t" in mode):
            raise ValueError(f"{mode!r} is no mode to open a file in.")
        binary = "b" in mode
        with self._opened(name, flags, make=bool(flags & os.O_CREAT)) as (handle, _):
            if "w" in mode:
                os.ftruncate(handle, 0)
            return os.fdopen(os.dup(handle), mode.replace("x", "w"), encoding=None if binary else encoding or "utf-8")

    def exists(self, name: str | PurePath) -> bool:
        """Whether there is a file or folder of that name."""
        parts = self._parts(name, whole=True)
        try:
            with self._folder(parts[:-1], name) as folder:
                if parts:
                    self._no_link(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False), name)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def list(self, pattern: str = "*") -> list[str]:
        """Names that fit the pattern, sorted; `*` stays in one folder, `**` goes into all; folders end in `/`; no links."""
        wanted = self._parts(pattern, whole=True)
        try:
            with self._folder((), pattern) as root:
                found = list(_walk(root, (), _reach(wanted)))
        except FileNotFoundError:
            return []
        return sorted("/".join(parts) + ("/" if folder else "") for parts, folder in found if _fits(parts, wanted))

    def mkdir(self, name: str | PurePath) -> None:
        """Make a folder and those above it; one that is there already is fine."""
        with self._folder(self._parts(name), name, make=True):
            pass

    def delete(self, name: str | PurePath) -> None:
        """Delete a file, or a folder that is empty. Raises FileNotFoundError."""
        parts = self._parts(name)
        with self._folder(parts[:-1], name) as folder:
            there = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
            self._no_link(there, name)
            if stat.S_ISDIR(there.st_mode):
                os.rmdir(parts[-1], dir_fd=folder)
            else:
                os.unlink(parts[-1], dir_fd=folder)

    def path(self, name: str | PurePath = ".") -> Path:
        """The absolute path, for libraries that want one; checked now, but not when it is used: prefer `open`."""
        parts = self._parts(name, whole=True)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for end in range(len(parts) + 1):
                with self._folder(parts[: end - 1] if end else (), name) as folder:
                    if end:
                        self._no_link(os.stat(parts[end - 1], dir_fd=folder, follow_symlinks=False), name)
        return Path(self._root, *parts)

    @contextlib.contextmanager
    def _folder(self, parts: tuple[str, ...], name: object, make: bool = False) -> Iterator[int]:
        """A handle of the folder at `parts`, opened component by component."""
        if not self._root:
            raise Outside("There is no working folder here.")
        if make:
            Path(self._root).mkdir(parents=True, exist_ok=True)
        handle = os.open(self._root, _ROOT)
        try:
            for part in parts:
                inner = self._step(handle, part, name, make)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)

    def _step(self, folder: int, part: str, name: object, make: bool) -> int:
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
        try:
            return os.open(part, _FOLDER, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                with contextlib.suppress(OSError):
                    self._no_link(os.stat(part, dir_fd=folder, follow_symlinks=False), name)
            raise

    @contextlib.contextmanager
    def _opened(self, name: str | PurePath, flags: int, make: bool = False) -> Iterator[tuple[int, int]]:
        """A handle of the plain file `name`, checked itself, and the handle of its folder."""
        parts = self._parts(name)
        with self._folder(parts[:-1], name, make=make) as folder:
            try:
                handle = os.open(parts[-1], flags | _PLAIN, 0o644, dir_fd=folder)
            except OSError as error:
                if error.errno == errno.ELOOP:
                    raise Outside(f"{str(name)!r} is a link; links are not followed.") from None
                if error.errno == errno.EEXIST:
                    self._no_link(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False), name)
                if error.errno == errno.ENXIO:
                    raise Outside(f"{str(name)!r} is no plain file.") from None
                raise
            try:
                self._plain(os.fstat(handle), name)
                os.set_blocking(handle, True)
                yield handle, folder
            finally:
                os.close(handle)

    def _replaceable(self, folder: int, part: str, name: object) -> int:
        """The mode for the new file; raises for something that must not be replaced."""
        try:
            there = os.stat(part, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return 0o644
        self._no_link(there, name)
        self._plain(there, name)
        return stat.S_IMODE(there.st_mode) & 0o777

    @staticmethod
    def _no_link(there: os.stat_result, name: object) -> None:
        if stat.S_ISLNK(there.st_mode):
            raise Outside(f"{str(name)!r} goes through a link; links are not followed.")

    @staticmethod
    def _plain(there: os.stat_result, name: object) -> None:
        if stat.S_ISDIR(there.st_mode):
            raise IsADirectoryError(errno.EISDIR, "It is a folder", str(name))
        if not stat.S_ISREG(there.st_mode):
            raise Outside(f"{str(name)!r} is no plain file.")
        if there.st_nlink > 1:
            raise Outside(f"{str(name)!r} has a second name (a hard link) that may lie outside the working folder.")

    @staticmethod
    def _parts(name: object, whole: bool = False) -> tuple[str, ...]:
        """The components of a name; `whole` allows the folder itself. Raises `Outside` for whatever is no relative name."""
        if not isinstance(name, str | PurePath):
            raise Outside(f"A file is named by text; {type(name).__name__!r} is none.")
        text = str(name)
        shown = repr(text if len(text) <= 100 else text[:100] + "…")
        if "\0" in text:
            raise Outside(f"{shown} holds a zero byte; no file is called that.")
        if text.startswith("/") or "\\" in text or text[1:2] == ":":
            raise Outside(f"{shown} is no name inside the working folder: names are relative and use '/'.")
        parts = tuple(part for part in text.split("/") if part not in ("", "."))
        if ".." in parts:
            raise Outside(f"{shown} leads out of the working folder.")
        if parts and parts[0].startswith("~"):
            raise Outside(f"{shown} names a home folder; names are relative to the working folder.")
        if len(parts) > _DEPTH:
            raise Outside(f"{shown} is more than {_DEPTH} folders deep.")
        for part in parts:
            _check_length(part, shown)
        if not parts and not whole:
            raise Outside(f"{shown} names no file.")
        return parts


def _check_length(part: str, shown: str) -> None:
    try:
        size = len(os.fsencode(part))
    except UnicodeEncodeError:
        raise Outside(f"{shown} holds characters that no file name can have.") from None
    if size > 255:
        raise Outside(f"{shown} holds a name that is longer than 255 bytes.")


def _reach(wanted: tuple[str, ...]) -> int:
    """How many folders deep a pattern can look."""
    return _DEPTH if "**" in wanted else len(wanted)


def _walk(folder: int, above: tuple[str, ...], reach: int) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Every file and folder below a handle, as components and whether it is a folder; links are passed over."""
    if reach <= 0:
        return
    reader = os.open(".", _READER, dir_fd=folder)
    try:
        with os.scandir(reader) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()) for entry in entries]
        for name, is_folder, is_link in found:
            if is_link or name.startswith(_TEMPORARY):
                continue
            yield (*above, name), is_folder
            if is_folder:
                try:
                    inner = os.open(name, _FOLDER, dir_fd=folder)
                except OSError:  # gone or swapped meanwhile, or not ours to read: it is not listed
                    continue
                try:
                    yield from _walk(inner, (*above, name), reach - 1)
                finally:
                    os.close(inner)
    finally:
        os.close(reader)


def _fits(parts: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if not wanted:
        return False
    if wanted[0] == "**":
        return (len(wanted) == 1 and bool(parts)) or any(_fits(parts[start:], wanted[1:]) for start in range(len(parts) + 1))
    return (
        bool(parts)
        and fnmatch.fnmatchcase(parts[0], wanted[0])
        and (len(parts) == len(wanted) == 1 or _fits(parts[1:], wanted[1:]))
    )
