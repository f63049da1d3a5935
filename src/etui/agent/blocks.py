"""The ways in which models write a call into their text, and how each is read.

Above: `sieve` finds where a block begins and ends. Below: `odd`, which reads JSON strictly. It refuses to know: where the
block stood, and whether the tool exists; a value is only typed by the schema of an offered tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import msgspec

from etui.agent.odd import Broken, read_front, read_json

_TAGS = r"tool_calls?|toolcalls?|function_calls?|functioncalls?|tool_use|tool_requests?|tools"
OPENER = "|".join(
    (
        rf"<(?P<tag>(?:\w+:)?(?:{_TAGS}))\s*>",
        r"<\|(?P<section>tool_calls_section)_begin\|>",
        r"<\|(?P<bar>tool_calls?)(?:_begin)?\|>",
        r"<[｜|](?P<deep>tool[▁_]calls?[▁_]begin)[｜|]>",
        r"<\|(?P<python>python_tag)\|>",
        r"<(?P<function>function)\s*=\s*[\"']?[\w.:/-]+[\"']?\s*>",
        r"<(?P<invoke>(?:\w+:)?invoke)\s+name\s*=\s*[\"'][^\"'<>]+[\"']\s*>",
        r"\[(?P<request>TOOL_REQUEST|TOOL_CALLS?)\]",
    )
)
"""Every beginning of a block, each with a group of its own."""

_NAME = re.compile(r"\s*(?:functions?[.:])?([A-Za-z_][\w./-]*(?::(?!\d)[\w./-]+)*)(?::\d+)?")
_FENCE = re.compile(r"\A\s*```\w*\s*|\s*```\s*\Z")
_FUNCTION = re.compile(r"<function\s*=\s*[\"']?([\w.:/-]+)[\"']?\s*>(.*?)(?:</function>|(?=<function\s*=)|\Z)", re.S | re.I)
_PARAMETER = re.compile(
    r"<parameter\s*=\s*[\"']?([\w.:/-]+)[\"']?\s*>\n?(.*?)\n?(?:</parameter>|(?=<parameter\s*=)|\Z)", re.S | re.I
)
_INVOKE = re.compile(r"<(?:\w+:)?invoke\s+name\s*=\s*[\"']([^\"'<>]+)[\"']\s*>(.*?)(?:</(?:\w+:)?invoke>|\Z)", re.S | re.I)
_INVOKED = re.compile(
    r"<(?:\w+:)?parameter\s+name\s*=\s*[\"']([^\"'<>]+)[\"'][^<>]*>(.*?)(?:</(?:\w+:)?parameter>|\Z)", re.S | re.I
)
_ARG = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)", re.S | re.I)
_BETWEEN = re.compile(r"\s*(?:\[ARGS\]|<\|tool_call_argument_begin\|>|<[｜|]tool[▁_]sep[｜|]>|\n|(?=[{`]))\s*", re.I)
_SPLIT = re.compile(
    r"<\|/?tool_calls?(?:_begin|_end)?\|>|<[｜|]tool[▁_]calls?[▁_](?:begin|end)[｜|]>|</?(?:\w+:)?(?:tool_call|toolcall|function_call)\s*>|"
    r"\[TOOL_CALLS?\]|\[/?TOOL_REQUEST\]",
    re.I,
)


class Found(msgspec.Struct, frozen=True):
    """A call that stood in the text."""

    name: str
    arguments: object
    """An object, or the raw text where it could not be read."""


class Kind(msgspec.Struct, frozen=True):
    """One way of writing, with the pattern that ends it."""

    group: str
    end: str
    """`{}` stands for what the opener's group matched; an empty pattern means the end of the answer."""

    def closer(self, match: re.Match[str]) -> re.Pattern[str]:
        """The pattern that ends the block which `match` began."""
        return re.compile(self.end.replace("{}", re.escape(match[self.group])) or r"(?!)", re.IGNORECASE)


_KINDS = (
    Kind("tag", r"</{}\s*>"),
    Kind("section", r"<\|{}_end\|>"),
    Kind("bar", r"<\|(?:/{}|{}_end)\|>"),
    Kind("deep", r"<[｜|]tool[▁_]calls[▁_]end[｜|]>"),
    Kind("python", r"<\|e(?:om|ot)_id\|>"),
    Kind("function", r"</function>"),
    Kind("invoke", r"</{}\s*>"),
    Kind("request", r"\[/?END_TOOL_REQUEST\]|\[/TOOL_(?:REQUEST|CALLS?)\]"),
)


def kind_of(match: re.Match[str]) -> Kind | None:
    """The way of writing that an opener belongs to, if any."""
    return next((kind for kind in _KINDS if match[kind.group]), None)


def read(match: re.Match[str], body: str, offered: Mapping[str, Mapping[str, object]]) -> list[Found]:
    """The calls of a block; empty if it cannot be read at all."""
    opener = match[0] if match["function"] or match["invoke"] else ""
    return list(_calls(opener + body, offered))


def bare(text: str, offered: Mapping[str, Mapping[str, object]]) -> Found | None:
    """The call that a whole answer is: one object that holds an offered name and arguments, and nothing else."""
    try:
        value = read_json(text.strip())
    except Broken:
        return None
    if not isinstance(value, dict) or set(value) - {"name", "arguments", "parameters", "type", "id", "function"}:
        return None
    found = _named(value)
    return found if found and found.name in offered and isinstance(found.arguments, dict) else None


def _calls(body: str, offered: Mapping[str, Mapping[str, object]]) -> Iterator[Found]:
    if invoked := _INVOKE.findall(body):
        for name, inner in invoked:
            yield Found(name=name, arguments=_typed(name, _INVOKED.findall(inner), offered))
        return
    if functions := _FUNCTION.findall(body):
        for name, inner in functions:
            yield Found(name=name, arguments=_function(name, inner, offered))
        return
    for piece in _SPLIT.split(body):
        if piece.strip():
            yield from _piece(piece, offered)


def _function(name: str, inner: str, offered: Mapping[str, Mapping[str, object]]) -> object:
    if pairs := _PARAMETER.findall(inner):
        return _typed(name, pairs, offered)
    return _object(inner)


def _object(text: str) -> object:
    """The object that `text` is, `{}` for nothing, or the text itself."""
    inner = _FENCE.sub("", text).strip()
    if not inner:
        return {}
    try:
        value = read_json(inner)
    except Broken:
        return inner
    return value if isinstance(value, dict) else inner


def _piece(piece: str, offered: Mapping[str, Mapping[str, object]]) -> Iterator[Found]:
    text = _FENCE.sub("", piece).strip()
    if text[:1] in {"{", "["}:
        yield from _listed(text)
        return
    text = re.sub(r"\Afunction\s*<[｜|]tool[▁_]sep[｜|]>", "", text)
    match = _NAME.match(text)
    if match is None:
        return
    if pairs := _ARG.findall(text, match.end()):
        yield Found(name=match[1], arguments=_typed(match[1], pairs, offered))
    elif between := _BETWEEN.match(text, match.end()):
        yield Found(name=match[1], arguments=_object(text[between.end() :]))
    elif match.end() == len(text) and match[1] in offered:
        yield Found(name=match[1], arguments={})


def _listed(text: str) -> Iterator[Found]:
    """Objects one behind another, or in a list; a half one still tells its name, so that the model can be told."""
    at = 0
    while at < len(text):
        try:
            value, at = read_front(text, at)
        except Broken:
            if half := re.search(r'"(?:name|tool|function|tool_name)"\s*:\s*"([^"\\]+)"', text[at:]):
                yield Found(name=half[1], arguments=text[at:])
            return
        for one in value if isinstance(value, list) else [value]:
            if found := _named(one):
                yield found
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1


def _named(value: object) -> Found | None:
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        return _named(inner)
    name = value.get("name") or value.get("tool_name") or value.get("tool") or inner
    if not isinstance(name, str) or not name.strip():
        return None
    for key in ("arguments", "parameters", "args", "input"):
        if key in value:
            arguments = value[key]
            return Found(name=name.strip(), arguments=_object(arguments) if isinstance(arguments, str) else arguments or {})
    return Found(name=name.strip(), arguments={})


def _typed(name: str, pairs: list[tuple[str, str]], offered: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Values from text: each read as JSON where the tool's schema wants anything but text."""
    properties = offered.get(name, {}).get("properties")
    known = properties if isinstance(properties, dict) else {}
    return {key.strip(): _value(text, known.get(key.strip())) for key, text in pairs}


def _value(text: str, schema: object) -> object:
    wanted = schema.get("type") if isinstance(schema, dict) else None
    if wanted is None or wanted == "string" or (isinstance(wanted, list) and "string" in wanted):
        return text
    try:
        return read_json(text.strip())
    except Broken:
        return text.strip()


def as_text(arguments: object) -> str:
    """Arguments as JSON text; text stays as it is."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
