"""Sentences that lean on what was said before: "undo that", "and in Paris?", "what's on it?".

Above: model. Below: templates and the chat's messages. It refuses to act: it offers fuller readings of the sentence,
likeliest first, and the matcher judges them like any other sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from etui.agent.embedded.choose import Index
from etui.agent.embedded.known import Known
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.questions import Wish
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.templates import text_value
from etui.agent.embedded.words import ARTICLES, PREPOSITIONS, STOP, Word, bare, cut, plain, span

if TYPE_CHECKING:
    from etui.store.chats import Message

_UNDO = re.compile(
    r"(undo|revert|reverse)( (that|it|this|the last one|last|the last (thing|change|action)|what you( have)? (just )?did))?"
    r"|take (that|it) back|(put|change) (it|that) back|(no )?undo (that|it)"
    r"|i did not mean (that|to do that)|that was (a mistake|wrong)"
)
_LEANS = re.compile(
    r"^(and|what about|how about|and what about|and how about|what of|same for|the same for|or|but)\s+(?P<rest>.+)$"
)
_TRAILING = re.compile(r"^(?:also )?(?P<rest>.+?) (?:too|as well|also)$")
_POINTERS = {"it", "that", "them", "those", "there", "this", "these", "one"}


def asks_undo(sentence: str) -> bool:
    """True for "undo that" and its like."""
    words = cut(sentence[:200])
    return any(_UNDO.fullmatch(" ".join(word.text for word in part)) for part in (words, plain(words)))


def undo(before: Sequence[Message]) -> tuple[str, str, dict[str, object]] | None:
    """The newest thing that can be undone and was not: its call, and the tool and arguments that undo it."""
    gone = {str(message.meta.get("undoes")) for message in before if message.role == "assistant" and message.meta.get("undoes")}
    for message in reversed(before):
        found = _undo_of(message)
        if found and message.call not in gone and not _was_undo(message, before):
            return message.call, *found
    return None


def _undo_of(message: Message) -> tuple[str, dict[str, object]] | None:
    data = message.meta.get("data")
    found = message.meta.get("undo") or (data.get("undo") if isinstance(data, dict) else None)
    if message.role != "tool" or not isinstance(found, dict) or not isinstance(found.get("tool"), str):
        return None
    arguments = found.get("arguments")
    return str(found["tool"]), dict(arguments) if isinstance(arguments, dict) else {}


def _was_undo(message: Message, before: Sequence[Message]) -> bool:
    """True for the result of an undo: taking that back too would go in circles."""
    return any(one.meta.get("undoes") and any(call.id == message.call for call in one.calls) for one in before)


def readings(sentence: str, before: Sequence[Message]) -> Iterator[tuple[str, list[str]]]:
    """Fuller sentences that one with a pronoun may stand for, each with what was said that it draws on."""
    person = next((message.text for message in reversed(before) if message.role == "user"), "")
    words = cut(sentence)
    if person and any(word.text in _POINTERS for word in words[1:]) and len(words) <= 12:
        for noun in _nouns(person, before):
            yield _replaced(sentence, words, noun), [person]


def _replaced(sentence: str, words: Sequence[Word], noun: str) -> str:
    word = next(word for word in reversed(words) if word.text in _POINTERS)
    return f"{sentence[: word.start]}{noun}{sentence[word.end :]}"


def _nouns(person: str, before: Sequence[Message]) -> list[str]:
    """What a pronoun may stand for: what the last sentence named with an article, last first; then the last call's texts."""
    words = cut(person)
    found: list[str] = []
    for at in range(len(words) - 1, -1, -1):
        if words[at].text in ARTICLES and at + 1 < len(words):
            end = at + 1
            while (
                end < len(words)
                and words[end].text not in STOP
                and words[end].text not in PREPOSITIONS
                and not words[end].gap.strip(" ")
            ):
                end += 1
            if end > at + 1:
                found.append(span(person, words[at:end]))
    called = next((message for message in reversed(before) if message.calls), None)
    arguments = called.calls[-1].arguments if called else {}
    texts = (
        [value for value in arguments.values() if isinstance(value, str) and len(value) < 60]
        if isinstance(arguments, dict)
        else []
    )
    return [*found, *texts][:4]


def again(sentence: str, before: Sequence[Message], index: Index, now: datetime) -> Wish | None:
    """The last call once more, with what is said now in the place of the like of it: "and in Paris?"."""
    words = cut(sentence)
    line = " ".join(word.text for word in words)
    leaning = _LEANS.match(line) or _TRAILING.match(line)
    called = next((message for message in reversed(before) if message.calls), None)
    tool = index.by_name(called.calls[-1].tool) if called else None
    if leaning is None or called is None or tool is None:
        return None
    first = len(line[: leaning.start("rest")].split())
    rest = plain(words[first : first + len(leaning["rest"].split())])
    arguments = called.calls[-1].arguments
    trailing = leaning.re is _TRAILING
    if trailing and any(bare(word.text) in tool.frame and word.text not in STOP for word in rest):
        return None
    if len(rest) > _LONGEST or not isinstance(arguments, dict) or rest[0].text in _POINTERS:
        return None
    new = Reading(sentence, rest, now)
    for parameter in sorted(tool.parameters.values(), key=lambda one: _fits(tool, one, new), reverse=True):
        value = _value(tool, parameter, new)
        typed = parameter.kind is not Kind.TEXT
        if value is not None and (parameter.name in arguments or not arguments or (typed and _fits(tool, parameter, new) > 1)):
            return Wish(tool.name, {**arguments, parameter.name: value})
    return None


def _fits(tool: Known, parameter: Parameter, reading: Reading) -> float:
    """How well a value of the parameter would answer: one that is read by a parser best, and one behind its own preposition."""
    led = 0.5 * (reading.texts[0] in tool.leads.get(parameter.name, ()))
    if parameter.kind in (Kind.TEXT, Kind.OTHER):
        return (0.0 if set(range(len(reading.words))) <= reading.timed else 1.0) + led
    return 2 + led if any(reading.values(parameter, at) for at in range(len(reading.words))) else 0


def _value(tool: Known, parameter: Parameter, reading: Reading) -> object:
    """The argument that the words are, or None where they are none of its kind."""
    if parameter.kind is not Kind.TEXT:
        found = [(end - at, value) for at in range(len(reading.words)) for end, value in reading.values(parameter, at)[:1]]
        return max(found, key=lambda one: one[0])[1] if found else None
    leads = tool.leads.get(parameter.name, frozenset())
    start = 0
    while start < len(reading.words) - 1 and reading.texts[start] in PREPOSITIONS:
        if leads and reading.texts[start] not in leads:
            return None
        start += 1
    if any(text in _VERBAL for text in reading.texts):
        return None
    return text_value(parameter, reading, start, len(reading.words)) or None


_VERBAL = {
    "is",
    "are",
    "was",
    "were",
    "do",
    "does",
    "did",
    "will",
    "can",
    "i",
    "you",
    "we",
    "not",
    "what",
    "how",
    "why",
    "when",
}
_LONGEST = 6
"""Words of a follow-up that names a value."""
