"""Tools that a plugin registers itself, each with its executor: while its files are run, or later on.

What comes while the files are run is described with the rest; later the host is told. A name that the plugin has already is
left out, and so is one that another plugin has, which the host sees to.
Above: the contract, and `core.chat.function_manager`. Below: `reading`, `exports`. It refuses to know: how a tool is called.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any

import msgspec

from etui.contracts import apart
from etui.contracts.sapphire import current
from etui.contracts.sapphire.reading import Reading
from etui.errors import ServiceError
from etui.tool import Tool

log = logging.getLogger("sapphire")
Executor = Callable[..., Any]
SERVICE = "tools.register"
"""What the host is asked with the tools that came after the plugin was described."""
_READING: list[Reading] = []


def begin(reading: Reading) -> None:
    """From now on, this is the plugin that registers."""
    _READING[:] = [reading]


def register(
    module_name: str, tools: list[dict[str, Any]], executor: Executor, plugin_name: str = "", emoji: str = ""
) -> list[str]:
    """Offer these tools, described as in TOOLS; `executor` is called as `execute` is. Gives the names that are taken on.

    `plugin_name` is for the author's eyes: the host knows whose tools they are.
    """
    if not _READING:
        return []
    module = ModuleType(module_name)
    vars(module).update(TOOLS=list(tools), execute=executor, EMOJI=emoji)
    reading = _READING[0]
    added = reading.register(module)
    try:
        apart.line()
    except ServiceError:
        return [tool.name for tool in added]  # the files are being run: it is described with the rest
    return _told(reading, added)


def unregister(module_name: str) -> None:
    """Take back what was registered under that name."""
    gone = _READING[0].unregister(module_name) if _READING else []
    if gone:
        _ask(remove=gone)


def _told(reading: Reading, added: list[Tool]) -> list[str]:
    """Tell the host of them, and forget those whose names others have."""
    refused = _ask(tools=[msgspec.to_builtins(tool) for tool in added]) if added else {}
    for name, why in refused.items():
        log.warning("%s", why)
        reading.drop(name)
    return [tool.name for tool in added if tool.name not in refused]


def _ask(**args: object) -> dict[str, str]:
    try:
        answer = current.ask(SERVICE, **args)
    except ServiceError as error:
        log.warning("The host was not told of the tools that were registered: %s", error)
        return {}
    return {str(name): str(why) for name, why in answer.items()} if isinstance(answer, dict) else {}
