"""Calls of tools that an MCP server runs: the same jobs, the same outcomes, over the official SDK's connection.

Above: `session` holds it as a `Runner`; `servers` opens and closes the servers. Below: `link`, `answers`, `ends`.
It refuses to know: settings, and what a server offers. A call that is stopped or comes late is told to the server, which may
go on with it all the same; a program that answers nothing at all any more is ended, and the next call starts it anew.
"""

from __future__ import annotations

import asyncio
from typing import Any

from etui.errors import EtuiError, WorkerGone
from etui.outcome import Outcome, Status, refused
from etui.run import Job, ends
from etui.run.remote.answers import outcome
from etui.run.remote.link import Heard, Link
from etui.settings import McpServer
from etui.tool import Tool

PATIENCE = 30.0
"""Seconds that a server has to start and say what it offers."""
DOUBT = 5.0
"""Seconds that a program has to answer anything at all after a call of it came late."""


class Remote:
    """Runs jobs on MCP servers; `etui.run.Runner`."""

    def __init__(self, patience: float = PATIENCE, doubt: float = DOUBT) -> None:
        self._patience = patience
        self._doubt = doubt
        self._links: dict[str, Link] = {}
        """By the plugin's name."""
        self._ending: set[asyncio.Task[None]] = set()

    def open(self, name: str, server: McpServer, heard: Heard) -> None:
        """Start it in the background, instead of an earlier one of that name; `heard` is told what comes of it."""
        self.drop(name)
        self._links[name] = Link(name, server, heard, patience=self._patience, doubt=self._doubt)
        self._links[name].start()

    def drop(self, name: str) -> None:
        """End it in the background; calls under way end with it."""
        if link := self._links.pop(name, None):
            task = asyncio.create_task(link.close(), name=f"mcp {name} end")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def wait(self, name: str) -> None:
        """Wait until it is connected; one that is not is tried again. Raises WorkerGone with why it cannot be."""
        link = self._links.get(name)
        if link is None:
            raise WorkerGone("it is not open")
        await link.client()

    async def close(self) -> None:
        """End every server, with what it started."""
        for name in list(self._links):
            self.drop(name)
        if self._ending:
            await asyncio.wait(self._ending)

    async def run(self, job: Job) -> Outcome:
        """Run it to its one end. Raises nothing but CancelledError."""
        link = self._links.get(job.tool.plugin)
        if link is None:
            return refused("find", f"{job.tool.name!r} is not there any more: its MCP server was taken out of the settings.")
        loop = asyncio.get_running_loop()
        began = loop.time()
        limit = asyncio.timeout(job.seconds)
        try:
            async with limit:
                return await self._ask(link, job, began)
        except TimeoutError:
            if not limit.expired():
                return _fault(job.tool, "the connection timed out", loop.time() - began)
            link.doubt()
            return ends.timed_out(job.tool, job.seconds, loop.time() - began)

    async def _ask(self, link: Link, job: Job, began: float) -> Outcome:
        loop, tool = asyncio.get_running_loop(), job.tool

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            fraction = min(1.0, max(0.0, progress / total)) if total else None
            await _quietly(job, {"fraction": fraction, "text": message or ""})

        try:
            client = await link.client()
        except WorkerGone as error:
            text = f"{tool.name} did not run: its MCP server cannot be reached ({error})."
            return ends.broken(tool, Status.FAILED, text, loop.time() - began)
        from etui.run.remote import sdk  # heavy, and by now imported

        try:
            try:
                result = await sdk.call(client, tool.entry or tool.name, job.arguments, tell)
            except sdk.Expired:
                link.forget()
                result = await sdk.call(await link.client(), tool.entry or tool.name, job.arguments, tell)
        except sdk.Lost as error:
            link.forget()
            return ends.died(tool, "its MCP server ended", loop.time() - began, str(error))
        except TimeoutError:
            raise
        except (
            Exception
        ) as error:  # the server's own refusal, or one of the many kinds that the SDK has for an answer that is none
            return _fault(tool, sdk.reason(error), loop.time() - began)
        return outcome(tool, result, loop.time() - began)


async def _quietly(job: Job, told: dict[str, Any]) -> None:
    try:
        await job.serve("progress", told)
    except EtuiError:
        return  # nobody waits for an answer to how far it is


def _fault(tool: Tool, why: str, seconds: float) -> Outcome:
    """It did not go well, in the words of the server or the SDK: unlike a plugin's exception they are meant to be read."""
    return ends.broken(tool, Status.FAILED, f"{tool.name} failed: {why}", seconds)
