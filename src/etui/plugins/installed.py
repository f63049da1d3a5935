"""What the packages of a Python environment offer by entry points, read as text: nothing of them is imported or run.

Above: `sources` makes candidates of it. Below: the standard library. It refuses to know: tools, contracts, the host.
"""

from __future__ import annotations

import json
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import PathDistribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

TARGET = re.compile(r"\s*(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*(?::\s*(?P<object>[\w.]+)\s*)?(?:\[.*\])?\s*")
"""What an entry point names: a module, an object in it, and extras, which nobody needs."""
METADATA = (".dist-info", ".egg-info")


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One entry point."""

    name: str
    target: str
    """`package.module` or `package.module:object`."""
    distribution: str
    """The package that it came with."""
    proofs: tuple[Path, ...]
    """What says that it is installed: its files change with every other version."""
    path: Path
    """The module's file; where it cannot be found without running code, the folder of the metadata."""
    top: Path
    """The package that it lies in, or the module alone."""


class Odd(msgspec.Struct, frozen=True):
    """Metadata that cannot be used."""

    file: Path
    reason: str
    """One sentence."""


def packages_of(python: str) -> tuple[Path, ...]:
    """Where the packages of the Python with this executable lie, in the order in which it looks."""
    if python == sys.executable:
        paths = sysconfig.get_paths()
        sites = [Path(paths["purelib"]), Path(paths["platlib"])]
    else:
        prefix = Path(python).parent.parent
        sites = [*_sites(prefix), *_borrowed(prefix / "pyvenv.cfg")]
    found: dict[Path, Path] = {}
    for site in sites:
        for folder in (site, *_added(site)):
            if folder.is_dir():
                found.setdefault(folder.resolve(), folder)
    return tuple(found.values())


def lacking(wanted: Iterable[str], packages: tuple[Path, ...]) -> tuple[str, ...]:
    """Which of these requirements, such as `feedparser>=6`, name a package that is in none of these folders.

    One that is for some machines only is not looked for.
    """
    wanted = tuple(one for one in wanted if ";" not in one)
    if not wanted:
        return ()
    there = {_plain(metadata.name.split("-")[0]) for folder in packages for metadata in _metadata(folder)}
    named = ((one, re.match(r"[A-Za-z0-9._-]+", one.strip())) for one in wanted)
    return tuple(one for one, match in named if match is None or _plain(match[0]) not in there)


def _plain(name: str) -> str:
    """A package's name as all of its spellings are one."""
    return re.sub(r"[-_.]+", "-", name.removesuffix(".egg")).lower()


def offers(packages: tuple[Path, ...], group: str) -> Iterator[Offer | Odd]:
    """The entry points of a group, by the folders' order and then by name; of a package that is there twice, the first's."""
    seen: set[str] = set()
    for folder in packages:
        found: list[Offer] = []
        for metadata in _metadata(folder):
            name = re.sub(r"[-_.]+", "-", metadata.name.removesuffix(metadata.suffix).split("-")[0]).lower()
            if name in seen:
                continue
            seen.add(name)
            for one in _named(metadata, group, name, packages):
                if isinstance(one, Odd):
                    yield one
                else:
                    found.append(one)
        yield from sorted(found, key=lambda one: (one.name, one.distribution))


def _sites(prefix: Path) -> list[Path]:
    found = [path for lib in ("lib", "lib64", "local/lib") for path in (prefix / lib).glob("python3*/*-packages")]
    return sorted(path for path in found if path.name in ("site-packages", "dist-packages"))


def _borrowed(config: Path) -> list[Path]:
    """What an environment takes from the Python that it was made with, if it says so."""
    try:
        rows = [line.partition("=") for line in config.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return []
    values = {key.strip().lower(): value.strip() for key, _, value in rows}
    if values.get("include-system-site-packages", "").lower() != "true" or not values.get("home"):
        return []
    return _sites(Path(values["home"]).parent)


def _added(site: Path) -> Iterator[Path]:
    """The folders that its `.pth` files name; lines that are code are not run."""
    for file in sorted(site.glob("*.pth")):
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                yield site / line.strip()


def _metadata(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in METADATA)
    except OSError:
        return []


def _named(metadata: Path, group: str, distribution: str, packages: tuple[Path, ...]) -> Iterator[Offer | Odd]:
    said = metadata / "entry_points.txt"
    try:
        if group.encode() not in said.read_bytes():
            return
        entries = list(PathDistribution(metadata).entry_points.select(group=group))
    except FileNotFoundError:
        return
    except (OSError, ValueError, TypeError, AttributeError) as error:
        yield Odd(said, f"The entry points of {distribution!r} cannot be read: {error}.")
        return
    proofs = tuple(path for path in (said, metadata / "RECORD") if path.is_file())
    for entry in entries:
        target = TARGET.fullmatch(entry.value)
        if target is None or not entry.name.strip():
            yield Odd(said, f"The entry point {entry.name!r} of {distribution!r} names no module: {entry.value!r}.")
            continue
        module = target["module"]
        path, top = _module(module, [*packages, *_editable(metadata)]) or (metadata, metadata)
        wanted = f"{module}:{target['object']}" if target["object"] else module
        yield Offer(name=entry.name.strip(), target=wanted, distribution=distribution, proofs=proofs, path=path, top=top)


def _module(name: str, folders: list[Path]) -> tuple[Path, Path] | None:
    """The file of a module, and the package or module that it lies in."""
    parts = name.split(".")
    for folder in folders:
        base = folder.joinpath(*parts)
        for file in (base / "__init__.py", base.with_name(f"{parts[-1]}.py")):
            if file.is_file():
                return file, folder / parts[0] if len(parts) > 1 or file.name == "__init__.py" else file
    return None


def _editable(metadata: Path) -> list[Path]:
    """Where the sources of a package lie that was installed to be edited."""
    try:
        told = json.loads((metadata / "direct_url.json").read_bytes())
        if not told["dir_info"]["editable"]:
            return []
        root = Path(unquote(urlsplit(told["url"]).path))
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [root, root / "src"]
