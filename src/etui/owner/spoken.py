"""PINs in what a person says: digits, and English words for digits, found, read and taken out of the text.

Pure functions. Above: `pin` compares what they find, surfaces blank what they show. Below: nothing.
It refuses to know: which PIN is the right one, and whether one is asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
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
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_GAP = re.compile(r"[\s,.\-\u2010-\u2015]*")
"""What may stand between the digits of a PIN."""
_LINK = re.compile(r"[\s\-\u2010-\u2015]+")
"""What may stand between `thirty` and `four`."""
_NAMED = re.compile(r"(?<![^\W\d_])(?:pin|pincode|passcode|pass\s?code|password)(?:s|['’]s)?(?![^\W\d_])", re.IGNORECASE)
_FILLERS = re.compile(
    r"(it|that)(['’]?s)?|is|my|the|a|please|ok|okay|yes|sure|um|uh|er|well|here|you|go|number|code|so|and|then", re.IGNORECASE
)
"""Words beside which digits still stand alone."""
_BETWEEN = re.compile(
    r"dash|hyphen|minus|dot|point|comma|space|slash|underscore|next|double|triple|hundred|thousand", re.IGNORECASE
)
"""Words between the digits of a PIN that is said in a way in which none is taken."""
_DATE = re.compile(r"\d{4}([-.])\d{1,2}\1\d{1,2}|\d{1,2}([-.])\d{1,2}\2(?:\d{2}|\d{4})")
_AMOUNT = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+[.,]\d+")
_BESIDE = frozenset("/@%+*^$€£\\~")
"""Characters that make a number beside them part of something longer, such as an address, a sum or an amount."""
_JOINING = {".": str.isalnum, "-": str.isalnum, "_": str.isalnum, ":": str.isdecimal}
"""Those that do so where something like this stands on their other side."""


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
    return names(text) or _stands_alone(text)


def names(text: str) -> bool:
    """Whether the text speaks of a PIN."""
    return _NAMED.search(text) is not None


def offered(text: str, *, parts: bool = False) -> list[Found]:
    """Every place that may hold a PIN, or the greater part of one, where a PIN is expected.

    With `parts` any number is a part of one, in a text that says nothing besides: it may come in several sentences.
    """
    found: list[Found] = []
    # A time or a sum is no PIN only because one was asked for; what is said all alone, or as a PIN, is one.
    least = 1 if parts and _stands_alone(_NAMED.sub(" ", text)) else PARTIAL if names(text) else SHORTEST
    for group in _groups(text):
        inside = [one for run in _split(text, group) for one in _within(run)]
        scattered = len(_digits(group)) >= least and not any(one.digits for one in inside)
        found += [Found(group[0].start, group[-1].end, "")] if scattered else inside
    return found


def chanced(text: str, length: int) -> list[Found]:
    """Places that hold so many digits by themselves, where no PIN is expected: no date, no amount, no part of anything."""
    found = []
    for run in _runs(text):
        start, end, digits = run[0].start, run[-1].end, _digits(run)
        written = text[start:end]
        if len(digits) != length or _DATE.fullmatch(written) or _AMOUNT.fullmatch(written):
            continue
        before, after = text[max(0, start - 2) : start][::-1], text[end : end + 2]
        if not (_goes_on(before) or _goes_on(after)):
            found.append(Found(start, end, digits))
    return found


def without(text: str, found: Sequence[Found]) -> str:
    """The text with a mark in each of these places."""
    for one in sorted(found, reverse=True):
        text = text[: one.start] + MARK + text[one.end :]
    return text


def blanked(text: str) -> str:
    """The text without anything that could be a PIN, or the greater part of one."""
    return without(text, offered(text, parts=names(text)))


def _stands_alone(text: str) -> bool:
    """Whether a text says nothing besides its numbers."""
    return all(_is_filler(match[0]) or _number(match[0].lower()) for match in _WORD.finditer(text))


def _is_filler(word: str) -> bool:
    return (_BETWEEN.fullmatch(word) or _FILLERS.fullmatch(word)) is not None


def _goes_on(beside: str) -> bool:
    """Whether a number is part of something longer; `beside` are the two characters on one of its sides, the nearer first."""
    near, beyond = beside[:1], beside[1:]
    return near.isalnum() or near in _BESIDE or (near in _JOINING and bool(beyond) and _JOINING[near](beyond))


def _within(run: Sequence[_Piece]) -> list[Found]:
    """The whole PINs of a run that stand there in one piece, and what lies between them."""
    found: list[Found] = []
    waiting: list[_Piece] = []
    for piece in run:
        if SHORTEST <= len(piece.digits) <= LONGEST:
            found += [*_joined(waiting), *_joined([piece])]
            waiting = []
        else:
            waiting.append(piece)
    return [*found, *_joined(waiting)]


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
    return _split(text, (piece for piece in _pieces(text) if piece.digits))


def _groups(text: str) -> Iterator[list[_Piece]]:
    """Numbers between which nothing is said."""
    group: list[_Piece] = []
    for piece in _pieces(text):
        if piece.digits:
            group.append(piece)
        elif group and not _is_filler(text[piece.start : piece.end]):
            yield group
            group = []
    if group:
        yield group


def _split(text: str, pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """The same, apart wherever more lies between two of them than there may be in a PIN."""
    run: list[_Piece] = []
    for piece in pieces:
        if run and not _GAP.fullmatch(text, run[-1].end, piece.start):
            yield run
            run = []
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
