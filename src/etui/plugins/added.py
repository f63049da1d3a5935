"""Functions that a program registered itself, as one plugin that no folder holds.

Each is described as the contract `etui` describes a tool file's function, and is run in the program's own process.
Above: `host` adds and removes them, `catalogue` asks for the plugin. Below: the contract, and the runner that is handed in.
It refuses to know: the registry, and who may call.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import msgspec

from etui.contracts import Line, Ran
from etui.contracts.etui import calling
from etui.contracts.etui.authoring import MARK, Declaration
from etui.contracts.etui.declaring import describe
from etui.contracts.etui.functions import Bound, Refused
from etui.errors import UsageError
from etui.tool import INLINE, Plugin, Problem, Tool


class Runs(Protocol):
    """Who runs them."""

    def add(self, name: str, invoke: Callable[[str, dict[str, object], Line], Awaitable[Ran]]) -> None:
        """The tool of that name is run by this."""
        ...

    def remove(self, name: str) -> None:
        """It is not run any more; calls under way end as they would."""
        ...


class Added:
    """The functions of one host, by the names of their tools."""

    def __init__(self, runs: Runs, work: str) -> None:
        """`work` is the working folder, for functions that take a context."""
        self._runs = runs
        self._work = work
        self._tools: dict[str, Tool] = {}
        self._problems: dict[str, tuple[Problem, ...]] = {}

    def plugins(self) -> list[Plugin]:
        """The one plugin that they are, or nothing while there are none."""
        if not self._tools:
            return []
        problems = tuple(problem for found in self._problems.values() for problem in found)
        return [Plugin(name=INLINE, contract=INLINE, source=INLINE, path="", tools=self.tools(), problems=problems)]

    def tools(self) -> tuple[Tool, ...]:
        """Their tools, in the order in which they were added."""
        return tuple(self._tools.values())

    def read(self, function: Callable[..., Any], options: Mapping[str, object]) -> tuple[Tool, Bound]:
        """The tool that a function would be; `options` stand above its `@tool`'s. Raises UsageError with what is wrong."""
        declared = getattr(function, MARK, None)
        scope = declared.scope if isinstance(declared, Declaration) else None
        before = declared.options if isinstance(declared, Declaration) else {}
        name = getattr(function, "__name__", type(function).__name__)
        try:
            if isinstance(function, type) or not callable(function):
                raise Refused("a tool is a function, and this is none.")
            bound = Bound(function, Declaration(function, {**before, **options}, scope))
            tool = describe(bound, plugin=INLINE, source=INLINE, contract=INLINE, digest=_digest(function))
        except Refused as error:
            raise UsageError(f"{name!r} is no tool: {error} {error.hint}".rstrip()) from None
        file, line = _place(function)
        return msgspec.structs.replace(tool, file=file, line=line), bound

    def keep(self, tool: Tool, bound: Bound) -> None:
        """Offer it from now on."""
        bound.work = self._work
        self._tools[tool.name] = tool
        self._problems[tool.name] = tuple(
            Problem(
                what=tool.name,
                reason=warning[:1].upper() + warning[1:],
                file=tool.file,
                line=tool.line,
                plugin=INLINE,
                source=INLINE,
                refused=False,
            )
            for warning in bound.warnings
        )

        async def invoke(_: str, arguments: dict[str, object], line: Line) -> Ran:
            return await calling.run(bound, arguments, line)

        self._runs.add(tool.name, invoke)

    def remove(self, name: str) -> None:
        """Take one back. Raises UsageError where there is none of that name."""
        if self._tools.pop(name, None) is None:
            raise UsageError(f"No function {name!r} was added by this program.")
        del self._problems[name]
        self._runs.remove(name)


def _place(function: Callable[..., Any]) -> tuple[str, int]:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)


def _digest(function: Callable[..., Any]) -> str:
    """What a remembered approval is bound to: the function's text, or where there is none its bytes."""
    try:
        text = inspect.getsource(function).encode()
    except (OSError, TypeError):
        code = getattr(inspect.unwrap(function), "__code__", None)
        text = code.co_code + repr(code.co_names).encode() if code is not None else repr(type(function)).encode()
    return hashlib.sha256(text).hexdigest()
