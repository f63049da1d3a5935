"""How likely a sentence means a tool: a few signs of how it fits, weighed against the chance that it means none.

Above: understand. Below: fill, choose and mood. It refuses to know tools by name. The weights are those of a logistic choice
between the candidates and idle talk, learnt by `bench/weights.py` from the development sentences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from etui.agent.embedded.fill import Filled
from etui.agent.embedded.mood import Mood
from etui.agent.embedded.parameters import Kind
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.templates import ALL_ROUND, pair_of
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, PRONOUNS, STOP, bare


class Nearness(msgspec.Struct, frozen=True):
    """How near a sentence is to a tool, to its words, and to idle talk."""

    meaning: float
    words: float
    idle: float


class Candidate(msgspec.Struct, frozen=True):
    """A tool that the sentence may mean, its arguments, and what speaks for and against it."""

    filled: Filled
    signs: tuple[float, ...]


NAMES = (
    "one",
    "meaning",
    "words",
    "framed meaning",
    "framed words",
    "idle",
    "framed idle",
    "met",
    "cost",
    "unexplained",
    "missing",
    "covered",
    "whole",
    "odd",
    "kin",
    "opens",
    "text",
    "thin",
    "sum",
    "unit",
    "time",
    "address",
    "tells",
    "states",
    "muses",
    "asks",
    "asks other",
    "denied",
    "beside",
    "unread",
    "led",
    "typed",
    "unsure",
    "asks writer",
)
"""What the signs are, in their order."""


def signs(
    filled: Filled, reading: Reading, near: Nearness, framed: Nearness, kin: float, whole: bool, mood: Mood
) -> tuple[float, ...]:
    """What speaks for and against a candidate, in numbers of about 0 to 1."""
    named = filled.known.parameters
    kinds = [named[name].kind for name in filled.arguments]
    pair = pair_of(named)
    first = bool(filled.match.literals) and min(filled.match.literals) == 0
    text = any(kind is Kind.TEXT for kind in kinds)
    free = any(named[name].free for name in filled.where)
    led = whole and first and not filled.match.template.pith <= ALL_ROUND
    asking = filled.match.template.asks
    return (
        1.0,
        near.meaning,
        near.words,
        framed.meaning,
        framed.words,
        max(0.0, framed.idle - framed.meaning if free else near.idle - near.meaning),
        max(0.0, framed.idle - framed.meaning),
        filled.met,
        min(filled.cost, 4.0) / 4,
        min(len(filled.unexplained), 4) / 4,
        min(len(filled.missing), 2) / 2,
        covered(filled, reading),
        float(whole),
        float(odd(filled)),
        kin,
        float(first and reading.roots[0] in filled.match.template.pith),
        float(text),
        float(text and (filled.met < 0.5 or filled.match.template.pith <= ALL_ROUND)),
        float(Kind.SUM in kinds),
        sum(kind is Kind.UNIT for kind in kinds) / 2,
        float(Kind.DURATION in kinds or Kind.WHEN in kinds or (pair is not None and pair[1] in filled.arguments)),
        float(Kind.ADDRESS in kinds or any(named[name].file and "." in str(value) for name, value in filled.arguments.items())),
        float(mood.tells),
        float(mood.states and not (free and led)),
        float(mood.muses and not whole and not _same_question(filled, reading)),
        float(mood.asks and asking),
        float(mood.asks and not asking),
        float(any(word in reading.texts and word not in filled.match.template.items for word in ("not", "never"))),
        min(len(filled.unexplained), 3) / 3 if not filled.arguments else 0.0,
        float(bool(filled.unread)),
        float(led),
        float(not text and len(kinds) > 1 and not filled.missing),
        float(not filled.sure),
        float(mood.asks and not asking and not filled.known.reads),
    )


def _same_question(filled: Filled, reading: Reading) -> bool:
    """True for a question that the tool itself answers: "when was the fern watered" where it tells that."""
    own = reading.texts[0] in filled.match.template.items and reading.texts[0] in ("when", "how", "where", "who")
    return own and bool(filled.arguments) and filled.met >= 0.6 and covered(filled, reading) > 0.99


def covered(filled: Filled, reading: Reading) -> float:
    """The share of the words with a meaning that the template's own words and the values account for."""
    taken = {index for start, end in filled.where.values() for index in range(start, end)} | filled.match.literals
    telling = [index for index, word in enumerate(reading.words) if word.text not in STOP]
    return sum(index in taken for index in telling) / len(telling) if telling else 0.0


_CLAUSE = {
    "me",
    "i",
    "we",
    "you",
    "is",
    "are",
    "was",
    "were",
    "makes",
    "am",
    "it",
    "him",
    "them",
    "they",
    "can",
    "please",
    "so",
    "what",
    "your",
    "yourself",
    "come",
}
"""Words that a name of something rarely holds."""
_QUANTITIES = {"plenty", "enough", "some", "most", "many", "much", "lots", "loads", "few", "several", "nothing", "none", "any"}
"""Words for how much, which alone name nothing."""
_NOBODY = {"more", "something", "anything", "everything"}
_IS = ("'s", "’s")
"""With these a name ends that is none, but the subject of what is told."""
_BESIDE = {"during", "while", "with", "without", "from", "by"}
"""Words with which no message begins, but what goes along with it."""


def odd(filled: Filled, strictly: bool = False) -> bool:
    """True for a text that is hardly the name of anything, such as "it", "a", or words of the tool's own sentences.

    `strictly`: the rest of the sentence fits, so that only clauses in the place of a name are odd.
    """
    if filled.astray or (filled.dropped and not strictly):
        return True
    for name, value in filled.arguments.items():
        parameter = filled.known.parameters[name]
        if parameter.free and str(value).lower().split()[:1] and str(value).lower().split()[0] in _BESIDE:
            return True
        if parameter.kind is not Kind.TEXT or parameter.free:
            continue
        values = value if isinstance(value, list) else [value]
        words = [word for one in values for word in str(one).lower().split()]
        start = filled.where[name][0] if name in filled.where else 0
        led_up = any(at < start for at in filled.match.literals)
        if not led_up and all(bare(word) in filled.known.frame for word in words):
            return True
        if str(value).lower() in ARTICLES | PREPOSITIONS | PRONOUNS or set(words) & _CLAUSE:
            return True
        if parameter.person and (
            set(words) & {"ask", "tell", "say", "let", "see", "check", "saying"} or words[-1].endswith(_IS)
        ):
            return True
        if set(words) <= _QUANTITIES | (_NOBODY if parameter.person else set()):
            return True
        if strictly:
            continue
        if parameter.place and set(words) & (STOP - {"the", "of", "in", "and", "on", "my", "our", "here", "there", "to"}):
            return True
        if parameter.person and set(words) & (STOP - {"my", "our", "the"} | PREPOSITIONS):
            return True
        if all(bare(word) in filled.known.frame for word in words) or (parameter.file and "." not in str(value)):
            return True
    return False


WHOLE, LED, MUSES, STATES = (NAMES.index(name) for name in ("whole", "led", "muses", "states"))
WEIGHTS: tuple[float, ...] = (
    -4.76,  # one
    3.87,  # meaning
    1.10,  # words
    2.69,  # framed meaning
    1.81,  # framed words
    -6.42,  # idle
    -0.96,  # framed idle
    0.78,  # met
    -2.68,  # cost
    0.00,  # unexplained
    -1.06,  # missing
    0.00,  # covered
    0.96,  # whole
    -1.63,  # odd
    2.88,  # kin
    0.00,  # opens
    0.78,  # text
    -1.60,  # thin
    2.60,  # sum
    1.06,  # unit
    0.92,  # time
    1.87,  # address
    -4.10,  # tells
    -1.62,  # states
    -2.73,  # muses
    1.04,  # asks
    1.62,  # asks other
    -1.32,  # denied
    -1.23,  # beside
    -1.80,  # unread
    -0.22,  # led
    2.71,  # typed
    -1.04,  # unsure
    -2.79,  # asks writer
)


def weighed(found: Sequence[float]) -> float:
    """The signs in one number; 0 is as likely as idle talk."""
    return sum(weight * sign for weight, sign in zip(WEIGHTS, found, strict=True))


def shares(candidates: Sequence[Candidate]) -> list[float]:
    """How likely each candidate is meant; what is missing to 1 is the chance that none is."""
    powers = [math.exp(min(30.0, weighed(one.signs))) for one in candidates]
    total = 1.0 + sum(powers)
    return [power / total for power in powers]
