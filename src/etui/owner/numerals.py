"""The words for digits in the languages that people speak at home, and what is said beside them: `numerals.toml`, read once.

Above: `reading`, `spoken`. Below: the file. It refuses to know: texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

_FILE = Path(__file__).with_suffix(".toml")


class Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The numerals of one language, as the file explains them."""

    ones: tuple[str, ...]
    teens: tuple[str, ...] = ()
    tens: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ("{ten} {one}",)
    more: dict[str, str] = {}


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    names: str
    beside: str
    separators: str
    between: str
    repeats: dict[str, int]
    signs: dict[str, str]
    language: dict[str, Language]


class Word(NamedTuple):
    """What a word or a phrase means in one language."""

    digits: str
    weak: bool
    """It is a number only among others."""


@cache
def table() -> Table:
    """What is in the file. It is read when it is first needed: most hosts never hear a stranger."""
    return msgspec.toml.decode(_FILE.read_bytes(), type=Table)


def languages() -> tuple[str, ...]:
    """Their names, in the order in which they count."""
    return tuple(table().language)


def spellings(language: str) -> list[list[str]]:
    """How each of the digits is said in a language, from 0 to 9."""
    return [[word for word, _ in _words(column)] for column in table().language[language].ones]


def phrases(language: str) -> Iterator[tuple[str, Word]]:
    """What a language's words and phrases mean, as they are written in the file."""
    known = table().language[language]
    for number, column in enumerate((*known.ones, *known.teens)):
        for word, weak in _words(column):
            yield word, Word(str(number), weak)
    for number, column in enumerate(known.tens, 2):
        for ten, weak in _words(column):
            yield ten, Word(f"{number}0", weak)
            yield from ((phrase, Word(f"{number}{one}", False)) for one, phrase in _pairs(known, ten))
    for phrase, digits in known.more.items():
        yield phrase, Word(digits, not digits)


def _pairs(language: Language, ten: str) -> Iterator[tuple[int, str]]:
    """Each of 1 to 9, with the phrases for it and this ten."""
    for one, column in enumerate(language.ones[1:], 1):
        for word, _ in _words(column):
            yield from ((one, pair.format(ten=ten, one=word)) for pair in language.pairs)


def _words(column: str) -> list[tuple[str, bool]]:
    """The spellings of one number, and whether each is weak."""
    return [(word.rstrip("~"), word.endswith("~")) for word in column.split()]
