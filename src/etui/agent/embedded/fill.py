"""The arguments of a chosen tool, out of the sentence: what the template's slots hold, then what else can be read.

Above: understand. Below: nearest, texts and known. It refuses to guess: what was not said is missing, and a value that
could be two things is missing as well. Optional arguments are given only when they were said.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

import msgspec

from etui.agent.embedded.align import Match
from etui.agent.embedded.known import Known
from etui.agent.embedded.nearest import headless
from etui.agent.embedded.numbers import read_number
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.reading import Reading, time_unit
from etui.agent.embedded.templates import SAME, counts, pair_of
from etui.agent.embedded.texts import cleaned, leftover, split, taken_by
from etui.agent.embedded.words import STOP, bare


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
    """Numbers, and what stands behind a colon, that nothing accounts for."""
    astray: bool = False
    """What stands for a name is something of the assistant's, no more than a word for a person, or any one of its kind."""

    @property
    def texts_only(self) -> bool:
        """True if it has no value that a parser read."""
        return all(self.known.parameters[name].kind is Kind.TEXT for name in self.arguments)

    def frame(self, reading: Reading) -> list[str]:
        """The roots of the words that no argument took."""
        taken = taken_by(self.where)
        return [root for index, root in enumerate(reading.roots) if index not in taken]


def fill(tool: Known, match: Match, reading: Reading) -> Filled:
    """The arguments that the sentence gives, starting from how it fits a template."""
    bound, where = dict(match.bound), dict(match.where)
    fill_pair(tool, reading, bound, where)
    for parameter in tool.parameters.values():
        if parameter.name not in bound:
            _fill_one(tool, parameter, reading, bound, where, match.literals)
            if parameter.required and parameter.name not in bound and (state := _implied(tool, parameter, reading)):
                bound[parameter.name] = state
    split(tool, reading, bound, where)
    leftover(tool, match, reading, bound, where)
    before = dict(where)
    cleaned(tool, match, reading, bound, where)
    dropped = set(before) != set(where)
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
        _greets(tool, match, reading, before)
        or any(_astray(match, tool.parameters[name], reading, *place, name not in where) for name, place in before.items()),
    )


_PERSONS = {"me", "us", "you", "him", "her", "myself", "yourself"}


def _greets(tool: Known, match: Match, reading: Reading, where: dict[str, tuple[int, int]]) -> bool:
    """Whether somebody speaks of a person where a tool would take a name: "do you remember me"."""
    named = any(one.kind is Kind.TEXT and not one.free for one in tool.parameters.values())
    last = len(reading.words) - 1
    return named and not where and last - 1 in match.literals and last not in match.literals and reading.texts[last] in _PERSONS


_APPETITE = {"mood", "feel", "feeling", "fancy", "craving"}


def _astray(match: Match, parameter: Parameter, reading: Reading, start: int, end: int, dropped: bool) -> bool:
    if parameter.kind is not Kind.TEXT or parameter.free:
        return False
    if dropped:
        return set(reading.texts[start:end]) <= _PERSONS and not parameter.person
    led = reading.texts[max(start - 1, 0) : end]
    felt = parameter.place or not _APPETITE.isdisjoint(match.template.items)
    any_one = felt and not {"a", "an"}.isdisjoint(led[:2])
    return "your" in led or (any_one and not any(counts([*led, ""], at) for at in range(min(2, len(led)))))


def _beside(match: Match, reading: Reading, where: dict[str, tuple[int, int]]) -> tuple[str, ...]:
    taken = taken_by(where) | match.literals
    return tuple(
        word.text
        for at, word in enumerate(reading.words)
        if at not in taken and word.text not in ("one", "a", "an") and (read_number(reading.texts, at) or _headed(reading, at))
    )


def _headed(reading: Reading, at: int) -> bool:
    """Whether a word is what stands behind a colon, and no politeness."""
    return at > 0 and ":" in reading.words[at].gap and reading.texts[at] not in STOP


def _unread(tool: Known, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]) -> tuple[str, ...]:
    """The points in time that are mere words; one that holds a readable one is cut down to it."""
    found = []
    for name, (start, end) in list(where.items()):
        parameter = tool.parameters[name]
        if parameter.kind is not Kind.WHEN or ((when := reading.whens.get(start)) and when.end == end):
            continue
        inner = [one for one in reading.whens.values() if start <= one.start and one.end <= end]
        best = max(inner, key=lambda one: (one.end - one.start, -one.start), default=None)
        if best and not _numbered(reading, start, best.start) and not _numbered(reading, best.end, end):
            bound[name], where[name] = reading.moment(parameter, best), (best.start, best.end)
        else:
            found.append(name)
    return tuple(found)


def _numbered(reading: Reading, start: int, end: int) -> bool:
    return any(read_number(reading.texts[:end], at) for at in range(start, end))


def fill_pair(tool: Known, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]) -> None:
    """Reads a length of time into the amount and the unit of a tool that takes them apart."""
    pair = pair_of(tool.parameters)
    if pair is None or (pair[0] in bound and pair[1] in bound):
        return
    taken = taken_by({name: place for name, place in where.items() if name not in pair})
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
    found = _outermost(list(_candidates(parameter, reading, taken_by(where))))
    if counts:
        found = [one for one in found if _counts(tool, reading, literals, one[0], one[1])]
    if not parameter.required and parameter.kind is Kind.CHOICE:
        found = [one for one in found if not all(word in STOP for word in reading.texts[one[0] : one[1]])]
    if found and all(one[2] == found[0][2] for one in found):
        start, end, value = found[0]
        bound[parameter.name], where[parameter.name] = value, (start, end)


_WANTED = {"dark": ("on", "off"), "dim": ("on", "off"), "bright": ("off", "on")}
"""The state of a light that a room is in want of, and the one to make it so."""
_MAKES = {"make", "turn", "get", "leave", "want", "keep", "let"}


def _implied(tool: Known, parameter: Parameter, reading: Reading) -> object:
    """The one of on and off by which a light mends what is complained of ("too dark"), or makes it so ("make it dark")."""
    choices = {str(choice).lower(): choice for choice in parameter.choices}
    found = [_WANTED[text] for text in reading.texts if text in _WANTED]
    if set(choices) != {"on", "off"} or len(found) != 1 or not {"light", "lamp"} & tool.vocabulary or "not" in reading.texts:
        return None
    return choices[found[0][not _MAKES.isdisjoint(reading.texts)]]


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


def _sure(tool: Known, match: Match, reading: Reading, where: dict[str, tuple[int, int]]) -> bool:
    known = match.literals | taken_by(
        {name: place for name, place in where.items() if tool.parameters[name].kind is not Kind.TEXT}
    )
    for name, (start, end) in where.items():
        if tool.parameters[name].kind is not Kind.TEXT:
            continue
        if start == 0 and not reading.words[0].gap and end < len(reading.words) and headless(match):
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
        others = taken_by(where, but=name)
        if (left >= 0 and left not in known and left not in others) or (
            after < len(reading.words) and after not in known and after not in others
        ):
            return False
    return True


def _unexplained(tool: Known, match: Match, reading: Reading, where: dict[str, tuple[int, int]]) -> tuple[str, ...]:
    taken = taken_by(where) | match.literals
    return tuple(
        word.text
        for index, word in enumerate(reading.words)
        if index not in taken
        and word.text not in STOP
        and reading.roots[index] not in tool.vocabulary
        and not SAME.get(reading.roots[index], frozenset()) & tool.vocabulary
    )
