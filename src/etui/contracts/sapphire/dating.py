"""When it is, in a line that plugins put above what they hand on.

Above: the name `core.tool_context`. Below: `current`, which knows the time zone. It refuses to know: what stands below it.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from etui.contracts.sapphire import current


def context_header() -> str:
    """One line with weekday, date and time where the person is, and a line break."""
    zone = current.caller().timezone
    now = datetime.fromtimestamp(time.time(), UTC)
    there = now.astimezone(ZoneInfo(zone) if zone else None)
    return f"[{there:%A, %Y-%m-%d %H:%M %Z}]\n"
