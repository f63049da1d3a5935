"""The folders that plugins with a manifest take for a whole installation: the home's own, and checkouts that the owner named.

Above: `places` looks into them. Below: `sources`, the file system. It refuses to know: what a plugin does in its root.
In the home's own root what a plugin may write, `user/`, holds no code: there `plugins` and `functions` are links out of it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from etui.plugins.candidates import MANIFESTS, Place
from etui.tool import Problem

MARKER = "sapphire.py"
"""The file by which scripts know the root, walking upward."""
USER = ("webui/plugins", "plugin_state", "toolsets", "tool_images")
LINKS = ("plugins", "functions")
"""Folders of code that older files look for in `user/`."""


def make(root: Path) -> tuple[Problem, ...]:
    """Make the home's own root, for the owner's eyes only; gives what of it is not as it has to be. Raises OSError.

    Plugins that an owner brought along in `user/` are moved to where code belongs, once: later, a plugin may have written them.
    """
    marker = root / MARKER
    first = not marker.exists()
    for name in ("docs", *LINKS, *(f"user/{one}" for one in USER)):
        (root / name).mkdir(parents=True, exist_ok=True, mode=0o700)
    if first:
        for name in LINKS:
            _bring(root / "user" / name, root / name)
        marker.write_text('"""The root of what Sapphire\'s plugins take for their installation; Etui runs them."""\n')
    for name in LINKS:
        link = root / "user" / name
        if not link.exists() and not link.is_symlink():
            link.symlink_to(Path("..") / name, target_is_directory=True)
    return tuple(_unread(root / "user" / name, root / name) for name in LINKS if not (root / "user" / name).is_symlink())


def _bring(folder: Path, home: Path) -> None:
    """Move what lies in a folder to its home, as far as nothing is there by the same name; an empty folder goes."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if not (home / entry.name).exists():
            entry.rename(home / entry.name)
    with contextlib.suppress(OSError):  # what is left in it is told
        folder.rmdir()


def _unread(folder: Path, home: Path) -> Problem:
    return Problem(
        what=f"user/{folder.name}",
        reason=f"Code in {str(folder)!r} is not read, since plugins can write there.",
        hint=f"Move what you want of it to {str(home)!r}, remove the folder, and start Etui again.",
        file=str(folder),
        source="sapphire",
        refused=any(folder.iterdir()) if folder.is_dir() else False,
    )


def of_home(root: Path, packages: tuple[Path, ...]) -> list[Place]:
    """The places of the home's own root."""
    return [
        Place(
            name="sapphire",
            path=root / folder,
            contract=MANIFESTS,
            root=root,
            holds=holds,
            packages=packages,
            create=True,
        )
        for folder, holds in (("plugins", "manifests"), ("functions", "modules"))
    ]


def of_checkout(root: Path, name: str, packages: tuple[Path, ...]) -> list[Place]:
    """The places of a whole checkout: what it ships, by its newer and its older layout, and what is the user's."""
    folders = (
        ("core/plugins", "manifests", True),
        ("plugins", "manifests", True),
        ("user/plugins", "manifests", False),
        ("functions", "modules", True),
        ("user/functions", "modules", False),
    )
    return [
        Place(name=name, path=root / folder, contract=MANIFESTS, root=root, holds=holds, packages=packages, shipped=shipped)
        for folder, holds, shipped in folders
    ]
