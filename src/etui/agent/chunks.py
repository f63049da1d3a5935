"""What a Chat Completions server sends, read leniently: lines of events, fragments of calls, and errors.

Above: `chat`. Below: `model`. It refuses to know: requests, and how fragments are joined.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from etui.agent.history import Picture
from etui.agent.model import CallPart, Part, Text

if TYPE_CHECKING:
    import httpx2

_LINE = 8_000_000
"""Bytes after which a line is no line of an answer."""


def choice(event: Mapping[str, object]) -> Mapping[str, object]:
    """The first of the answers that an event may hold side by side; empty if it holds none of it."""
    choices = event.get("choices")
    ones = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    return next((one for one in ones if not one.get("index")), {})


def said(choice: Mapping[str, object]) -> list[Part]:
    """The words and fragments of calls in a choice, also of a server that only completes text."""
    text = choice.get("text")
    return parts(choice.get("delta") or choice.get("message") or ({"content": text} if text else None))


def parts(delta: object) -> list[Part]:
    """The words and fragments of calls in a delta, or in a whole message."""
    if not isinstance(delta, dict):
        return []
    parts: list[Part] = []
    if words := _words(delta.get("content")) or _words(delta.get("refusal")):
        parts.append(Text(words))
    parts += [found for one in _images(delta) if (found := _picture(one))]
    calls = delta.get("tool_calls")
    parts += [_fragment(call) for call in (calls if isinstance(calls, list) else [calls]) if isinstance(call, dict)]
    if isinstance(old := delta.get("function_call"), dict):
        parts.append(_fragment({"index": 0, "function": old}))
    return parts


def _words(content: object) -> str:
    if isinstance(content, list):
        texts = [one for one in content if isinstance(one, dict) and one.get("type") in (None, "text")]
        return "".join(str(one.get("text") or "") for one in texts)
    return content if isinstance(content, str) else ""


def _images(delta: Mapping[str, object]) -> list[object]:
    """What may be images, among the words or beside them."""
    content, beside = delta.get("content"), delta.get("images")
    return [one for ones in (content, beside) if isinstance(ones, list) for one in ones]


def _picture(one: object) -> Picture | None:
    """The image that is written out there; one that only has an address is not fetched."""
    place = one.get("image_url") if isinstance(one, dict) else None
    url = place.get("url") if isinstance(place, dict) else place
    found = _DATA.match(url) if isinstance(url, str) else None
    if found is None or not isinstance(url, str):
        return None
    try:
        return Picture(found[1], base64.b64decode(url[found.end() :], validate=True))
    except ValueError:
        return None


def _fragment(call: Mapping[str, object]) -> CallPart:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    index, arguments = call.get("index"), inner.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    return CallPart(
        index=int(index) if isinstance(index, int | float) or (isinstance(index, str) and index.isdigit()) else -1,
        id=str(call.get("id") or ""),
        name=str(inner.get("name") or ""),
        arguments=arguments or "",
    )


_DATA = re.compile(r"data:(image/[a-z+.-]+);base64,")
_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)')
"""The message of an error that is too long to be read whole."""


async def events(response: httpx2.Response) -> AsyncIterator[Mapping[str, object]]:
    """The data of server-sent events: one JSON object a line, whatever stands around it."""
    async for line in lines(response.aiter_bytes()):
        if event := _event(line):
            yield event


async def lines(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream, without their ends; it is over where one is too long to be one."""
    rest = bytearray()
    async for chunk in stream:
        first, *more = chunk.split(b"\n")
        rest += first
        for line in more:
            yield bytes(rest)
            rest = bytearray(line)
        if len(rest) > _LINE:
            return
    if rest:
        yield bytes(rest)


def _event(line: bytes) -> Mapping[str, object] | None:
    text = line.strip().removeprefix(b"data:").strip()
    if not text.startswith(b"{"):
        return None
    try:
        value = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


async def one(body: bytes) -> AsyncIterator[Mapping[str, object]]:
    """The only event of an answer that was not streamed, or those of one that was and does not say so."""
    if event := _event(b" ".join(body.split(b"\n"))):
        yield event
        return
    for line in body.split(b"\n"):
        if event := _event(line):
            yield event


async def beginning(response: httpx2.Response) -> str:
    """The beginning of an error's text."""
    text = b""
    async for chunk in response.aiter_bytes():
        text += chunk
        if len(text) > 20_000:
            break
    return text.decode("utf-8", "replace")


def message(text: str) -> str:
    """What an error's JSON says in words, else the text itself if it is no page."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        begun = _MESSAGE.search(text) if text.lstrip().startswith("{") else None
        return begun[1] if begun else "" if "<html" in text.casefold() else text
    value = value[0] if isinstance(value, list) and value else value
    error = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(error, dict):
        words = error.get("message") or error.get("detail") or error.get("msg") or json.dumps(error)
        code = error.get("code")
        return f"{words} ({code})" if isinstance(code, str) and code not in str(words) else str(words)
    return str(error)


def status(error: object) -> int:
    """The HTTP status that an error inside a stream names; 500 if it names none."""
    code = error.get("code") or error.get("status") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def count(value: object) -> int:
    """A number of tokens; 0 for anything else."""
    return value if isinstance(value, int) else 0
