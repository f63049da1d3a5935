"""What the owner of a host should know: what was refused or is odd, and why, from every part that has something to say.

Above: surfaces. Below: the parts that are asked. It refuses to know: what any of it means, and when it was told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from etui.availability import Availability
from etui.plugins.known import Known
from etui.registry import Registry
from etui.tool import Problem


class Problems:
    """The problems of one host."""

    def __init__(
        self,
        settings: Callable[[], Sequence[Problem]],
        parts: Sequence[Callable[[], Problem | None]],
        known: Known,
        registry: Registry,
        availability: Availability,
    ) -> None:
        """`settings` gives what is wrong with them, each of `parts` what is wrong with itself."""
        self._settings = settings
        self._parts = parts
        self._known = known
        self._registry = registry
        self._availability = availability

    def all(self) -> tuple[Problem, ...]:
        """All that there are now."""
        tools = self._registry.snapshot.tools
        own = (problem for part in self._parts if (problem := part()) is not None)
        checks = (problem for problem in self._availability.problems() if problem.what in tools)
        return (*self._settings(), *own, *self._known.problems(), *checks)
