"""The saved toolsets: a file that the owner may also edit, `user/toolsets/toolsets.json`, read anew whenever it has changed.

It holds an object by name, each with `emoji` and `functions`. A plugin that may write its root can write there too, so it is
read as something foreign: of its own kind, of a size that a person can have made, and wrong in one place without harm to the
rest. Above: `selection`. Below: the file. It refuses to know: which tools there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from etui.errors import UsageError
from etui.plugins import strict

MOST = 1_000_000
"""Bytes of the file."""
LONGEST = 64
"""Characters of a toolset's name."""
TOOLS = 1000
"""Tools that one of them names."""
RESERVED = frozenset({"all", "none", "custom"})


class Toolset(msgspec.Struct, frozen=True, kw_only=True):
    """One of them."""

    name: str
    emoji: str = ""
    functions: tuple[str, ...] = ()


Stamp = tuple[tuple[int, int, int], ...]
"""Of each file, when it was last changed, how large it is, and which one it is."""


class Saved:
    """The toolsets in these files; what the first file says of a name holds, and only there is written."""

    def __init__(self, files: Callable[[], list[Path]], write: Callable[[Path, bytes], None]) -> None:
        """`write` puts a file in place whole."""
        self._files = files
        self._write = write
        self._read_at: tuple[object, ...] | None = None
        self._toolsets: Mapping[str, Toolset] = {}
        self._sets: Mapping[str, tuple[str, ...]] = {}
        self._trouble = ""

    def stamp(self) -> Stamp:
        """Another one whenever a file has changed."""
        return tuple(_stamp(file) for file in self._files())

    def all(self) -> Mapping[str, Toolset]:
        """By name."""
        self._look()
        return self._toolsets

    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """The tools of each, by its name."""
        self._look()
        return self._sets

    def trouble(self) -> str:
        """Why a file cannot be read; empty where they all can."""
        self._look()
        return self._trouble

    def save(self, name: str, functions: list[str], emoji: str = "") -> Toolset:
        """Save one, over one of the same name. Raises UsageError for what cannot be, EtuiError for the disk's sake."""
        name = name.strip()
        if not name or len(name) > LONGEST or not name.isprintable() or re.search(r"[,:]", name):
            raise UsageError(f"{name!r} is no name for a toolset: at most {LONGEST} characters, and no comma or colon.")
        if name.casefold() in RESERVED:
            raise UsageError(f"{name!r} already means something else; choose another name.")
        if len(functions) > TOOLS:
            raise UsageError(f"A toolset has at most {TOOLS} tools.")
        kept = self._own()
        before = kept.get(name)
        entry = {**(before if isinstance(before, dict) else {}), "emoji": emoji[:16], "functions": list(functions)}
        self._keep({**kept, name: entry})
        return Toolset(name=name, emoji=emoji[:16], functions=tuple(functions))

    def remove(self, name: str) -> bool:
        """Forget one; False if there is none of that name, or it is a checkout's own."""
        kept = self._own()
        if name not in kept:
            return False
        self._keep({other: entry for other, entry in kept.items() if other != name})
        return True

    def _keep(self, entries: Mapping[str, object]) -> None:
        file = self._files()[0]
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{str(file.parent)!r} cannot be made: {error.strerror}.") from None
        self._write(file, msgspec.json.format(msgspec.json.encode(entries), indent=2))
        self._read_at = None

    def _own(self) -> dict[str, object]:
        """What the first file holds, unread parts included. Raises UsageError where it would be lost by writing."""
        entries, why = _entries(self._files()[0])
        if why:
            raise UsageError(why)
        return entries

    def _look(self) -> None:
        now = (self.stamp(), self._files())
        if now == self._read_at:
            return
        found: dict[str, Toolset] = {}
        troubles = []
        for file in self._files():
            entries, why = _entries(file)
            troubles += [why] if why else []
            for name, entry in entries.items():
                if (one := _toolset(name, entry)) is not None:
                    found.setdefault(name, one)
        self._toolsets = found
        self._sets = {name: one.functions for name, one in found.items()}
        self._trouble = " ".join(troubles)
        self._read_at = now


def _toolset(name: str, entry: object) -> Toolset | None:
    functions, emoji = (entry.get("functions"), entry.get("emoji")) if isinstance(entry, dict) else (entry, "")
    if not isinstance(functions, list) or name.casefold() in RESERVED:
        return None
    names = tuple(dict.fromkeys(one for one in functions[:TOOLS] if isinstance(one, str)))
    return Toolset(name=name[:LONGEST], emoji=emoji[:16] if isinstance(emoji, str) else "", functions=names)


def _entries(file: Path) -> tuple[dict[str, object], str]:
    """What the file holds, and why it cannot be read; a file that is not there holds nothing."""
    try:
        raw = strict.content_of(file.parent.parent, (file.parent.name, file.name), MOST)
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, f"The toolsets in {str(file)!r} cannot be read: {error.strerror or error}."
    try:
        entries = msgspec.json.decode(raw) if raw.strip() else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}, f"The toolsets in {str(file)!r} are no JSON, so none is read."
    if not isinstance(entries, dict):
        return {}, f"The toolsets in {str(file)!r} must be an object by name, so none is read."
    return entries, ""


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        found = file.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
