"""A whole folder loaded in this process, as a tool file or its author's own test may do: `keryx.tools.custom` has it.

The host itself does not come this way: it judges and reads the files, and each runs in a worker of its own.
Above: `names`. Below: `contracts.owned`, `reading`, `calling`. It refuses to know: sessions.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from etui.contracts.keryx import calling, reading
from etui.contracts.keryx.builtin import BUILTIN_TOOL_NAMES
from etui.contracts.keryx.custom import CustomTool
from etui.contracts.keryx.registry import ToolRegistry
from etui.contracts.keryx.settings import Settings
from etui.contracts.owned import OwnFile, own_folder

log = logging.getLogger("keryx.tools.custom")


@dataclass(frozen=True)
class Loaded:
    """What a folder holds."""

    tools: list[tuple[Path, CustomTool]]
    errors: list[tuple[Path, str]]
    """What was refused, and why; of a folder that is not trusted, the folder."""


def load_custom_tools(directory: Path, taken: Iterable[str] = (), *, settings: Settings | None = None) -> Loaded:
    """The tools of a folder, each with its file; `taken` are names that they may not have. Raises nothing."""
    loaded = Loaded([], [])
    folder = own_folder(Path(directory))
    if folder.refused:
        loaded.errors.append((folder.path, folder.refused))
    names = set(taken)
    for file in folder.files:
        _load(file, names, settings, loaded)
    return loaded


def _load(file: OwnFile, taken: set[str], settings: Settings | None, loaded: Loaded) -> None:
    if file.refused:
        loaded.errors.append((file.path, file.refused))
        return
    for found in reading.read(str(file.path), file.code, taken, settings):
        if isinstance(found, CustomTool):
            loaded.tools.append((file.path, found))
        else:
            loaded.errors.append((file.path, found.reason))


def register_custom_tools(registry: ToolRegistry, settings: Settings) -> None:
    """Put the tools of the settings' folder into a registry, behind those that it has, and log what was refused."""
    taken = {*BUILTIN_TOOL_NAMES, *registry.names()}
    loaded = load_custom_tools(settings.custom_tools_dir, taken, settings=settings)
    for path, reason in loaded.errors:
        log.warning("custom tool %s refused: %s", path.name, reason)
    for _, tool in loaded.tools:
        handler = calling.gated(tool, settings)
        registry.register(tool.name, tool.description, tool.parameters, handler, silent=tool.silent)
    if loaded.tools:
        log.info("custom tools: %s", ", ".join(tool.name for _, tool in loaded.tools))
