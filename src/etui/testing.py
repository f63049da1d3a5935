"""What tool authors import in their own tests: a whole host over a folder of tool files, gone when the test ends.

    async with workbench(folder) as bench:
        assert (await bench.call("roll", count=3)).ok

Above: nothing. Below: `host`. It refuses to know: any test framework.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from etui.home import Home
from etui.host import Host, open_host
from etui.outcome import Outcome
from etui.tool import Problem, Tool


class Workbench:
    """A host with nothing in it but one folder of tools."""

    def __init__(self, host: Host) -> None:
        self.host = host

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name."""
        return {tool.name: tool for tool in self.host.tools.all()}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was refused, and why."""
        return self.host.problems.all()

    async def call(self, name: str, /, *, channel: str = "python", **arguments: object) -> Outcome:
        """Call a tool as a program of the owner's would."""
        session = self.host.session(channel)
        return await session.call(session.new_call(name, arguments))

    async def say(self, text: str) -> str:
        """Say something to the assistant, and get the answer."""
        chat = self.host.store.chats.create(channel="python")
        return await self.host.conversations.turn(chat.id, text, channel="python", attended=False)


@asynccontextmanager
async def workbench(folder: Path | str, **settings: object) -> AsyncIterator[Workbench]:
    """A host over this folder, with a home of its own and without the shelf; `settings` are rows of the settings table."""
    source = str(Path(folder).absolute())  # noqa: ASYNC240 - a name is made, nothing is read
    with tempfile.TemporaryDirectory(prefix="etui-") as home:
        rows = {"shelf": False, "sources": [{"path": source}], **settings}
        async with open_host(Home(Path(home)), rows, environ={}) as host:
            yield Workbench(host)
