"""Example sentences as templates: the words that they are made of, and the slots between them.

Above: align and known. Below: parameters and words. It refuses to look at what a person said.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from etui.agent.embedded.durations import read_duration
from etui.agent.embedded.lexicon import names, phrases
from etui.agent.embedded.mood import QUESTIONS
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.reading import Reading, time_unit
from etui.agent.embedded.words import ARTICLES, STOP, bare, cut, plain

ALL_ROUND = frozenset(
    bare(verb) for verb in names("get put take find make show add buy set do start open read write turn switch look")
)
"""Roots of verbs that go with nearly everything, so that they prove little."""
ANYBODY = frozenset({"i", "you", "we", "one"})
CAN = frozenset({"do", "can", "could", "would", "should"})
"""Words that say the same behind "how": "how do I", "how can you"."""
FUNCTION = STOP - {"tell", "give", "let", "know"}
"""Words whose presence proves little; "tell me that" and "let me know" are more."""
LIGHT = ARTICLES | {
    "please",
    "just",
    "now",
    "also",
    "too",
    "again",
    "then",
    "there",
    "here",
    "me",
    "us",
    "up",
    "right",
    "currently",
    "today",
    "so",
    "of",
    "moment",
    "like",
    "already",
    "still",
    "even",
    "ever",
    "yet",
    "exactly",
    "actually",
    "really",
    "maybe",
    "perhaps",
}
_GROUPS = phrases("""
show list display read view see pull; add put stick throw pop place write include append get jot chuck toss bung; remove
delete drop scratch strike cross erase bin cut kick; start set begin make create run launch; find search look lookup dig
check pull; tell say give ask write inform; that whether if say; calculate compute work figure; turn switch put flip; remind;
send shoot fire drop; message text sms; convert change turn; play start put blast; open read fetch get load; stop cancel end
kill; get fetch check; cancel remove delete; want like need; switch flip change; light lamp; song track tune; shop store
supermarket; grocery shopping; film movie; car vehicle; warm hot cold; rain snow; pause stop hold; skip next; level charge;
phone telephone; kilo kilogram; photo picture image; note memo; mom mum mother; buy get purchase; remember note
""")
SAME: dict[str, frozenset[str]] = {}
for _group in _GROUPS:
    for _one in _group.split():
        SAME[bare(_one)] = SAME.get(bare(_one), frozenset()) | {bare(other) for other in _group.split()}


class Slot(NamedTuple):
    """A place where a value stands: of one parameter, or of two that are said together, such as an amount and its unit."""

    names: tuple[str, ...]


Item = str | Slot


class Template(msgspec.Struct, frozen=True):
    """One sentence that means a tool."""

    text: str
    """As it was written."""
    items: tuple[Item, ...]
    roots: tuple[str, ...]
    """The common form of each literal; empty for slots."""
    needs: frozenset[str]
    """The roots that a sentence must hold for a strict fit."""
    pith: frozenset[str]
    """Those of them that say what it is about."""
    derived: bool = False
    """Made from a description; it never fits strictly."""

    @property
    def pithy(self) -> float:
        """How much there is to meet in it."""
        return sum(weight(root) for root in self.pith)

    @property
    def asks(self) -> bool:
        """True if it is a question."""
        return self.items[0] in QUESTIONS

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the parameters that it holds."""
        return tuple(name for item in self.items if isinstance(item, Slot) for name in item.names)


def weight(root: str) -> float:
    """How much a word that says what it is about counts: an all-round verb less."""
    return 0.3 if root in ALL_ROUND else 1.0


def templates_of(text: str, parameters: Mapping[str, Parameter], derived: bool = False) -> Iterator[Template]:
    """The templates that an example stands for; `(a|b)` and `[maybe]` are spelt out, at most 24."""
    for line in itertools.islice(_spelt(text.strip()[:400]), 24):
        template = _template(line, parameters, derived)
        if template.items:
            yield template


def _spelt(text: str) -> Iterator[str]:
    match = re.search(r"\[([^\[\]{}()]*)\]|\(([^()\[\]]*\|[^()\[\]]*)\)", text)
    if match is None:
        yield text
        return
    options = [*match[1].split("|"), ""] if match[1] is not None else match[2].split("|")
    for option in options:
        yield from itertools.islice(_spelt(text[: match.start()] + option + text[match.end() :]), 24)


def _template(text: str, parameters: Mapping[str, Parameter], derived: bool) -> Template:
    names: list[str] = []

    def mark(match: re.Match[str]) -> str:
        names.append(match[1].split(":")[-1])
        return f" zqslot{'abcdefghijklmnopqrstuvwxyz'[min(len(names) - 1, 25)]} "

    words = [word.text for word in plain(cut(re.sub(r"\{\s*([\w:]+)[^{}]*\}", mark, text)))]
    items: list[Item] = []
    for word in words:
        if word.startswith("zqslot") and len(word) == 7:
            items.append(Slot((names[ord(word[6]) - 97],)))
        elif word != "-":
            items.append(word)
    items = _joined(items if names else _found(items, parameters), parameters)
    roots = tuple(bare(item) if isinstance(item, str) else "" for item in items)
    light = LIGHT | (ANYBODY | CAN if items[:1] == ["how"] else frozenset())
    needs = frozenset(root for item, root in zip(items, roots, strict=True) if isinstance(item, str) and item not in light)
    pith = frozenset(
        root
        for item, root in zip(items, roots, strict=True)
        if isinstance(item, str) and root in needs and item not in FUNCTION
    )
    return Template(text, tuple(items), roots, needs, pith, derived)


def _found(items: list[Item], parameters: Mapping[str, Parameter]) -> list[Item]:
    """An example without slots that says a length of time holds a slot all the same."""
    lengths = [one for one in parameters.values() if one.kind is Kind.DURATION]
    pair = pair_of(parameters)
    texts = [item for item in items if isinstance(item, str)]
    for at in range(len(texts)):
        duration = read_duration(texts, at)
        if duration and (lengths or pair):
            slot = Slot(pair) if pair else Slot((lengths[0].name,))
            return [*items[:at], slot, *items[duration.end :]]
    return items


def pair_of(parameters: Mapping[str, Parameter]) -> tuple[str, str] | None:
    """The two parameters that together are a length of time: a number, and a choice of units of time."""
    units = [
        one
        for one in parameters.values()
        if one.kind is Kind.CHOICE and one.choices and all(time_unit(choice) for choice in one.choices)
    ]
    amounts = [one for one in parameters.values() if one.kind is Kind.NUMBER and not one.many]
    return (amounts[0].name, units[0].name) if len(units) == 1 and len(amounts) == 1 else None


def _joined(items: list[Item], parameters: Mapping[str, Parameter]) -> list[Item]:
    pair = pair_of(parameters)
    if pair is None:
        return items
    joined: list[Item] = []
    for item in items:
        if isinstance(item, Slot) and joined and isinstance(joined[-1], Slot) and (*joined[-1].names, *item.names) == pair:
            joined[-1] = Slot(pair)
        else:
            joined.append(item)
    return joined


def text_value(parameter: Parameter, reading: Reading, start: int, end: int) -> object:
    """The words from `start` up to `end` as the argument of a text parameter; empty where nothing is left of them."""
    if parameter.many:
        return listed(reading, start, end)
    if not parameter.free:
        while (
            end - start > 1 and reading.texts[start] in ("the", "some", "a", "an", "any") and not counts(reading.texts, start)
        ):
            start += 1
    if parameter.free:
        for lead in _TELLING:
            if end - start > len(lead) + 1 and tuple(reading.texts[start : start + len(lead)]) == lead:
                start += len(lead)
                break
        if "," in reading.words[start].gap and end - start > 3 and _told(reading.texts, start):
            start += 2 + (reading.texts[start + 2] == "that")
        if end - start > 1 and reading.texts[end - 1] == "please" and "," in reading.words[end - 1].gap:
            end -= 1
    if end - start > 2 and reading.texts[end - 2 : end] == ["any", "more"]:
        end -= 2
    if not parameter.free:
        for lead in _MEASURES:
            if end - start > len(lead) and tuple(reading.texts[start : start + len(lead)]) == lead:
                start += len(lead)
        while end - start > 1 and reading.texts[start] in ("for", "about", "of", "that", "to"):
            start += 1
        while end - start > 1 and reading.texts[end - 1] in ("my", "the", "our", "of", "already", "please"):
            end -= 1
    named = [at for at in range(start, end) if re.search(r"\w\.\w{1,5}$|/", reading.texts[at])] if parameter.file else []
    if len(named) == 1:
        start, end = named[0], named[0] + 1
    said = reading.said(start, end).strip("\"'“”‘’ ")
    return said if re.search(r"\w", said) else ""


_MEASURES = [
    tuple(line.split())
    for line in phrases("""
have; say about; says about; regarding; concerning; a bit of; bit of; a little; a little bit of; something by; something
from; something about; anything about; anything on; anything by; songs by; music by; more; any more; some more
""")
]
"""What stands before a name and is no part of it."""
_TELLING = [
    tuple(line.split())
    for line in phrases("""
and tell him that; and tell her that; and tell them that; and ask him; and ask her; and ask them; and tell him; and tell
her; and tell them; and say that; and say; to say that; to say; saying that; saying; that says; that
""")
]
"""What leads up to a message and is no part of it."""


def _told(texts: Sequence[str], at: int) -> bool:
    """Whether "tell him", "ask them" and their like, which lead up to a message and are no part of it, stand there."""
    return texts[at] in ("tell", "ask") and texts[at + 1] in ("him", "her", "them")


def counts(texts: Sequence[str], at: int) -> bool:
    """Whether an article there belongs to how much it is: "a dozen eggs"."""
    return texts[at] in ("a", "an") and texts[at + 1] in ("dozen", "couple", "few", "pair", "bit", "half")


def listed(reading: Reading, start: int, end: int) -> list[str]:
    """ "milk, eggs and bread" as its three things."""
    things: list[str] = []
    first = start
    for at in range(start, end + 1):
        apart = at == end or reading.texts[at] in ("and", "plus") or ("," in reading.words[at].gap and at > first)
        if not apart:
            continue
        while first < at - 1 and reading.texts[first] in ("the", "some", "a", "an", "any") and not counts(reading.texts, first):
            first += 1
        for lead in _MEASURES:
            if at - first > len(lead) and tuple(reading.texts[first : first + len(lead)]) == lead:
                first += len(lead)
        said = reading.said(first, at).strip("\"'“”‘’ ")
        if re.search(r"\w", said):
            things.append(said)
        first = at + 1 if at < end and reading.texts[at] in ("and", "plus") else at
    return things
