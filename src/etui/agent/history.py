"""The stored chat as a model may be given it: well-formed, whatever is stored, and within a budget.

Above: `chat` and `direct` write it in a provider's words. Below: the store's messages and `odd`. It refuses to know:
providers. A reply carries the results of its own calls, so that no call without a result, and no result without a call,
can leave here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from etui.agent.odd import arguments_of
from etui.store.chats import Message, ToolCall

NO_RESULT = "No result was recorded for this call."
BEGINNING = "(The conversation begins.)"
_ODD = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_ID, _LONGEST_NAME = 36, 64
"""What every provider takes for the id of a call and the name of its tool, which a model may have made up."""
BUDGET = 240_000
"""Characters of a chat that a model is given."""


class Picture(msgspec.Struct, frozen=True):
    """An image's bytes, as they are kept."""

    media_type: str
    data: bytes


Pictures = Callable[[str], Picture | None]
"""From an image's id in the store to its bytes."""


def no_pictures(image: str) -> Picture | None:
    """For a model that is to see none."""
    return None


class Said(msgspec.Struct, frozen=True):
    """What came from the person, or a notice that everybody saw."""

    text: str
    images: tuple[str, ...] = ()


class Called(msgspec.Struct, frozen=True):
    """A call together with its result."""

    id: str
    name: str
    arguments: dict[str, object]
    result: str
    ok: bool = True
    images: tuple[str, ...] = ()


class Reply(msgspec.Struct, frozen=True):
    """What a model answered: words, calls, or both."""

    text: str
    calls: tuple[Called, ...] = ()


Entry = Said | Reply


def replay(messages: Iterable[Message], budget: int = BUDGET) -> list[Entry]:
    """The chat, oldest first, beginning with the person; turns that do not fit into `budget` characters are left out whole."""
    entries = _merged(_entries(list(messages)))
    turns = _trimmed(_turns(entries), budget)
    kept = [entry for turn in turns for entry in turn]
    if kept and isinstance(kept[0], Reply):
        kept.insert(0, Said(BEGINNING))
    return kept


def clean(text: str) -> str:
    """Text that every encoder takes: without lone surrogates and NUL."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "�")


def plain(value: object) -> object:
    """JSON without what is no JSON: non-finite numbers become null, odd text is cleaned, the rest becomes text."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, dict):
        return {clean(str(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return clean(str(value))


class _Results:
    """The stored results, each given out once."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._left = [message for message in messages if message.role == "tool"]

    def take(self, call: ToolCall) -> Message | None:
        """The result of a call: by its id, or by the tool's name where neither has an id."""
        for at, message in enumerate(self._left):
            if message.call == call.id and (call.id or message.tool == call.tool):
                return self._left.pop(at)
        return None


def _entries(messages: Sequence[Message]) -> Iterator[Entry]:
    results = _Results(messages)
    used: set[str] = set()
    for number, message in enumerate(messages):
        text = clean(message.text)
        if message.role == "user" and (text.strip() or message.images):
            yield Said(text, message.images)
        elif message.role == "notice" and text.strip():
            yield Said(f"(Notice, not from the person: {text})", message.images)
        elif message.role == "assistant":
            calls = tuple(
                _called(call, results, used, f"call_{number}_{place}")
                for place, call in enumerate(message.calls)
                if call.tool.strip()
            )
            if calls or text.strip():
                yield Reply(text if text.strip() else "", calls)


def _called(call: ToolCall, results: _Results, used: set[str], fallback: str) -> Called:
    result = results.take(call)
    id = _ODD.sub("_", call.id)[:_LONGEST_ID] or fallback
    while id in used:
        id += "_"
    used.add(id)
    value = plain(arguments_of(call.arguments))
    return Called(
        id=id,
        name=_ODD.sub("_", call.tool)[:_LONGEST_NAME],
        arguments=value if isinstance(value, dict) else {},
        result=clean(result.text) if result else NO_RESULT,
        ok=bool(result) and result.meta.get("status", "ok") == "ok" if result else False,
        images=result.images if result else (),
    )


def _merged(entries: Iterable[Entry]) -> list[Entry]:
    """Neighbours from one side become one: many servers' templates insist on taking turns."""
    merged: list[Entry] = []
    for entry in entries:
        last = merged[-1] if merged else None
        if isinstance(entry, Said) and isinstance(last, Said):
            merged[-1] = Said(f"{last.text}\n\n{entry.text}".strip(), last.images + entry.images)
        elif isinstance(entry, Reply) and isinstance(last, Reply) and not last.calls:
            merged[-1] = Reply(f"{last.text}\n\n{entry.text}".strip(), entry.calls)
        else:
            merged.append(entry)
    return merged


def _turns(entries: Iterable[Entry]) -> list[list[Entry]]:
    turns: list[list[Entry]] = []
    for entry in entries:
        if isinstance(entry, Said) or not turns:
            turns.append([])
        turns[-1].append(entry)
    return turns


def size(entry: Entry) -> int:
    """Characters that an entry costs, roughly."""
    if isinstance(entry, Said):
        return len(entry.text)
    return len(entry.text) + sum(len(call.name) + len(str(call.arguments)) + len(call.result) for call in entry.calls)


def _trimmed(turns: list[list[Entry]], budget: int) -> list[list[Entry]]:
    """The newest turns that fit; the last one always, with its results shortened where it alone is too long."""
    kept: list[list[Entry]] = []
    left = budget
    for turn in reversed(turns):
        cost = sum(map(size, turn))
        if kept and cost > left:
            break
        kept.append(turn if cost <= left else _shortened(turn, budget))
        left -= cost
    return kept[::-1]


def _shortened(turn: list[Entry], budget: int) -> list[Entry]:
    calls = sum(len(entry.calls) for entry in turn if isinstance(entry, Reply))
    rest = sum(size(entry) for entry in turn) - sum(
        len(call.result) for entry in turn if isinstance(entry, Reply) for call in entry.calls
    )
    share = max(200, (budget - rest) // max(1, calls))
    return [
        msgspec.structs.replace(
            entry,
            calls=tuple(msgspec.structs.replace(call, result=shorten(call.result, share)) for call in entry.calls),
        )
        if isinstance(entry, Reply)
        else Said(shorten(entry.text, max(1000, budget)), entry.images)
        for entry in turn
    ]


def shorten(text: str, limit: int) -> str:
    """Head and tail of a text that is longer than `limit` characters, saying how much was left out."""
    if len(text) <= limit:
        return text
    note = f"\n[... {len(text) - limit:,} of {len(text):,} characters left out ...]\n"
    room = max(0, limit - len(note))
    tail = room // 4
    return text[: room - tail] + note + (text[-tail:] if tail else "")
