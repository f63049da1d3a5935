"""The owner's personality file: what it lets single tools say, laid over the lines that their files declare.

It is Markdown, as Kotoba's `soul/default.md`: lines `key: value`, a line `---`, then sections. Only the section `## Tool voice
patterns` is read here. Above: `host` hands `voice` to the narration and `table` to tools that ask for it. Below: the nouns.
It refuses to know: when a line is said, and whether anybody hears it.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from etui.tool import Problem, Tool, Voice

HEADING = "tool voice patterns"
LARGEST = 1 << 20
"""Bytes of the file that are read."""
Lines = Mapping[str, str | tuple[str, ...]]
"""What is said instead, by `before`, `heartbeat`, `after` and `fail`; what is absent stays as the tool's file has it."""
_KEYS = ("before", "heartbeat", "after", "fail")


class Personality:
    """The file in force, read anew whenever it has changed."""

    def __init__(self, path: Callable[[], Path], *, named: Callable[[], bool] = lambda: False) -> None:
        """`path` gives where the file lies now; `named` whether the owner named it, so that its absence is worth a word."""
        self._path = path
        self._named = named
        self._seen: tuple[object, ...] = ()
        self._overrides: Mapping[str, Lines] = {}
        self._wrong = ""

    def voice(self, tool: Tool) -> Voice:
        """The lines in force for a tool."""
        over = self._read().get(tool.name)
        return _laid_over(tool.voice, over) if over else tool.voice

    def table(self, tools: Iterable[Tool]) -> dict[str, dict[str, object]]:
        """The lines in force by tool, as `before`, `heartbeat`, `after` and `fail`; tools that only the file names, too."""
        overrides = self._read()
        voices = {name: _laid_over(Voice(), over) for name, over in overrides.items()}
        voices |= {tool.name: self.voice(tool) for tool in tools}
        return {
            name: {
                "before": voice.announce,
                "heartbeat": list(voice.heartbeat),
                "after": voice.complete,
                "fail": voice.fail,
            }
            for name, voice in voices.items()
        }

    def problem(self) -> Problem | None:
        """What is wrong with the file, if it cannot be read; every tool then says what its own file declares."""
        self._read()
        if not self._wrong:
            return None
        return Problem(
            what="personality",
            reason=self._wrong,
            hint="The setting `personality` says where it lies.",
            file=str(self._path()),
            refused=False,
        )

    def _read(self) -> Mapping[str, Lines]:
        path = self._path()
        try:
            found = path.stat()
        except (OSError, ValueError) as error:
            missing = isinstance(error, FileNotFoundError) and not self._named()
            self._wrong = "" if missing else f"The personality file cannot be read: {_reason(error)}."
            self._seen, self._overrides = (), {}
            return self._overrides
        seen = (path, found.st_mtime_ns, found.st_size, found.st_ino)
        if seen != self._seen:
            self._seen = seen
            if stat.S_ISREG(found.st_mode):
                self._overrides, self._wrong = _overrides(path)
            else:
                self._overrides, self._wrong = {}, "The personality file cannot be read: it is no file."
        return self._overrides


def patterns(text: str) -> dict[str, Lines]:
    """The overrides that a personality file holds, by tool."""
    found: dict[str, dict[str, str | tuple[str, ...]]] = {}
    tool = ""
    for line in _section(text):
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        if not line[0].isspace():
            if words.endswith(":"):
                tool = words[:-1].strip()
                found[tool] = {}
            continue
        key, colon, value = (part.strip() for part in words.partition(":"))
        if tool in found and colon and key in _KEYS:
            found[tool][key] = _list(value) if key == "heartbeat" else _text(value)
    return {tool: lines for tool, lines in found.items() if lines}


def _section(text: str) -> list[str]:
    """The lines of the last section with the heading, behind the first `---`."""
    lines = text.splitlines()
    start = next((number + 1 for number, line in enumerate(lines) if line.strip() == "---"), 0)
    found: list[str] = []
    inside = False
    for line in lines[start:]:
        if line.startswith("## "):
            inside = line[3:].strip().casefold() == HEADING
            found = [] if inside else found
        elif inside:
            found.append(line)
    return found


def _list(value: str) -> tuple[str, ...]:
    read = _json(value)
    return tuple(_whole(str(item)) for item in read) if isinstance(read, list) else ()


def _text(value: str) -> str:
    read = _json(value)
    if isinstance(read, str):
        return _whole(read)
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _whole(text: str) -> str:
    """The text without half characters, which nothing could show or send."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _json(value: str) -> object:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _laid_over(voice: Voice, over: Lines) -> Voice:
    def text(key: str, own: str) -> str:
        line = over.get(key, own)
        return line if isinstance(line, str) else own

    beats = over.get("heartbeat", voice.heartbeat)
    return Voice(
        announce=text("before", voice.announce),
        heartbeat=beats if isinstance(beats, tuple) else voice.heartbeat,
        complete=text("after", voice.complete),
        fail=text("fail", voice.fail),
    )


def _overrides(path: Path) -> tuple[Mapping[str, Lines], str]:
    """What the file holds, and what is wrong with it."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        return {}, f"The personality file cannot be read: {_reason(error)}."
    if len(data) > LARGEST:
        return {}, f"The personality file has more than {LARGEST >> 20} MB."
    return patterns(data.decode("utf-8-sig", "replace")), ""


def _reason(error: Exception) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)
