"""What a tool's code may want to be told with each call besides who called it; handed over only where it wants it.

Above: `host` hands `brief` to sessions. Below: sessions, the registry's snapshot and the stored chats. It refuses to know: what
the contracts make of it, which is up to them. Secrets, other chats and other plugins' data are no such facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from etui.registry import Snapshot
from etui.session import Session
from etui.store.chats import Chats
from etui.tool import Tool

TEXTS = 4
"""The last things that the person said, and no more."""
SERVER = "mcp:"


class Briefing:
    """Serves the facts that tools want; the names are those of `Tool.wants`."""

    def __init__(
        self,
        snapshot: Callable[[], Snapshot],
        off: Callable[[], frozenset[str]],
        chats: Chats,
        voices: Callable[[Iterable[Tool]], Mapping[str, object]],
    ) -> None:
        """`off` gives the names of tools and families that are switched off, `voices` the lines of tools as they are said."""
        self._snapshot = snapshot
        self._off = off
        self._chats = chats
        self._voices = voices

    def brief(self, tool: Tool, session: Session) -> dict[str, object]:
        """The facts that this tool wants, as JSON values; a name that there is not is passed over."""
        return {name: FACTS[name](self, session) for name in tool.wants if name in FACTS}

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
    "withheld": Briefing.withheld,
    "servers": Briefing.servers,
}
"""The closed set of facts."""
