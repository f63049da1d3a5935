"""How things look in the console's JSON: tools, plugins, steps, messages, settings.

Above: the routes. Below: the nouns and the store's rows. It refuses to know: HTTP, and how a page draws any of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from etui.events import Event
from etui.owner.grants import OPEN
from etui.settings import TABLE, Settings
from etui.store.redact import mask, mask_text, secrets_in
from etui.surfaces.web.needs import House
from etui.tool import Grant, Plugin, Tool

if TYPE_CHECKING:
    from etui.agent.jobs import Job
    from etui.session import Session
    from etui.store.chats import Message
    from etui.store.journal import Entry

DOES = {
    "read": "only reads",
    "write": "writes in the working folder",
    "network": "uses the network",
    "exec": "starts other programs",
}
Row = dict[str, Any]


def plain(value: object) -> Any:
    """Structs, enums, paths and dates as JSON values."""
    return msgspec.to_builtins(value, enc_hook=str)


def tool_row(host: House, tool: Tool, off: frozenset[str]) -> Row:
    """A tool in the list."""
    return {
        "name": tool.name,
        "description": tool.description,
        "contract": tool.contract,
        "plugin": tool.plugin,
        "source": tool.source,
        "risk": tool.risk.value,
        "does": DOES[tool.risk.value],
        "on": tool.name not in off and tool.toolset not in off,
        "toolset": tool.toolset,
        "mode": tool.mode,
        "pin": tool.pin,
        "face": tool.face,
        "icon": tool.icon,
        "examples": list(tool.examples),
        "taught": list(host.tools.taught(tool.name)),
        "arguments": sorted(_properties(tool)),
    }


def _properties(tool: Tool) -> list[str]:
    properties = tool.parameters.get("properties")
    return [str(name) for name in properties] if isinstance(properties, Mapping) else []


def tool_page(host: House, tool: Tool, off: frozenset[str], calls: Iterable[Entry]) -> Row:
    """Everything about one tool."""
    plugin = next((one for one in host.plugins.all() if one.name == tool.plugin), None)
    return {
        **tool_row(host, tool, off),
        "parameters": plain(tool.parameters),
        "badges": list(tool.badges),
        "file": tool.file,
        "line": tool.line,
        "digest": tool.digest,
        "timeout": tool.timeout,
        "arg_timeout": tool.arg_timeout,
        "voice": plain(tool.voice),
        "silent": tool.silent,
        "interactive": tool.interactive,
        "checks": tool.checks.value,
        "touches": touches(plugin.grant if plugin else Grant()),
        "notes": list(plugin.notes) if plugin else [],
        "held": held(host, tool),
        "calls": [step_row(entry) for entry in calls],
    }


KEPT = {"files": "what it writes", "reads": "what it reads", "network": "its network", "subprocess": "the programs it starts"}


def held(host: House, tool: Tool) -> Row:
    """Whether this machine holds the tool to what it may touch, in words."""
    if tool.contract == "inline":
        return {"whole": False, "words": "It is part of the program that runs Etui, so nothing holds it but its own code."}
    enforced = host.report.enforced()
    loose = [words for name, words in KEPT.items() if enforced.get(name, "none") == "none"]
    if not loose:
        return {"whole": True, "words": "The kernel holds it to this."}
    return {"whole": False, "words": f"This machine cannot hold {', '.join(loose)}: there, this is only a promise."}


def touches(grant: Grant) -> list[Row]:
    """What a worker may touch, in words, each with whether it is given."""
    return [
        {"what": "files", "given": True, "words": _reads(grant)},
        {"what": "writing", "given": bool(grant.write), "words": _list("Writes in", grant.write) or "Writes no files."},
        {
            "what": "network",
            "given": grant.network,
            "words": "Opens network connections." if grant.network else "Opens no network connections.",
        },
        {
            "what": "programs",
            "given": grant.subprocess,
            "words": "Starts other programs." if grant.subprocess else "Starts no other programs.",
        },
        {
            "what": "environment",
            "given": bool(grant.env),
            "words": _list("Is handed the environment variables", grant.env) or "Is handed no environment variables.",
        },
    ]


def grant_row(host: House, plugin: Plugin) -> Row:
    """What a plugin may touch, what it asks for, what the owner gave and forbade."""
    found: Row = plain(host.plugins.grant(plugin.name))
    return {**found, "plugin": plugin.name, "touches": touches(plugin.grant)}


def _reads(grant: Grant) -> str:
    more = _list(" Also reads", grant.read)
    return f"Reads its own files and Python's.{more}"


def _list(words: str, names: tuple[str, ...]) -> str:
    return f"{words} {', '.join(names)}." if names else ""


def _text(value: object) -> str:
    """What an author says in a manifest, on one line; nothing where it is no text."""
    return " ".join(value.split())[:300] if isinstance(value, str) else ""


def plugin_row(plugin: Plugin) -> Row:
    """A plugin in the list."""
    return {
        "name": plugin.name,
        "contract": plugin.contract,
        "source": plugin.source,
        "path": plugin.path,
        "tools": [tool.name for tool in plugin.tools],
        "family": plugin.family,
        "touches": touches(plugin.grant),
        "asks": sorted({*plugin.wishes.env} - {*plugin.grant.env} - OPEN),
        "notes": list(plugin.notes),
        "title": plugin.title or plugin.name,
        "icon": plugin.icon,
        "description": _text(plugin.manifest.get("description")),
        "version": _text(plugin.manifest.get("version")),
        "settings": bool(plugin.manifest.get("settings")),
        "whole": plugin.whole,
        "address": str(plugin.manifest.get("name") or plugin.name),
    }


def step_row(entry: Entry) -> Row:
    """One call from the journal, as the console shows it: without secrets."""
    known = secrets_in(entry.arguments)
    return {
        "number": entry.number,
        "call": entry.id,
        "turn": entry.turn,
        "chat": entry.chat,
        "channel": entry.channel,
        "tool": entry.tool,
        "plugin": entry.plugin,
        "risk": str(entry.risk),
        "arguments": mask(entry.arguments, known),
        "status": str(entry.status),
        "text": mask_text(entry.text, known),
        "shown": mask_text(entry.shown, known),
        "why": mask_text(entry.why, known),
        "rule": entry.rule,
        "reference": entry.reference,
        "detail": mask_text(entry.detail, known),
        "images": [{"id": id, "withheld": True} if id in entry.withheld else id for id in entry.images],
        "files": plain(entry.files),
        "silent": entry.silent,
        "undo": undo(entry.data) if entry.status == "ok" else None,
        "started": entry.started,
        "ended": entry.ended,
        "seconds": entry.seconds,
    }


def undo(data: object) -> Row | None:
    """The call that takes this one back, where its tool said so."""
    way = data.get("undo") if isinstance(data, dict) else None
    if not isinstance(way, dict) or not isinstance(way.get("tool"), str):
        return None
    return {"tool": way["tool"], "arguments": way.get("arguments", {})}


def message_row(message: Message) -> Row:
    """One message of a chat."""
    return {
        "id": message.id,
        "turn": message.turn,
        "role": message.role,
        "text": message.text,
        "images": list(message.images),
        "meta": plain(message.meta),
        "at": message.at,
        "why": message.why,
    }


def job_row(job: Job) -> Row:
    """A background job; its id is that of the chat in which it works."""
    return {
        "id": job.id,
        "chat": job.chat,
        "goal": job.goal,
        "state": job.state,
        "started": job.started,
        "ended": job.ended,
        "summary": job.summary,
    }


def session_row(session: Session) -> Row:
    """A session that lives: who asks, from where, and what they have proved."""
    return {
        "id": session.id,
        "chat": session.chat,
        "channel": session.channel,
        "caller": session.caller,
        "trust": session.trust,
    }


def line_row(event: Event) -> Row:
    """A line that was said in a turn and that no message holds."""
    return {
        "number": event.number,
        "turn": event.turn,
        "text": str(event.data.get("text", "")),
        "why": str(event.data.get("why", "")),
        "at": event.at,
    }


def settings_rows(settings: Settings) -> list[Row]:
    """The settings table with what is in force."""
    return [
        {
            "name": row.name,
            "kind": row.kind,
            "value": plain(getattr(settings, row.name)),
            "default": plain(row.default),
            "help": row.help,
            "env": row.env,
            "choices": list(row.choices),
        }
        for row in TABLE
    ]
