"""The tool maker: tool files that an assistant writes, checked, tried in a worker that may do nothing, and put to the plugins.

Each is a plugin of its own in the home's root, with a manifest that names the tool maker as its author: by that it may touch
nothing until its owner allows it. Above: `services.making`, which asks the person first. Below: the catalogue, the workers, the
chats' choices, handed in. It refuses to know: whether a person approved it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from etui.contracts import Description, Files
from etui.contracts.validating import validate_code
from etui.errors import UsageError
from etui.plugins.candidates import MANIFESTS, Candidate
from etui.plugins.catalogue import Catalogue
from etui.plugins.installation import Installation
from etui.plugins.load import MADE, made_here
from etui.registry import Snapshot
from etui.selection import EXTRA, Selections
from etui.selection.words import listed
from etui.store.chatchoices import ChatChoices
from etui.tool import Grant, Plugin

NAME = re.compile(r"[a-z0-9_]{1,48}")
_RESERVED = """
agents ai bitcoin calendar claude_code clock coding_harness comfyui commandline config core discord docs email etui
functions gallery github goals google_calendar homeassistant image_gen images knowledge mcp_client memory meta
mindpalace mynotes network notepad notes plugins plugin_loader sapphire sapphire_store schedule_tool setup ssh status
system telegram test tests toolmaker tools twilio user web webcam webui
"""
RESERVED = frozenset(_RESERVED.split())
"""Names that mean something else already, here or in the installations that plugins come from."""


class Draft(msgspec.Struct, frozen=True):
    """Code that passed what can be told without running it."""

    name: str
    code: str
    level: str

    @property
    def shown(self) -> str:
        """What the person sees: where it goes, and every character of it."""
        return f"# {file_of(self.name)}, checked as {self.level}\n{self.code}"


class Making:
    """Saves, reads and loads them, in one host."""

    def __init__(
        self,
        root: Path,
        catalogue: Catalogue,
        installation: Installation,
        selections: Selections,
        choices: ChatChoices,
        *,
        level: Callable[[], str],
        snapshot: Callable[[], Snapshot],
        off: Callable[[], frozenset[str]],
        describe: Callable[[Files, Grant], Awaitable[Description]],
        disown: Callable[[str], object],
    ) -> None:
        """`root` is what the plugins take for the installation; `level` says how strictly code is checked.

        `disown` takes back all that the owner ever gave a plugin of that name: they gave it to other code.
        """
        self._root = root
        self._catalogue = catalogue
        self._installation = installation
        self._selections = selections
        self._choices = choices
        self._level = level
        self._snapshot = snapshot
        self._off = off
        self._describe = describe
        self._disown = disown
        self._lock = asyncio.Lock()

    def draft(self, name: str, code: str) -> Draft:
        """Look the code through; nothing of it is run. Raises UsageError with what is wrong."""
        clean = name.strip().lower().removesuffix(".py").replace("-", "_")
        if not NAME.fullmatch(clean) or clean in RESERVED or self._taken(clean):
            raise UsageError(f"FAILED: Invalid or reserved name {name[:80]!r}. Use a new one of a-z, 0-9 and _.")
        code = code.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads it, so that every line is seen as one
        level = self._level()
        passed, why = validate_code(code, level)
        if not passed:
            raise UsageError(f"FAILED: Validation failed ({level} mode): {why}")
        return Draft(clean, code, level)

    async def keep(self, draft: Draft, chat: str) -> str:
        """Try it, save it, load it, and let this chat use it. Raises UsageError with what is wrong; nothing is left then."""
        async with self._lock:
            if self._taken(draft.name):  # since the person was asked
                raise UsageError(f"FAILED: The name '{draft.name}' is taken meanwhile. Use a new one.")
            stage = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="making-", dir=self._root))
            try:
                found = await self._tried(draft, stage)
                tools = [tool.name for tool in found.tools]
                await asyncio.to_thread(_write_manifest, draft.name, stage / draft.name, found)
                await self._placed(draft.name, stage, tools)
            finally:
                await asyncio.to_thread(shutil.rmtree, stage, ignore_errors=True)
        return f"Plugin '{draft.name}' saved and validated. {self._usable([draft.name], chat)}"

    async def read(self, name: str) -> str:
        """The code of one; without a name, the list. Raises UsageError where there is none."""
        made = self._made()
        if not name.strip():
            lines = [f"{one}: {', '.join(tool.name for tool in self._tools(one)) or 'not loaded'}" for one in sorted(made)]
            return "\n".join(lines) or "No tool was written yet."
        clean = name.strip().lower().removesuffix(".py").replace("-", "_")
        if clean not in made:
            raise UsageError(f"FAILED: There is no plugin '{clean}' that was written with tool_save.")
        return await asyncio.to_thread((made[clean].path / "tools" / f"{clean}.py").read_text, "utf-8", "replace")

    async def load(self, chat: str) -> str:
        """Look at the folders anew, and let this chat use what is there."""
        await self._catalogue.refresh()
        made = sorted(self._made())
        return self._usable(made, chat) if made else "No tool was written yet."

    def _made(self) -> dict[str, Candidate]:
        """By name, those that an assistant wrote."""
        found = (self._installation.candidate(name) for name in self._installation.names())
        return {
            str(one.manifest["name"]): one
            for one in found
            if one is not None and one.root == str(self._root) and made_here(one.manifest)
        }

    def _taken(self, name: str) -> bool:
        """Whether something else is called so; what an assistant wrote may be written anew."""
        if name in self._made():
            return False
        return name in self._snapshot().plugins or os.path.lexists(self._root / "plugins" / name)

    def _plugin(self, name: str) -> Plugin | None:
        candidate = self._made().get(name)
        return self._snapshot().plugins.get(candidate.name) if candidate is not None else None

    def _tools(self, name: str) -> list[Any]:
        plugin = self._plugin(name)
        return [tool for tool in self._snapshot().tools.values() if plugin is not None and tool.plugin == plugin.name]

    async def _tried(self, draft: Draft, stage: Path) -> Description:
        """What it offers when it is run in a worker that may do nothing. Raises UsageError."""
        folder = stage / draft.name
        file = folder / "tools" / f"{draft.name}.py"
        await asyncio.to_thread(_write, file, draft.code)
        files = Files(
            plugin=draft.name,
            source=MANIFESTS,
            contract=MANIFESTS,
            path=str(folder),
            files=(str(file),),
            work=str(self._root),
            root=str(self._root),
            manifest={"name": draft.name, "author": MADE, "tools": [f"tools/{draft.name}.py"]},
            facts={"config": self._installation.config(), "folders": {}, "made": True},
        )
        found = await self._describe(files, Grant())
        wrong = [f"{problem.reason} {problem.hint}".strip() for problem in found.problems if problem.refused]
        if wrong or not found.tools:
            raise UsageError(f"FAILED: {wrong[0] if wrong else 'It offers no tool; ENABLED must be True'}")
        for tool in found.tools:
            other = self._snapshot().tools.get(tool.name)
            if other is not None and other.plugin != (getattr(self._plugin(draft.name), "name", "")):
                raise UsageError(
                    f"FAILED: The plugin '{other.plugin}' has a tool '{tool.name}' already. Give yours another name."
                )
        return found

    async def _placed(self, name: str, stage: Path, tools: list[str]) -> None:
        """Put it among the plugins and load it; what was there before comes back where it cannot be. Raises UsageError."""
        place, before = self._root / "plugins" / name, stage / f"{name}.before"
        known = self._made().get(name)
        await asyncio.to_thread(self._disown, known.name if known is not None else name)
        await asyncio.to_thread(_swap, stage / name, place, before)
        await self._catalogue.refresh()
        plugin = self._plugin(name)
        if plugin is not None and (plugin.family in self._off() or {one.name for one in self._tools(name)} >= {*tools}):
            return
        wrong = [problem.reason for problem in plugin.problems if problem.refused] if plugin is not None else []
        await asyncio.to_thread(_swap, before, place, stage / f"{name}.failed")
        await self._catalogue.refresh()
        raise UsageError(f"FAILED: It could not be loaded: {wrong[0] if wrong else 'its tools are not offered'}")

    def _usable(self, names: Iterable[str], chat: str) -> str:
        """Let the chat use their tools; which can be called now, and why others cannot."""
        off = self._off()
        ready, idle = [], []
        for name in names:
            tools, plugin = self._tools(name), self._plugin(name)
            if plugin is None or plugin.family in off or not tools:
                idle.append(
                    f"'{name}' is switched off" if plugin is not None and plugin.family in off else f"'{name}' did not load"
                )
            ready += [tool.name for tool in tools if tool.toolset not in off and tool.name not in off]
        if chat:
            chosen = self._selections.chosen(chat)
            left_out = [name for name in ready if not chosen.lets(self._snapshot().tools[name])]
            if left_out:
                kept = listed(self._selections.choices(chat).get(EXTRA))
                self._choices.put(chat, EXTRA, [*kept, *left_out])
        told = f"These can be called now: {', '.join(ready)}." if ready else "None of its tools can be called now."
        return " ".join([told, *(f"{one}." for one in idle)])


def file_of(name: str) -> str:
    """Where it goes, below the root, as the person reads it."""
    return f"user/plugins/{name}/tools/{name}.py"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _write_manifest(name: str, folder: Path, found: Description) -> None:
    first = found.tools[0]
    sentence = re.split(r"(?<=[.!?])\s|\n", first.description.strip(), maxsplit=1)[0]
    said = {
        "name": name,
        "version": "1.0.0",
        "description": f"{name.replace('_', ' ').title()} — {sentence}",
        "author": MADE,
        "default_enabled": True,
        "icon": first.icon,
        "capabilities": {"tools": [f"tools/{name}.py"], "settings": list(found.settings)},
    }
    _write(folder / "plugin.json", json.dumps(said, indent=2, ensure_ascii=False))


def _swap(new: Path, place: Path, before: Path) -> None:
    """Put a folder in a place; what was there goes aside. Of a new one that is not there, only the place is cleared."""
    if place.exists():
        place.rename(before)
    if new.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        new.rename(place)
