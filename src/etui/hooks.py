"""What plugins hook into: asked one after another, in one order over all plugins, around calls, turns and chats.

A handler runs in the worker of its plugin, and gets and gives the event as JSON. One that raises, hangs or answers nonsense is
passed over, and the owner reads of it; one that hangs again and again is left alone for a while. Where no plugin hooks,
nothing is asked. Above: the host hands it to sessions, turns and conversations. Below: `handlers`. It refuses to know: what
handlers do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import structlog

from etui.handlers import Handlers
from etui.outcome import Outcome, Status
from etui.registry import Snapshot
from etui.session import Session
from etui.session.parts import Before
from etui.tool import BUILT_IN, Call, Handler, Plugin, Problem, Tool
from etui.verdict import NONE

log = structlog.get_logger(__name__)
SECONDS = 5.0
"""How long one handler may take."""
TRIES, REST = 3, 600.0
"""After so many handlers of a plugin in a row that hung, it is left alone for so many seconds."""
ALWAYS = frozenset({"chat_renamed", "chat_cleared", "chat_deleted", "plugins_ready", "provider_switched"})
"""The hooks that every plugin hears, in private chats too: nothing that was said is told."""
SKIPPED = "Execution skipped by plugin."
TEXT = 200_000
"""Characters of a text that a handler puts in place of another, and of all that plugins tell a model in a turn."""
KINDS: Mapping[str, type | tuple[type, ...]] = {
    "input": str,
    "skip_llm": bool,
    "response": str,
    "ephemeral": bool,
    "context_parts": list,
    "metadata": dict,
    "result": str,
    "arguments": dict,
    "tools": list,
}
"""What a handler may change, and of which kind that must be."""
Event = dict[str, Any]
Hooked = tuple[Plugin, Handler]


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What became of what a person said, before a model is asked."""

    text: str
    """What the model is asked instead."""
    answer: str | None = None
    """The answer, where a plugin gave it: then no model is asked."""
    ephemeral: bool = False
    """The answer is shown, and no model is ever told of it."""


class Hooks:
    """Every plugin's hooks."""

    def __init__(
        self,
        handlers: Handlers,
        snapshot: Callable[[], Snapshot],
        off: Callable[[], frozenset[str]],
        name: Callable[[str], str],
        note: Callable[[Problem], None],
        seconds: float = SECONDS,
    ) -> None:
        """`name` gives what plugins call the chat with that id; `note` takes what the owner should know."""
        self._handlers = handlers
        self._snapshot = snapshot
        self._off = off
        self._name = name
        self._note = note
        self._seconds = seconds
        self._known: tuple[Snapshot, frozenset[str]] | None = None
        self._of: dict[str, tuple[Hooked, ...]] = {}
        self._hung: dict[str, int] = {}
        """By a plugin's digest, how often in a row it hung."""
        self._resting: dict[str, float] = {}
        """By a plugin's digest, until when it is left alone."""
        self._telling: asyncio.Task[None] | None = None

    def of(self, hook: str) -> tuple[Hooked, ...]:
        """Who hooks there, in the order in which they are asked; `voice` are the voice commands."""
        now = self._snapshot(), self._off()
        if self._known is None or self._known[0] is not now[0] or self._known[1] is not now[1]:
            self._of, self._known = _by_name(*now), now
        return self._of.get(hook, ())

    def hooked(self, hook: str) -> bool:
        """Whether anybody does."""
        return bool(self.of(hook))

    async def fire(self, hook: str, event: Mapping[str, object], *, session: Session | None = None, turn: str = "") -> Event:
        """Ask everybody who hooks there; gives the event as they leave it. Raises nothing but CancelledError."""
        return await self._ask(self.of(hook), hook, {**event, **self._told(session)}, session, turn)

    async def before(self, session: Session, tool: Tool, call: Call, arguments: dict[str, object]) -> Before | None:
        """What plugins make of a call that may run: other arguments, or an answer instead; None where they leave it."""
        if not self.hooked("pre_execute") or _secret(tool):
            return None
        event = {"function_name": tool.name, "arguments": arguments}
        gone = await self.fire("pre_execute", event, session=session, turn=call.turn)
        if gone.get("skip_llm"):
            return Before(answer=gone.get("result") or SKIPPED)
        return Before(arguments=gone["arguments"]) if gone["arguments"] is not arguments else None

    async def after(self, session: Session, tool: Tool, call: Call, arguments: dict[str, object], outcome: Outcome) -> None:
        """Let plugins see what came of a call that ran."""
        if self.hooked("post_execute") and not _secret(tool):
            event = {"function_name": tool.name, "arguments": arguments, "result": outcome.text}
            await self.fire("post_execute", event, session=session, turn=call.turn)

    async def fewer(self, session: Session, tools: Sequence[Tool]) -> frozenset[str]:
        """The names of those tools that plugins keep from the model now."""
        if not self.hooked("tools_filter"):
            return frozenset()
        offered = {tool.name: _schema(tool) for tool in tools if tool.contract != BUILT_IN}
        gone = await self.fire("tools_filter", {"tools": list(offered.values())}, session=session)
        left = {one["function"]["name"] for one in gone["tools"]}
        return frozenset(offered) - left

    async def heard(self, session: Session, text: str, turn: str) -> Heard:
        """What a person said, as plugins leave it: voice commands and `pre_chat`, in one order; of nobody known, as it is."""
        asked = self.of("said")
        if not asked or session.trust == NONE:
            return Heard(text=text)
        event = await self._ask(asked, "pre_chat", {"input": text, **self._told(session)}, session, turn, until=_answered)
        if _answered(event):
            return Heard(text=text, answer=event.get("response") or "", ephemeral=bool(event.get("ephemeral")))
        return Heard(text=event["input"] or text)

    async def context(self, session: Session, text: str, turn: str) -> str:
        """What plugins want the model to know in this turn; nothing in a conversation with nobody known."""
        if not self.hooked("prompt_inject") or session.trust == NONE:
            return ""
        event = await self.fire("prompt_inject", {"input": text, "context_parts": []}, session=session, turn=turn)
        return "\n\n".join(str(part) for part in event["context_parts"] if part)[:TEXT]

    async def answered(self, session: Session, text: str, answer: str, turn: str) -> None:
        """Let plugins see the answer."""
        if self.hooked("post_chat") and session.trust != NONE:
            await self.fire("post_chat", {"input": text, "response": answer}, session=session, turn=turn)

    def tell(self, hook: str, **event: object) -> None:
        """Tell everybody who hooks there, one thing after another, without waiting for it."""
        if self.hooked(hook):
            before = self._telling
            self._telling = asyncio.get_running_loop().create_task(self._tell(before, hook, event), name=f"hook {hook}")

    async def settled(self) -> None:
        """Everything that was to be told has been told."""
        while self._telling is not None and not self._telling.done():
            await asyncio.wait([self._telling])

    async def close(self) -> None:
        """Tell nobody anything more."""
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.wait([self._telling])

    async def _tell(self, before: asyncio.Task[None] | None, hook: str, event: Mapping[str, object]) -> None:
        if before is not None and not before.done():
            try:
                await asyncio.wait([before])
            except asyncio.CancelledError:
                before.cancel()
                raise
        await self.fire(hook, event)

    async def _ask(
        self,
        asked: Sequence[Hooked],
        hook: str,
        event: Event,
        session: Session | None,
        turn: str,
        until: Callable[[Event], bool] | None = None,
    ) -> Event:
        for plugin, handler in asked:
            if not self._hears(plugin, hook, session):
                continue
            given = {"event": {"hook": hook, **event}, "facts": handler.facts}
            outcome = await self._handlers.run(plugin, handler, given, session=session, seconds=self._seconds, turn=turn)
            if outcome.status is not Status.OK:
                self._went_wrong(plugin, handler, outcome)
                continue
            self._hung.pop(plugin.digest, None)
            if isinstance(outcome.data, dict):
                event = _merged(event, outcome.data, handler)
                if outcome.data.get("stop_propagation") is True or (until is not None and until(event)):
                    break
        return event

    def _told(self, session: Session | None) -> Event:
        """What is said of the chat in every event of it."""
        if session is None:
            return {}
        return {"chat_name": self._name(session.chat) if session.chat else "", "chat_private": session.private}

    def _hears(self, plugin: Plugin, hook: str, session: Session | None) -> bool:
        if session is not None and session.private and hook not in ALWAYS and plugin.manifest.get("privacy_aware") is not True:
            return False
        until = self._resting.get(plugin.digest)
        if until is not None and asyncio.get_running_loop().time() >= until:
            del self._resting[plugin.digest]
            until = None
        return until is None

    def _went_wrong(self, plugin: Plugin, handler: Handler, outcome: Outcome) -> None:
        """It is logged, and the next one is asked."""
        what = f"{handler.kind} {handler.name!r}"
        log.warning("a hook went wrong", plugin=plugin.name, hook=handler.name, status=outcome.status.value, why=outcome.text)
        hint, why = "", outcome.text
        if outcome.status is Status.TIMED_OUT:
            why = f"it took longer than {self._seconds:g} s and was ended"
            self._hung[plugin.digest] = self._hung.get(plugin.digest, 0) + 1
            if self._hung[plugin.digest] >= TRIES:
                self._hung.pop(plugin.digest)
                self._resting[plugin.digest] = asyncio.get_running_loop().time() + REST
                hint = f"It happened {TRIES} times in a row, so its hooks are left alone for {REST / 60:.0f} minutes."
        self._note(
            Problem(
                what=f"{plugin.name}: {what}",
                reason=f"Its {what} went wrong and was passed over: {why}",
                hint=hint,
                file=plugin.path,
                plugin=plugin.name,
                source=plugin.source,
                refused=False,
                trace=outcome.detail,
            )
        )


def _by_name(snapshot: Snapshot, off: frozenset[str]) -> dict[str, tuple[Hooked, ...]]:
    """By hook, who is asked; under `said`, voice commands and `pre_chat` together."""
    found: dict[str, list[Hooked]] = {}
    for plugin in snapshot.plugins.values():
        if plugin.family in off:
            continue
        for handler in plugin.handlers:
            if handler.kind == "hook":
                found.setdefault(handler.name, []).append((plugin, handler))
            elif handler.kind == "voice":
                found.setdefault("voice", []).append((plugin, handler))
    found["said"] = [*found.get("voice", ()), *found.get("pre_chat", ())]
    return {name: tuple(sorted(ones, key=lambda one: one[1].priority)) for name, ones in found.items() if ones}


def _merged(event: Event, changed: Mapping[str, object], handler: Handler) -> Event:
    """The event with what the handler changed; what is of a wrong kind, or endless, stays as it was."""
    new: Event = {key: value for key, value in changed.items() if key in KINDS and isinstance(value, KINDS[key])}
    new = {key: value for key, value in new.items() if not isinstance(value, str) or len(value) <= TEXT}
    if "tools" in new and "tools" in event:
        left = {name for name in new["tools"] if isinstance(name, str)}
        new["tools"] = [one for one in event["tools"] if one["function"]["name"] in left]
    if handler.kind == "voice" and handler.facts.get("bypass_llm") is True and new.get("response"):
        new["skip_llm"] = True
    return {**event, **new}


def _answered(event: Event) -> bool:
    return bool(event.get("skip_llm"))


def _secret(tool: Tool) -> bool:
    """Whether its arguments are for nobody's eyes."""
    return bool(tool.secrets) or tool.contract == BUILT_IN


def _schema(tool: Tool) -> dict[str, Any]:
    """The tool as a model's provider is sent it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
