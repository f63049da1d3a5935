"""What is known now, inside a worker, of the sessions whose calls run there: what each has proved.

A call brings it along, and the host tells when it changes while a call runs. Above: the contracts read it, `run.child` sets it.
Below: nothing. It refuses to know: why it changed. What stands here opens no door: the gate is the host's.
"""

from __future__ import annotations

import msgspec


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What one session has proved."""

    trust: str = "none"
    """`full`, `possession` or `none`."""
    authorized: bool = False
    """The owner's PIN was given in it."""
    keypressed: bool = False
    """A key was pressed in it."""


MOST = 256
"""Sessions of which something is known at once; those of which nothing was heard for longest are forgotten."""
_now: dict[str, Standing] = {}


def note(session: str, standing: Standing) -> None:
    """From now on this is known of the session with this id."""
    _now.pop(session, None)
    _now[session] = standing
    if len(_now) > MOST:
        del _now[next(iter(_now))]


def of(session: str) -> Standing:
    """What is known of it now; nothing is proved where nothing is known."""
    return _now.get(session, Standing())
