"""What the files of plugins with a root are told: their settings, the owner's as `config`, and where their neighbours lie.

A plugin's settings are its manifest's defaults, what its file holds over them, and what is secret, which stands in no file
that a plugin can read, unless its code looks for the file by itself. Above: `catalogue`, `load`, the briefing of calls, the
owner's form. Below: `kept`. It refuses to know: how a secret is kept, and the settings of the house.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from etui.errors import EtuiError
from etui.plugins.candidates import Candidate
from etui.plugins.kept import Kept, defaults_of, path_of
from etui.tool import Plugin, Problem

PASSING = frozenset({"API_URL"})
"""What is another at each start and says nothing of what a plugin offers."""
BY_PATH = b"webui"
"""What code says that looks for a file of settings by itself."""
SECRET = "password"
SHORTEST = 4
"""Characters below which a value is no secret that could be told from other text."""


class Keeper(Protocol):
    """Who keeps what is secret, by plugin and name."""

    def of(self, plugin: str) -> Mapping[str, str]: ...

    def give(self, plugin: str, name: str, value: str) -> None: ...

    def drop(self, plugin: str, name: str) -> None: ...

    def forget(self, plugin: str) -> None: ...


class Installation:
    """The plugins with a root of one host, as they were last looked at."""

    def __init__(
        self,
        kept: Kept,
        keeper: Keeper,
        *,
        config: Callable[[], Mapping[str, object]],
        off: Callable[[], frozenset[str]],
        plugins: Callable[[], Iterable[Plugin]],
    ) -> None:
        """`keeper` keeps secret settings only; `config` gives the owner's settings by the names that such files know.

        `off` names the families that are off; `plugins` are those that the registry knows.
        """
        self._kept = kept
        self._keeper = keeper
        self._config = config
        self._off = off
        self._plugins = plugins
        self._candidates: dict[str, Candidate] = {}
        self.more: dict[str, object] = {}
        """What the house adds to `config` once it knows it, such as the address of its console."""

    def look(self, candidates: Iterable[Candidate]) -> None:
        """These are there now."""
        self._candidates = {candidate.name: candidate for candidate in candidates if candidate.root}

    def has(self, plugin: str) -> bool:
        """Whether the plugin of this name, in the house, has a root."""
        return plugin in self._candidates

    def names(self) -> tuple[str, ...]:
        """What the plugins with a root are called in the house."""
        return tuple(self._candidates)

    def called_in(self, root: str) -> list[str]:
        """What the plugins with a manifest in this root call themselves."""
        return sorted(called(one) for one in self._candidates.values() if one.root == root and one.manifest)

    def candidate(self, plugin: str) -> Candidate | None:
        """What lies there of the plugin of this name, if it has a root."""
        return self._candidates.get(plugin)

    def named(self, name: str, root: str) -> Candidate | None:
        """The plugin that calls itself so, in this root."""
        return next((one for one in self._candidates.values() if one.root == root and called(one) == name), None)

    def writes(self, plugin: str) -> str:
        """The one folder that it may write; empty for a plugin without a root."""
        candidate = self._candidates.get(plugin)
        return f"{candidate.root}/user" if candidate is not None else ""

    def told(self, candidate: Candidate) -> dict[str, object]:
        """What its files may know of the host when they are run: never a secret."""
        return {"config": self.config(), "folders": self.folders(candidate.root), "scopes": self.scopes()}

    def mark(self, candidate: Candidate) -> str:
        """Another one whenever what its files are told has changed, as far as it may change what they offer."""
        if not candidate.root:
            return ""
        told = [self.open(candidate), {name: value for name, value in self._config().items() if name not in PASSING}]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]

    def config(self) -> dict[str, object]:
        """The owner's settings as `config` has them: the house's, and those that loose modules brought along."""
        found: dict[str, object] = {**self._config(), **self.more}
        loose = {name: one for name, one in self._candidates.items() if not one.manifest}
        for plugin in self._plugins() if loose else ():
            if plugin.name in loose:
                found.update(defaults_of(rows_of(plugin)))
        for candidate in loose.values():
            found.update(self._kept.stored(candidate.root, called(candidate))[0])
        return found

    def settings(self, plugin: str) -> dict[str, Any]:
        """A plugin's settings as it gets them with a call; none of a loose module, whose are everybody's."""
        candidate = self._candidates.get(plugin)
        if candidate is None or not candidate.manifest:
            return {}
        return {**self.open(candidate), **self._keeper.of(plugin)}

    def shown(self, plugin: Plugin) -> dict[str, Any]:
        """The same for the owner's form, of a loose module too; of what is secret only the names that were given."""
        candidate = self._candidates[plugin.name]
        rows = rows_of(plugin)
        values = self._merged(candidate, rows)
        hidden = [row["key"] for row in rows if is_secret(row)]
        given = {key: key in self._keeper.of(plugin.name) or bool(values.get(key)) for key in hidden}
        return {
            "rows": rows,
            "values": {key: value for key, value in values.items() if key not in hidden},
            "secrets": given,
            "file": str(path_of(candidate.root, called(candidate))),
            "in_file": bool(hidden) and reads_by_path(candidate),
            "broken": self._kept.stored(candidate.root, called(candidate))[1],
        }

    def save(self, plugin: Plugin, values: Mapping[str, Any]) -> None:
        """Keep these over the settings that there are. Raises EtuiError with a sentence."""
        candidate = self._candidates[plugin.name]
        hidden = {row["key"] for row in rows_of(plugin) if is_secret(row)}
        if reads_by_path(candidate) or not candidate.manifest:
            hidden = set()
        # What an older installation left in the file goes where secrets are kept, before it is taken out of there.
        stored, known = self._kept.stored(candidate.root, called(candidate))[0], self._keeper.of(plugin.name)
        left = {key: stored[key] for key in hidden - known.keys() if isinstance(stored.get(key), str) and stored[key]}
        secrets = left | {key: str(value) for key, value in values.items() if key in hidden}
        self._hide(plugin.name, secrets)
        self._kept.save(
            candidate.root,
            called(candidate),
            {key: value for key, value in values.items() if key not in hidden},
            without=secrets.keys() | (hidden & known.keys()),
        )

    def reset(self, plugin: Plugin) -> None:
        """Back to the defaults; what is secret is forgotten. Raises EtuiError."""
        self.forget(plugin.name)
        candidate = self._candidates[plugin.name]
        if candidate.manifest:
            self._kept.seed(candidate.root, called(candidate), rows_of(plugin))

    def forget(self, plugin: str, gone: Candidate | None = None) -> None:
        """Everything that was set for it goes; `gone` is what lay there, where that may be off the disk. Raises EtuiError."""
        candidate = gone or self._candidates[plugin]
        self._kept.forget(candidate.root, called(candidate))
        self._keeper.forget(plugin)

    def hidden(self, plugin: str) -> frozenset[str]:
        """What is secret and stands in its file all the same, so that it can be kept out of what it says."""
        candidate = self._candidates.get(plugin)
        rows = [row for row in candidate.manifest.get("settings", ()) if is_secret(row)] if candidate is not None else []
        if candidate is None or not rows:
            return frozenset()
        stored, _ = self._kept.stored(candidate.root, called(candidate))
        values = (stored.get(row["key"]) for row in rows if stored.get(row["key"]) != row.get("default"))
        return frozenset(value for value in values if isinstance(value, str) and len(value) >= SHORTEST)

    def disown(self, plugin: str) -> None:
        """What is secret among its settings goes; another one has its name now. Raises EtuiError."""
        self._keeper.forget(plugin)

    def seed(self, candidate: Candidate) -> None:
        """Make its file of settings, the first time that it is to be loaded; where that cannot be, the defaults hold."""
        if candidate.manifest:
            try:
                self._kept.seed(candidate.root, called(candidate), candidate.manifest["settings"])
            except EtuiError:
                return

    def problems(self) -> tuple[Problem, ...]:
        """One for each file of settings that cannot be used."""
        found = []
        for candidate in self._candidates.values():
            _, broken = self._kept.stored(candidate.root, called(candidate))
            if broken:
                path = path_of(candidate.root, called(candidate))
                hint = "Mend or remove the file; the form in the console writes it anew once it is gone."
                found.append(
                    Problem(what=path.name, reason=broken, hint=hint, file=str(path), plugin=candidate.name, refused=False)
                )
        return tuple(found)

    def open(self, candidate: Candidate) -> dict[str, Any]:
        """A plugin's settings without what is secret."""
        return self._merged(candidate, candidate.manifest.get("settings", []))

    def _merged(self, candidate: Candidate, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        stored, _ = self._kept.stored(candidate.root, called(candidate))
        return {**defaults_of(rows), **stored}

    def _hide(self, plugin: str, secrets: Mapping[str, str]) -> None:
        for key, value in secrets.items():
            if value:
                self._keeper.give(plugin, key, value)
            else:
                self._keeper.drop(plugin, key)

    def folders(self, root: str) -> dict[str, str]:
        """By the folders' names, those of the plugins of one root that are on."""
        off = self._off()
        there = (one for one in self._candidates.values() if one.root == root and one.manifest and one.family not in off)
        return {one.path.name: str(one.path) for one in there}

    def scopes(self) -> list[object]:
        """The scopes that the plugins which are on have, of every root, as their manifests say them."""
        off = self._off()
        return [row for one in self._candidates.values() if one.family not in off for row in one.manifest.get("scopes", ())]


def called(candidate: Candidate) -> str:
    """What a plugin calls itself: its settings and its state are named so."""
    return str(candidate.manifest["name"]) if candidate.manifest else f"functions.{candidate.path.stem}"


def rows_of(plugin: Plugin) -> list[dict[str, Any]]:
    """The rows of its form."""
    rows = plugin.manifest.get("settings", [])
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def is_secret(row: Mapping[str, Any]) -> bool:
    """Whether nobody is to be shown the value."""
    return SECRET in (row.get("type"), row.get("widget"))


def reads_by_path(candidate: Candidate) -> bool:
    """Whether its code looks for its file of settings by itself: then everything has to stand in it."""
    return any(BY_PATH in _bytes(file) for file in candidate.files if file.suffix == ".py")


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
