"""Which tools one conversation sees: switched on, chosen for its chat, of its mode, its own; worked out once until one changes.

Above: `session`. Below: `finding`, the modes, what is chosen. It refuses to know: calls. What is not seen may still be called
by its name, and it is the gate that refuses it then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from etui.modes import WORK, waits
from etui.selection.chosen import Chosen
from etui.session.finding import every, kept_from
from etui.session.parts import NOTHING, Parts
from etui.tool import BUILT_IN, Tool
from etui.verdict import FULL

if TYPE_CHECKING:
    from etui.session import Session


class View:
    """What one session sees."""

    def __init__(self, session: Session, parts: Parts) -> None:
        self._session = session
        self._parts = parts
        self._tools: tuple[Tool, ...] = ()
        self._stamp: tuple[object, ...] = ()
        """Of what they follow from."""
        self._lacking: tuple[object, tuple[tuple[Tool, str], ...]] = (None, ())
        """What it lacks, and the stamp by which that was worked out."""
        self.filtered: frozenset[str] = frozenset()
        """Names of tools that the model was not offered when it was asked last."""

    def tools(self) -> tuple[Tool, ...]:
        """The tools that it may see now; the same tuple until something changed."""
        session, parts = self._session, self._parts
        snapshot, off, chosen = parts.snapshot(), parts.off(), parts.chosen(session)
        stamp = (snapshot, off, parts.settings(), session.activated, id(session.own), session.trust, chosen)
        if self._stamp != stamp:
            tools = every(snapshot, parts.built_in, session.own)
            self._tools = tuple(tool for tool in tools if self._sees(tool, off, chosen))
            self._stamp = stamp
        return self._tools

    async def offered(self) -> tuple[Tool, ...]:
        """Those of them that can be used now, as they say themselves and as hooks leave them."""
        parts, tools = self._parts, self.tools()
        checked = [tool for tool in tools if tool.checked]
        unusable = await parts.unusable(checked) if checked else frozenset()
        usable = tuple(tool for tool in tools if tool.name not in unusable) if unusable else tools
        around = parts.around
        self.filtered = await around.fewer(self._session, usable) if around.hooked("tools_filter") else frozenset()
        return tuple(tool for tool in usable if tool.name not in self.filtered) if self.filtered else usable

    def elsewhere(self) -> tuple[tuple[Tool, str], ...]:
        """Tools that its owner switched off or did not choose for it, each with where that is changed; for the owner alone."""
        if self._session.trust != FULL:
            return ()
        self.tools()
        if self._lacking[0] is not self._stamp:
            off, chosen = self._parts.off(), self._parts.chosen(self._session)
            tools = every(self._parts.snapshot(), NOTHING, self._session.own)
            lacking = ((tool, kept_from(tool, off, chosen)) for tool in tools if self._would_see(tool))
            self._lacking = (self._stamp, tuple(one for one in lacking if one[1]))
        return self._lacking[1]

    def _sees(self, tool: Tool, off: frozenset[str], chosen: Chosen) -> bool:
        if tool.contract == BUILT_IN:
            return self._session.trust != FULL and self._session.mode != WORK
        if tool.name in off or tool.toolset in off:
            return False
        return chosen.offers(tool) and self._would_see(tool)

    def _would_see(self, tool: Tool) -> bool:
        """Whether it is a tool for this session, were it switched on and chosen."""
        session = self._session
        if tool.name in session.withheld or (session.toolsets is not None and tool.toolset not in session.toolsets):
            return False
        return self._parts.reaches(tool, session.mode) and not waits(tool, session.mode, session.activated)
