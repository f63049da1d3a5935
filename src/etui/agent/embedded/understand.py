"""What a sentence asks for: calls to make, one to ask back about, or nothing that the tools can do.

Above: model. Below: choose, fill, mood and mend. It refuses to act on a doubt: a wrong call that nobody was asked about is the
worst end, so a sentence that fits a template whole is acted on, one that is only near is acted on when it is near enough, and
the rest is asked back or honestly declined. The thresholds were chosen with `bench/embedded.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from etui.agent.embedded.align import Match
from etui.agent.embedded.choose import Index, Ranked
from etui.agent.embedded.fill import Filled, fill
from etui.agent.embedded.known import Known, strength
from etui.agent.embedded.mend import clauses, labelled, later, mended, plainer
from etui.agent.embedded.mood import explains, mood, muses, refuses, tells
from etui.agent.embedded.nearest import best_alignment
from etui.agent.embedded.parameters import Kind
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.templates import ALL_ROUND
from etui.agent.embedded.weigh import LED, MUSES, STATES, WHOLE, Candidate, Nearness, odd, shares, signs, weighed
from etui.agent.embedded.words import STOP, Word, asked, cut, plain, span

ACT = 0.65
"""From this chance on a sentence is acted on."""
ACT_READ = 0.6
"""The same for a tool that only reads."""
ASK = 0.32
"""From here on it is asked back about."""
ASK_FOR = 0.4
"""From here on what is missing is asked for."""
MARGIN = 0.15
"""How much likelier the first tool must be than the second."""
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

    @property
    def opens(self) -> bool:
        """True if it is to be done, and the sentence begins with a word of the tool's own and holds a message."""
        return self.verdict is Verdict.DO and all(
            0 in call.match.literals and any(call.known.parameters[name].free for name in call.where) for call in self.calls
        )


_NOTHING = Understanding(Verdict.NOTHING)


def understand(index: Index, sentence: str, now: datetime) -> Understanding:
    """What a sentence asks of the tools."""
    sentence = mended(sentence)
    words = index.spelt(plain(cut(sentence)))
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
    weak: dict[str, tuple[Known, Match]] = {}
    for variant in _variants(words, sentence, whole):
        reading = Reading(sentence, variant, now)
        found = index.strict(reading)
        settled = _settled(index, found, reading)
        if settled:
            return settled
        if found and not weak:
            weak = {tool.name: (tool, match) for tool, match in found[:4]}
            words = variant
    if refuses(words):
        return Understanding(Verdict.NOT)
    if explains(words) and not weak:
        return _NOTHING
    readings = [Reading(sentence, words, now)]
    others = [(line, plain(cut(line))) for line in [plainer(sentence)] if line]
    listed = [(line, cut(line)) for line in [labelled(sentence), later(sentence, now)] if line]
    for line, variant in [*others, *listed, *clauses(sentence, words)]:
        reading = Reading(line, index.spelt(variant), now)
        if reading.words and not tells(reading.words) and not muses(reading.words):
            filled = _whole(index, reading)
            if filled and not odd(filled):
                return Understanding(Verdict.DO, (filled,), False, 0.9)
            if len(readings) < _READINGS:
                readings.append(reading)
    weighed_ones = [
        _weighed(candidates(index, reading, weak if reading is readings[0] else _weakly(index, reading)))
        for reading in readings
    ]
    lacked = {line for line, _ in others}
    weighed_ones = [
        one
        for one, reading in zip(weighed_ones, readings, strict=True)
        if reading.sentence not in lacked or all(_needs(call, reading) for call in one.calls)
    ]
    return max(weighed_ones, key=lambda one: (one.confidence - _LACKS * _lacks(one), one.verdict is Verdict.DO))


def _needs(call: Filled, reading: Reading) -> bool:
    """Whether the tool is one that somebody needs or lacks a thing for, and not one that only shares its name."""
    return any(reading.texts[at] == "need" for at in call.match.literals)


def _lacks(one: Understanding) -> bool:
    return any(call.missing for call in one.calls)


_LACKS = 0.1
"""How much likelier a reading must be that still wants something than one that wants nothing."""
_READINGS = 4
"""Readings of a sentence that are weighed."""


def _weakly(index: Index, reading: Reading) -> dict[str, tuple[Known, Match]]:
    return {tool.name: (tool, match) for tool, match in index.strict(reading)[:4]}


def _variants(words: list[Word], sentence: str, whole: bool) -> list[list[Word]]:
    variants = [words]
    for other in (asked(words), plain(asked(words)), cut(sentence) if whole else words):
        if other and other not in variants:
            variants.append(other)
    return variants


def _settled(index: Index, found: list[tuple[Known, Match]], reading: Reading) -> Understanding | None:
    """The verdict on a sentence that fits templates whole, and not only by a word and an open text."""
    if not found:
        return None
    top = strength(*found[0])
    near = [(tool, match) for tool, match in found[:4] if strength(tool, match) >= top - _CLOSE]
    firm = [
        filled
        for tool, match in near
        if not _weak(tool, match) and not odd(filled := fill(tool, match, reading), strictly=True)
    ]
    firm.sort(key=lambda filled: len(filled.missing))
    if len(firm) > 1 and (firm[0].missing or not firm[1].missing):
        ranking = index.rank(reading, span(reading.sentence, reading.words))
        scores = {ranked.known.name: ranked.score for ranked in ranking.tools}
        firm.sort(key=lambda filled: (len(filled.missing), -scores.get(filled.known.name, 0.0)))
    return Understanding(Verdict.DO, (firm[0],), True, 1.0) if firm else None


def candidates(index: Index, reading: Reading, weak: Mapping[str, tuple[Known, Match]]) -> list[Candidate]:
    """The tools that a sentence without a firm fit may mean, the likeliest first; `weak` are those that it fits by little."""
    ranking = index.rank(reading, span(reading.sentence, reading.words), also=[tool for tool, _ in weak.values()])
    form = mood(reading.words)
    found: list[tuple[Filled, Ranked]] = []
    for ranked in ranking.tools:
        match = weak[ranked.known.name][1] if ranked.known.name in weak else best_alignment(ranked.known, reading)
        if match:
            found.append((fill(ranked.known, match, reading), ranked))
    found = [one for one in found if not any(_outdoes(other, one[0], reading) for other, _ in found)]
    frames = [
        (filled.known, filled.known.framed(reading, filled.where), filled.frame(reading)) for filled, _ in found if filled.where
    ]
    framed = iter(index.framed(frames))
    options = []
    for filled, ranked in found:
        near = Nearness(ranked.meaning, ranked.words, ranking.chatter)
        inner = Nearness(*next(framed)) if filled.where else near
        kin = _kin(index, reading, filled)
        whole = filled.known.name in weak
        options.append(Candidate(filled, signs(filled, reading, near, inner, kin, whole, form)))
    return sorted(options, key=lambda one: -weighed(one.signs))


def _outdoes(one: Filled, other: Filled, reading: Reading) -> bool:
    """Whether a tool names every word of the sentence that the other names, and more; where texts stand, words say less."""
    if any(filled.known.parameters[name].kind is Kind.TEXT for filled in (one, other) for name in filled.where):
        return False
    mine, theirs = ({at for at in filled.match.literals if reading.texts[at] not in STOP} for filled in (one, other))
    return bool(theirs) and theirs < mine and one.arguments.keys() >= other.arguments.keys()


def _weighed(options: list[Candidate]) -> Understanding:
    """The verdict on the candidates: the first is called if it is likely enough, asked about if it may be."""
    share = shares(options)
    if not options or share[0] < ASK:
        return Understanding(Verdict.NOTHING, (), False, share[0] if share else 0.0)
    filled = options[0].filled
    if len(options) > 1 and share[1] > share[0] - MARGIN and share[1] >= ASK * 0.8:
        return Understanding(Verdict.WHICH, (filled, options[1].filled), False, share[0])
    if filled.missing:
        return Understanding(Verdict.DO if share[0] >= ASK_FOR else Verdict.NOTHING, (filled,), False, share[0])
    whole = bool(options[0].signs[WHOLE])
    led = bool(options[0].signs[LED])
    named = filled.met > 0 or whole or not filled.match.template.pith
    named_well = not odd(filled) or (led and not odd(filled, strictly=True))
    elsewhere = not filled.arguments and bool(filled.unexplained) and filled.met < 0.7
    idle = filled.texts_only and (options[0].signs[MUSES] or options[0].signs[STATES])
    firm = (filled.sure or whole) and named_well and not elsewhere and not idle and not filled.unread and not filled.beside
    acts = share[0] >= (ACT_READ if filled.known.reads else ACT) and named and firm
    return Understanding(Verdict.DO if acts else Verdict.MAYBE, (filled,), whole and acts, share[0])


def _kin(index: Index, reading: Reading, filled: Filled) -> float:
    """How near in meaning a word that the template lacks is to one that the sentence lacks, as "jacket" and "umbrella" are."""
    template, literals = filled.match.template, filled.match.literals
    met = {reading.roots[at] for at in literals}
    lost = [
        item
        for item, root in zip(template.items, template.roots, strict=True)
        if isinstance(item, str) and root in template.pith - met
    ]
    taken = {at for start, end in filled.where.values() for at in range(start, end)} | literals
    stray = [word.text for at, word in enumerate(reading.words) if at not in taken and word.text not in STOP]
    return index.alike(stray, lost) if lost and 0 < len(stray) <= 4 else 0.0
