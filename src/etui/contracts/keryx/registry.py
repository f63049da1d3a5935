"""`ToolRegistry`: tools by name with their schemas, as `keryx.tools.registry` has it for tool files and their tests.

Above: `folder`, `names`. Below: `calling`. It refuses to know: the host, whose own registry and whose one door are others; a
call that a file makes through this one stays within its own process.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from etui.contracts.keryx import calling, results
from etui.contracts.keryx.context import ToolContext

log = logging.getLogger("keryx.tools.registry")
ToolHandler = Callable[[ToolContext, dict[str, Any]], Awaitable[Any]]
Silent = bool | Callable[[dict[str, Any]], Any]


@dataclass
class _Tool:
    name: str
    description: str
    parameters: dict[str, Any]
    handler: ToolHandler = field(repr=False)
    silent: Silent = False

    def schema(self) -> dict[str, Any]:
        """As a provider of models takes it."""
        return {"type": "function", "name": self.name, "description": self.description, "parameters": self.parameters}


class ToolRegistry:
    """Tools in the order in which they were registered."""

    def __init__(self) -> None:
        self._tools: dict[str, _Tool] = {}
        self._loader: Callable[[ToolRegistry], None] | None = None

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def names(self) -> list[str]:
        """Their names."""
        return list(self._tools)

    def schemas(self) -> list[dict[str, Any]]:
        """Their schemas."""
        return [tool.schema() for tool in self._tools.values()]

    def register(
        self, name: str, description: str, parameters: dict[str, Any], handler: ToolHandler, *, silent: Silent = False
    ) -> None:
        """Add a tool, or put it in the place of the one that has its name."""
        if name in self._tools:
            log.warning("tool %s is registered again: the new one answers from now on", name)
        self._tools[name] = _Tool(name, description, parameters, handler, silent)

    def set_loader(self, loader: Callable[[ToolRegistry], None]) -> None:
        """Let this add tools to each registry that `for_call` gives."""
        self._loader = loader

    def for_call(self) -> ToolRegistry:
        """The registry of one session: itself without a loader; else one with the same tools, and what the loader adds now."""
        if self._loader is None:
            return self
        own = ToolRegistry()
        own._tools = dict(self._tools)
        try:
            self._loader(own)
        except Exception:  # somebody else's function: it costs the session what it would have added
            log.exception("loading the custom tools failed; this call has the built-in ones")
            own._tools = dict(self._tools)
        return own

    def is_silent(self, name: str, arguments: dict[str, Any] | None = None) -> bool:
        """Whether the result of that call asks for no new words; False for an unknown tool, and where a tool cannot say."""
        tool = self._tools.get(name)
        if tool is None:
            return False
        try:
            return bool(tool.silent(arguments or {}) if callable(tool.silent) else tool.silent)
        except Exception:  # somebody else's function, and the result is worth more than what it says of it
            log.exception("tool %s could not say whether it is silent, so it speaks", name)
            return False

    async def call(self, name: str, arguments: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        """Run a tool and give a payload, whatever happens. Raises only CancelledError, when the call itself is cancelled."""
        tool = self._tools.get(name)
        if tool is None:
            log.warning("there is no tool %s", name)
            return {"error": f"unknown tool: {name}"}
        log.info("tool %s is called by session %s", name, ctx.session.session_id)
        try:
            result = await tool.handler(ctx, arguments)
        except BaseException as error:  # a tool may raise anything, SystemExit among it: it costs this one call
            if calling.stopped(error):
                raise
            log.exception("tool %s failed", name)
            return results.error(error)[0]
        return result if isinstance(result, dict) else {"result": result}
