"""The texts among a tool's arguments, cut to what was meant: parted from times and states, found behind the word that leads to
them, and without what only leads up to them.

Above: fill. Below: templates and known. It refuses to read anything that has a parser.
"""

from __future__ import annotations

from etui.agent.embedded.align import Match
from etui.agent.embedded.costs import PHRASAL
from etui.agent.embedded.known import Known
from etui.agent.embedded.nearest import NO_NAMES
from etui.agent.embedded.numbers import read_number
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.templates import text_value
from etui.agent.embedded.words import STOP, cut


def taken_by(where: dict[str, tuple[int, int]], but: str = "") -> set[int]:
    """The words that the arguments took, `but` for one."""
    return {index for name, (start, end) in where.items() if name != but for index in range(start, end)}


def split(tool: Known, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]) -> None:
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


def leftover(tool: Known, match: Match, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]) -> None:
    """A text that the template has no slot for may follow the word that leads to it in another one: "in Rome"."""
    for parameter in tool.parameters.values():
        leads = tool.leads.get(parameter.name)
        if parameter.name in bound or parameter.kind is not Kind.TEXT or not leads:
            continue
        taken = taken_by(where) | match.literals
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


def cleaned(tool: Known, match: Match, reading: Reading, bound: dict[str, object], where: dict[str, tuple[int, int]]) -> None:
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
        if not parameter.free and all(text in NO_NAMES | away for text in reading.texts[start:end]):
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
