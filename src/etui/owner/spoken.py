"""PINs in what a person says: found, read and taken out of the text, in whatever digits or language they are said.

Pure functions. Above: `pin` compares what they find, surfaces blank what they show. Below: `reading`, `numerals`.
It refuses to know: which PIN is the right one, and whether one is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise
from typing import NamedTuple

from etui.owner.numerals import table
from etui.owner.reading import Token, folded, is_separator, is_unspaced, read

MARK = "[PIN]"
"""What stands where a PIN was said."""
SHORTEST, LONGEST = 6, 8
"""How many digits a PIN has."""
PARTIAL = 4
"""Digits that may be the greater part of a PIN."""
_GAP = re.compile(r"[\s,.\-\u2010-\u2015\u060c\u06d4\u0964\u3001\u3002\u30fb\uff0c\uff0e]*")
"""What may stand between the digits of a PIN."""
_BREAK = re.compile(r"[,.;:!?]\s|[\u060c\u06d4\u0964\u3001\u3002\uff0c\uff0e]")
"""What may stand between a PIN and another number."""
_LEET = re.compile(r"(?<![^\W\d_])p[1!|]n(?![a-z])", re.IGNORECASE)
_DATE = re.compile(r"(?<!\d)(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:\d{2}|\d{4}))(?!\d)")
_CLOCK = re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])")
_AMOUNT = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+[.,]\d+)(?![\d.,]*\d)")
_BESIDE = frozenset("/@%+*^$€£\\~")
"""Characters that make a number beside them part of something longer, such as an address, a sum or an amount."""
_JOINING = {".": str.isalnum, "-": str.isalnum, "_": str.isalnum, ":": str.isdecimal}
"""Those that do so where something like this stands on their other side."""


class Found(NamedTuple):
    """A place in a text that may hold a PIN."""

    start: int
    end: int
    digits: str
    """All that were said there."""

    @property
    def is_whole(self) -> bool:
        """Whether they can be a PIN."""
        return SHORTEST <= len(self.digits) <= LONGEST


class _Words(NamedTuple):
    """The words of the tables, as they are compared."""

    beside: frozenset[str]
    between: frozenset[str]
    names: frozenset[str]
    repeats: dict[str, int]


def whole(text: str) -> str:
    """The digits of a text that is one whole PIN and nothing else; empty for every other text."""
    tokens = read(text)
    runs = list(_runs(text, tokens))
    if len(runs) != 1 or len(runs[0]) != len(tokens):
        return ""
    found = _found(tokens)
    fits = found.is_whole and all(_GAP.fullmatch(rest) for rest in (text[: found.start], text[found.end :]))
    return found.digits if fits else ""


def expects(text: str) -> bool:
    """Whether the text itself makes clear that its digits are a PIN: it names one, or says nothing besides."""
    tokens = _read(text)
    return _names(tokens) or _stand_alone(tokens)


def names(text: str) -> bool:
    """Whether the text speaks of a PIN."""
    return _names(_read(text))


def offered(text: str, *, parts: bool = False) -> list[Found]:
    """Every place that may hold a PIN, or the greater part of one, where a PIN is expected.

    With `parts` any number is a part of one, in a text that says nothing besides: it may come in several sentences.
    """
    tokens = _read(text)
    # A time or a sum is no PIN only because one was asked for; what is said all alone, or as a PIN, is one.
    least = 1 if parts and _stand_alone(tokens) else PARTIAL if _names(tokens) else SHORTEST
    found: list[Found] = []
    for group in _groups(tokens):
        inside = [one for run in _runs(text, group) for one in _within(run)]
        scattered = _found(group)
        if len(scattered.digits) >= least and not any(one.is_whole for one in inside):
            found.append(scattered)
        else:
            found += inside
    if not any(one.is_whole for one in found):
        apart = _apart(text, tokens)
        if sum(len(one.digits) for one in apart) >= SHORTEST:
            return [Found(apart[0].start, apart[-1].end, "".join(one.digits for one in apart))]
    return found


def numbers(text: str) -> list[Found]:
    """Every number of a text, but for times of the day and dates."""
    return [_found([token]) for token in _apart(text, _read(text))]


def chanced(text: str, length: int) -> list[Found]:
    """Places that hold so many digits by themselves, where no PIN is expected: no date, no amount, no part of anything."""
    tokens, taken = _read(text), _places(text, _DATE, _AMOUNT, _CLOCK)
    plain = [token for token in tokens if not (token.digits and token.start in taken)]
    found = []
    for group in _loose(text, plain, tokens):
        whole = [_found(group)]
        parts = (_found(part) for part in _broken(text, group))
        found += [
            one
            for one in (whole if len(whole[0].digits) == length else parts)
            if len(one.digits) == length and not _goes_on(text, one)
        ]
    return found


def without(text: str, found: Sequence[Found]) -> str:
    """The text with a mark in each of these places."""
    for one in sorted(found, reverse=True):
        text = text[: one.start] + MARK + text[one.end :]
    return text


def blanked(text: str) -> str:
    """The text without anything that could be a PIN, or the greater part of one."""
    return without(text, offered(text, parts=names(text)))


def concealed(value: object, said: Iterable[str] = ()) -> object:
    """The JSON value with a mark for what may be a PIN: for every value with digits, where together they are a part of one.

    What a person has `said` is none, since none was left in it.
    """
    known = [_digits(text) for text in said]
    hidden = {leaf for leaf in _leaves(value) if (digits := _digits(leaf)) and not any(digits in one for one in known)}
    enough = sum(len(_digits(leaf)) for leaf in _leaves(value) if leaf in hidden) >= PARTIAL
    return _conceal(value, hidden) if enough else value


def _read(text: str) -> list[Token]:
    return read(_LEET.sub(lambda found: found[0][0] + "i" + found[0][2], text))


def _names(tokens: Sequence[Token]) -> bool:
    known = _words().names
    said = [token.word for token in tokens if not token.digits]
    pairs = {first + second for first, second in pairwise(said)}
    inside = (one for one in said if is_unspaced(one))
    return not known.isdisjoint(pairs | set(said)) or any(name in one for one in inside for name in known if is_unspaced(name))


def _stand_alone(tokens: Iterable[Token]) -> bool:
    """Whether there is nothing besides numbers."""
    return all(token.digits or _is_beside(token.word) for token in tokens)


def _is_beside(word: str) -> bool:
    """Whether digits on both sides of a word still stand together: it says nothing, names a PIN, or is a letter."""
    known = _words()
    if is_separator(word) or word in known.beside or word in known.between or word in known.names:
        return True
    return is_unspaced(word) and _is_made_of(word[:40], known.beside | known.names)


def _is_made_of(word: str, parts: frozenset[str]) -> bool:
    ends = {0}
    for end in range(1, len(word) + 1):
        if any(word[start:end] in parts for start in ends):
            ends.add(end)
    return len(word) in ends


def _within(run: Sequence[Token]) -> list[Found]:
    """The whole PINs of a run that stand there in one piece, and what lies between them."""
    found: list[Found] = []
    for is_whole, some in groupby(run, key=lambda token: SHORTEST <= len(token.digits) <= LONGEST):
        tokens = list(some)
        found += [_found([token]) for token in tokens] if is_whole else [_found(tokens)]
    return [one for one in found if len(one.digits) >= PARTIAL]


def _found(tokens: Sequence[Token]) -> Found:
    """The place of these tokens, and their digits; of a number that is said twice in a row, those of one."""
    digits, repeats, times = "", _words().repeats, 1
    said = [token for token in tokens if token.digits or token.word in repeats]
    for token in tokens:
        digits += token.digits[:1] * (times - 1) + token.digits
        times = repeats.get(token.word, 1)
    half = digits[: len(digits) // 2]
    if len(digits) > LONGEST and len(half) >= SHORTEST and digits == half * 2:
        digits = half
    return Found(said[0].start, said[-1].end, digits)


def _groups(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Numbers between which nothing is said, with the words between them."""
    group: list[Token] = []
    for token in tokens:
        if group or token.digits or token.word in _words().repeats:
            if not (token.digits or _is_beside(token.word)):
                yield from _numbered(group)
                group = []
            else:
                group.append(token)
    yield from _numbered(group)


def _numbered(group: list[Token]) -> Iterator[list[Token]]:
    if any(token.digits for token in group):
        yield group


def _runs(text: str, tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Numbers with nothing between two of them but what there may be in a PIN."""
    run: list[Token] = []
    for token in tokens:
        if run and not (token.digits and _GAP.fullmatch(text, run[-1].end, token.start)):
            yield run
            run = []
        if token.digits:
            run.append(token)
    if run:
        yield run


def _loose(text: str, plain: Iterable[Token], tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Numbers between which there is nothing, a letter, or the name of a separator."""
    run: list[Token] = []
    kept = set(plain)
    for token in tokens:
        apart = token not in kept or not (token.digits or (is_separator(token.word) and token.word != "x"))
        far = bool(run) and not _GAP.fullmatch(re.sub(r"[/_|()\[\]]", " ", text[run[-1].end : token.start]))
        if apart or far:
            yield from _numbered(run)
            run = []
        if not apart:
            run.append(token)
    yield from _numbered(run)


def _broken(text: str, group: Sequence[Token]) -> Iterator[list[Token]]:
    """The parts of a group, where a sentence may have ended between them."""
    part: list[Token] = []
    for token in group:
        if part and _BREAK.match(text, part[-1].end):
            yield from _numbered(part)
            part = []
        part.append(token)
    yield from _numbered(part)


def _apart(text: str, tokens: Iterable[Token]) -> list[Token]:
    taken = _places(text, _DATE, _CLOCK)
    return [token for token in tokens if token.digits and token.start not in taken]


def _places(text: str, *patterns: re.Pattern[str]) -> set[int]:
    """Where in the text what one of the patterns finds stands."""
    return {at for pattern in patterns for found in pattern.finditer(text) for at in range(*found.span())}


def _goes_on(text: str, found: Found) -> bool:
    """Whether a number is part of something longer, by the two characters on each of its sides, the nearer first."""
    sides = text[max(0, found.start - 2) : found.start][::-1], text[found.end : found.end + 2]
    return any(_is_part(side[:1], side[1:]) for side in sides)


def _is_part(near: str, beyond: str) -> bool:
    if near.isalnum():
        return not is_unspaced(near)
    return near in _BESIDE or (near in _JOINING and bool(beyond) and _JOINING[near](beyond))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(name)
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _digits(text: str) -> str:
    return "".join(token.digits for token in _read(text))


def _conceal(value: object, hidden: set[str]) -> object:
    if isinstance(value, dict):
        return {_conceal(name, hidden): _conceal(item, hidden) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_conceal(item, hidden) for item in value]
    return MARK if not isinstance(value, bool) and str(value) in hidden else value


@cache
def _words() -> _Words:
    known = table()
    return _Words(
        beside=frozenset(map(folded, known.beside.split())),
        between=frozenset(map(folded, (*known.between.split(), *known.repeats))),
        names=frozenset(folded(name.replace("-", " ")) for name in known.names.split()),
        repeats={folded(word): times for word, times in known.repeats.items()},
    )
