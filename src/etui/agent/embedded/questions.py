"""Questions that are asked back, and how the next sentence answers them.

Above: model. Below: fill, known and parameters. It refuses to remember anything itself: an open question travels in the
assistant's message, so it outlives a restart.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal

import msgspec

from etui.agent.embedded.fill import fill_pair
from etui.agent.embedded.known import Known
from etui.agent.embedded.lexicon import phrases
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.templates import pair_of, text_value
from etui.agent.embedded.words import STOP, bare, cut, plain


class Wish(msgspec.Struct, frozen=True):
    """One call that is waiting for an answer."""

    tool: str
    arguments: dict[str, object] = msgspec.field(default_factory=dict)


class Open(msgspec.Struct, frozen=True, kw_only=True):
    """A question that waits for the person's next sentence."""

    kind: Literal["argument", "confirm", "maybe", "which", "pin"]
    calls: list[Wish]
    """The call that is asked about; of `which`, the choices; of the others, further calls wait behind the first."""
    missing: str = ""
    """The parameter that is asked for."""
    said: list[str] = msgspec.field(default_factory=list)
    """What the person said so far; every argument must stand in it."""


def opened(meta: dict[str, object]) -> Open | None:
    """The open question in a message's meta; one that cannot be read is none."""
    try:
        return msgspec.convert(meta["open"], Open) if "open" in meta else None
    except msgspec.ValidationError:
        return None


def question_for(tool: Known, parameter: Parameter) -> str:
    """How to ask for one parameter."""
    pair = pair_of(tool.parameters)
    name = parameter.spoken.lower()
    if (pair and parameter.name in pair) or parameter.kind is Kind.DURATION:
        return "For how long?"
    if parameter.kind is Kind.CHOICE and parameter.choices:
        options = [str(choice).replace("_", " ") for choice in parameter.choices]
        return f"{', '.join(options[:-1])} or {options[-1]}?".capitalize() if 1 < len(options) <= 6 else f"Which {name}?"
    if parameter.kind is Kind.WHEN:
        return "When?" if name not in ("day", "date") else "On which day?"
    if parameter.kind is Kind.SUM:
        return "What should I work out?"
    if parameter.kind is Kind.NUMBER:
        return _how_many(parameter, name)
    if parameter.kind is Kind.BOOLEAN:
        return f"{name.capitalize()}, yes or no?"
    if name in ("recipient", "to", "person", "contact", "who"):
        return "To whom?"
    if name in ("text", "message", "body", "content", "note", "what", "fact"):
        return "What should it say?"
    if name in ("query", "topic", "search", "keywords"):
        return (
            "What should I look for?"
            if re.search(r"search|find|look", tool.view.description, re.IGNORECASE)
            else "What would you like?"
        )
    noun = name.split()[-1]
    return f"Which {name}?" if not noun.endswith("s") or noun.endswith("ss") else f"Which {noun}?"


def _how_many(parameter: Parameter, name: str) -> str:
    if name in ("amount", "count", "number", "value", "n", "quantity", "how many"):
        return "How many?" if parameter.whole else "How much?"
    return f"Which {name}?" if name not in ("percent", "level", "volume") else f"What {name}?"


_YES = phrases("""
yes; yeah; yep; yup; yea; ya; sure; ok; okay; of course; certainly; absolutely; please do; do it; do that; go ahead;
go for it; right; correct; exactly; that is right; that is it; confirm; confirmed; affirmative; sounds good; yes
please; send it; please; definitely; by all means; fine; alright; all right; i do; true; y; si; indeed; make it so;
why not; that one; it is; perfect; good; great; delete it; pay it; i am sure; uh-huh; aye; proceed; that is what i
meant; i did
""")
_NO = phrases("""
no; nope; nah; no way; do not; stop; not now; please do not; no thanks; no thank you; negative; wrong; not that;
neither; none; none of them; i do not; n; better not; rather not; i would rather not; not really; absolutely not; of
course not; hold on; not yet; that is wrong; that is not right; certainly not; do not do it; do not send it; do not do
that; wait; i did not
""")
_DROP = phrases("""
never mind; nevermind; cancel; cancel that; cancel it; forget it; forget that; forget about it; drop it; leave it;
stop; abort; skip it; nothing; it does not matter; does not matter; do not bother; let it be; no never mind; not
important; i changed my mind; scratch that
""")


def _line(sentence: str, lean: bool = True) -> str:
    words = cut(sentence[:200])
    return " ".join(word.text for word in (plain(words) if lean else words))


def drops(sentence: str) -> bool:
    """True for "never mind" and its like."""
    return _line(sentence) in _DROP or _line(sentence, False) in _DROP


def yes_or_no(sentence: str) -> bool | None:
    """Whether a sentence says yes or no; None where it says neither."""
    lines = (_line(sentence, False), _line(sentence))
    if any(line in _NO for line in lines) or drops(sentence):
        return False
    if any(line in _YES for line in lines):
        return True
    words = lines[0].split()
    if (
        len(words) <= 6
        and words[:1]
        and all(_known_part(part) for part in re.split(r"[,.!;]+", sentence.lower()) if part.strip())
    ):
        return words[0] not in ("no", "nope", "nah", "do", "not")
    if (
        1 < len(words) <= 6
        and words[0] in _NO
        and words[1] in ("i", "do", "not", "that", "please", "thanks", "it", "never", "stop")
    ):
        return False
    if (
        1 < len(words) <= 6
        and words[0] in ("yes", "yeah", "yep", "sure", "ok", "okay")
        and set(words[1:]) <= STOP | {"exactly", "correct", "send", "ahead", "sure"}
    ):
        return "not" not in words
    return None


def _known_part(part: str) -> bool:
    return _line(part, False) in _YES or _line(part, False) in _NO


def which(sentence: str, options: list[Known]) -> int | None:
    """Which of several tools the answer picks: by its place, or by words that only one of them has."""
    words = cut(sentence[:200])
    texts = {word.text for word in words}
    for number, names in enumerate(({"first", "1", "former"}, {"second", "2", "latter", "other"}, {"third", "3"})):
        if number < len(options) and names & texts:
            return number
    roots = {bare(word.text) for word in words if word.text not in STOP}
    hits = [len(roots & option.vocabulary) for option in options]
    best = max(hits, default=0)
    return hits.index(best) if best and hits.count(best) == 1 and len(words) <= 8 else None


def answer_to(tool: Known, parameter: Parameter, sentence: str, now: datetime) -> dict[str, object]:
    """The arguments that an answer gives, of others too where they were said along; empty if it gives none."""
    reading = Reading(sentence, plain(cut(sentence)), now)
    if not reading.words:
        return {}
    pair = pair_of(tool.parameters)
    if pair and parameter.name in pair:
        return _pair_answer(tool, pair, parameter, reading)
    if parameter.kind is Kind.TEXT or (parameter.kind is Kind.WHEN and parameter.style == "words" and not reading.whens):
        return _text_answer(parameter, reading)
    found = [
        one
        for start in range(len(reading.words))
        for one in [(start, *value) for value in reading.values(parameter, start)[:1]]
    ]
    if not found and parameter.kind is Kind.BOOLEAN:
        said = yes_or_no(sentence)
        return {} if said is None else {parameter.name: said}
    if not found and parameter.kind is Kind.SUM and any(text.isdecimal() for text in reading.texts):
        return {parameter.name: reading.said(0, len(reading.words))}
    if not found and parameter.kind is Kind.UNIT and len(reading.words) <= 2:
        return {parameter.name: reading.said(0, len(reading.words))}
    longest = max(found, key=lambda one: one[1] - one[0], default=None)
    return {parameter.name: longest[2]} if longest else {}


def _pair_answer(tool: Known, pair: tuple[str, str], parameter: Parameter, reading: Reading) -> dict[str, object]:
    bound: dict[str, object] = {}
    fill_pair(tool, reading, bound, {})
    if bound:
        return bound
    found = [value for start in range(len(reading.words)) for _, value in reading.values(parameter, start)[:1]]
    return {parameter.name: found[0]} if len(found) == 1 else {}


def _text_answer(parameter: Parameter, reading: Reading) -> dict[str, object]:
    start = 0
    leads = (
        "to",
        "in",
        "for",
        "at",
        "about",
        "on",
        "that",
        "it",
        "is",
        "should",
        "say",
        "the",
        "from",
        "just",
        "called",
        "named",
        "off",
    )
    while not parameter.free and start < len(reading.words) - 1 and reading.texts[start] in leads:
        start += 1
    end = len(reading.words)
    noun = parameter.name.split("_")[-1]
    if not parameter.free and end - start > 1 and reading.texts[end - 1] in (noun, "one"):
        end -= 1
    value = text_value(parameter, reading, start, end)
    return {parameter.name: value} if value else {}
