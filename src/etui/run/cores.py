"""The cores of this machine, as host and worker share them: who gives way, and where a thread had better be.

Nothing is bound for longer than a sleep: threads and programs that a tool starts run wherever the system puts them.
Above: `patience` (a worker) and `glance` (the host). Below: `kernel`. It refuses to know: why somebody waits.
"""

from __future__ import annotations

import os

from etui.run import kernel


def count() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def give_way() -> None:
    """Whoever waits for this core has it first."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()


class Place:
    """Where this thread runs among them (Linux; elsewhere nothing happens)."""

    def __init__(self) -> None:
        self._all: set[int] = set()
        self._others: set[int] = set()
        """All of them but the one that another process wants; empty while none is known."""

    def step_aside(self) -> bool:
        """Go to another core, since somebody wants this one; whether there is another."""
        here = kernel.core()
        self._all = os.sched_getaffinity(0) if here is not None else set()
        self._others = self._all - {here} if here is not None else set()
        self.stay_aside()
        self.roam()
        return bool(self._others)

    def stay_aside(self) -> None:
        """Until `roam`, keep off the core that was left: who is woken is else put on the core of the one who wakes it."""
        self._move(self._all, self._others)

    def roam(self) -> None:
        """Run on any of them."""
        self._move(self._others, self._all)

    def _move(self, before: set[int], after: set[int]) -> None:
        """Change where it may run, unless somebody else did meanwhile, or a core is gone: what they say holds."""
        if not self._others:
            return
        try:
            if os.sched_getaffinity(0) == before:
                os.sched_setaffinity(0, after)
                return
        except OSError:
            pass  # none of these cores is there any more
        self.forget()

    def forget(self) -> None:
        """Nobody is known to want any of them."""
        self._others = set()
