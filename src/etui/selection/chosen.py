"""What holds in one chat: the noun between the selections, which work it out, and the session and the gate, which go by it.

Above: `selection`, `verdict`, `session`. Below: `msgspec`. It refuses to know: which words it was worked out from.
"""

from __future__ import annotations

import msgspec

from etui.tool import Tool


class Chosen(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Which tools a chat has, and what its scopes stand for."""

    offered: frozenset[str] | None = None
    """The only tools that are offered; None is every one."""
    only: frozenset[str] | None = None
    """The only tools that may run; None is every one. Outside of a chat nothing is kept from running."""
    closed: frozenset[str] = frozenset()
    """Keys of the scopes that are closed: what needs one of them is neither offered nor run."""
    scopes: dict[str, object] = {}
    """By key, the name that was chosen, or None where it is closed."""
    unknown: tuple[str, ...] = ()
    """Words that were chosen and mean nothing."""

    def offers(self, tool: Tool) -> bool:
        """Whether the tool is among what a model is offered here."""
        return (self.offered is None or tool.name in self.offered) and not (tool.scope and tool.scope in self.closed)

    def lets(self, tool: Tool) -> bool:
        """Whether the tool is among what may be called here; its scope is another matter."""
        return self.only is None or tool.name in self.only


EVERYTHING = Chosen()
"""Where nothing was chosen."""
