"""Models behind the OpenAI Chat Completions wire, which nearly every local server speaks, each in a dialect of its own.

Above: `models` opens it. Below: `addresses`, `chunks`, `history`, `schemas`, `trouble`, and httpx2, imported on the first
request. It refuses to know: what the fragments of calls mean; `odd` joins them. It is a client of its own because libraries
stop at a missing index or id.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from etui.agent import chunks, trouble
from etui.agent.addresses import endpoint, may_move, on_this_machine
from etui.agent.history import Called, Pictures, Reply, Said, clean, no_pictures, replay
from etui.agent.model import Ask, End, Part
from etui.agent.schemas import Target, portable
from etui.agent.sight import Sight, about_images
from etui.errors import ModelError

if TYPE_CHECKING:
    import httpx2

OPENAI = "https://api.openai.com/v1"
CONNECT, SILENCE = 5.0, 300.0
"""Seconds until a connection must stand, and between two pieces of an answer: a local model may read for minutes."""

_MOVES = 4
"""Addresses that are asked before a server that points to another one is believed to point in circles."""


class Empty(Enum):
    """How a reply that only makes calls writes its missing words: servers disagree, and the one that works is remembered."""

    NULL = 1
    TEXT = 2
    ABSENT = 3
    SPACE = 4


class OpenAIChat:
    """One model at one address."""

    def __init__(
        self, model: str, *, base_url: str = "", key: str = "", effort: str = "auto", pictures: Pictures | None = None
    ) -> None:
        """`effort` is how long it thinks; `auto` and `off` leave it to the server."""
        self._effort = effort
        self.name = f"openai-chat:{model}"
        self._model = model
        self._url = endpoint(base_url or OPENAI)
        self._own = not base_url
        self._key = key
        self._sight = Sight(pictures or no_pictures)
        self._empty = Empty.NULL
        self._client: httpx2.AsyncClient | None = None

    async def stream(self, ask: Ask) -> AsyncIterator[Part]:
        """The answer in parts; raises ModelError."""
        import httpx2  # Lazily: half of a start's time, and most people's default never needs it.

        try:
            async for part in self._tried(ask):
                yield part
        except httpx2.ConnectError as error:
            raise trouble.unreachable(self._who, self._local) from error
        except httpx2.TimeoutException as error:
            raise self._late(error) from error
        except httpx2.HTTPError as error:
            raise trouble.broken_off(self._who) from error

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    @property
    def _who(self) -> str:
        return "OpenAI" if self._own else trouble.server(self._url)

    @property
    def _local(self) -> bool:
        return on_this_machine(self._url)

    def _late(self, error: Exception) -> ModelError:
        import httpx2

        if isinstance(error, httpx2.ConnectTimeout):
            return trouble.unreachable(self._who, self._local)
        return trouble.late(self._who, SILENCE)

    async def _tried(self, ask: Ask) -> AsyncIterator[Part]:
        """Ask; where the server may have stumbled over the images, ask once more without them."""
        entries = replay(ask.messages)
        try:
            async for part in self._worded(ask, entries):
                yield part
            return
        except _Refused as error:
            shown = self._sight.among(entries) if error.of_form or error.of_images else frozenset()
            if not shown:
                raise error.error from None
            first = error.error
        self._sight.refuse(shown)
        try:
            async for part in self._worded(ask, entries):
                yield part
        except _Refused:
            self._sight.forgive(shown)
            raise first from None

    async def _worded(self, ask: Ask, entries: list[Said | Reply]) -> AsyncIterator[Part]:
        """Ask; where the server may have stumbled over a reply without words, ask again in the other ways of writing it."""
        wordless = any(isinstance(entry, Reply) and entry.calls and not entry.text for entry in entries)
        forms = [self._empty, *(form for form in Empty if form is not self._empty)] if wordless else [self._empty]
        first: _Refused | None = None
        for form in forms:
            try:
                async for part in self._asked(self._body(ask, entries, form)):
                    self._empty = form
                    yield part
                return
            except _Refused as error:
                first = first or error
                if error.of_images or not error.of_form:
                    raise
        assert first is not None, "at least one form was tried"
        raise first

    async def _asked(self, body: dict[str, object]) -> AsyncIterator[Part]:
        response = await self._opened(body)
        try:
            if response.status_code >= 300:
                text, wait = await chunks.beginning(response), response.headers.get("retry-after", "")
                raise self._refused(response.status_code, text, wait)
            whole = "json" in response.headers.get("content-type", "")
            # A server that does not stream answers in one piece.
            events = chunks.one(await response.aread()) if whole else chunks.events(response)
            async for part in self._pieces(events):
                yield part
        finally:
            await response.aclose()

    async def _opened(self, body: dict[str, object]) -> httpx2.Response:
        """Send the request, and follow it to another address; the key goes to none but the one that it was given for."""
        response = await self._sent(self._url, body)
        for _ in range(_MOVES):
            to = response.headers.get("location", "") if response.status_code in (301, 302, 307, 308) else ""
            url = urljoin(str(response.url), to)
            if not to or not may_move(self._url, url):
                break
            await response.aclose()
            response = await self._sent(url, body)
        return response

    async def _sent(self, url: str, body: dict[str, object]) -> httpx2.Response:
        """Send the request, once more if the server had closed the connection that was kept from the last one."""
        import httpx2

        own = urlsplit(url).netloc == urlsplit(self._url).netloc
        headers = {"Authorization": f"Bearer {self._key}"} if self._key and own else {}
        request = self._http().build_request("POST", url, json=body, headers=headers)
        try:
            return await self._http().send(request, stream=True)
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
            return await self._http().send(request, stream=True)

    def _http(self) -> httpx2.AsyncClient:
        import httpx2

        if self._client is None:
            timeout = httpx2.Timeout(SILENCE, connect=CONNECT)
            # A proxy from the environment is never meant for this very machine.
            self._client = httpx2.AsyncClient(timeout=timeout, trust_env=not self._local)
        return self._client

    def _refused(self, status: int, text: str, wait: str) -> _Refused:
        said = chunks.message(text)
        key = "OPENAI_API_KEY" if self._own else ""
        seconds = float(wait) if wait.replace(".", "", 1).isdigit() else None
        error = trouble.of_status(status, self._who, self._model, said, key=key, wait=seconds)
        clear = trouble.too_long(said.casefold()) or "support tools" in said or status in (401, 402, 403, 404, 413, 429, 503)
        return _Refused(error, of_form=not clear, of_images=about_images(said) and status not in (401, 402, 403, 429))

    def _body(self, ask: Ask, entries: list[Said | Reply], form: Empty) -> dict[str, object]:
        messages: list[dict[str, object]] = [{"role": "system", "content": clean(ask.system)}] if ask.system else []
        for entry in entries:
            messages += [self._said(entry)] if isinstance(entry, Said) else self._replied(entry, form)
        body: dict[str, object] = {"model": self._model, "messages": messages, "stream": True}
        if self._own:
            body["stream_options"] = {"include_usage": True}
        if self._effort not in ("auto", "off"):
            body["reasoning_effort"] = self._effort
        if ask.tools:
            target = Target.OPENAI if self._own else Target.LOCAL
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": clean(tool.description),
                        "parameters": portable(tool.parameters, target),
                    },
                }
                for tool in ask.tools
            ]
        return body

    def _said(self, said: Said) -> dict[str, object]:
        pictures = self._shown(said.images)
        text = said.text + self._sight.words(said.images)
        if not pictures:
            return {"role": "user", "content": text}
        words = [{"type": "text", "text": text}] if text else []
        return {"role": "user", "content": [*words, *pictures]}

    def _replied(self, reply: Reply, form: Empty) -> list[dict[str, object]]:
        message: dict[str, object] = {"role": "assistant"}
        if reply.text or not reply.calls:
            message["content"] = reply.text
        elif form is not Empty.ABSENT:
            message["content"] = {Empty.NULL: None, Empty.TEXT: "", Empty.SPACE: " "}[form]
        if not reply.calls:
            return [message]
        message["tool_calls"] = [_call(call) for call in reply.calls]
        results: list[dict[str, object]] = [
            {"role": "tool", "tool_call_id": _id(call), "content": (call.result or "(empty)") + self._sight.words(call.images)}
            for call in reply.calls
        ]
        messages = [message, *results]
        if pictures := self._shown(tuple(image for call in reply.calls for image in call.images)):
            messages.append({"role": "user", "content": [{"type": "text", "text": "(Images from the tools.)"}, *pictures]})
        return messages

    def _shown(self, images: tuple[str, ...]) -> list[dict[str, object]]:
        return [
            {
                "type": "image_url",
                "image_url": {"url": f"data:{one.media_type};base64,{base64.b64encode(one.data).decode('ascii')}"},
            }
            for one in self._sight.shown(images)
        ]

    async def _pieces(self, events: AsyncIterator[Mapping[str, object]]) -> AsyncIterator[Part]:
        why, read, written, heard = "stop", 0, 0, False
        async for event in events:
            if error := event.get("error"):
                said = chunks.message(json.dumps({"error": error}))
                raise trouble.of_status(chunks.status(error), self._who, self._model, said)
            if isinstance(usage := event.get("usage"), dict):
                read, written = (chunks.count(usage.get(key)) for key in ("prompt_tokens", "completion_tokens"))
            heard = heard or isinstance(event.get("choices"), list)
            choice = chunks.choice(event)
            for part in chunks.said(choice):
                yield part
            why = str(choice.get("finish_reason") or why)
        if not heard:
            raise trouble.nonsense(self._who)
        yield End(why=_WHY.get(why, why), tokens_in=read, tokens_out=written)


_WHY = {"tool_calls": "calls", "function_call": "calls", "content_filter": "filter", "max_tokens": "length"}


class _Refused(Exception):
    """The server answered with an error before it began to stream."""

    def __init__(self, error: ModelError, of_form: bool, of_images: bool) -> None:
        """It may have been about the form of a reply without words, or about the images."""
        super().__init__(str(error))
        self.error = error
        self.of_form = of_form
        self.of_images = of_images


def _call(call: Called) -> dict[str, object]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": _id(call), "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _id(call: Called) -> str:
    """The call's id as nine letters and digits, which is all that some servers' templates take."""
    return hashlib.sha256(call.id.encode()).hexdigest()[:9]
