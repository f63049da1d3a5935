"""The text of an answer as it streams: thinking hidden, calls that stand in the text taken out, the rest let through at once.

Above: `answer` tells what comes out, and names the calls. Below: `marks` and `place`, what stands out in the text and where;
`blocks` (every dialect: a new one goes there), `react` (actions in plain words) and `written` (objects and Python's calls),
which read what was found here. It refuses to know: whether a call is run. What is only mentioned stays text: in code, in a
quotation, in the thinking, within a sentence, or where no call begins behind a mark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from etui.agent import blocks, marks, react, written
from etui.agent.loose import Broken
from etui.agent.odd import read_front
from etui.agent.place import PARAGRAPH, Place

_SLICE = 4096
"""Characters that are looked at together, however large the pieces come."""
_PATIENCE = 50
"""What is held is looked at again once it has grown by this part of its length, so that long answers stay linear."""


class Sieve:
    """Takes an answer piece by piece and gives what may be shown; the calls stand in `calls` once it is closed."""

    def __init__(self, offered: Mapping[str, Mapping[str, object]]) -> None:
        """`offered` holds the schema of each tool that may be called, by its exact name."""
        self._offered = offered
        self._held = ""
        self._news: list[str] = []
        self._new = 0
        self._place = Place()
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
        out: list[str] = []
        for at in range(0, len(text), _SLICE):
            self._news.append(text[at : at + _SLICE])
            self._new += len(self._news[-1])
            if self._new * _PATIENCE >= len(self._held):
                self._look(out)
        return "".join(out)

    def close(self) -> str:
        """The answer has ended; returns what is left to show."""
        out: list[str] = []
        self._take()
        if self._bare and (found := written.bare(self._held, self._offered)):
            self.calls += found
            self._held = ""
        self._bare = False
        self._work(out, final=True)
        return "".join(out)

    def _take(self) -> int:
        """Hold what has come since the last look; returns how much that is."""
        self._held += "".join(self._news)
        news, self._new = self._new, 0
        self._news.clear()
        return news

    def _look(self, out: list[str]) -> None:
        news = self._take()
        if self._bare:
            if not self._held.strip() or written.may_be_bare(self._held, self._offered):
                return
            if self._thinking and react.thinks(self._held) and not self._thought(news):
                return
            self._bare = False
        self._work(out, final=False)

    def _thought(self, news: int) -> bool:
        """Take out the thought that an answer begins with, once what is done about it has come with the last characters."""
        behind = react.behind_thought(self._held, news)
        if behind is not None:
            self._held, self._thinking = behind, False
        return not self._thinking

    def _work(self, out: list[str], final: bool) -> None:
        while self._held and self._once(out, final):
            pass

    def _once(self, out: list[str], final: bool) -> bool:
        """One step; False when nothing more can be told from what is held."""
        if self._closer is not None:
            return self._through(out, final)
        match = marks.OPENER.search(self._held)
        tail = max(0, len(self._held) - marks.TAIL)
        maybe = None if final or (match and match.start() <= tail) else marks.MAYBE.search(self._held, tail)
        if match is None or (maybe and maybe.start() < match.start()):
            self._emit(out, maybe.start() if maybe else len(self._held))
            return False
        at_the_end = match.end() == len(self._held)
        self._emit(out, match.start())
        if at_the_end and not final:
            # It may grow: one tick to three, a name to a longer one.
            return False
        match = marks.OPENER.match(self._held)
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
        if self._place.quoted or (match["ends"] and (self._held[match.end() :].strip() or "<s>" in self._place.paragraph)):
            self._emit(out, match.end())
            return True
        if match["think"]:
            return self._think(match, out)
        if match["named"]:
            return self._bracket(match, out, final)
        if match["acted"]:
            return self._acted(match, out, final)
        kind = blocks.kind_of(match)
        if kind is None:
            return self._aside(match, out, final)
        return self._block(match, kind, out, final)

    def _think(self, match: re.Match[str], out: list[str]) -> bool:
        """Thinking is hidden; words about its mark are shown, and no call in them counts."""
        behind = self._held[match.end() : match.end() + 1]
        usual = match["think"].casefold().startswith("think")
        told = behind in tuple(":,;.)") or (self._place.amid and (behind == " " or not usual))
        if told:
            self._emit(out, match.end())
        else:
            self._held = self._held[match.end() :]
        self._until(rf"<\s*/\s*{match['think']}\s*>", hidden=not told)
        return True

    def _aside(self, match: re.Match[str], out: list[str], final: bool) -> bool:
        """A stray end of thinking, a template's mark, or a channel: a new one for the person, or one that is not."""
        passing = False if match["channel"] or match["aside"] else self._place.goes_on(self._held[match.end() :], final)
        if passing is None:
            return False
        if passing:
            self._emit(out, match.end())
            return True
        if match["channel"] and self._place.paragraph.strip():
            self._held = "\n\n" + self._held[match.end() :]
            return True
        self._held = self._held[match.end() :]
        if match["thought"] and self._spoke and not self._place.line.strip() and self._held.startswith(("\n", "\r\n")):
            # A server's template began the thinking, so that the model only ended it.
            self.mistaken, self._spoke, self._place = True, False, Place()
            self.calls.clear()
            out.clear()
        if match["aside"]:
            self._until(marks.HARMONY_END, hidden=True)
        return True

    def _acted(self, match: re.Match[str], out: list[str], final: bool) -> bool:
        """An action; what the model believes to observe then is dropped."""
        found = [] if self._place.line.strip() else react.read(match, self._held, self._offered, final)
        if found is None:
            return False
        self.calls += found
        if found:
            self._held = ""
        else:
            self._emit(out, match.start("shown") if match["shown"] else match.end())
        return not found

    def _code(self, match: re.Match[str], out: list[str], final: bool) -> bool:
        """A code block runs to its fence; a tick only to another one in the same paragraph, else it is just a tick."""
        if match["fence"] and not self._place.line.strip(" >"):
            mark = match["fence"]
            if "\n" not in self._held and not final:
                return False
            if not final and marks.ITSELF.match(self._held) and f"\n{mark}" not in self._held:
                return False
            if (calling := marks.CALLING.match(self._held)) and not (calling["rest"] or "").strip():
                return self._calling(calling, match, out, final)
            self._until(rf"\n[ >\t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*(?=\n)", hidden=False)
            self._emit(out, match.end())
            return True
        mark = match["fence"] or match["ticks"]
        rest = self._held[match.end() : match.end() + PARAGRAPH]
        paragraph, gap, _ = rest.partition("\n\n")
        end = paragraph.find(mark)
        if end < 0 and not gap and len(rest) < PARAGRAPH and not final:
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

    def _block(self, match: re.Match[str], kind: blocks.Kind, out: list[str], final: bool) -> bool:
        """A block; text where no call begins behind its mark, where a sentence mentions it, or where others use its mark."""
        begins = blocks.begins(match, self._held, final)
        if begins is None:
            return False
        if not begins:
            self._emit(out, match.end())
            return True
        end = blocks.closed(match, kind, self._held, final)
        if end is None and not final:
            return False
        stop = end.end() if end else len(self._held)
        passing = self._place.goes_on(self._held[stop:], final)
        if passing is None:
            return False
        body = self._held[match.end() : end.start() if end else stop]
        found = [] if passing else blocks.read(match, body, self._offered)
        if passing or (blocks.common(match) and not (found and all(one.name in self._offered for one in found))):
            self._emit(out, stop)
            return True
        self._held = self._held[stop:]
        self.calls += found
        self.unreadable += not found
        return True

    def _bracket(self, match: re.Match[str], out: list[str], final: bool) -> bool:
        """`[name]{...}[END_TOOL_REQUEST]`; without that end, a call only as the answer's last words and by an offered name."""
        name = match["named"]
        try:
            arguments, stop = read_front(self._held, match.end())
        except Broken:
            if not final and (name in self._offered or len(self._held) < PARAGRAPH):
                return False
            if name in self._offered and not self._place.line.strip():
                self.calls.append(written.Found(name=name, arguments=self._held[match.end() :]))
                self._held = ""
                return False
            self._emit(out, match.end())
            return True
        end = marks.END_REQUEST.match(self._held, stop)
        rest = self._held[stop:].strip()
        if end is None and not final and (not rest or "[end_tool_request]".startswith(rest.casefold())):
            return False
        if end is None and (rest or name not in self._offered or self._place.line.strip()):
            self._emit(out, match.end())
            return True
        self.calls.append(written.Found(name=name, arguments=arguments))
        self._held = self._held[end.end() if end else len(self._held) :]
        return True

    def _emit(self, out: list[str], length: int, code: bool = False) -> None:
        """Let the first `length` characters through; unless they are code, they belong to the paragraph kept in mind."""
        text, self._held = self._held[:length], self._held[length:]
        if self._closer is None and not code:
            self._place.add(text)
        # What stands before the first word is not shown, such as the empty lines behind thinking.
        text = text if self._spoke else text.lstrip()
        if text:
            self._spoke = True
            out.append(text)
