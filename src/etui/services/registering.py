"""Tools that a plugin registers while it runs.

Above: the table of services. Below: `needs`. It refuses to know: what becomes of a name that is taken.
"""

from __future__ import annotations

from typing import Any

import msgspec

from etui.errors import ServiceError
from etui.services.desk import SAPPHIRE, Family
from etui.services.needs import Register
from etui.tool import Tool

MOST = 500
"""Tools that may be registered at once."""


class Registering:
    """Registers tools of one plugin."""

    def __init__(self, register: Register, plugin: str) -> None:
        self._register = register
        self._plugin = plugin

    async def register(self, tools: list[dict[str, Any]] | None = None, remove: list[str] | None = None) -> object:
        """Offer these, and no longer those; gives the names that are taken, each with the reason."""
        try:
            made = msgspec.convert(tools or [], tuple[Tool, ...])
            gone = msgspec.convert(remove or [], tuple[str, ...])
        except msgspec.ValidationError as error:
            raise ServiceError(f"These are no tools that can be registered: {error}.") from None
        if len(made) > MOST:
            raise ServiceError(f"At most {MOST} tools can be registered at once; {len(made)} were.")
        return self._register(self._plugin, made, gone)


FAMILY = Family(
    lambda desk: Registering(desk.needs.register, desk.plugin),
    {"tools.register": Registering.register},
    only=SAPPHIRE,
    told=True,
)
