"""Code that lies where plugins may write is believed by the owner's word: what they accepted is copied, and the copy is run.

While nobody could have written there but the owner, each of their edits is accepted as it comes. From the moment at which a
plugin may write there, a change waits for their word; so it does after a restart. The first time that such a folder is seen,
everything in it that is on is accepted. Above: `catalogue`. Below: `good`, `rooted`, and the store's values, handed in. It
refuses to know: how a word is given, and what runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Set
from pathlib import Path
from typing import Protocol

import msgspec
import structlog

from etui.plugins.candidates import Candidate, Place
from etui.plugins.good import Good
from etui.plugins.rooted import as_copied
from etui.tool import Grant, Problem

log = structlog.get_logger(__name__)
SPACE = "accepted"
"""By where it lies, the digest of what was accepted."""
REACHED = "reached"
"""By folder that plugins may write, whether one could since everything in it was as it was accepted."""
NAMED = 3
"""Files that a problem names."""
HINT = "Reload it, or switch it off and on, to accept {}."


class Values(Protocol):
    """Small named values, kept."""

    def get(self, space: str, key: str) -> object | None: ...

    def put(self, space: str, key: str, value: object) -> None: ...

    def delete(self, space: str, key: str) -> bool: ...

    def all(self, space: str) -> dict[str, object]: ...


class _Held(msgspec.Struct, frozen=True):
    """What lies there of a plugin and was not accepted."""

    digest: str
    problem: Problem


class Accepted:
    """What one host's owner accepted."""

    def __init__(self, folder: Path, work: Path, values: Values) -> None:
        """`folder` is for the copies, and nothing that runs may write it; `work` is what plugins without a root may write."""
        self._folder = folder
        self._work = work
        self._values = values
        self._digests = values.all(SPACE)
        self._reached: dict[Path, bool] = {}
        """By folder that plugins may write and in which code lies."""
        self._written: set[Path] = set()
        """What something that ran since the start could write."""
        self._places: list[tuple[Place, Path]] = []
        """The places in such a folder, each with it."""
        self._exposed: dict[str, Path] = {}
        """By plugin, the folder in which it lies."""
        self._held: dict[str, _Held] = {}
        """By plugin, what waits for the owner's word."""
        self._words: dict[str, str] = {}
        """By plugin, the digest that the owner was told of before they gave their word; empty if they were told of none."""
        self._begun = False

    def look(self, places: Iterable[Place], candidates: Iterable[Candidate], off: Set[str]) -> list[Candidate]:
        """The candidates as they may be run: in place of what lies exposed its accepted copy. Blocks; not from a loop."""
        places = [place for place in places if not place.group]
        roots = {(place.root / "user").resolve() for place in places if place.root is not None}
        # The outermost first: what may write it may write those inside.
        writable = sorted({self._work.resolve(), *roots}, key=lambda folder: len(folder.parts))
        named = ((place, _folder_of([place.path], writable)) for place in places)
        self._places = [(place, folder) for place, folder in named if folder is not None]
        first = {folder for folder in {folder for _, folder in self._places} if self._is_new(folder)}
        exposed: dict[str, Path] = {}
        held: dict[str, _Held] = {}
        found = []
        for candidate in candidates:
            links = (file for file in candidate.files if file.is_symlink())
            folder = _folder_of([candidate.path, *links], writable) if not candidate.entry else None
            if folder is not None:
                self._know(folder)
                exposed[candidate.name] = folder
                seen = candidate
                candidate = self._judged(seen, folder, on=candidate.family not in off, first=folder in first)
                if candidate.digest != seen.digest or (candidate.waiting and seen.family not in off):
                    held[seen.name] = _Held(seen.digest, _problem(seen, candidate))
            found.append(candidate)
        self._exposed, self._held = exposed, held
        return found

    def begun(self) -> None:
        """Everything was looked at once and runs: where nothing may write and nothing waits, edits are live again."""
        if self._begun:
            return
        self._begun = True
        held = {self._exposed[name] for name in self._held if name in self._exposed}
        for folder in [folder for folder, reached in self._reached.items() if reached]:
            if folder not in held and not self._may_be_written(folder):
                self._reach(folder, False)

    def granted(self, grant: Grant) -> None:
        """Something is about to run that may touch this."""
        fresh = {Path(folder).resolve() for folder in grant.write} - self._written
        self._written |= fresh
        for folder in list(self._reached) if fresh else ():
            if not self._reached[folder] and self._may_be_written(folder):
                self._reach(folder, True)

    def accept(self, name: str) -> bool:
        """The owner accepts what lies there of a plugin, or if they were told of a change, that; False if it is not exposed."""
        if name not in self._exposed:
            return False
        self._words[name] = self._held[name].digest if name in self._held else ""
        return True

    def waits(self, name: str) -> bool:
        """Whether what lies there of a plugin is not what was accepted."""
        return name in self._held

    def problem(self, name: str) -> Problem | None:
        """What the owner should know of it."""
        return self._held[name].problem if name in self._held else None

    def forget(self, candidate: Candidate) -> None:
        """It is gone: what comes in its place is something else."""
        if self._digests.pop(str(candidate.lies), None) is not None:
            self._values.delete(SPACE, str(candidate.lies))
            for copies in {self._copies(folder) for folder in self._reached}:
                Good(copies).forget(candidate)

    def sealed(self, root: str) -> tuple[tuple[str, ...], str]:
        """The folders of a root whose code is read from copies, and where those are."""
        mine = [(str(place.path), folder) for place, folder in self._places if str(place.root) == root]
        return (tuple(path for path, _ in mine), str(self._copies(mine[0][1]))) if mine else ((), "")

    def _judged(self, candidate: Candidate, folder: Path, *, on: bool, first: bool) -> Candidate:
        kept = self._kept(candidate, folder)
        word = self._words.pop(candidate.name, None)
        same = kept is not None and kept.digest == candidate.digest
        if kept is not None and same and word is None:
            return kept
        if on and (first or (word in ("", candidate.digest) if word is not None else not self._reached[folder])):
            taken = self._take(candidate, folder, anew=word is not None)
            if taken is not None:
                return taken
        return kept if on and kept is not None else msgspec.structs.replace(candidate, waiting=True)

    def _kept(self, candidate: Candidate, folder: Path) -> Candidate | None:
        """The accepted copy, if there is one."""
        known = self._digests.get(str(candidate.path))
        copy = Good(self._copies(folder)).find(candidate) if known is not None else None
        return as_copied(candidate, copy) if copy is not None and copy.digest == known else None

    def _take(self, candidate: Candidate, folder: Path, *, anew: bool) -> Candidate | None:
        """Accept what lies there; None where it could not be copied as it was seen."""
        good = Good(self._copies(folder))
        try:
            good.keep(candidate, anew=anew)
        except OSError as error:
            log.warning("no copy could be kept", plugin=candidate.name, error=str(error))
            return None
        copy = good.find(candidate)
        if copy is None or copy.digest != candidate.digest:
            return None
        if self._digests.get(str(candidate.path)) != candidate.digest:
            self._digests[str(candidate.path)] = candidate.digest
            self._values.put(SPACE, str(candidate.path), candidate.digest)
        return as_copied(candidate, copy)

    def _is_new(self, folder: Path) -> bool:
        """Whether a folder is seen for the first time; from then on it is known. One that is not there is not seen."""
        new = self._values.get(REACHED, str(folder)) is None and (folder.is_dir() or folder.parent.is_dir())
        self._know(folder)
        if new:
            self._reach(folder, self._reached[folder])
        return new

    def _know(self, folder: Path) -> None:
        if folder not in self._reached:
            self._copies(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
            # What plugins without a root may write, those that are read for one session may write too.
            common = folder == self._work.resolve()
            self._reached[folder] = common or self._values.get(REACHED, str(folder)) is True or self._may_be_written(folder)

    def _reach(self, folder: Path, reached: bool) -> None:
        self._reached[folder] = reached
        self._values.put(REACHED, str(folder), reached)

    def _may_be_written(self, folder: Path) -> bool:
        if folder == self._work.resolve():
            return True
        return any(folder.is_relative_to(one) or one.is_relative_to(folder) for one in self._written)

    def _copies(self, folder: Path) -> Path:
        return self._folder / hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _folder_of(paths: Iterable[Path], writable: Iterable[Path]) -> Path | None:
    """The first of these folders in which one of the paths really lies; None where none does."""
    real = [path.resolve() for path in paths]
    return next((folder for folder in writable if any(path.is_relative_to(folder) for path in real)), None)


def _problem(candidate: Candidate, kept: Candidate) -> Problem:
    """What the owner reads of something that waits; `kept` is what serves meanwhile."""
    if kept.waiting:
        reason = "Nobody accepted its code, and it lies where plugins can write, so none of it is run."
        hint = HINT.format("it")
    else:
        reason = f"Its code changed ({_changed(candidate, kept)}), and it lies where plugins can write: the old code goes on."
        hint = HINT.format("the change")
    return Problem(
        what=candidate.path.name,
        reason=reason,
        hint=hint,
        file=str(candidate.path),
        plugin=candidate.name,
        source=candidate.place.name,
        refused=kept.waiting,
    )


def _changed(candidate: Candidate, kept: Candidate) -> str:
    """The files that are others, new or gone."""
    now, before = _contents(candidate), _contents(kept)
    names = sorted(name for name in now.keys() | before.keys() if now.get(name) != before.get(name))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(repr(name) for name in names[:NAMED]) + more


def _contents(candidate: Candidate) -> dict[str, bytes]:
    top = candidate.path if candidate.path.is_dir() else candidate.path.parent
    found = {}
    for file in candidate.files:
        try:
            found[str(file.relative_to(top))] = file.read_bytes()
        except OSError:
            continue
    return found
