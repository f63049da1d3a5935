"""What persons said "always" to, bound to the code that they said it to: changed code asks again.

Above: `host` hands it to sessions as their `Memory`. Below: `store`. It refuses to know: how the question was put.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from etui.store.values import Values
from etui.tool import Tool

SPACE = "approval"


class Approvals:
    """Remembered answers, kept in the store and held in memory for the gate."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._keys = set(values.all(SPACE))

    def allows(self, tool: Tool, asker: str, arguments: Mapping[str, object]) -> bool:
        """Whether this call, or every call of this tool for this asker, was said yes to, for this code."""
        if not self._keys:
            return False
        return _key(tool, asker, None) in self._keys or _key(tool, asker, arguments) in self._keys

    def remember(self, tool: Tool, asker: str, arguments: Mapping[str, object] | None) -> None:
        """Say yes from now on: to this exact call, or with None to the tool for this asker."""
        key = _key(tool, asker, arguments)
        self._keys.add(key)
        self._values.put(
            SPACE, key, {"tool": tool.name, "plugin": tool.plugin, "channel": asker, "exact": arguments is not None}
        )

    def forget(self, tool: str) -> int:
        """Ask again for everything about this tool; says how many answers were forgotten."""
        gone = [key for key, kept in self._values.all(SPACE).items() if isinstance(kept, dict) and kept.get("tool") == tool]
        for key in gone:
            self._values.delete(SPACE, key)
            self._keys.discard(key)
        return len(gone)


def _key(tool: Tool, asker: str, arguments: Mapping[str, object] | None) -> str:
    exact = b"*" if arguments is None else msgspec.json.encode(arguments, order="deterministic")
    content = f"{tool.digest}\0{tool.plugin}\0{tool.name}\0{asker}\0".encode() + exact
    return hashlib.sha256(content).hexdigest()
