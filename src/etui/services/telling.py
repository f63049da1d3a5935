"""What a plugin has to tell outside of any answer: to its owner, or to everybody who listens.

Above: the table of services. Below: the events, and who keeps what owners should know. It refuses to know: who listens.
"""

from __future__ import annotations

from collections.abc import Callable

from etui.errors import ServiceError
from etui.events import Kind
from etui.services.desk import SAPPHIRE, Desk, Family
from etui.services.texts import LABEL, text_of
from etui.tool import Problem

CHANGED = frozenset({"toolset_changed", "plugin_toggled", "settings_changed"})
"""The events that a plugin may publish and that somebody here listens for: that what is on offer may look otherwise now."""
Tell = Callable[[Kind, dict[str, object]], None]


class Telling:
    """What one plugin tells."""

    def __init__(self, plugin: str, source: str, *, note: Callable[[Problem], None], tell: Tell) -> None:
        self._plugin = plugin
        self._source = source
        self._note = note
        self._tell = tell

    async def note(self, reason: str, detail: str = "") -> object:
        """Something that the owner should know."""
        reason, detail = text_of(reason, LABEL), text_of(detail, LABEL)
        self._note(
            Problem(what=self._plugin, reason=reason, plugin=self._plugin, source=self._source, refused=False, trace=detail)
        )
        return None

    async def publish(self, event: str, data: object = None) -> object:
        """One of the events that are known here; whether it is."""
        known = text_of(event, LABEL).lower() in CHANGED
        if known:
            self._tell(Kind.TOOLS_CHANGED, {"added": [], "removed": [], "changed": [], "plugin": self._plugin})
        return known

    async def mind(self, domain: str, scope: str, action: str) -> object:
        """Something that is remembered has changed."""
        said = {"domain": domain, "scope": scope, "action": action}
        if any(value is not None and not isinstance(value, str) for value in said.values()):
            raise ServiceError("What changed in the mind is told in texts: domain, scope, action.")
        told = {key: text_of(value or "", LABEL) for key, value in said.items()}
        self._tell(Kind.MIND_CHANGED, {**told, "plugin": self._plugin})
        return None


def _made(desk: Desk) -> Telling:
    return Telling(desk.plugin, desk.tool.source, note=desk.needs.note, tell=desk.tell)


FAMILY = Family(
    _made,
    {"owner.note": Telling.note, "event.publish": Telling.publish, "event.mind": Telling.mind},
    only=SAPPHIRE,
    told=True,
)
