"""How the clock says times, days and lengths of time aloud.

Above: `clock.py`, `timers.py` and `reminders.py`. Below: the standard library. It refuses to know: what now is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

PARTS = ((5, "at night"), (12, "in the morning"), (18, "in the afternoon"), (22, "in the evening"), (24, "at night"))
REPEATS = {
    "daily": "every day",
    "weekdays": "every weekday",
    "weekly": "every week",
    "monthly": "every month",
    "yearly": "every year",
}


def listed(parts: Sequence[str]) -> str:
    """The parts as a sentence has them: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else ""


def counted(number: int, noun: str) -> str:
    """The number with its noun: "1 timer", "2 timers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def clock_time(moment: datetime) -> str:
    """Such as "3:42 in the morning"."""
    if (moment.hour, moment.minute) in {(0, 0), (12, 0)}:
        return "12:00 noon" if moment.hour else "12:00 midnight"
    part = "in the morning" if 1 <= moment.hour < 5 else next(words for hour, words in PARTS if moment.hour < hour)
    return f"{moment.hour % 12 or 12}:{moment:%M} {part}"


def short_time(moment: datetime) -> str:
    """Such as "5 pm" or "5:30 pm"."""
    if (moment.hour, moment.minute) in {(0, 0), (12, 0)}:
        return "noon" if moment.hour else "midnight"
    minutes = f":{moment:%M}" if moment.minute else ""
    return f"{moment.hour % 12 or 12}{minutes} {'am' if moment.hour < 12 else 'pm'}"


def long_day(day: date, today: date) -> str:
    """Such as "Tuesday 1 December", with the year where it is another."""
    year = "" if day.year == today.year else f" {day.year}"
    return f"{day:%A} {day.day} {day:%B}{year}"


def near_day(day: date, today: date) -> str:
    """Such as "tomorrow" or "on Friday 4 December"."""
    return {0: "today", 1: "tomorrow"}.get((day - today).days) or f"on {long_day(day, today)}"


def moment_said(moment: datetime, now: datetime) -> str:
    """Such as "tomorrow at 5 pm" or "on Friday 4 December at noon"."""
    return f"{near_day(moment.date(), now.date())} at {short_time(moment)}"


def repeat_said(moment: datetime, repeat: str) -> str:
    """Such as "every Friday at 5 pm"."""
    days = {
        "weekly": f"every {moment:%A}",
        "monthly": f"every month on day {moment.day}",
        "yearly": f"every year on {moment.day} {moment:%B}",
    }
    return f"{days.get(repeat) or REPEATS[repeat]} at {short_time(moment)}"


def length(span: timedelta) -> str:
    """Such as "1 hour, 2 minutes and 5 seconds"; whole seconds."""
    seconds = max(0, round(span.total_seconds()))
    days, rest = divmod(seconds, 86400)
    sizes = ((days, "day"), (rest // 3600, "hour"), (rest // 60 % 60, "minute"), (rest % 60, "second"))
    return listed([counted(number, noun) for number, noun in sizes if number]) or "0 seconds"


def short_length(span: timedelta) -> str:
    """As a name has it: "10 minute", "1 hour 30 minute"."""
    return length(span).replace(",", "").replace(" and", "").replace("s ", " ").removesuffix("s")
