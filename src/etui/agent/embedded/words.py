"""A sentence as words that remember where they stood, so that every value is handed on as it was said.

Above: the parsers, templates and everything else in this folder. Below: `re`. It refuses to know tools: it only cuts a
sentence, spells out contractions, takes away politeness and fillers, and brings words to a common form.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from etui.agent.embedded.lexicon import names, phrases

LONGEST = 1000
"""Characters of a request that are looked at; the rest is cut off before matching."""
MOST_WORDS = 220
"""Words of a request that are looked at."""


class Word(NamedTuple):
    """One word of a sentence."""

    text: str
    """Lower case, contractions spelt out."""
    start: int
    end: int
    """Where it stands in the sentence, in characters."""
    gap: str = ""
    """The punctuation between the word before and this one."""


_TOKEN = re.compile(
    r"""(?P<url>(?:https?://|www\.)[^\s<>"]+|[\w.+-]+@[\w-]+\.[\w.-]*\w|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|gov|edu|de|uk|eu)\b(?:/[^\s<>"]*)?)
    |(?P<halfday>\b[apAP]\.\s?[mM]\b\.?)
    |(?P<file>[\w~/-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,4}(?=[\s,;:!?)"'.]|$))
    |(?P<number>\d+(?:[.,:/]\d+)*)
    |(?P<word>[^\W\d]+(?:['’][^\W\d]+)*(?:-[^\W\d]+(?:['’][^\W\d]+)*)*)
    |(?P<symbol>\*\*|[-+*/×÷%^=()$€£°√½¼¾−])""",
    re.VERBOSE,
)
_ENDS = {"'s": "is", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_WHOLE = {
    "don't": ("do", "not"),
    "doesn't": ("does", "not"),
    "didn't": ("did", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "isn't": ("is", "not"),
    "aren't": ("are", "not"),
    "wasn't": ("was", "not"),
    "couldn't": ("could", "not"),
    "wouldn't": ("would", "not"),
    "shouldn't": ("should", "not"),
    "haven't": ("have", "not"),
    "let's": ("let", "us"),
    "gimme": ("give", "me"),
    "lemme": ("let", "me"),
    "wanna": ("want", "to"),
    "gonna": ("going", "to"),
    "gotta": ("got", "to"),
    "whats": ("what", "is"),
    "wheres": ("where", "is"),
    "hows": ("how", "is"),
    "cannot": ("can", "not"),
    "dont": ("do", "not"),
    "anymore": ("any", "more"),
    "im": ("i", "am"),
    "msg": ("message",),
    "txt": ("text",),
    "smth": ("something",),
    "sth": ("something",),
    "kinda": ("kind", "of"),
    "dunno": ("do", "not", "know"),
}
_VERBAL = {"what", "who", "where", "when", "how", "it", "that", "there", "here", "he", "she", "why", "which"}
NUMBER_WORDS = frozenset(
    names(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million "
        "half quarter"
    )
)
FILLERS = frozenset({"um", "uh", "er", "erm", "uhm", "hmm", "hm", "mm", "ah", "eh", "uhh", "umm"})
ARTICLES = frozenset({"the", "a", "an", "my", "our", "some", "this", "that", "these", "those", "your", "any"})
STOP = ARTICLES | frozenset(
    names(
        "i me we us you he she it they them is are was were be been am do does did done have has had will would can "
        "could shall should may might must to of in on at for from with by about into off out up down over and or but "
        "not no so if then than as there here what which who whom when where why how all just please now right today "
        "too also very really got get going go want need like let know tell give one thing things lot bit his her its "
        "their mine yours"
    )
)
PRONOUNS = frozenset(["it", "them", "him", "her", "me", "you", "us", "that", "this", "those", "these", "one", "there"])
PREPOSITIONS = frozenset(
    names("to of in on at for from with by about into onto off over under after before around than as during without")
)
_LEADS = phrases("""
ugh; argh; wow; gosh;
hey; hi; hello; ok; okay; alright; all right; well; so; please; yo; oh; right; now; just; also; and; then; yeah; yes;
quickly; kindly; actually; sorry; excuse me; hey there; hi there; can you; could you; would you; will you; can i; could i;
may i; can someone; could someone; can somebody; could somebody; can we; could we; you can; you could; i want you to; i want
to; i would like you to; i would like to; i would love to; i would love you to; i need you to; i need to; we need to; i have
to; i must; i must not forget to; i should; i can not forget to; i have got to; i got to; i am going to need you to; i will
need you to; you should; go ahead and; do me a favor and; do me a favour and; be so kind and; be so kind as to; be a dear
and; would you mind; do you mind; is it possible to; is it possible for you to; is there any way you could; is there any way
you can; i was wondering if you could; i was wondering if you can; i wonder if you could; i was hoping you could; do you
think you could; do you think you can; any chance you could; any chance you can; let us; let me; help me to; help me; try
to; make sure to; make sure you; do not forget to; you know what; quick question; i said; maybe; perhaps; hey computer;
computer; assistant; hey assistant; hey etui; etui; mate; buddy; dude; man; for me; i think you should; why do not you; how
about you; if you could; if you can; if you do not mind; real quick; again; pls; plz; good morning; good evening; good
afternoon; hiya; quickly now
""")
_ASKS = phrases("""
tell me; know; let me know; do you know; do you happen to know; i want to know; i would like to know; i need to know; i
wonder; i am wondering; i was wondering; any idea; you know; say; remind me again; remind me; show me; see; check; find out;
look up; give me; what about
""")
_TRAILS = phrases("""
please; to me; thanks; thank you; thank you very much; thanks a lot; many thanks; for me; will you; would you; can you;
could you; if you can; if you could; if you would; if you do not mind; when you get a chance; when you can; ok; okay; mate;
buddy; dude; man; real quick; quickly; asap; as soon as possible; or something; after all; as well; myself; by the way;
instead; somewhere; for a change; i guess; cheers; right; would be great; that would be great; that would be nice; if
possible; you know; etui; computer; assistant; pls; plz; thx; ty; ta; thanks so much; thank you so much; thanks a bunch; at
the moment; at this moment; pretty please; when you have a moment; when you have a minute; when you get a minute; that would
be lovely; would be lovely; if you please; if you do not mind me asking
""")


def _phrases(lines: Iterable[str]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for line in lines:
        words = tuple(line.split())
        found.setdefault(words[0], []).append(words)
    for group in found.values():
        group.sort(key=len, reverse=True)
    return found


_LEAD, _ASK = _phrases(_LEADS), _phrases(_ASKS)
_TRAIL = _phrases(" ".join(reversed(line.split())) for line in _TRAILS)


def cut(sentence: str) -> list[Word]:
    """The words of a sentence, without fillers; never raises, and never more than `MOST_WORDS`."""
    sentence = sentence[:LONGEST]
    found: list[Word] = []
    last = 0
    for match in _TOKEN.finditer(sentence):
        gap = sentence[last : match.start()].strip()
        for word in _spell(match, gap):
            if word.text in FILLERS:
                continue
            found.append(word)
        last = match.end()
        if len(found) >= MOST_WORDS:
            break
    return _joined(found[:MOST_WORDS])


def _joined(words: list[Word]) -> list[Word]:
    """Compounds as one word: a "to do list" is a list of its own name."""
    texts = [word.text for word in words]
    for at in range(1, len(words) - 1):
        if texts[at] == "2" and texts[at - 1 : at + 1] == ["me", "2"] and texts[at - 2 : at - 1] == ["remind"]:
            return _joined([*words[:at], words[at]._replace(text="to"), *words[at + 1 :]])
        if texts[at] == "got" and texts[at - 1] == "have":  # "I have got milk" is "I have milk"
            return _joined([*words[:at], *words[at + 1 :]])
    for at in range(len(words) - 2):
        if texts[at : at + 2] == ["to", "do"] and texts[at + 2] in ("list", "lists"):
            one = Word("to-do", words[at].start, words[at + 1].end, words[at].gap)
            return [*words[:at], one, *_joined(words[at + 2 :])]
    return words


def _spell(match: re.Match[str], gap: str) -> list[Word]:
    raw, start, kind = match.group(), match.start(), match.lastgroup
    text = unicodedata.normalize("NFC", raw).replace("’", "'").lower()
    if kind == "halfday":
        return [Word(text[0] + "m", start, match.end(), gap)]
    if kind == "symbol":
        return [Word({"−": "-"}.get(text, text), start, match.end(), gap)]
    if kind != "word":
        return [Word(text, start, match.end(), gap)]
    if "-" in text and any(part in NUMBER_WORDS for part in text.split("-")):
        parts: list[Word] = []
        at = start
        for part in text.split("-"):
            parts.append(Word(part, at, at + len(part), gap if not parts else ""))
            at += len(part) + 1
        return parts
    whole = _WHOLE.get(text)
    if whole:
        middle = start + min(len(whole[0]), len(raw))
        rest = [Word(part, middle, match.end()) for part in whole[1:]]
        return [Word(whole[0], start, middle, gap), *rest]
    for ending, full in _ENDS.items():
        if text.endswith(ending) and (ending != "'s" or text[:-2] in _VERBAL):
            middle = match.end() - len(ending)
            return [Word(text[: -len(ending)], start, middle, gap), Word(full, middle, match.end())]
    return [Word(text, start, match.end(), gap)]


def _starts(words: Sequence[str], phrases: dict[str, list[tuple[str, ...]]]) -> int:
    for phrase in phrases.get(words[0], ()) if words else ():
        if tuple(words[: len(phrase)]) == phrase:
            return len(phrase)
    return 0


def plain(words: list[Word]) -> list[Word]:
    """The same without politeness at either end; never empty where `words` is not."""
    texts = [word.text for word in words]
    first, last = 0, len(words)
    while count := _starts(texts[first:last], _LEAD):
        if first + count >= last:
            break
        first += count
    while count := _starts(texts[first:last][::-1], _TRAIL):
        if last - count <= first:
            break
        last -= count
    return words[first:last]


def asked(words: list[Word]) -> list[Word]:
    """The same without a leading "tell me", "do you know" and their like, for a second look; what follows in direct order."""
    texts = [word.text for word in words]
    count = _starts(texts, _ASK)
    return _direct(words[count:]) if count < len(words) else words


def _direct(words: list[Word]) -> list[Word]:
    """ "what the time is in Rome" is "what is the time in Rome"."""
    first = 2 if words[0].text == "how" and len(words) > 1 and words[1].text not in ARTICLES | PRONOUNS else 1
    verb = next((at for at in range(first + 1, min(first + 5, len(words))) if words[at].text in ("is", "are")), 0)
    if words[0].text not in ("what", "where", "when", "how", "who") or not verb or words[first].text in ("is", "are"):
        return words
    return [*words[:first], words[verb], *words[first:verb], *words[verb + 1 :]]


def span(sentence: str, words: Sequence[Word]) -> str:
    """What was said from the first of `words` to the last, as it was said."""
    return sentence[words[0].start : words[-1].end] if words else ""


_IRREGULAR = dict(
    pair.split(":")
    for pair in names(
        "wrote:write written:write bought:buy told:tell sent:send found:find kept:keep took:take taken:take made:make "
        "heard:hear i:we am:is are:is were:was my:our me:us said:say went:go gone:go ran:run began:begin spoke:speak "
        "knew:know thought:think children:child till:until"
    )
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A common form of the word's inflections: "timers", "timing" and "timer's" are near "timer"."""
    word = word.removesuffix("'s").removesuffix("'")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    for ending in ("ing", "ed"):
        root = word[: -len(ending)]
        if word.endswith(ending) and len(root) >= 3 and any(letter in "aeiouy" for letter in root):
            if root[-1] == root[-2] and root[-1] not in "lsz":
                return root[:-1]
            return root
    return word


def bare(word: str) -> str:
    """The stem without a silent e, so that "convert", "conversion" aside, "calculate" meets "calculating"."""
    root = stem(word)
    return root[:-1] if len(root) > 3 and root.endswith("e") else root


def content(words: Iterable[Word]) -> list[Word]:
    """The words that say what it is about."""
    return [word for word in words if word.text not in STOP and word.text not in FILLERS]
