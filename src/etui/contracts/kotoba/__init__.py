"""The contract `kotoba`: tool modules of the voice companion Kotoba, with a `SCHEMA` and an `async def execute(args, ctx)`.

`reading` imports a plugin and has each module described by `spec`; `calling` runs one call and `results` grades it; `names/`
are the modules that such files import, which exist inside workers only. Above: `run.child`. Below: the nouns.
It refuses to know: the host, and whether a call may run.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from etui.contracts import Contract, Description, Files, Line, Ran
from etui.contracts.kotoba import calling, product
from etui.contracts.kotoba.reading import Reading
from etui.contracts.kotoba.recognising import gives_schema
from etui.contracts.kotoba.spec import Spec
from etui.contracts.sized import within
from etui.outcome import Status
from etui.tool import Tool


class KotobaContract:
    """Describes and calls the modules of one plugin at a time."""

    name = "kotoba"

    def __init__(self) -> None:
        self._specs: dict[str, Spec] = {}
        self._voices: dict[str, dict[str, Any]] = {}
        self._work = ""

    def recognises(self, source: str) -> bool:
        """Whether the text gives its module a SCHEMA."""
        return gives_schema(source)

    def describe(self, files: Files) -> Description:
        """Import every file of the plugin and say what it offers."""
        product.offer_names()
        reading = Reading(files)
        reading.read()
        self._specs, self._work = reading.specs, files.work
        self._voices = {tool.name: _lines(tool) for tool in reading.tools}
        return Description(
            contract=self.name, tools=tuple(reading.tools), problems=tuple(reading.problems), wishes=reading.wishes
        )

    async def available(self, tool: str) -> bool:
        """What the module's own check says, asked in a thread. Raises what it raises; a check that cannot be called too."""
        spec = self._specs.get(tool)
        if spec is None or not spec.checked:
            return spec is not None
        answer, error = await asyncio.to_thread(_asked, spec.check)
        if error is not None:
            raise error
        return answer

    async def invoke(self, tool: str, arguments: dict[str, object], line: Line) -> Ran:
        """Run one call."""
        spec = self._specs.get(tool)
        if spec is None:
            return Ran(status=Status.FAILED, text=f"This plugin has no tool {tool!r} any more.")
        return within(await calling.run(spec, arguments, line, self._work, self._voices))


def _lines(tool: Tool) -> dict[str, Any]:
    """A tool's lines as Kotoba's table of them has them."""
    voice = tool.voice
    return {"before": voice.announce, "heartbeat": list(voice.heartbeat), "after": voice.complete, "fail": voice.fail}


def _asked(check: Any) -> tuple[bool, BaseException | None]:
    """Its answer, or what it raised, which cannot all travel through a future."""
    try:
        answer = check()
        if inspect.iscoroutine(answer):
            answer.close()
        return bool(answer), None
    except BaseException as error:  # a check may raise anything
        return False, error


CONTRACT: Contract = KotobaContract()
"""What `contracts.find("kotoba")` gives."""
