"""The event that a plugin's hook is handed: everything that it may read and change, and what goes back to the host of it.

The host sends it as JSON and gets as JSON what was changed; what cannot travel, such as `metadata["system"]`, is made here and
stays here. Above: `handling`. Below: `settings`, `system`. It refuses to know: which hooks there are elsewhere, and their
order.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any

from etui.contracts.sapphire import settings, system

NAMES = frozenset(
    {
        "pre_chat",
        "post_chat",
        "prompt_inject",
        "pre_execute",
        "post_execute",
        "tools_filter",
        "chat_renamed",
        "chat_cleared",
        "chat_deleted",
        "plugins_ready",
        "provider_switched",
    }
)
"""The hooks that are called."""
WITH_SYSTEM = frozenset({"pre_chat", "post_chat", "pre_execute"})
SYSTEM = "system"
_END = re.compile(r"[\s.!?,;:]+\Z")


class HookEvent:
    """What happens, for all handlers of one hook one after another; they may change every field."""

    def __init__(self, given: object) -> None:
        """`given` is the event as the host tells it."""
        said: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        self.input: str = said.get("input") or ""
        self.skip_llm = bool(said.get("skip_llm"))
        self.response: str | None = said.get("response")
        self.ephemeral = bool(said.get("ephemeral"))
        self.context_parts: list[str] = list(said.get("context_parts") or [])
        self.stop_propagation = False
        self.config = settings.config()
        self.metadata: dict[str, Any] = dict(said.get("metadata") or {})
        self.function_name: str | None = said.get("function_name")
        self._arguments: Any = copy.deepcopy(said.get("arguments"))
        self._replaced = False
        self.result: Any = said.get("result")
        self.tools: list[Any] | None = copy.deepcopy(said.get("tools"))
        self.chat_name: str | None = said.get("chat_name")
        self.chat_private = bool(said.get("chat_private"))
        self.surface: str = said.get("surface") or "chat"
        self.ghost_text: str = ""
        self.tts_text: str | None = None
        self.skip_tts = False
        self._offered = self.tools
        if said.get("hook") in WITH_SYSTEM:
            self.metadata[SYSTEM] = system.get_system()

    @property
    def arguments(self) -> dict[str, Any] | None:
        """A copy of the call's; what is assigned is what the tool gets, be it the changed copy itself."""
        found: dict[str, Any] | None = self._arguments
        return found

    @arguments.setter
    def arguments(self, value: dict[str, Any] | None) -> None:
        self._arguments, self._replaced = value, True

    def told(self) -> dict[str, object]:
        """What the host hears of it. Arguments only where others were put in their place: the handler had a copy."""
        back: dict[str, object] = {
            "input": _text(self.input),
            "skip_llm": bool(self.skip_llm),
            "response": None if self.response is None else _text(self.response),
            "ephemeral": bool(self.ephemeral),
            "context_parts": [_text(one) for one in self.context_parts or () if one],
            "stop_propagation": bool(self.stop_propagation),
            "metadata": _plain({key: value for key, value in (self.metadata or {}).items() if key != SYSTEM}),
            "result": None if self.result is None else _text(self.result),
        }
        if self._replaced and isinstance(self.arguments, Mapping):
            back["arguments"] = _plain(self.arguments)
        if self._offered is not None:
            back["tools"] = [name for one in self.tools or () if (name := _name(one))]
        return back


def notes(manifest: Mapping[str, Any]) -> list[str]:
    """What the owner should know about hooks that are never called here."""
    asked = manifest.get("hooks")
    others = sorted(str(name) for name in asked if name not in NAMES) if isinstance(asked, Mapping) else []
    return [f"Its hook {name!r} is never called here." for name in others]


def meant(facts: Mapping[str, Any], said: str) -> bool:
    """Whether a voice command with these facts is meant by what the person said; case is no matter."""
    text = said.strip().casefold()
    triggers = facts.get("triggers")
    listed = triggers if isinstance(triggers, list) else [triggers]
    how = str(facts.get("match") or "exact")
    return any(_meant(how, trigger, text, said) for trigger in listed if isinstance(trigger, str) and trigger.strip())


def _meant(how: str, trigger: str, text: str, said: str) -> bool:
    wanted = trigger.strip().casefold()
    if how == "regex":
        return re.search(trigger, said.strip(), re.IGNORECASE) is not None
    if how == "starts_with":
        return text.startswith(wanted)
    return wanted in text if how == "contains" else _END.sub("", text) == _END.sub("", wanted)


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _name(tool: object) -> str:
    """The name of a tool as it was offered, or of one that is named by its name alone."""
    if isinstance(tool, Mapping):
        function = tool.get("function")
        tool = function.get("name") if isinstance(function, Mapping) else tool.get("name")
    return tool if isinstance(tool, str) else ""


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """What of it is JSON."""
    kept = {}
    for key, one in value.items():
        try:
            kept[str(key)] = json.loads(json.dumps(one, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            continue
    return kept
