"""From sources to plugins: what lies in the folders, and what each plugin offers.

`scan` looks at folders and reads bytes, and runs nothing. `Loader` has a plugin described by its worker, or takes the
description that was kept for exactly these bytes. Every thing that was passed over because it is broken has one `Problem`.
Above: `host` scans, loads and watches. Below: the nouns and `contracts`. It refuses to know: the registry, and who may call.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import stat
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from etui.contracts import VERSIONS, Description, Files
from etui.contracts.etui.grants import grant_for
from etui.tool import INLINE, Grant, Plugin, Problem, Tool

MAX_FILE = 4 << 20
"""Bytes of the largest Python file that is loaded."""
MAX_FILES = 500
"""Python files of the largest plugin."""
PASSED_OVER = re.compile(r"^[._#]|~$|\.(swp|swx|tmp|bak|orig|part|crdownload)$|^4913$|^(node_modules|venv|tests?)$")
"""Names that editors, downloads and drafts leave behind; they are no plugins and no problem."""
IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+\.*([A-Za-z_]\w*)|import[ \t]+([A-Za-z_]\w*))", re.MULTILINE)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A source that is a folder."""

    name: str
    path: Path
    contract: str = "auto"
    create: bool = False
    """Whether the host may make the folder; otherwise a missing one is a problem."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """What may be a plugin: its files and their digest."""

    name: str
    place: Place
    path: Path
    files: tuple[Path, ...]
    digest: str
    lent: tuple[Path, ...] = ()
    """Those of the files that are plugins of their own too: their tools are theirs."""


class Cache(Protocol):
    """Where descriptions are kept between starts."""

    def get(self, key: str) -> Description | None:
        """The description kept under that key."""
        ...

    def put(self, key: str, description: Description) -> None:
        """Keep it."""
        ...


Describe = Callable[[Files, Grant], Awaitable[Description]]


def scan(places: list[Place]) -> tuple[list[Candidate], list[Problem]]:
    """Every candidate in every place, in a stable order, and what could not be read. Names are unique in the result."""
    found: list[Candidate] = []
    problems: list[Problem] = []
    taken: set[str] = {INLINE}
    for place in places:
        entries, trouble = _entries(place)
        problems += trouble
        for path in entries:
            name = path.stem if path.is_file() else path.name
            if name in taken:
                name = f"{place.name}.{name}"
            try:
                candidate = _candidate(name, place, path, entries)
            except OSError as error:
                problems.append(_unreadable(place, name, path, error))
                continue
            if isinstance(candidate, Problem):
                problems.append(candidate)
            elif candidate is not None:
                taken.add(name)
                found.append(candidate)
    return found, problems


def _entries(place: Place) -> tuple[list[Path], list[Problem]]:
    try:
        if place.create:
            place.path.mkdir(parents=True, exist_ok=True)
        entries = sorted(place.path.iterdir())
    except OSError as error:
        reason = f"The folder cannot be read: {error.strerror or error}."
        hint = "Mend the path under `sources` in the configuration, or make the folder."
        return [], [Problem(what=str(place.path), reason=reason, hint=hint, file=str(place.path), source=place.name)]
    kept = [one for one in entries if not PASSED_OVER.search(one.name) and (one.suffix == ".py" or one.is_dir())]
    loose = {one.stem: one for one in kept if one.suffix == ".py" and not one.is_dir()}
    helpers = _helpers(loose)
    return [one for one in kept if one.is_dir() or one.stem not in helpers or offers(one)], []


def _helpers(loose: dict[str, Path]) -> set[str]:
    """Names of loose files that another loose file imports: they belong to it and need not hold a tool."""
    named: set[str] = set()
    for stem, path in loose.items():
        named |= _imports(path) - {stem}
    return named & loose.keys()


def offers(path: Path) -> bool:
    """Whether a loose file looks as if it had tools of its own; one that cannot be read may have."""
    try:
        text = _bytes(path)
    except OSError:
        return True
    return b"@tool" in text or b"SCHEMA" in text or b"custom_tool" in text or b"TOOLS" in text


def _imports(path: Path) -> set[str]:
    try:
        text = _bytes(path)
    except OSError:
        return set()
    return {(one or other).decode() for one, other in IMPORTED.findall(text)}


def _bytes(path: Path) -> bytes:
    """The bytes of a regular file of a sane size; a pipe or a device is never opened for reading."""
    info = path.stat()
    if not stat.S_ISREG(info.st_mode):
        raise OSError(0, "it is no regular file")
    if info.st_size > MAX_FILE:
        raise OSError(0, f"it has {info.st_size:,} bytes, more than {MAX_FILE:,}")
    return path.read_bytes()


def _candidate(name: str, place: Place, path: Path, entries: list[Path]) -> Candidate | Problem | None:
    files = files_of(path)
    if not files:
        return None
    if path.is_dir() and len(files) > MAX_FILES:
        reason = f"The folder holds more than {MAX_FILES} Python files."
        return Problem(what=name, reason=reason, file=str(path), plugin=name, source=place.name)
    lent = tuple(file for file in files if file != path and file in entries)
    return Candidate(name=name, place=place, path=path, files=files, digest=digest_of(files), lent=lent)


def files_of(path: Path) -> tuple[Path, ...]:
    """The Python files of the plugin at this path, in the order in which their digest takes them. Raises OSError."""
    return tuple(_python_files(path)) if path.is_dir() else (path, *_siblings(path))


def digest_of(files: Iterable[Path]) -> str:
    """What the bytes of these files are known by; neither times nor places count. Raises OSError."""
    digest = hashlib.sha256()
    for file in files:
        content = _bytes(file)
        digest.update(f"{file.name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def holds(files: Iterable[Path], digest: str) -> bool:
    """Whether these files still have the bytes that the digest was made of."""
    try:
        return digest_of(files) == digest
    except OSError:
        return False


def _python_files(folder: Path, depth: int = 0) -> Iterator[Path]:
    if depth > 6:
        return
    for entry in sorted(folder.iterdir()):
        if PASSED_OVER.search(entry.name) and entry.name != "__init__.py" and not re.match(r"_[^_].*\.py$", entry.name):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from _python_files(entry, depth + 1)
        elif entry.suffix == ".py" and entry.is_file():
            yield entry


def _siblings(path: Path) -> list[Path]:
    """The loose files beside this one that it imports, and those that they import."""
    seen = {path.stem}
    queue, siblings = [path], []
    while queue:
        for stem in sorted(_imports(queue.pop()) - seen):
            seen.add(stem)
            beside = path.with_name(f"{stem}.py")
            if beside.is_file():
                siblings.append(beside)
                queue.append(beside)
    return sorted(siblings)


def _unreadable(place: Place, name: str, path: Path, error: OSError) -> Problem:
    reason = f"The file cannot be read: {error.strerror or error}."
    return Problem(what=path.name, reason=reason, file=error.filename or str(path), plugin=name, source=place.name)


class Loader:
    """Turns candidates into plugins; asks `describe` only for bytes that it has not seen."""

    def __init__(self, describe: Describe, cache: Cache, work: Path) -> None:
        self._describe = describe
        self._cache = cache
        self._work = str(work)

    async def load(self, candidate: Candidate) -> Plugin | None:
        """The plugin that these bytes make; one without tools has problems that say why. None if they changed meanwhile."""
        files = self.files(candidate)
        key = f"{candidate.digest}:{candidate.path}:{candidate.place.contract}:{_versions()}"
        description = self._cache.get(key)
        if description is None:
            description = await self._ask(files)
            if not await asyncio.to_thread(holds, candidate.files, candidate.digest):
                return None
            self._cache.put(key, description)
        return self._plugin(candidate, description)

    def files(self, candidate: Candidate) -> Files:
        """What its worker needs to know."""
        return Files(
            plugin=candidate.name,
            source=candidate.place.name,
            contract=candidate.place.contract,
            path=str(candidate.path),
            files=tuple(str(file) for file in candidate.files),
            digest=candidate.digest,
            work=self._work,
        )

    async def _ask(self, files: Files) -> Description:
        """Describe with nothing granted; again with what the source asks for, if that is more and it did not do without."""
        description = await self._describe(files, Grant())
        if any(problem.refused for problem in description.problems) and description.wishes != Grant():
            return await self._describe(files, description.wishes)
        return description

    def _plugin(self, candidate: Candidate, description: Description) -> Plugin:
        lent = {str(file) for file in candidate.lent}
        tools = tuple(self._placed(candidate, tool) for tool in description.tools if tool.file not in lent)
        problems = [
            msgspec.structs.replace(
                problem,
                plugin=candidate.name,
                source=candidate.place.name,
                file=problem.file or str(candidate.path),
            )
            for problem in description.problems
            if problem.file not in lent
        ]
        if not tools and not any(problem.refused for problem in problems):
            reason = "No tool was found in it."
            hint = "Put `@tool` on a function (`from etui import tool`), or name the file with a leading underscore."
            problems.append(
                Problem(
                    what=candidate.path.name,
                    reason=reason,
                    hint=hint,
                    file=str(candidate.path),
                    plugin=candidate.name,
                    source=candidate.place.name,
                )
            )
        return Plugin(
            name=candidate.name,
            contract=description.contract or candidate.place.contract,
            source=candidate.place.name,
            path=str(candidate.path),
            files=tuple(str(file) for file in candidate.files),
            digest=candidate.digest,
            grant=grant_for((tool.risk for tool in tools), self._work),
            tools=tools,
            problems=tuple(problems),
            notes=description.notes,
        )

    def _placed(self, candidate: Candidate, tool: Tool) -> Tool:
        return msgspec.structs.replace(
            tool,
            plugin=candidate.name,
            source=candidate.place.name,
            digest=candidate.digest,
            toolset=tool.toolset or f"plugin:{candidate.name}",
        )


def _versions() -> str:
    contracts = ",".join(f"{name}{version}" for name, version in VERSIONS.items())
    return f"{contracts}:{sys.version_info.major}.{sys.version_info.minor}"
