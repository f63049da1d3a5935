"""What a sentence asks for: calls to make, one to ask back about, or nothing that the tools can do.

Above: model. Below: choose, fill, mood and mend. It refuses to act on a doubt: a wrong call that nobody was asked about is the
worst end, so a sentence that fits a template whole is acted on, one that is only near is acted on when it is near enough, and
the rest is asked back or honestly declined. The thresholds were chosen with `bench/embedded.py`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

from etui.agent.embedded.align import Match
from etui.agent.embedded.choose import Index, Ranking
from etui.agent.embedded.fill import Filled, best_alignment, fill
from etui.agent.embedded.known import Known, strength
from etui.agent.embedded.mend import clauses, mended
from etui.agent.embedded.mood import refuses, states, tells
from etui.agent.embedded.parameters import Kind
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.templates import ALL_ROUND, pair_of
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, PRONOUNS, STOP, Word, asked, cut, plain, span

ACT = 0.56
"""From here on a near sentence is acted on."""
ASK = 0.44
"""From here on it is asked back about."""
ASK_TYPED = 0.34
"""The same, where everything that the tool needs was read by parsers."""
MARGIN = 0.05
"""How much nearer the first tool must be than the second."""
LEAN = 0.42
"""From here on a fit that rests on one word and an open text is acted on."""
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
    return _several(index, sentence, words, now) or _one(index, sentence, words, now)


def _several(index: Index, sentence: str, words: list[Word], now: datetime) -> Understanding | None:
    """Two or more commands in one sentence, where each part is a whole command of its own."""
    texts = [word.text for word in words]
    for at in range(2, len(words) - 1):
        if texts[at] not in ("and", "then") and not any(mark in words[at].gap for mark in ".;!?"):
            continue
        left, right = plain(words[:at]), plain(words[at:])
        if not right or (len(right) == len(words[at:]) and texts[at] in ("and", "then")):
            continue
        one, two = _whole(index, Reading(sentence, left, now)), _whole(index, Reading(sentence, right, now))
        if one and two is None:
            rest = _several(index, sentence, right, now) or _one(index, sentence, right, now, False)
            if rest.verdict is Verdict.DO and rest.whole and not any(call.missing for call in rest.calls):
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
    """True if a fit rests on next to nothing, and an open text: "play {query}", "we need {item}"."""
    texts = [name for name in match.where if tool.parameters[name].kind is Kind.TEXT]
    if not texts or len(match.where) > len(texts) or match.colon:
        return False
    template = match.template
    return not template.pith or len(template.needs) <= 1 or (len(template.needs) == 2 and template.pith <= ALL_ROUND)


def _one(index: Index, sentence: str, words: list[Word], now: datetime, whole: bool = True) -> Understanding:
    for variant in _variants(words, sentence, whole):
        reading = Reading(sentence, variant, now)
        found = index.strict(reading)
        settled = _settled(index, found, reading) if found else None
        if settled:
            return settled
    if refuses(words):
        return Understanding(Verdict.NOT)
    if not tells(words):
        for line, variant in clauses(sentence, words):
            filled = _whole(index, Reading(line, variant, now))
            if filled:
                return Understanding(Verdict.DO, (filled,), False, 0.9)
    return _near(index, Reading(sentence, words, now))


def _variants(words: list[Word], sentence: str, whole: bool) -> list[list[Word]]:
    variants = [words]
    for other in (asked(words), plain(asked(words)), cut(sentence) if whole else words):
        if other and other not in variants:
            variants.append(other)
    return variants


def _settled(index: Index, found: list[tuple[Known, Match]], reading: Reading) -> Understanding | None:
    """The verdict on a sentence that fits templates whole."""
    top = strength(*found[0])
    fits = [(fill(tool, match, reading), match) for tool, match in found[:4] if strength(tool, match) >= top - _CLOSE]
    fits.sort(key=lambda pair: len(pair[0].missing))
    firm = [(filled, match) for filled, match in fits if not _weak(filled.known, match)]
    if len(firm) == 1 and not firm[0][0].missing:
        return Understanding(Verdict.DO, (firm[0][0],), True, 1.0)
    ranking = index.rank(reading, span(reading.sentence, reading.words))
    scores = {ranked.known.name: ranked.score for ranked in ranking.tools}
    if firm:
        firm.sort(key=lambda pair: (len(pair[0].missing), -scores.get(pair[0].known.name, 0.0)))
        return Understanding(Verdict.DO, (firm[0][0],), True, 1.0)
    fits.sort(key=lambda pair: (len(pair[0].missing), -scores.get(pair[0].known.name, 0.0)))
    return _leaning(index, fits[0][0], fits[0][1], ranking, reading)


def _leaning(index: Index, filled: Filled, match: Match, ranking: Ranking, reading: Reading) -> Understanding | None:
    """The verdict on a fit that rests on one word and an open text: its nearness must speak for it as well."""
    opens = 0 in match.literals and reading.roots[0] in match.template.pith
    free = any(filled.known.parameters[name].free for name in match.where)
    if opens and free and not filled.missing and not _odd(filled) and not match.template.pith <= ALL_ROUND:
        return Understanding(Verdict.DO, (filled,), True, 0.9)
    own = next((ranked for ranked in ranking.tools if ranked.known is filled.known), None)
    best = ranking.tools[0]
    firm = opens and not match.template.pith <= ALL_ROUND
    if firm and not filled.missing and best.score < 0.5 and not _odd(filled) and ranking.chatter < 0.6:
        return Understanding(Verdict.DO, (filled,), True, 0.8)
    if own is None or filled.missing or (own.score < 0.3 and own is not best):
        return None
    if best is not own and best.score > own.score + 0.12:
        return None
    idle = max(0.0, ranking.chatter - own.meaning - (0.1 if opens else 0.0))
    certain = (0.3 if opens and best.score < own.score + 0.05 else 0.0) + own.score - idle - 0.3 * _odd(filled)
    if certain < 0.3:
        return None
    return Understanding(
        Verdict.DO if certain >= LEAN and not (free and match.template.pith <= ALL_ROUND) else Verdict.MAYBE,
        (filled,),
        True,
        own.score,
    )


def _odd(filled: Filled) -> bool:
    """True for a text that is no name of anything, such as "it" or "a"."""
    named = filled.known.parameters
    texts = [
        str(value).lower() for name, value in filled.arguments.items() if named[name].kind is Kind.TEXT and not named[name].free
    ]
    pointing = ARTICLES | PREPOSITIONS | PRONOUNS
    return any(text in pointing or set(text.split()) & _CLAUSE for text in texts)


_CLAUSE = {"me", "i", "you", "is", "are", "was", "were", "makes", "am"}
"""Words that a name of something rarely holds."""


def _near(index: Index, reading: Reading) -> Understanding:
    """The verdict on a sentence that no template fits whole."""
    if tells(reading.words):
        return _NOTHING
    ranking = index.rank(reading, span(reading.sentence, reading.words))
    options = []
    for ranked in ranking.tools[:5]:
        match = best_alignment(ranked.known, reading)
        if match:
            filled = fill(ranked.known, match, reading)
            options.append((_confidence(ranked.score, ranking.chatter - ranked.meaning, filled), filled))
    options.sort(key=lambda option: -option[0])
    options = _reframed(
        index, reading, options[:2], {ranked.known.name: ranking.chatter - ranked.meaning for ranked in ranking.tools}
    )
    if not options or options[0][0] < (ASK_TYPED if _typed(options[0][1]) else ASK):
        return _NOTHING
    confidence, filled = options[0]
    if len(options) > 1 and options[1][0] > confidence - MARGIN and options[1][0] >= ASK and options[1][1].met > 0.5:
        return Understanding(Verdict.WHICH, tuple(option[1] for option in options[:2]), False, confidence)
    stated = states(reading.words) and not any(filled.known.parameters[name].kind is Kind.SUM for name in filled.arguments)
    if filled.missing:
        asks = confidence >= ACT - 0.06 and not stated
        return Understanding(Verdict.DO if asks else Verdict.NOTHING, (filled,), False, confidence)
    if confidence >= ACT and filled.sure and not _odd(filled) and not stated and not _thin(filled):
        return Understanding(Verdict.DO, (filled,), False, confidence)
    return Understanding(Verdict.MAYBE, (filled,), False, confidence) if confidence >= ACT or not stated else _NOTHING


def _thin(filled: Filled) -> bool:
    """True if too little speaks for the tool: a text after an all-round verb, or no arguments and words left over."""
    if not filled.arguments:
        return bool(filled.unexplained)
    named = filled.known.parameters
    texts = [
        name
        for name, value in filled.arguments.items()
        if named[name].kind is Kind.TEXT and not (named[name].file and "." in str(value))
    ]
    return bool(texts) and (filled.met < 0.5 or filled.match.template.pith <= ALL_ROUND)


def _typed(filled: Filled) -> bool:
    """True if all that the tool needs was read by parsers, which is no accident."""
    kinds = [filled.known.parameters[name].kind for name in filled.arguments]
    return not filled.missing and len(kinds) > 1 and Kind.TEXT not in kinds


def _reframed(
    index: Index, reading: Reading, options: list[tuple[float, Filled]], idle: dict[str, float]
) -> list[tuple[float, Filled]]:
    """The options again, judged by the sentence with likely values in the place of its own: names are not what it is about."""
    options = [(confidence, _with_kin(index, reading, filled)) for confidence, filled in options]
    frames = [
        (filled.known, filled.known.framed(reading, filled.where), filled.frame(reading))
        for _, filled in options
        if filled.where and (filled.met >= 0.5 or not filled.open_ended)
    ]
    news = dict(zip([tool.name for tool, _, _ in frames], index.framed(frames), strict=True)) if frames else {}
    judged = []
    for confidence, filled in options:
        score, idler = news.get(filled.known.name, (0.0, 0.0))
        again = _confidence(score, max(idler, 0.6 * idle[filled.known.name]), filled) if score else 0.0
        judged.append((max(confidence, again), filled))
    return sorted(judged, key=lambda option: -option[0])


_KIN = 0.42
"""From here on two words are taken to speak of the same thing, as "jacket" and "umbrella" do."""


def _with_kin(index: Index, reading: Reading, filled: Filled) -> Filled:
    """The same, where a word that the template lacks is near in meaning to one that the sentence lacks."""
    template, literals = filled.match.template, filled.match.literals
    met = {reading.roots[at] for at in literals}
    lost = [
        item
        for item, root in zip(template.items, template.roots, strict=True)
        if isinstance(item, str) and root in template.pith - met
    ]
    taken = {at for start, end in filled.where.values() for at in range(start, end)} | literals
    stray = [word.text for at, word in enumerate(reading.words) if at not in taken and word.text not in STOP]
    if filled.met >= 0.5 or not lost or not 0 < len(stray) <= 3 or not filled.where or index.alike(stray, lost) < _KIN:
        return filled
    unexplained = filled.unexplained if len(stray) > 1 else ()
    return msgspec.structs.replace(filled, met=0.5, cost=max(filled.cost - 1.0, 0.3), unexplained=unexplained)


_TELLING = {Kind.SUM: 0.25, Kind.UNIT: 0.1, Kind.ADDRESS: 0.1, Kind.DURATION: 0.08, Kind.WHEN: 0.03}
"""How much a value of its kind speaks for a tool that wants one."""


def _confidence(score: float, idle: float, filled: Filled) -> float:
    stray = (0.05 if filled.open_ended else 0.1) * min(len(filled.unexplained), 4)
    pair = pair_of(filled.known.parameters)
    speaks = 0.1 * (pair is not None and pair[1] in filled.arguments) + sum(
        _TELLING.get(filled.known.parameters[name].kind, 0.0) for name in filled.arguments
    )
    texts = any(filled.known.parameters[name].kind is Kind.TEXT for name in filled.arguments)
    strange = (0.12 if filled.met == 0 else 0.06 if filled.met <= 0.5 else 0.0) if texts else 0.0
    return score + speaks - strange - stray - 0.05 * min(filled.cost, 4.0) - 0.06 * len(filled.missing) - max(0.0, idle)
