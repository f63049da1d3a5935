"""Which tools a chat has, and which account of each scope: what a person chose for it, worked out against what there is.

A choice is kept with its chat and holds for the tools of every contract; where none was made, all tools are there and every
scope has its default. Above: `session` asks with each view and call, `front` shows and changes choices. Below: `words`,
`saved`, `scopes`, and the registry's snapshot. It refuses to know: what the gate says, and where choices are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec
import structlog

from etui.registry import Snapshot
from etui.selection.chosen import Chosen
from etui.selection.saved import Saved
from etui.selection.scopes import RAG, SCOPE, closes, open_scopes, registered, values
from etui.selection.words import ALL, Words, module_of
from etui.tool import Problem, Tool

log = structlog.get_logger(__name__)
TOOLSET, EXTRA, PROMPT = "toolset", "extra_toolsets", "prompt_mode"
"""The keys of choices; a scope's is its own key with `SCOPE` behind it."""
MONOLITH, ASSEMBLED = "monolith", "assembled"
"""The kinds of prompt; the first is meant where none was chosen."""
KEPT = 256
"""Chats whose answer is held."""


class _Held(msgspec.Struct):
    """An answer, and everything that it was worked out from."""

    key: tuple[object, ...]
    chosen: Chosen


class Selections:
    """The selections of one host's chats."""

    def __init__(
        self,
        *,
        snapshot: Callable[[], Snapshot],
        off: Callable[[], frozenset[str]],
        of: Callable[[str], dict[str, object]],
        changes: Callable[[], int],
        named: Callable[[str], str],
        saved: Saved,
        gated: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """`of` gives a chat's choices, which are as they were while `changes` gives the same number; `named` a chat's name.

        `off` names what is switched off; `gated` says whether the owner's setting of that name is on.
        """
        self._snapshot = snapshot
        self._off = off
        self._of = of
        self._changes = changes
        self._named = named
        self._gated = gated
        self.saved = saved
        self._choices: dict[str, tuple[int, dict[str, object]]] = {}
        self._held: dict[tuple[str, bool, int], _Held] = {}
        """By chat, whether it is private, and the session's own tools, which the answer holds."""
        self._asking: tuple[Snapshot, tuple[str, ...]] = (Snapshot(), ())
        """The settings that any tool waits for, in this snapshot."""
        self._unknown: dict[str, tuple[str, ...]] = {}
        """By chat, the words that mean nothing."""

    def chosen(self, chat: str, *, private: bool = False, own: Mapping[str, Tool] | None = None) -> Chosen:
        """What holds in a chat; the same object until something changes. `own` are the tools of one session alone."""
        choices = self.choices(chat)
        name = self._named(chat) if f"{RAG}{SCOPE}" in choices else ""
        stamp = self.saved.stamp() if TOOLSET in choices or EXTRA in choices else ()
        key = (self._snapshot(), self._off(), choices, stamp, own or None, name, self._shut())
        place = chat, private, id(own) if own else 0
        held = self._held.get(place)
        if held is None or not _same(held.key, key):
            if len(self._held) >= KEPT:
                self._held.clear()
            held = self._held[place] = _Held(key, self._work_out(chat, choices, name, private, own or {}))
        return held.chosen

    def choices(self, chat: str) -> dict[str, object]:
        """What was chosen for the chat, by key."""
        changes = self._changes()
        held = self._choices.get(chat)
        if held is None or held[0] != changes:
            if len(self._choices) >= KEPT:
                self._choices.clear()
            found = self._of(chat) if chat else {}
            # The same object while it says the same, for answers are held by it.
            held = self._choices[chat] = (changes, held[1] if held is not None and held[1] == found else found)
        return held[1]

    def resolve(self, selection: object, closed: Iterable[str] = ()) -> tuple[frozenset[str], tuple[str, ...]]:
        """The tools that a selection means, less those whose scope is closed, and the words in it that mean nothing."""
        words = self._words({})
        names, unknown = words.meant(selection)
        shut = frozenset(closed)
        return frozenset(name for name in names if words.tools[name].scope not in shut), unknown

    def modules(self) -> dict[str, str]:
        """By tool, the module that it is of."""
        snapshot = self._snapshot()
        return {name: module_of(tool, snapshot.plugins.get(tool.plugin)) for name, tool in snapshot.tools.items()}

    def problems(self) -> tuple[Problem, ...]:
        """The words that were chosen and mean nothing, for the owner to know."""
        return tuple(
            Problem(
                what=word,
                reason=f"The toolset {word!r} of the chat {self._named(chat)!r} is unknown, so it adds no tools.",
                hint="Choose another one for the chat, or save a toolset of that name.",
                refused=False,
            )
            for chat, words in self._unknown.items()
            for word in words
            if self._of(chat)
        )

    def _words(self, own: Mapping[str, Tool]) -> Words:
        snapshot = self._snapshot()
        tools = {**snapshot.tools, **own} if own else snapshot.tools
        return Words(tools, snapshot.plugins, self.saved.sets())

    def _work_out(self, chat: str, choices: dict[str, object], name: str, private: bool, own: Mapping[str, Tool]) -> Chosen:
        snapshot = self._snapshot()
        scopes = values(registered(snapshot, self._off()), choices, name, private)
        shut = frozenset(key for key, value in scopes.items() if value is None)
        shut |= {key.removesuffix(SCOPE) for key, value in choices.items() if key.endswith(SCOPE) and closes(value)}
        words = self._words(own)
        toolset = choices.get(TOOLSET, ALL)
        names, unknown = words.meant(ALL if toolset == "" else toolset)
        more, further = words.meant(choices.get(EXTRA) or [])
        if not isinstance(toolset, str):
            unknown = ()  # A list names tools, of which some may be gone.
        unknown += further
        self._tell(chat, unknown, words.missing)
        prompt = str(choices.get(PROMPT) or MONOLITH)
        offered = frozenset(one for one in names | more if self._fits(words.tools[one], prompt))
        everything = len(offered) == len(words.tools)
        return Chosen(
            offered=None if everything else offered,
            only=None if everything or not chat else offered,
            closed=open_scopes(shut),
            scopes=scopes,
            unknown=unknown,
        )

    def _shut(self) -> tuple[str, ...]:
        """The owner's settings that are off and keep tools back."""
        snapshot = self._snapshot()
        if self._asking[0] is not snapshot:
            self._asking = (snapshot, tuple(sorted({tool.gated for tool in snapshot.tools.values() if tool.gated})))
        asking = self._asking[1]
        return tuple(setting for setting in asking if not self._gated(setting)) if asking else ()

    def _fits(self, tool: Tool, prompt: str) -> bool:
        return tool.prompt in ("", prompt) and (not tool.gated or self._gated(tool.gated))

    def _tell(self, chat: str, unknown: tuple[str, ...], missing: set[str]) -> None:
        for word in unknown:
            if word not in self._unknown.get(chat, ()):
                log.warning("unknown toolset", chat=chat, toolset=word)
        for name in sorted(missing):
            log.warning("a toolset names a tool that there is not", chat=chat, tool=name)
        if unknown:
            self._unknown[chat] = unknown
        else:
            self._unknown.pop(chat, None)


def _same(before: tuple[object, ...], now: tuple[object, ...]) -> bool:
    for one, other in zip(before, now, strict=True):
        if one is not other and (isinstance(one, Snapshot) or one != other):
            return False
    return True
