"""What one file exports, read off the module once it has run: its tools with their flags, and how `execute` is to be called.

Above: `reading`. Below: the nouns, `wanting`. It refuses to know: how files are found, and how a call is run.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from etui.contracts import Files
from etui.contracts.media import clean, repr_of
from etui.contracts.sapphire.wanting import Wanting, risk_of
from etui.tool import Checks, Problem, Tool, Words

SECONDS = 330.0
"""How long a call may take: the files declare nothing, and the longest of them wait 300 s by themselves."""
CALLS, ROUNDS = 5, 7
"""How many calls of one reply run, and how many replies of a turn may call, where a tool of this contract is among them."""
LARGEST = 8 << 20
"""Characters of a result that the host lets pass: what is too long was cut before, as TOOL_RESULT_MAX_CHARS says."""
SCOPES = {"memory": "memory", "knowledge": "knowledge", "people": "people", "goals": "goal"}
"""The categories whose tools need a scope, whichever plugin they are of."""
MISSING = "missing TOOLS or execute()"
NAMED = 5
"""So many tools of a file that offers none are named."""
WORDS = Words(
    no_json="Error: Invalid JSON arguments.",
    misfit="Error: invalid argument type(s) — {faults}. Re-call the tool with the correct types.",
    not_chosen="Error: '{tool}' is not in the active toolset, so it cannot run. Tools that can: {names}. Use one of them, or "
    "tell the user that the toolset of this chat has to be changed first.",
)
"""What a model reads of calls that cannot run as they were sent."""


class Unusable(Exception):
    """One entry of TOOLS is no tool; the sentence says why."""


class Exports:
    """One file's offer."""

    def __init__(self, module: ModuleType, path: str, files: Files, wanting: Wanting) -> None:
        self.module = module
        self.path = path
        self.files = files
        self.loose = not Path(files.path).is_dir()
        """Whether it is a function module without a plugin around it."""
        self.problems: list[Problem] = []
        self._wanting = wanting
        self._without = ""
        """Why there is no list, where there should be one."""
        self._asked = wanting.whole() if self.registered else wanting.of(path)
        self._marked = False
        """Some of its tools say that they write."""

    @property
    def execute(self) -> Callable[..., Any] | None:
        """What answers for all tools of the file, as it stands there now."""
        found = getattr(self.module, "execute", None)
        return found if callable(found) else None

    @property
    def parameters(self) -> int:
        """How many arguments `execute` is handed: counted, whatever they are called."""
        if self.loose:
            return 3
        try:
            count = len(inspect.signature(self.execute).parameters)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            count = 5
        return min(max(count, 3), 5)

    @property
    def registered(self) -> bool:
        """Whether the plugin made it while it ran, and no file is behind it."""
        return getattr(self.module, "__file__", None) is None

    def tools(self) -> list[Tool]:
        """What it offers; the reasons for what it does not stand in `problems`."""
        if not getattr(self.module, "ENABLED", True):
            why = "ENABLED is false in it, so none of its tools is offered."
            self._tell(why, "Set ENABLED = True to offer them.", refused=False)
            return []
        listed = self._listed()
        if listed is None or self.execute is None:
            self._tell(MISSING + self._without, "A tool file has a list TOOLS, or get_tools(), and a function execute().")
            return []
        made = []
        self._marked = any(_writes(given) for given in listed)
        for number, given in enumerate(listed):
            try:
                tool = self.made(given)
            except Unusable as fault:
                self._tell(f"TOOLS[{number}] is no tool: {fault}.", "Mend the entry and save the file.")
                continue
            made.append(tool)
        found = [tool for tool in made if self._available(tool.name)]
        if made and not found and getattr(self.module, "AVAILABLE_FUNCTIONS", None):
            names = ", ".join(tool.name for tool in made[:NAMED])
            self._tell(f"AVAILABLE_FUNCTIONS names none of its tools ({names}).", "Put their names into that list.")
        return found

    def fresh(self) -> list[dict[str, Any]]:
        """Name, description and parameters of each tool as `get_tools` gives them now; nothing where there is none.

        Raises whatever it raises.
        """
        make = getattr(self.module, "get_tools", None)
        listed = make() if callable(make) else []
        made = (self.made(given) for given in (listed if isinstance(listed, list | tuple) else ()))
        return [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in made]

    def made(self, given: object) -> Tool:
        """The tool that one entry describes. Raises Unusable."""
        flags = given if isinstance(given, dict) else {}
        function = flags.get("function")
        if not isinstance(function, dict):
            raise Unusable("it has no 'function' with a name, a description and parameters")
        name = function.get("name")
        if not isinstance(name, str) or not name:
            raise Unusable("its function has no name")
        after, warning = self._warning(flags)
        category = self._category(flags)
        return Tool(
            name=name,
            description=clean(_text(function.get("description"))),
            parameters=_parameters(name, function.get("parameters")),
            contract="sapphire",
            plugin=self.files.plugin,
            source=self.files.source,
            digest=self.files.digest,
            file=self.path,
            line=1 if self.registered else self._wanting.line_of(self.path, name),
            checks=Checks.COERCE,
            risk=risk_of(self._asked, flags.get("writes"), self._marked),
            timeout=SECONDS,
            chars=LARGEST,
            words=WORDS,
            in_reply=CALLS,
            rounds=ROUNDS,
            wants=("config", "settings", "scopes", "context"),
            category=category,
            module=self.module.__name__ if self.registered else "",
            scope=self._scope(category),
            local=None if flags.get("is_local") is None else flags["is_local"] is True,
            badges=tuple(self._badges(flags)),
            hidden=flags.get("hidden") is True,
            group=_text(getattr(self.module, "GROUP", "")),
            icon=_text(getattr(self.module, "EMOJI", "")),
            gated=_text(_member(self.module, "SETTINGS_GATED", name)),
            prompt=self._prompt(name),
            warn_after=after,
            warning=warning,
        )

    @property
    def _what(self) -> str:
        """What the owner calls it."""
        if self.registered:
            return self.module.__name__
        return Path(self.path).name if self.loose else str(Path(self.path).relative_to(self.files.path))

    def _listed(self) -> list[object] | None:
        """What `get_tools` gives, where there is one and it works; else TOOLS; None where there is no list at all."""
        static = getattr(self.module, "TOOLS", None)
        make = getattr(self.module, "get_tools", None)
        if callable(make):
            try:
                given = make()
                if isinstance(given, list | tuple):
                    return list(given)
                fault = f"it gave {type(given).__name__} where a list is wanted"
            except BaseException as error:  # a file's own function may raise anything, SystemExit too
                fault = f"it raised {repr_of(error)[:300]}".replace("\n", " ")
            if isinstance(static, list | tuple):
                self._tell(f"get_tools() did not work, so TOOLS is offered as it stands in the file: {fault}.", refused=False)
            self._without = f" (get_tools() did not work: {fault})"
        return list(static) if isinstance(static, list | tuple) else None

    def _available(self, name: str) -> bool:
        """Whether AVAILABLE_FUNCTIONS lets it through: where it is missing everything is, and in a plugin where it is empty."""
        names = getattr(self.module, "AVAILABLE_FUNCTIONS", None)
        if names is None or (not names and not self.loose):
            return True
        try:
            return name in names
        except TypeError:
            return True

    def _category(self, flags: dict[str, Any]) -> str:
        """Its own word, the file's, or the plugin's name."""
        words = (flags.get("category"), getattr(self.module, "TOOL_CATEGORY", None), self._plugin_name())
        return next((word.strip() for word in words if isinstance(word, str) and word.strip()), "")

    def _plugin_name(self) -> object:
        """What the plugin calls itself, which may not be what the house calls it; of a loose module, its stem."""
        return Path(self.path).stem if self.loose else self.files.manifest.get("name", self.files.plugin)

    def _scope(self, category: str) -> str:
        """The scope that it needs: its category's, or the one that its plugin has, if it has just one."""
        if category in SCOPES:
            return SCOPES[category]
        declared = self.files.manifest.get("scopes")
        keys = [one.get("key") for one in declared if isinstance(one, dict)] if isinstance(declared, list) else []
        return str(keys[0]) if len(keys) == 1 and keys[0] else ""

    def _badges(self, flags: dict[str, Any]) -> Iterator[str]:
        if flags.get("is_local") is True:
            yield "local"
        if flags.get("network") is True:
            yield "network"
        if flags.get("is_local") == "endpoint":
            yield "endpoint"
        if _writes(flags):
            yield "writes"

    def _prompt(self, name: str) -> str:
        """The one kind of prompt that MODE_FILTER names it for; empty where it is named for both or for none."""
        kinds = [kind for kind in ("monolith", "assembled") if name in _names(_member(self.module, "MODE_FILTER", kind))]
        return kinds[0] if len(kinds) == 1 else ""

    def _warning(self, flags: dict[str, Any]) -> tuple[int, str]:
        after, message = flags.get("loop_warn_after"), flags.get("loop_warn_message")
        if isinstance(after, bool) or not isinstance(after, int) or after < 1 or not isinstance(message, str):
            return 0, ""
        return after, clean(message)

    def _tell(self, reason: str, hint: str = "", *, refused: bool = True) -> None:
        self.problems.append(
            Problem(
                what=self._what,
                reason=clean(reason),
                hint=hint,
                file=self.path,
                plugin=self.files.plugin,
                source=self.files.source,
                refused=refused,
            )
        )


def _writes(given: object) -> bool:
    """Whether an entry is of a tool that says it writes."""
    return isinstance(given, dict) and given.get("writes") is True and isinstance(given.get("function"), dict)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _member(module: ModuleType, table: str, key: str) -> object:
    """What a table of the module holds under a key; None where there is no such table."""
    found = getattr(module, table, None)
    return found.get(key) if isinstance(found, dict) else None


def _names(listed: object) -> tuple[object, ...]:
    return tuple(listed) if isinstance(listed, list | tuple | set) else ()


def _parameters(name: str, given: object) -> dict[str, object]:
    """The schema as it stands in the file, as JSON; an object without properties where there is none. Raises Unusable."""
    if given is None or given == {}:
        return {"type": "object", "properties": {}}
    if not isinstance(given, dict):
        raise Unusable(f"the parameters of {name!r} are no object")
    try:
        found: dict[str, object] = json.loads(clean(json.dumps(given, ensure_ascii=False, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise Unusable(f"the parameters of {name!r} are no JSON ({error})") from None
    return {"type": "object", **found}
