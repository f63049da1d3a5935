"""A plugin's own state: values by key, which no other plugin sees.

Above: the table of services. Below: `store.state`. It refuses to know: what the values are for.
"""

from __future__ import annotations

from etui.services.desk import Family
from etui.store.state import State


class OwnState:
    """The state of one plugin."""

    def __init__(self, state: State, plugin: str) -> None:
        self._state = state
        self._plugin = plugin

    async def get(self, key: str) -> object:
        """The value and its version, or None."""
        return self._state.get(self._plugin, key)

    async def put(self, key: str, value: object) -> object:
        """Set it, whatever is there."""
        self._state.put(self._plugin, key, value)
        return None

    async def swap(self, key: str, value: object, version: int) -> object:
        """Set it if it still has this version; version 0 is "not there"."""
        return self._state.swap(self._plugin, key, value, version)

    async def delete(self, key: str) -> object:
        """Remove it."""
        return self._state.delete(self._plugin, key)

    async def keys(self, prefix: str = "") -> object:
        """The keys that begin so."""
        return self._state.keys(self._plugin, prefix)

    async def search(self, query: str, prefix: str = "", limit: int = 20) -> object:
        """Key, value and snippet of what matches, best first."""
        return self._state.search(self._plugin, prefix, query, limit)


FAMILY = Family(
    lambda desk: OwnState(desk.needs.store.state, desk.plugin),
    {
        "state.get": OwnState.get,
        "state.put": OwnState.put,
        "state.swap": OwnState.swap,
        "state.delete": OwnState.delete,
        "state.keys": OwnState.keys,
        "state.search": OwnState.search,
    },
)
