"""Where plugins are looked for: the shelf, the home's folders, the owner's sources, and the groups of entry points.

Above: `host` hands these to the catalogue and to `fresh`. Below: `sources`, the settings. It refuses to know: what lies there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from etui.plugins import roots
from etui.plugins.candidates import MANIFESTS, Place
from etui.plugins.fresh import CONTRACTS as FRESH
from etui.settings import Settings

ENTRY_POINTS = {"kotoba.tools": "kotoba"}
"""The groups of entry points that are sources by themselves, each with the contract of what it names."""
FLAT = frozenset({"kotoba"})
"""The contracts in which a plugin is the files directly in its folder."""


class Places:
    """The places of one host, as its settings name them now."""

    def __init__(
        self,
        root: Path,
        *,
        shelf: Path,
        tools: Path,
        plugins: Path,
        sapphire: Path,
        keryx: Path,
        settings: Callable[[], Settings],
        packages: Callable[[], tuple[Path, ...]],
    ) -> None:
        """`root` is what paths in the settings are relative to; `packages` says where the tools' environment keeps its own."""
        self._root = root
        self._shelf = shelf
        self._tools = tools
        self._plugins = plugins
        self._sapphire = sapphire
        self._keryx = keryx
        self._settings = settings
        self._packages = packages

    def live(self) -> list[Place]:
        """Those whose plugins the registry holds, followed while they change."""
        settings = self._settings()
        places = [Place(name="shelf", path=self._shelf, contract="etui")] if settings.shelf else []
        packages = self._packages()
        for name, path in (("tools", self._tools), ("plugins", self._plugins)):
            places.append(Place(name=name, path=path, create=True, root=self._sapphire, packages=packages))
        places += roots.of_home(self._sapphire, packages)
        groups: dict[str, Place] = {}
        for source in settings.sources:
            if source.path and source.contract not in FRESH:
                path = self._path(source.path)
                flat = source.contract in FLAT
                name = source.name or path.name
                if source.contract == MANIFESTS:
                    places += roots.of_checkout(path, name, packages)
                    continue
                places.append(Place(name=name, path=path, contract=source.contract, flat=flat, families=source.families))
            if source.entry_points:
                groups[source.entry_points] = self._group(source.entry_points, source.contract, source.name, source.families)
        for group, contract in ENTRY_POINTS.items():
            groups.setdefault(group, self._group(group, contract))
        return [*places, *groups.values()]

    def fresh(self) -> list[Place]:
        """The owner's sources that are read afresh for each session, and the home's own behind them."""
        places: dict[Path, Place] = {}
        for source in self._settings().sources:
            if source.path and source.contract in FRESH:
                path = self._path(source.path)
                places.setdefault(path, Place(name=source.name or source.contract, path=path, contract=source.contract))
        places.setdefault(self._keryx, Place(name="home", path=self._keryx, contract="keryx", create=True))
        return _apart(places.values())

    def _path(self, named: str) -> Path:
        return self._root / Path(named).expanduser()

    def _group(self, group: str, contract: str, name: str = "", families: bool = False) -> Place:
        contract = ENTRY_POINTS.get(group, contract) if contract == "auto" else contract
        return Place(name=name or group, contract=contract, group=group, packages=self._packages(), families=families)


def _apart(places: Iterable[Place]) -> list[Place]:
    """The same, of equal names each later one with a number."""
    found: dict[str, Place] = {}
    for place in places:
        names = itertools.chain([place.name], (f"{place.name}{number}" for number in itertools.count(2)))
        name = next(one for one in names if one not in found)
        found[name] = msgspec.structs.replace(place, name=name)
    return list(found.values())
