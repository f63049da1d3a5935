"""The contract `keryx`: the custom tools of the voice agent Keryx, made with `@custom_tool` in files of one flat folder.

`reading` runs a file and has each tool looked at by `checks`, `beside` says what it asks for; `calling` runs one call and
`results` makes its payload; `names/` are the modules that such files import, inside workers only. Above: `run.child`.
Below: the nouns. It refuses to know: the host, whether a call may run, and how long it may take.
"""

from __future__ import annotations

import re
from pathlib import Path

from etui.contracts import Contract, Description, Files, Line, Ran
from etui.contracts.keryx import calling, product, reading, results, settings
from etui.contracts.keryx.beside import asked
from etui.contracts.keryx.builtin import BUILTIN_TOOL_NAMES
from etui.contracts.keryx.custom import CustomTool
from etui.contracts.keryx.describing import NAME, made
from etui.contracts.sized import within
from etui.outcome import Status
from etui.tool import Grant, Problem, Tool

_RECOGNISED = re.compile(r"^\ufeff?[ \t]*(?:from|import)[ \t]+keryx\b", re.MULTILINE)


class KeryxContract:
    """Describes and calls the tools of one file at a time; of several, where a folder holds them."""

    name = NAME

    def __init__(self) -> None:
        self._tools: dict[str, CustomTool] = {}

    def recognises(self, source: str) -> bool:
        """Whether the text imports something of Keryx's."""
        return _RECOGNISED.search(source) is not None

    def describe(self, files: Files) -> Description:
        """Run every file and say what it offers."""
        product.offer_names()
        known = settings.told(files.facts)
        taken = {*files.taken, *BUILTIN_TOOL_NAMES}
        self._tools = {}
        tools: list[Tool] = []
        problems: list[Problem] = []
        wanted = Grant()
        for path in files.files or (files.path,):
            if Path(path).name.startswith("_"):
                continue
            code = files.code[path] if path in files.code else Path(path).read_bytes()
            wished = asked(path, files.code, code, files.work)
            wanted |= wished
            if files.unread:
                continue
            for found in reading.read(path, code, taken, known):
                told = made(found, path, files, wished)
                if isinstance(told, Problem):
                    problems.append(told)
                elif isinstance(found, CustomTool):
                    self._tools[told.name] = found
                    tools.append(told)
        return Description(contract=self.name, tools=tuple(tools), problems=tuple(problems), wishes=wanted)

    async def available(self, tool: str) -> bool:
        """Whether the file has it: Keryx's tools say no more than that."""
        return tool in self._tools

    async def invoke(self, tool: str, arguments: dict[str, object], line: Line) -> Ran:
        """Run one call."""
        found = self._tools.get(tool)
        if found is None:
            return Ran(status=Status.FAILED, text=results.sentence(f"this file has no tool {tool!r} any more"))
        return within(await calling.run(found, arguments, line))


CONTRACT: Contract = KeryxContract()
"""What `contracts.find("keryx")` gives."""
