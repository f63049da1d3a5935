"""The contract `etui`: files whose functions are marked with `@tool`.

It imports a plugin's files, says which tools they offer and what is wrong with the rest, and runs one call.
Above: `run.child`, inside a worker. Below: importing, faults, functions, declaring, calling.
It refuses to know: the host, and whether a call may run.
"""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec

from etui.contracts import Description, Files, Line, Ran
from etui.contracts.etui import calling, results
from etui.contracts.etui.authoring import MADE, MARK, Declaration
from etui.contracts.etui.declaring import describe
from etui.contracts.etui.functions import Bound, Refused
from etui.contracts.etui.grants import declared_risks, grant_for
from etui.contracts.faults import MEND, fault, trace
from etui.contracts.importing import LARGEST, Package
from etui.contracts.media import clean, repr_of
from etui.contracts.sized import within
from etui.tool import Grant, Problem, Tool

_RECOGNISED = re.compile(r"^\ufeff?[ \t]*(?:from[ \t]+etui(?:\.[\w.]+)?[ \t]+import\b|import[ \t]+etui\b)", re.MULTILINE)

Place = tuple[str, int]
"""A file and a line."""


class EtuiContract:
    """Describes and calls the functions of one plugin at a time."""

    name = "etui"

    def __init__(self) -> None:
        self._bound: dict[str, Bound] = {}

    def recognises(self, source: str) -> bool:
        """Whether the text imports `etui`."""
        return _RECOGNISED.search(source) is not None

    def describe(self, files: Files) -> Description:
        """Import every file of the plugin and say what it offers."""
        reading = _Reading(files)
        reading.read()
        self._bound = reading.bound
        return Description(
            contract=self.name, tools=tuple(reading.tools), problems=tuple(reading.problems), wishes=reading.wishes()
        )

    async def available(self, tool: str) -> bool:
        """Whether the plugin has it: functions have no condition of their own."""
        return tool in self._bound

    async def invoke(self, tool: str, arguments: dict[str, object], line: Line) -> Ran:
        """Run one call."""
        bound = self._bound.get(tool)
        if bound is None:
            return results.failure(f"This plugin has no tool {tool!r} any more.")
        return within(await calling.run(bound, arguments, line))


class _Reading:
    """One plugin being read."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.tools: list[Tool] = []
        self.problems: list[Problem] = []
        self.bound: dict[str, Bound] = {}
        self._risks: set[str] = set()
        self._lines: dict[Place, int] = {}
        """Where the `def` stands, by the place of its first decorator."""
        self._seen: set[int] = set()
        self._owners: dict[str, Place] = {}
        folder = files.path if Path(files.path).is_dir() else str(Path(files.path).parent)
        slug = re.sub(r"\W", "_", files.plugin)
        self._package = Package(f"etui_plugin_{slug}", folder, files.files or (files.path,))

    def read(self) -> None:
        """Import every file and collect the tools."""
        for path in self._package.modules.values():
            self._parse(str(path))
        self._package.open()
        files = [str(path) for path in self._package.modules.values()]
        modules = [(file, module) for file in files if (module := self._load(file))]
        for file, module in modules:
            for function, declaration in self._declared(file, module):
                self._offer(function, declaration, file)
        if not self.tools and not self.problems:
            self._say_empty()

    def wishes(self) -> Grant:
        """What the source declares, whether or not it loaded."""
        return grant_for(self._risks, self.files.work)

    def _parse(self, file: str) -> None:
        """Read what can be known without running the file; what is wrong with it, the import will say."""
        try:
            if Path(file).stat().st_size > LARGEST:
                return
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                nodes = list(ast.walk(ast.parse(Path(file).read_bytes(), file)))
            self._risks |= declared_risks(nodes)
            for node in nodes:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.decorator_list:
                    self._lines[file, node.decorator_list[0].lineno] = node.lineno
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return

    def _load(self, file: str) -> ModuleType | None:
        try:
            return self._package.load(file)
        except BaseException as error:  # a file may raise anything, SystemExit too: it costs this file
            self.problems.append(fault(error, file, self._package, self.files))
            return None

    def _declared(self, file: str, module: ModuleType) -> Iterator[tuple[object, Declaration]]:
        """The decorated functions of a module in their order, each once in the whole plugin."""
        visible = {id(made): (thing, made) for thing in list(vars(module).values()) if (made := _declaration(thing))}
        for function in vars(module).get(MADE, ()):
            made = _declaration(function)
            if made is None or id(made) in self._seen:
                continue
            if id(made) in visible or self._stands_alone(function, module):
                self._seen.add(id(made))
                yield visible.get(id(made), (function, made))
        for thing, made in visible.values():
            if id(made) not in self._seen:
                self._seen.add(id(made))
                yield thing, made

    def _stands_alone(self, function: object, module: ModuleType) -> bool:
        """Whether a function that its module no longer shows is a tool all the same, as when a later tool took its name."""
        name = str(getattr(function, "__name__", ""))
        qualname = str(getattr(function, "__qualname__", name))
        made = _declaration(function)
        place = self._place(function, made.place if made else ("", 0))
        if "." in qualname:
            hint = "Move it to the top level of the file."
            self._problem(name, "It is inside a class or function, so it is not offered.", place, hint=hint, refused=False)
            return False
        if name not in vars(module):
            return False
        if _declaration(vars(module)[name]) is None:
            reason = "Something else has taken its name in the file, so it is not offered."
            self._problem(name, reason, place, hint="Put @tool above all other decorators, and use the name once.")
            return False
        return True

    def _offer(self, function: object, declaration: Declaration, file: str) -> None:
        place = self._place(function, declaration.place)
        name = str(declaration.options.get("name") or getattr(function, "__name__", type(function).__name__))
        try:
            if isinstance(function, type) or not callable(function):
                raise Refused("@tool goes on a function, and this is none.")
            bound = Bound(function, declaration)
            tool = describe(
                bound, plugin=self.files.plugin, source=self.files.source, contract="etui", digest=self.files.digest
            )
        except Refused as error:
            self._problem(name, _sentence(str(error)), place, hint=error.hint or MEND)
            return
        except Exception as error:  # a foreign object in a hint or option may raise anything: it costs this tool
            self._problem(name, f"It cannot be described: {repr_of(error)}.", place, trace=trace(error))
            return
        if tool.name in self._owners:
            first = self._owners[tool.name]
            reason = (
                f"The name {tool.name!r} is taken: by {Path(first[0]).name} line {first[1]}; this one is on line {place[1]}."
            )
            self._problem(tool.name, reason, place, hint="Give one of them another name: @tool(name=...).")
            return
        for warning in bound.warnings:
            self._problem(tool.name, _sentence(warning), place, refused=False)
        bound.work = self.files.work
        self._owners[tool.name] = place
        self.bound[tool.entry] = self.bound[tool.name] = bound
        self.tools.append(msgspec.structs.replace(tool, file=place[0], line=place[1]))

    def _place(self, function: object, decorated: Place) -> Place:
        """File and line of the `def`; of what has none, where `@tool` stands."""
        code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
        if code is None:
            return decorated
        found: Place = (code.co_filename, code.co_firstlineno)
        return found[0], self._lines.get(found, found[1])

    def _problem(self, what: str, reason: str, place: Place, *, hint: str = "", refused: bool = True, trace: str = "") -> None:
        self.problems.append(
            Problem(
                what=what,
                reason=clean(reason),
                hint=hint,
                file=place[0],
                line=place[1],
                plugin=self.files.plugin,
                source=self.files.source,
                refused=refused,
                trace=trace,
            )
        )

    def _say_empty(self) -> None:
        path = Path(self.files.path)
        is_file = path.is_file()
        empty = is_file and not path.read_bytes().strip()
        reason = "It is empty." if empty else "It offers no tool."
        hint = "Put @tool above a function: from etui import tool."
        self._problem(path.name, reason, (str(path) if is_file else "", 0), hint=hint)


def _declaration(thing: object) -> Declaration | None:
    """What `@tool` left on a thing, asked without waking anything that answers to every name."""
    made = inspect.getattr_static(thing, MARK, None)
    return made if isinstance(made, Declaration) else None


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
