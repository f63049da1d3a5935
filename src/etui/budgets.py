"""How long a call may take, and how long a person has to answer, by the way in which they are reached.

Above: `session` gives each job its deadline, `services` opens cards that end in time. Below: the nouns. It refuses to know:
what happens when the time is over. The waiting for a person that a tool was given room for is part of its deadline.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from etui.tool import Risk, Tool

TYPED = 180.0
WINDOWS: Mapping[str, float] = {"voice": 60.0, "phone": 25.0}
"""Seconds in which a person answers a tool's question, by channel; `TYPED` for all the others."""
ROOM = 5.0
"""Seconds by which a deadline outlasts the window, so that nobody is cut off while they answer."""


def window(channel: str) -> float:
    """Seconds that a person on this channel has to answer a tool."""
    return WINDOWS.get(channel, TYPED)


def deadline(tool: Tool, arguments: Mapping[str, object], channel: str = "") -> float | None:
    """Seconds that this call may take: what the tool declares, or what its named argument asks for, up to its maximum."""
    room = window(channel) + ROOM if tool.headroom else 0.0
    wanted = _seconds(arguments.get(tool.arg_timeout)) or tool.arg_default if tool.arg_timeout else 0.0
    if not wanted:
        return tool.timeout and max(tool.timeout, room)
    asked = min(wanted + room, tool.max_timeout)
    if tool.risk is Risk.EXEC and tool.headroom:
        asked = max(asked, room)  # nobody is cut off while they answer, whatever the maximum is
    return max(asked, tool.timeout or 0.0) if tool.headroom else asked


def _seconds(value: object) -> float:
    """The argument as seconds; 0 where it is none."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return max(0.0, float(value))
