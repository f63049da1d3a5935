"""What a sentence asks for: calls to make, one to ask back about, or nothing that the tools can do.

Above: model. Below: choose and fill. It refuses to act on a doubt: a wrong call that nobody was asked about is the worst end, so
a sentence that fits a template whole is acted on, one that is only near is acted on when it is near enough, and the rest is
asked back or honestly declined. The thresholds were chosen with `bench/embedded.py`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

from etui.agent.embedded.choose import Index, Ranked, Ranking
from etui.agent.embedded.fill import Filled, best_alignment, fill
from etui.agent.embedded.known import Known
from etui.agent.embedded.parameters import Kind, Reading
from etui.agent.embedded.templates import Match
from etui.agent.embedded.words import ARTICLES, Word, asked, cut, plain, span

ACT = 0.56
"""From here on a near sentence is acted on."""
ASK = 0.44
"""From here on it is asked back about."""
MARGIN = 0.05
"""How much nearer the first tool must be than the second."""
_CLOSE = 0.35
"""Strengths of strict fits that are told apart by nearness."""


class Verdict(StrEnum):
    """What to do with a sentence."""

    DO = "do"
    MAYBE = "maybe"
    """Ask back whether the one call was meant."""
    WHICH = "which"
    """Ask back which of the calls was meant."""
    NOT = "not"
    """They asked for something not to be done."""
    NOTHING = "nothing"


class Understanding(msgspec.Struct, frozen=True):
    """A verdict and the calls that it is about."""

    verdict: Verdict
    calls: tuple[Filled, ...] = ()
    whole: bool = False
    """Every word of the sentence was accounted for by templates."""
    confidence: float = 0.0


_NOTHING = Understanding(Verdict.NOTHING)


def understand(index: Index, sentence: str, now: datetime) -> Understanding:
    """What a sentence asks of the tools."""
    words = mended(plain(cut(sentence)))
    if not words or not index.tools:
        return _NOTHING
    if _refuses(words):
        return Understanding(Verdict.NOT)
    return _several(index, sentence, words, now) or _one(index, sentence, words, now)


def _refuses(words: list[Word]) -> bool:
    texts = [word.text for word in words[:3]]
    return texts[:2] == ["do", "not"] and texts[2:] not in (["you"], ["i"], ["we"], ["they"], ["forget"]) or texts[:1] == ["never"] and len(words) > 2


_CORRECTIONS = [("no", "wait"), ("wait", "no"), ("i", "mean"), ("no", "sorry"), ("sorry",), ("no", "make", "that"), ("no", "make", "it"), ("make", "that"),
                ("scratch", "that"), ("or", "rather"), ("no",), ("actually",), ("wait",)]  # fmt: skip


def mended(words: list[Word]) -> list[Word]:
    """Without what was taken back: "for five, no wait, ten minutes" is "for ten minutes"."""
    texts = [word.text for word in words]
    for at in range(2, len(words) - 1):
        for phrase in _CORRECTIONS:
            end = at + len(phrase)
            if tuple(texts[at:end]) != phrase:
                continue
            while end < len(words) and tuple(texts[end : end + 2]) in {("make", "that"), ("make", "it"), ("i", "mean"), ("no", "wait")}:
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
    from etui.agent.embedded.numbers import read_number

    found = read_number(texts if stop is None else texts[:stop], start)
    return found is not None and (stop is None or found[1] == stop)


def _several(index: Index, sentence: str, words: list[Word], now: datetime) -> Understanding | None:
    """Two or three commands in one sentence, where each part is a whole command of its own."""
    texts = [word.text for word in words]
    for at in range(2, len(words) - 1):
        joint = texts[at] in ("and", "then") or any(mark in words[at].gap for mark in ".;!?")
        if not joint:
            continue
        start = at + (texts[at] in ("and", "then")) + (texts[at : at + 2] == ["and", "then"]) + (texts[at : at + 2] == ["and", "also"])
        left, right = plain(words[:at]), plain(words[start:])
        one = _whole(index, Reading(sentence, left, now))
        two = _whole(index, Reading(sentence, right, now)) if one else None
        if one and right and two is None:
            rest = _several(index, sentence, right, now)
            if rest:
                return Understanding(Verdict.DO, (one, *rest.calls), True, 1.0)
        if one and two:
            return Understanding(Verdict.DO, (one, two), True, 1.0)
    return None


def _whole(index: Index, reading: Reading) -> Filled | None:
    """The call of a part that is a command beyond doubt."""
    if not reading.words:
        return None
    for tool, match in index.strict(reading)[:2]:
        if not _weak(tool, match):
            filled = fill(tool, match, reading)
            if not filled.missing:
                return filled
    return None


def _weak(tool: Known, match: Match) -> bool:
    """True if a fit rests on a single word, or none, and an open text: "play {query}"."""
    texts = [name for name in match.where if tool.parameters[name].kind is Kind.TEXT]
    typed = len(match.where) - len(texts)
    return bool(texts) and len(match.template.needs) <= 1 and not typed


def _one(index: Index, sentence: str, words: list[Word], now: datetime) -> Understanding:
    ranking: Ranking | None = None
    for variant in _variants(words, sentence):
        reading = Reading(sentence, variant, now)
        found = index.strict(reading)
        if not found:
            continue
        ranking = ranking or index.rank(reading, span(sentence, variant))
        settled = _settled(found, reading, ranking)
        if settled:
            return settled
    reading = Reading(sentence, words, now)
    ranking = ranking or index.rank(reading, span(sentence, words))
    return _near(reading, ranking)


def _variants(words: list[Word], sentence: str) -> list[list[Word]]:
    variants = [words]
    for other in (asked(words), plain(asked(words)), cut(sentence)):
        if other and other not in variants:
            variants.append(other)
    return variants


def _scores(ranking: Ranking) -> dict[str, Ranked]:
    return {ranked.known.name: ranked for ranked in ranking.tools}


def _settled(found: list[tuple[Known, Match]], reading: Reading, ranking: Ranking) -> Understanding | None:
    """The verdict on sentences that fit templates whole."""
    from etui.agent.embedded.known import strength

    scores = _scores(ranking)
    fits = [(fill(tool, match, reading), match) for tool, match in found[:4]]
    top = strength(fits[0][1])
    close = [(filled, match) for filled, match in fits if strength(match) >= top - _CLOSE]
    close.sort(key=lambda pair: (len(pair[0].missing) > 0, -(scores[pair[0].known.name].score if pair[0].known.name in scores else 0)))
    filled, match = close[0]
    if not _weak(filled.known, match):
        return Understanding(Verdict.DO, (filled,), True, 1.0)
    own = scores.get(filled.known.name)
    if own is None or own.meaning < 0.3:
        return None
    best = ranking.tools[0]
    if ranking.chatter > own.meaning + 0.08 or (best.known.name != filled.known.name and best.score > own.score + 0.1):
        return None
    if filled.missing or _odd(filled):
        return Understanding(Verdict.MAYBE, (filled,), True, own.score) if not filled.missing else None
    certain = own.score - max(0.0, ranking.chatter - 0.35) >= 0.45
    return Understanding(Verdict.DO if certain else Verdict.MAYBE, (filled,), True, own.score)


def _odd(filled: Filled) -> bool:
    """True for a text that is no name of anything, such as "it" or "a"."""
    texts = [str(value).lower() for value in filled.arguments.values()]
    return any(text in ARTICLES | {"it", "them", "him", "her", "me", "you", "up", "on", "off", "with"} for text in texts)


_SUBJECTS = {"i", "we", "he", "she", "they", "you", "people", "someone", "everybody", "everyone"}
_OWN = {"my", "our", "his", "her", "their", "the"}
_PAST = set(
    "was were had did went got made said told thought saw took came left knew felt kept found gave bought sent forgot heard ate drank wrote read "
    "ran sang slept won lost met paid sold spoke broke drove flew grew spent taught wore been gone done".split()
)
_STATES = {"love", "loves", "like", "likes", "hate", "hates", "enjoy", "enjoys", "think", "thinks", "believe", "remember", "prefer", "used", "never", "always",
           "usually", "often"}  # fmt: skip
_AGO = {"yesterday", "ago"}
_MUSING = [
    "why", "who is", "who was", "who wrote", "who are", "what is the point", "what is the meaning", "what is the difference", "what does", "what do you",
    "do you like", "do you think", "do you ever", "do you believe", "do you love", "have you", "is it true", "should i", "should we", "what if", "how does",
    "how do", "how come", "are you", "were you", "did you", "does it", "is it okay", "is it possible", "can people", "could people", "would it",
    "what happens", "how long does", "how long do", "how many people", "whose", "when was", "when did", "where do", "what kind", "what makes", "explain", "define",
    "describe", "who invented", "imagine", "suppose", "what would",
]  # fmt: skip


def tells(words: list[Word]) -> bool:
    """True for a sentence that reports or muses rather than asks: "I set a timer yesterday", "what is the point of milk"."""
    texts = [word.text for word in words]
    line = " ".join(texts)
    if any(line == phrase or line.startswith(phrase + " ") for phrase in _MUSING):
        return True
    questions = texts[:1] and texts[0] in ("what", "where", "when", "how", "which", "is", "are", "did", "do", "can", "find", "show", "search")
    if _AGO & set(texts) and not questions:
        return True
    if texts[0] in _SUBJECTS or (texts[0] in _OWN and len(texts) > 3):
        verbs = texts[1:4] if texts[0] in _SUBJECTS else texts[2:4]
        return any(verb in _PAST or verb in _STATES or (verb.endswith("ed") and verb not in ("need", "red", "bed")) for verb in verbs)
    return False


def _near(reading: Reading, ranking: Ranking) -> Understanding:
    """The verdict on sentences that no template fits whole."""
    if not ranking.tools or tells(reading.words):
        return _NOTHING
    options = []
    for ranked in ranking.tools[:3]:
        if ranked.score < ranking.tools[0].score - 0.12 or ranked.score < ASK - 0.1:
            continue
        match = best_alignment(ranked.known, reading)
        if match:
            filled = fill(ranked.known, match, reading)
            options.append((_confidence(ranked, filled, ranking), ranked, filled))
    options.sort(key=lambda option: -option[0])
    if not options or options[0][0] < ASK:
        return _NOTHING
    confidence, _, filled = options[0]
    if len(options) > 1 and options[1][0] > confidence - MARGIN and options[1][0] >= ASK:
        calls = tuple(option[2] for option in options[:2])
        return Understanding(Verdict.WHICH, calls, False, confidence)
    if filled.missing:
        return Understanding(Verdict.DO if confidence >= ACT - 0.06 else Verdict.NOTHING, (filled,), False, confidence)
    if confidence >= ACT and filled.sure and not _odd(filled):
        return Understanding(Verdict.DO, (filled,), False, confidence)
    return Understanding(Verdict.MAYBE, (filled,), False, confidence)


def _confidence(ranked: Ranked, filled: Filled, ranking: Ranking) -> float:
    idle = max(0.0, ranking.chatter - ranked.meaning)
    return ranked.score - 0.05 * min(len(filled.unexplained), 4) - 0.03 * min(filled.cost, 4.0) - 0.06 * len(filled.missing) - idle
