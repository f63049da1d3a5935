"""When a cron expression comes true next, by a zone's wall clock: a skipped time right after, one that comes twice once.

Above: `scheduling`. Below: `cronsim`. It refuses to know: what runs then.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from etui.errors import UsageError

SHORT = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
"""Words that stand for five fields."""


def next_after(expression: str, at: float, zone: str) -> float:
    """The next time after `at`; both in seconds since the epoch. Raises UsageError for what never comes, or is no cron."""
    try:
        moment = datetime.fromtimestamp(at, _zone(zone))
        return next(CronSim(_fields(expression), moment)).timestamp()
    except (CronSimError, StopIteration, OverflowError) as error:
        raise UsageError(f"{expression!r} is no time to run at: five fields are needed, as in '0 9 * * *' ({error}).") from None


def wrong(expression: str) -> str:
    """Why it is no cron expression; empty if it is one."""
    try:
        next_after(expression, 0.0, "UTC")
    except UsageError as error:
        return str(error)
    return ""


def _fields(expression: str) -> str:
    fields = SHORT.get(expression.strip().lower(), expression)
    if len(fields.split()) != 5:
        raise CronSimError("Wrong number of fields")
    return fields


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
