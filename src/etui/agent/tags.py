"""The tags in a reply, such as `[happy]` or `[laughs]`: taken out of the words as they stream, the first is the reply's face.

Above: `answer`, which hears the words. Below: the nouns. It refuses to know: who shows the face. What stands in code, an index
such as `x[happy]`, a link `[happy](…)` and every other word in brackets stay as they were written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from etui.tool import FACES

TAGS: Mapping[str, str] = {
    **{face: face for face in FACES},
    **dict.fromkeys(("happily", "cheerfully", "playfully", "mischievously", "giggles", "chuckles", "smiles"), "happy"),
    **dict.fromkeys(("laughs", "laughing", "laughs softly", "laughs loudly"), "happy"),
    **dict.fromkeys(("warmly", "gently", "lovingly"), "affectionate"),
    **dict.fromkeys(("sighs", "sighing", "sadly"), "sad"),
    **dict.fromkeys(("sobs", "sobbing", "cries"), "crying"),
    **dict.fromkeys(("gasps", "awe", "amazed"), "surprised"),
    **dict.fromkeys(("nervous", "nervously"), "scared"),
    **dict.fromkeys(("tired", "yawns"), "sleepy"),
    **dict.fromkeys(("curious", "curiously"), "confused"),
    **dict.fromkeys(("shyly", "blushes"), "embarrassed"),
    **dict.fromkeys(("angrily", "shouts"), "angry"),
    **dict.fromkeys(("sarcastic", "whispers", "whispering", "rushed", "drawn out"), "neutral"),
    **dict.fromkeys(("pause", "short pause", "long pause", "exhales", "inhales", "clears throat"), "neutral"),
}
"""Every tag, in small letters, with its face."""
_WORDS = r"[A-Za-z][A-Za-z]*(?:[ ,]+[A-Za-z]+){0,5}"
_TAG = re.compile(rf"(?P<before>(?:(?<![ \t])[ \t]+)?)\[(?P<words>{_WORDS})\](?P<after>[ \t]*)(?=(?P<next>[\s\S]|\Z))")
_MAYBE = re.compile(r"(?:(?<![ \t])[ \t]+)?\[(?:[A-Za-z][A-Za-z ,]{0,60})?(?:\][ \t]*)?\Z")
"""An end of text that may yet become a tag."""
_FENCE = re.compile(r"^[ >\t]*(?:```|~~~)", re.MULTILINE)
_KEPT = 2000
"""Characters of what was given that are looked at for ticks, however long a line is."""
_ATTACHED = re.compile(r"[\w\])]\Z")


class Tags:
    """Takes the words of one reply piece by piece and gives them without tags."""

    def __init__(self) -> None:
        self.face = ""
        """The face of the first tag so far."""
        self._held = ""
        self._given = ""
        self._fenced = 0
        """Fences in what was given, but for the end of it that is kept in mind."""
        self._begun = False

    def feed(self, text: str) -> str:
        """The next piece; returns what may be shown now."""
        self._held += text
        return self._work(final=False)

    def close(self) -> str:
        """The reply has ended; returns what is left to show."""
        return self._work(final=True)

    def _work(self, final: bool) -> str:
        out: list[str] = []
        at = 0
        for found in _TAG.finditer(self._held):
            if not (found["next"] or final):
                break
            if not self._is_tag(found, self._given + self._held[at : found.start()]):
                continue
            self._give(out, self._held[at : found.start()])
            self._give(out, self._between(found))
            at = found.end()
        rest = self._held[at:]
        keep = len(rest) if final else _kept(rest)
        self._give(out, rest[:keep])
        self._held = rest[keep:]
        return "".join(out)

    def _is_tag(self, found: re.Match[str], past: str) -> bool:
        face = face_of(found["words"])
        if not face or (found["next"] in tuple("(:{") and not found["after"]):
            return False
        if (not found["before"] and _ATTACHED.search(past)) or _in_code(past + found["before"], self._fenced):
            return False
        self.face = self.face or face
        return True

    def _between(self, found: re.Match[str]) -> str:
        """The blank that stays where a tag stood."""
        past = self._given
        if not past.strip() or past[-1].isspace() or found["next"] in tuple(".,;:!?)\n") or not found["next"]:
            return ""
        return found["before"][:1] or found["after"][:1]

    def _give(self, out: list[str], text: str) -> None:
        if self.face and not self._begun:
            text = text.lstrip()
        if text:
            self._begun = self._begun or bool(text.strip())
            self._given += text
            out.append(text)
        if len(self._given) > 2 * _KEPT:
            cut = self._given.rfind("\n", 0, -_KEPT) + 1 or len(self._given) - _KEPT
            self._fenced += len(_FENCE.findall(self._given, 0, cut))
            self._given = self._given[cut:]


def face_of(words: str) -> str:
    """The face of the first of these tags; empty if one of the words is none."""
    left = re.split(r"[ ,]+", words.casefold())
    first = ""
    while left:
        size = 2 if " ".join(left[:2]) in TAGS and len(left) > 1 else 1
        face = TAGS.get(" ".join(left[:size]), "")
        if not face:
            return ""
        first, left = first or face, left[size:]
    return first


def _kept(text: str) -> int:
    """How many characters cannot belong to a tag that is not whole yet."""
    maybe = _MAYBE.search(text)
    return maybe.start() if maybe else len(text)


def _in_code(past: str, fences: int) -> bool:
    """Whether what comes behind these words, and so many fences, stands in a code block, in ticks or in indented code."""
    if (fences + len(_FENCE.findall(past))) % 2:
        return True
    paragraph = past.rpartition("\n\n")[2]
    line = past.rpartition("\n")[2]
    return bool(paragraph.count("`") % 2 or (re.fullmatch(r" {4,}|\t\s*", line) and "\n" in past))
