"""Code that lies where plugins may write, read from the copies of it that the owner accepted and never from there.

Python's own loaders are held to it too, so a file that is found by `sys.path` or by its path is the copy's. What was compiled
beside a file (`__pycache__`) is in no copy. Above: `sapphire.folders`; the host's `plugins.good` names copies as this does.
Below: Python's import system. It refuses to know: what was accepted, and when.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

NEW = "new"
"""What a copy is called while it is made."""


def shelf(path: Path | str) -> str:
    """The name of the folder that holds the copy of what lies at this path."""
    where = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{Path(path).stem}-{where}"


class Sealed:
    """The folders of one root in which plugins lie that other plugins may write, and where the copies are."""

    def __init__(self, places: Iterable[str] = (), copies: str = "") -> None:
        self._places = {named: place for place in places for named in (place, os.path.realpath(place))}
        self._copies = Path(copies)

    def real(self, file: Path | str) -> Path:
        """Where to read a file of code: in the copy that holds it, which may lack it; itself where nothing is sealed."""
        path = os.path.normpath(Path(file).absolute())
        for named, place in self._places.items():
            if path.startswith(named + os.sep):
                entry, _, rest = path[len(named) + 1 :].partition(os.sep)
                return self._copy(Path(place, entry)) / entry / rest
        return Path(file)

    def _copy(self, original: Path) -> Path:
        home = self._copies / shelf(original)
        kept = [one for one in home.iterdir() if one.name != NEW] if home.is_dir() else []
        return kept[0] if kept else home / "none"


_HELD: list[Sealed] = [Sealed()]
_BEFORE: dict[str, Any] = {}
"""Python's own functions, once they are replaced."""


def hold(sealed: Sealed) -> None:
    """From now on every loader of this process reads what is sealed from its copies."""
    _HELD[:] = [sealed]
    if _BEFORE:
        return
    source, bare, compiled = (
        cast("Any", loader)
        for loader in (
            importlib.machinery.SourceFileLoader,
            importlib.machinery.SourcelessFileLoader,
            importlib.machinery.ExtensionFileLoader,
        )
    )
    _BEFORE.update(get_data=source.get_data, create_module=compiled.create_module)
    source.get_data = bare.get_data = _get_data
    compiled.create_module = _create_module


def real(file: Path | str) -> Path:
    """Where this process reads a file of code."""
    return _HELD[0].real(file)


def _get_data(self: Any, path: str) -> bytes:
    place = real(path)
    if place.suffix == ".py" and place != Path(path) and not place.is_file():
        raise ModuleNotFoundError(f"{path!r} is not among the files that were accepted", name=self.name)
    data: bytes = _BEFORE["get_data"](self, str(place))
    return data


def _create_module(self: Any, spec: importlib.machinery.ModuleSpec) -> Any:
    if spec.origin:
        self.path = spec.origin = str(real(spec.origin))
    return _BEFORE["create_module"](self, spec)
