"""The text of an answer as it streams: thinking hidden, calls that stand in the text taken out, the rest let through at once.

Above: `loop` shows what comes out, and runs the calls. Below: `blocks`, which reads what a block says. It refuses to know:
whether a call is run. A call that is only mentioned, in a code block, a quotation or the thinking, stays text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from etui.agent import blocks, written
from etui.agent.loose import Broken
from etui.agent.odd import read_front

_THOUGHT = r"think|thinking|thought|reasoning|reflection|scratchpad|tool_response|tool_result|tool_output|function_results?"
"""What is not for the person: thinking, and results that a model has made up."""
_THINK = rf"<\s*(?P<think>{_THOUGHT})\s*>"
_STRAY = (
    rf"(?P<thought><\s*/\s*(?:{_THOUGHT})\s*>)"
    r"|(?:<\|start\|>\w*(?=<\|channel\|>|<\|message\|>|\Z))"
    r"|(?P<channel><\|channel\|>)\s*(?:final|commentary)\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
    r"|<\|(?:end|return|call|message|im_end|eot_id|eom_id|endoftext|end_of_text|end_of_turn)\|>"
    r"|<\|im_start\|>(?:assistant\b)?|(?P<ends></s>)"
)
_HARMONY = r"(?P<aside><\|channel\|>)\s*analysis\b[^<]*<\|message\|>"
_HARMONY_END = r"<\|(?:end|return|call)\|>|(?=<\|start\|>|<\|channel\|>)"
_FENCE = r"(?P<fence>`{3,}|~{3,})"
_TICKS = r"(?P<ticks>`{1,2})"
_QUOTED = r"<\s*(?P<html>code|pre|blockquote|q|samp)(?:\s[^<>]*)?>"
_NAMED = r"\[(?P<named>[A-Za-z_][\w.:/-]{0,127})\]\s*(?=\{)"
_ACTED = (
    r"(?P<acted>Action)\s*:\s*(?:(?P<shown>`{3,})(?:json)?[ \t]*\n"
    r"|[\"'`]?(?P<deed>[A-Za-z_][\w.:/-]*)[\"'`]?(?:[ \t]*\n\s*Action[ _]Input\s*:|(?=\()))"
)
_OPENER = re.compile(
    "|".join((blocks.OPENER, _THINK, _HARMONY, _STRAY, _FENCE, _TICKS, _QUOTED, _NAMED, _ACTED)), re.IGNORECASE
)
_MAYBE = re.compile(
    r"(?:<\|(?:start|channel)\|>(?:(?!<\|message\|>)[\s\S]){0,200}|<[|｜/\s]{0,3}[^<>\n]{0,80}(?:>\s*)?"
    r"|\[[A-Za-z_][\w.:/-]{0,127}(?:\]\s*)?|\[|`{1,}|~{1,}"
    r"|(?:^|\n)[ \t]*(?:A|Ac|Act|Acti|Actio|Action)\s*|(?:^|\n)[ \t]*Action\s*:[^\n]{0,140}(?:\n\s*[^\n:]{0,20})?)\Z",
)
"""An end of text that may yet become the beginning of a block."""
_OBSERVED = re.compile(r"\n\s*Observation\s*:", re.IGNORECASE)
_THOUGHTS = re.compile(r"\s*Thought\s*:.*?\n\s*(?:(?=Action\s*:)|Final Answer\s*:[ \t]*)", re.IGNORECASE | re.DOTALL)
_DONE = re.compile(r"Action\s*:|Final Answer\s*:", re.IGNORECASE)
_MAY_THINK = re.compile(r"\s*(?:T|Th|Tho|Thou|Thoug|Though|Thought|Thought\s*:.*)", re.IGNORECASE | re.DOTALL)
_ITSELF = re.compile(rf"`{{3,}}[ \t]*(?:{blocks.CALLING})[ \t]*\n", re.IGNORECASE)
_CALLING = re.compile(
    rf"(?P<mark>`{{3,}})[ \t]*(?:{blocks.CALLING})[ \t]*\n(?P<body>.*?)(?:\n[ \t]*(?P=mark)(?P<rest>.*)|\Z)", re.I | re.S
)
_END_REQUEST = re.compile(r"\s*\[/?END_TOOL_REQUEST\]", re.IGNORECASE)
_QUOTES = (("“", "”"), ("«", "»"), ("„", "“"), ("‹", "›"), ("「", "」"), ("『", "』"))
_PARAGRAPH = 4000
"""Characters of a paragraph that are searched for an open quotation."""


class Sieve:
    """Takes an answer piece by piece and gives what may be shown; the calls stand in `calls` once it is closed."""

    def __init__(self, offered: Mapping[str, Mapping[str, object]]) -> None:
        """`offered` holds the schema of each tool that may be called, by its exact name."""
        self._offered = offered
        self._held = ""
        self._paragraph = ""
        self._spoke = False
        self._closer: re.Pattern[str] | None = None
        self._hidden = False
        self._bare = True
        self._thinking = True
        self.calls: list[written.Found] = []
        self.mistaken = False
        """True once all that was shown so far turned out to be thinking, of which only the end was marked."""
        self.unreadable = 0
        """How many blocks were calls that could not be read."""

    def feed(self, text: str) -> str:
        """The next piece; returns what may be shown now."""
        self._held += text
        if self._bare:
            if not self._held.strip() or written.may_be_bare(self._held, self._offered):
                return ""
            if self._thinking and _MAY_THINK.fullmatch(self._held) and not self._thought(len(text)):
                return ""
            self._bare = False
        return self._work(final=False)

    def close(self) -> str:
        """The answer has ended; returns what is left to show."""
        if self._bare and (found := written.bare(self._held, self._offered)):
            self.calls += found
            self._held = ""
        self._bare = False
        return self._work(final=True)

    def _thought(self, news: int) -> bool:
        """Take out the thought that an answer begins with, once what is done about it has come with the last characters."""
        end = _DONE.search(self._held, max(0, len(self._held) - news - 40))
        if end and (found := _THOUGHTS.match(self._held)):
            self._held, self._thinking = self._held[found.end() :], False
        return not self._thinking

    @property
    def _line(self) -> str:
        return self._paragraph.rpartition("\n")[2]

    def _work(self, final: bool) -> str:
        out: list[str] = []
        while self._held and self._once(out, final):
            pass
        return "".join(out)

    def _once(self, out: list[str], final: bool) -> bool:
        """One step; False when nothing more can be told from what is held."""
        if self._closer is not None:
            return self._through(out, final)
        match = _OPENER.search(self._held)
        maybe = None if final or (match and not match.start()) else _MAYBE.search(self._held)
        if match is None or (maybe and maybe.start() < match.start()):
            self._emit(out, maybe.start() if maybe else len(self._held))
            return False
        at_the_end = match.end() == len(self._held)
        self._emit(out, match.start())
        if at_the_end and not final:
            # It may grow: one tick to three, a name to a longer one.
            return False
        match = _OPENER.match(self._held)
        assert match is not None, "an opener was just found here"
        return self._open(match, out, final)

    def _open(self, match: re.Match[str], out: list[str], final: bool) -> bool:
        if match["fence"] or match["ticks"]:
            return self._code(match, out, final)
        if match["html"]:
            self._until(rf"<\s*/\s*{match['html']}\s*>", hidden=False)
            self._emit(out, match.end())
            return True
        if match["ends"] and not final and not self._held[match.end() :].strip():
            return False
        if self._mentioned() or (match["ends"] and self._held[match.end() :].strip()):
            self._emit(out, match.end())
            return True
        if match["think"]:
            self._until(rf"<\s*/\s*{match['think']}\s*>", hidden=True)
            self._held = self._held[match.end() :]
            return True
        if match["named"]:
            return self._bracket(match, out, final)
        if match["acted"]:
            return self._acted(match, out, final)
        kind = blocks.kind_of(match)
        if kind is None:
            return self._aside(match, out)
        return self._block(match, kind, out, final)

    def _aside(self, match: re.Match[str], out: list[str]) -> bool:
        """A stray end of thinking, or a channel: a new one for the person, or one that is not."""
        if match["channel"] and self._paragraph.strip():
            self._held = "\n\n" + self._held[match.end() :]
            return True
        self._held = self._held[match.end() :]
        if match["thought"] and self._spoke and not self._line.strip() and self._held.startswith(("\n", "\r\n")):
            # A server's template began the thinking, so that the model only ended it.
            self.mistaken, self._spoke, self._paragraph = True, False, ""
            self.calls.clear()
            out.clear()
        if match["aside"]:
            self._until(_HARMONY_END, hidden=True)
        return True

    def _acted(self, match: re.Match[str], out: list[str], final: bool) -> bool:
        """`Action: name` and `Action Input: {...}`, by an offered name; what the model believes to observe then is dropped."""
        if self._line.strip() or not (match["shown"] or match["deed"] in self._offered):
            self._emit(out, match.start("shown") if match["shown"] else match.end())
            return True
        if not final:
            return False
        given = _OBSERVED.split(self._held[match.end() :])[0].strip()
        if match["shown"]:
            found = blocks.fenced(given.partition(match["shown"])[0], self._offered)
        elif given[:1] == "(":
            found = blocks.fenced(match["deed"] + given, self._offered)
        else:
            found = [written.Found(name=match["deed"], arguments=written.object_in(given))]
        self.calls += found
        if found:
            self._held = ""
        else:
            self._emit(out, match.start("shown") if match["shown"] else match.end())
        return not found

    def _code(self, match: re.Match[str], out: list[str], final: bool) -> bool:
        """A code block runs to its fence; a tick only to another one in the same paragraph, else it is just a tick."""
        if match["fence"] and not self._line.strip(" >"):
            mark = match["fence"]
            if "\n" not in self._held and not final:
                return False
            if not final and _ITSELF.match(self._held) and f"\n{mark}" not in self._held:
                return False
            if (calling := _CALLING.match(self._held)) and not (calling["rest"] or "").strip():
                return self._calling(calling, match, out, final)
            self._until(rf"\n[ >\t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*(?=\n)", hidden=False)
            self._emit(out, match.end())
            return True
        mark = match["fence"] or match["ticks"]
        rest = self._held[match.end() :]
        paragraph, gap, _ = rest.partition("\n\n")
        end = paragraph.find(mark)
        if end < 0 and not gap and not final:
            return False
        self._emit(out, match.end() + (end + len(mark) if end >= 0 else 0), code=end >= 0)
        return True

    def _calling(self, calling: re.Match[str], match: re.Match[str], out: list[str], final: bool) -> bool:
        """Code that calls itself a call, as the answer's last words; shown where it is none of an offered tool."""
        if not final:
            return False
        found = blocks.fenced(calling["body"], self._offered)
        self.calls += found
        if found:
            self._held = ""
        else:
            self._emit(out, len(self._held))
        return False

    def _until(self, pattern: str, hidden: bool) -> None:
        self._closer, self._hidden = re.compile(pattern, re.IGNORECASE), hidden

    def _through(self, out: list[str], final: bool) -> bool:
        """Inside thinking, which is dropped, or code and quotations, which are shown as they are."""
        assert self._closer is not None
        end = self._closer.search(self._held)
        if end is None:
            keep = 0 if final else min(len(self._held), 80)
            if self._hidden:
                self._held = self._held[len(self._held) - keep :]
            else:
                self._emit(out, len(self._held) if final else self._safe_in_code())
            return False
        if self._hidden:
            self._held = self._held[end.end() :]
        else:
            self._emit(out, end.end())
        self._closer = None
        return True

    def _safe_in_code(self) -> int:
        """How much of a code block cannot belong to its end."""
        cut = max(self._held.rfind("\n"), self._held.rfind("<"))
        return len(self._held) if cut < 0 or len(self._held) - cut > 40 else cut

    def _mentioned(self) -> bool:
        """True if what comes now is quoted: behind an open quotation mark, in a quoted line or in indented code."""
        text = self._paragraph
        if text.count('"') % 2 or text[-1:] in {"'", "‘", "‚"}:
            return True
        if any(text.rfind(mark) > text.rfind(end) for mark, end in _QUOTES if not (mark == "“" and "„" in text)):
            return True
        return bool(re.match(r" {0,3}>| {4,}\Z|\t\s*\Z", self._line))

    def _block(self, match: re.Match[str], kind: blocks.Kind, out: list[str], final: bool) -> bool:
        end = blocks.closed(match, kind, self._held, final)
        if end is None and not final:
            return False
        body = self._held[match.end() : end.start() if end else len(self._held)]
        self._held = self._held[end.end() :] if end else ""
        found = blocks.read(match, body, self._offered)
        self.calls += found
        self.unreadable += not found
        return True

    def _bracket(self, match: re.Match[str], out: list[str], final: bool) -> bool:
        """`[name]{...}[END_TOOL_REQUEST]`; without that end, a call only as the answer's last words and by an offered name."""
        name = match["named"]
        try:
            arguments, stop = read_front(self._held, match.end())
        except Broken:
            if not final:
                return False
            if name in self._offered:
                self.calls.append(written.Found(name=name, arguments=self._held[match.end() :]))
                self._held = ""
                return False
            self._emit(out, match.end())
            return True
        end = _END_REQUEST.match(self._held, stop)
        rest = self._held[stop:].strip()
        if end is None and not final and (not rest or "[end_tool_request]".startswith(rest.casefold())):
            return False
        if end is None and (rest or name not in self._offered):
            self._emit(out, match.end())
            return True
        self.calls.append(written.Found(name=name, arguments=arguments))
        self._held = self._held[end.end() if end else len(self._held) :]
        return True

    def _emit(self, out: list[str], length: int, code: bool = False) -> None:
        """Let the first `length` characters through; unless they are code, they belong to the paragraph kept in mind."""
        text, self._held = self._held[:length], self._held[length:]
        if not self._paragraph.strip():
            # What stands before the first word, such as the empty lines behind thinking.
            text = text if self._spoke else text.lstrip()
        if not text:
            return
        self._spoke = True
        out.append(text)
        if self._closer is None and not code:
            self._paragraph = (self._paragraph + text).rpartition("\n\n")[2][-_PARAGRAPH:]
