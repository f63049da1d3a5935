"""What may be a plugin: where it was found, its files, and what is known of it before any of it is run.

Above: every module that finds, reads or keeps plugins. Below: the nouns. It refuses to know: how they are found.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

import msgspec

MANIFESTS = "sapphire"
"""The contract whose plugins have a manifest."""
MAX_FILE = 4 << 20
"""Bytes of the largest Python file that is loaded."""
IMPORTED = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*(?:from[ \t]+\.*([A-Za-z_\x80-\xff][\w\x80-\xff]*)"
    rb"|(?:from[ \t]+\.[ \t]*)?import\b[ \t]*(\([^)]*\)|[^\n#;]*))",
    re.MULTILINE,
)
"""An import statement: the module that names are taken from, or the list of modules."""
LISTED = re.compile(rb"(?:^\(?|,)(?:\s|#[^\n]*\n)*([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
"""One module of such a list, its first part."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A source: a folder, or the entry points of a group."""

    name: str
    path: Path = Path()
    """The folder; of a group, nothing."""
    contract: str = "auto"
    create: bool = False
    """Whether the host may make the folder; otherwise a missing one is a problem."""
    flat: bool = False
    """A plugin is the files directly in its folder, and every loose file stands for itself."""
    families: bool = False
    """Its tools keep the toolsets that their files name."""
    group: str = ""
    """The group of entry points; empty for a folder."""
    packages: tuple[Path, ...] = ()
    """Where the packages lie whose entry points are taken, or that its plugins may need."""
    root: Path | None = None
    """The folder that a plugin with a manifest takes for the whole installation."""
    holds: str = ""
    """`manifests` where only folders with a manifest are plugins, `modules` where only loose files are; empty for all."""
    shipped: bool = False
    """A plugin of the same name in a later place of the same root takes its place."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """What may be a plugin: its files and their digest."""

    name: str
    place: Place
    path: Path
    files: tuple[Path, ...]
    digest: str
    lent: tuple[Path, ...] = ()
    """Those of the files that are plugins of their own too: their tools are theirs."""
    entry: str = ""
    """What an entry point names; empty for files of a folder."""
    family: str = ""
    """The toolset that switches it as a whole."""
    contract: str = "auto"
    """A name from `contracts.VERSIONS`, or `auto`: its worker finds out."""
    root: str = ""
    """The folder that it takes for the whole installation; empty where it has none."""
    manifest: dict[str, Any] = {}
    """What its manifest says; empty where it has none."""
    resting: bool = False
    """It is off until somebody switches it on."""
    wanted: bool = False
    """It would be on by itself, did it not lie where plugins may write."""
    lacking: tuple[str, ...] = ()
    """The packages that its manifest wants and that the tools' environment has not."""
    odd: tuple[str, ...] = ()
    """What is odd about its manifest, a sentence each."""
    original: str = ""
    """Of a copy, where what it was made of lies; of a plugin with a root, its files are told that place."""
    accepted: bool = False
    """It is a copy that stands for what lies there, as its owner accepted it."""
    waiting: bool = False
    """It is not what its owner accepted, and no copy of that is there: nothing of it is run."""
    parting: bool = False
    """It wants to clear up before it goes."""
    lively: bool = False
    """It can say anew what its tools are, once its settings have changed."""

    @property
    def key(self) -> str:
        """What tells it from every other candidate of every place."""
        path = self.lies if self.accepted else self.path
        return f"{path}={self.entry}" if self.entry else str(path)

    @property
    def lies(self) -> Path:
        """Where it lies as its owner knows it."""
        return Path(self.original) if self.original else self.path

    def seen(self, file: str) -> str:
        """Where one of its files lies as its owner knows it."""
        if not self.original or not Path(file).is_relative_to(self.path.parent):
            return file
        return str(self.lies.parent / Path(file).relative_to(self.path.parent))


class Read:
    """Files read once for one look at the folders."""

    def __init__(self) -> None:
        self._bytes: dict[Path, bytes] = {}
        self._imports: dict[Path, frozenset[str]] = {}

    def bytes_of(self, path: Path) -> bytes:
        """The bytes of a regular file of a sane size; a pipe or a device is never opened for reading. Raises OSError."""
        content = self._bytes.get(path)
        if content is None:
            info = path.stat()
            if not stat.S_ISREG(info.st_mode):
                raise OSError(0, "it is no regular file")
            if info.st_size > MAX_FILE:
                raise OSError(0, f"it has {info.st_size:,} bytes, more than {MAX_FILE:,}")
            with open(path, "rb") as file:
                content = self._bytes[path] = file.read()
        return content

    def imports_of(self, path: Path) -> frozenset[str]:
        """The first parts of the names that a file imports; none of a file that cannot be read."""
        found = self._imports.get(path)
        if found is None:
            try:
                stated = IMPORTED.findall(self.bytes_of(path))
            except OSError:
                stated = []
            named = (name for one, several in stated for name in ([one] if one else LISTED.findall(several)))
            found = self._imports[path] = frozenset(name.decode("utf-8", "replace") for name in named)
        return found
