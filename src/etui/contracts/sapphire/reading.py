"""One plugin being read: its listed files run, the tools in each, and one reason for each file that is none.

Above: the contract. Below: `folders`, `exports`, `faults`, `wanting`. It refuses to know: how a tool is called.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from etui.contracts import Files
from etui.contracts.faults import fault
from etui.contracts.importing import Package
from etui.contracts.sapphire import folders, made, passing, product, settings
from etui.contracts.sapphire.exports import Exports
from etui.contracts.sapphire.wanting import Wanting
from etui.tool import Grant, Problem, Tool

log = logging.getLogger("sapphire")


class Reading:
    """Runs a plugin's files and collects what they offer."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.modules: list[Exports] = []
        """What was run, in the order of the manifest."""
        self.exports: dict[str, Exports] = {}
        """By tool, the file that answers for it."""
        self.tools: list[Tool] = []
        self.problems: list[Problem] = []
        self.settings: list[dict[str, object]] = []
        """What a loose module lets its owner set."""
        self.wishes = Grant()
        self._wanting = Wanting(files)
        self._folder = Path(files.path) if Path(files.path).is_dir() else Path(files.path).parent
        self._package = Package("sapphire_faults", str(self._folder), files.files)
        """Only to say in whose file something went wrong."""

    def read(self) -> None:
        """Run every listed file and collect the tools."""
        self.wishes = self._wanting.whole()
        if self.files.root and self.wishes.write:
            passing.offer()
        for path in self._listed():
            module = self._load(path)
            if module is not None:
                self._offer(Exports(module, path, self.files, self._wanting))

    def refreshed(self) -> list[dict[str, Any]]:
        """Name, description and parameters of the tools of each file that has `get_tools`, as it gives them now."""
        found: list[dict[str, Any]] = []
        for exports in self.modules:
            try:
                found += [one for one in exports.fresh() if self.exports.get(one["name"]) is exports]
            except BaseException as error:  # a file's own function may raise anything; what was said before stands
                log.warning("get_tools() of %s raised: %r", exports.path, error)
        return found

    def shut_down(self) -> None:
        """Let each file that has `shutdown` clear up, the last one first; what goes wrong is logged and stops nothing."""
        for exports in reversed(self.modules):
            end = getattr(exports.module, "shutdown", None)
            try:
                if callable(end):
                    end()
            except BaseException as error:  # a file's own function may raise anything
                log.warning("shutdown() of %s raised: %r", exports.path, error)

    def register(self, module: ModuleType) -> list[Tool]:
        """Offer what a module lists that the plugin made itself; names that it has already are left out."""
        exports = Exports(module, self.files.path, self.files, self._wanting)
        offered = [msgspec.structs.replace(tool, spare=True) for tool in exports.tools()]
        self.problems += exports.problems
        return self._add(exports, offered, module.__name__)

    def unregister(self, name: str) -> list[str]:
        """Take back what the module of that name listed; gives the tools' names."""
        gone = [tool for tool, exports in self.exports.items() if exports.module.__name__ == name and exports.registered]
        for tool in gone:
            self.drop(tool)
        return gone

    def drop(self, tool: str) -> None:
        """A tool is offered no more."""
        self.exports.pop(tool, None)
        self.tools = [one for one in self.tools if one.name != tool]

    def _listed(self) -> list[str]:
        """The files that the manifest lists, as far as they are there and the plugin's own; of a loose one, itself."""
        if not Path(self.files.path).is_dir():
            return [self.files.path]
        listed = self.files.manifest.get("tools")
        found: list[str] = []
        for one in listed if isinstance(listed, list) else ():
            path = Path(os.path.normpath(self._folder / str(one).replace("\\", "/")))
            if not path.resolve().is_relative_to(self._folder.resolve()):
                self._tell(str(one), f"{one!r} leads out of the plugin's folder, so it is not run.")
            elif not folders.there(path):
                self._tell(str(one), f"The manifest lists {one!r}, and there is no such file.")
            elif str(path) not in self.files.files:
                self._tell(str(one), f"{one!r} is not run: its name, or its folder's, is one that no file of a plugin has.")
            elif str(path) not in found:
                found.append(str(path))
        return found

    def _load(self, path: str) -> ModuleType | None:
        try:
            return folders.load(self.files, path)
        except BaseException as error:  # a file may raise anything, SystemExit too: it costs this file
            self.problems.append(fault(error, path, self._package, self.files, product.reason))
            return None

    def _offer(self, exports: Exports) -> None:
        tried = self.files.facts.get("made") is True
        if tried and (lack := made.complaint(exports.module)):
            self._tell(Path(exports.path).name, lack, refused=True)
            return
        if exports.loose or tried:
            brought = getattr(exports.module, "SETTINGS", None)
            settings.declare(brought)
            self.settings += settings.rows(brought, getattr(exports.module, "SETTINGS_HELP", None))
        self.modules.append(exports)
        offered = exports.tools()
        self.problems += exports.problems
        self._add(exports, offered, Path(exports.path).name)

    def _add(self, exports: Exports, offered: list[Tool], what: str) -> list[Tool]:
        """Those of them whose names the plugin does not have yet."""
        added = []
        for tool in offered:
            if tool.name in self.exports:
                first = Path(self.exports[tool.name].path).name
                self._tell(what, f"{first} has a tool {tool.name!r} already, so this one is not offered.")
                continue
            self.exports[tool.name] = exports
            self.tools.append(tool)
            added.append(tool)
        return added

    def _tell(self, what: str, reason: str, *, refused: bool = False) -> None:
        """Warn of something that is passed over; the rest loads."""
        self.problems.append(
            Problem(
                what=what,
                reason=reason,
                file=self.files.path,
                plugin=self.files.plugin,
                source=self.files.source,
                refused=refused,
            )
        )
