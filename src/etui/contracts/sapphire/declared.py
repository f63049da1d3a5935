"""The handlers that a manifest names: hooks, voice commands, routes, schedules, the daemon, and the functions they may be.

Above: `handling` looks the functions up. Below: the nouns, `hooks` for the names that there are. It refuses to know: files.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from etui.contracts import Files
from etui.contracts.sapphire import hooks
from etui.tool import Handler

SHIPPED, OWNERS = 99, 100
"""The highest priority of a shipped plugin, and how much later the owner's own come."""
BYPASS = 19
"""The highest priority of a voice command that wants to answer before everything else is asked."""


class Declared(msgspec.Struct, frozen=True):
    """One handler, and the functions of which it is the first that its file has."""

    handler: Handler
    names: tuple[str, ...]


def declared(files: Files) -> Iterator[Declared]:
    """Every handler of the plugin, in the manifest's order."""
    manifest, own = files.manifest, priority(files)
    yield from _hooks(manifest, own)
    yield from _voice_commands(manifest, own)
    for one in _tables(manifest.get("routes")):
        facts = {**_said(one), "method": str(one.get("method") or "GET").upper()}
        yield _one("route", str(one.get("path") or ""), one["handler"], ("handle",), own, facts)
    names: set[str] = set()
    for number, one in enumerate(_tables(manifest.get("schedule")), 1):
        name = str(one.get("name") or f"schedule {number}")
        name = name if name not in names else f"{name} ({number})"
        names.add(name)
        yield _one("schedule", name, one["handler"], ("run",), own, _said(one))
    daemon = manifest.get("daemon")
    if isinstance(daemon, Mapping) and isinstance(daemon.get("entry"), str):
        yield _one("daemon", "daemon", daemon["entry"], ("start",), own, _said(daemon))


def priority(files: Files) -> int:
    """Where the plugin stands among all: shipped ones come first, and within both the lower numbers do."""
    said = min(max(_whole(files.manifest.get("priority"), 50), 0), SHIPPED)
    return said if files.manifest.get("band") == "system" else said + OWNERS


def _hooks(manifest: Mapping[str, Any], own: int) -> Iterator[Declared]:
    said = manifest.get("hooks")
    for name, file in said.items() if isinstance(said, Mapping) else ():
        if name in hooks.NAMES:
            yield _one("hook", name, file, (name, "handle"), own, {})


def _voice_commands(manifest: Mapping[str, Any], own: int) -> Iterator[Declared]:
    for number, one in enumerate(_tables(manifest.get("voice_commands")), 1):
        bypasses = one.get("bypass_llm") is True
        before = min(_whole(one.get("priority"), BYPASS), BYPASS) if bypasses else own
        name = str(one.get("name") or one.get("description") or f"command {number}")
        yield _one("voice", name, one["handler"], ("pre_chat", "handle"), before, _said(one))


def _one(kind: str, name: str, said: object, names: tuple[str, ...], priority: int, facts: dict[str, object]) -> Declared:
    """The handler in the file that is named, as `file.py` or `file.py:function`."""
    path, _, named = str(said).partition(":")
    names = (named.strip(), *names[1:]) if named.strip() else names
    entry = f"@{kind}:{posixpath.normpath(path.strip().replace(chr(92), '/'))}:{names[0]}"
    return Declared(Handler(kind=kind, name=name, entry=entry, priority=priority, facts=facts), names)


def _whole(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _said(one: Mapping[str, Any]) -> dict[str, object]:
    return {str(key): value for key, value in one.items() if key != "handler"}


def _tables(value: object) -> list[Mapping[str, Any]]:
    listed = value if isinstance(value, list) else []
    return [one for one in listed if isinstance(one, Mapping) and isinstance(one.get("handler"), str)]
