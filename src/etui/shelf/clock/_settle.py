"""The moment that is meant by what was read: the first coming one that fits the day, the hour and the rhythm that were said.

Above: `_when.py`, which does the reading. Below: the standard library. It refuses to know: how any of
it was said.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo

PARTS = {
    "morning": 9, "noon": 12, "midday": 12, "lunchtime": 12, "lunch": 12, "afternoon": 15, "evening": 19,
    "tonight": 20, "night": 21,
}  # fmt: skip
"""The hour meant by a part of the day when nobody says one."""
DAY_STARTS = 9
"""The hour meant by a day when nobody says one."""


class NotUnderstood(Exception):
    """The words are no moment; the text is one sentence for the person."""


@dataclass(frozen=True)
class When:
    """A moment, and how it comes again."""

    at: datetime
    """Aware, in the person's zone."""
    repeat: str = ""
    """`""`, `daily`, `weekdays`, `weekly`, `monthly` or `yearly`."""


@dataclass
class Reading:
    """What has been read so far; each reader takes its words out of `rest`."""

    now: datetime
    rest: str
    day: date | None = None
    weekday: int | None = None
    hour: int | None = None
    minute: int = 0
    half: str = ""
    """`am`, `pm`, or empty: not said."""
    part: str = ""
    repeat: str = ""
    exact: datetime | None = None
    next_week: bool = False
    moved: bool = field(default=False)
    """The day was said without a time being usual, such as "in 3 days": the time of day stays."""

    def take(self, pattern: str) -> re.Match[str] | None:
        """Cut the first whole-word match out of the rest."""
        found = re.search(rf"(?<![\w:])(?:{pattern})(?![\w:])", self.rest)
        if found:
            self.rest = f"{self.rest[: found.start()]} {self.rest[found.end() :]}".strip()
        return found


def at_wall(day: date, clock: time, zone: tzinfo | None) -> datetime:
    """That wall time there; one that the change of clocks leaves out moves on by the gap."""
    return datetime.combine(day, clock, zone).astimezone(UTC).astimezone(zone)


def not_understood(words: str) -> str:
    """What a person is told of words that are no moment."""
    said = words.strip()[:80]
    return f"I don't know when {said!r} is. Say it like in 20 minutes, tomorrow at 5 pm, or on Friday at noon."


def day_of_month(day: int, today: date) -> date:
    """The coming such day of a month. Raises ValueError where no month has it."""
    year, month = today.year, today.month
    for _ in range(13):
        if day <= calendar.monthrange(year, month)[1] and date(year, month, day) >= today:
            return date(year, month, day)
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    raise ValueError


def settle(reading: Reading, words: str, early: bool) -> When:
    """The first coming moment that fits all that was said."""
    now = reading.now
    if reading.exact:
        if reading.hour is not None or reading.day or reading.weekday is not None or reading.repeat:
            raise NotUnderstood(not_understood(words))
        return When(reading.exact)
    untimed = reading.hour is None and not reading.part
    if untimed and reading.moved and not reading.repeat:
        assert reading.day is not None
        return When(at_wall(reading.day, now.time().replace(microsecond=0), now.tzinfo))
    if untimed and not (reading.day or reading.weekday is not None or reading.repeat or reading.next_week):
        raise NotUnderstood(not_understood(words))
    hours = _hours(reading, early)
    if untimed and reading.day == now.date() and not reading.repeat:
        hours = [18, 21]
    for day in _days(reading):
        for hour in hours:
            moment = at_wall(day + timedelta(hour // 24), time(hour % 24, reading.minute), now.tzinfo)
            if moment > now:
                return When(moment, reading.repeat)
    raise NotUnderstood(f"{words.strip()!r} has already passed.")


def _hours(reading: Reading, early: bool) -> list[int]:
    """The hours of the day that may be meant, the likeliest first."""
    hour, now = reading.hour, reading.now
    if hour is None:
        return [PARTS[reading.part]] if reading.part else [DAY_STARTS]
    half = reading.half or {"morning": "am", "afternoon": "pm", "evening": "pm", "tonight": "pm", "night": "pm"}.get(
        reading.part, ""
    )
    if half == "am":
        return [hour % 12] if hour <= 12 else [hour]
    if half == "pm":
        night = reading.part in {"tonight", "night"} and hour in {12, 24}
        return [24] if night or hour == 24 else [hour % 12 + 12]
    if hour == 0 or hour > 12:
        return [hour]
    if hour == 12:
        return [12]
    dayless = reading.day is None and reading.weekday is None and not reading.repeat
    if early:
        return [hour, hour + 12] if dayless and hour < 5 and 6 <= now.hour < 17 else [hour]
    if reading.day == now.date():
        return [hour, hour + 12]
    if hour >= 7:
        return [hour, hour + 12] if dayless else [hour]
    return [hour + 12]


def _days(reading: Reading) -> list[date]:
    """The days that may be meant, in order."""
    today = reading.now.date()
    if reading.weekday is not None:
        first = on_weekday(reading, strictly=False)
        return [first, first + timedelta(7)]
    if reading.next_week and not reading.day:
        return [today + timedelta(7 - today.weekday())]
    if reading.repeat == "weekdays":
        return [day for day in (today + timedelta(n) for n in range(8)) if day.weekday() < 5]
    if reading.day is None:
        return [today, today + timedelta(1)]
    if reading.repeat == "monthly":
        return [reading.day, day_of_month(reading.day.day, reading.day + timedelta(1))]
    return [reading.day]


def on_weekday(reading: Reading, strictly: bool) -> date:
    """The coming such weekday; `strictly` leaves today out."""
    assert reading.weekday is not None
    today = reading.now.date()
    if reading.next_week:
        return today + timedelta(7 - today.weekday() + reading.weekday)
    ahead = (reading.weekday - today.weekday()) % 7
    return today + timedelta(ahead or (7 if strictly else 0))
