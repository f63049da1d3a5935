"""What the files of a plugin visibly ask for, read from their source: what any file does, and what Sapphire's names do for it.

To write means the working folder, of which the host lets a part be written. Above: `reading`, `exports`. Below: `wishes`,
`folders`. It refuses to know: who gives a grant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from etui.contracts import Files
from etui.contracts.sapphire import folders
from etui.contracts.wishes import parsed, parsed_text, wishes
from etui.tool import Grant, Risk

NETWORK = frozenset({"core.net", "core.socks_proxy"})
"""The names that fetch something."""
USES = {
    "core.images": (frozenset({"resolve"}), frozenset({"stash", "gallery"})),
    "core.plugin_loader": (frozenset[str](), frozenset({"get_plugin_state"})),
}
"""Of other names, the attributes that use the network, and those that write."""


class Wanting:
    """What each file of a plugin asks for, by itself and with the plugin's own files that it imports."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._work = files.work
        self._nodes: dict[str, Sequence[ast.AST]] = {}
        self._own: dict[str, Grant] = {}

    def whole(self) -> Grant:
        """What all of its files ask for together."""
        return self._together(self._files.files)

    def of(self, path: str) -> Grant:
        """What one file asks for, with those that it imports."""
        return self._together((path,))

    def _together(self, paths: Sequence[str]) -> Grant:
        asked, seen, waiting = Grant(), set(paths), list(paths)
        while waiting:
            file = waiting.pop()
            asked |= self._alone(file)
            for other in self._imports(file):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return asked

    def line_of(self, path: str, name: str) -> int:
        """The line on which a file says this text for the first time; the first line where it says it nowhere."""
        lines = (node.lineno for node in self.nodes(path) if isinstance(node, ast.Constant) and node.value == name)
        return min(lines, default=1)

    def nodes(self, path: str) -> Sequence[ast.AST]:
        """Every node of a file."""
        if path not in self._nodes:
            given = self._files.code.get(path)
            self._nodes[path] = parsed(path) if given is None else parsed_text(given, path)
        return self._nodes[path]

    def _alone(self, path: str) -> Grant:
        if path not in self._own:
            nodes = self.nodes(path)
            self._own[path] = wishes(nodes, self._work) | self._by_names(nodes)
        return self._own[path]

    def _by_names(self, nodes: Sequence[ast.AST]) -> Grant:
        named = set(_named(nodes))
        used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        used |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        network, writes = not named.isdisjoint(NETWORK), False
        for module, (fetching, writing) in USES.items():
            if module in named:
                network |= not used.isdisjoint(fetching)
                writes |= not used.isdisjoint(writing)
        return Grant(network=network, write=(self._work,) if writes and self._work else ())

    def _imports(self, path: str) -> Iterator[str]:
        """The plugin's own files, and loose modules, that a file imports, by their whole names or from where it lies itself."""
        own = Path(self._files.path)
        tops = {f"{folders.TOP}.{own.name}.": own, f"{folders.LOOSE}.": Path(self._files.root, folders.LOOSE)}
        named = [name.removeprefix(f"{folders.USER}.") for name in _named(self.nodes(path))]
        places = [
            top.joinpath(*name.removeprefix(prefix).split("."))
            for name in named
            for prefix, top in tops.items()
            if name.startswith(prefix)
        ]
        for place in (*places, *_beside(path, self.nodes(path))):
            meant = place.with_name(f"{place.name}.py"), place / "__init__.py"
            yield from (str(file) for file in meant if folders.there(file))


def _named(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Every module that is imported, and everything that is imported from one, with dots."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _beside(path: str, nodes: Sequence[ast.AST]) -> Iterator[Path]:
    """Where lies what a file imports by `from .name import other`, as far as that leads to a place below the root."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and 0 < node.level < len(Path(path).parents):
            place = Path(path).parents[node.level - 1].joinpath(*(node.module or "").split("."))
            yield from (place, *(place / alias.name for alias in node.names if alias.name != "*"))


def risk_of(asked: Grant, writes: object, marked: bool = False) -> Risk:
    """The risk of a tool whose file asks for this, and whose `writes` is this; `marked` says that another of its tools writes.

    An author's False takes back what reaching out or writing makes of it, but not what starting programs does. Where they mark
    those that write, what the source writes is put down to those.
    """
    if asked.subprocess:
        return Risk.EXEC
    if writes is False:
        return Risk.READ
    if asked.network:
        return Risk.NETWORK
    return Risk.WRITE if writes is True or (asked.write and not marked) else Risk.READ
