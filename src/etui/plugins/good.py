"""The last version of each plugin that loaded, kept so that a broken edit never takes a tool away.

A worker that must be started while the file on disk is broken loads this copy. Above: `catalogue`. Below: `load`'s nouns.
It refuses to know: whether a version is good; it keeps what it is told to keep.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import structlog

from etui.contracts.sealed import NEW, shelf
from etui.plugins.candidates import Candidate
from etui.plugins.sources import files_of, holds, offers

log = structlog.get_logger(__name__)
MAX_COPY = 20 << 20
"""Bytes of a plugin's folder that are copied with its data; of a larger one only the Python files."""
MAX_PARTS = 10_000
"""Files and folders of it, likewise."""


NO_PART = frozenset({"__pycache__", ".git", ".venv", "node_modules"})
"""Folders inside a plugin's that are none of it."""


class Good:
    """A folder of copies, one a plugin."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep_all(self, candidates: list[Candidate]) -> None:
        """Keep each of these versions."""
        for candidate in candidates:
            try:
                self.keep(candidate)
            except OSError as error:
                log.warning("no copy could be kept", plugin=candidate.name, error=str(error))

    def keep(self, candidate: Candidate, *, anew: bool = False) -> None:
        """Keep this version and forget the one before. Does nothing when it is kept already, or is not there any more.

        With `anew` it is copied although it is kept already: what its digest does not cover may be other now. Raises OSError.
        """
        home = self._home(candidate)
        target = home / candidate.digest
        if candidate.entry or (target.exists() and not anew):
            return  # what an entry point names can only be imported from where it is installed
        fresh = home / NEW
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True, mode=0o700)
        try:
            if candidate.path.is_dir():
                _copy_folder(candidate, fresh / candidate.path.name)
            else:
                for file in candidate.files:
                    shutil.copyfile(file, fresh / file.name)
            copied = holds(_files(candidate, fresh / candidate.path.name), candidate.digest)
        except OSError:
            copied = False
        if not copied:
            # It changed under our hands; the next version that loads is kept instead.
            shutil.rmtree(fresh, ignore_errors=True)
            return
        for old in home.iterdir():
            if old != fresh:
                shutil.rmtree(old, ignore_errors=True)
        fresh.rename(target)

    def find(self, candidate: Candidate) -> Candidate | None:
        """The kept version of this plugin, as a candidate that lies in the copy; None if there is none."""
        home = self._home(candidate)
        copies = [one for one in home.iterdir() if one.name != NEW] if home.is_dir() else []
        if not copies:
            return None
        path = copies[0] / candidate.path.name
        if not path.exists():
            return None
        files = _files(candidate, path)
        lent = tuple(file for file in files if path.is_file() and file != path and offers(file))
        return msgspec.structs.replace(
            candidate,
            path=path,
            files=files,
            digest=copies[0].name,
            lent=lent,
            original=str(candidate.lies),
            accepted=False,
        )

    def forget(self, candidate: Candidate) -> None:
        """The plugin was removed by its owner."""
        shutil.rmtree(self._home(candidate), ignore_errors=True)

    def _home(self, candidate: Candidate) -> Path:
        return self._folder / shelf(candidate.lies)


def _files(candidate: Candidate, path: Path) -> tuple[Path, ...]:
    """The plugin's files in another place."""
    return files_of(path, flat=candidate.place.flat, manifest=bool(candidate.manifest))


def _copy_folder(candidate: Candidate, target: Path) -> None:
    size, parts = 0, []
    for part in _parts(candidate.path):
        parts.append(part)
        size += part.stat().st_size if part.is_file() else 0
        if size > MAX_COPY or len(parts) > MAX_PARTS:
            parts = list(candidate.files)
            break
    target.mkdir()
    for part in parts:
        copy = target / part.relative_to(candidate.path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if part.is_dir():
            copy.mkdir(exist_ok=True)
        else:
            shutil.copy2(part, copy)


def _parts(top: Path) -> Iterator[Path]:
    """The folders and files in a plugin's that can be copied.

    A link is followed, unless it leads back to where it lies; Python behind one is no part of the plugin.
    """
    whole = top.resolve()
    waiting = [(top, frozenset({whole, *whole.parents}), False)]
    while waiting:
        folder, above, linked = waiting.pop()
        with os.scandir(folder) as entries:
            names = sorted(Path(entry.path) for entry in entries if entry.name not in NO_PART)
        for path in names:
            if not os.access(path, os.R_OK):
                continue
            if path.is_file():
                if not (linked and path.suffix == ".py"):
                    yield path
            elif path.is_dir() and (real := path.resolve()) not in above:
                waiting.append((path, above | {real}, linked or path.is_symlink()))
                yield path
