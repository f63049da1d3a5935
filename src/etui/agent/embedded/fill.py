"""The arguments of a chosen tool, out of the sentence: what the template's slots hold, then what else can be read.

Above: understand. Below: templates and known. It refuses to guess: what was not said is missing, and a value that could be two
things is missing as well. Optional arguments are given only when they were said.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

import msgspec

from etui.agent.embedded.align import PHRASAL, Match, align
from etui.agent.embedded.known import Known
from etui.agent.embedded.numbers import read_number
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.reading import Reading, time_unit
from etui.agent.embedded.templates import SAME, pair_of, text_value
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, PRONOUNS, STOP, bare, cut


class Filled(msgspec.Struct, frozen=True):
    """A tool's arguments as far as they were said."""

    known: Known
    arguments: dict[str, object]
    missing: tuple[Parameter, ...]
    sure: bool
    """Every text stands between words that the template knows."""
    unexplained: tuple[str, ...]
    """Words with a meaning that neither the tool nor an argument accounts for."""
    cost: float
    met: float
    """The share of the words that the template needs which were said; 0 where it needs none."""
    where: dict[str, tuple[int, int]]
    """The words that each argument took."""
    match: Match
    unread: tuple[str, ...] = ()
    """The points in time that no parser could read, so that they are only words."""
    dropped: bool = False
    """A text was no more than a pronoun and was left out."""
    beside: tuple[str, ...] = ()
    """Numbers that nothing accounts for."""

    @property
    def texts_only(self) -> bool:
        """True if it has no value that a parser read."""
        return all(self.known.parameters[name].kind is Kind.TEXT for name in self.arguments)

    def frame(self, reading: Reading) -> list[str]:
        """The roots of the words that no argument took."""
        taken = _taken(self.where)
        return [root for index, root in enumerate(reading.roots) if index not in taken]


def best_alignment(tool: Known, reading: Reading) -> Match | None:
    """The template of the tool that the sentence is nearest to."""
    found = [match for template in tool.templates if (match := align(template, tool.parameters, reading, False, tool.frame))]
    return min(
        found,
        key=lambda match: (
            match.cost
            + 0.8 * (_lacking(tool, match, reading) + _astray(tool, match, reading))
            + 0.5 * _headless(match)
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
        and (one.name not in match.bound or (not one.free and _hollow(tool, reading, *match.where[one.name])))
    )


def _hollow(tool: Known, reading: Reading, start: int, end: int) -> bool:
    return all(reading.texts[at] in _NO_NAMES or reading.roots[at] in tool.frame for at in range(start, end))


def fill(tool: Known, match: Match, reading: Reading) -> Filled:
    """The arguments that the sentence gives, starting from how it fits a template."""
    bound, where = dict(match.bound), dict(match.where)
    fill_pair(tool, reading, bound, where)
    for parameter in tool.parameters.values():
        if parameter.name not in bound:
            _fill_one(tool, parameter, reading, bound, where, match.literals)
    _split_texts(tool, reading, bound, where)
    _leftover_texts(tool, match, reading, bound, where)
    before = set(bound)
    _cleaned(tool, match, reading, bound, where)
    dropped = set(bound) != before
    unread = _unread(tool, reading, bound, where)
    arguments = {name: bound[name] for name in tool.parameters if name in bound}
    met = match.met / match.template.pithy if match.template.pith else 0.0
    missing = tuple(parameter for parameter in tool.required if parameter.name not in arguments)
    return Filled(
        tool,
        arguments,
        missing,
        _sure(tool, match, reading, where),
        _unexplained(tool, match, reading, where),
        match.cost,
        met,
        where,
        match,
        unread,
        dropped,
        _beside(match, reading, where),
    )


def _beside(match: Match, reading: Reading, where: dict[str, tuple[int, int]]) -> tuple[str, ...]:
    taken = _taken(where) | match.literals
    return tuple(
        word.text
        for at, word in enumerate(reading.words)
        if at not in taken and word.text not in ("one", "a", "an") and read_number(reading.texts, at)
    )


def _unread(tool: Known, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]) -> tuple[str, ...]:
    """The points in time that are mere words; one that holds a readable one is cut down to it."""
    found = []
    for name, (start, end) in list(where.items()):
        parameter = tool.parameters[name]
        if parameter.kind is not Kind.WHEN or ((when := reading.whens.get(start)) and when.end == end):
            continue
        inner = [one for one in reading.whens.values() if start <= one.start and one.end <= end]
        if inner:
            best = max(inner, key=lambda one: (one.end - one.start, -one.start))
            bound[name], where[name] = reading.moment(parameter, best), (best.start, best.end)
        else:
            found.append(name)
    return tuple(found)


def _taken(where: dict[str, tuple[int, int]], but: str = "") -> set[int]:
    return {index for name, (start, end) in where.items() if name != but for index in range(start, end)}


def fill_pair(tool: Known, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]) -> None:
    """Reads a length of time into the amount and the unit of a tool that takes them apart."""
    pair = pair_of(tool.parameters)
    if pair is None or (pair[0] in bound and pair[1] in bound):
        return
    taken = _taken({name: place for name, place in where.items() if name not in pair})
    found = [one for one in reading.durations.values() if not taken & set(range(one.start, one.end))]
    outer = [
        one
        for one in found
        if not any(other.start <= one.start and one.end <= other.end and other is not one for other in found)
    ]
    if len(outer) != 1:
        return
    by_unit = {time_unit(choice): choice for choice in tool.parameters[pair[1]].choices}
    amount, unit = outer[0].whole(list(by_unit))
    if isinstance(amount, int) or not tool.parameters[pair[0]].whole:
        bound[pair[0]], bound[pair[1]] = amount, by_unit[unit]
        where[pair[0]] = where[pair[1]] = (outer[0].start, outer[0].end)


_OPTIONAL = {Kind.WHEN, Kind.DURATION, Kind.CHOICE, Kind.ADDRESS, Kind.SUM}


def _fill_one(
    tool: Known,
    parameter: Parameter,
    reading: Reading,
    bound: dict[str, object],
    where: dict[str, tuple[int, int]],
    literals: Set[int],
) -> None:
    if parameter.kind is Kind.BOOLEAN:
        if parameter.required and (place := _switched(reading)):
            bound[parameter.name], where[parameter.name] = place[1], (place[0], place[0] + 1)
        elif not parameter.required and bare(parameter.name.split("_")[-1]) in reading.roots and "not" not in reading.texts:
            bound[parameter.name] = True
        return
    counts = not parameter.required and parameter.kind is Kind.NUMBER
    if not parameter.required and parameter.kind not in _OPTIONAL and not counts:
        return
    found = _outermost(list(_candidates(parameter, reading, _taken(where))))
    if counts:
        found = [one for one in found if _counts(tool, reading, literals, one[0], one[1])]
    if not parameter.required and parameter.kind is Kind.CHOICE:
        found = [one for one in found if not all(word in STOP for word in reading.texts[one[0] : one[1]])]
    if found and all(one[2] == found[0][2] for one in found):
        start, end, value = found[0]
        bound[parameter.name], where[parameter.name] = value, (start, end)


_SWITCHES = {"turn", "switch", "put", "flip", "set", "go"}
_STATES = {"enable": True, "activate": True, "disable": False, "deactivate": False, "enabled": True, "disabled": False}


def _switched(reading: Reading) -> tuple[int, bool] | None:
    """Where it is said, beyond doubt, that something is on or off, and which."""
    found = []
    for at, text in enumerate(reading.texts):
        if text in _STATES:
            found.append((at, _STATES[text]))
        elif text in ("on", "off") and (at == len(reading.texts) - 1 or (at and reading.texts[at - 1] in _SWITCHES)):
            found.append((at, text == "on"))
    return found[0] if len({value for _, value in found}) == 1 and "not" not in reading.texts else None


def _counts(tool: Known, reading: Reading, literals: Set[int], start: int, end: int) -> bool:
    """Whether a number says how many of what the tool speaks of, as in "the top 3 stories", where it takes but one number."""
    if sum(one.kind is Kind.NUMBER for one in tool.parameters.values()) > 1 or not literals.isdisjoint(range(start, end)):
        return False
    behind = range(end, min(end + 2, len(reading.words)))
    return end in literals and any(at in literals and reading.texts[at] != reading.roots[at] for at in behind)


def _candidates(parameter: Parameter, reading: Reading, taken: set[int]) -> Iterator[tuple[int, int, object]]:
    for start in range(len(reading.words)):
        for end, value in reading.values(parameter, start)[:1]:
            if not taken & set(range(start, end)):
                yield start, end, value


def _outermost(found: list[tuple[int, int, object]]) -> list[tuple[int, int, object]]:
    return [
        one
        for one in found
        if not any(two is not one and two[0] <= one[0] and one[1] <= two[1] and two[:2] != one[:2] for two in found)
    ]


def _split_texts(tool: Known, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]) -> None:
    """A point in time or a length of time that is still wanted may stand at either end of a text, a choice behind a name."""
    for wanted in tool.parameters.values():
        state = wanted.required and wanted.kind in (Kind.CHOICE, Kind.BOOLEAN)
        if wanted.name in bound or not (state or wanted.kind in (Kind.WHEN, Kind.DURATION)):
            continue
        for name, (start, end) in list(where.items()):
            text = tool.parameters[name]
            if text.kind is not Kind.TEXT or (state and text.free):
                continue
            ends = [
                (at, stop, value)
                for at in range(start, end)
                for stop, value in reading.values(wanted, at)[:1]
                if stop == end or (at == start and not state)
            ]
            ends = [one for one in ends if one[1] - one[0] < end - start and one[1] <= end]
            if not ends:
                continue
            at, stop, value = max(ends, key=lambda one: one[1] - one[0])
            rest = (stop, end) if at == start else (start, at)
            while rest[1] - rest[0] > 1 and at == start and reading.texts[rest[0]] in ("to", "that", "about"):
                rest = rest[0] + 1, rest[1]
            kept = text_value(text, reading, *rest)
            if kept:
                bound[name], where[name] = kept, rest
                bound[wanted.name], where[wanted.name] = value, (at, stop)
                break


def _leftover_texts(
    tool: Known, match: Match, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]
) -> None:
    """A text that the template has no slot for may follow the word that leads to it in another one: "in Rome"."""
    for parameter in tool.parameters.values():
        leads = tool.leads.get(parameter.name)
        if parameter.name in bound or parameter.kind is not Kind.TEXT or not leads:
            continue
        taken = _taken(where) | match.literals
        for at in range(len(reading.words) - 1):
            end = at + 1
            while end < len(reading.words) and end not in taken and end not in reading.timed and not reading.words[end].gap:
                end += 1
            named = any(
                reading.texts[index] not in STOP and not read_number(reading.texts, index) for index in range(at + 1, end)
            )
            if at not in taken - match.literals and reading.texts[at] in leads and named and end > at + 1:
                value = text_value(parameter, reading, at + 1, end)
                if value:
                    bound[parameter.name], where[parameter.name] = value, (at + 1, end)
                    break


_NO_NAMES = PRONOUNS | ARTICLES | PREPOSITIONS | {"and", "or", "again", "here", "there", "now", "like"}


def _cleaned(tool: Known, match: Match, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]) -> None:
    """Drops texts that are only a pronoun, and what leads up to a message: "a note: buy stamps"."""
    for name, (start, end) in list(where.items()):
        parameter = tool.parameters[name]
        if parameter.kind is not Kind.TEXT:
            continue
        start = _named(tool, match, parameter, reading, start, end)
        while not parameter.free and end - start > 1 and _trails(tool, reading, start, end - 1):
            end -= 1
        if (start, end) != where[name] and (value := text_value(parameter, reading, start, end)):
            bound[name], where[name] = value, (start, end)
        if parameter.person and {"a", "an"} & set(reading.texts[max(start - 1, 0) : start + 1]):
            del bound[name], where[name]
            continue
        away = {"outside", "home", "inside"} if parameter.place else set()
        if not parameter.free and all(text in _NO_NAMES | away for text in reading.texts[start:end]):
            del bound[name], where[name]
            continue
        if parameter.free and all(reading.texts[at] in STOP or reading.roots[at] in tool.frame for at in range(start, end)):
            del bound[name], where[name]
            continue
        if (within := _begun(tool, parameter, reading, start, end)) and (value := text_value(parameter, reading, within, end)):
            bound[name], where[name] = value, (within, end)
        colon = next((at for at in range(start + 1, min(end, start + 4)) if ":" in reading.words[at].gap), 0)
        if (
            parameter.free
            and colon
            and all(reading.texts[at] in STOP or reading.roots[at] in tool.frame for at in range(start, colon))
        ):
            value = text_value(parameter, reading, colon, end)
            if value:
                bound[name], where[name] = value, (colon, end)


def _named(tool: Known, match: Match, parameter: Parameter, reading: Reading, start: int, end: int) -> int:
    """Where a name begins behind a verb or a word of the tool that it swallowed: "forecast Munich", "fling some tomatoes"."""
    if parameter.free or end - start < 2:
        return start
    swallowed = parameter.place and reading.roots[start] in tool.frame and reading.texts[start] not in STOP
    verb = start == 0 and isinstance(match.template.items[0], str) and reading.texts[1] in _DETERMINERS
    return start + 1 if swallowed or verb else start


def _trails(tool: Known, reading: Reading, start: int, at: int) -> bool:
    """Whether the last word of a name belongs to the verb: "the hall switched (off)", "put avocados down"."""
    if reading.texts[at] in ("down", "up") and start and reading.roots[start - 1] in PHRASAL:
        return True
    return reading.texts[at].endswith("ed") and reading.texts[at] != reading.roots[at] and reading.roots[at] in tool.frame


def _begun(tool: Known, parameter: Parameter, reading: Reading, start: int, end: int) -> int:
    """Where a text begins that took in what stands before it in a template: "I need to" of "I need to {text}, remind me"."""
    for template in tool.templates if parameter.free else ():
        before, slot, _ = template.text.partition(f"{{{parameter.name}}}")
        lead = [_SHOULD.get(word.text, word.text) for word in cut(before)] if slot else []
        said = [_SHOULD.get(text, text) for text in reading.texts[start : start + len(lead)]]
        if len(lead) >= 2 and lead == said and start + len(lead) < end:
            return start + len(lead)
    return 0


_SHOULD = {"need": "have", "want": "have", "got": "have", "must": "have", "should": "have"}
_DETERMINERS = {"some", "a", "an", "the", "my", "our", "more"}


def _sure(tool: Known, match: Match, reading: Reading, where: dict[str, tuple[int, int]]) -> bool:
    known = match.literals | _taken(
        {name: place for name, place in where.items() if tool.parameters[name].kind is not Kind.TEXT}
    )
    for name, (start, end) in where.items():
        if tool.parameters[name].kind is not Kind.TEXT:
            continue
        if start == 0 and not reading.words[0].gap and end < len(reading.words) and _headless(match):
            return False
        left = start - 1
        while left >= 0 and left not in known and reading.texts[left] in STOP:
            left -= 1
        after = end
        while (
            after < len(reading.words)
            and after not in known
            and reading.texts[after] in ("right", "now", "today", "please", "too", "the")
        ):
            after += 1
        others = _taken(where, but=name)
        if (left >= 0 and left not in known and left not in others) or (
            after < len(reading.words) and after not in known and after not in others
        ):
            return False
    return True


def _headless(match: Match) -> bool:
    """True if the sentence begins with a text where the template has a word of its own."""
    return match.template.roots[0] in match.template.pith and any(start == 0 for start, _ in match.where.values())


def _unexplained(tool: Known, match: Match, reading: Reading, where: dict[str, tuple[int, int]]) -> tuple[str, ...]:
    taken = _taken(where) | match.literals
    return tuple(
        word.text
        for index, word in enumerate(reading.words)
        if index not in taken
        and word.text not in STOP
        and reading.roots[index] not in tool.vocabulary
        and not SAME.get(reading.roots[index], frozenset()) & tool.vocabulary
    )
