"""What a call shows while it runs: a line, how far it is, a plan with its steps. Nobody reads a flood, so what is too much is
dropped.

Above: the table of services. Below: the events. It refuses to know: who shows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from etui.events import LINE, Kind
from etui.services.desk import Family
from etui.services.texts import LABEL, text_of

PLAN = 50
"""Steps of a plan that are shown."""
AT_ONCE, A_SECOND = 40, 10.0
"""What a call may show right away, and each second from then on; more is dropped."""


class Tap:
    """Lets through so much at once, and then so much a second."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = float(AT_ONCE)
        self._at = clock()

    def open(self) -> bool:
        """Whether one more may pass now."""
        now = self._clock()
        self._left = min(AT_ONCE, self._left + max(0.0, now - self._at) * A_SECOND)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Saying:
    """What one call shows."""

    def __init__(self, tell: Callable[[Kind, dict[str, object]], None], tap: Tap) -> None:
        self._tell = tell
        self._tap = tap

    async def say(self, text: str) -> object:
        """Show and speak a line now."""
        if text_of(text).strip() and self._tap.open():
            self._tell(Kind.SAID, {"text": text_of(text, LINE), "why": "tool"})
        return None

    async def progress(self, fraction: float | None = None, text: str = "") -> object:
        """Tell how far the call is."""
        if self._tap.open():
            self._tell(Kind.CALL_PROGRESS, {"fraction": fraction, "text": text_of(text, LABEL)})
        return None

    async def show(self, list: dict[str, object] | None) -> object:
        """Show a plan with its steps, or take it away."""
        plan = None if list is None else _plan(list)
        if self._tap.open():
            self._tell(Kind.TASKS, {"list": plan})
        return None


def _plan(given: object) -> dict[str, object]:
    """A plan as surfaces take it, whatever else was given. Raises TypeError for what is none."""
    if not isinstance(given, dict):
        raise TypeError("a plan is a table")
    tasks = given.get("tasks") or []
    if not isinstance(tasks, list) or not all(isinstance(one, dict) for one in tasks):
        raise TypeError("the tasks of a plan are a list of tables")
    steps = [
        {
            "order": one["order"] if type(one.get("order")) is int else number,
            "text": text_of(one.get("text") or "", LABEL),
            "status": text_of(one.get("status") or "", LABEL),
        }
        for number, one in enumerate(tasks[:PLAN], 1)
    ]
    return {name: text_of(given.get(name) or "", LABEL) for name in ("title", "status")} | {"tasks": steps}


FAMILY = Family(
    lambda desk: Saying(desk.tell, Tap(time.monotonic)),
    {"say": Saying.say, "progress": Saying.progress, "show": Saying.show},
    told=True,
)
