"""A call in the plain words of the ReAct form: `Thought:`, `Action:`, `Action Input:`, and what comes of it.

Above: `sieve`, which finds the words. Below: `blocks` and `written`. It refuses to know: markup. An action is one only as an
answer's last words and by the name of an offered tool; where other words follow in a paragraph of their own, it is explained.
"""

from __future__ import annotations

import re

from etui.agent import blocks, written

OPENER = (
    r"(?P<acted>Action)\s{0,9}:\s{0,9}(?:(?P<shown>`{3,})(?:json)?[ \t]*\n"
    r"|[\"'`]?(?P<deed>[A-Za-z_][\w.:/-]{0,127})[\"'`]?(?:[ \t]*\n\s{0,9}Action[ _]Input\s{0,9}:|(?=\()))"
)
MAYBE = (
    r"(?:^|\n)[ \t]*(?:A|Ac|Act|Acti|Actio|Action)\s{0,9}"
    r"|(?:^|\n)[ \t]*Action\s{0,9}:\s{0,9}"
    r"(?:`{3,}(?:json)?[ \t]*|[\"'`]{0,2}[\w.:/-]{0,127}[\"'`]?[ \t]*(?:\n\s{0,9}[^\n:]{0,20})?)"
)
"""An end of text that may yet become an action."""
_WORDS = r"Thought\b|Action\b|Observation\b|Final Answer\b"
_GOES_ON = re.compile(rf"\n[ \t]*\n[ \t]*(?=\S)(?!{_WORDS}|[{{}}\[\]\"'`])(?=[^\n]{{12}}|[^\n]*\n)", re.IGNORECASE)
_WENT_ON = re.compile(rf"\n[ \t]*\n[ \t]*(?=\S)(?!{_WORDS}|[{{}}\[\]\"'`])\S", re.IGNORECASE)
_OBSERVED = re.compile(r"\n[ \t]*Observation[ \t]*:", re.IGNORECASE)
_THOUGHTS = re.compile(r"\s*Thought\s*:.*?\n[ \t]*(?:(?=Action\s*:)|Final Answer\s*:[ \t]*)", re.IGNORECASE | re.DOTALL)
_DONE = re.compile(r"Action\s*:|Final Answer\s*:", re.IGNORECASE)
_MAY_THINK = re.compile(r"\s*(?:T|Th|Tho|Thou|Thoug|Though|Thought|Thought\s*:.*)", re.IGNORECASE | re.DOTALL)
_LONG = 2000
"""Characters of a first thought, after which it is taken for the answer."""


def read(match: re.Match[str], text: str, offered: written.Offered, final: bool) -> list[written.Found] | None:
    """The calls of the action that `match` began; empty for words about one, None until that is certain."""
    if not (match["shown"] or match["deed"] in offered):
        return []
    body = text[match.end() :]
    if (_WENT_ON if final else _GOES_ON).search(body):
        return []
    if not final:
        return None
    given = _OBSERVED.split(body)[0].strip()
    if match["shown"]:
        code, _, rest = given.partition(match["shown"])
        return [] if rest.strip() else blocks.fenced(code, offered)
    if given[:1] == "(":
        return blocks.fenced(match["deed"] + given, offered)
    return [written.Found(name=match["deed"], arguments=written.object_in(given))]


def thinks(text: str) -> bool:
    """True while an answer that begins so may be a thought, which is not for the person."""
    return len(text) < _LONG and bool(_MAY_THINK.fullmatch(text))


def behind_thought(text: str, news: int) -> str | None:
    """What comes behind the thought at the beginning; None unless its end came with the last `news` characters."""
    if not _DONE.search(text, max(0, len(text) - news - 40)):
        return None
    found = _THOUGHTS.match(text)
    return text[found.end() :] if found else None
