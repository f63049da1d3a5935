"""What each step of an alignment costs: a word too much, a word that is missing, a word in the place of another, edges.

Above: align, which seeks the cheapest way. Below: templates and reading. It refuses to know what stands elsewhere in the
sentence than next to the word that it prices.
"""

from __future__ import annotations

from etui.agent.embedded.parameters import Parameter
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.templates import ANYBODY, CAN, FUNCTION, LIGHT, SAME
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, STOP

NEVER = 1e9


def skipped(reading: Reading, at: int, strict: bool) -> float:
    """What it costs that the word at `at` stands nowhere in the template."""
    word = reading.texts[at]
    if word == "not":
        return NEVER if strict else 1.5
    if word in LIGHT or (word in ("down", "up") and at and reading.roots[at - 1] in PHRASAL):
        return 0.05
    if strict:
        return NEVER
    return 0.25 if word in PREPOSITIONS else 0.15 if word in FUNCTION else 0.5 if word in STOP else 1.0


PHRASAL = {"put", "not", "jot", "writ", "mark", "tak", "add", "pick", "look", "read", "open", "start", "stop", "pull"}
"""Roots of verbs that mean the same with "down" or "up" behind them: "note down", "put down"."""


def lacking(item: str, strict: bool) -> float:
    """What it costs that a word of the template was not said."""
    if item == "not":
        return NEVER if strict else 3.0
    if item in LIGHT:
        return 0.05
    if strict:
        return NEVER
    return 0.25 if item in PREPOSITIONS else 0.15 if item in FUNCTION else 0.5 if item in STOP else 1.0


_WAYS = ({"to", "on", "onto", "into"}, {"from", "off"})
"""Prepositions that lead there, and those that lead away."""


def literal(item: str, root: str, reading: Reading, at: int, strict: bool) -> float:
    """What it costs that the word at `at` stands for a word of the template, and for its root."""
    word = reading.texts[at]
    if reading.texts[0] == "how" and at < 3 and (({item, word} <= ANYBODY) or ({item, word} <= CAN)):
        return 0.0 if item == word else 0.05
    if word == item or (reading.roots[at] == root and not (at == 0 and word.endswith("ing"))):
        return 0.0
    if item in ARTICLES and word in ARTICLES and not {item, word} & {"that", "this"}:
        return 0.02
    if strict or word == item + "ing":
        return NEVER
    if item in PREPOSITIONS and word in PREPOSITIONS:
        return 0.6 if any(item in one and word in other for one, other in (_WAYS, _WAYS[::-1])) else 0.2
    return 0.25 if reading.roots[at] in SAME.get(root, ()) else NEVER


_NO_NAMES = {"me", "us", "you", "i", "we", "what", "who", "which", "where", "how", "there", "anything", "whats"}
_EDGES = LIGHT - {"my", "our", "your", "all", "of", "up"}
_CLAUSES = PREPOSITIONS | {"and", "or", "is", "are", "if", "because"}


def inside_text(parameter: Parameter | None, reading: Reading, at: int, first: bool, own: frozenset[str] | None) -> float:
    """What it costs a text to take in the word at `at`; `own` are the tool's words, None if the fit is strict."""
    word, cost = reading.words[at], 0.01
    free = parameter is not None and parameter.free
    if first and word.text in ("down", "up") and at and reading.roots[at - 1] in PHRASAL:
        cost += 0.4
    if first and _joined(reading, at):
        cost += _TORN
    if not first and any(mark in word.gap for mark in ".?!;") and reading.texts[at - 1] not in _TITLES:
        cost += 0.1 if free else 0.5
    if not first and ":" in word.gap:
        cost += 0.2
    if first and word.text in _CLAUSES:
        loose = own is None and parameter is not None and (not parameter.required or not parameter.free)
        cost += 0.7 if word.text == "to" or (loose and word.text in PREPOSITIONS) else 0.4
    if free:
        return cost
    if at in reading.timed:
        cost += 0.3
    if not first and parameter is not None and parameter.place and word.text in PREPOSITIONS - {"of", "on"}:
        cost += 1.0
    if not first and "," in word.gap and parameter is not None and not parameter.many:
        cost += 0.15
    if parameter is not None and parameter.place and word.text[0].isdigit():
        cost += 0.6
    if parameter is not None and parameter.person and not first and word.text in _ACTS:
        cost += 0.7
    if first and word.text in _NO_NAMES:
        clause = word.text in _QUESTIONS and at + 1 < len(reading.words) and reading.texts[at + 1] in _SUBJECTS
        cost += 0.1 if clause else 0.7
    if first and word.text in _EDGES:
        cost += 0.08
    if own is None:
        return cost + (0.3 if not first and word.text in _QUESTIONS else 0.0)
    if word.text not in _IN_NAMES:
        cost += 0.35 if word.text in STOP else 0.5 if reading.roots[at] in own else 0.0
    return cost


_TITLES = {"mr", "mrs", "ms", "dr", "prof", "st"}
_ACTS = {"ask", "tell", "say", "saying", "let", "see", "check"}
_SUBJECTS = {"i", "we", "you", "he", "she", "they", "my", "our", "the"}
_QUESTIONS = {"is", "are", "what", "who", "how", "when", "where", "why", "do", "does", "did", "can"}
_IN_NAMES = {"the", "of", "and", "a", "an", "my", "for", "by", "some", "in", "on", "to"}
_LATE = {"right", "now", "today", "currently", "please", "too", "again"}


def leaving(parameter: Parameter | None, reading: Reading, at: int) -> float:
    """What it costs a text to end before the word at `at`."""
    last = reading.texts[at - 1]
    cost = 0.4 if last in PREPOSITIONS - {"in", "on", "off", "up"} | {"and", "my"} else 0.0
    if last in ("the", "a", "an"):
        cost = 1.5
    if at < len(reading.words) and _joined(reading, at):
        cost += _TORN
    if last in _LATE and (parameter is None or not parameter.free):
        cost += 0.3
    if at < len(reading.words) and any(mark in reading.words[at].gap for mark in ":,;.-"):
        cost -= 0.03
    return cost


_TORN = 0.8
"""What it costs a text to hold only a part of what was written without a gap, as of "2d6"."""


def _joined(reading: Reading, at: int) -> bool:
    """Whether this word was written without a gap behind the one before."""
    return at > 0 and reading.words[at].start == reading.words[at - 1].end
