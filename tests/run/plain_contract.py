"""A contract for tests of the runners: each public function of the file is a tool, called as `tool(arguments, line)`."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import traceback
from types import ModuleType

from etui.contracts import Description, Files, Line, Ran
from etui.outcome import Status
from etui.tool import Problem, Tool


class Plain:
    name = "plain"

    def __init__(self) -> None:
        self.functions: dict[str, object] = {}

    def recognises(self, source: str) -> bool:
        return True

    def describe(self, files: Files) -> Description:
        try:
            module = load(files.path)
        except Exception as error:
            problem = Problem(what=files.plugin, reason=f"{type(error).__name__}: {error}", file=files.path)
            return Description(contract="plain", problems=(problem,))
        self.functions = {
            name: function
            for name, function in vars(module).items()
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
        }
        tools = tuple(
            Tool(name=name, description="", parameters={}, contract="plain", plugin=files.plugin) for name in self.functions
        )
        return Description(contract="plain", tools=tools)

    async def invoke(self, tool: str, arguments: dict[str, object], line: Line) -> Ran:
        function = self.functions[tool]
        if inspect.iscoroutinefunction(function):
            work = function(arguments, line)
        else:
            work = asyncio.to_thread(function, arguments, line)
        try:
            result = await work
        except Exception as error:
            return Ran(status=Status.FAILED, error=type(error).__name__, detail=traceback.format_exc())
        return result if isinstance(result, Ran) else Ran(status=Status.OK, data=result)


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("plain_plugin", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CONTRACT = Plain()
