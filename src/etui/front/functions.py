"""Functions of the program that opened the host, offered as tools and taken back.

Above: that program, through `host`. Below: `added`, what is known, and who brings the registry in step. It refuses to know: how
a function becomes a tool, and how it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from etui.errors import UsageError
from etui.plugins.added import Added
from etui.plugins.known import Known
from etui.tool import Tool


class Functions:
    """The functions that were added to one host."""

    def __init__(self, added: Added, known: Known, reserved: Collection[str], renew: Callable[[], None]) -> None:
        """`reserved` are names that no tool can have; `renew` brings the registry in step."""
        self._added = added
        self._known = known
        self._reserved = reserved
        self._renew = renew

    def add(self, function: Callable[..., Any], options: Mapping[str, object]) -> Tool:
        """Offer it, with these options above its own. Raises UsageError where it is no tool, or the name is taken."""
        tool, bound = self._added.read(function, options)
        if tool.name.casefold() in self._reserved:
            raise UsageError(f"The name {tool.name!r} belongs to Etui itself and can never be taken.")
        for other in self._known.tools():
            if other.name.casefold() == tool.name.casefold():
                raise UsageError(
                    f"The name {tool.name!r} is already taken by plugin {other.plugin!r} ({other.file}:{other.line}). "
                    "Add it under another one: host.add(function, name=...)."
                )
        self._added.keep(tool, bound)
        self._renew()
        return tool

    def remove(self, name: str) -> None:
        """Take one back; its calls under way end as they would. Raises UsageError where there is none."""
        self._added.remove(name)
        self._renew()
