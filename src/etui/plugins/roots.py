"""The folders that plugins with a manifest take for a whole installation: the home's own, and checkouts that the owner named.

Above: `places` looks into them. Below: `sources`, the file system. It refuses to know: what a plugin does in its root.
In the home's own root what a plugin may write, `user/`, holds no code: there `plugins` and `functions` are links out of it.
"""

from __future__ import annotations

from pathlib import Path

from etui.plugins.candidates import MANIFESTS, Place

MARKER = "sapphire.py"
"""The file by which scripts know the root, walking upward."""
USER = ("webui/plugins", "plugin_state", "toolsets", "tool_images")
LINKS = ("plugins", "functions")
"""Folders of code that older files look for in `user/`."""


def make(root: Path) -> None:
    """Make the home's own root, for the owner's eyes only. Raises OSError."""
    for name in ("docs", *LINKS, *(f"user/{one}" for one in USER)):
        (root / name).mkdir(parents=True, exist_ok=True, mode=0o700)
    marker = root / MARKER
    if not marker.exists():
        marker.write_text('"""The root of what Sapphire\'s plugins take for their installation; Etui runs them."""\n')
    for name in LINKS:
        link = root / "user" / name
        if not link.exists() and not link.is_symlink():
            link.symlink_to(Path("..") / name, target_is_directory=True)


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
