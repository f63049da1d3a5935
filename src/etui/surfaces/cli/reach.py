"""The way from a command to a host: the one that runs, or one started for this command and ended with it.

Above: the commands. Below: the console's API, over loopback. It refuses to know: the host's parts.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import httpx2

from etui.errors import EtuiError, UsageError
from etui.home import Home

if TYPE_CHECKING:
    from etui.surfaces.web.needs import House

Opener = Callable[[Home, Mapping[str, object]], AbstractAsyncContextManager["House"]]
"""Opens a host on a home, with overrides of its settings."""
T = TypeVar("T")
PATIENCE = 10.0
"""Seconds that a command waits for another one that has just started or is about to end a host on the same home."""
KEPT = 2.0
"""Seconds for which an idle connection is used again: well fewer than the server keeps it, or a request may meet its end."""
ENDINGS = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command in good order, as Ctrl-C does."""


def end_by_signal(*signals: signal.Signals) -> None:
    """Let signals cancel the task that runs now, so that it ends in good order; one that is ignored, as by nohup, stays so."""
    task = asyncio.current_task()
    assert task is not None
    for one in signals:
        if signal.getsignal(one) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(one, task.cancel)


class Way:
    """What every command is handed: where Etui's things are, and how a host is opened."""

    def __init__(self, home: Home, opener: Opener) -> None:
        self.home = home
        self.opener = opener

    @classmethod
    def here(cls, opener: Opener) -> Way:
        """By this process's environment. Raises EtuiError where that names no folder."""
        try:
            return cls(Home.find(os.environ), opener)
        except RuntimeError as error:
            raise EtuiError(f"ETUI_HOME names no folder: {error}") from None

    def go(self, work: Callable[[Reach], Coroutine[Any, Any, T]]) -> T:
        """Run a command's work with a host at hand; Ctrl-C and SIGTERM cancel it, and it ends in good order."""

        async def run() -> T:
            end_by_signal(*ENDINGS)
            async with self.reach() as reach:
                return await work(reach)

        return asyncio.run(run())

    @asynccontextmanager
    async def reach(self) -> AsyncIterator[Reach]:
        """The running host, or one of our own for as long as this lasts. Raises EtuiError where there can be none."""
        async with AsyncExitStack() as stack:
            yield await self._find_or_open(stack)

    async def _find_or_open(self, stack: AsyncExitStack) -> Reach:
        end = asyncio.get_running_loop().time() + PATIENCE
        while True:
            running = await find_running(self.home.door)
            if running is not None:
                return await stack.enter_async_context(running)
            try:
                host = await stack.enter_async_context(self.host({}))
            except EtuiError:
                # Another command may hold the home for a moment: it is about to answer, or about to end.
                if not _held(self.home) or asyncio.get_running_loop().time() > end:
                    raise
                await asyncio.sleep(0.05)
                continue
            served = await stack.enter_async_context(_served(host, self.home.door))
            served.own = True
            return served

    @asynccontextmanager
    async def host(self, overrides: Mapping[str, object]) -> AsyncIterator[House]:
        """A host of our own. Raises EtuiError where the home cannot be used."""
        async with AsyncExitStack() as stack:
            try:
                host = await stack.enter_async_context(self.opener(self.home, overrides))
            except OSError as error:
                raise EtuiError(
                    f"Etui cannot keep its things in {str(self.home.path)!r}: {error.strerror or error}. "
                    "Name a folder that you may write in ETUI_HOME."
                ) from None
            yield host


def _held(home: Home) -> bool:
    """True while a host holds the home."""
    try:
        handle = os.open(home.path / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


async def find_running(door: Path) -> Reach | None:
    """The host that wrote this file, if it still lives and answers."""
    reach = _written(door)
    if reach is None:
        return None
    try:
        async with asyncio.timeout(PATIENCE):
            await reach.get("/api/cards")
    except (EtuiError, TimeoutError):
        await reach.close()
        return None
    return reach


def _written(door: Path) -> Reach | None:
    try:
        written = json.loads(door.read_text("utf-8"))
        port, pid, token = int(written["port"]), int(written["pid"]), str(written["token"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    # Whoever has the port of a host that is dead shall not be shown the owner's token.
    return Reach(f"http://127.0.0.1:{port}", token) if _lives(pid) else None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


@asynccontextmanager
async def _served(host: House, door: Path) -> AsyncIterator[Reach]:
    """The host's API on a free port of loopback, until the block ends."""
    from etui.surfaces.web.serve import serve  # Lazily: a command that finds a running host needs no server.

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
        self.own = False
        """True of a host that was started for this command."""
        self._anew = False
        """True of a host that was started while this command ran."""
        self._client = httpx2.AsyncClient(
            base_url=address,
            headers={"authorization": f"Bearer {token}"},
            timeout=httpx2.Timeout(5, read=None),
            limits=httpx2.Limits(keepalive_expiry=KEPT),
            trust_env=False,
            verify=False,
        )

    async def get(self, path: str, **query: object) -> Any:
        """What lies there. Raises EtuiError with the host's sentence."""
        return await self._send("GET", path, params={key: str(value) for key, value in query.items()})

    async def post(self, path: str, body: Mapping[str, object]) -> Any:
        """Do something. Raises EtuiError with the host's sentence."""
        return await self._send("POST", path, body=body)

    async def put(self, path: str, body: Mapping[str, object]) -> Any:
        """Set something. Raises EtuiError with the host's sentence."""
        return await self._send("PUT", path, body=body)

    async def delete(self, path: str, body: Mapping[str, object]) -> Any:
        """Take something away. Raises EtuiError with the host's sentence."""
        return await self._send("DELETE", path, body=body)

    async def lines(self, path: str, body: Mapping[str, object]) -> AsyncIterator[dict[str, Any]]:
        """The lines of an answer as they come. Raises EtuiError where they break off."""
        with _answering():
            async with self._client.stream("POST", path, content=_encoded(body), headers=JSON) as answer:
                if answer.status_code >= 400:
                    await answer.aread()
                    raise _refusal(answer)
                async for line in answer.aiter_lines():
                    if line.strip():
                        yield json.loads(line)

    @asynccontextmanager
    async def hearing(self, heard: Callable[[dict[str, Any]], Awaitable[None]]) -> AsyncIterator[asyncio.Task[None]]:
        """Hear every event that happens inside the block, from its first moment on."""
        ready = asyncio.Event()
        task = asyncio.create_task(self._hear(heard, ready))
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not ready.is_set():
                task.result()
            yield task
        finally:
            waiting.cancel()
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, EtuiError):
                await task

    async def _hear(self, heard: Callable[[dict[str, Any]], Awaitable[None]], ready: asyncio.Event) -> None:
        with _answering():
            # What a new host said while it started, such as a timer that ended meanwhile, nobody here has heard.
            query = {"last": "0"} if self.own or self._anew else {}
            async with self._client.stream("GET", "/api/events", params=query) as answer:
                async for line in answer.aiter_lines():
                    ready.set()
                    if line.startswith("data: "):
                        await heard(json.loads(line.removeprefix("data: ")))

    async def renew(self, found: Reach, *, anew: bool) -> None:
        """Go on by the way that was found; `anew` where the host there was started meanwhile."""
        before, self._client = self._client, found._client
        self.address, self._anew = found.address, anew
        await before.aclose()

    async def close(self) -> None:
        """Let go of the connection."""
        await self._client.aclose()

    async def __aenter__(self) -> Reach:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, body: Mapping[str, object] | None = None
    ) -> Any:
        content = None if body is None else _encoded(body)
        with _answering():
            answer = await self._client.request(method, path, params=params, content=content, headers=JSON)
        if answer.status_code >= 400:
            raise _refusal(answer)
        return answer.json()


JSON = {"content-type": "application/json"}


def part(name: str) -> str:
    """A name as one part of a path, whatever it holds."""
    return quote(name, safe="", errors="replace")


def _encoded(body: Mapping[str, object]) -> bytes:
    """JSON bytes. Raises UsageError for what no JSON can hold."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{error.object[error.start : error.end]!a} is half a character, which no text can hold.") from None
    except ValueError:
        raise UsageError("A number in it is too large for JSON.") from None
    except RecursionError:
        raise UsageError("It is nested too deeply.") from None


@contextlib.contextmanager
def _answering() -> Iterator[None]:
    """Turns a connection that fails into a sentence."""
    try:
        yield
    except httpx2.HTTPError as error:
        raise EtuiError(f"The running Etui did not answer, or has just ended ({error or type(error).__name__}).") from None


def _refusal(answer: httpx2.Response) -> EtuiError:
    try:
        sentence = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        sentence = f"The running Etui answered {answer.status_code}."
    return UsageError(sentence) if answer.status_code == 400 else EtuiError(sentence)
