"""What a tool file is made with: the decorator `custom_tool`, the `CustomTool` that it makes, and how a file refuses itself.

Above: `names` gives these to tool files, `reading` looks for them. Below: the standard library. It refuses to know: whether a
tool is any good (`checks` does), and how it is called.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from etui.contracts.keryx.context import ToolContext
from etui.contracts.keryx.settings import Settings

DEFAULT_TIMEOUT_S = 20.0
"""Seconds that a call may take where a tool does not say."""
CustomHandler = Callable[[ToolContext, dict[str, Any]], Awaitable[Any] | Any]
"""What runs: it takes the context and the model's arguments, and may be async or not."""
LOADING_SETTINGS: ContextVar[Settings | None] = ContextVar("loading_settings", default=None)
"""The settings of whoever loads a tool file, while it loads."""


class ToolUnavailable(Exception):
    """Raised by a file while it loads to refuse itself; its text is the whole reason."""


@dataclass(frozen=True)
class CustomTool:
    """One tool of a file: what the model is told, and what runs."""

    name: str
    description: str
    parameters: dict[str, Any]
    handler: CustomHandler = field(repr=False)
    needs_pin: bool = True
    silent: bool | Callable[[dict[str, Any]], Any] = False
    """Whether its result asks for no new words; or a function of the arguments that says so for each call."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Seconds that a call may take."""


def custom_tool(
    name: str | None = None,
    *,
    description: str,
    parameters: dict[str, Any] | None = None,
    needs_pin: bool = True,
    silent: bool | Callable[[dict[str, Any]], Any] = False,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> Callable[[CustomHandler], CustomTool]:
    """Make a function into a tool, called after it where no name is given. Nothing is checked here: loading does that."""

    def made(handler: CustomHandler) -> CustomTool:
        return CustomTool(
            name=name or handler.__name__,
            description=description,
            parameters=parameters or {"type": "object", "properties": {}},
            handler=handler,
            needs_pin=needs_pin,
            silent=silent,
            timeout_s=timeout_s,
        )

    return made
