"""Digits in what a person says, in whatever script and language: each word of a text, with its digits where it is a number.

A number is written in any of Unicode's digits, or said in a language of the table, in one word, several, or run together with
others. Of a word that means different things, the language counts that reads the most of the text.
Above: `spoken`. Below: `numerals`. It refuses to know: PINs.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import groupby
from typing import NamedTuple

from etui.owner.numerals import Word, languages, phrases, table

MOST = 5
"""Words of one number."""
FEWEST = 4
"""Numbers that run together inside of something longer, or that all mean something else too; fewer are none."""
_LINK = re.compile(r"[\s\-\u2010-\u2015]*")
"""What may stand between the words of one number, such as `thirty-four`."""
_ALIKE = {
    "ı": "i",
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "æ": "ae",
    "œ": "oe",
    "〇": "零",
    "ی": "ي",
    "ى": "ي",
    "ک": "ك",
    "ة": "ه",
}
"""Letters that are written in two ways."""
_APOSTROPHES = frozenset("'’ʼʻ`´")
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0670\ufe00-\ufe0f\u20d0-\u20f0]")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)


class Token(NamedTuple):
    """One word of a text, or a part of one."""

    start: int
    end: int
    word: str
    """As it is compared: without case, accents and apostrophes."""
    digits: str = ""
    """What it stands for, where it is a number."""


class _Spelt(NamedTuple):
    """A word, and where in the text each of its letters stands."""

    word: str
    places: list[tuple[int, int]]

    def part(self, start: int, end: int, digits: str = "") -> Token:
        return Token(self.places[start][0], self.places[end - 1][1], self.word[start:end], digits)


class _Said(NamedTuple):
    """A number that is said."""

    token: Token
    weak: bool
    language: str


class _Inside(NamedTuple):
    start: int
    end: int
    word: Word


def read(text: str) -> list[Token]:
    """The words of a text in their order."""
    words = list(_spelt(text))
    known = _lexicon()
    phrased = [_phrases(words, at, text, known) for at in range(len(words))]
    within = [_inside(word.word) if not said else {} for word, said in zip(words, phrased, strict=True)]
    scores: Counter[str] = Counter()
    for at, said in enumerate(phrased):
        scores.update({language: sum(len(one.word) for one in words[at : at + count]) for language, (count, _) in said.items()})
        scores.update({language: sum(one.end - one.start for one in found) for language, found in within[at].items()})
    ranks = {language: (-scores[language], number) for number, language in enumerate(languages())}
    read: list[_Said] = []
    at = 0
    while at < len(words):
        word, said, inside = words[at], phrased[at], within[at]
        if said:
            language = min(said, key=ranks.__getitem__)
            count, meant = said[language]
            weak = all(one.weak for other, one in said.values() if other == count)
            read.append(_Said(_joined(words[at : at + count], meant.digits), weak, language))
            at += count
            continue
        if inside:
            language = min(inside, key=ranks.__getitem__)
            read += (_Said(token, weak, language) for token, weak in _parted(word, inside[language]))
        else:
            digits = word.word if word.word.isdecimal() else ""
            read.append(_Said(word.part(0, len(word.word), digits), False, ""))
        at += 1
    return [token for run in _runs(read) for token in _sure(run, len(read))]


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """A text as its words are compared, without what stands between them."""
    return "".join(word.word for word in _spelt(text))


def is_unspaced(text: str) -> bool:
    """Whether it begins in a script that puts no spaces between words, or hangs endings on them."""
    return _UNSPACED.match(text) is not None


def _runs(read: Sequence[_Said]) -> Iterator[list[_Said]]:
    """Numbers that stand together, with the letters and separators between them, and every other word by itself."""
    for together, run in groupby(read, key=lambda one: bool(one.token.digits) or is_separator(one.token.word)):
        if together:
            yield list(run)
        else:
            yield from ([one] for one in run)


def _sure(run: Sequence[_Said], words: int) -> list[Token]:
    """The tokens of a run; what may be no number is one only where the others beside it, or its language, make that clear."""
    numbers = [one for one in run if one.token.digits]
    weak = [one for one in numbers if one.weak]
    if weak:
        (main, most), *_ = Counter(one.language for one in numbers if one.language).most_common(1)
        written = any(not one.language and len(one.token.digits) > 1 for one in numbers)
        alone = len(numbers) >= FEWEST or len(run) == words
        if written or not ((alone and most == len(numbers)) or (len(numbers) > 2 and len(weak) * 2 <= len(numbers))):
            main = ""
        return [one.token._replace(digits="") if one.weak and one.language != main else one.token for one in run]
    return [one.token for one in run]


def is_separator(word: str) -> bool:
    """Whether a word between digits is none of them: a letter, or what one says for a dash."""
    return len(word) == 1 or word in _separators()


@cache
def _separators() -> frozenset[str]:
    return frozenset(map(folded, table().separators.split()))


def _parted(word: _Spelt, inside: Sequence[_Inside]) -> Iterator[tuple[Token, bool]]:
    """The numbers inside of a word, and what stands before, between and behind them."""
    at = 0
    for one in inside:
        if one.start > at:
            yield word.part(at, one.start), False
        yield word.part(one.start, one.end, one.word.digits), one.word.weak
        at = one.end
    if at < len(word.word):
        yield word.part(at, len(word.word)), False


def _joined(words: Sequence[_Spelt], digits: str) -> Token:
    start, end = words[0].places[0][0], words[-1].places[-1][1]
    return Token(start, end, "".join(one.word for one in words), digits)


def _phrases(
    words: Sequence[_Spelt], at: int, text: str, known: Mapping[str, Mapping[str, Word]]
) -> dict[str, tuple[int, Word]]:
    """By language, the longest number that is said from this word on, and in how many words."""
    found: dict[str, tuple[int, Word]] = {}
    joined = ""
    for count, word in enumerate(words[at : at + MOST], 1):
        if word.word.isdecimal():
            break
        if count > 1 and not _LINK.fullmatch(text, words[at + count - 2].places[-1][1], word.places[0][0]):
            break
        joined = f"{joined} {word.word}".lstrip()
        found |= {language: (count, meant) for language, meant in known.get(joined, {}).items() if meant.digits}
    return found


def _inside(word: str) -> dict[str, list[_Inside]]:
    """By language, the numbers that run together in a word."""
    if len(word) < 2 or word.isdecimal():
        return {}
    longest, known = _longest(), _lexicon()
    begins: dict[str, dict[int, list[_Inside]]] = {}
    for start in range(len(word)):
        for end in range(start + 1, min(len(word), start + longest) + 1):
            for language, meant in known.get(word[start:end], {}).items():
                begins.setdefault(language, {}).setdefault(start, []).append(_Inside(start, end, meant))
    found = {language: _together(word, numbers) for language, numbers in begins.items()}
    return {language: numbers for language, numbers in found.items() if numbers}


def _together(word: str, begins: Mapping[int, list[_Inside]]) -> list[_Inside]:
    """The numbers of one language in a word, where they leave nothing of it, or are too many to be there by chance."""
    reach: dict[int, tuple[int, _Inside]] = {}
    for start in sorted(begins, reverse=True):
        further = [(reach[one.end][0] if one.end in reach else one.end, one.end, one) for one in begins[start]]
        end, _, first = max(further, key=lambda one: one[:2])
        reach[start] = end, first
    found: list[_Inside] = []
    at = 0
    while at < len(word):
        run: list[_Inside] = []
        here = at
        while here in reach:
            run.append(reach[here][1])
            here = run[-1].end
        whole = here - at == len(word)
        weak = sum(one.word.weak for one in run)
        if whole and not weak:
            enough = len(run) > 1
        elif weak < len(run):
            enough = len(run) >= (FEWEST - 1 if is_unspaced(word) else FEWEST)
        else:
            enough = whole and len(run) >= MOST
        if enough:
            found += run
        # What has many and none that is sure has none further on either.
        at = here if enough or len(run) >= FEWEST else at + 1
    return found


@cache
def _lexicon() -> Mapping[str, Mapping[str, Word]]:
    """What each phrase means by language, run together and apart."""
    found: dict[str, dict[str, Word]] = {}
    for language in languages():
        for phrase, word in phrases(language):
            parts = [folded(part) for part in re.split("[ -]", phrase)]
            for key in {"".join(parts), " ".join(parts)}:
                before = found.setdefault(key, {}).get(language, word)
                found[key][language] = Word(before.digits, before.weak and word.weak)
    return found


@cache
def _longest() -> int:
    return max(map(len, _lexicon()))


def _spelt(text: str) -> Iterator[_Spelt]:
    """The words of a text, and its numbers in digits."""
    kind, word = "", _Spelt("", [])
    for letters, now, start, end in _letters(text):
        if now != kind and word.word:
            yield word
            word = _Spelt("", [])
        kind = now
        if kind:
            word = _Spelt(word.word + letters, word.places)
            word.places.extend([(start, end)] * len(letters))
    if word.word:
        yield word


def _letters(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Each character as it is compared, whether it is a digit, a letter or neither, and where it stands with its marks."""
    held: tuple[str, str, int, int] | None = None
    for at, char in enumerate(text):
        letters, kind = _folded(char)
        if char in _APOSTROPHES and 0 < at < len(text) - 1 and text[at - 1].isalpha() and text[at + 1].isalpha():
            letters = ""
        if not letters and held is not None:
            held = (*held[:3], at + 1 if held[1] else held[3])
        elif letters:
            if held is not None:
                yield held
            held = letters, kind, at, at + 1
    if held is not None:
        yield held


@lru_cache(maxsize=8192)
def _folded(char: str) -> tuple[str, str]:
    """A character as it is compared, and its kind: `digit`, `letter`, or nothing."""
    if char in (signs := table().signs):
        return signs[char], "digit"
    number, category = unicodedata.numeric(char, -1.0), unicodedata.category(char)
    if category[0] == "N" and char not in _ALIKE:
        whole = number.is_integer() and 0 <= number < 100
        return (str(int(number)), "digit") if whole else (char, "")
    if category == "Cf":
        return "", ""
    letters = _ACCENTS.sub("", _decomposed(char))
    letters = "".join(_ALIKE.get(one, _hiragana(one)) for one in letters)
    if not letters:
        return "", ""
    if letters.isascii() and letters.isdecimal():
        return letters, "digit"
    is_word = all(one.isalpha() or unicodedata.category(one)[0] == "M" for one in letters)
    return letters, "letter" if is_word else ""


def _decomposed(char: str) -> str:
    if "\uac00" <= char <= "\ud7af":
        return char
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())


def _hiragana(char: str) -> str:
    return chr(ord(char) - 0x60) if "\u30a1" <= char <= "\u30f6" else char
