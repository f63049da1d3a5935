"""The plugin's own line to the host, inside a worker: for what it does outside of any call, in a thread or a daemon of its own.

Above: the contracts' importable names ask through it where no call is under way, `run.child` gives it. Below: nothing.
It refuses to know: what may be asked for without a call; that is the host's to say.
"""

from __future__ import annotations

from etui.contracts import Line
from etui.errors import ServiceError

_given: list[Line] = []


def give(line: Line) -> None:
    """From now on this is the line."""
    _given[:] = [line]


def line() -> Line:
    """The line. Raises ServiceError while the plugin is being loaded, when the host answers nothing."""
    if not _given:
        raise ServiceError("The host answers once the plugin has been loaded: ask inside a function, not at the top level.")
    return _given[0]
