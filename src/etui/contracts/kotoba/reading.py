"""One plugin being read: its files imported, one tool in each, and one reason for each file that is none.

Above: the contract. Below: `spec`, `families`, `importing`, `faults`, `wishes`. It refuses to know: how a tool is called.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from etui.contracts import Files
from etui.contracts.etui.grants import grant_for
from etui.contracts.faults import fault, trace
from etui.contracts.importing import Flat
from etui.contracts.kotoba import families, product
from etui.contracts.kotoba.recognising import gives_schema
from etui.contracts.kotoba.spec import Spec, Unfit, is_tool
from etui.contracts.media import clean, repr_of
from etui.contracts.wishes import parsed, wishes
from etui.tool import Grant, Problem, Risk, Tool

WANTS: Mapping[str, re.Pattern[str]] = {
    "texts": re.compile(r"\buser_texts\b"),
    "voices": re.compile(r"\bsoul_patterns\b"),
    "families": re.compile(
        r"\b(registry|dispatchable|all_toolsets|disabled_toolsets|function_tool_names|schemas_for|TOOL_SCHEMAS)\b"
    ),
    "withheld": re.compile(r"\bexcluded_tools\b"),
    "servers": re.compile(r"\bmcp\b"),
}
"""What a plugin wants to be told with each call, by the words in its source that use it."""
_SANDBOX = frozenset({"ensure_sandbox", "create_sandbox", "sandbox_available_sync"})
_KEEPS = frozenset(
    {"kotoba.core.user_memory", "kotoba.core.attachments", "kotoba.core.visual_memory", "kotoba.core.file_library"}
)
"""Names whose use writes into the working folder."""


class Reading:
    """Imports a plugin and collects what it offers."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.specs: dict[str, Spec] = {}
        """What can be called, by the name that the module has for it."""
        self.tools: list[Tool] = []
        self.problems: list[Problem] = []
        self.wishes = Grant()
        self._folder = Path(files.path) if Path(files.path).is_dir() else Path(files.path).parent
        paths = files.files or (files.path,)
        name = f"kotoba_plugin_{files.plugin.replace('.', '_')}"
        self._package = Flat(name, str(self._folder), paths, apart=[path for path in paths if _is_tool(path)])
        self._nodes = {path: parsed(path) for path in sorted(paths)}
        self._wants = _wants(paths)

    def read(self) -> None:
        """Import every file, or what the entry point names, and collect the tools."""
        families.open_for(self.files.plugin)
        for nodes in self._nodes.values():
            self.wishes |= _wishes(nodes, self.files.work)
        if self.files.entry:
            self._read_entry()
            return
        self._package.open()
        for path in self._nodes:
            if self._is_offered(path):
                module = self._load(path)
                if module is not None:
                    self._offer(module, Path(path).stem, path)

    def _is_offered(self, path: str) -> bool:
        """Whether a file may be a tool: others, and those in subfolders, lie there to be imported by one."""
        file, whole = Path(path), Path(self.files.path)
        return not file.name.startswith("_") and (file == whole or (file.parent == whole == self._folder))

    def _load(self, path: str) -> ModuleType | None:
        try:
            return self._package.load(path)
        except BaseException as error:  # a file may raise anything, SystemExit too: it costs this file
            self.problems.append(fault(error, path, self._package, self.files, product.reason))
            return None

    def _read_entry(self) -> None:
        """What an entry point names is imported as any other program would import it."""
        name, _, attribute = self.files.entry.partition(":")
        path = self.files.path
        try:
            target: Any = importlib.import_module(name)
            path = str(getattr(target, "__file__", "") or path)
            for part in filter(None, attribute.split(".")):
                target = getattr(target, part)
        except BaseException as error:  # as for a file
            self.problems.append(fault(error, path, self._package, self.files, product.reason))
            return
        self._offer(target, self.files.plugin, path)

    def _offer(self, target: Any, fallback: str, path: str) -> None:
        try:
            if not is_tool(target):
                self._say(Path(path).name, "It has no SCHEMA dict, so it is no tool.", path, refused=False, quiet=True)
                return
            spec = Spec(target, fallback, self.files)
            tool = spec.tool(file=path, line=self._line(path, "SCHEMA", "execute"), wants=self._wants)
        except Unfit as error:
            self._say(Path(path).name, str(error), path, error.attribute, hint=error.hint)
            return
        except Exception as error:  # foreign objects in attributes may raise anything: it costs this tool
            self._say(Path(path).name, f"It cannot be described: {repr_of(error)}.", path, trace=trace(error))
            return
        if tool.name in (known := {tool.name: tool for tool in self.tools}):
            first = Path(known[tool.name].file).name
            reason = f"The name {tool.name!r} is taken by {first} of the same plugin; {Path(path).name} is not offered."
            self._say(Path(path).name, reason, path, hint="Give one of them another name in its SCHEMA.")
            return
        for attribute, warning in spec.warnings:
            self._say(tool.name, warning, path, attribute, refused=False)
        self.specs[spec.name] = spec
        self.tools.append(tool)
        families.add(
            families.ToolSpec(
                name=tool.name,
                module=target,
                schema={**spec.schema, "name": tool.name},
                toolset=tool.toolset,
                risk=tool.risk.value,
                built_in=spec.provided,
                check=spec.check if callable(spec.check) else lambda: True,
                expressions=dict(spec.expressions) or None,
            )
        )

    def _line(self, path: str, *attributes: str) -> int:
        """Where in the file one of these is set first; 1 where none is."""
        for attribute in attributes:
            for node in self._nodes.get(path, ()):
                if attribute in _sets(node):
                    return int(getattr(node, "lineno", 1))
        return 1

    def _say(
        self,
        what: str,
        reason: str,
        path: str,
        *attributes: str,
        hint: str = "",
        refused: bool = True,
        quiet: bool = False,
        trace: str = "",
    ) -> None:
        self.problems.append(
            Problem(
                what=what,
                reason=clean(reason),
                hint=hint,
                file=path,
                line=self._line(path, *attributes) if attributes else 0,
                plugin=self.files.plugin,
                source=self.files.source,
                refused=refused,
                quiet=quiet,
                trace=trace,
            )
        )


def _sets(node: ast.AST) -> Sequence[str]:
    """The names that a statement sets."""
    match node:
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
    return ()


def _is_tool(path: str) -> bool:
    """Whether a file looks like a tool rather than like something that tools import."""
    try:
        return gives_schema(Path(path).read_bytes().decode("utf-8", "replace"))
    except OSError:
        return False


def _wants(paths: Sequence[str]) -> tuple[str, ...]:
    texts = [Path(path).read_bytes().decode("utf-8", "replace") for path in paths if Path(path).is_file()]
    return tuple(name for name, pattern in WANTS.items() if any(pattern.search(text) for text in texts))


def _wishes(nodes: Sequence[ast.AST], work: str) -> Grant:
    """What one file declares and visibly asks for."""
    found = wishes(nodes, work) | grant_for(_risks(nodes), work)
    if any(_uses_sandbox(node) for node in nodes):
        found |= grant_for([Risk.WRITE], work) | Grant(subprocess=True)
    if any(_imports(node) & _KEEPS for node in nodes):
        found |= grant_for([Risk.WRITE], work)
    return found


def _risks(nodes: Sequence[ast.AST]) -> list[str]:
    return [
        node.value.value
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and "RISK" in _sets(node)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]


def _uses_sandbox(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in _SANDBOX) or (isinstance(node, ast.Name) and node.id in _SANDBOX)


def _imports(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module:
        return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return set()
