"""Folders and files of the person's own that they open to a plugin, beside its working folder.

Above: `grants`. Below: the standard library. It refuses to know: how the kernel holds a plugin to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from etui.errors import UsageError

LONGEST = 4096
"""Characters of the longest path."""


def opened(path: str, *, write: bool, home: Path, code: Iterable[Path]) -> str:
    """The real path of what is named, if a plugin may be let in there. Raises UsageError with why it may not.

    `home` is Etui's own folder, into which none is let; where tool files and Python lie, `code`, none may write.
    """
    if "\0" in path or len(path) > LONGEST:
        raise UsageError(f"A path has at most {LONGEST:,} characters, and no NUL among them.")
    try:
        wanted = Path(path).expanduser()
        if not wanted.is_absolute():
            raise UsageError(f"{path!r} is no whole path: one begins with / or ~.")
        real = wanted.resolve(strict=True)
    except (OSError, RuntimeError):
        raise UsageError(f"There is no folder or file {path!r}.") from None
    if _meet(real, home):
        raise UsageError(f"{str(real)!r} is part of Etui's own folder, or holds it; no plugin is let in there.")
    for place in code if write else ():
        if _meet(real, place):
            raise UsageError(f"In {str(real)!r} lies what Etui runs ({str(place)!r}); no plugin may write that.")
    return str(real)


def real_path(path: str) -> str:
    """Where a path leads now, whether or not anything is there."""
    try:
        return str(Path(path).expanduser().resolve())
    except (OSError, RuntimeError):
        return path


def _meet(one: Path, other: Path) -> bool:
    """Whether one of them lies in the other, under whichever name: a bind mount or other letters lead there, too."""
    other = Path(real_path(str(other)))
    return _within(one, other) or _within(other, one)


def _within(one: Path, other: Path) -> bool:
    places = (one, *one.parents)
    return other in places or any(_same(place, other) for place in places)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
