"""The way from a command to a host: the one that runs, or one started for this command and ended with it.

Above: the commands. Below: the console's API, over loopback. It refuses to know: the host's parts.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from etui.errors import EtuiError, UsageError
from etui.home import Home
from etui.surfaces.web.needs import House
from etui.surfaces.web.serve import serve

Opener = Callable[[Home, Mapping[str, object]], AbstractAsyncContextManager[House]]
"""Opens a host on a home, with overrides of its settings."""
T = TypeVar("T")


class Way:
    """What every command is handed: where Etui's things are, and how a host is opened."""

    def __init__(self, home: Home, opener: Opener) -> None:
        self.home = home
        self.opener = opener

    @classmethod
    def here(cls, opener: Opener) -> Way:
        """By this process's environment."""
        return cls(Home.find(os.environ), opener)

    def go(self, work: Callable[[Reach], Coroutine[Any, Any, T]]) -> T:
        """Run a command's work with a host at hand."""

        async def run() -> T:
            async with self.reach() as reach:
                return await work(reach)

        return asyncio.run(run())

    @asynccontextmanager
    async def reach(self) -> AsyncIterator[Reach]:
        """The running host, or one of our own for as long as this lasts."""
        running = await find_running(self.home.door)
        if running is not None:
            async with running:
                yield running
            return
        async with self.opener(self.home, {}) as host, _served(host, self.home.door) as reach:
            yield reach


async def find_running(door: Path) -> Reach | None:
    """The host that wrote this file, if it still answers."""
    try:
        written = json.loads(door.read_text("utf-8"))
        reach = Reach(f"http://127.0.0.1:{int(written['port'])}", str(written["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    try:
        await reach.get("/api/cards")
    except EtuiError:
        await reach.close()
        return None
    return reach


@asynccontextmanager
async def _served(host: House, door: Path) -> AsyncIterator[Reach]:
    """The host's API on a free port of loopback, until the block ends."""
    ready = asyncio.Event()
    serving = asyncio.create_task(serve(host, "127.0.0.1", 0, False, tell=lambda _: ready.set(), signals=False))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if serving.done():
        serving.result()
    found = await find_running(door)
    if found is None:
        raise EtuiError("The host that was started for this command does not answer.")
    try:
        async with found:
            yield found
    finally:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving


class Reach:
    """The API of one host."""

    def __init__(self, address: str, token: str) -> None:
        # Proxies of the environment have no business between a command and its own machine.
        self.address = address
        self._client = httpx2.AsyncClient(
            base_url=address,
            headers={"authorization": f"Bearer {token}"},
            timeout=httpx2.Timeout(5, read=None),
            trust_env=False,
        )

    async def get(self, path: str, **query: object) -> Any:
        """What lies there. Raises EtuiError with the host's sentence."""
        return await self._send("GET", path, params={key: str(value) for key, value in query.items()})

    async def post(self, path: str, body: Mapping[str, object]) -> Any:
        """Do something. Raises EtuiError with the host's sentence."""
        return await self._send("POST", path, json=dict(body))

    async def put(self, path: str, body: Mapping[str, object]) -> Any:
        """Set something. Raises EtuiError with the host's sentence."""
        return await self._send("PUT", path, json=dict(body))

    async def delete(self, path: str, body: Mapping[str, object]) -> Any:
        """Take something away. Raises EtuiError with the host's sentence."""
        return await self._send("DELETE", path, json=dict(body))

    async def lines(self, path: str, body: Mapping[str, object]) -> AsyncIterator[dict[str, Any]]:
        """The lines of an answer as they come."""
        async with self._client.stream("POST", path, json=dict(body)) as answer:
            if answer.status_code >= 400:
                await answer.aread()
                raise _refusal(answer)
            async for line in answer.aiter_lines():
                if line.strip():
                    yield json.loads(line)

    async def events(self, heard: Callable[[dict[str, Any]], Coroutine[Any, Any, None]]) -> None:
        """Hear every event from now on, until cancelled."""
        async with self._client.stream("GET", "/api/events") as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    await heard(json.loads(line.removeprefix("data: ")))

    async def close(self) -> None:
        """Let go of the connection."""
        await self._client.aclose()

    async def __aenter__(self) -> Reach:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(self, method: str, path: str, **what: Any) -> Any:
        try:
            answer = await self._client.request(method, path, **what)
        except httpx2.HTTPError as error:
            raise EtuiError(f"The running Etui did not answer: {error or type(error).__name__}.") from None
        if answer.status_code >= 400:
            raise _refusal(answer)
        return answer.json()


def _refusal(answer: httpx2.Response) -> EtuiError:
    try:
        sentence = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        sentence = f"The running Etui answered {answer.status_code}."
    return UsageError(sentence) if answer.status_code == 400 else EtuiError(sentence)
