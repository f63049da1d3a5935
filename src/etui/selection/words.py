"""The words of a selection: `all`, `none`, a saved toolset, a module, a category, a tool's name; several by commas or a list.

Above: `selection`. Below: the nouns. It refuses to know: which chat asks, and where toolsets are saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath

from etui.tool import Plugin, Tool

ALL, NONE = "all", "none"
PLUGIN = "plugin:"


def category_of(tool: Tool) -> str:
    """The word that groups a tool with others: what its file says, else its family or plugin."""
    return tool.category or tool.toolset.removeprefix(PLUGIN) or tool.plugin


def module_of(tool: Tool, plugin: Plugin | None) -> str:
    """The module that a tool is of: a loose file's stem, in a plugin's folder `plugin_<plugin>_<stem>`, or what it says."""
    if tool.module:
        return tool.module
    stem = PurePath(tool.file).stem
    if plugin is None or plugin.path == tool.file:
        return stem
    return f"plugin_{plugin.manifest.get('name', plugin.name)}_{stem}"


class Words:
    """What words mean, among these tools."""

    def __init__(self, tools: Mapping[str, Tool], plugins: Mapping[str, Plugin], saved: Mapping[str, tuple[str, ...]]) -> None:
        self.tools = tools
        self.missing: set[str] = set()
        """Tools that were named and that there are not."""
        self._plugins = plugins
        self._saved = saved
        self._groups: dict[str, frozenset[str]] | None = None

    def meant(self, selection: object) -> tuple[frozenset[str], tuple[str, ...]]:
        """The names of the tools that are meant, and the words that mean nothing."""
        if isinstance(selection, str):
            words = split(selection)
            return self._together((self._word(word) for word in words), words)
        if isinstance(selection, list | tuple):
            items = [item for item in selection if isinstance(item, str)]
            return self._together((self._item(item) for item in items), items)
        return frozenset(), ()

    def groups(self) -> Mapping[str, frozenset[str]]:
        """Tools that are not hidden, by their module, their category, and the family that they are switched with."""
        if self._groups is None:
            found: dict[str, set[str]] = {}
            for name, tool in self.tools.items():
                if not tool.hidden:
                    for word in (module_of(tool, self._plugins.get(tool.plugin)), category_of(tool), tool.toolset):
                        found.setdefault(word, set()).add(name)
            self._groups = {word: frozenset(names) for word, names in found.items() if word}
        return self._groups

    def _together(self, found: Iterable[frozenset[str] | None], words: Iterable[str]) -> tuple[frozenset[str], tuple[str, ...]]:
        names: set[str] = set()
        unknown = []
        for word, meant in zip(words, found, strict=True):
            if meant is None:
                unknown.append(word)
            else:
                names |= meant
        return frozenset(names), tuple(unknown)

    def _word(self, word: str) -> frozenset[str] | None:
        if word == ALL:
            return frozenset(name for name, tool in self.tools.items() if not tool.hidden)
        if word == NONE:
            return frozenset()
        if word in self._saved:
            names = self._saved[word]
            self.missing |= {name for name in names if name not in self.tools}
            return frozenset(name for name in names if name in self.tools)
        return self.groups().get(word) or self._named(word)

    def _item(self, item: str) -> frozenset[str] | None:
        """One of a list: a tool's name before anything else."""
        if (named := self._named(item)) is not None:
            return named
        found = self._word(item.strip())
        if found is None:
            self.missing.add(item)
        return found

    def _named(self, name: str) -> frozenset[str] | None:
        tool = self.tools.get(name)
        if tool is None:
            return None
        return frozenset() if tool.hidden else frozenset((name,))


def split(selection: str) -> list[str]:
    """The words of a text."""
    return [word for part in selection.split(",") if (word := part.strip())]


def listed(selection: object) -> list[str]:
    """The same of a text or a list; none of anything else."""
    if isinstance(selection, str):
        return split(selection)
    return [one for one in selection if isinstance(one, str)] if isinstance(selection, list) else []
