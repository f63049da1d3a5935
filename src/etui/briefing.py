"""What a tool's code may want to be told with each call besides who called it; handed over only where it wants it.

Above: `host` hands `brief` to sessions. Below: sessions, the registry's snapshot and the stored chats. It refuses to know: what
the contracts make of it, which is up to them. Secrets, other chats and other plugins' data are no such facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from etui.registry import Snapshot
from etui.session import Session
from etui.store.chats import Chats
from etui.tool import Tool

TEXTS = 4
"""The last things that the person said, and no more."""
SERVER = "mcp:"
CONFIG, SETTINGS = "config", "settings"
"""The owner's settings as `config` has them, and those of the tool's own plugin."""


class Installed(Protocol):
    """Who knows what the files of plugins with a root are told."""

    def config(self) -> dict[str, object]:
        """The owner's settings, by the names that such files know."""
        ...

    def settings(self, plugin: str) -> dict[str, object]:
        """What the owner set for this plugin, with its defaults."""
        ...


class Briefing:
    """Serves the facts that tools want; the names are those of `Tool.wants`."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        off: Callable[[], frozenset[str]],
        chats: Chats,
        voices: Callable[[Iterable[Tool]], Mapping[str, object]],
        installation: Installed,
        conversation: Callable[[str], dict[str, object]],
    ) -> None:
        """`off` gives the names of tools and families that are switched off, `voices` the lines of tools as they are said.

        `conversation` tells of a chat what it is called and who answers in it.
        """
        self._conversation = conversation
        self._installation = installation
        self._snapshot = snapshot
        self._off = off
        self._chats = chats
        self._voices = voices

    def brief(self, tool: Tool, session: Session) -> dict[str, object]:
        """The facts that this tool wants, as JSON values; a name that there is not is passed over."""
        told = {name: FACTS[name](self, session) for name in tool.wants if name in FACTS}
        if CONFIG in tool.wants:
            told[CONFIG] = self._installation.config()
        if SETTINGS in tool.wants:
            told[SETTINGS] = self._installation.settings(tool.plugin)
        return told

    def texts(self, session: Session) -> list[str]:
        """What the person said last in this chat, the newest first."""
        said = [one.text for one in self._chats.messages(session.chat) if one.role == "user"] if session.chat else []
        return said[: -TEXTS - 1 : -1] or ([session.user_text] if session.user_text else [])

    def voices(self, session: Session) -> dict[str, object]:
        """The lines in force, by tool."""
        return dict(self._voices(self._snapshot().tools.values()))

    def families(self, session: Session) -> dict[str, object]:
        """The family of every tool, and the names of tools and families that are switched off."""
        tools = self._snapshot().tools
        return {"tools": {name: tool.toolset for name, tool in tools.items()}, "off": sorted(self._off())}

    def context(self, session: Session) -> dict[str, object] | None:
        """In whose conversation the call is: what the chat is called, the persona, the model; None outside of a chat."""
        return self._conversation(session.chat) if session.chat else None

    def withheld(self, session: Session) -> list[str]:
        """Names of the tools that are kept back from this session."""
        return sorted(session.withheld)

    def servers(self, session: Session) -> dict[str, list[str]]:
        """The tools of each MCP server."""
        found: dict[str, list[str]] = {}
        for name, tool in self._snapshot().tools.items():
            if tool.toolset.startswith(SERVER):
                found.setdefault(tool.toolset.removeprefix(SERVER), []).append(name)
        return found


FACTS: Mapping[str, Callable[[Briefing, Session], object]] = {
    "texts": Briefing.texts,
    "voices": Briefing.voices,
    "families": Briefing.families,
    "context": Briefing.context,
    "withheld": Briefing.withheld,
    "servers": Briefing.servers,
}
"""The closed set of facts."""
