"""Text to the token numbers of BERT: lower case, no accents, punctuation apart, then the longest known pieces.

Above: `vectors`. Below: the vocabulary in `data/`. It refuses to know the model. Written here because the usual library weighs
12 MB and brings a client of a model hub along; this gives the same numbers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

MOST = 128
"""Tokens of one text, the two ends included."""
CLS, SEP, UNKNOWN = 101, 102, 100


@lru_cache(maxsize=1)
def vocabulary() -> dict[str, int]:
    """Every piece with its number."""
    text = files("etui.agent.embedded").joinpath("data/vocab.txt").read_text(encoding="utf-8")
    return {piece: number for number, piece in enumerate(text.split("\n")) if piece}


def encode(text: str) -> list[int]:
    """The token numbers of a text, its ends marked; at most `MOST`."""
    numbers = [CLS]
    for word in _words(text[: MOST * 40]):
        numbers.extend(_pieces(word))
        if len(numbers) >= MOST - 1:
            break
    return [*numbers[: MOST - 1], SEP]


def _words(text: str) -> Iterator[str]:
    current = ""
    for letter in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(letter)
        if kind == "Mn" or (kind.startswith("C") and letter not in "\t\n\r"):
            continue
        if letter.isspace():
            if current:
                yield current
            current = ""
        elif _apart(letter, kind):
            if current:
                yield current
            yield letter
            current = ""
        else:
            current += letter
    if current:
        yield current


def _apart(letter: str, kind: str) -> bool:
    code = ord(letter)
    ascii_sign = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    ideograph = 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x2CEAF
    return ascii_sign or kind.startswith("P") or ideograph


@lru_cache(maxsize=20_000)
def _pieces(word: str) -> tuple[int, ...]:
    if len(word) > 100:
        return (UNKNOWN,)
    known, found, start = vocabulary(), [], 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in known:
                found.append(known[piece])
                break
            end -= 1
        if end == start:
            return (UNKNOWN,)
        start = end
    return tuple(found)
