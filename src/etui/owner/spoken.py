"""PINs in what a person says: digits, and English words for digits, found, read and taken out of the text.

Pure functions. Above: `pin` compares what they find, surfaces blank what they show. Below: nothing.
It refuses to know: which PIN is the right one, and whether one is asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MARK = "[PIN]"
"""What stands where a PIN was said."""
SHORTEST, LONGEST = 6, 8
"""How many digits a PIN has."""
PARTIAL = 4
"""Digits that may be the greater part of a PIN."""

_ONES = {
    "zero": "0",
    "oh": "0",
    "o": "0",
    "nought": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
}
_TEENS = {
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
    "thirteen": "13",
    "fourteen": "14",
    "fifteen": "15",
    "sixteen": "16",
    "seventeen": "17",
    "eighteen": "18",
    "nineteen": "19",
}
_TENS = {"twenty": "2", "thirty": "3", "forty": "4", "fifty": "5", "sixty": "6", "seventy": "7", "eighty": "8", "ninety": "9"}
_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_GAP = re.compile(r"[\s,.\-\u2010-\u2015]*")
"""What may stand between the digits of a PIN."""
_LINK = re.compile(r"[\s\-\u2010-\u2015]+")
"""What may stand between `thirty` and `four`."""
_NAMED = re.compile(r"\b(?:pin|pincode|passcode|pass\s?code|password)(?:s|['’]s)?\b", re.IGNORECASE)
_FILLERS = re.compile(
    r"(it|that)(['’]?s)?|is|my|the|a|please|ok|okay|yes|sure|um|uh|er|well|here|you|go|number|code|so|and|then", re.IGNORECASE
)
"""Words beside which digits still stand alone."""
_DATE = re.compile(r"\d{4}([-.])\d{1,2}\1\d{1,2}|\d{1,2}([-.])\d{1,2}\2(?:\d{2}|\d{4})")
_AMOUNT = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+[.,]\d+")
_BESIDE = frozenset("/:=#@%+*^$€£_\\~<>-.")
"""Characters that make a number beside them part of something longer, such as an address, a sum or an amount."""


class _Piece(NamedTuple):
    start: int
    end: int
    digits: str


class Found(NamedTuple):
    """A place in a text that may hold a PIN."""

    start: int
    end: int
    digits: str
    """The whole PIN that stands there; empty where it is no whole one."""


def whole(text: str) -> str:
    """The digits of a text that is one whole PIN and nothing else; empty for every other text."""
    runs = list(_runs(text))
    if len(runs) != 1:
        return ""
    around = text[: runs[0][0].start], text[runs[0][-1].end :]
    digits = _digits(runs[0])
    fits = SHORTEST <= len(digits) <= LONGEST and all(_GAP.fullmatch(rest) for rest in around)
    return digits if fits else ""


def expects(text: str) -> bool:
    """Whether the text itself makes clear that its digits are a PIN: it names one, or says nothing besides."""
    if _NAMED.search(text):
        return True
    words = (match[0].lower() for match in re.finditer(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text))
    return all(_FILLERS.fullmatch(word) or _number(word) for word in words)


def offered(text: str) -> list[Found]:
    """Every place that may hold a PIN, or the greater part of one, where a PIN is expected."""
    found = []
    for run in _runs(text):
        waiting: list[_Piece] = []
        for piece in run:
            if SHORTEST <= len(piece.digits) <= LONGEST:
                found += [*_joined(waiting), *_joined([piece])]
                waiting = []
            else:
                waiting.append(piece)
        found += _joined(waiting)
    return found


def chanced(text: str, length: int) -> list[Found]:
    """Places that hold so many digits by themselves, where no PIN is expected: no date, no amount, no part of anything."""
    found = []
    for run in _runs(text):
        start, end, digits = run[0].start, run[-1].end, _digits(run)
        written = text[start:end]
        after = text[end : end + 2]
        beside = text[max(0, start - 1) : start] + (after[:1] if after[:1] != "." or after[1:].isalnum() else "")
        if len(digits) != length or _DATE.fullmatch(written) or _AMOUNT.fullmatch(written):
            continue
        if not any(one in _BESIDE or one.isalnum() for one in beside):
            found.append(Found(start, end, digits))
    return found


def without(text: str, found: Sequence[Found]) -> str:
    """The text with a mark in each of these places."""
    for one in sorted(found, reverse=True):
        text = text[: one.start] + MARK + text[one.end :]
    return text


def blanked(text: str) -> str:
    """The text without anything that could be a PIN, or the greater part of one."""
    return without(text, offered(text))


def _joined(pieces: Sequence[_Piece]) -> list[Found]:
    digits = _digits(pieces)
    if len(digits) < PARTIAL:
        return []
    fits = SHORTEST <= len(digits) <= LONGEST
    return [Found(pieces[0].start, pieces[-1].end, digits if fits else "")]


def _digits(pieces: Sequence[_Piece]) -> str:
    return "".join(piece.digits for piece in pieces)


def _runs(text: str) -> Iterator[list[_Piece]]:
    """Numbers that stand beside each other."""
    run: list[_Piece] = []
    for piece in _pieces(text):
        if run and not (piece.digits and _GAP.fullmatch(text, run[-1].end, piece.start)):
            yield run
            run = []
        if piece.digits:
            run.append(piece)
    if run:
        yield run


def _pieces(text: str) -> Iterator[_Piece]:
    """Every word of a text, with its digits where it is a number; `thirty-four` is one."""
    tens: _Piece | None = None
    for match in _TOKEN.finditer(text):
        word = match[0].lower()
        if tens is not None:
            unit = _ONES.get(word, "0")
            if unit != "0" and _LINK.fullmatch(text, tens.end, match.start()):
                yield _Piece(tens.start, match.end(), tens.digits[0] + unit)
                tens = None
                continue
            yield tens
            tens = None
        if word in _TENS:
            tens = _Piece(match.start(), match.end(), _TENS[word] + "0")
        else:
            yield _Piece(match.start(), match.end(), _number(word))
    if tens is not None:
        yield tens


def _number(word: str) -> str:
    """The digits of one word; empty where it is no number."""
    if word.isdecimal():
        return "".join(str(unicodedata.decimal(one)) for one in word)
    return _ONES.get(word) or _TEENS.get(word) or (_TENS[word] + "0" if word in _TENS else "")
