"""The manager of functions as plugins ask it: what each tool is, which a category holds, which a selection means.

Above: the names under `core.chat`. Below: `current`, whose host answers. It refuses to know: how a tool is called; no plugin
reaches another one's tools by this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from etui.contracts.sapphire import current, dynamic


class FunctionManager:
    """Answers from the host's own list, as it is at the moment."""

    def tool_meta(self, name: str) -> dict[str, Any]:
        """What one tool is: its category, flags, scope, module and plugin; empty where there is none of that name."""
        return self._all().get(name, {})

    def categories(self) -> list[str]:
        """The categories that any tool has."""
        return sorted({str(one["category"]) for one in self._all().values()})

    def tools_in_category(self, cat: str, writes: bool | None = None) -> list[str]:
        """The names of a category's tools; with `writes`, only those of which that is so."""
        return [
            name
            for name, one in self._all().items()
            if one["category"] == cat and (writes is None or one["writes"] is bool(writes))
        ]

    def tool_scope(self, name: str) -> str | None:
        """The key of the scope that a tool needs; None where it needs none."""
        return self.tool_meta(name).get("scope") or None

    def resolve_tools(self, selection: object = "all", closed_scopes: Iterable[str] | None = None) -> list[str]:
        """The names of the tools that a selection means, without those that need one of the closed scopes."""
        asked = selection if isinstance(selection, str) else list(selection) if isinstance(selection, Iterable) else "none"
        closed = [closed_scopes] if isinstance(closed_scopes, str) else [str(one) for one in closed_scopes or ()]
        found: Any = current.ask("functions.resolve", selection=asked, closed=closed)
        return list(found["names"])

    def register_dynamic_tools(
        self,
        module_name: str,
        tools: list[dict[str, Any]],
        executor: Callable[..., Any],
        plugin_name: str = "",
        emoji: str = "",
    ) -> list[str]:
        """Offer tools that no file lists; gives the names that were free."""
        return dynamic.register(module_name, tools, executor, plugin_name, emoji)

    def unregister_dynamic_tools(self, module_name: str) -> None:
        """Take them back."""
        dynamic.unregister(module_name)

    def get_enabled_function_names(self) -> list[str]:
        """The names of the tools that a model is offered in this chat."""
        found: Any = current.ask("functions.enabled")
        return list(found)

    def _all(self) -> dict[str, dict[str, Any]]:
        found: Any = current.ask("functions.all")
        return dict(found)
