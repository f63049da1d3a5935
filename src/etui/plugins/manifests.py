"""What a `plugin.json` says, checked once and told flat: the keys of `capabilities` stand beside those of the top.

What has a kind that nobody could use is left out or taken as the default, and the owner reads which; only a missing name is the
end of it. Above: `sources` makes candidates of it. Below: the nouns. It refuses to know: what any of it leads to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from etui.plugins import strict

NAME = "plugin.json"
"""The file that makes a folder a plugin."""
WORD = re.compile(r"[^\W_][\w. -]{0,63}")
"""What a plugin can be called: its settings, its state and its address are named after it."""
TITLE = 40
"""Characters of a title that is taken from the description."""
PRIORITY = 50
TITLES = ("short_display_name", "display_name", "short_name")
"""Where a title is looked for, the newest key first."""
TEXTS = ("version", "description", "author", "url", "min_core_version", *TITLES)
MOST = 20
"""Of so many oddities the owner reads; of more, their number."""
CORE = (2, 12, 4)
"""The release of Sapphire whose plugins are expected to run here."""


class ManifestError(Exception):
    """The manifest cannot be used; the sentence says why."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """One manifest."""

    name: str
    said: dict[str, Any]
    """All of it as JSON values, flat, every list a list and every object an object."""
    warnings: tuple[str, ...] = ()
    """What is odd about it, a sentence each."""


def read(content: bytes) -> Manifest:
    """The manifest in these bytes. Raises ManifestError."""
    try:
        given = strict.decoded(content)
    except ValueError as error:
        raise ManifestError(f"Its manifest is no JSON: {error}.") from None
    if not isinstance(given, dict):
        raise ManifestError("Its manifest is no JSON object.")
    name = given.get("name")
    if not isinstance(name, str) or not WORD.fullmatch(name.strip()):
        if name in (None, ""):
            raise ManifestError("Its manifest has no name, which is the one key that it needs.")
        raise ManifestError(f"Its manifest's name {str(name)[:80]!r} cannot be used: at most 64 letters, digits, `-`, `_`.")
    checking = _Checking()
    capabilities = given.get("capabilities", {})
    if not isinstance(capabilities, dict):
        checking.odd("capabilities", "an object")
        capabilities = {}
    said = {"name": name.strip(), **checking.top(given), **checking.capabilities({**_lifted(given), **capabilities})}
    said["title"] = _title(said)
    return Manifest(name=name.strip(), said=said, warnings=checking.told())


def _lifted(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"cleanup_paths": given["cleanup_paths"]} if "cleanup_paths" in given else {}


def _title(said: Mapping[str, Any]) -> str:
    """What the person reads: the newest of the titles, else the description's first clause, else the name."""
    for key in TITLES:
        if said[key]:
            return str(said[key])
    clause = re.split(r"[.;:!?\n]|,\s| [-\u2013\u2014] ", said["description"].strip(), maxsplit=1)[0].strip()
    return clause[:TITLE].strip() or str(said["name"])


class _Checking:
    """Takes what can be used, and notes what cannot."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def told(self) -> tuple[str, ...]:
        """What the owner reads."""
        left = len(self.warnings) - MOST
        more = (f"{left:,} more entries of its manifest are passed over.",) if left > 0 else ()
        return (*self.warnings[:MOST], *more)

    def odd(self, key: str, wanted: str, what: str = "It is passed over.") -> None:
        """One more sentence."""
        self.warnings.append(f"In its manifest {key!r} is not {wanted}. {what}")

    def top(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The keys beside `capabilities`."""
        said: dict[str, Any] = {key: self._of(given, key, str, "", "a text") for key in TEXTS}
        said["icon"] = self._of(given, "icon", str, "", "a text") or self._of(given, "emoji", str, "", "a text")
        said["priority"] = self._priority(given)
        said["default_enabled"] = self._of(given, "default_enabled", bool, False, "true or false")
        said["privacy_aware"] = self._of(given, "privacy_aware", bool, False, "true or false")
        essential = given.get("essential", False)
        if not isinstance(essential, bool | str):
            self.odd("essential", "true or false")
        said["essential"] = essential if isinstance(essential, bool | str) else False
        said["surfaces"] = self._texts(given, "surfaces")
        said["pip_dependencies"] = self._texts(given, "pip_dependencies")
        if _release(said["min_core_version"]) > CORE:
            self.warnings.append(
                f"It was written for release {said['min_core_version']} of Sapphire, which is newer than Etui knows."
            )
        return said

    def capabilities(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The keys of `capabilities`; unknown ones are left out."""
        said: dict[str, Any] = {
            "tools": self._texts(given, "tools", lone=True),
            "cleanup_paths": self._texts(given, "cleanup_paths"),
            "themes": [],
        }
        for key, needed in (("voice_commands", "handler"), ("scopes", "key"), ("routes", "handler"), ("schedule", "handler")):
            said[key] = self._objects(given, key, needed)
        said["settings"] = self._objects(given, "settings", "key")
        hooks = self._of(given, "hooks", dict, {}, "an object")
        said["hooks"] = {str(name): file for name, file in hooks.items() if self._is_text(f"hooks.{name}", file)}
        daemon = given.get("daemon")
        if daemon is not None:
            said["daemon"] = {"entry": daemon} if isinstance(daemon, str) else self._of(given, "daemon", dict, {}, "an object")
            if said["daemon"] and not self._is_text("daemon.entry", said["daemon"].get("entry")):
                said["daemon"] = {}
        return said

    def _of(self, given: Mapping[str, Any], key: str, kind: type, default: Any, wanted: str) -> Any:
        value = given.get(key)
        if value is None:
            return default
        if not isinstance(value, kind):
            self.odd(key, wanted)
            return default
        return value

    def _priority(self, given: Mapping[str, Any]) -> int:
        value = given.get("priority", PRIORITY)
        if isinstance(value, bool) or not isinstance(value, int):
            self.odd("priority", "a whole number", f"It counts as {PRIORITY}.")
            return PRIORITY
        return value

    def _texts(self, given: Mapping[str, Any], key: str, *, lone: bool = False) -> list[str]:
        value = given.get(key)
        if value is None:
            return []
        if lone and isinstance(value, str):
            self.odd(key, "a list but a text", f"It is taken as the one path {value!r}.")
            return [value]
        if not isinstance(value, list):
            self.odd(key, "a list")
            return []
        return [one for number, one in enumerate(value) if self._is_text(f"{key}[{number}]", one)]

    def _is_text(self, key: str, value: object) -> bool:
        if isinstance(value, str) and value and "\0" not in value:
            return True
        self.odd(key, "a text")
        return False

    def _objects(self, given: Mapping[str, Any], key: str, needed: str) -> list[dict[str, Any]]:
        value = given.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.odd(key, "a list")
            return []
        return [one for number, one in enumerate(value) if self._is_object(f"{key}[{number}]", one, needed)]

    def _is_object(self, key: str, value: object, needed: str) -> bool:
        if isinstance(value, dict) and isinstance(value.get(needed), str) and value[needed] and "\0" not in value[needed]:
            return True
        self.odd(key, f"an object with a {needed!r}")
        return False


def _release(said: str) -> tuple[int, ...]:
    """The numbers of a release; none of what is no number."""
    return tuple(int(part) for part in re.findall(r"\d{1,9}", said)[:3])
