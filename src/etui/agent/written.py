"""A call that stands in text as an object, or as Python writes one: which tool it names, and what it gives.

Above: `blocks` and `sieve`, which find where such text stands. Below: `odd` and `loose`. It refuses to know: tags, and
whether the tool exists, but where a whole answer is taken for a call: that needs the exact name of an offered one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from etui.agent.loose import Broken, Spoken, loose_front, spoken
from etui.agent.odd import FENCE, arguments_of, read_front

Offered = Mapping[str, Mapping[str, object]]
"""The schema of each tool that may be called, by its exact name."""
_NAMES = ("name", "tool_name", "tool", "function_name", "recipient_name", "action", "function")
_GIVEN = ("arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "action_input")
_ABOUT = frozenset({*_NAMES, *_GIVEN, "type", "id", "call_id", "tool_call_id", "index", "thought"})
_WRAPS = ("tool_calls", "tool_call", "function_call", "functionCall", "tool_uses", "calls")
"""Keys of an object: the tool's name, its arguments, what else stands there, and what holds the calls."""


class Found(msgspec.Struct, frozen=True):
    """A call that stood in the text."""

    name: str
    arguments: object
    """An object, or the raw text where it could not be read."""


def bare(text: str, offered: Offered) -> list[Found]:
    """The calls that a whole answer is: objects of an offered name and arguments, or Python's calls, and nothing else.

    One whose object is cut off is told of with the text as it came.
    """
    inner = _STRAY.sub("", text.strip())
    try:
        if inner[:1] == "{" or re.match(r"\[\s*\{", inner):
            found = [one for value in values(inner) for one in named(value, strict=True)]
        else:
            found = spoken_in(inner, offered, strict=True)
    except Broken:
        half = list(_half(inner)) if _CUT.match(inner) and not _whole(inner) else []
        return [one for one in half if one.name in offered]
    return found if all(one.name in offered and isinstance(one.arguments, dict) for one in found) else []


_CUT = re.compile(r"\{\s*\"name\"\s*:\s*\"[^\"\\]+\"\s*,\s*\"(?:arguments|parameters)\"\s*:\s*\{")


def _whole(text: str) -> bool:
    """True if there is a whole value in front."""
    try:
        _front(text, 0)
    except Broken:
        return False
    return True


_STRAY = re.compile(r"\Afunctools(?=\[)|\s*(?:</tool_call>|<\|(?:im_end|eot_id|eom_id)\|>)\s*\Z")


def may_be_bare(text: str, offered: Iterable[str]) -> bool:
    """True while these first words of an answer may be the beginning of one that `bare` reads."""
    inner = text.lstrip()
    if len(inner) < 10 and "functools["[: len(inner)] == inner:
        return True
    inner = inner.removeprefix("functools")
    listed = inner[:1] == "["
    inner = inner[1:].lstrip() if listed else inner
    if not inner:
        return True
    if inner[0] == "{":
        return not _other(inner, offered) and bool(_KEY.match(inner) or _HALF_KEY.fullmatch(inner))
    called = [f"{name}(" for name in offered]
    return any(inner.startswith(one) or one.startswith(inner) for one in called) and not _TOLD.search(
        _TEXTS.sub("", inner[:500])
    )


def _other(inner: str, offered: Iterable[str]) -> bool:
    """True if the first thing that an object says shows that it is no call."""
    found = _FIRST.match(inner)
    if found is None:
        return False
    if found["key"] == "type":
        return found["value"] not in ("function", "tool_use", "tool_call", "function_call")
    return own_name(found["value"].strip()) not in set(offered)


_KEY = re.compile(r"\{\s*[\"'](?:" + "|".join((*_NAMES, *_GIVEN, *_WRAPS, "type", "id")) + r")[\"']")
_FIRST = re.compile(r"\{\s*([\"'])(?P<key>" + "|".join((*_NAMES, "type")) + r")\1\s*:\s*([\"'])(?P<value>[^\"'\\]*)\3")
_TOLD = re.compile(r"\)[ \t]+\w+[ \t,.]")
"""Words behind a call, in the line of which it is only the beginning."""
_TEXTS = re.compile(r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?", re.DOTALL)
_HALF_KEY = re.compile(r"\{\s*(?:[\"']\w{0,14})?")


def object_in(text: str) -> object:
    """The object that `text` is, `{}` for nothing, or the text itself."""
    inner = FENCE.sub("", text).strip()
    value = arguments_of(inner)
    return value if isinstance(value, dict) else inner


def spoken_in(text: str, offered: Offered, strict: bool = False) -> list[Found]:
    """Calls as Python writes them; places are named by the tool's schema. Raises Broken, if `strict` also for unknown names."""
    return [Found(name=own_name(one.name), arguments=_placed(one, offered, strict)) for one in spoken(text)]


def _placed(call: Spoken, offered: Offered, strict: bool) -> dict[str, object]:
    properties = offered.get(own_name(call.name), {}).get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    if strict and set(call.named) - set(names):
        raise Broken("These are no arguments of the tool.")
    if len(call.places) == 1 and isinstance(call.places[0], dict) and not call.named:
        return call.places[0]
    free = [name for name in names if name not in call.named]
    if len(call.places) > len(free):
        raise Broken("There are more values than arguments.")
    return {**dict(zip(free, call.places, strict=False)), **call.named}


def own_name(name: str) -> str:
    """The name without the space in which some models believe their tools to be."""
    return re.sub(r"\A(?:functions|default_api|tools?)[.:]|\.call\Z", "", name)


def values(text: str) -> list[object]:
    """Values one behind another; raises Broken."""
    found: list[object] = []
    at = 0
    while at < len(text):
        value, at = _front(text, at)
        found.append(value)
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1
    return found


def _front(text: str, at: int) -> tuple[object, int]:
    try:
        return read_front(text, at)
    except Broken:
        return loose_front(text, at)


def listed(text: str) -> Iterator[Found]:
    """Objects one behind another, or in a list; a half one still tells its name, so that the model can be told."""
    if text.startswith("{{") and text.endswith("}}"):
        text = text[1:-1]
    at = 0
    while at < len(text):
        try:
            value, at = _front(text, at)
        except Broken:
            yield from _half(text[at:])
            return
        yield from named(value)
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1


def _half(text: str) -> Iterator[Found]:
    """A call whose object does not end: its arguments where they do, and nothing is missing behind them but the end."""
    name = re.search(r"[\"'](?:name|tool|function|tool_name)[\"']\s*:\s*[\"']([^\"'\\]+)[\"']", text)
    if name is None:
        return
    arguments: object = text
    if given := re.compile(r"\s*,\s*[\"'](?:arguments|parameters|args|input)[\"']\s*:\s*(?=\{)").match(text, name.end()):
        try:
            value, end = _front(text, given.end())
            arguments = value if not text[end:].strip("}] \t\r\n") else text
        except Broken:
            arguments = text
    yield Found(name=name[1], arguments=arguments)


def named(value: object, strict: bool = False, depth: int = 0) -> Iterator[Found]:
    """The calls that a value is; `strict` takes only objects that give arguments, and nothing else."""
    if depth > 4 or not isinstance(value, dict | list):
        if strict:
            raise Broken("This is no call.")
        return
    if isinstance(value, list):
        for one in value:
            yield from named(one, strict, depth + 1)
        return
    wrapped = next((value[key] for key in _WRAPS if isinstance(value.get(key), dict | list)), None)
    inner = value.get("function")
    if wrapped is not None or isinstance(inner, dict):
        yield from named(inner if wrapped is None else wrapped, strict, depth + 1)
        return
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str) and value[key].strip()), None)
    if isinstance(name, str) and not (strict and (set(value) - _ABOUT or not set(value) & set(_GIVEN))):
        name = own_name(name.strip()) if "recipient_name" in value else name.strip()
        yield Found(name=name, arguments=_arguments(value))
    elif strict:
        raise Broken("This is no call.")


def several(arguments: object) -> list[Found]:
    """The calls that the arguments of one are, where a model calls what runs several at once."""
    return list(named(arguments)) if isinstance(arguments, dict) and isinstance(arguments.get("tool_uses"), list) else []


def unwrapped(tool: str, arguments: object, schema: Mapping[str, object]) -> object:
    """The arguments without what a model wrapped them into: the call's own form, none of which the tool takes."""
    properties = schema.get("properties")
    if not isinstance(arguments, dict) or not isinstance(properties, dict):
        return arguments
    if not properties or set(arguments) & set(properties):
        return arguments
    around = set(arguments) - {key for key in _NAMES if arguments.get(key) == tool}
    inner = arguments[min(around)] if len(around) == 1 and around <= set(_GIVEN) else None
    return inner if isinstance(inner, dict) else arguments


def _arguments(value: dict[str, object]) -> object:
    """The arguments in the object of a call; where they stand beside its name, all that is not about the call."""
    for key in _GIVEN:
        if key in value:
            arguments = value[key]
            return object_in(arguments) if isinstance(arguments, str) else arguments or {}
    return {key: one for key, one in value.items() if key not in _ABOUT}
