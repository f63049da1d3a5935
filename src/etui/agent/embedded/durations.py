"""How long: "ten minutes", "an hour and a half", "a quarter of an hour", "1 h 30", "90s".

Above: dates and the parameters. Below: numbers. It refuses to know what lasts that long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from etui.agent.embedded.numbers import Number, read_number, tidy

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_592_000, "year": 31_536_000}
"""Seconds of each unit; a month counts thirty days and a year 365."""
_NAMES = {
    "second": "second seconds sec secs s",
    "minute": "minute minutes min mins",
    "hour": "hour hours hr hrs h",
    "day": "day days",
    "week": "week weeks wk wks",
    "month": "month months",
    "year": "year years yr yrs",
}
UNITS = {word: unit for unit, words in _NAMES.items() for word in words.split()}


class Duration(NamedTuple):
    """A length of time that was said."""

    start: int
    end: int
    """The words it takes, from and up to."""
    seconds: Number
    amount: Number
    unit: str
    """As one amount of one unit, the largest that was said."""

    def in_unit(self, unit: str) -> Number:
        """How many of `unit` it is."""
        return tidy(self.seconds / SECONDS[unit])

    def whole(self, units: Sequence[str]) -> tuple[Number, str]:
        """As an amount of one of `units`: the unit that was said if that is whole, else the largest in which it is."""
        if self.unit in units and isinstance(self.amount, int):
            return self.amount, self.unit
        for unit in sorted(units, key=lambda name: -SECONDS[name]):
            if isinstance(self.in_unit(unit), int):
                return self.in_unit(unit), unit
        smallest = min(units, key=lambda name: SECONDS[name])
        return self.in_unit(smallest), smallest

    def iso(self) -> str:
        """As ISO 8601, such as "PT600S"."""
        return f"PT{self.seconds}S"


def read_duration(words: Sequence[str], at: int) -> Duration | None:
    """The longest duration that begins at `at`."""
    first = _part(words, at)
    if first is None:
        return None
    amount, unit, end = first
    seconds: float = amount * SECONDS[unit]
    smallest = unit
    while True:
        after = end + 1 if end < len(words) and words[end] == "and" else end
        following = _part(words, after)
        if following and SECONDS[following[1]] < SECONDS[smallest]:
            seconds += following[0] * SECONDS[following[1]]
            smallest, end = following[1], following[2]
        elif smallest == "hour" and unit == "hour" and (minutes := _minutes(words, after, after > end)):
            seconds += minutes[0] * 60
            end = minutes[1]
            break
        else:
            break
    return Duration(at, end, tidy(seconds), tidy(seconds / SECONDS[unit]), unit)


def _minutes(words: Sequence[str], at: int, joined: bool) -> tuple[int, int] | None:
    """The minutes after an hour: "1 h 30", "an hour and fifteen"."""
    found = read_number(words, at) if at < len(words) and (joined or words[at].isdecimal()) else None
    if found is None or not isinstance(found[0], int) or not 0 < found[0] < 60:
        return None
    return (
        (found[0], found[1]) if not joined or found[1] == len(words) or words[found[1]] in ("timer", "please", "for") else None
    )


def _part(words: Sequence[str], at: int) -> tuple[Number, str, int] | None:
    if at >= len(words):
        return None
    number = read_number(words, at)
    if number is None and words[at] in ("a", "an"):
        number = (1, at + 1)
    if number is None or number[0] < 0:
        return None
    value, end = number
    if end < len(words) and words[end] == "-":
        end += 1
    if isinstance(value, float) and words[end : end + 2] in (["of", "an"], ["of", "a"]):
        end += 2
    elif (isinstance(value, float) and end < len(words) and words[end] in ("a", "an", "of")) or (
        end < len(words) and words[end] == "full"
    ):
        end += 1
    if end >= len(words) or words[end] not in UNITS:
        return None
    unit, end = UNITS[words[end]], end + 1
    if (
        isinstance(value, int)
        and list(words[end : end + 2]) == ["and", "a"]
        and end + 2 < len(words)
        and words[end + 2] in ("half", "quarter")
    ):
        value, end = value + (0.5 if words[end + 2] == "half" else 0.25), end + 3
    elif isinstance(value, int) and list(words[end : end + 2]) == ["and", "half"]:
        value, end = value + 0.5, end + 2
    return value, unit, end
