"""When: "tomorrow at half past five", "next Friday", "in ten minutes", "on May 5th", "17:00".

Above: the parameters. Below: days, numbers and durations. It refuses to know what shall happen then. A reading keeps the words
(for tools that want them) and, given the present moment, says the date, the time or the moment (for tools that want those).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from etui.agent.embedded.days import Piece, months_on, read_day, word_at
from etui.agent.embedded.durations import UNITS, Duration, read_duration
from etui.agent.embedded.numbers import SMALL, TENS, read_number

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


_BEFORE_CLOCK = ("at", "by", "around", "about", "for", "before", "after", "until", "till", "from")


def read_when(words: Sequence[str], at: int, now: datetime) -> When | None:
    """The longest point in time that begins at `at`."""
    found, end = None, at
    while True:
        after = end
        if found is not None and word_at(words, after) in ("and", "on", "at") and word_at(words, after + 1) in ("at", "on"):
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


def _merge(one: Piece | None, two: Piece) -> Piece | None:
    if one is None:
        return two
    if two.moment is not None or (one.day and two.day) or (one.clock and two.clock):
        return None
    return Piece(two.end, one.day or two.day, one.clock or two.clock, None, two.part or one.part, one.exact or two.exact)


def _piece(words: Sequence[str], at: int, now: datetime) -> Piece | None:
    return _relative(words, at, now) or _clock(words, at) or read_day(words, at, now) or _part_of_day(words, at)


def _relative(words: Sequence[str], at: int, now: datetime) -> Piece | None:
    """ "in ten minutes", "two days from now", "in a week", "within the hour"."""
    if word_at(words, at) in ("in", "within", "after"):
        at_number = at + 1 + (word_at(words, at + 1) in ("about", "around"))
        length = read_duration(words, at_number)
        if length is None:
            return None
        end = length.end + (
            2
            if list(words[length.end : length.end + 2]) in (["from", "now"],)
            else 1
            if word_at(words, length.end) == "time"
            else 0
        )
        return _from_now(length, end, now)
    length = read_duration(words, at)
    if length and list(words[length.end : length.end + 2]) == ["from", "now"]:
        return _from_now(length, length.end + 2, now)
    if length and list(words[length.end : length.end + 2]) == ["from", "today"]:
        return _from_now(length, length.end + 2, now)
    return None


def _from_now(length: Duration, end: int, now: datetime) -> Piece | None:
    try:
        if length.unit in ("month", "year") and isinstance(length.amount, int):
            months = length.amount * (12 if length.unit == "year" else 1)
            return Piece(end, day=months_on(now.date(), months))
        if length.unit in ("day", "week"):
            return Piece(end, day=now.date() + timedelta(seconds=float(length.seconds)))
        return Piece(end, moment=now + timedelta(seconds=float(length.seconds)))
    except (OverflowError, ValueError):
        return None


def _clock(words: Sequence[str], at: int) -> Piece | None:
    preposition = word_at(words, at) in _BEFORE_CLOCK
    start = at + preposition
    if word_at(words, start) in ("about", "around", "exactly", "like") and preposition:
        start += 1
    word = word_at(words, start)
    if word in ("noon", "midday", "midnight"):
        return Piece(start + 1, clock=time(0 if word == "midnight" else 12), exact=True)
    return _spoken(words, start) or _figures(words, start, preposition and (words[at] not in _HARDLY or _rhythm(words, start)))


_HARDLY = ("for", "about", "from", "after", "before")
"""Prepositions behind which a number alone is hardly a time of day."""


def _rhythm(words: Sequence[str], at: int) -> bool:
    """Whether the hour is followed by how it comes again: "(for) seven every morning"."""
    hour = _hour(words, at)
    return hour is not None and word_at(words, hour[1]) in ("every", "each") and word_at(words, hour[1] + 1) not in UNITS


def _hour(words: Sequence[str], at: int) -> tuple[int, int] | None:
    word = word_at(words, at)
    if word in SMALL and 1 <= SMALL[word] <= 12:
        return SMALL[word], at + 1
    if word.isdecimal() and len(word) <= 2 and int(word) <= 24:
        return int(word) % 24, at + 1
    return None


def _spoken(words: Sequence[str], at: int) -> Piece | None:
    """ "half past five", "quarter to six", "ten past five", "twenty five to seven"."""
    start = at + (word_at(words, at) in ("a", "the"))
    if word_at(words, start) in ("half", "quarter"):
        minutes, end = (30 if words[start] == "half" else 15), start + 1
    else:
        number = read_number(words, start)
        if number is None or not isinstance(number[0], int) or not 0 < number[0] < 60:
            return None
        minutes, end = number[0], number[1]
        end += word_at(words, end) in ("minutes", "minute")
    direction = word_at(words, end)
    if direction not in ("past", "after", "to", "till", "before", "of"):
        return None
    hour = _hour(words, end + 1)
    if hour is None or (
        direction in ("of", "after", "before") and word_at(words, start) not in ("half", "quarter", "ten", "five", "twenty")
    ):
        return None
    clock = hour[0] * 60 + (int(minutes) if direction in ("past", "after") else -int(minutes))
    return _half_of_day(words, hour[1], (clock // 60) % 24, clock % 60, False)


def _figures(words: Sequence[str], at: int, marked: bool) -> Piece | None:
    """ "17:00", "5 pm", "five thirty", "at 5", "5 o'clock"."""
    word = word_at(words, at)
    written = re.fullmatch(r"(\d{1,2})[:.](\d{2})(?::\d{2})?", word)
    if written and int(written[1]) <= 24 and int(written[2]) < 60:
        sure = marked or ":" in word or word_at(words, at + 1) in ("am", "pm", "a", "p")
        hour = int(written[1]) % 24
        return _half_of_day(words, at + 1, hour, int(written[2]), hour > 12 or hour == 0 or word[0] == "0") if sure else None
    found = _hour(words, at)
    if found is None:
        return None
    hour, end = found
    minutes = 0
    spoken = word_at(words, end)
    if spoken in TENS and TENS[spoken] < 60:
        number = read_number(words, end)
        minutes, end = (int(number[0]), number[1]) if number and number[0] < 60 else (0, end)
    elif spoken in SMALL and 10 <= SMALL[spoken] < 20:
        minutes, end = SMALL[spoken], end + 1
    elif spoken in ("oh", "o") and word_at(words, end + 1) in SMALL:
        minutes, end = SMALL[words[end + 1]], end + 2
    elif word.isdecimal() and re.fullmatch(r"[0-5]\d", spoken):
        minutes, end = int(spoken), end + 1
    if word_at(words, end) in ("o'clock", "oclock"):
        return _half_of_day(words, end + 1, hour, minutes, hour > 12)
    if word_at(words, end) in ("am", "pm"):
        return _half_of_day(words, end, hour, minutes, False)
    follows = word_at(words, end)
    if (list(words[end : end + 2]) == ["in", "the"] and word_at(words, end + 2) in PARTS) or follows in (
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


def _half_of_day(words: Sequence[str], at: int, hour: int, minute: int, exact: bool) -> Piece:
    half = word_at(words, at)
    if half in ("am", "pm") and hour <= 12:
        return Piece(at + 1, clock=time(hour % 12 + (12 if half == "pm" else 0), minute), exact=True)
    return Piece(at, clock=time(hour, minute), exact=exact)


def _part_of_day(words: Sequence[str], at: int) -> Piece | None:
    """ "in the morning", "at night", "this evening" comes with its day."""
    if list(words[at : at + 2]) == ["in", "the"] and word_at(words, at + 2) in ("morning", "afternoon", "evening", "night"):
        return Piece(at + 3, part=words[at + 2])
    if word_at(words, at) == "at" and word_at(words, at + 1) in ("night", "lunchtime"):
        return Piece(at + 2, part=words[at + 1])
    return None
