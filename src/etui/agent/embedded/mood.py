"""Whether a sentence asks at all: some forbid, some tell what happened, some muse, some say how things are.

Above: understand. Below: words. It refuses to know tools.
"""

from __future__ import annotations

import msgspec

from etui.agent.embedded.lexicon import names, phrases
from etui.agent.embedded.words import STOP, Word


class Mood(msgspec.Struct, frozen=True):
    """How a sentence is meant, as far as its form shows."""

    tells: bool = False
    """It reports what happened, or says what somebody likes."""
    muses: bool = False
    """It asks for an explanation, an opinion, or about the assistant."""
    states: bool = False
    """It says how something is."""
    asks: bool = False
    """It is a question."""


def mood(words: list[Word]) -> Mood:
    """The mood of a sentence."""
    return Mood(tells(words), muses(words), states(words), bool(words) and words[0].text in QUESTIONS)


QUESTIONS = frozenset(
    names(
        "what where when how which who whose why is are was were do does did can could will would should have has am any "
        "anything"
    )
)
"""Words with which a question begins."""


def refuses(words: list[Word]) -> bool:
    """True for a command not to do something: "don't play anything", "no need to turn the lights on"."""
    texts = [word.text for word in words]
    if texts[:1] in (["i"], ["you"], ["we"], ["please"]):
        texts = texts[1:]
    line = " ".join(texts) + " "
    if line.startswith(
        ("do not need to ", "do not have to ", "no need to ", "need not ", "do not want you to ", "do not want to ")
    ):
        return True
    if texts != [word.text for word in words] and words[0].text != "please":
        return False
    return (
        texts[:2] == ["do", "not"] and texts[2:3] not in (["you"], ["i"], ["we"], ["they"], ["forget"], ["let"], ["need"])
    ) or (texts[:1] == ["never"] and len(words) > 2 and texts[1] != "mind")


_SUBJECTS = {"i", "we", "he", "she", "they", "you", "people", "someone", "everybody", "everyone"}
_OTHERS = {"he", "she", "they", "people", "someone", "everybody", "everyone", "somebody"}
_OWN = {"my", "our", "his", "her", "their", "the"}
_PAST = frozenset(
    names(
        "was were had did went got made said told thought saw took came left knew felt kept found gave bought "
        "sent forgot heard ate drank wrote read ran sang slept won lost met paid sold spoke broke drove flew "
        "grew spent taught wore been gone done"
    )
)
_STATES = frozenset(
    names("love loves like likes hate hates enjoy enjoys think thinks believe remember prefer used never always usually often")
)
_AGO = {"yesterday", "ago"}
_MUSING = phrases("""
why; who is; what is the capital; what is the population; what is the name of; how tall is; how old is; who was; who
wrote; who are; what is the point; what is the meaning; what is the difference; what does; what do you like; what do you
mean; do you like; do you think; do you ever; do you believe; do you love; is it true; what if; how does; how do; how
come; are you; were you; is it okay; is it possible; can people; could people; would it; what happens; how long does;
how long do; how many people; whose; when was; when did; where do; what kind; what makes; what would; explain; define;
describe; who invented; imagine; suppose; what can i say; what do i say; how can i; how should i; do i say; is a; are
the; what do you call
""")
_ABOUT_YOU = (
    "do you like ",
    "do you want ",
    "do you ever ",
    "do you play ",
    "do you use ",
    "do you speak ",
    "what is your ",
    "your ",
)


def muses(words: list[Word]) -> bool:
    """True for a sentence that wants an explanation or an opinion: "what is the point of milk", "how do timers work"."""
    line = " ".join(word.text for word in words) + " "
    doing = len(words) > 2 and words[0].text in ("do", "does") and words[1].text not in STOP
    return doing or any(line.startswith(phrase + " ") for phrase in _MUSING) or line.startswith(_ABOUT_YOU)


_EXPLAIN = phrases("""
did you; have you; how do i; how do you; how does; how do; how can i; how should i; how would i; what can i say; what do i say;
why; explain; what do you mean; what is the difference; what do you think
""")


def explains(words: list[Word]) -> bool:
    """True for a question about commands or about what was done, which is no command: "how do I set a timer"."""
    line = " ".join(word.text for word in words) + " "
    return any(line.startswith(phrase + " ") for phrase in _EXPLAIN) or _inquires(line)


def _inquires(line: str) -> bool:
    """Whether somebody asks what the assistant meant: "which list are you talking about"."""
    return line.startswith(("what ", "which ", "whose ", "who ")) and line.endswith(_MEANT)


_MEANT = tuple(
    f" {phrase} "
    for phrase in phrases("""
do you mean; did you mean; you mean; are you talking about; were you talking about; are you on about; do you refer to; are you
referring to; do you speak of; are you speaking of; are you thinking of
""")
)


def tells(words: list[Word]) -> bool:
    """True for a sentence that reports rather than asks: "I set a timer yesterday"."""
    texts = [word.text for word in words]
    questions = texts[:1] and texts[0] in (
        "what",
        "where",
        "when",
        "how",
        "which",
        "is",
        "are",
        "did",
        "do",
        "can",
        "find",
        "show",
        "search",
    )
    if _AGO & set(texts) and not questions:
        return True
    if texts[0] in _OTHERS:
        return True
    if texts[0] in _SUBJECTS | {"it", "that"} or (texts[0] in _OWN and len(texts) > 3):
        verbs = texts[1:4] if texts[0] in _SUBJECTS | {"it", "that"} else texts[2:4]
        if "like" in verbs and {"feel", "would"} & set(verbs):
            return False
        return any(
            verb in _PAST or verb in _STATES or (verb.endswith("ed") and verb not in ("need", "red", "bed")) for verb in verbs
        )
    return False


def states(words: list[Word]) -> bool:
    """True for a sentence that says how something is: "the lights in Paris are beautiful"."""
    texts = [word.text for word in words]
    verbs = [at for at, text in enumerate(texts) if text in ("is", "are", "was", "were", "am")]
    return bool(verbs) and verbs[0] > 0 and texts[0] not in _ASKING and texts[0] not in ("it", "there")


_ASKING = frozenset(names("what where when how which who whose is are do does can could will tell let make remind say give"))
