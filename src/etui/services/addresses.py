"""How a tool reaches this host over HTTP, for older files that do: by a key of its own.

Above: the table of services. Below: `keys`, `desk`. It refuses to know: what the key opens.
"""

from __future__ import annotations

from etui.services.desk import SAPPHIRE, Desk, Family
from etui.services.keys import Holder, Keys


class Addresses:
    """What one call may know of the host's addresses."""

    def __init__(self, keys: Keys, desk: Desk) -> None:
        self._keys = keys
        self._desk = desk

    async def key(self) -> object:
        """A key for this plugin in this conversation."""
        desk = self._desk
        return self._keys.give(Holder(desk.serve, desk.plugin, desk.session.chat), desk.session.id)


FAMILY = Family(lambda desk: Addresses(desk.needs.keys, desk), {"addresses.key": Addresses.key}, only=SAPPHIRE)
