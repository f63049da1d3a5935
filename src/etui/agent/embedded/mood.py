"""Whether a sentence asks at all: some forbid, some tell what happened, some muse, some say how things are.

Above: understand. Below: words. It refuses to know tools.
"""

from __future__ import annotations

from etui.agent.embedded.lexicon import phrases
from etui.agent.embedded.words import Word


def refuses(words: list[Word]) -> bool:
    """True for a command not to do something."""
    texts = [word.text for word in words[:3]]
    return (texts[:2] == ["do", "not"] and texts[2:] not in (["you"], ["i"], ["we"], ["they"], ["forget"])) or (
        texts[:1] == ["never"] and len(words) > 2
    )


_SUBJECTS = {"i", "we", "he", "she", "they", "you", "people", "someone", "everybody", "everyone"}
_OTHERS = {"he", "she", "they", "people", "someone", "everybody", "everyone", "somebody"}
_OWN = {"my", "our", "his", "her", "their", "the"}
_PAST = {
    "was",
    "were",
    "had",
    "did",
    "went",
    "got",
    "made",
    "said",
    "told",
    "thought",
    "saw",
    "took",
    "came",
    "left",
    "knew",
    "felt",
    "kept",
    "found",
    "gave",
    "bought",
    "sent",
    "forgot",
    "heard",
    "ate",
    "drank",
    "wrote",
    "read",
    "ran",
    "sang",
    "slept",
    "won",
    "lost",
    "met",
    "paid",
    "sold",
    "spoke",
    "broke",
    "drove",
    "flew",
    "grew",
    "spent",
    "taught",
    "wore",
    "been",
    "gone",
    "done",
}
_STATES = {
    "love",
    "loves",
    "like",
    "likes",
    "hate",
    "hates",
    "enjoy",
    "enjoys",
    "think",
    "thinks",
    "believe",
    "remember",
    "prefer",
    "used",
    "never",
    "always",
    "usually",
    "often",
}
_AGO = {"yesterday", "ago"}
_MUSING = phrases("""
why; who is; who was; who wrote; who are; what is the point; what is the meaning; what is the difference; what does;
what do you think; what do you like; what do you mean; do you like; do you think; do you ever; do you believe; do you
love; have you; is it true; should i; should we; what if; how does; how do; how come; are you; were you; did you; does
it; is it okay; is it possible; can people; could people; would it; what happens; how long does; how long do; how many
people; whose; when was; when did; where do; what kind; what makes; explain; define; describe; who invented; imagine;
suppose
""")


def tells(words: list[Word]) -> bool:
    """True for a sentence that reports or muses rather than asks: "I set a timer yesterday", "what is the point of milk"."""
    texts = [word.text for word in words]
    line = " ".join(texts)
    if any(line == phrase or line.startswith(phrase + " ") for phrase in _MUSING):
        return True
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
    if texts[0] in _OTHERS or (texts[:2] == ["do", "you"] and texts[2:3] not in (["know"], ["have"], ["mind"], ["remember"])):
        return True
    if texts[0] in _SUBJECTS | {"it", "that"} or (texts[0] in _OWN and len(texts) > 3):
        verbs = texts[1:4] if texts[0] in _SUBJECTS | {"it", "that"} else texts[2:4]
        return any(
            verb in _PAST or verb in _STATES or (verb.endswith("ed") and verb not in ("need", "red", "bed")) for verb in verbs
        )
    return False


def states(words: list[Word]) -> bool:
    """True for a sentence that says how something is: "the lights in Paris are beautiful"."""
    texts = [word.text for word in words]
    verbs = [at for at, text in enumerate(texts) if text in ("is", "are", "was", "were", "am")]
    return bool(verbs) and verbs[0] > 0 and texts[0] not in _ASKING and texts[0] not in ("it", "there")


_ASKING = {
    "what",
    "where",
    "when",
    "how",
    "which",
    "who",
    "whose",
    "is",
    "are",
    "do",
    "does",
    "can",
    "could",
    "will",
    "tell",
    "let",
    "make",
    "remind",
    "say",
    "give",
}
