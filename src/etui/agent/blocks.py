"""The ways in which models write a call into their text, and how each is read.

Above: `sieve` asks where a block begins and ends. Below: `written`, which reads objects and Python's calls. It refuses to
know: where the block stood, and whether the tool exists; a value is only typed by the schema of an offered tool.
A new dialect is a beginning in `OPENER`, its end in `_KINDS`, and a row of `CALLS` in the test of `sieve`; only where it writes
neither objects, nor Python's calls, nor tags that are known, it is a branch of `_calls` too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from etui.agent.loose import Broken
from etui.agent.odd import FENCE, read_front, read_json
from etui.agent.written import Found, Offered, listed, named, object_in, own_name, spoken_in, values

_PRE = r"(?:\w+:|[｜|]DSML[｜|])?"
"""What stands before the names of tags in some families."""
_TAGS = r"(?:\w+_)?tool_calls?|toolcalls?|function_calls?|functioncalls?|tool_use|tool_requests?|tools"
_ATTRIBUTES = r"(?:[ \t]+[\w-]+[ \t]*=[ \t]*(?:\"[^\"<>]*\"|'[^'<>]*'))*"
OPENER = "|".join(
    (
        rf"<(?P<tag>{_PRE}(?:{_TAGS})){_ATTRIBUTES}[ \t]*>",
        r"<\|(?P<section>tool_calls_section)_begin\|>",
        r"<\|(?P<bar>tool_calls?)(?:_begin|_start)?\|>",
        r"<\|(?P<action>START_ACTION|action_start|tools_prefix)\|>(?:[ \t]*<\|plugin\|>)?",
        r"<[｜|](?P<deep>tool[▁_]calls?[▁_]begin)[｜|]>",
        r"<\|(?P<python>python_tag)\|>",
        r"<(?P<function>function)(?:[ \t]*=[ \t]*|[ \t]+name[ \t]*=[ \t]*)[\"']?[\w.:/-]+[\"']?[ \t]*(?:>|(?=\{))",
        rf"<(?P<invoke>{_PRE}invoke)[ \t]+name[ \t]*=[ \t]*[\"'][^\"'<>]+[\"'][ \t]*>",
        r"\[(?P<request>TOOL_REQUEST|TOOL_CALLS?)\]",
        r"(?:<\|start\|>\w*\s+to=(?P<sender>[\w.:/-]+)\s*)?<\|channel\|>\s*\w+(?:\s+to=(?P<recipient>[\w.:/-]+))?"
        r"(?(sender)|(?(recipient)|(?!)))[^<]{0,80}(?:<\|constrain\|>[^<]{0,80})?<\|message\|>",
    )
)
"""Every beginning of a block, each with a group of its own."""
CALLING = r"tool_calls?|tool_code|tool_use|function_calls?"
"""Words behind a fence that say that the code is a call, and no example."""

_NAME = re.compile(r"\s*(?:functions?[.:])?([A-Za-z_][\w./-]*(?::(?!\d)[\w./-]+)*)(?::\d+)?")
_FUNCTION = re.compile(
    r"<function(?:\s*=\s*|\s+name\s*=\s*)[\"']?([\w.:/-]+)[\"']?\s*(?:>|(?=\{))(.*?)(?:</?function>|(?=<function\s*=)|\Z)",
    re.S | re.I,
)
_PARAMETER = re.compile(
    r"<parameter\s*=\s*[\"']?([\w.:/-]+)[\"']?\s*>\n?(.*?)\n?(?:</parameter>|(?=<parameter\s*=)|\Z)", re.S | re.I
)
_INVOKE = re.compile(rf"<{_PRE}invoke\s+name\s*=\s*[\"']([^\"'<>]+)[\"']\s*>(.*?)(?:</{_PRE}invoke>|\Z)", re.S | re.I)
_INVOKED = re.compile(rf"<{_PRE}parameter\s+name\s*=\s*[\"']([^\"'<>]+)[\"'][^<>]*>(.*?)(?:</{_PRE}parameter>|\Z)", re.S | re.I)
_TAGGED = re.compile(
    r"<(tool_name|name)>\s*([\w.:/-]+)\s*</\1>\s*(?:<(parameters|arguments|args|input)>(.*?)</\3>)?", re.S | re.I
)
_ELEMENT = re.compile(r"<([\w-]+)>")
_ARG = re.compile(r"<arg_key>([^<]*)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)", re.S | re.I)
_BETWEEN = re.compile(
    r"\s*(?:\[CALL_ID\][\w-]*)?\s*(?:\[ARGS\]|<\|tool_call_argument_begin\|>|<[｜|]tool[▁_]sep[｜|]>|\n|(?=[{`]))\s*", re.I
)
_SPLIT = re.compile(
    rf"<\|/?tool_calls?(?:_begin|_start|_end)?\|>|<[｜|]tool[▁_]calls?[▁_](?:begin|end)[｜|]>|"
    rf"</?{_PRE}(?:tool_call|toolcall|function_call)\s*>|\[TOOL_CALLS?\]|\[/?TOOL_REQUEST\]|<\|im_end\|>",
    re.I,
)


_MOST = 64
"""Elements of a block that are read; more are no call, and could take long."""
_BEGINS = re.compile(r"\s*(?:```\w*\s*)?(?:[{\[<]|[A-Za-z_][\w.:/-]{0,127}\s*[({\[<`])")
_MAY_BEGIN = re.compile(r"\s*(?:`{0,2}|```\w*\s*)(?:[A-Za-z_][\w.:/-]{0,127}\s*)?")
_GIVES = re.compile(r"\s*(?:```\w*\s*)?[{<]")
_MAY_GIVE = re.compile(r"\s*(?:`{0,2}|```\w*\s*)")


class Kind(msgspec.Struct, frozen=True):
    """One way of writing, with the pattern that ends it."""

    group: str
    end: str
    """`{}` stands for what the opener's group matched; an empty pattern means the end of the answer."""

    def closer(self, match: re.Match[str]) -> re.Pattern[str]:
        """The pattern that ends the block which `match` began."""
        return re.compile(self.end.replace("{}", re.escape(match[self.group])) or r"(?!)", re.IGNORECASE)


_MESSAGE_END = r"<\|(?:call|end|return)\|>|(?=<\|start\|>)"
_KINDS = (
    Kind("tag", r"</{}\s*>"),
    Kind("section", r"<\|{}_end\|>"),
    Kind("bar", r"<\|(?:/{}|{}_end)\|>"),
    Kind("action", r"<\|(?:END_ACTION|action_end|tools_suffix)\|>"),
    Kind("deep", r"<[｜|]tool[▁_]calls[▁_]end[｜|]>"),
    Kind("python", r"<\|e(?:om|ot)_id\|>"),
    Kind("function", r"</?function>"),
    Kind("invoke", r"</{}\s*>"),
    Kind("request", r"\[/?END_TOOL_REQUEST\]|\[/TOOL_(?:REQUEST|CALLS?)\]"),
    Kind("sender", _MESSAGE_END),
    Kind("recipient", _MESSAGE_END),
)


def kind_of(match: re.Match[str]) -> Kind | None:
    """The way of writing that an opener belongs to, if any."""
    return next((kind for kind in _KINDS if match[kind.group]), None)


def begins(match: re.Match[str], text: str, final: bool) -> bool | None:
    """Whether a call begins behind an opener, and not just more words; None until that is certain."""
    if match["recipient"] or match["sender"]:
        return True
    sure, maybe = (_GIVES, _MAY_GIVE) if match["function"] or match["invoke"] else (_BEGINS, _MAY_BEGIN)
    if sure.match(text, match.end()):
        return True
    if not maybe.fullmatch(text, match.end()):
        return False
    return True if final else None


def common(match: re.Match[str]) -> bool:
    """True for marks that documents of other kinds have too, so that they are a call's only with an offered name."""
    plain = (match["tag"] or "").casefold() == "tools"
    return plain or bool(match["invoke"]) or (bool(match["function"]) and "=" not in match[0].partition("name")[0])


def closed(match: re.Match[str], kind: Kind, text: str, final: bool) -> re.Match[str] | None:
    """The end of the block that `match` began, if it has come; what stands in a text of its JSON is none."""
    closer = kind.closer(match)
    end = closer.search(text, match.end())
    begins = _JSON.match(text, match.end())
    if end is None or begins is None:
        return end
    try:
        return closer.search(text, read_front(text, begins.end())[1])
    except Broken:
        return None if '"' in _TEXTS.sub("", text[begins.end() : end.start()]) and not final else end


_JSON = re.compile(r"\s*(?=[{\[])")
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def read(match: re.Match[str], body: str, offered: Offered) -> list[Found]:
    """The calls of a block; empty if it cannot be read at all."""
    if to := match["recipient"] or match["sender"]:
        return [Found(name=own_name(to), arguments=object_in(body))]
    attribute = re.search(r"\sname\s*=\s*[\"']([^\"']+)", match[0]) if match["tag"] else None
    if attribute:
        return [Found(name=attribute[1].strip(), arguments=object_in(body))]
    opener = match[0] if match["function"] or match["invoke"] else ""
    return list(_calls(opener + body, offered))


def fenced(body: str, offered: Offered) -> list[Found]:
    """The calls that code holds which calls itself one; none unless all are of offered tools and can be read."""
    found = list(_calls(body, offered))
    return found if all(one.name in offered and isinstance(one.arguments, dict) for one in found) else []


def _calls(body: str, offered: Offered) -> Iterator[Found]:
    if invoked := _some(_INVOKE, body):
        for name, inner in invoked:
            yield Found(name=name, arguments=_typed(name, _some(_INVOKED, inner), offered))
        return
    if functions := _some(_FUNCTION, body):
        for name, inner in functions:
            yield Found(name=name, arguments=_function(name, inner, offered))
        return
    if tagged := _some(_TAGGED, body):
        for _, name, _, inner in tagged:
            yield Found(name=name, arguments=_elements(name, inner, offered))
        return
    inner = FENCE.sub("", body).strip()
    if inner[:1] in ("{", "["):
        try:
            whole = [one for value in values(inner) for one in named(value)]
        except Broken:
            whole = []
        if whole:
            yield from whole
            return
    for piece in _SPLIT.split(body):
        if piece.strip():
            yield from _piece(piece, offered)


def _function(name: str, inner: str, offered: Offered) -> object:
    if pairs := _some(_PARAMETER, inner):
        return _typed(name, pairs, offered)
    return object_in(inner)


def _elements(name: str, inner: str, offered: Offered) -> object:
    pairs: list[tuple[str, str]] = []
    at = 0
    for opener in islice(_ELEMENT.finditer(inner), _MOST):
        end = inner.find(f"</{opener[1]}>", opener.end())
        if opener.start() >= at and end >= 0:
            pairs.append((opener[1], inner[opener.end() : end]))
            at = end
    return _typed(name, pairs, offered) if pairs else object_in(inner)


def _some(pattern: re.Pattern[str], text: str, start: int = 0) -> list[tuple[str, ...]]:
    return [found.groups("") for found in islice(pattern.finditer(text, start), _MOST)]


def _piece(piece: str, offered: Offered) -> Iterator[Found]:
    text = FENCE.sub("", piece).strip()
    if text[:1] == "{" or re.match(r"\[\s*(?:\{|\])", text):
        yield from listed(text)
        return
    try:
        yield from spoken_in(text, offered)
        return
    except Broken:
        pass
    text = re.sub(r"\Afunction\s*<[｜|]tool[▁_]sep[｜|]>", "", text)
    match = _NAME.match(text)
    if match is None:
        return
    if pairs := _ARG.findall(text, match.end()):
        yield Found(name=match[1], arguments=_typed(match[1], pairs, offered))
    elif between := _BETWEEN.match(text, match.end()):
        yield Found(name=match[1], arguments=object_in(text[between.end() :]))
    elif match.end() == len(text) and match[1] in offered:
        yield Found(name=match[1], arguments={})


def _typed(name: str, pairs: Iterable[tuple[str, ...]], offered: Offered) -> dict[str, object]:
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
