"""The settings of plugins with a root, each in `<root>/user/webui/plugins/<name>.json`, where their files look for them.

The file is made with the defaults when a plugin is first loaded; what stands in it wins over them, keys that nobody declared
stay, and no kind is checked. Above: `installation`. Below: the file system. It refuses to know: secrets, and what follows from
a change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from etui.errors import UsageError
from etui.plugins import strict

FOLDER = Path("user", "webui", "plugins")
LARGEST = 1 << 20
"""Bytes of a file of settings."""
Write = Callable[[Path, bytes], None]
"""Puts a file in place whole, readable by the owner alone; raises EtuiError."""


class Kept:
    """Reads and writes them."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._known: dict[Path, tuple[object, dict[str, Any], str]] = {}

    def stored(self, root: str, name: str) -> tuple[dict[str, Any], str]:
        """What the file holds, and why it cannot be used; nothing of one that is not there. Raises nothing."""
        path = path_of(root, name)
        try:
            found = path.lstat()
        except OSError:
            return {}, ""
        stamp = found.st_ino, found.st_mtime_ns, found.st_size
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = self._known[path] = (stamp, *_read(root, name))
        return dict(known[1]), known[2]

    def seed(self, root: str, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Make the file with the defaults, where there are any and it is not there. Raises EtuiError."""
        defaults = defaults_of(rows)
        if defaults and not os.path.lexists(path_of(root, name)):
            self._put(root, name, defaults)

    def save(self, root: str, name: str, values: Mapping[str, Any], without: Iterable[str] = ()) -> None:
        """Keep these over what the file holds, and take some keys out. Raises EtuiError; UsageError for a broken file."""
        stored, broken = self.stored(root, name)
        if broken:
            raise UsageError(f"{broken} Mend or remove {str(path_of(root, name))!r} first.")
        self._put(root, name, {key: value for key, value in {**stored, **values}.items() if key not in set(without)})

    def forget(self, root: str, name: str) -> None:
        """Remove the file. Raises UsageError."""
        _in_place(root, name).unlink(missing_ok=True)

    def _put(self, root: str, name: str, values: Mapping[str, Any]) -> None:
        path_of(root, name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        self._write(_in_place(root, name), content)


def path_of(root: str, name: str) -> Path:
    """Where the settings of the plugin with that name are."""
    return Path(root) / FOLDER / f"{name}.json"


def _in_place(root: str, name: str) -> Path:
    """The same, where it lies in the root. Raises UsageError: what a plugin may write it could replace by a link elsewhere."""
    path = path_of(root, name)
    if path.parent.resolve() != (Path(root) / "user").resolve() / "webui" / "plugins":
        raise UsageError(f"{str(path.parent)!r} leads out of {root!r}, so nothing was written there.")
    return path


def defaults_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The defaults that the manifest names; a setting without one has none."""
    return {row["key"]: row["default"] for row in rows if "default" in row}


def _read(root: str, name: str) -> tuple[dict[str, Any], str]:
    top, *parts = FOLDER.parts
    try:
        values = strict.decoded(strict.content_of(Path(root) / top, (*parts, f"{name}.json"), LARGEST))
    except (OSError, ValueError) as error:
        why = error.strerror or error if isinstance(error, OSError) else error
        return {}, f"The settings cannot be read, so the defaults hold: {why}."
    if not isinstance(values, dict):
        return {}, "The settings are no JSON object, so the defaults hold."
    return values, ""
