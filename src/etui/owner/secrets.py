"""Secrets that the owner gave to plugins: in the system's keyring where there is one, else in a sealed file.

Each belongs to one plugin; nothing that a plugin can read, no log and no answer of the console holds it. A list in the clear
says which the keyring keeps: `true` stands for each. Above: `grants` adds them to what a plugin gets, `host`. Below: `sealed`.
It refuses to know: what they are for.
"""

from __future__ import annotations

import importlib
import sys
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import tomlkit

from etui.errors import EtuiError, UsageError
from etui.owner.sealed import SUFFIX, HomeKey, Named, Sealed

HEADER = (
    "Secrets of Etui's plugins: which ones the system's keyring keeps. What it does not keep is sealed, in the file beside."
)
LONGEST = 8000
"""Characters of the longest secret."""
SHORTEST = 4
"""Characters from which on a secret is looked for in what is said: a shorter one would be found in every other word."""
Marks = frozenset[tuple[str, str]]
"""Plugin and name of what the keyring keeps."""
Stamps = tuple[tuple[int, int, int] | None, ...]


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

    def __init__(
        self,
        file: Path,
        ring: Callable[[], Ring | None],
        write: Callable[[Path, bytes], None],
        key: HomeKey | None = None,
    ) -> None:
        """`file` lists what the keyring keeps; what it does not keep lies beside it, sealed with `key`.

        `write` puts a file in place whole, readable by the owner alone, and raises EtuiError where it cannot.
        """
        self._file = file
        self._find_ring = ring
        self._write = write
        self._service = f"etui:{file.parent}"
        self._key = key or HomeKey(file.with_name("key"), "", write)
        self._sealed = Sealed(file.with_suffix(SUFFIX), self._key, write)
        self._lock = threading.RLock()
        self._kept: Mapping[str, Mapping[str, str]] | None = None
        self._marks: Marks = frozenset()
        self._listed: Marks | None = frozenset()
        """What the file lists; None where secrets lie in it, as they once did."""
        self._values: Named = {}
        """What is sealed; where a name is in the keyring too, this is the one that counts."""
        self._from_ring: dict[tuple[str, str], str] = {}
        self._failed: tuple[Stamps, str] | None = None
        self._number = 0
        self._hidden: dict[str, tuple[int, frozenset[str]]] = {}

    @property
    def number(self) -> int:
        """Goes up with each change, and when they are first read."""
        return self._number

    @property
    def sealed(self) -> Path:
        """The sealed file, whether or not there is one yet."""
        return self._sealed.file

    def read(self) -> None:
        """Read them all; a keyring may ask the person to be unlocked, so not from a loop. Raises EtuiError."""
        if self._kept is not None:
            return
        with self._lock:
            stamps = self._stamps()
            if self._failed is not None and self._failed[0] == stamps:
                raise EtuiError(self._failed[1])
            try:
                if stamps[:2] == (None, None):
                    self._took(frozenset(), {})
                else:
                    with self._key.alone():
                        self._take()
            except EtuiError as error:
                self._failed = self._stamps(), str(error)
                raise

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
        return (self._kept or {}).get(plugin, {})

    def mark(self, plugin: str) -> str:
        """Another one whenever one of its secrets came, changed or went; empty where it has none."""
        held = self.of(plugin)
        return f"{self._number}:{','.join(sorted(held))}" if held else ""

    def hidden(self, plugin: str) -> frozenset[str]:
        """The values of the plugin's secrets, so that they can be kept out of what it says."""
        number, known = self._number, self._hidden.get(plugin)
        if known is None or known[0] != number:
            values = frozenset(value for value in self.of(plugin).values() if len(value) >= SHORTEST)
            known = self._hidden[plugin] = number, values
        return known[1]

    def give(self, plugin: str, name: str, value: str) -> None:
        """Keep a secret. Raises UsageError for what cannot be one, EtuiError where it cannot be kept."""
        value = value.strip()
        if not value or not value.isprintable() or len(value) > LONGEST:
            raise UsageError(f"{name} must be one line of text, with at most {LONGEST:,} characters.")
        with self._changing() as values:
            if self._into_ring(plugin, name, value):
                self._put(self._marks | {(plugin, name)}, _less(values, plugin, name))
            else:
                self._put(self._marks - {(plugin, name)}, _more(values, plugin, name, value))

    def forget(self, plugin: str) -> None:
        """Forget every secret of a plugin. Raises EtuiError where that cannot be done."""
        with self._changing() as values:
            gone = [mark for mark in self._marks if mark[0] == plugin]
            if not gone and plugin not in values:
                return
            self._put(self._marks.difference(gone), {other: held for other, held in values.items() if other != plugin})
            for mark in gone:
                self._out_of_ring(*mark)

    def drop(self, plugin: str, name: str) -> None:
        """Forget one secret. Raises EtuiError where that cannot be done."""
        with self._changing() as values:
            marked = (plugin, name) in self._marks
            if not marked and name not in values.get(plugin, {}):
                return
            self._put(self._marks - {(plugin, name)}, _less(values, plugin, name))
            if marked:
                self._out_of_ring(plugin, name)

    @contextmanager
    def _changing(self) -> Iterator[Named]:
        """What is sealed, as it is now, while nobody else changes anything."""
        with self._lock, self._key.alone():
            self._take()
            yield self._values

    def _put(self, marks: Marks, values: Named) -> None:
        """Keep these. At each moment in between, every secret is in one place at least."""
        self._list(self._marks | marks)
        self._sealed.write(values)
        self._list(marks)
        self._took(marks, values)

    def _took(self, marks: Marks, values: Named) -> None:
        """These are the ones now."""
        kept: Named = {plugin: dict(held) for plugin, held in values.items()}
        for plugin, name in sorted(marks):
            found = self._asked(plugin, name)
            if found:
                kept.setdefault(plugin, {}).setdefault(name, found)
        before = self._kept
        self._marks, self._values, self._kept, self._failed = marks, values, kept, None
        if kept != before:
            self._number += 1  # Last: who has seen the new number finds what belongs to it.

    def _take(self) -> None:
        """Read what there is now. What lies in the clear goes into the keyring, or is sealed, and only then out of the file."""
        marks, clear = self._read_list()
        values = self._sealed.read()
        for plugin, held in clear.items():
            for name, value in held.items():
                if self._into_ring(plugin, name, value):
                    marks, values = marks | {(plugin, name)}, _less(values, plugin, name)
                else:
                    marks, values = marks - {(plugin, name)}, _more(values, plugin, name, value)
        if clear:
            self._sealed.write(values)
            self._list(marks)
        self._took(marks, values)

    def _read_list(self) -> tuple[Marks, Named]:
        """What the keyring keeps, and what lies in the clear. Raises EtuiError."""
        try:
            document = tomllib.loads(self._file.read_bytes().decode()) if self._file.exists() else {}
        except (OSError, ValueError) as error:
            raise EtuiError(
                f"The secrets in {str(self._file)!r} cannot be read, so none is handed out and nothing is written over: mend "
                f"the file, or move it away ({error})."
            ) from None
        tables = {plugin: held for plugin, held in document.items() if isinstance(held, dict)}
        marks = frozenset((plugin, name) for plugin, held in tables.items() for name, value in held.items() if value is True)
        clear = {
            plugin: texts
            for plugin, held in tables.items()
            if (texts := {name: value for name, value in held.items() if isinstance(value, str)})
        }
        self._listed = None if clear else marks
        return marks, clear

    def _list(self, marks: Marks) -> None:
        """Write down what the keyring keeps; without anything there is no file. Raises EtuiError."""
        if marks == self._listed:
            return
        if not marks:
            try:
                self._file.unlink(missing_ok=True)
            except OSError as error:
                raise EtuiError(f"{str(self._file)!r} cannot be removed: {error.strerror}.") from None
        else:
            document = tomlkit.document()
            document.add(tomlkit.comment(HEADER))
            for plugin in sorted({plugin for plugin, _ in marks}):
                document[plugin] = {name: True for other, name in sorted(marks) if other == plugin}
            self._write(self._file, tomlkit.dumps(document).encode())
        self._listed = marks

    def _stamps(self) -> Stamps:
        """Something that changes with the files that secrets are read from."""
        return tuple(_stamp(file) for file in (self._file, self._sealed.file, self._key.file))

    def _asked(self, plugin: str, name: str) -> str | None:
        """What the keyring keeps under this name; None where it gives nothing now."""
        known = self._from_ring.get((plugin, name))
        if known is not None:
            return known
        ring = self._find_ring()
        try:
            found = ring.get_password(self._service, f"{plugin}/{name}") if ring is not None else None
        except Exception:  # Every keyring has errors of its own; a secret that cannot be had is one that is not there.
            return None
        if found is not None:
            self._from_ring[plugin, name] = found
        return found

    def _into_ring(self, plugin: str, name: str, value: str) -> bool:
        ring = self._find_ring()
        if ring is None:
            return False
        try:
            ring.set_password(self._service, f"{plugin}/{name}", value)
            kept = ring.get_password(self._service, f"{plugin}/{name}") == value
        except Exception:  # As above; then it is sealed.
            return False
        if kept:
            self._from_ring[plugin, name] = value
        return kept

    def _out_of_ring(self, plugin: str, name: str) -> None:
        self._from_ring.pop((plugin, name), None)
        ring = self._find_ring()
        try:
            if ring is not None:
                ring.delete_password(self._service, f"{plugin}/{name}")
        except Exception:  # It was not there, or the keyring is locked; nothing asks for it any more.
            return


def place(secrets: Iterable[Secrets], ring: Ring | None, key: HomeKey) -> str:
    """Where secrets lie, in words for the owner."""
    files = [str(one.sealed) for one in secrets if one.sealed.exists()]
    sealed = f"sealed in {', '.join(files)}, {key.told()}" if files else ""
    if ring is not None:
        return "the system's keyring" + (f"; what it does not keep, {sealed}" if sealed else "")
    return sealed or f"no secrets yet; they will be sealed in {key.file.parent}, {key.told()}"


def _less(values: Named, plugin: str, name: str) -> Named:
    """The values without this one."""
    rest = {other: value for other, value in values.get(plugin, {}).items() if other != name}
    others = {other: held for other, held in values.items() if other != plugin}
    return {**others, plugin: rest} if rest else others


def _more(values: Named, plugin: str, name: str, value: str) -> Named:
    """The values with this one."""
    return {**values, plugin: {**values.get(plugin, {}), name: value}}


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size
