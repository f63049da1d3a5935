"""Images that somebody was told a name of: found again by their chat and name, and outside of any chat the newest in a folder.

Plugins write in that folder's parent, so no link in it is followed, and what lies in it is no more than an image.
Above: sessions keep what calls give, `services` and surfaces find it again. Below: `blobs`. It refuses to know: who may see
what.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import structlog

from etui.contracts.media import picture_type
from etui.store.blobs import Blob, Blobs

log = structlog.get_logger(__name__)
NAME = re.compile(r"[0-9a-f]{12}\.(?:jpg|png)")
KIND = re.compile(r"image/(?!svg)[a-z0-9][a-z0-9.+-]{0,40}")
"""Media types that are taken for an image's: a drawing that may hold a script is none."""
LIKE = ("[0-9a-f]" * 12) + ".[jp][pn]g"
"""The same for SQLite."""
OUTSIDE = 300
"""How many are kept outside of chats."""
LARGEST = 64 << 20
"""Bytes beyond which a file in the folder is none of ours."""


class NamedImages:
    """Images by chat and name."""

    def __init__(self, blobs: Blobs, folder: Path | None) -> None:
        """`folder` is where those are that belong to no chat; it and its parent may be made here. None keeps no such files."""
        self._blobs = blobs
        self._folder = folder

    def keep(self, data: bytes, media_type: str, name: str = "", chat: str = "", call: str = "") -> str:
        """Keep bytes and give their id; an image with a name that belongs to no chat also as a file in the folder."""
        id = self._blobs.put(data, media_type, name, chat, call)
        if not chat and self._folder is not None and NAME.fullmatch(name):
            for gone in self._keep_outside(self._folder, data, name):
                self._blobs.drop("", gone)
        return id

    def id_of(self, chat: str, name: str) -> str:
        """The id of what is kept in the chat under that name; empty where there is nothing."""
        return self._blobs.named(chat, name) if NAME.fullmatch(name) else ""

    def find(self, chat: str, name: str) -> Blob | None:
        """The image of that name, in the chat or with an empty one outside of all; None where there is none."""
        if not NAME.fullmatch(name):
            return None
        if not chat:
            return self._found_outside(name)
        id = self._blobs.named(chat, name)
        return self._blobs.get(id) if id else None

    def last(self, chat: str) -> str:
        """The name of the newest; empty where there is none."""
        if chat:
            return self._blobs.newest(chat, LIKE)
        with self._open() as folder:
            return next(iter(_newest(folder)), "") if folder is not None else ""

    def _keep_outside(self, place: Path, data: bytes, name: str) -> list[str]:
        """Write the file; gives the names of those that had to go. What cannot be written is only not found again."""
        try:
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._open() as folder:
                if folder is None:
                    log.warning("no folder for images outside of chats", folder=str(place))
                    return []
                new = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
                with os.fdopen(new, "wb") as file:
                    file.write(data)
                gone = _newest(folder)[OUTSIDE:]
                for one in gone:
                    os.unlink(one, dir_fd=folder)
                return gone
        except OSError as error:
            log.warning("image outside of chats cannot be written", folder=str(place), error=str(error))
            return []

    def _found_outside(self, name: str) -> Blob | None:
        with self._open() as folder:
            if folder is None:
                return None
            try:
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            except OSError:
                return None
            try:
                about = os.fstat(file)
                if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                    return None
                with os.fdopen(file, "rb", closefd=False) as opened:
                    data = opened.read(LARGEST)
            finally:
                os.close(file)
        kind = picture_type(data)
        return Blob(id=name, data=data, media_type=kind, name=name, at=about.st_mtime) if kind else None

    @contextlib.contextmanager
    def _open(self) -> Iterator[int | None]:
        """The folder, reached through no link in the part that plugins write in; None where it is not there."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        with contextlib.ExitStack() as opened:
            if self._folder is None:
                yield None
                return
            try:
                parent = os.open(self._folder.parent, flags)
                opened.callback(os.close, parent)
                folder = os.open(self._folder.name, flags, dir_fd=parent)
                opened.callback(os.close, folder)
            except OSError:
                yield None
                return
            yield folder


def _newest(folder: int) -> list[str]:
    """Names of the images in an open folder, the newest first."""
    found = []
    for name in os.listdir(folder):
        if NAME.fullmatch(name):
            with contextlib.suppress(OSError):
                found.append((os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns, name))
    return [name for _, name in sorted(found, reverse=True)]
