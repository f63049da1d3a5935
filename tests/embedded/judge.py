"""Says of each sentence whether the embedded model did the right thing, asked back, declined or did the wrong thing."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec

from etui.agent.embedded import EmbeddedModel
from etui.agent.embedded.model import Reply
from etui.agent.model import Ask, ToolView
from etui.store.chats import Message, ToolCall

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
        return any(abs(_worth(one) - _worth(given)) < 1e-6 for one in (wanted if isinstance(wanted, list) else [wanted]))
    if isinstance(wanted, list) and not isinstance(given, list):
        return any(_even(one) == _even(given) for one in wanted)
    return _even(wanted) == _even(given)


def replied(model: EmbeddedModel, tools: tuple[ToolView, ...], case: dict) -> Reply:
    """What the model makes of a case's sentence, after the sentences that came `before` it in the chat."""
    chat: list[Message] = []
    for sentence in case.get("before", []):
        chat.append(said(sentence))
        reply = model.answer(ask(tools, *chat))
        calls = tuple(ToolCall(f"c{len(chat)}{at}", call.tool, call.arguments) for at, call in enumerate(reply.calls))
        meta = {"open": msgspec.to_builtins(reply.open)} if reply.open else {}
        chat.append(Message(chat="c", role="assistant", text=reply.text, calls=calls, meta=meta))
        if calls:
            chat += [Message(chat="c", role="tool", call=call.id, tool=call.tool, text="Done.") for call in calls]
            chat.append(Message(chat="c", role="assistant", text="Done."))
    return model.answer(ask(tools, *chat, said(case["text"])))


def wanted(case: dict) -> list[dict]:
    """The calls that are right for a case."""
    return case["calls"] if "calls" in case else [case] if case["tool"] else []


def tool_right(case: dict, reply: Reply) -> bool:
    """True if the right tool was chosen, called or asked about; of idle talk, if none was called."""
    names = {want["tool"] for want in wanted(case)}
    if not names:
        return not reply.calls
    chosen = {call.tool for call in reply.calls} or ({call.tool for call in reply.open.calls} if reply.open else set())
    return chosen == names


def verdict(case: dict, reply: Reply) -> tuple[str, str]:
    """`right`, `asked`, `declined` or `wrong`, and what happened. A risky call counts when its repeat holds the right call."""
    calls = list(reply.calls)
    if reply.open and reply.open.kind == "confirm":
        calls = reply.open.calls
    happened = "; ".join(f"{call.tool}({call.arguments})" for call in calls) or reply.text.split("\n")[0][:120]
    right = wanted(case)
    if not calls:
        if case.get("asks"):
            return ("right" if reply.open else "declined"), happened
        if not right:
            return ("asked" if reply.open and not case.get("ask_ok") else "right"), happened
        return ("asked" if reply.open else "declined"), happened
    if len(calls) != len(right) or case.get("asks"):
        return "wrong", happened
    for call, want in zip(calls, right, strict=True):
        given = set(call.arguments) - set(want.get("may", []))
        fits = call.tool == want["tool"] and given == set(want["arguments"])
        if not fits or not all(same(name, value, call.arguments[name]) for name, value in want["arguments"].items()):
            return "wrong", happened
    return "right", happened


def judge(model: EmbeddedModel, tools: tuple[ToolView, ...], case: dict) -> tuple[str, str]:
    """The verdict on a case, and what happened."""
    return verdict(case, replied(model, tools, case))
