"""A whole checkout of Sapphire, tried: a copy of its code on a host of its own, all switched on, and a report on each file.

`python -m tests.sapphire.checkout PATH` prints the report; the tests ask for the checkout that `ETUI_SAPPHIRE_CHECKOUT` names.
The copy leaves out what belongs to its user: settings, state, chats. Nothing of it is called.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from tests.spine.homes import host_at

from etui.host import Host
from etui.plugins.manifests import NAME, ManifestError, read
from etui.plugins.roots import MARKER
from etui.tool import Problem

VARIABLE = "ETUI_SAPPHIRE_CHECKOUT"
PLUGINS = ("user/plugins", "core/plugins", "plugins")
"""Where plugins lie, the owner's own before the shipped ones."""
MODULES = ("user/functions", "functions")
COPIED = (*PLUGINS, *MODULES, "docs")


class File(msgspec.Struct, frozen=True):
    """One tool file, and what became of it."""

    path: str
    """Below the checkout."""
    state: str
    """`loaded`, `refused`, or `passed over` where the owner's copy of its plugin runs instead."""
    tools: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """What became of a whole checkout."""

    checkout: str
    files: tuple[File, ...]
    others: tuple[str, ...] = ()
    """What the owner reads besides, of plugins and not of one file."""

    def of(self, state: str) -> list[str]:
        """The files in this state."""
        return [file.path for file in self.files if file.state == state]

    @property
    def tools(self) -> list[str]:
        """Every tool that is offered."""
        return sorted(name for file in self.files for name in file.tools)

    def __str__(self) -> str:
        counts = ", ".join(f"{len(self.of(state))} {state}" for state in ("loaded", "refused", "passed over"))
        lines = [f"{self.checkout}: {len(self.files)} files, {counts}, {len(self.tools)} tools"]
        for file in self.files:
            lines.append(f"{file.state:<12} {file.path}: {', '.join(file.tools) or 'no tools'}")
            lines += [f"{'':<12}   {reason}" for reason in file.reasons]
        return "\n".join([*lines, *self.others])


async def tried(checkout: Path, into: Path) -> Report:
    """What becomes of a copy of this checkout, made in the folder `into`."""
    root = into / "checkout"
    for name in COPIED:
        if (checkout / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", ".git")
            shutil.copytree(checkout / name, root / name, ignore=ignored, symlinks=True)
    (root / MARKER).touch()
    listed = _listed(root)
    switches = root / "user" / "webui" / "plugins.json"
    switches.parent.mkdir(parents=True, exist_ok=True)
    switches.write_text(json.dumps({"enabled": sorted({plugin for _, plugin, _ in listed if plugin})}))
    source = {"path": str(root), "contract": "sapphire"}
    async with host_at(into / "home", sources=[source], limit=None) as host:
        return _report(checkout, root, listed, host)


Listed = list[tuple[Path, str, bool]]
"""Tool files with the names of their plugins, empty for a loose module, and whether the owner's copy runs instead."""


def _listed(root: Path) -> Listed:
    found: Listed = []
    owned: set[str] = set()
    for place in PLUGINS:
        names = set()
        for manifest in sorted((root / place).glob(f"*/{NAME}")):
            try:
                said = read(manifest.read_bytes()).said
            except ManifestError:
                found.append((manifest, "", False))
                continue
            names.add(said["name"])
            found += [(manifest.parent / str(one), said["name"], said["name"] in owned) for one in said["tools"]]
        owned |= names
    stems: set[str] = set()
    for place in MODULES:
        files = [file for file in sorted((root / place).glob("*.py")) if not file.name.startswith("_")]
        found += [(file, "", file.stem in stems) for file in files]
        stems |= {file.stem for file in files}
    return found


def _report(checkout: Path, root: Path, listed: Listed, host: Host) -> Report:
    problems = [one for one in host.problems.all() if not one.quiet]
    offered: dict[str, list[str]] = {}
    for tool in host.tools.all():
        offered.setdefault(tool.file, []).append(tool.name)
    paths = {str(path) for path, _, _ in listed}
    files = []
    for path, plugin, second in listed:
        about = [] if second else list(_about(path, plugin, problems, paths))
        tools = tuple(sorted(offered.get(str(path), ())))
        refused = not tools and any(one.refused for one in about)
        state = "passed over" if second and not tools else "refused" if refused else "loaded"
        reasons = tuple(f"line {one.line}: {one.reason} {one.hint}".rstrip() for one in about)
        files.append(File(path.relative_to(root).as_posix(), state, tools, reasons))
    others = tuple(f"{one.what}: {one.reason}" for one in problems if one.file not in paths and not one.refused)
    return Report(str(checkout), tuple(files), others)


def _about(path: Path, plugin: str, problems: list[Problem], paths: set[str]) -> Iterator[Problem]:
    """What is wrong with a file, or with the plugin that it is of as a whole."""
    for one in problems:
        if one.file == str(path) or (plugin and one.refused and one.plugin == plugin and one.file not in paths):
            yield one


def main(checkout: str) -> None:
    """Print the report."""
    with tempfile.TemporaryDirectory() as folder:
        print(asyncio.run(tried(Path(checkout), Path(folder))))


if __name__ == "__main__":
    main(*sys.argv[1:])
