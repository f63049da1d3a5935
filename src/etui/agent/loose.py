"""What models write for JSON and Python: nearly right, and read only where it is whole.

Above: `odd` and `blocks`, which come here where strict JSON ended. Below: nothing of Etui. It refuses to know: tools, and how
half a value might go on: what is cut off, or holds a number without bounds, is Broken and stays as it came.
"""

from __future__ import annotations

import json
import re

import msgspec

_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/", "\n": ""}
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_]\w*")
_KEY = re.compile(r"[A-Za-z_$][\w$-]*")
_NAME = re.compile(r"[A-Za-z_][\w./:-]*(?=\s*\()")
_HEX = re.compile(r"x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}")
_DEEP = 64
"""Levels after which a value is no argument."""


class Broken(ValueError):
    """Text that is no value: half of one, or none at all."""


class Spoken(msgspec.Struct, frozen=True):
    """A call as Python writes one."""

    name: str
    places: tuple[object, ...] = ()
    """Values without a name, in order."""
    named: dict[str, object] = msgspec.field(default_factory=dict)


def loose(text: str) -> object:
    """The one value that `text` is: JSON, or Python's way of writing it, also with bare keys; raises Broken."""
    value, end = loose_front(text)
    if text[end:].strip():
        raise Broken("There is more behind the value.")
    return value


def loose_front(text: str, start: int = 0) -> tuple[object, int]:
    """The value that begins at `start`, and where it ends; raises Broken."""
    reader = _Reader(text, start)
    return reader.value(0), reader.at


def spoken(text: str) -> list[Spoken]:
    """The calls that the whole text is: `f(a=1)`, several of them, or a list of them, also printed; raises Broken."""
    reader = _Reader(text.strip(), 0)
    listed = reader.took("[")
    calls: list[Spoken] = []
    while not (listed and reader.took("]")) and not reader.done:
        calls.append(reader.call())
        while reader.took(",") or reader.took(";"):
            pass
    if not calls or not reader.done or (listed and not reader.text.endswith("]")):
        raise Broken("This is no list of calls.")
    return calls


class _Reader:
    """Reads one value after another."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    @property
    def done(self) -> bool:
        """True at the end of the text."""
        self._skip()
        return self.at >= len(self.text)

    def took(self, mark: str) -> bool:
        """True if the mark came next, which is then behind."""
        self._skip()
        if not self.text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True

    def call(self) -> Spoken:
        """The next call."""
        name = self._match(_NAME)
        self._wants("(")
        if name == "print":
            inner = self.call()
            self._wants(")")
            return inner
        places: list[object] = []
        named: dict[str, object] = {}
        while not self.took(")"):
            before = self.at
            key = _WORD.match(self.text, self.at)
            if key and self._assigned(key.end()):
                named[key[0]] = self.value(0)
            else:
                self.at = before
                places.append(self.value(0))
            self._parted(")")
        return Spoken(name=name, places=tuple(places), named=named)

    def value(self, depth: int) -> object:
        """The next value."""
        if depth > _DEEP:
            raise Broken("This is too deep.")
        if self.took("{"):
            return self._object(depth)
        if self.took("["):
            return self._list(depth)
        if self.text[self.at : self.at + 1] in ('"', "'"):
            return self._string()
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            return self._number(number[0])
        word = self._match(_WORD)
        if word not in _WORDS:
            raise Broken(f"{word} is no value.")
        return _WORDS[word]

    def _object(self, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        while not self.took("}"):
            self._skip()
            key = self._string() if self.text[self.at : self.at + 1] in ('"', "'") else self._match(_KEY)
            self._wants(":")
            found[key] = self.value(depth + 1)
            self._parted("}")
        return found

    def _list(self, depth: int) -> list[object]:
        found: list[object] = []
        while not self.took("]"):
            found.append(self.value(depth + 1))
            self._parted("]")
        return found

    def _string(self) -> str:
        mark = self.text[self.at]
        out: list[str] = []
        at = self.at + 1
        while (char := self.text[at : at + 1]) != mark:
            if not char:
                raise Broken("A text does not end.")
            if char != "\\":
                out.append(char)
                at += 1
                continue
            after = self.text[at + 1 : at + 2]
            if code := _HEX.match(self.text, at + 1):
                number = int(code[0][1:], 16)
                out.append(chr(number) if number < 0x110000 else "\ufffd")
                at = code.end()
            else:
                out.append(_ESCAPES.get(after, "\\" + after))
                at += 2
        self.at = at + 1
        return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    @staticmethod
    def _number(text: str) -> int | float:
        try:
            value = json.loads(text)
        except ValueError as error:
            raise Broken(f"{text[:40]} is no number.") from error
        if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
            raise Broken(f"{text[:40]} is no finite number.")
        return value

    def _assigned(self, at: int) -> bool:
        """True if `=` comes at this place, and then a value."""
        self.at = at
        return not self.text.startswith("==", _end(self.text, at)) and self.took("=")

    def _parted(self, end: str) -> None:
        """A comma, or the end, which is left for the next look."""
        if not self.took(",") and not self.text.startswith(end, self.at):
            raise Broken(f"Neither a comma nor {end} came.")

    def _wants(self, mark: str) -> None:
        if not self.took(mark):
            raise Broken(f"{mark} is missing.")

    def _match(self, pattern: re.Pattern[str]) -> str:
        self._skip()
        found = pattern.match(self.text, self.at)
        if found is None:
            raise Broken("No name came.")
        self.at = found.end()
        return found[0]

    def _skip(self) -> None:
        self.at = _end(self.text, self.at)


def _end(text: str, at: int) -> int:
    """Where the blanks end that begin at this place."""
    blanks = _SPACE.match(text, at)
    return blanks.end() if blanks else at
