"""Numbers as people say and write them: "twenty five", "a dozen", "two and a half", "1,000", "1,5", "minus three".

Above: durations, dates, arithmetic and the parameters. Below: nothing. It refuses to know what is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from etui.agent.embedded.lexicon import names

SMALL = {
    word: value
    for value, word in enumerate(
        names(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        )
    )
}
TENS = {
    word: (index + 2) * 10
    for index, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])
}
TENS["fourty"] = 40
SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 1_000_000_000_000}
PARTS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "thirds": 3,
    "quarter": 4,
    "quarters": 4,
    "fourths": 4,
    "fifths": 5,
    "fifth": 5,
    "tenth": 10,
    "tenths": 10,
}
SIGNS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
ORDINALS = {
    word: value + 1
    for value, word in enumerate(
        names(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        )
    )
} | {"thirtieth": 30}
_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?")

Number = int | float
Read = tuple[Number, int]
"""A value and the index after its last word."""


def tidy(value: float) -> Number:
    """A whole number as an int, anything else rounded to 12 places."""
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else round(value, 12)


def digits(word: str) -> Number | None:
    """The value of a number in digits: "1,000" is a thousand, "1,5" and "1.5" are one and a half, "1/2" is a half."""
    if word in SIGNS:
        return SIGNS[word]
    if len(word) > 18:
        return None
    if re.fullmatch(r"\d+/\d+", word):
        above, below = (int(part) for part in word.split("/"))
        return tidy(above / below) if below else None
    if not _DIGITS.fullmatch(word):
        return None
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", word):
        return tidy(float(word.replace(",", "")))
    return tidy(float(word.replace(",", "."))) if "," in word or "." in word else int(word)


def read_number(words: Sequence[str], at: int) -> Read | None:
    """The longest number that begins at `at`, and the index after it."""
    if at >= len(words):
        return None
    if words[at] in ("minus", "negative", "-"):
        found = _positive(words, at + 1)
        return (tidy(-found[0]), found[1]) if found else None
    return _positive(words, at)


def _positive(words: Sequence[str], at: int) -> Read | None:
    found = _fraction(words, at) or _dozens(words, at) or _cardinal(words, at)
    if found is None:
        return None
    return _and_part(words, *found)


def _word(words: Sequence[str], at: int) -> str:
    return words[at] if 0 <= at < len(words) else ""


def _fraction(words: Sequence[str], at: int) -> Read | None:
    """ "half", "a quarter", "three quarters"; "half a dozen" is six."""
    start, above = at, 1
    if _word(words, at) in ("a", "an", "one"):
        at += 1
    elif _word(words, at) in SMALL and _word(words, at + 1) in PARTS and _word(words, at + 1).endswith("s"):
        above, at = SMALL[words[at]], at + 1
    word = _word(words, at)
    if word not in ("half", "quarter", "halves", "quarters", "thirds", "fourths", "fifths", "tenths") and not (
        at > start and word == "third"
    ):
        return None
    value, at = above / PARTS[word], at + 1
    if word == "half" and _word(words, at) == "a" and _word(words, at + 1) in ("dozen", "million"):
        return tidy(value * (12 if words[at + 1] == "dozen" else 1_000_000)), at + 2
    if word == "half" and _word(words, at) == "dozen":
        return 6, at + 1
    return tidy(value), at


def _dozens(words: Sequence[str], at: int) -> Read | None:
    """ "a dozen", "two dozen", "a couple (of)"."""
    many, after = 1, at
    if _word(words, at) in ("a", "an", "one"):
        after = at + 1
    elif _word(words, at) in SMALL and _word(words, at + 1) in ("dozen", "dozens"):
        many, after = SMALL[words[at]], at + 1
    elif _word(words, at).isdecimal() and len(words[at]) < 6 and _word(words, at + 1) == "dozen":
        many, after = int(words[at]), at + 1
    if _word(words, after) in ("dozen", "dozens"):
        return many * 12, after + 1
    if _word(words, after) == "couple" and after > at:
        return 2, after + (2 if _word(words, after + 1) == "of" else 1)
    return None


def _cardinal(words: Sequence[str], at: int) -> Read | None:
    start, total, current, seen = at, 0.0, 0.0, False
    largest = float("inf")
    if _word(words, at) in ("a", "an") and _word(words, at + 1) in ("hundred", *SCALES):
        current, seen, at = 1, True, at + 1
    while at < len(words) and at - start < 24:
        word = words[at]
        if (value := digits(word)) is not None:
            if seen:
                break
            current, seen = value, True
        elif word in TENS:
            if seen and current % 100:
                break
            current, seen = current + TENS[word], True
        elif word in SMALL:
            if seen and (current % 10 or (current % 100 and SMALL[word] >= 10) or (SMALL[word] == 0 and seen)):
                break
            if seen and words[at - 1] in SMALL:
                break
            current, seen = current + SMALL[word], True
        elif word == "hundred" and seen and 0 < current < 100:
            current *= 100
        elif word in SCALES and seen and current and SCALES[word] < largest:
            largest = SCALES[word]
            total, current = total + current * largest, 0
        elif (
            word == "and"
            and seen
            and words[at - 1] in ("hundred", *SCALES)
            and (_word(words, at + 1) in SMALL or _word(words, at + 1) in TENS)
        ):
            pass
        elif word == "point" and seen and _word(words, at + 1) in SMALL and SMALL[words[at + 1]] < 10:
            return _decimals(words, at + 1, total + current)
        else:
            break
        at += 1
        if digits(words[at - 1]) is not None and _word(words, at) not in ("hundred", *SCALES):
            break
    return (tidy(total + current), at) if seen else None


def _decimals(words: Sequence[str], at: int, whole: float) -> Read:
    figures = ""
    while _word(words, at) in SMALL and SMALL[words[at]] < 10 and len(figures) < 12:
        figures += str(SMALL[words[at]])
        at += 1
    return tidy(float(f"{int(whole)}.{figures}")), at


def _and_part(words: Sequence[str], value: Number, at: int) -> Read:
    """ "two and a half", "one and three quarters", "1 ½"."""
    if _word(words, at) in SIGNS and isinstance(value, int):
        return tidy(value + SIGNS[words[at]]), at + 1
    if _word(words, at) == "and" and isinstance(value, int):
        part = _fraction(words, at + 1)
        if part and 0 < part[0] < 1 and _word(words, part[1]) not in ("past", "to", "dozen"):
            return tidy(value + part[0]), part[1]
    return value, at


def read_ordinal(words: Sequence[str], at: int) -> tuple[int, int] | None:
    """ "third", "twenty first", "21st" (which is cut into "21" and "st")."""
    word = _word(words, at)
    if word in ORDINALS:
        return ORDINALS[word], at + 1
    if word in TENS and _word(words, at + 1) in ORDINALS and ORDINALS[words[at + 1]] < 10:
        return TENS[word] + ORDINALS[words[at + 1]], at + 2
    if word.isdecimal() and len(word) < 5 and _word(words, at + 1) in ("st", "nd", "rd", "th"):
        return int(word), at + 2
    return None
