"""What lies in the sources: which files may be plugins, their bytes' digest, and what cannot be read. Nothing is run.

Above: `load` has a candidate described, `catalogue` scans again at each change. Below: the nouns, `installed`.
It refuses to know: what a file offers, and the contracts.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from etui.contracts.naming import spelled
from etui.plugins import installed
from etui.tool import INLINE, Problem

MAX_FILE = 4 << 20
"""Bytes of the largest Python file that is loaded."""
MAX_FILES = 500
"""Python files of the largest plugin."""
DEEPEST = 6
"""Folders inside each other of the deepest plugin."""
PASSED_OVER = re.compile(r"^[._#]|~$|\.(swp|swx|tmp|bak|orig|part|crdownload)$|^4913$|^(node_modules|venv|tests?)$")
"""Names that editors, downloads and drafts leave behind; they are no plugins and no problem."""
HIDDEN = re.compile(r"^[._]")
"""The same in a flat place, where every other name may be a plugin's."""
IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+\.*([A-Za-z_]\w*)|import[ \t]+([A-Za-z_]\w*))", re.MULTILINE)


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
    """Where the packages lie whose entry points are taken."""


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

    @property
    def key(self) -> str:
        """What tells it from every other candidate of every place."""
        return f"{self.path}={self.entry}" if self.entry else str(self.path)


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
                named = IMPORTED.findall(self.bytes_of(path))
            except OSError:
                named = []
            found = self._imports[path] = frozenset((one or other).decode() for one, other in named)
        return found


def scan(places: list[Place]) -> tuple[list[Candidate], list[Problem]]:
    """Every candidate in every place, in a stable order, and what could not be read. Names are unique in the result."""
    read = Read()
    found: list[Candidate] = []
    problems: list[Problem] = []
    taken: set[str] = {INLINE}
    for place in places:
        if place.group:
            _entry_points(place, read, taken, found, problems)
            continue
        entries, trouble = _entries(place, read)
        problems += trouble
        for path in entries:
            name = path.name if entries[path] else path.stem
            if name in taken:
                name = f"{place.name}.{name}"
            try:
                candidate = _candidate(name, place, path, entries, read)
            except OSError as error:
                problems.append(_unreadable(place, name, path, error))
                continue
            if isinstance(candidate, Problem):
                problems.append(candidate)
            elif candidate is not None:
                taken.add(name)
                found.append(candidate)
    return found, problems


def _entries(place: Place, read: Read) -> tuple[dict[Path, bool], list[Problem]]:
    """What may be a plugin, each with whether it is a folder."""
    try:
        if place.create:
            place.path.mkdir(parents=True, exist_ok=True)
        with os.scandir(place.path) as found:
            entries = {place.path / one.name: _is_folder(one) for one in sorted(found, key=lambda one: one.name)}
    except OSError as error:
        reason = f"The folder cannot be read: {error.strerror or error}."
        hint = "Mend the path under `sources` in the configuration, or make the folder."
        return {}, [Problem(what=str(place.path), reason=reason, hint=hint, file=str(place.path), source=place.name)]
    passed_over = HIDDEN if place.flat else PASSED_OVER
    kept = {
        path: folder
        for path, folder in entries.items()
        if (folder or path.name.endswith(".py")) and not passed_over.search(path.name)
    }
    if place.flat:
        return kept, []
    loose = {path.stem: path for path, folder in kept.items() if not folder}
    helpers = _helpers(loose, read)
    return {path: folder for path, folder in kept.items() if folder or path.stem not in helpers or offers(path, read)}, []


def _entry_points(place: Place, read: Read, taken: set[str], found: list[Candidate], problems: list[Problem]) -> None:
    """Each entry point of the place's group is a plugin, called after it, and its family is that name's, whoever has it too."""
    for offer in installed.offers(place.packages, place.group):
        if isinstance(offer, installed.Odd):
            problems.append(Problem(what=offer.file.parent.name, reason=offer.reason, file=str(offer.file), source=place.name))
            continue
        names = (offer.name, f"{place.name}.{offer.name}", f"{place.name}.{offer.distribution}.{offer.name}")
        name = next((one for one in names if one not in taken), "")
        if not name:
            reason = f"The package {offer.distribution!r} names the entry point {offer.name!r} twice; this one is not taken."
            problems.append(Problem(what=offer.name, reason=reason, file=str(offer.proofs[0]), source=place.name))
            continue
        files = (*_installed(offer), *offer.proofs)
        try:
            digest = digest_of(files, read)
        except OSError as error:
            problems.append(_unreadable(place, name, offer.path, error))
            continue
        taken.add(name)
        found.append(
            Candidate(
                name=name,
                place=place,
                path=offer.path,
                files=files,
                digest=digest,
                entry=offer.target,
                family=f"plugin:{offer.name}",
            )
        )


def _installed(offer: installed.Offer) -> list[Path]:
    """The Python files of the package that an entry point lies in; of a huge one, and of none that is known, the module's."""
    if offer.path.suffix != ".py":
        return []
    files = list(itertools.islice(_python_files(offer.top), MAX_FILES + 1)) if offer.top.is_dir() else [offer.path]
    return files if offer.path in files and len(files) <= MAX_FILES else [offer.path]


def glance(places: Iterable[Place], found: Iterable[Candidate]) -> object:
    """What changes when a package comes, goes or is edited: for places that no folder is followed for. Raises nothing."""
    folders = {folder for place in places for folder in place.packages}
    files = {file for candidate in found if candidate.entry for file in candidate.files}
    return tuple((path, _changed(path)) for path in sorted(folders | files))


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle; reading it will say so
        return False


def _helpers(loose: dict[str, Path], read: Read) -> set[str]:
    """Names of loose files that another loose file imports: they belong to it and need not hold a tool."""
    named: set[str] = set()
    for stem, path in loose.items():
        named |= read.imports_of(path) - {stem}
    return named & loose.keys()


def offers(path: Path, read: Read | None = None) -> bool:
    """Whether a loose file looks as if it had tools of its own; one that cannot be read may have."""
    try:
        text = (read or Read()).bytes_of(path)
    except OSError:
        return True
    return b"@tool" in text or b"SCHEMA" in text or b"custom_tool" in text or b"TOOLS" in text


def _candidate(name: str, place: Place, path: Path, entries: dict[Path, bool], read: Read) -> Candidate | Problem | None:
    files = files_of(path, read, flat=place.flat)
    if not files:
        return None
    if entries[path] and len(files) > MAX_FILES:
        reason = f"The folder holds more than {MAX_FILES} Python files."
        return Problem(what=name, reason=reason, file=str(path), plugin=name, source=place.name)
    lent = tuple(file for file in files if file != path and file in entries)
    if odd := next((file for file in (path, *files) if spelled(file) != str(file)), None):
        what, reason = spelled(odd.name), "Its name is no UTF-8 text, so it cannot be told to anybody: rename it."
        return Problem(what=what, reason=reason, file=spelled(odd), source=place.name)
    digest = digest_of(files, read)
    return Candidate(name=name, place=place, path=path, files=files, digest=digest, lent=lent, family=f"plugin:{name}")


def files_of(path: Path, read: Read | None = None, *, flat: bool = False) -> tuple[Path, ...]:
    """The Python files of the plugin at this path, in the order in which their digest takes them. Raises OSError."""
    if path.is_dir():
        return tuple(_python_files(path, deepest=0 if flat else DEEPEST))
    return (path, *_siblings(path, read or Read()))


def digest_of(files: Iterable[Path], read: Read | None = None) -> str:
    """What the bytes of these files are known by; neither times nor places count. Raises OSError."""
    read = read or Read()
    digest = hashlib.sha256()
    for file in files:
        content = read.bytes_of(file)
        digest.update(f"{file.name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def holds(files: Iterable[Path], digest: str) -> bool:
    """Whether these files still have the bytes that the digest was made of."""
    try:
        return digest_of(files) == digest
    except OSError:
        return False


def _python_files(folder: Path, depth: int = 0, deepest: int = DEEPEST) -> Iterator[Path]:
    if depth > deepest:
        return
    for entry in sorted(folder.iterdir()):
        if PASSED_OVER.search(entry.name) and entry.name != "__init__.py" and not re.match(r"_[^_].*\.py$", entry.name):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from _python_files(entry, depth + 1, deepest)
        elif entry.suffix == ".py" and entry.is_file():
            yield entry


def _siblings(path: Path, read: Read) -> list[Path]:
    """The loose files beside this one that it imports, and those that they import."""
    seen = {path.stem}
    queue, siblings = [path], []
    while queue:
        for stem in sorted(read.imports_of(queue.pop()) - seen - sys.stdlib_module_names):
            seen.add(stem)
            beside = path.with_name(f"{stem}.py")
            if beside.is_file():
                siblings.append(beside)
                queue.append(beside)
    return sorted(siblings)


def _unreadable(place: Place, name: str, path: Path, error: OSError) -> Problem:
    reason = f"The file cannot be read: {error.strerror or error}."
    return Problem(what=path.name, reason=reason, file=error.filename or str(path), plugin=name, source=place.name)
