"""Sentences put right before they are matched: what was taken back, and commands that lean on the clause before them.

Above: understand. Below: the parsers and reading. It refuses to know tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from etui.agent.embedded.numbers import read_number
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.units import read_unit
from etui.agent.embedded.words import PREPOSITIONS, Word, cut, plain, span

_CORRECTIONS = [
    ("no", "wait"),
    ("wait", "no"),
    ("i", "mean"),
    ("no", "sorry"),
    ("sorry",),
    ("no", "make", "that"),
    ("no", "make", "it"),
    ("make", "that"),
    ("scratch", "that"),
    ("or", "rather"),
    ("no",),
    ("actually",),
    ("wait",),
]


def mended(words: list[Word]) -> list[Word]:
    """Without what was taken back: "for five, no wait, ten minutes" is "for ten minutes"."""
    texts = [word.text for word in words]
    for at in range(2, len(words) - 1):
        for phrase in _CORRECTIONS:
            end = at + len(phrase)
            if tuple(texts[at:end]) != phrase:
                continue
            while end < len(words) and tuple(texts[end : end + 2]) in {
                ("make", "that"),
                ("make", "it"),
                ("i", "mean"),
                ("no", "wait"),
            }:
                end += 2
            start = _replaced(words, at, end)
            if start is not None:
                return mended(words[:start] + [word._replace(gap="") if i == 0 else word for i, word in enumerate(words[end:])])
            break
    return words


def _replaced(words: list[Word], at: int, end: int) -> int | None:
    """Where the value begins that the value after a correction replaces, both being of one kind."""
    nowhere = datetime(2000, 1, 1)
    texts = [word.text for word in words]
    before, after = Reading("", words[:at], nowhere), Reading("", words[end:], nowhere)
    if after.whens.get(0):
        starts = [when.start for when in before.whens.values() if when.end == at]
        if starts:
            return min(starts)
    if after.durations.get(0):
        starts = [one.start for one in before.durations.values() if one.end == at]
        if starts:
            return min(starts)
    from_number = [start for start in range(max(0, at - 4), at) if _number_ends(texts, start, at)]
    return min(from_number) if from_number and _number_ends(texts, end, None) else None


def _number_ends(texts: list[str], start: int, stop: int | None) -> bool:
    found = read_number(texts if stop is None else texts[:stop], start)
    return found is not None and (stop is None or found[1] == stop)


_THERE = {"there": ("in", "at", "to", "from"), "that": (), "it": (), "them": (), "this": ()}


def clauses(sentence: str, words: list[Word]) -> Iterator[tuple[str, list[Word]]]:
    """Readings of a sentence in two parts, such as "I weigh 70 kilos, what is that in pounds"."""
    for at in range(1, len(words) - 1):
        if not any(mark in words[at].gap for mark in ",.;:!?-–—"):
            continue
        before, command = words[:at], plain(words[at:])
        for number, word in enumerate(command):
            for start, end in _referents(before, word.text):
                lead = "in " if word.text == "there" and (not number or command[number - 1].text not in PREPOSITIONS) else ""
                noun = lead + span(sentence, before[start:end])
                line = f"{span(sentence, command[:number])} {noun} {span(sentence, command[number + 1 :])}"
                yield line, plain(cut(line))
        yield sentence, command
        yield sentence, [*command, *before]
        yield sentence, [*command, Word("for", command[-1].end, command[-1].end), *before]


def _referents(before: list[Word], pronoun: str) -> Iterator[tuple[int, int]]:
    """The words before that a pronoun may stand for."""
    prepositions = _THERE.get(pronoun)
    if prepositions is None:
        return
    texts = [word.text for word in before]
    if prepositions:
        for at in range(len(texts) - 2, -1, -1):
            if texts[at] in prepositions:
                yield at + 1, len(texts)
        if len(texts) <= 3:
            yield 0, len(texts)
        return
    for at in range(len(texts)):
        number = read_number(texts, at)
        unit = read_unit(texts, number[1]) if number else None
        if number and unit:
            yield at, unit[1]
            return
