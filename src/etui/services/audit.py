"""The audit, as far as it is a plugin's own: what its tools did, and what one of them tried.

Above: the table of services. Below: the journal. It refuses to know: what other plugins did.
"""

from __future__ import annotations

import itertools

import msgspec

from etui.owner.confirming import DECLINED
from etui.services.desk import Family
from etui.store.journal import Journal
from etui.tool import Call, Tool

LOOKED_AT = 500
"""Calls among which a plugin's own are looked for."""


class OwnAudit:
    """The audit of one plugin."""

    def __init__(self, journal: Journal, tool: Tool, call: Call) -> None:
        self._journal = journal
        self._tool = tool
        self._call = call

    async def recent(self, limit: int = 50) -> object:
        """What this plugin's own tools did last, the newest first, without secrets."""
        own = {one.id for one in self._journal.audit(LOOKED_AT) if one.plugin == self._tool.plugin}
        found = (msgspec.to_builtins(one) for one in self._journal.actions(LOOKED_AT) if one.call in own)
        return list(itertools.islice(found, max(0, limit)))

    async def tried(self, what: str) -> object:
        """The tool tried what no tool may; it stands in the audit, and nothing else comes of it."""
        self._journal.decided(self._call.id, what, self._tool.risk.value, DECLINED, "never")
        return None


FAMILY = Family(
    lambda desk: OwnAudit(desk.needs.store.journal, desk.tool, desk.call),
    {"audit.recent": OwnAudit.recent, "session.tried": OwnAudit.tried},
)
