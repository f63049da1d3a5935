"""Days, as they are said: "tomorrow", "next Friday", "on May 5th", "the day after tomorrow", "2026-04-01".

Above: dates, which joins them to a time of day. Below: numbers. It refuses to know hours, but for the part of the day that a
day is named with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from etui.agent.embedded.lexicon import names
from etui.agent.embedded.numbers import read_number, read_ordinal

DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
MONTHS = names("january february march april may june july august september october november december")
_SHORT_MONTHS = {name[:3]: index + 1 for index, name in enumerate(MONTHS)} | {"sept": 9}


class Piece(NamedTuple):
    """A day, a time of day, or both, as far as they were read."""

    end: int
    day: date | None = None
    clock: time | None = None
    moment: datetime | None = None
    part: str = ""
    exact: bool = False


_BEFORE = ("on", "by", "for", "from", "until", "till", "before", "after", "starting")


def word_at(words: Sequence[str], at: int) -> str:
    """The word there, or nothing."""
    return words[at] if 0 <= at < len(words) else ""


def months_on(day: date, months: int) -> date:
    """So many months later: the same day, or the last one of a shorter month."""
    year, month = divmod(day.month - 1 + months, 12)
    last = (date(day.year + year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return date(day.year + year, month + 1, min(day.day, last))


def read_day(words: Sequence[str], at: int, now: datetime) -> Piece | None:
    """The day that begins at `at`, a leading preposition included."""
    start = at + (word_at(words, at) in _BEFORE)
    try:
        return _named(words, start, now) or _weekday(words, start, now) or _calendar(words, start, now, start > at)
    except (ValueError, OverflowError):
        return None


def _named(words: Sequence[str], at: int, now: datetime) -> Piece | None:
    today, word, following = now.date(), word_at(words, at), word_at(words, at + 1)
    if word == "the" and list(words[at + 1 : at + 4]) == ["day", "after", "tomorrow"]:
        return Piece(at + 4, day=today + timedelta(days=2))
    if word == "day" and list(words[at + 1 : at + 3]) == ["after", "tomorrow"]:
        return Piece(at + 3, day=today + timedelta(days=2))
    if word in ("tomorrow", "tmrw", "tomorow"):
        part = following if following in ("morning", "afternoon", "evening", "night", "noon") else ""
        return Piece(at + 1 + bool(part), day=today + timedelta(days=1), part=part)
    if word == "tonight":
        return Piece(at + 1, day=today, part="tonight")
    if word == "today":
        return Piece(at + 1, day=today)
    if word == "later" and following == "today":
        return Piece(at + 2, day=today, part="evening")
    if word == "this" and following in ("morning", "afternoon", "evening"):
        return Piece(at + 2, day=today, part=following)
    if word in ("this", "the", "next") and following == "weekend":
        ahead = (5 - today.weekday()) % 7 + (7 if word == "next" else 0)
        return Piece(at + 2, day=today + timedelta(days=ahead))
    if word == "next" and following in ("week", "month", "year"):
        day = (
            today + timedelta(days=7 - today.weekday())
            if following == "week"
            else months_on(today, 1 if following == "month" else 12)
        )
        return Piece(at + 2, day=day)
    if word in ("every", "each") and following in ("day", "morning", "evening", "night", "afternoon"):
        return Piece(at + 2, part="" if following == "day" else following)
    if word in ("every", "each") and following in ("weekday", "week", "month", "year", "hour"):
        return Piece(at + 2)
    if word in ("every", "each"):
        return _weekday(words, at + 1, now)
    return None


def _weekday(words: Sequence[str], at: int, now: datetime) -> Piece | None:
    ahead = word_at(words, at) in ("next", "this", "coming", "the")
    word = word_at(words, at + ahead).removesuffix("'s")
    if word not in DAYS and word.removesuffix("s") in DAYS:
        word = word.removesuffix("s")
    number = DAYS.index(word) if word in DAYS else _SHORT_DAYS.get(word) if ahead or word_at(words, at - 1) in _BEFORE else None
    if number is None:
        return None
    today = now.date()
    days = (number - today.weekday()) % 7 or 7
    if words[at] == "next" and days < 7 - today.weekday():
        days += 7
    end = at + ahead + 1
    part = word_at(words, end) if word_at(words, end) in ("morning", "afternoon", "evening", "night") else ""
    return Piece(end + bool(part), day=today + timedelta(days=days), part=part)


def _month(word: str) -> int | None:
    return MONTHS.index(word) + 1 if word in MONTHS else _SHORT_MONTHS.get(word)


def _calendar(words: Sequence[str], at: int, now: datetime, marked: bool) -> Piece | None:
    """ "May 5th", "the 5th of May 2027", "2026-04-01", "on the 3rd", "12/25"."""
    if re.fullmatch(r"\d{4}", word_at(words, at)) and word_at(words, at + 1) == "-" and word_at(words, at + 3) == "-":
        return Piece(at + 5, day=date(int(words[at]), int(words[at + 2]), int(word_at(words, at + 4) or 0)))
    written = re.fullmatch(r"(\d{1,2})[/.](\d{1,2})(?:[/.](\d{2}|\d{4}))?", word_at(words, at))
    if written and (marked or written[3]) and ("/" in words[at] or written[3]):
        one, two = int(written[1]), int(written[2])
        month, day = (two, one) if one > 12 or "." in words[at] else (one, two)
        year = int(written[3]) + (2000 if len(written[3]) == 2 else 0) if written[3] else None
        return Piece(at + 1, day=_coming(now.date(), month, day, year))
    leading = _month(word_at(words, at))
    if leading:
        number = _day_number(words, at + 1 + (word_at(words, at + 1) == "the"))
        return _with_year(words, number[1], now, leading, number[0]) if number else None
    start = at + (word_at(words, at) == "the")
    number = _day_number(words, start)
    if number is None:
        return None
    after = number[1] + (word_at(words, number[1]) == "of")
    following = _month(word_at(words, after))
    if following:
        return _with_year(words, after + 1, now, following, number[0])
    if start > at and marked and read_ordinal(words, start):
        first = now.date().replace(day=1)
        return Piece(number[1], day=(first if number[0] >= now.day else months_on(first, 1)).replace(day=number[0]))
    return None


def _day_number(words: Sequence[str], at: int) -> tuple[int, int] | None:
    found = read_ordinal(words, at)
    if found is None:
        number = read_number(words, at)
        found = (number[0], number[1]) if number and isinstance(number[0], int) else None
    return found if found and 1 <= found[0] <= 31 else None


def _with_year(words: Sequence[str], at: int, now: datetime, month: int, day: int) -> Piece:
    year = word_at(words, at)
    if re.fullmatch(r"(19|20|21)\d{2}", year):
        return Piece(at + 1, day=date(int(year), month, day))
    return Piece(at, day=_coming(now.date(), month, day, None))


def _coming(today: date, month: int, day: int, year: int | None) -> date:
    if year is not None:
        return date(year, month, day)
    this = date(today.year, month, day)
    return this if this >= today else date(today.year + 1, month, day)
