"""Which template of a tool a sentence is nearest to.

Above: understand, and fill, which takes the arguments out of it. Below: align and known. It refuses to choose between tools.
"""

from __future__ import annotations

from etui.agent.embedded.align import Match, align
from etui.agent.embedded.known import Known
from etui.agent.embedded.parameters import Kind
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, PRONOUNS


def best_alignment(tool: Known, reading: Reading) -> Match | None:
    """The template of the tool that the sentence is nearest to."""
    found = [match for template in tool.templates if (match := align(template, tool.parameters, reading, False, tool.frame))]
    return min(
        found,
        key=lambda match: (
            match.cost
            + 0.8 * (_lacking(tool, match, reading) + _astray(tool, match, reading))
            + 0.5 * headless(match)
            - 0.5 * match.met / (match.template.pithy or 1.0)
        ),
        default=None,
    )


def _astray(tool: Known, match: Match, reading: Reading) -> int:
    """How many texts stand behind a preposition that leads to another, and only to that: "to Kim" is no message."""
    found = 0
    for name, (start, _) in match.where.items():
        before = start - 1
        while before > 0 and reading.texts[before] in ARTICLES:
            before -= 1
        before = before if before >= 0 and before not in match.literals else start
        others = {word for other, words in tool.leads.items() if other != name for word in words}
        word = reading.texts[before]
        found += tool.parameters[name].kind is Kind.TEXT and word in others - tool.leads.get(name, frozenset())
    return found


def _lacking(tool: Known, match: Match, reading: Reading) -> int:
    """How many texts are missing, or no more than words like "on" and "it", or the tool's own."""
    return sum(
        1
        for one in tool.required
        if one.kind is Kind.TEXT
        and (one.name not in match.bound or (not one.free and _hollow(tool, match, reading, *match.where[one.name])))
    )


def _hollow(tool: Known, match: Match, reading: Reading, start: int, end: int) -> bool:
    states = [one for one in tool.required if one.kind is Kind.CHOICE and one.name not in match.bound]
    if any(stop == end for one in states for stop, _ in reading.values(one, start)[:1]):
        return True
    return all(reading.texts[at] in NO_NAMES or reading.roots[at] in tool.frame for at in range(start, end))


NO_NAMES = PRONOUNS | ARTICLES | PREPOSITIONS | {"and", "or", "again", "here", "there", "now", "like"}


def headless(match: Match) -> bool:
    """True if the sentence begins with a text where the template has a word of its own."""
    return match.template.roots[0] in match.template.pith and any(start == 0 for start, _ in match.where.values())
