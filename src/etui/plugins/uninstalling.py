"""Taking a plugin with a manifest off the disk: its folder, and those of its leavings that it names and may name.

Above: the front of installed plugins, which has let it clear up before. Below: the file system. It refuses to know: what runs.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from etui.contracts.naming import spelled
from etui.errors import EtuiError, UsageError
from etui.plugins.candidates import Candidate

FEW = 5
"""Names that are told of files that stay."""


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a plugin's files."""

    removed: tuple[str, ...]
    """Paths that are gone."""
    kept: tuple[str, ...] = ()
    """Why something that its manifest names was left where it is, and what else of its own stays, a sentence each."""


def check(candidate: Candidate) -> None:
    """Raises UsageError where it came with an installation that is not Etui's."""
    if candidate.place.shipped or not candidate.manifest:
        raise UsageError(f"{candidate.name} came with the installation in {candidate.root!r}; remove it there.")


def uninstall(candidate: Candidate) -> Removed:
    """Remove it, once `check` had nothing to say. Raises EtuiError where it cannot be done."""
    removed = [str(candidate.path)]
    try:
        _remove(candidate.path)
        found, kept = leavings(candidate)
        for path in found:
            _remove(path)
            removed.append(str(path))
    except OSError as error:
        raise EtuiError(f"{error.filename or str(candidate.path)!r} cannot be removed: {error.strerror or error}.") from None
    return Removed(removed=tuple(removed), kept=(*kept, *_staying(candidate)))


def leavings(candidate: Candidate) -> tuple[list[Path], tuple[str, ...]]:
    """What its manifest's `cleanup_paths` name, as far as it is there; and why the rest of them is no business of its own."""
    user = Path(candidate.root) / "user"
    found: list[Path] = []
    kept: list[str] = []
    for named in candidate.manifest.get("cleanup_paths", []):
        if not _own(named, str(candidate.manifest["name"])):
            kept.append(f"Its manifest names {named!r} to be cleaned up, which is not its own, so it was left.")
            continue
        for path in _matching(user, named):
            if not _own(str(path.relative_to(user)), str(candidate.manifest["name"])):
                continue  # another plugin's, whose name begins alike
            if path.parent.resolve().is_relative_to(user.resolve()):
                found.append(path)
            else:
                kept.append(f"{str(path)!r} leads out of {str(user)!r}, so it was left.")
    return found, tuple(kept)


def _staying(candidate: Candidate) -> Iterable[str]:
    """What of its own is still among the state of plugins, in one sentence; nothing where there is nothing."""
    folder, name = Path(candidate.root) / "user" / "plugin_state", str(candidate.manifest["name"])
    try:
        left = sorted(spelled(path.name) for path in folder.iterdir() if _own(f"plugin_state/{path.name}", name))
    except OSError:
        return
    if left:
        more = f" and {len(left) - FEW} more" if len(left) > FEW else ""
        what = "This of its own stays" if len(left) == 1 else f"{len(left)} things of its own stay"
        yield f"{what} in {str(folder)!r}: {', '.join(left[:FEW])}{more}."


def _own(named: str, name: str) -> bool:
    """Whether a path below `user/` can only be the plugin's own."""
    parts = PurePosixPath(named).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in named:
        return False
    own = re.compile(re.escape(name) + r"(?![A-Za-z0-9-])")
    head, rest = parts[0], parts[1:]
    if head == "webui" and rest[:1] == ("plugins",):
        rest = rest[1:]
    elif head not in ("plugin_state", "plugins"):
        return False
    return len(rest) > 0 and (own.match(rest[0]) is not None if head != "plugins" else rest[0] == name)


def _matching(user: Path, named: str) -> Iterable[Path]:
    """The paths that are meant: a star stands for the rest of a name."""
    return (
        sorted(user.glob(named)) if "*" in named else [path for path in (user / named,) if path.exists() or path.is_symlink()]
    )


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
