"""What `plugin_loader` says of plugins: their settings, what is known of them, and to be read anew.

During loading the host answers nothing; then settings are what stands in the file, over the defaults of the manifest. Above:
`names/core/plugin_loader`. Below: `current`, files. It refuses to know: how a plugin is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from etui.contracts.sapphire import current
from etui.errors import ServiceError


def settings(name: str) -> dict[str, Any]:
    """A plugin's settings: its manifest's defaults, and what its owner set over them."""
    try:
        return dict(cast("dict[str, Any]", current.ask("plugins.settings", name=str(name))))
    except ServiceError:
        return _read(str(name))


def info(name: str) -> dict[str, Any] | None:
    """Name, version and the like, whether it is enabled and loaded; None where there is none."""
    return cast("dict[str, Any] | None", current.ask("plugins.info", name=str(name)))


def rescan() -> dict[str, list[str]]:
    """Look at the folders now; `added` and `removed` are names of plugins."""
    return cast("dict[str, list[str]]", current.ask("plugins.rescan"))


def reload(name: str) -> bool:
    """Read a plugin anew, and run it afresh; whether it loaded."""
    return bool(current.ask("plugins.reload", name=str(name)))


class Plugins(Mapping[str, dict[str, Any]]):
    """Every plugin that there is, by its name; read as it is asked for."""

    def __getitem__(self, name: str) -> dict[str, Any]:
        found = info(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(cast("list[str]", current.ask("plugins.names")))

    def __len__(self) -> int:
        return len(cast("list[str]", current.ask("plugins.names")))


def _read(name: str) -> dict[str, Any]:
    files = current.files()
    rows = files.manifest.get("settings") if files.manifest.get("name") == name else None
    found = {row["key"]: row["default"] for row in rows if "default" in row} if isinstance(rows, list) else {}
    path = current.root() / "user" / "webui" / "plugins" / f"{name}.json"
    try:
        stored = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return found
    return {**found, **stored} if isinstance(stored, dict) else found
