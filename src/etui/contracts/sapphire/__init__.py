"""The contract `sapphire`: plugin folders with a `plugin.json`, and loose modules; `TOOLS` and one `execute` in each.

`reading` runs a plugin's files and has each described by `exports`; `calling` runs one call and `results` grades it; `names/`
are the modules that such files import, which exist inside workers only. Above: `run.child`. Below: the nouns.
It refuses to know: the host, and whether a call may run.
"""

from __future__ import annotations

import asyncio

from etui.contracts import REFRESH, SHUTDOWN, Contract, Description, Files, Line, Ran
from etui.contracts.listing import lists_tools
from etui.contracts.sapphire import calling, current, dynamic, handling, product, threads
from etui.contracts.sapphire.handling import Handling
from etui.contracts.sapphire.reading import Reading
from etui.outcome import Status


class SapphireContract:
    """Describes and calls the files of one plugin at a time."""

    name = "sapphire"

    def __init__(self) -> None:
        self._reading: Reading | None = None
        self._handling: Handling | None = None

    def recognises(self, source: str) -> bool:
        """Whether the text lists TOOLS and has an `execute` at its top level."""
        return lists_tools(source)

    def describe(self, files: Files) -> Description:
        """Run every listed file of the plugin and say what it offers."""
        current.begin(files)
        threads.follow()
        product.offer_names(files)
        self._reading = reading = Reading(files)
        self._handling = handlers = Handling(files)
        dynamic.begin(reading)
        handlers.read(handling.FIRST)
        reading.read()
        handlers.read(handling.LAST)
        return Description(
            contract=self.name,
            tools=tuple(reading.tools),
            problems=(*reading.problems, *handlers.problems),
            wishes=reading.wishes,
            notes=tuple(handlers.notes),
            settings=tuple(reading.settings),
            handlers=tuple(handlers.handlers),
        )

    async def available(self, tool: str) -> bool:
        """A tool that is there can be used."""
        return self._reading is not None and tool in self._reading.exports

    async def invoke(self, tool: str, arguments: dict[str, object], line: Line) -> Ran:
        """Run one call, one handler, or what the host wants of the plugin as a whole: `@shutdown`, `@tools`."""
        if self._reading is None or self._handling is None:
            return calling.without(tool)
        current.enter(line)
        if tool == SHUTDOWN:
            await self._handling.stop(line)
            await asyncio.to_thread(self._reading.shut_down)
            return Ran(status=Status.OK)
        if tool == REFRESH:
            return Ran(status=Status.OK, data=await asyncio.to_thread(self._reading.refreshed))
        if tool.startswith("@"):
            return await self._handling.invoke(tool, arguments, line)
        exports = self._reading.exports.get(tool)
        return await calling.run(exports, tool, arguments, line) if exports is not None else calling.without(tool)


CONTRACT: Contract = SapphireContract()
"""What `contracts.find("sapphire")` gives."""
