"""What `execute(args, ctx)` is handed and may hand back: `ToolContext` and `ToolResult`, as tool files import them.

Above: `calling` makes a context for each call, `names` gives the classes to tool files. Below: `boxes`, `jail`.
It refuses to know: how a call is graded, and how the host serves what a context asks for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from etui.contracts.kotoba.jail import PathSecurityError, validate_within_dir


@dataclass
class ToolResult:
    """A text with pictures: `images` are `data:` URLs. False only if it holds neither."""

    text: str = ""
    images: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return str(self.text or "")

    def __bool__(self) -> bool:
        return bool(self.text or self.images)


@dataclass
class ToolContext:
    """Everything around one call. A tool may hang attributes of its own on it."""

    db: Any
    """The person's own chats, and what this plugin itself keeps."""
    session_id: str | None = None
    """The conversation: the same in all its turns."""
    client: Any = None
    """None: a worker never holds the model's key."""
    workdir: Path | None = None
    """The working folder, the same for all conversations; nothing outside it can be written."""
    sandbox: Any = None
    """What `ensure_sandbox` gave."""
    approval: Any = None
    """The human gate: `await ctx.approval.confirm(action)`."""
    mode: str = "companion"
    """`companion` in a conversation, `work` in a background job."""
    channel: str = "voice"
    """How the person is reached: `voice` or `text`."""
    el_call_bound: bool = False
    """False: there is no phone service that holds the clock."""
    spawn_depth: int = 0
    emit_progress: Callable[..., Any] | None = None
    mcp: Any = None
    """The servers that are set up; None where there is none."""
    soul_patterns: dict[str, dict[str, Any]] | None = None
    """The lines in force: tool -> `before`, `heartbeat`, `after`, `fail`."""
    subagent_id: str | None = None
    user_text: str | None = None
    """What the person said last."""
    call_id: str = ""
    """The call that is running."""
    excluded_tools: frozenset[str] = frozenset()
    """Names that are kept back from this turn."""
    _session_sandbox: bool = False

    def child(self, subagent_id: str) -> ToolContext:
        """A context one level deeper, for background work, that shares what this one holds."""
        deeper = ToolContext(
            db=self.db,
            session_id=self.session_id,
            client=self.client,
            workdir=self.workdir,
            sandbox=self.sandbox,
            approval=self.approval,
            mode="work",
            channel=self.channel,
            el_call_bound=self.el_call_bound,
            spawn_depth=self.spawn_depth + 1,
            emit_progress=self.emit_progress,
            mcp=self.mcp,
            soul_patterns=self.soul_patterns,
            subagent_id=subagent_id,
            user_text=self.user_text,
            excluded_tools=self.excluded_tools,
        )
        texts = getattr(self, "user_texts", None) or ([self.user_text] if self.user_text else [])
        mine: dict[str, Any] = vars(self)
        vars(deeper).update(
            user_texts=list(texts),
            run_id=getattr(self, "run_id", ""),
            _sources=mine.setdefault("_sources", {}),
            _sources_shown=len(mine["_sources"]),
            _md_writes=mine.setdefault("_md_writes", []),
        )
        return deeper

    async def ensure_sandbox(self) -> Any:
        """The sandbox of this conversation, in which commands run; None where the plugin may start no programs."""
        if self.sandbox is None and self.workdir is not None:
            from etui.contracts.kotoba import boxes  # few tools run commands

            self.sandbox = await boxes.sandbox(self)
            self._session_sandbox = self.sandbox is not None and self.session_id is not None
        return self.sandbox

    async def cleanup(self) -> None:
        """Let go of the sandbox; one that belongs to the conversation stays for its next turn."""
        box, self.sandbox = self.sandbox, None
        if box is not None and not self._session_sandbox:
            await box.kill()
        self._session_sandbox = False

    async def read_text(self, relpath: str) -> str | None:
        """The text of a file in the working folder, with replacement characters for what is no UTF-8; None for a miss."""
        if self.workdir is None:
            return None
        return await asyncio.to_thread(_text_of, relpath, self.workdir)


def _text_of(name: str, folder: Path) -> str | None:
    try:
        path = validate_within_dir(name, folder)
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
    except (PathSecurityError, OSError):
        return None


class Servers:
    """`ctx.mcp`: which MCP servers are set up. What Kotoba's own manager can do besides is not here."""

    def __init__(self, tools: dict[str, list[str]]) -> None:
        self.tools = tools
        """Names of tools by the server that has them."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"ctx.mcp.{name} belongs to Kotoba itself and has no counterpart here.")
