"""A model's odd calls made whole: fragments joined, names resolved, arguments read strictly.

Above: `loop` puts every model's answer through here, whoever made it. Below: `loose`. It refuses to know: HTTP,
what a tool does, and how text is searched for calls (that is `sieve`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable

import msgspec

from etui.agent.loose import Broken, loose

_PREFIXES = ("functions", "function", "tools", "tool", "default_api")
"""What models put before a name though nobody offered it so."""
FENCE = re.compile(r"\A\s*```\w*\s*|\s*```\s*\Z")
"""The marks of a code block around a text."""
_CITED = re.compile("[\ue200-\ue2ff]")
"""Characters with which a provider marks citations; between the values of JSON they are nothing."""


_CLOSED_EARLY = re.compile(r",\s*\}\s*\Z")


def _no_constant(name: str) -> object:
    raise Broken(f"{name} is no JSON value.")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise Broken(f"{text} is no finite number.")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def read_json(text: str) -> object:
    """The one JSON value that `text` is; raises Broken, also for NaN, infinities and absurd depth."""
    try:
        return _DECODER.decode(text)
    except Broken:
        raise
    except (ValueError, RecursionError) as error:
        raise Broken(str(error)) from error


def read_front(text: str, start: int = 0) -> tuple[object, int]:
    """The JSON value that begins at `start`, and where it ends; raises Broken."""
    try:
        return _DECODER.raw_decode(text, start)
    except Broken:
        raise
    except (ValueError, RecursionError) as error:
        raise Broken(str(error)) from error


def arguments_of(raw: object) -> object:
    """The arguments as an object: nothing means `{}`, what was encoded twice is unwrapped, anything else stays as it came.

    Where marks of citations stand between its values, it is read without them; Python's way of writing an object is read too.
    """
    if raw is None:
        return {}
    if not isinstance(raw, str):
        return raw
    text = FENCE.sub("", raw).strip()
    if not text:
        return {}
    for _ in range(3):
        try:
            value = read_json(text)
        except Broken:
            bare = _CITED.sub("", text)
            return _written_otherwise(text, raw) if bare == text else _given(arguments_of(bare), raw)
        if isinstance(value, dict):
            return value
        if value is None:
            return {}
        if not isinstance(value, str):
            return raw
        text = value.strip()
    return raw


def _written_otherwise(text: str, raw: str) -> object:
    """The object where it is whole and only its writing is not JSON's, else what came.

    One that ends behind a comma was closed before its time: something was to come, and nobody knows what.
    """
    if text == "None":
        return {}
    if _CLOSED_EARLY.search(text):
        return raw
    try:
        return _given(loose(text), raw)
    except Broken:
        return raw


def _given(value: object, raw: str) -> object:
    """The value where it became an object, else what came."""
    return value if isinstance(value, dict) else raw


def canonical(arguments: object) -> str:
    """The same text for equal arguments, however their keys were ordered and spaced."""
    value = arguments_of(arguments)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=repr)


def _objects(text: str) -> list[str]:
    """The complete objects that stand one behind another in `text`; just `[text]` if it is anything else."""
    found: list[str] = []
    at = 0
    stripped = text.strip()
    while at < len(stripped):
        try:
            value, end = read_front(stripped, at)
        except Broken:
            return [text]
        if not isinstance(value, dict):
            return [text]
        found.append(stripped[at:end])
        at = end
        while at < len(stripped) and stripped[at] in " \t\r\n,;":
            at += 1
    filled = [piece for piece in found if piece.strip("{} \t\r\n")]
    return (filled or found[:1]) if len(found) > 1 else [text]


class Joined(msgspec.Struct):
    """One call as put together from its fragments."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""

    @property
    def complete(self) -> bool:
        """True once the arguments are a whole JSON value."""
        try:
            read_json(self.arguments)
        except Broken:
            return False
        return True


class Joiner:
    """Puts fragments of calls together, by what they say rather than by the position that they claim."""

    def __init__(self) -> None:
        self._calls: list[Joined] = []

    def add(self, index: int, id: str = "", name: str = "", arguments: str = "") -> None:
        """Take the next fragment; an index below zero means that the model gave none."""
        current = self._current(index, id, name)
        if current is None or self._is_next(current, id, name):
            current = Joined(index=index)
            self._calls.append(current)
        elif not name and len(arguments) * 2 > len(current.arguments) and _again(current, arguments):
            return
        current.id = current.id or id
        current.name = current.name or name
        current.arguments += arguments

    def calls(self) -> list[Joined]:
        """The calls that have a name, in order; what has none was never a call."""
        return [
            Joined(index=call.index, id=call.id if not number else "", name=call.name, arguments=piece)
            for call in self._calls
            if call.name.strip()
            for number, piece in enumerate(_objects(call.arguments))
        ]

    def _current(self, index: int, id: str, name: str) -> Joined | None:
        if not self._calls:
            return None
        if index < 0:
            return self._calls[-1]
        for call in reversed(self._calls):
            if call.index == index:
                return call
        # A position of its own, but neither id nor name: the rest of the call before it.
        return self._calls[-1] if not id and not name else None

    @staticmethod
    def _is_next(current: Joined, id: str, name: str) -> bool:
        if name and current.name:
            if name != current.name:
                return True
            if id and current.id:
                return id != current.id
            return bool(current.arguments.strip()) and current.complete
        return bool(name) and bool(id) and bool(current.id) and id != current.id


def _again(call: Joined, arguments: str) -> bool:
    """True if the arguments come whole once more, as some servers send them at the end."""
    return bool(arguments) and arguments.strip() == call.arguments.strip() and call.complete


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", unicodedata.normalize("NFKC", name).casefold())


def _pieces(name: str) -> list[str]:
    return [piece for piece in re.split(r"[.:/\\]+|__+|\s+", name.strip()) if piece]


def resolve(name: str, offered: Iterable[str]) -> str:
    """The offered name that `name` means: itself, or the only one equal but for separators, case and prefix; else `name`."""
    names = list(offered)
    wanted = name.partition("<|")[0].strip()
    if wanted in names:
        return wanted
    pieces = _pieces(wanted)
    while len(pieces) > 1 and pieces[0].casefold() in _PREFIXES:
        pieces = pieces[1:]
    for candidate in ("".join(pieces), *("".join(pieces[at:]) for at in range(1, len(pieces)))):
        if matches := [one for one in names if _folded(one) == _folded(candidate)]:
            return matches[0] if len(matches) == 1 else name
    ending = _folded("".join(pieces))
    matches = [one for one in names if _ends_with(one, ending)]
    return matches[0] if len(matches) == 1 else name


def _ends_with(offered: str, ending: str) -> bool:
    """True if the offered name is `ending` behind a prefix of whole pieces, such as `mcp__memory__read_graph`."""
    pieces = [piece for piece in re.split(r"__+", offered) if piece]
    return bool(ending) and any(_folded("".join(pieces[at:])) == ending for at in range(1, len(pieces)))
