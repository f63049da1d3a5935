"""Says of each sentence whether the embedded model did the right thing, asked back, declined or did the wrong thing."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from etui.agent.embedded import EmbeddedModel
from etui.agent.model import Ask, ToolView
from etui.store.chats import Message

NOW = datetime(2026, 3, 31, 15, 0, tzinfo=ZoneInfo("Europe/Berlin"))


def ask(tools: tuple[ToolView, ...], *messages: Message) -> Ask:
    """A request with this chat, at `NOW`."""
    return Ask(messages=messages, tools=tools, now=NOW, timezone="Europe/Berlin", chat="c")


def said(text: str) -> Message:
    """A person's message."""
    return Message(chat="c", role="user", text=text)


def _even(value: object) -> object:
    if isinstance(value, str):
        words = re.findall(r"[\w.]+", value.lower().replace("'", ""))
        return " ".join(words[1:] if words[:1] in (["a"], ["an"], ["the"], ["some"]) else words)
    if isinstance(value, list):
        return [_even(one) for one in value]
    return value


def _worth(expression: object) -> float:
    if not isinstance(expression, str):
        return float(str(expression))
    assert re.fullmatch(r"[\d\s.()+*/%-]+", expression), expression
    return float(eval(expression, {"__builtins__": {}}))


def same(name: str, wanted: object, given: object) -> bool:
    """Compared as the cases say: without case, punctuation and a leading article; an expression by its value."""
    if name == "expression":
        return abs(_worth(wanted) - _worth(given)) < 1e-6
    if isinstance(wanted, list) and not isinstance(given, list):
        return any(_even(one) == _even(given) for one in wanted)
    return _even(wanted) == _even(given)


def judge(model: EmbeddedModel, tools: tuple[ToolView, ...], case: dict) -> tuple[str, str]:
    """`right`, `asked`, `declined` or `wrong`, and what happened. A risky call counts when its repeat holds the right call."""
    reply = model.answer(ask(tools, said(case["text"])))
    calls = list(reply.calls)
    if reply.open and reply.open.kind == "confirm":
        calls = reply.open.calls
    happened = "; ".join(f"{call.tool}({call.arguments})" for call in calls) or reply.text.split("\n")[0][:120]
    wanted = case["calls"] if "calls" in case else [case] if case["tool"] else []
    if not calls:
        if case.get("asks"):
            return ("right" if reply.open else "declined"), happened
        if not wanted:
            return ("asked" if reply.open else "right"), happened
        return ("asked" if reply.open else "declined"), happened
    if len(calls) != len(wanted):
        return "wrong", happened
    for call, want in zip(calls, wanted, strict=True):
        given = set(call.arguments) - set(want.get("may", []))
        fits = call.tool == want["tool"] and given == set(want["arguments"])
        if not fits or not all(same(name, value, call.arguments[name]) for name, value in want["arguments"].items()):
            return "wrong", happened
    return "right", happened
