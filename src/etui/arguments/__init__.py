"""What a model or a person sent, made into the arguments of a call, or one sentence on why it is none.

What is no JSON object never runs a tool. Where the tool is checked, a value is repaired only without loss and only towards what
its schema declares, then the whole is validated. Above: `session` is the only caller. Below: `mending` and `judging`.
It refuses to know: whether the call may run, and what the tool does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from etui.arguments.judging import Fault, expected, fits, judge, shown
from etui.arguments.mending import Misfit, coerced, mended
from etui.tool import Checks, Tool

LARGEST = 4 * 1024 * 1024
"""Characters that the arguments of one call may have, all together."""
DEPTH = 64
"""How deep they may nest."""
VALUES = 200_000
"""How many values they may hold."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Invalid(msgspec.Struct, frozen=True):
    """The arguments cannot be used; nothing was run."""

    path: str
    """Which argument, such as `spots[2].room`; empty for the whole."""
    sentence: str
    """What was wrong and what was expected, for a model that will try again."""


class _Bad(Exception):
    def __init__(self, path: str, sentence: str) -> None:
        super().__init__(sentence)
        self.path = path


def prepare(tool: Tool, raw: object, notes: list[str] | None = None) -> dict[str, Any] | Invalid:
    """The arguments for this tool, or why there are none; `notes` is told what was left out. Raises nothing."""
    try:
        sent = raw if type(raw) is dict else _object(tool, raw)
        if tool.checks is Checks.VALIDATE and type(sent) is dict and _is_simple(sent) and fits(sent, tool.parameters):
            return sent
        arguments = _Reader().mapping(sent)
        if tool.checks is Checks.PASS:
            return arguments
        if tool.checks is Checks.COERCE:
            arguments, faults = coerced(arguments, tool.parameters)
            fault = _misfit(tool, faults) if faults else None
        else:
            whole = mended(arguments, tool.parameters, notes)
            arguments = whole if whole is arguments else _Reader().mapping(whole)
            fault = judge(arguments, tool.parameters, notes)
    except _Bad as bad:
        return Invalid(bad.path, str(bad))
    except RecursionError:
        return Invalid("", "The arguments nest too deeply.")
    return arguments if fault is None else Invalid(*fault)


def _object(tool: Tool, raw: object) -> Mapping[str, Any]:
    """The object that was sent; where it is none, in the words of the tool's contract."""
    try:
        return _parsed(raw)
    except _Bad as bad:
        if not tool.words.no_json:
            raise
        raise _Bad(bad.path, tool.words.no_json) from None


def _misfit(tool: Tool, faults: list[Misfit]) -> Fault:
    """What cannot be made what is declared, in the words of the tool's contract."""
    if tool.words.misfit:
        told = "; ".join(f"{name!r} expects {kind}, got {shown(value)}" for name, kind, value, _ in faults)
        return faults[0][0], tool.words.misfit.replace("{faults}", told)
    name, _, value, declared = faults[0]
    return name, f"The argument {name!r} must be {expected(declared)}; {shown(value)} was given."


def _is_simple(value: Any, depth: int = 0) -> bool:
    """Whether all of it is plain and small: the common case, which needs no closer look."""
    kind = type(value)
    if kind is str:
        return len(value) < 10_000 and bool(value.isascii() or not _SURROGATE.search(value))
    if kind is int:
        return bool(-(2**63) <= value < 2**64)
    if kind is bool or value is None:
        return True
    if kind is float:  # a whole one may have to become an int
        return bool(math.isfinite(value) and not value.is_integer())
    if depth > 3 or (kind is not list and kind is not dict) or len(value) > 100:
        return False
    if kind is dict:
        for name in value:
            if type(name) is not str or not name.isascii():
                return False
        value = value.values()
    for inner in value:
        if type(inner) is str and len(inner) < 10_000 and inner.isascii():
            continue  # what most values are, without another step
        if not _is_simple(inner, depth + 1):
            return False
    return True


def _parsed(raw: object) -> Mapping[str, Any]:
    """The object that was sent, out of as many layers of text as it was wrapped in."""
    value = raw
    if isinstance(value, bytes | bytearray | memoryview):
        value = bytes(value).decode("utf-8", "replace")
    for _ in range(4):
        if not isinstance(value, str):
            break
        if not value.strip():
            return {}
        value = _decoded(value.removeprefix("\ufeff"))
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return value
    raise _Bad("", f'The arguments must be one JSON object such as {{"name": "value"}}; {_kind(value)} was sent.')


def _kind(value: object) -> str:
    match value:
        case str():
            return "text"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case list() | tuple():
            return "a list"
    return f"something of the kind {type(value).__name__!r}"


def _decoded(text: str) -> object:
    if len(text) > LARGEST:
        raise _Bad("", f"The arguments have {len(text):,} characters; {LARGEST:,} are allowed.")
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise _Bad("", "The arguments nest too deeply.") from None
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return _decoded_slowly(text)


def _decoded_slowly(text: str) -> object:
    """The same by Python's own reader, which takes halves of characters and says where the fault is."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        sent = text.rstrip()
        cut = error.pos >= len(sent) - (not sent.endswith(("}", "]"))) or error.msg.startswith("Unterminated")
        what = "they end in the middle" if cut else f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}"
        raise _Bad("", f"The arguments are no complete JSON: {what}. Send one JSON object.") from None
    except RecursionError:
        raise _Bad("", "The arguments nest too deeply.") from None
    except ValueError as error:  # a number with more digits than Python reads
        raise _Bad("", f"The arguments hold a number that cannot be read: {str(error)[:80]}.") from None


def _no_constant(name: str) -> object:
    raise _Bad("", f"The arguments hold {name}, which is no JSON; send a number or null.")


class _Reader:
    """Makes sure that what was sent is JSON that can travel; gives the same objects back where it is."""

    def __init__(self) -> None:
        self._values = 0
        self._characters = 0

    def mapping(self, value: Mapping[Any, Any], path: str = "", depth: int = 0) -> dict[str, Any]:
        """An object whose names are text."""
        self._enter(path, depth, len(value))
        out: dict[str, Any] = {}
        same = type(value) is dict
        for name, inner in value.items():
            if not isinstance(name, str):
                raise _Bad(path, f"{_place(path)} holds the name {name!r}; names are text.")
            kept = self._text(name, path)
            clean = self.value(inner, f"{path}.{kept}" if path else kept, depth + 1)
            same = same and clean is inner and kept is name
            out[kept] = clean
        return value if same else out  # type: ignore[return-value]

    def value(self, value: object, path: str, depth: int) -> Any:
        """Any value."""
        kind = type(value)
        if kind is str:
            return self._text(value, path)  # type: ignore[arg-type]
        if value is None or kind is bool:
            return value
        if isinstance(value, int):
            if not -(2**63) <= value < 2**64:
                raise _Bad(path, f"{_place(path)} is a whole number that is too large; send it as text.")
            return value if kind is int or kind is bool else int(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                raise _Bad(path, f"{_place(path)} must be a finite number; {value} was given.")
            return value if kind is float else float(value)
        if isinstance(value, Mapping):
            return self.mapping(value, path, depth)
        if isinstance(value, list | tuple):
            return self._list(value, path, depth)
        if isinstance(value, str):
            return self._text(str.__str__(value), path)
        raise _Bad(path, f"{_place(path)} is no JSON value but {type(value).__name__!r}.")

    def _list(self, value: list[Any] | tuple[Any, ...], path: str, depth: int) -> list[Any]:
        self._enter(path, depth, len(value))
        out = [self.value(inner, f"{path}[{number}]", depth + 1) for number, inner in enumerate(value)]
        same = type(value) is list and all(new is old for new, old in zip(out, value, strict=True))
        return value if same else out  # type: ignore[return-value]

    def _enter(self, path: str, depth: int, length: int) -> None:
        self._values += length
        if depth > DEPTH:
            raise _Bad(path[:80], f"The arguments nest more than {DEPTH} deep.")
        if self._values > VALUES:
            raise _Bad("", f"The arguments hold more than {VALUES:,} values.")

    def _text(self, text: str, path: str) -> str:
        self._characters += len(text)
        if self._characters > LARGEST:
            raise _Bad("", f"The arguments have more than {LARGEST:,} characters.")
        if text.isascii() or not _SURROGATE.search(text):
            return text
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _place(path: str) -> str:
    return f"The argument {path[:80]!r}" if path else "The arguments object"
