"""What is really enforced on one worker, as `etui doctor`, the console and the gate see it.

Above: `wire` carries it, `workers` keeps it. Below: `msgspec`. It refuses to know: how a limit is put in force.
"""

from __future__ import annotations

from typing import Literal

import msgspec

By = Literal["kernel", "rlimit", "none"]
"""Who holds a limit: the kernel, a resource limit (and the watchdog), or nobody."""


class Enforced(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds each limit of a worker's grant; "none" means that its declaration is only a promise."""

    files: By = "none"
    """Nothing is written outside of what the grant names."""
    reads: By = "none"
    """Nothing is read outside of the allow-list."""
    network: By = "none"
    """No socket is opened without the grant, and with it only to the internet."""
    subprocess: By = "none"
    """No program or process is started without the grant."""
    memory: By = "none"
    landlock: int = 0
    """The version of Landlock that the kernel offers; 0 is none."""

    @property
    def whole(self) -> bool:
        """True where a grant holds in every respect that the kernel could hold."""
        return self.files != "none" and self.reads != "none" and self.network != "none" and self.subprocess != "none"
