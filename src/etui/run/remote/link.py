"""One MCP server: started when it is wanted, listened to, asked, and ended; started again by the next call if it has ended.

A `Link` stands for the server as long as it is in the settings, a `Life` for one connection to it. One task owns the
connection from its beginning to its end, as the SDK wants it; everybody else waits for the client and uses it.
Above: `Remote`. Below: `sdk`, `tail`. It refuses to know: tools, outcomes, where settings come from.
"""

from __future__ import annotations

import asyncio
import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from etui.errors import WorkerGone
from etui.run.remote.tail import Tail
from etui.settings import McpServer

if TYPE_CHECKING:
    from etui.run.remote.sdk import Client

SDK = "etui.run.remote.sdk"
"""Its import takes longer than the loop may stand still, and is made by those who have a server, in a thread."""
PAUSE = 0.5
"""Seconds between two lists of its tools, however often it says that they changed."""


class Heard(Protocol):
    """Who is told about servers, by their names."""

    def listed(self, name: str, tools: list[dict[str, Any]]) -> None:
        """It is connected, and these are its tools now."""
        ...

    def gone(self, name: str, why: str, last: str) -> None:
        """It could not be reached, or has ended by itself: why, and the end of what it wrote to its standard error."""
        ...


class Link:
    """The way to one server."""

    def __init__(self, name: str, server: McpServer, heard: Heard, *, patience: float, doubt: float) -> None:
        """`patience` is how many seconds a start may take, `doubt` how many a server has to answer after a call came late."""
        self.name = name
        self.server = server
        self._heard = heard
        self._patience = patience
        self._doubt = doubt
        self._life: Life | None = None
        self._doubting: asyncio.Task[None] | None = None
        self._closing = False

    def start(self) -> Life:
        """Begin to connect, unless that is done or under way."""
        if self._life is None or self._life.over:
            self._life = Life(self.name, self.server, self._heard, self._patience, self._life)
        return self._life

    async def client(self) -> Client:
        """The client, once it is connected. Raises WorkerGone with why it cannot be."""
        if self._closing:
            raise WorkerGone("it is being ended")
        return await asyncio.shield(self.start().up)

    def doubt(self) -> None:
        """A call came late: a program that answers nothing at all any more is ended, and the next call starts it anew."""
        if self.server.command and self._doubting is None and self._life is not None:
            self._doubting = asyncio.create_task(self._ask_again(self._life), name=f"mcp {self.name} doubt")

    def forget(self) -> None:
        """The connection is of no use any more: the next call makes another one."""
        if self._life is not None and not self._life.over:
            self._life.end("")

    async def close(self) -> None:
        """End it, with everything that it started."""
        self._closing = True
        if self._doubting is not None:
            self._doubting.cancel()
        if self._life is not None:
            self._life.end("")
            await asyncio.wait([self._life.task])

    async def _ask_again(self, life: Life) -> None:
        try:
            async with asyncio.timeout(self._doubt):
                await importlib.import_module(SDK).listed(await asyncio.shield(life.up))
        except Exception:  # late or broken: either way it is of no use any more
            life.end("it answered nothing any more and was ended")
        finally:
            self._doubting = None


class Life:
    """One connection, from its beginning to its end."""

    def __init__(self, name: str, server: McpServer, heard: Heard, patience: float, before: Life | None) -> None:
        self.up: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        """The client, or WorkerGone with why there is none."""
        self.over = False
        """True once it has ended or is about to."""
        self._name = name
        self._server = server
        self._heard = heard
        self._patience = patience
        self._wake = asyncio.Event()
        self._relist = False
        self._scope: Any = None
        self._why: str | None = None
        """Why it is being ended, if that was ours; empty if nobody needs to hear of it."""
        self.up.add_done_callback(lambda up: up.cancelled() or up.exception())  # perhaps nobody waits for it
        self.task = asyncio.create_task(self._live(before), name=f"mcp {name}")

    def end(self, why: str) -> None:
        """End it. Nobody is told if there is no reason."""
        if self._why is None:
            self._why = why
        self._ended()
        if self._scope is not None:
            self._scope.cancel()

    def _ended(self) -> None:
        self.over = True
        self._wake.set()

    def _changed(self) -> None:
        self._relist = True
        self._wake.set()

    async def _live(self, before: Life | None) -> None:
        if before is not None:
            await asyncio.wait([before.task])
        tail = Tail()
        try:
            why = await self._connect(tail)
        except Exception as error:  # an import that fails, as of a package that is broken
            why = f"{type(error).__name__}: {error}"
        finally:
            self.over = True
        last = tail.text()
        tail.close()
        if not self.up.done():
            self.up.set_exception(WorkerGone(self._why or why))
        if self._why != "":
            self._heard.gone(self._name, self._why or why, last)

    async def _connect(self, tail: Tail) -> str:
        """Be connected as long as that lasts; gives why it ended."""
        sdk = await asyncio.to_thread(importlib.import_module, SDK)
        late = asyncio.get_running_loop().call_later(self._patience, self.end, f"it did not answer within {self._patience:g} s")
        try:
            with sdk.CancelScope() as self._scope:
                if self._why is not None:
                    return self._why
                async with sdk.connected(self._server, tail.end, self._ended, self._changed) as client:
                    tools = await sdk.listed(client)
                    late.cancel()
                    self._heard.listed(self._name, tools)
                    self.up.set_result(client)
                    await self._stay(sdk, client)
        except Exception as error:  # a program, the network and the SDK raise whatever they like
            return str(sdk.reason(error))
        finally:
            late.cancel()
            self._scope = None
        return "it ended by itself"

    async def _stay(self, sdk: ModuleType, client: Client) -> None:
        """Until it is over; its list of tools is asked for again when it changed."""
        following = asyncio.create_task(sdk.changes(client, self._changed), name=f"mcp {self._name} changes")
        try:
            while not self.over:
                await self._wake.wait()
                self._wake.clear()
                if self._relist and not self.over:
                    self._relist = False
                    self._heard.listed(self._name, await sdk.listed(client))
                    await asyncio.sleep(PAUSE)
        finally:
            following.cancel()
            await asyncio.wait([following])
