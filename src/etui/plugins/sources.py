"""What lies in the sources: which files may be plugins, their bytes' digest, and what cannot be read. Nothing is run.

Above: `load` has a candidate described, `catalogue` scans again at each change. Below: the nouns, `installed`.
It refuses to know: what a file offers, and the contracts.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from etui.contracts.naming import spelled
from etui.plugins import installed, manifests
from etui.plugins.candidates import Candidate, Place, Read
from etui.plugins.manifests import Manifest, ManifestError
from etui.plugins.rooted import Shadows, manifest_of, rooted, with_manifest, without_manifest
from etui.tool import INLINE, Problem

MAX_FILES = 500
"""Python files of the largest plugin."""
DEEPEST = 6
"""Folders inside each other of the deepest plugin."""
PASSED_OVER = re.compile(r"^[._#]|~$|\.(swp|swx|tmp|bak|orig|part|crdownload)$|^4913$|^(node_modules|venv|tests?)$")
"""Names that editors, downloads and drafts leave behind; they are no plugins and no problem."""
HIDDEN = re.compile(r"^[._]")
"""The same in a flat place, where every other name may be a plugin's."""


def scan(places: list[Place]) -> tuple[list[Candidate], list[Problem]]:
    """Every candidate in every place, in a stable order, and what could not be read. Names are unique in the result."""
    read = Read()
    found: list[Candidate] = []
    problems: list[Problem] = []
    taken: set[str] = {INLINE}
    shadows = Shadows()
    for place in places:
        if place.group:
            _entry_points(place, read, taken, found, problems)
            continue
        entries, trouble = _entries(place, read)
        problems += [problem for problem in trouble if problem not in problems]
        for path in entries:
            name = path.name if entries[path] else path.stem
            try:
                if entries[path] and _leads_back(path):
                    problems.append(_circle(place, path))
                    continue
                manifest = manifest_of(place, path, read) if entries[path] else None
                if manifest is None and entries[path] and place.holds:
                    continue
                called = _free(manifest.name if manifest else name, place, taken)
                candidate = _candidate(called, place, path, entries, read, manifest)
            except OSError as error:
                problems.append(_unreadable(place, name, path, error))
                continue
            except ManifestError as error:
                problems.append(without_manifest(place, name, path, str(error)))
                continue
            if isinstance(candidate, Problem):
                problems.append(candidate)
            elif candidate is not None and (lost := shadows.second(candidate)) is not None:
                problems.append(lost)
            elif candidate is not None:
                taken.add(called)
                found.append(candidate)
    return shadows.without(found, problems), problems


def _free(name: str, place: Place, taken: set[str]) -> str:
    """The name by which a plugin is known to the whole house: its own, with the place's before it where that is taken."""
    if name not in taken:
        return name
    names = itertools.chain([f"{place.name}.{name}"], (f"{place.name}{number}.{name}" for number in itertools.count(2)))
    return next(one for one in names if one not in taken)


def _entries(place: Place, read: Read) -> tuple[dict[Path, bool], list[Problem]]:
    """What may be a plugin, each with whether it is a folder."""
    try:
        if place.create:
            place.path.mkdir(parents=True, exist_ok=True)
        with os.scandir(place.path) as found:
            entries = {place.path / one.name: _is_folder(one) for one in sorted(found, key=lambda one: one.name)}
    except OSError as error:
        if place.root is not None and place.root.is_dir() and not place.path.exists():
            return {}, []  # an installation need not have each of its folders
        reason = f"The folder cannot be read: {error.strerror or error}."
        hint = "Mend the path under `sources` in the configuration, or make the folder."
        # Of an installation that is not there one folder stands for all.
        folder = str(place.path if place.root is None or place.root.is_dir() else place.root)
        return {}, [Problem(what=folder, reason=reason, hint=hint, file=folder, source=place.name)]
    passed_over = HIDDEN if place.flat else PASSED_OVER
    kept = {
        path: folder
        for path, folder in entries.items()
        if (folder or path.name.endswith(".py")) and not passed_over.search(path.name) and place.holds != _kind(folder)
    }
    if place.flat:
        return kept, []
    loose = {path.stem: path for path, folder in kept.items() if not folder}
    helpers = _helpers(loose, read)
    return {path: folder for path, folder in kept.items() if folder or path.stem not in helpers or offers(path, read)}, []


def _kind(folder: bool) -> str:
    """Which places hold no such thing."""
    return "modules" if folder else "manifests"


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
                contract=place.contract,
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


def _leads_back(folder: Path) -> bool:
    """Whether it is a link to a folder that it lies in itself: all beside it would be there twice. Raises OSError."""
    return folder.is_symlink() and folder.parent.resolve().is_relative_to(folder.resolve())


def _circle(place: Place, path: Path) -> Problem:
    reason = "It is a link that leads back to a folder which it lies in, so it is passed over."
    return Problem(what=path.name, reason=reason, hint="Remove the link.", file=str(path), plugin=path.name, source=place.name)


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


def _candidate(
    name: str, place: Place, path: Path, entries: dict[Path, bool], read: Read, manifest: Manifest | None
) -> Candidate | Problem | None:
    files = files_of(path, read, flat=place.flat, manifest=manifest is not None)
    if not files:
        return None
    if entries[path] and len(files) > MAX_FILES:
        reason = f"The folder holds more than {MAX_FILES} Python files."
        return Problem(what=name, reason=reason, file=str(path), plugin=name, source=place.name)
    lent = tuple(file for file in files if file != path and file in entries)
    if odd := next((file for file in (path, *files) if spelled(file) != str(file)), None):
        what, reason = spelled(odd.name), "Its name is no UTF-8 text, so it cannot be told to anybody: rename it."
        return Problem(what=what, reason=reason, file=spelled(odd), source=place.name)
    candidate = Candidate(
        name=name,
        place=place,
        path=path,
        files=files,
        digest=digest_of(files, read),
        lent=lent,
        family=f"plugin:{name}",
        contract=place.contract,
    )
    return rooted(candidate, read) if manifest is None else with_manifest(candidate, manifest, read)


def files_of(path: Path, read: Read | None = None, *, flat: bool = False, manifest: bool = False) -> tuple[Path, ...]:
    """The Python files of the plugin at this path, in the order in which their digest takes them. Raises OSError.

    With `manifest` its manifest is one of them.
    """
    if path.is_dir():
        said = (path / manifests.NAME,) if manifest else ()
        return (*(_flat_files(path) if flat else _python_files(path)), *said)
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


def _python_files(folder: Path, depth: int = 0, deepest: int = DEEPEST, *, private: bool = False) -> Iterator[Path]:
    """Those in a folder and below; with `private` those in folders like `_lib` too."""
    if depth > deepest:
        return
    kept = r"_[^_].*" if private else r"_[^_].*\.py$"
    for entry in sorted(folder.iterdir()):
        if PASSED_OVER.search(entry.name) and entry.name != "__init__.py" and not re.match(kept, entry.name):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from _python_files(entry, depth + 1, deepest, private=private)
        elif entry.suffix == ".py" and entry.is_file():
            yield entry


def _flat_files(folder: Path) -> tuple[Path, ...]:
    """The files directly in a folder, if there are any, and those below that they may import, unless these are many."""
    beside = tuple(_python_files(folder, deepest=0))
    below = itertools.islice(_python_files(folder, private=True), MAX_FILES + 1) if beside else ()
    found = tuple(file for file in below if file.parent != folder)
    return (*beside, *found) if len(beside) + len(found) <= MAX_FILES else beside


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
