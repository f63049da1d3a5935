"""What is chosen for a chat: its tools and the account of each scope; and the saved toolsets that it may choose among.

Above: surfaces. Below: the selections, the stored choices, the owner's accounts. It refuses to know: how any of it is drawn,
and what the gate makes of it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from etui.errors import UsageError
from etui.events import Hub, Kind
from etui.owner.accounts import Accounts
from etui.owner.kinds import kind_of_scope
from etui.registry import Snapshot
from etui.selection import ASSEMBLED, EXTRA, MONOLITH, PROMPT, TOOLSET, Selections
from etui.selection.saved import Toolset
from etui.selection.scopes import PRIVATE, RAG, SCOPE, registered
from etui.selection.words import category_of, listed
from etui.store.chatchoices import ChatChoices
from etui.tool import Scope, Tool

LONGEST, MOST = 200, 1000
"""Characters of one word, and words of a list."""
PROMPTS = (MONOLITH, ASSEMBLED)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A tool in the picker."""

    name: str
    description: str
    plugin: str
    category: str
    module: str
    icon: str
    badges: tuple[str, ...]
    risk: str
    scope: str
    on: bool


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A heading of the picker, with what stands under it."""

    name: str
    icons: tuple[str, ...]
    """Of the files that its tools are of, each once."""
    tools: tuple[Row, ...]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A scope, and what a chat chose for it."""

    key: str
    label: str
    plugin: str
    default: str
    chosen: str
    """Empty where nothing was chosen."""
    stands_for: str | None
    """What it comes to; None where it is closed."""
    accounts: tuple[str, ...]
    """The owner's accounts that it can be."""
    facts: dict[str, object]
    """What the plugin says of it: `endpoint` lists further choices, under the names that it gives."""


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """What a chat has."""

    chat: str
    toolset: str | list[str]
    extra_toolsets: list[str]
    prompt: str
    prompts: tuple[str, ...]
    """The kinds of prompt to choose among; none where no tool minds."""
    documents: bool
    scopes: tuple[Choice, ...]
    tools: tuple[str, ...]
    """The tools that this leaves it, those that are switched off aside."""
    unknown: tuple[str, ...]
    """Words that mean nothing."""


class Choosing:
    """The choices of one host's chats."""

    def __init__(
        self,
        selections: Selections,
        choices: ChatChoices,
        accounts: Accounts,
        hub: Hub,
        *,
        snapshot: Callable[[], Snapshot],
        off: Callable[[], frozenset[str]],
        changed: Callable[[str], None],
    ) -> None:
        """`off` names what is switched off; `changed` tells everybody of a toolset that has changed."""
        self._selections = selections
        self._choices = choices
        self._accounts = accounts
        self._hub = hub
        self._snapshot = snapshot
        self._off = off
        self._changed = changed

    def groups(self) -> tuple[Group, ...]:
        """The picker: every tool that is not hidden, under its heading."""
        modules, off = self._selections.modules(), self._off()
        found: dict[str, list[Tool]] = {}
        for tool in self._snapshot().tools.values():
            if not tool.hidden:
                found.setdefault(tool.group or category_of(tool), []).append(tool)
        return tuple(
            Group(
                name=name,
                icons=tuple(dict.fromkeys(tool.icon for tool in tools if tool.icon)),
                tools=tuple(self._row(tool, modules[tool.name], off) for tool in tools),
            )
            for name, tools in sorted(found.items(), key=lambda one: one[0].casefold())
        )

    def toolsets(self) -> tuple[Toolset, ...]:
        """The saved ones, by name."""
        return tuple(one for _, one in sorted(self._selections.saved.all().items()))

    def trouble(self) -> str:
        """Why saved toolsets cannot be read; empty where they can."""
        return self._selections.saved.trouble()

    def save(self, name: str, functions: list[str], emoji: str = "") -> Toolset:
        """Save a toolset. Raises UsageError for what cannot be one."""
        if any(len(one) > LONGEST for one in functions):
            raise UsageError(f"The name of a tool has at most {LONGEST} characters.")
        saved = self._selections.saved.save(name, functions, emoji)
        self._changed(saved.name)
        return saved

    def remove(self, name: str) -> bool:
        """Forget a saved toolset; False if there is none of that name that is this home's own."""
        gone = self._selections.saved.remove(name)
        if gone:
            self._changed(name)
        return gone

    def of(self, chat: str) -> Chosen:
        """What a chat has."""
        choices, chosen = self._selections.choices(chat), self._selections.chosen(chat)
        toolset, extra = choices.get(TOOLSET), choices.get(EXTRA)
        off, tools = self._off(), self._snapshot().tools.values()
        return Chosen(
            chat=chat,
            toolset="none" if toolset == [] else toolset if isinstance(toolset, str | list) and toolset else "all",
            extra_toolsets=listed(extra),
            prompt=str(choices.get(PROMPT) or MONOLITH),
            prompts=PROMPTS if any(tool.prompt for tool in tools) else (),
            documents=bool(chosen.scopes.get(RAG)),
            scopes=self._scopes(choices, chosen.scopes),
            tools=tuple(
                tool.name for tool in tools if chosen.offers(tool) and tool.name not in off and tool.toolset not in off
            ),
            unknown=chosen.unknown,
        )

    def choose(self, chat: str, key: str, value: object) -> None:
        """Choose for a chat; None takes the choice back. Raises UsageError for what cannot be, StoreError without the chat."""
        self._choices.put(chat, key, None if value is None else _checked(key, value))
        self._hub.tell(Kind.CHATS_CHANGED, {"chat": chat}, chat=chat)

    def _row(self, tool: Tool, module: str, off: frozenset[str]) -> Row:
        return Row(
            name=tool.name,
            description=tool.description,
            plugin=tool.plugin,
            category=category_of(tool),
            module=module,
            icon=tool.icon,
            badges=tool.badges,
            risk=str(tool.risk),
            scope=tool.scope,
            on=tool.name not in off and tool.toolset not in off,
        )

    def _scopes(self, choices: dict[str, object], values: dict[str, object]) -> tuple[Choice, ...]:
        snapshot, off = self._snapshot(), self._off()
        scopes = registered(snapshot, off)
        owners = {one.key: plugin.name for plugin in reversed([*snapshot.plugins.values()]) for one in plugin.scopes}
        whole = {plugin.name for plugin in snapshot.plugins.values() if plugin.family in off}
        for tool in snapshot.tools.values():
            if tool.scope and tool.scope not in scopes and tool.plugin not in whole and tool.toolset not in off:
                scopes[tool.scope] = Scope(key=tool.scope)
                owners[tool.scope] = tool.plugin
        return tuple(
            self._choice(scope, owners[scope.key], choices.get(f"{scope.key}{SCOPE}"), values) for scope in scopes.values()
        )

    def _choice(self, scope: Scope, plugin: str, chosen: object, values: dict[str, object]) -> Choice:
        kind = kind_of_scope(scope.key)
        text = chosen if isinstance(chosen, str) else ""
        value = values.get(scope.key, None if text == "none" else text or scope.default)
        return Choice(
            key=scope.key,
            label=scope.label or scope.key,
            plugin=plugin,
            default=scope.default,
            chosen=text,
            stands_for=None if value is None else str(value),
            accounts=self._accounts.names(kind.name) if kind is not None else (),
            facts=scope.facts,
        )


def _checked(key: str, value: object) -> object:
    """The choice as it is kept. Raises UsageError."""
    words = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) and len(one) <= LONGEST for one in words) or len(words) > MOST:
        raise UsageError(f"{key!r} must be a word, or a list of at most {MOST:,} words of at most {LONGEST} characters.")
    if key in (TOOLSET, EXTRA):
        return value
    if isinstance(value, list):
        raise UsageError(f"{key!r} must be one word.")
    if key == PROMPT and value not in PROMPTS:
        raise UsageError(f"{key!r} is one of {', '.join(PROMPTS)}.")
    if key != PROMPT and (not key.endswith(SCOPE) or not key.removesuffix(SCOPE).isidentifier() or key == f"{PRIVATE}{SCOPE}"):
        raise UsageError(f"Nothing called {key!r} can be chosen for a chat.")
    return value
