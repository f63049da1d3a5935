"""When: "tomorrow at half past five", "next Friday", "in ten minutes", "on May 5th", "17:00".

Above: the parameters. Below: numbers and durations. It refuses to know what shall happen then. A reading keeps the words
(for tools that want them) and, given the present moment, says the date, the time or the moment (for tools that want those).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from etui.agent.embedded.durations import UNITS, Duration, read_duration
from etui.agent.embedded.lexicon import names
from etui.agent.embedded.numbers import SMALL, TENS, read_number, read_ordinal

DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
MONTHS = names("january february march april may june july august september october november december")
_SHORT_MONTHS = {name[:3]: index + 1 for index, name in enumerate(MONTHS)} | {"sept": 9}
PARTS = {
    "morning": 9,
    "afternoon": 15,
    "evening": 19,
    "night": 21,
    "tonight": 20,
    "noon": 12,
    "midday": 12,
    "lunchtime": 12,
    "midnight": 0,
}
"""The hour that a part of the day means where no other is named."""


class When(NamedTuple):
    """A point in time that was said."""

    start: int
    end: int
    """The words it takes, from and up to, a leading preposition included."""
    day: date | None = None
    clock: time | None = None
    moment: datetime | None = None
    """A moment counted from now, such as "in ten minutes"."""
    part: str = ""
    """The part of the day, where one was said."""
    exact: bool = False
    """True if the clock time can mean only one half of the day."""

    def resolve(self, now: datetime) -> datetime:
        """The next moment that it can mean, in the zone of `now`."""
        if self.moment is not None:
            return self.moment
        clock = self._clock(now)
        moment = datetime.combine(self.day or now.date(), clock, tzinfo=now.tzinfo)
        if self.day is None and moment <= now:
            moment += timedelta(hours=12) if self._half_open() and moment + timedelta(hours=12) > now else timedelta(days=1)
        elif self.day == now.date() and moment <= now and self._half_open() and moment.hour < 12:
            moment += timedelta(hours=12)
        return moment

    def _half_open(self) -> bool:
        return self.clock is not None and not self.exact and not self.part

    def _clock(self, now: datetime) -> time:
        if self.clock is None:
            return time(PARTS.get(self.part, 9))
        if self.exact or self.clock.hour > 12:
            return self.clock
        hour = self.clock.hour % 12
        if self.part in ("afternoon", "evening", "noon") or (self.part in ("night", "tonight") and hour >= 5):
            return self.clock.replace(hour=hour + 12)
        if self.part in ("morning", "night", "tonight"):
            return self.clock.replace(hour=hour)
        if self.day is not None and self.day != now.date():
            return self.clock.replace(hour=hour if 7 <= hour < 12 else hour + 12)
        return self.clock.replace(hour=hour)

    def date(self, now: datetime) -> date:
        """The day that it means."""
        return self.day or self.resolve(now).date()


class _Piece(NamedTuple):
    end: int
    day: date | None = None
    clock: time | None = None
    moment: datetime | None = None
    part: str = ""
    exact: bool = False


_BEFORE_DAY = ("on", "by", "for", "from", "until", "till", "before", "after", "starting")
_BEFORE_CLOCK = ("at", "by", "around", "about", "for", "before", "after", "until", "till", "from")


def read_when(words: Sequence[str], at: int, now: datetime) -> When | None:
    """The longest point in time that begins at `at`."""
    found, end = None, at
    while True:
        after = end
        if found is not None and _word(words, after) in ("and", "on", "at") and _word(words, after + 1) in ("at", "on"):
            after += 1
        piece = _piece(words, after, now)
        if piece is None:
            break
        merged = _merge(found, piece)
        if merged is None:
            break
        found, end = merged, piece.end
        if found.moment is not None:
            break
    if found is None:
        return None
    return When(at, end, found.day, found.clock, found.moment, found.part, found.exact)


def _merge(one: _Piece | None, two: _Piece) -> _Piece | None:
    if one is None:
        return two
    if two.moment is not None or (one.day and two.day) or (one.clock and two.clock):
        return None
    return _Piece(two.end, one.day or two.day, one.clock or two.clock, None, two.part or one.part, one.exact or two.exact)


def _word(words: Sequence[str], at: int) -> str:
    return words[at] if 0 <= at < len(words) else ""


def _piece(words: Sequence[str], at: int, now: datetime) -> _Piece | None:
    return _relative(words, at, now) or _clock(words, at) or _day(words, at, now) or _part_of_day(words, at)


def _relative(words: Sequence[str], at: int, now: datetime) -> _Piece | None:
    """ "in ten minutes", "two days from now", "in a week", "within the hour"."""
    if _word(words, at) in ("in", "within", "after"):
        at_number = at + 1 + (_word(words, at + 1) in ("about", "around"))
        length = read_duration(words, at_number)
        if length is None:
            return None
        end = length.end + (
            2
            if list(words[length.end : length.end + 2]) in (["from", "now"],)
            else 1
            if _word(words, length.end) == "time"
            else 0
        )
        return _from_now(length, end, now)
    length = read_duration(words, at)
    if length and list(words[length.end : length.end + 2]) == ["from", "now"]:
        return _from_now(length, length.end + 2, now)
    if length and list(words[length.end : length.end + 2]) == ["from", "today"]:
        return _from_now(length, length.end + 2, now)
    return None


def _from_now(length: Duration, end: int, now: datetime) -> _Piece | None:
    try:
        if length.unit in ("month", "year") and isinstance(length.amount, int):
            months = length.amount * (12 if length.unit == "year" else 1)
            return _Piece(end, day=_months_on(now.date(), months))
        if length.unit in ("day", "week"):
            return _Piece(end, day=now.date() + timedelta(seconds=float(length.seconds)))
        return _Piece(end, moment=now + timedelta(seconds=float(length.seconds)))
    except (OverflowError, ValueError):
        return None


def _months_on(day: date, months: int) -> date:
    year, month = divmod(day.month - 1 + months, 12)
    last = (date(day.year + year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return date(day.year + year, month + 1, min(day.day, last))


def _clock(words: Sequence[str], at: int) -> _Piece | None:
    preposition = _word(words, at) in _BEFORE_CLOCK
    start = at + preposition
    if _word(words, start) in ("about", "around", "exactly", "like") and preposition:
        start += 1
    word = _word(words, start)
    if word in ("noon", "midday", "midnight"):
        return _Piece(start + 1, clock=time(0 if word == "midnight" else 12), exact=True)
    return _spoken(words, start) or _figures(
        words, start, preposition and words[at] not in ("for", "about", "from", "after", "before")
    )


def _hour(words: Sequence[str], at: int) -> tuple[int, int] | None:
    word = _word(words, at)
    if word in SMALL and 1 <= SMALL[word] <= 12:
        return SMALL[word], at + 1
    if word.isdecimal() and len(word) <= 2 and int(word) <= 24:
        return int(word) % 24, at + 1
    return None


def _spoken(words: Sequence[str], at: int) -> _Piece | None:
    """ "half past five", "quarter to six", "ten past five", "twenty five to seven"."""
    start = at + (_word(words, at) in ("a", "the"))
    if _word(words, start) in ("half", "quarter"):
        minutes, end = (30 if words[start] == "half" else 15), start + 1
    else:
        number = read_number(words, start)
        if number is None or not isinstance(number[0], int) or not 0 < number[0] < 60:
            return None
        minutes, end = number[0], number[1]
        end += _word(words, end) in ("minutes", "minute")
    direction = _word(words, end)
    if direction not in ("past", "after", "to", "till", "before", "of"):
        return None
    hour = _hour(words, end + 1)
    if hour is None or (
        direction in ("of", "after", "before") and _word(words, start) not in ("half", "quarter", "ten", "five", "twenty")
    ):
        return None
    clock = hour[0] * 60 + (int(minutes) if direction in ("past", "after") else -int(minutes))
    return _half_of_day(words, hour[1], (clock // 60) % 24, clock % 60, False)


def _figures(words: Sequence[str], at: int, marked: bool) -> _Piece | None:
    """ "17:00", "5 pm", "five thirty", "at 5", "5 o'clock"."""
    word = _word(words, at)
    written = re.fullmatch(r"(\d{1,2})[:.](\d{2})(?::\d{2})?", word)
    if written and int(written[1]) <= 24 and int(written[2]) < 60:
        sure = marked or ":" in word or _word(words, at + 1) in ("am", "pm", "a", "p")
        hour = int(written[1]) % 24
        return _half_of_day(words, at + 1, hour, int(written[2]), hour > 12 or hour == 0 or word[0] == "0") if sure else None
    found = _hour(words, at)
    if found is None:
        return None
    hour, end = found
    minutes = 0
    spoken = _word(words, end)
    if spoken in TENS and TENS[spoken] < 60:
        number = read_number(words, end)
        minutes, end = (int(number[0]), number[1]) if number and number[0] < 60 else (0, end)
    elif spoken in SMALL and 10 <= SMALL[spoken] < 20:
        minutes, end = SMALL[spoken], end + 1
    elif spoken in ("oh", "o") and _word(words, end + 1) in SMALL:
        minutes, end = SMALL[words[end + 1]], end + 2
    elif word.isdecimal() and re.fullmatch(r"[0-5]\d", spoken):
        minutes, end = int(spoken), end + 1
    if _word(words, end) in ("o'clock", "oclock"):
        return _half_of_day(words, end + 1, hour, minutes, hour > 12)
    if _word(words, end) in ("am", "pm"):
        return _half_of_day(words, end, hour, minutes, False)
    follows = _word(words, end)
    if (list(words[end : end + 2]) == ["in", "the"] and _word(words, end + 2) in PARTS) or follows in (
        "tonight",
        "tomorrow",
        "today",
    ):
        return _half_of_day(words, end, hour, minutes, False)
    if (
        not marked
        or follows in UNITS
        or follows in ("percent", "%", "°", "degrees", "dollars", "euros", "times", "people", "items")
    ):
        return None
    return _half_of_day(words, end, hour, minutes, hour > 12 or word[0] == "0")


def _half_of_day(words: Sequence[str], at: int, hour: int, minute: int, exact: bool) -> _Piece:
    half = _word(words, at)
    if half in ("am", "pm") and hour <= 12:
        return _Piece(at + 1, clock=time(hour % 12 + (12 if half == "pm" else 0), minute), exact=True)
    return _Piece(at, clock=time(hour, minute), exact=exact)


def _part_of_day(words: Sequence[str], at: int) -> _Piece | None:
    """ "in the morning", "at night", "this evening" comes with its day."""
    if list(words[at : at + 2]) == ["in", "the"] and _word(words, at + 2) in ("morning", "afternoon", "evening", "night"):
        return _Piece(at + 3, part=words[at + 2])
    if _word(words, at) == "at" and _word(words, at + 1) in ("night", "lunchtime"):
        return _Piece(at + 2, part=words[at + 1])
    return None


def _day(words: Sequence[str], at: int, now: datetime) -> _Piece | None:
    start = at + (_word(words, at) in _BEFORE_DAY)
    try:
        return _named(words, start, now) or _weekday(words, start, now) or _calendar(words, start, now, start > at)
    except (ValueError, OverflowError):
        return None


def _named(words: Sequence[str], at: int, now: datetime) -> _Piece | None:
    today, word, following = now.date(), _word(words, at), _word(words, at + 1)
    if word == "the" and list(words[at + 1 : at + 4]) == ["day", "after", "tomorrow"]:
        return _Piece(at + 4, day=today + timedelta(days=2))
    if word == "day" and list(words[at + 1 : at + 3]) == ["after", "tomorrow"]:
        return _Piece(at + 3, day=today + timedelta(days=2))
    if word in ("tomorrow", "tmrw", "tomorow"):
        part = following if following in ("morning", "afternoon", "evening", "night", "noon") else ""
        return _Piece(at + 1 + bool(part), day=today + timedelta(days=1), part=part)
    if word == "tonight":
        return _Piece(at + 1, day=today, part="tonight")
    if word == "today":
        return _Piece(at + 1, day=today)
    if word == "later" and following == "today":
        return _Piece(at + 2, day=today, part="evening")
    if word == "this" and following in ("morning", "afternoon", "evening"):
        return _Piece(at + 2, day=today, part=following)
    if word in ("this", "the", "next") and following == "weekend":
        ahead = (5 - today.weekday()) % 7 + (7 if word == "next" else 0)
        return _Piece(at + 2, day=today + timedelta(days=ahead))
    if word == "next" and following in ("week", "month", "year"):
        day = (
            today + timedelta(days=7 - today.weekday())
            if following == "week"
            else _months_on(today, 1 if following == "month" else 12)
        )
        return _Piece(at + 2, day=day)
    if word in ("every", "each") and following in ("day", "morning", "evening", "night", "afternoon"):
        return _Piece(at + 2, part="" if following == "day" else following)
    if word in ("every", "each") and following in ("weekday", "week", "month", "year", "hour"):
        return _Piece(at + 2)
    if word in ("every", "each"):
        return _weekday(words, at + 1, now)
    return None


def _weekday(words: Sequence[str], at: int, now: datetime) -> _Piece | None:
    ahead = _word(words, at) in ("next", "this", "coming", "the")
    word = _word(words, at + ahead).removesuffix("'s")
    if word not in DAYS and word.removesuffix("s") in DAYS:
        word = word.removesuffix("s")
    number = (
        DAYS.index(word) if word in DAYS else _SHORT_DAYS.get(word) if ahead or _word(words, at - 1) in _BEFORE_DAY else None
    )
    if number is None:
        return None
    today = now.date()
    days = (number - today.weekday()) % 7 or 7
    if words[at] == "next" and days < 7 - today.weekday():
        days += 7
    end = at + ahead + 1
    part = _word(words, end) if _word(words, end) in ("morning", "afternoon", "evening", "night") else ""
    return _Piece(end + bool(part), day=today + timedelta(days=days), part=part)


def _month(word: str) -> int | None:
    return MONTHS.index(word) + 1 if word in MONTHS else _SHORT_MONTHS.get(word)


def _calendar(words: Sequence[str], at: int, now: datetime, marked: bool) -> _Piece | None:
    """ "May 5th", "the 5th of May 2027", "2026-04-01", "on the 3rd", "12/25"."""
    if re.fullmatch(r"\d{4}", _word(words, at)) and _word(words, at + 1) == "-" and _word(words, at + 3) == "-":
        return _Piece(at + 5, day=date(int(words[at]), int(words[at + 2]), int(_word(words, at + 4) or 0)))
    written = re.fullmatch(r"(\d{1,2})[/.](\d{1,2})(?:[/.](\d{2}|\d{4}))?", _word(words, at))
    if written and (marked or written[3]) and ("/" in words[at] or written[3]):
        one, two = int(written[1]), int(written[2])
        month, day = (two, one) if one > 12 or "." in words[at] else (one, two)
        year = int(written[3]) + (2000 if len(written[3]) == 2 else 0) if written[3] else None
        return _Piece(at + 1, day=_coming(now.date(), month, day, year))
    leading = _month(_word(words, at))
    if leading:
        number = _day_number(words, at + 1 + (_word(words, at + 1) == "the"))
        return _with_year(words, number[1], now, leading, number[0]) if number else None
    start = at + (_word(words, at) == "the")
    number = _day_number(words, start)
    if number is None:
        return None
    after = number[1] + (_word(words, number[1]) == "of")
    following = _month(_word(words, after))
    if following:
        return _with_year(words, after + 1, now, following, number[0])
    if start > at and marked and read_ordinal(words, start):
        first = now.date().replace(day=1)
        return _Piece(number[1], day=(first if number[0] >= now.day else _months_on(first, 1)).replace(day=number[0]))
    return None


def _day_number(words: Sequence[str], at: int) -> tuple[int, int] | None:
    found = read_ordinal(words, at)
    if found is None:
        number = read_number(words, at)
        found = (number[0], number[1]) if number and isinstance(number[0], int) else None
    return found if found and 1 <= found[0] <= 31 else None


def _with_year(words: Sequence[str], at: int, now: datetime, month: int, day: int) -> _Piece:
    year = _word(words, at)
    if re.fullmatch(r"(19|20|21)\d{2}", year):
        return _Piece(at + 1, day=date(int(year), month, day))
    return _Piece(at, day=_coming(now.date(), month, day, None))


def _coming(today: date, month: int, day: int, year: int | None) -> date:
    if year is not None:
        return date(year, month, day)
    this = date(today.year, month, day)
    return this if this >= today else date(today.year + 1, month, day)
