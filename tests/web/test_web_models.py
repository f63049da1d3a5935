"""A model by a click: what the person has is offered by name, answers with a streamed call, and its end is told honestly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.agent.servers import chunk
from tests.web.chromium import picture
from tests.web.pages import answered, page_at, say
from tests.web.sites import site_at

from etui.agent import chosen
from etui.agent.discover import offers

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


class LocalServer:
    """A compatible server on loopback: it calls `greet`, reads its result out word by word, and hangs when told to."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[dict[str, object]] = []
        self.left = asyncio.Event()
        """Whoever listened to the answer that hangs has gone."""
        self._open: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[LocalServer]:
        """Listen on the same port each time."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for writer in list(self._open):
                writer.transport.abort()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = next((int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length:")), 0)
            body = json.loads(await reader.readexactly(size)) if size else {}
            await self._answer(head, body, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()

    async def _answer(
        self, head: str, body: dict[str, object], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        kind = "text/event-stream" if body else "application/json"
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode())
        if not body:
            assert "/v1/models" in head
            writer.write(b'{"object": "list", "data": [{"id": "tiny-talker", "object": "model"}]}')
            await writer.drain()
            return
        self.asked.append(body)
        messages = body["messages"]
        assert isinstance(messages, list)
        last = messages[-1]
        if last["role"] == "tool":
            for word in ("It", " says: ", str(last["content"])):
                writer.write(chunk({"content": word}).encode())
        elif "forever" in str(last["content"]):
            writer.write(chunk({"content": "Once upon a time"}).encode())
            await writer.drain()
            await reader.read()
            self.left.set()
            return
        else:
            function = {"name": "greet", "arguments": '{"name": "Ada"}'}
            writer.write(
                chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}).encode()
            )
        writer.write((chunk({}, "stop") + "data: [DONE]\n\n").encode())
        await writer.drain()


async def test_a_model_is_chosen_by_a_click_answers_is_stopped_and_its_end_is_told(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = LocalServer()
    async with server.listening():
        monkeypatch.setattr(chosen, "offers", partial(offers, ports={server.port: "Ollama"}))
    key = {"ANTHROPIC_API_KEY": "key-of-nobody"}
    async with site_at(tmp_path, model=None, environ=key) as site, page_at(site, browser, "settings") as page:
        models = page.locator(".models li")
        await expect(models.filter(has_text="key ANTHROPIC_API_KEY in the environment")).to_be_visible()
        await expect(models.filter(has_text="Built-in command matcher")).to_contain_text("answers now")
        await expect(models.filter(has_text="Ollama")).to_have_count(0)
        async with server.listening():
            await page.goto(f"{site.base}/#/tools")
            await page.goto(f"{site.base}/#/settings")
            ollama = models.filter(has_text="Ollama: tiny-talker")
            await expect(ollama).to_contain_text(f"answers on 127.0.0.1:{server.port}")
            await picture(page, "console-models")
            await ollama.get_by_role("button", name="Use this").click()
            await expect(ollama).to_contain_text("answers now")
            await page.goto(f"{site.base}/#/chat")
            await expect(page.locator(".foot")).to_contain_text("Ollama: tiny-talker")
            await say(page, "say hello to Ada for me")
            await answered(page, "It says: Hello Ada!")
            await expect(page.locator(".step")).to_contain_text("greet")
            await expect(page.locator(".step .step-end")).to_have_text("done")
            assert "greet" in json.dumps(server.asked[0]["tools"])
            await say(page, "go on forever")
            await expect(page.locator(".now .bubble")).to_contain_text("Once upon a time")
            await page.get_by_role("button", name="Stop the answer").click()
            await answered(page, "Once upon a time")
            async with asyncio.timeout(10):
                await server.left.wait()
        await say(page, "are you there?")
        told = page.locator(".message.theirs:not(.now) .bubble").last
        await expect(told).to_contain_text("cannot be reached")
        assert "key-of-nobody" not in await told.inner_text()
        await page.get_by_role("link", name="Ollama: tiny-talker").click()
        await models.filter(has_text="Built-in command matcher").get_by_role("button", name="Use this").click()
        await expect(models.filter(has_text="Built-in command matcher")).to_contain_text("answers now")
        await page.go_back()
        await say(page, "greet Eve")
        await answered(page, "Hello Eve!")
        assert "key-of-nobody" not in json.dumps([await site.get("/api/state"), await site.get("/api/doctor")])
