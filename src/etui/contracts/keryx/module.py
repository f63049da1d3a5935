"""One tool file run from bytes as a module: Keryx's name, the file's own path, no package around it and no bytecode.

Above: `reading`. Below: Python's import system. It refuses to know: what a tool is, and where the bytes come from.
"""

from __future__ import annotations

import importlib.util
import linecache
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

PACKAGE = "keryx_custom_tools"
"""No package of this name exists while a file runs: it has no siblings that it could import."""


def run(path: str, code: bytes) -> ModuleType:
    """The module that these bytes make. Raises whatever they raise, and then it is gone from the process."""
    name = f"{PACKAGE}.{Path(path).stem}"
    spec = ModuleSpec(name, cast("Any", _Bytes(path, code)), origin=path)
    spec.has_location = True
    spec.cached = None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.modules.pop(PACKAGE, None)
    try:
        cast("Any", spec.loader).exec_module(module)
    except BaseException:  # whatever ended it, the half-made module goes
        if sys.modules.get(name) is module:
            del sys.modules[name]
        raise
    sys.modules[PACKAGE] = ModuleType(PACKAGE)  # pickle finds the module's own classes by way of it
    return module


class _Bytes:
    """Runs bytes that were read before; an `importlib.abc.InspectLoader` in all but name."""

    def __init__(self, path: str, code: bytes) -> None:
        self._path = path
        self._code = code

    def create_module(self, spec: ModuleSpec) -> None:
        """Leaves it to Python."""

    def get_source(self, fullname: str) -> str:
        """The text, for tracebacks."""
        return importlib.util.decode_source(self._code)

    def get_code(self, fullname: str) -> CodeType:
        """The compiled bytes. Raises SyntaxError for whatever is no Python."""
        try:
            return compile(self._code, self._path, "exec", dont_inherit=True)
        except (ValueError, OverflowError) as error:
            raise SyntaxError(str(error)) from None
        except (RecursionError, MemoryError):
            raise SyntaxError("the code nests too deeply for Python") from None

    def exec_module(self, module: ModuleType) -> None:
        """Run them in the module; whoever looks for the source sees what ran, whatever the file has become since."""
        code = self.get_code(module.__name__)
        lines = self.get_source(module.__name__).splitlines(keepends=True)
        linecache.cache[self._path] = (len(self._code), None, lines, self._path)
        exec(code, vars(module))
