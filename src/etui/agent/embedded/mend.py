"""Sentences put right before they are matched: what was taken back, and commands that lean on the clause before them.

Above: understand. Below: the parsers and reading. It refuses to know tools.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from datetime import datetime

from etui.agent.embedded.arithmetic import read_arithmetic
from etui.agent.embedded.durations import UNITS as TIMES
from etui.agent.embedded.lexicon import phrases
from etui.agent.embedded.numbers import read_number
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.units import read_unit
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, STOP, Word, cut, plain, span

_CORRECTIONS = phrases("""
no wait; wait no; no sorry; sorry no; sorry i mean; no i mean; i mean; i meant; no make that; no make it; make that; no not;
scratch that; or rather; no actually; actually no; no; sorry; actually; wait; oops; rather
""")
_PHRASES = sorted((tuple(line.split()) for line in _CORRECTIONS), key=len, reverse=True)
_PLAIN = {("no",), ("sorry",), ("actually",), ("wait",), ("oops",), ("rather",), ("make", "that"), ("i", "mean")}
"""Words that take something back only where a value or a word before them comes again, or where they stand apart."""
_FURTHER = {("make", "that"), ("make", "it"), ("i", "mean"), ("i", "meant"), ("no", "wait")}
_PIVOTS = PREPOSITIONS | ARTICLES | STOP


def mended(sentence: str, depth: int = 0) -> str:
    """A sentence without what was taken back: "for five, no wait, ten minutes" is "for ten minutes"."""
    words = cut(sentence)
    texts = [word.text for word in words]
    for at in range(2, len(words)) if depth < 4 else ():
        phrase = next((one for one in _PHRASES if tuple(texts[at : at + len(one)]) == one), None)
        if phrase is None:
            continue
        end = at + len(phrase)
        while tuple(texts[end : end + 2]) in _FURTHER:
            end += 2
        if end >= len(words):
            continue
        start = _replaced(words, at, end, phrase)
        if start is not None:
            unit = _unit_after(texts, at, end)
            rest = (
                sentence[words[end].start : words[unit[0]].end] + unit[1] + sentence[words[unit[0]].end :]
                if unit
                else sentence[words[end].start :]
            )
            return mended(sentence[: words[start].start] + rest, depth + 1)
    return sentence


def _unit_after(texts: list[str], at: int, end: int) -> tuple[int, str] | None:
    """A new number takes over the unit of the old: "ten minutes no make that twelve" is twelve minutes."""
    found = read_number(texts, end)
    if (
        found is None
        or texts[at - 1] not in TIMES
        or (found[1] < len(texts) and (texts[found[1]] in TIMES or read_unit(texts, found[1])))
    ):
        return None
    return found[1] - 1, f" {texts[at - 1]}"


def _replaced(words: list[Word], at: int, end: int, phrase: tuple[str, ...]) -> int | None:
    """The word with which begins what the words after a correction replace."""
    texts = [word.text for word in words]
    apart = bool(words[at].gap.strip()) or bool(words[end].gap.strip()) or phrase not in _PLAIN
    typed = _typed(words, at, end)
    if typed is not None:
        return typed
    again = next((start for start in range(at - 1, -1, -1) if texts[start] == texts[end]), None)
    if again is not None and at - again <= 5 and texts[end] not in ("i", "it", "you", "is"):
        return again
    if not apart or texts[end] in _CLAUSES or at + len(phrase) >= len(words):
        return None
    if texts[end] in PREPOSITIONS:
        return next((start for start in range(at - 1, 0, -1) if texts[start] in PREPOSITIONS and at - start <= 4), None)
    start = at
    while start > 1 and texts[start - 1] not in _PIVOTS and (start == at or not words[start].gap.strip()) and at - start < 3:
        start -= 1
    return start if start < at else None


_CLAUSES = {"i", "we", "you", "he", "she", "they", "it", "that", "is", "are", "do", "does", "did", "not", "what", "why", "how"}


def _typed(words: list[Word], at: int, end: int) -> int | None:
    """Where the value begins that the value after a correction replaces, both being of one kind."""
    nowhere = datetime(2000, 1, 1)
    texts = [word.text for word in words]
    before, after = Reading("", words[:at], nowhere), Reading("", words[end:], nowhere)
    sum_after = read_arithmetic(texts[end:], 0)
    if sum_after:
        starts = [start for start in range(at) if (found := read_arithmetic(texts[:at], start)) and found[1] == at]
        if starts:
            return min(starts)
    if after.durations.get(0):
        starts = [one.start for one in before.durations.values() if one.end == at]
        if starts:
            return min(starts)
    numbers = [start for start in range(max(0, at - 4), at) if _number_ends(texts, start, at)]
    if _number_ends(texts, end, None):
        if numbers:
            return min(numbers)
        lengths = [one.start for one in before.durations.values() if one.end == at]
        if lengths:
            return min(lengths)
    if after.whens.get(0):
        whens = [when for when in before.whens.values() if when.end == at]
        if whens:
            return _clock(texts, min(when.start for when in whens), at, end)
    return None


def _clock(texts: list[str], start: int, at: int, end: int) -> int:
    """Of "tonight at nine no at ten" only the time of day is taken back."""
    again = next((place for place in range(at - 1, start, -1) if texts[place] == texts[end]), None)
    return start if again is None else again


def _number_ends(texts: list[str], start: int, stop: int | None) -> bool:
    found = read_number(texts if stop is None else texts[:stop], start)
    return found is not None and (stop is None or found[1] == stop)


_THERE = {"there": ("in", "at", "to", "from"), "that": (), "it": (), "them": (), "this": (), "they": (), "those": ()}
_JOINTS = {"so", "but", "because"}
_MOST = 8
"""Readings of one sentence that are tried."""


def clauses(sentence: str, words: list[Word]) -> Iterator[tuple[str, list[Word]]]:
    """Readings of a sentence in two parts, such as "I weigh 70 kilos, what is that in pounds"."""
    yield from itertools.islice(_clauses(sentence, words), _MOST)


def _clauses(sentence: str, words: list[Word]) -> Iterator[tuple[str, list[Word]]]:
    for at in range(len(words) - 1, 0, -1):
        joint = words[at].text in _JOINTS
        if not joint and not any(mark in words[at].gap for mark in ",.;:!?-–—"):
            continue
        before, command = words[:at], plain(words[at + joint :])
        if not command:
            continue
        for number, word in enumerate(command):
            for start, end in _referents(before, word.text):
                lead = "in " if word.text == "there" and (not number or command[number - 1].text not in PREPOSITIONS) else ""
                noun = lead + span(sentence, before[start:end])
                line = f"{span(sentence, command[:number])} {noun} {span(sentence, command[number + 1 :])}"
                yield line, plain(cut(line))
        place = next((start for start in range(len(before) - 2, -1, -1) if before[start].text == "in"), None)
        if place is not None:
            line = f"{span(sentence, command)} {span(sentence, before[place:])}"
            yield line, plain(cut(line))
        yield sentence, command
        if _short(before):
            yield sentence, [*command, *before]
            yield sentence, [*command, Word("for", command[-1].end, command[-1].end), *before]


def _short(words: list[Word]) -> bool:
    return len(words) <= 4 and not any(word.text in ("i", "we", "you", "it", "he", "she", "they") for word in words)


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
            if read_number(texts, unit[1]) is None:
                yield at, unit[1]
            return
    names = _names(before)
    yield from [names[-1], *names[:1]] if len(names) > 1 else names


def _names(words: list[Word]) -> list[tuple[int, int]]:
    """Where the things stand that a clause speaks of: runs of words with a meaning, from behind an article if there is one."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(words):
        end = at
        while end < len(words) and words[end].text not in _EDGES and (end == at or not words[end].gap.strip()):
            end += 1
        if end > at:
            found.append((at, end))
        at = max(end, at + 1)
    named = [place for place in found if place[0] and words[place[0] - 1].text in ARTICLES | {"of", "no", "all"}]
    return named or found


_EDGES = STOP | PREPOSITIONS | {"already", "no", "left", "more", "enough", "plenty"}


_LABEL = re.compile(r"(?:(?:to|on|for) )?(?:the |my |our )?((?:[\w-]+ )?list)")


_NO_THINGS = {
    "please",
    "thanks",
    "add",
    "put",
    "write",
    "stick",
    "remove",
    "delete",
    "take",
    "cross",
    "show",
    "read",
    "clear",
    "get",
}
"""Words with which no thing on a list begins, but a command about it."""


def labelled(sentence: str) -> str:
    """What stands behind the name of a list, as a command: "shopping list: tin foil"; else empty."""
    words = plain(cut(sentence))
    for at in range(1, min(len(words) - 1, 5) + 1) if len(words) > 1 else ():
        if words[at].gap not in (":", ",", "-", "–", "—") or words[at].text in _CLAUSES | _NO_THINGS:
            continue
        name = _LABEL.fullmatch(" ".join(word.text for word in words[:at]))
        things = span(sentence, words[at:])
        if name and (words[at].gap == ":" or len(words) - at <= 4):
            return f"add {things} to the {name[1]}"
    return ""


def later(sentence: str, now: datetime) -> str:
    """A sentence that begins with its time, with that at its end: "at nine I need a reminder to call Kim"; else empty."""
    words = plain(cut(sentence))
    when = Reading(sentence, words, now).whens.get(0) if words else None
    if (
        when is None
        or when.end + 2 > len(words)
        or words[when.end].text in ("is", "was", "are", "were", "will", "would", "works")
    ):
        return ""
    time = span(sentence, words[: when.end])
    rest = words[when.end :]
    stop = next((at for at in range(2, len(rest)) if rest[at].gap.strip()), len(rest))
    tail = span(sentence, rest[stop:])
    return f"{span(sentence, rest[:stop])} {time}{', ' if tail else ''}{tail}"


def plainer(sentence: str) -> str:
    """What somebody lacks or has enough of, said plainly: "I'm out of salt" is "we need salt"; else empty."""
    lean = plain(cut(sentence))
    words = [word for word in cut(sentence) if word.end <= lean[-1].end] if lean else []
    line = " ".join(word.text for word in words)
    for pattern, plain_words in _PLAINER:
        match = pattern.fullmatch(line)
        if match:
            first = len(line[: match.start("x")].split())
            if len(match["x"].split()) > 5 or set(match["x"].split()) & (_CLAUSES | _JOINTS):
                return ""
            thing = span(sentence, words[first : first + len(match["x"].split())])
            return plain_words.format(thing)
    return ""


_WHO = r"(?:oh |and |so )*(?:i think |it looks like |looks like )?(?:we|i)"
_PLAINER = [
    (
        re.compile(pattern.replace("WHO", _WHO).replace("X", r"(?P<x>.+?)") + r"(?: too| again| now| at home| in the house)?"),
        words,
    )
    for pattern, words in (
        (
            r"WHO (?:am|are|is) (?:all |almost |nearly |running |getting )*(?:out of|low on|short (?:of|on)) (?:the )?X",
            "we need {}",
        ),
        (r"WHO (?:have |just |nearly |almost )*(?:run|ran) out of X", "we need {}"),
        (r"WHO (?:have |got )+(?:no more|no|not any|hardly any|almost no) X(?: left| any more)?", "we need {}"),
        (r"there (?:is|are) (?:no more|no|not any|not any more|hardly any|almost no) X left", "we need {}"),
        (r"there (?:is|are) no more X", "we need {}"),
        (r"WHO could (?:use|do with) (?:some |a few )?(?:more )?X", "we need {}"),
        (r"WHO (?:need|have|have got|got|should|must)(?: to)? (?:get|buy|pick up) (?:some )?(?:more )?X", "we need {}"),
        (
            r"(?:the |our |my )X (?:is|are) (?:all |almost |nearly )?(?:gone|finished|empty|used up|running out|running low)",
            "we need {}",
        ),
        (
            r"(?:someone|somebody|the kids|the dog) (?:ate|used up|used|finished|drank) (?:all |the last of )(?:the |our )?X",
            "we need {}",
        ),
        (
            r"WHO (?:already |still )*(?:have|got|bought)(?: got| already)* (?:enough|plenty of|lots of) X",
            "we do not need {} any more",
        ),
        (r"WHO (?:have )?already (?:have|got|bought|have got) (?:some |the )?X", "we do not need {} any more"),
        (r"no (?:more )?need for (?:the )?X(?: any more)?(?: on the list)?", "we do not need {} any more"),
        (r"need (?:some )?(?:more )?X", "we need {}"),
    )
]
