"""What the owner decided about tools: which are switched off, which sentences they are meant by, who took which name first.

Each is kept in the store and held in memory, since every turn looks at it.
Above: `host`. Below: `store`. It refuses to know: what follows from a decision.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from etui.errors import UsageError
from etui.registry import Snapshot
from etui.store.values import Values
from etui.tool import Tool

ALIAS = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What the owner can call a tool."""
MOST_TAUGHT = 50
"""Sentences that one tool can be taught."""
LONGEST = 300
"""Characters of the longest sentence."""


class Switches:
    """Tools and toolsets that are switched off."""

    def __init__(self, values: Values) -> None:
        self._values = values
        # A switch that cannot be read any more is off: nobody knows that it was to be on.
        kept = values.all("switch")
        self._said_off = frozenset(name for name, on in kept.items() if on is not True)
        self._said_on = frozenset(kept) - self._said_off
        self._resting: frozenset[str] = frozenset()
        self._off = self._said_off
        self._over: tuple[frozenset[str], Snapshot, frozenset[str]] = (self._off, Snapshot(), self._off)

    @property
    def off(self) -> frozenset[str]:
        """Their names; the same set until something is switched."""
        return self._off

    def over(self, snapshot: Snapshot) -> frozenset[str]:
        """The same, with every tool of a plugin that is off as a whole, whichever toolset it names."""
        if self._over[0] is not self._off or self._over[1] is not snapshot:
            whole = {plugin.name for plugin in snapshot.plugins.values() if plugin.family and plugin.family in self._off}
            inside = {tool.name for tool in snapshot.tools.values() if tool.plugin in whole and tool.toolset not in self._off}
            self._over = (self._off, snapshot, self._off | inside if inside else self._off)
        return self._over[2]

    def switch(self, name: str, on: bool) -> None:
        """Switch a tool or a toolset on or off, from the next call on."""
        if not on:
            self._values.put("switch", name, False)
        elif name in self._resting:
            self._values.put("switch", name, True)
        else:
            self._values.delete("switch", name)
        self._said_off = self._said_off - {name} if on else self._said_off | {name}
        self._said_on = self._said_on | {name} if on and name in self._resting else self._said_on - {name}
        self._settle()

    def said(self, name: str) -> bool | None:
        """What was said of it, on or off; None where nothing was, so that it is as it is by itself."""
        return False if name in self._said_off else True if name in self._said_on else None

    def withdraw(self, name: str) -> None:
        """That it is to be on was said of something else; what was said to be off stays off."""
        if name in self._said_on:
            self._values.delete("switch", name)
            self._said_on = self._said_on - {name}
            self._settle()

    def rest(self, names: frozenset[str]) -> None:
        """These are off until they are switched on."""
        self._resting = names
        self._settle()

    def _settle(self) -> None:
        off = self._said_off | (self._resting - self._said_on)
        if off != self._off:
            self._off = off


class Taught:
    """Sentences that a person taught."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._sentences = {
            name: tuple(str(one) for one in kept) for name, kept in values.all("taught").items() if isinstance(kept, list)
        }

    def of(self, tool: str) -> tuple[str, ...]:
        """The sentences of one tool, in the order in which they were taught."""
        return self._sentences.get(tool, ())

    def teach(self, tool: Tool, sentence: str) -> None:
        """Add a sentence. Raises UsageError for one that could never fill the tool's arguments."""
        sentence = " ".join(sentence.split())
        if not sentence or not re.search(r"\w", re.sub(r"\{\w*\}", "", sentence)):
            raise UsageError("A sentence needs a word of its own, such as 'wake me at {time}'.")
        if len(sentence) > LONGEST:
            raise UsageError(f"The sentence has {len(sentence)} characters; {LONGEST} are the most.")
        properties = tool.parameters.get("properties")
        known = set(properties) if isinstance(properties, Mapping) else set()
        unknown = [slot for slot in re.findall(r"\{([^}]*)\}", sentence) if slot not in known]
        if unknown:
            has = f"its arguments are {', '.join(sorted(known))}" if known else "it has no arguments"
            raise UsageError(f"{tool.name} has no argument {unknown[0]!r}: {has}.")
        if sentence in self.of(tool.name):
            return
        if len(self.of(tool.name)) >= MOST_TAUGHT:
            raise UsageError(f"{tool.name} already has {MOST_TAUGHT} taught sentences; forget one first.")
        self._keep(tool.name, (*self.of(tool.name), sentence))

    def forget(self, tool: str, sentence: str) -> None:
        """Take a sentence back. Raises UsageError if it was not taught."""
        if sentence not in self.of(tool):
            raise UsageError(f"{tool} was never taught {sentence!r}.")
        self._keep(tool, tuple(one for one in self.of(tool) if one != sentence))

    def _keep(self, tool: str, sentences: tuple[str, ...]) -> None:
        self._sentences[tool] = sentences
        self._values.put("taught", tool, list(sentences))


class Aliases:
    """The names that tools have here, where the owner gave them others than their files do."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._kept = {
            plugin: {str(tool): str(name) for tool, name in kept.items()}
            for plugin, kept in values.all("alias").items()
            if isinstance(kept, dict)
        }

    def of(self, plugin: str) -> Mapping[str, str]:
        """By what a plugin's files call its tools, their names here."""
        return self._kept.get(plugin, {})

    def give(self, plugin: str, tool: str, name: str) -> None:
        """Let a tool have this name here; its own again with an empty one. Raises UsageError for what cannot be a name."""
        if name and not ALIAS.fullmatch(name):
            raise UsageError(f"{name[:80]!r} cannot be the name of a tool: letters, digits, `_` and `-`, at most 64 of them.")
        names = {**self.of(plugin), tool: name}
        if not name:
            del names[tool]
        self._kept[plugin] = names
        self._values.put("alias", plugin, names)


class Owners:
    """Which plugin took which name first, over restarts."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def read(self) -> dict[str, str]:
        """Name of a tool, without case, to its plugin."""
        kept = self._values.get("meta", "owners")
        return {str(name): str(plugin) for name, plugin in kept.items()} if isinstance(kept, dict) else {}

    def write(self, owners: Mapping[str, str]) -> None:
        """Keep it."""
        self._values.put("meta", "owners", dict(owners))
