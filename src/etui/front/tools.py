"""The tools of a host, and what its owner decides about each: whether it is on, and by which sentences it is meant.

Above: surfaces. Below: what is known, the owner's decisions, and the parts that follow them. It refuses to know: how a tool is
called, which is a session's to do.
"""

from __future__ import annotations

from etui.availability import Availability
from etui.errors import UsageError
from etui.owner.decisions import Switches, Taught
from etui.plugins.catalogue import Catalogue
from etui.plugins.families import Family, families
from etui.plugins.known import Known
from etui.plugins.servers import Servers
from etui.tool import Tool


class Tools:
    """The tools of one host."""

    def __init__(
        self,
        known: Known,
        switches: Switches,
        taught: Taught,
        *,
        catalogue: Catalogue,
        servers: Servers,
        availability: Availability,
    ) -> None:
        """The last three follow a switch: what is off is not run, not connected, and asked anew once it is on."""
        self._known = known
        self._switches = switches
        self._taught = taught
        self._catalogue = catalogue
        self._servers = servers
        self._availability = availability

    def all(self) -> tuple[Tool, ...]:
        """Every tool, those that are switched off too; of the folders that are read afresh, as they were read last."""
        return self._known.tools()

    def families(self) -> tuple[Family, ...]:
        """Every toolset with its tools, as it can be switched."""
        return families(self._known.snapshot, self.off())

    def off(self) -> frozenset[str]:
        """Names of tools and toolsets that are switched off; the same set until something changes."""
        return self._switches.over(self._known.snapshot)

    def switch(self, name: str, on: bool) -> None:
        """Switch a tool or toolset on or off, from the next call on; of a plugin that is off as a whole no code runs."""
        self._switches.switch(name, on)
        self._catalogue.switched(name if on else "")
        self._servers.look()
        for plugin in self._known.plugins():
            if plugin.family == name:
                self._availability.forget(plugin.name)
        self._catalogue.tell_changed(name)

    def taught(self, tool: str) -> tuple[str, ...]:
        """The sentences that a person taught for a tool."""
        return self._taught.of(tool)

    def teach(self, tool: str, sentence: str) -> None:
        """Teach a tool a sentence. Raises UsageError with what is wrong with it."""
        known = self._known.tool(tool)
        if known is None:
            raise UsageError(f"There is no tool {tool!r}; `etui tools` lists what there is.")
        self._taught.teach(known, sentence)
        self._catalogue.tell_changed(tool)

    def unteach(self, tool: str, sentence: str) -> None:
        """Take a taught sentence back. Raises UsageError if it was not taught."""
        self._taught.forget(tool, sentence)
        self._catalogue.tell_changed(tool)
