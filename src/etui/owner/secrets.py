"""Secrets that the owner gave to plugins: in the system's keyring where there is one, else in a file for their eyes only.

Each belongs to one plugin and is handed to its worker as a variable of its environment; nothing that a plugin can read, no log
and no answer of the console holds it. Above: `grants` adds them to what a plugin gets, `host`. Below: the nouns. It refuses to
know: what they are for. The file lists every one by its plugin; `true` stands for one that the keyring keeps.
"""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import tomlkit

from etui.errors import EtuiError, UsageError

HEADER = "Secrets of Etui's plugins, for your eyes only. `true` stands for one that the system's keyring keeps."
LONGEST = 8000
"""Characters of the longest secret."""


Kept = dict[str, dict[str, str | None]]
"""By plugin and name; None for one that the keyring keeps and does not give now."""


class Ring(Protocol):
    """The system's keyring, as the package `keyring` offers it."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


def system_ring(environ: Mapping[str, str]) -> Ring | None:
    """The keyring of the person who is logged in; None where there is none, or none that keeps anything."""
    reachable = "DBUS_SESSION_BUS_ADDRESS" in environ if sys.platform.startswith("linux") else "HOME" in environ
    if not reachable:
        return None
    try:
        # Lazily: it looks for every keyring there is, and most hosts never keep a secret.
        ring: Any = importlib.import_module("keyring").get_keyring()
    except Exception:  # Whatever keeps it from coming up, the file is there.
        return None
    return ring if getattr(ring, "priority", 0) >= 1 else None


class Secrets:
    """What was given, by plugin and name of the variable. Read once, when it is first needed; values are held in memory."""

    def __init__(self, file: Path, ring: Callable[[], Ring | None], write: Callable[[Path, bytes], None]) -> None:
        """`write` puts a file in place whole, readable by the owner alone, and raises EtuiError where it cannot."""
        self._file = file
        self._find_ring = ring
        self._write = write
        self._service = f"etui:{file.parent}"
        self._kept: Kept | None = None
        self._in_ring: set[tuple[str, str]] = set()
        self._number = 0

    def read(self) -> None:
        """Read them all; a keyring may ask the person to be unlocked, so not from a loop. Raises EtuiError."""
        if self._kept is None:
            self._kept = self._read()

    def trouble(self) -> str:
        """Why none can be handed out; empty where they can."""
        try:
            self.read()
        except EtuiError as error:
            return str(error)
        return ""

    def of(self, plugin: str) -> Mapping[str, str]:
        """The plugin's secrets by the names of their variables; none of those that cannot be read."""
        if self.trouble():
            return {}
        return {name: value for name, value in (self._kept or {}).get(plugin, {}).items() if value}

    def mark(self, plugin: str) -> str:
        """Another one whenever one of its secrets came, changed or went; empty where it has none."""
        held = self.of(plugin)
        return f"{self._number}:{','.join(sorted(held))}" if held else ""

    def give(self, plugin: str, name: str, value: str) -> None:
        """Keep a secret. Raises UsageError for what cannot be one, EtuiError where it cannot be kept."""
        value = value.strip()
        if not value or not value.isprintable() or len(value) > LONGEST:
            raise UsageError(f"{name} must be one line of text, with at most {LONGEST:,} characters.")
        self.read()
        assert self._kept is not None
        self._keep({**self._kept, plugin: {**self._kept.get(plugin, {}), name: value}}, (plugin, name))

    def forget(self, plugin: str) -> None:
        """Forget every secret of a plugin. Raises EtuiError where that cannot be done."""
        self.read()
        assert self._kept is not None
        if plugin not in self._kept:
            return
        names = self._kept[plugin]
        self._keep({other: held for other, held in self._kept.items() if other != plugin})
        for name in names:
            self._out_of_ring(plugin, name)

    def _keep(self, kept: Kept, new: tuple[str, str] | None = None) -> None:
        in_ring = {(plugin, name) for plugin, name in self._in_ring if name in kept.get(plugin, {})} - {new}
        if new is not None and self._into_ring(*new, kept[new[0]][new[1]] or ""):
            in_ring.add(new)
        document = tomlkit.document()
        document.add(tomlkit.comment(HEADER))
        for plugin, held in sorted(kept.items()):
            document[plugin] = {name: (plugin, name) in in_ring or value for name, value in sorted(held.items())}
        self._write(self._file, tomlkit.dumps(document).encode())
        self._kept, self._in_ring = kept, in_ring
        self._number += 1

    def _read(self) -> Kept:
        try:
            document = tomllib.loads(self._file.read_bytes().decode()) if self._file.exists() else {}
        except (OSError, ValueError) as error:
            raise EtuiError(f"The secrets in {str(self._file)!r} cannot be read, so none is handed out ({error}).") from None
        kept: Kept = {}
        for plugin, held in document.items():
            for name, value in held.items() if isinstance(held, dict) else ():
                if value is True:
                    self._in_ring.add((plugin, name))
                    kept.setdefault(plugin, {})[name] = self._from_ring(plugin, name)
                elif isinstance(value, str):
                    kept.setdefault(plugin, {})[name] = value
        return kept

    def _from_ring(self, plugin: str, name: str) -> str | None:
        ring = self._find_ring()
        try:
            return ring.get_password(self._service, f"{plugin}/{name}") if ring is not None else None
        except Exception:  # Every keyring has errors of its own; a secret that cannot be had is one that is not there.
            return None

    def _into_ring(self, plugin: str, name: str, value: str) -> bool:
        ring = self._find_ring()
        if ring is None:
            return False
        try:
            ring.set_password(self._service, f"{plugin}/{name}", value)
            return ring.get_password(self._service, f"{plugin}/{name}") == value
        except Exception:  # As above; then the file keeps it.
            return False

    def _out_of_ring(self, plugin: str, name: str) -> None:
        ring = self._find_ring()
        try:
            if ring is not None:
                ring.delete_password(self._service, f"{plugin}/{name}")
        except Exception:  # It was not there, or the keyring is locked; nothing asks for it any more.
            return
