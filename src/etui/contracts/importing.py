"""Bringing a plugin's files into the process: under a private package, from their bytes alone, and gone if they fail.

Within the plugin `import helper`, `from phrases import HELLO` and `from . import helper` all mean the plugin's own files, and
the same module; a `chess.py` that imports `chess` means the library. Nothing else in the process sees them by these names. No
bytecode is read or written, so what runs is what the digest covers.
Above: the contracts. Below: Python's import system. It refuses to know: what a tool is.
"""

from __future__ import annotations

import builtins
import codecs
import importlib
import importlib.machinery
import importlib.util
import itertools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

LARGEST = 2 * 1024 * 1024
"""Bytes that a tool file may have."""

_RESERVED = frozenset(sys.stdlib_module_names) | {"etui"}
"""Names that a plugin's own files never take the place of; `from . import name` still finds them."""


class Package:
    """One plugin's files as an importable package: a module in it is called after the path of its file."""

    def __init__(self, name: str, folder: str, files: Sequence[str]) -> None:
        self.name = name
        self.folder = Path(folder)
        self.modules: dict[str, Path] = {}
        """Paths by full module name."""
        self.stack: list[str] = []
        """The modules that are being run right now, the outermost first."""
        self.stuck: dict[int, tuple[str, ...]] = {}
        """By the error's identity, the stack when it was first seen."""
        for file in files:
            self.modules[self.module_of(file)] = Path(file)
        self._packages = self._folders()
        self._finder = _Finder(self)

    def module_of(self, path: str | Path) -> str:
        """The full name of the module that a file is."""
        file = Path(path)
        try:
            parts = list(file.relative_to(self.folder).with_suffix("").parts)
        except ValueError:
            parts = [file.stem]
        if parts[-1] == "__init__":
            parts.pop()
        return ".".join([self.name, *(part.replace(".", "_") for part in parts)])

    def _folders(self) -> set[str]:
        """The full names of the modules that are folders."""
        return {self.name, *(parent for module in self.modules for parent in _parents(module, self.name))}

    def open(self) -> None:
        """Make the package importable; what an older one of the same name left is gone."""
        self.close()
        sys.meta_path.insert(0, cast("Any", self._finder))

    def close(self) -> None:
        """Take the package and every module of it out of the process."""
        sys.meta_path[:] = [
            finder for finder in sys.meta_path if not (isinstance(finder, _Finder) and finder.package.name == self.name)
        ]
        for name in list(self._loaded()):
            del sys.modules[name]

    def load(self, file: str) -> ModuleType:
        """Import one file. Raises whatever it raises, and then nothing of this attempt is left in the process."""
        before = set(self._loaded())
        self.stack.clear()
        self.stuck.clear()
        try:
            return importlib.import_module(self.module_of(file))
        except BaseException:  # whatever ended the import, the half-made modules go
            for name in set(self._loaded()) - before:
                sys.modules.pop(name, None)
                parent, _, child = name.rpartition(".")
                if parent in sys.modules:
                    vars(sys.modules[parent]).pop(child, None)
            raise

    def short(self, module: str) -> str:
        """A module's name as its author writes it."""
        return module.removeprefix(self.name + ".")

    def circle(self, error: BaseException) -> tuple[str, ...]:
        """The modules of a circular import that an error comes from, the first one again at the end; else empty."""
        if type(error) not in (ImportError, AttributeError):
            return ()
        match = re.search(r"partially initialized module '([^']+)'", str(error))
        stack = self.stuck.get(id(error), ())
        if match is None or match[1] not in stack:
            return ()
        chain = stack[stack.index(match[1]) :]
        return tuple(self.short(name) for name in (*chain, chain[0]))

    def current(self, error: BaseException) -> str:
        """The file that was being read when the error was first seen; empty if none was."""
        stack = self.stuck.get(id(error), ())
        return str(self.modules.get(stack[-1], "")) if stack else ""

    def sibling(self, name: str, importer: str) -> str:
        """The full name of the plugin's own file that an absolute import of `name` means; empty if it means none."""
        head = name.split(".")[0]
        if head in _RESERVED:
            return ""
        module = importer if importer in self._packages else importer.rpartition(".")[0]
        for place in dict.fromkeys((module, self.name)):
            full = f"{place}.{head}"
            if full in self._packages or (full in self.modules and full != importer):
                return f"{place}.{name}"
        return self._itself(name) if head == self.folder.name else ""

    def _itself(self, name: str) -> str:
        """The full name of what the plugin means that calls itself by its folder's name; empty where a library has it too."""
        full = self.name + name.removeprefix(self.folder.name)
        return full if self._knows(full) and not self._elsewhere(self.folder.name) else ""

    def _elsewhere(self, name: str) -> bool:
        """Whether an installed library is called so."""
        try:
            return importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):  # a module of that name that was made by hand
            return True

    def _knows(self, module: str) -> bool:
        return module in self.modules or module in self._packages

    def folder_of(self, module: str) -> Path:
        """Where the files of a module that is a folder lie."""
        return self.folder.joinpath(*module.removeprefix(self.name).split("."))

    def is_package(self, module: str) -> bool:
        """Whether the module is a folder."""
        return module in self._packages

    def parent(self, module: str) -> str:
        """The package from which the relative imports of a module start."""
        return module if self.is_package(module) else module.rpartition(".")[0]

    def meant(self, module: str) -> str:
        """The module that is really meant by a name of it; itself unless it has two."""
        return module

    def _loaded(self) -> Iterator[str]:
        return (name for name in list(sys.modules) if name == self.name or name.startswith(self.name + "."))


class Flat(Package):
    """One folder's files as modules side by side, called `<name>_<stem>`, which `<name>.<stem>` means too.

    What lies in its subfolders is called as in any package, `<name>.<folder>.<stem>`.
    """

    def __init__(self, name: str, folder: str, files: Sequence[str], *, apart: Sequence[str] = ()) -> None:
        """`apart` are files that stand for themselves: an installed library of the same name is meant before them."""
        own = [file for file in files if Path(file).stem != "__init__" or Path(file).parent != Path(folder)]
        super().__init__(name, folder, own)
        beside = {f"{name}.{_stem(path)}": module for module, path in self.modules.items() if path.parent == self.folder}
        self._others = {other: module for other, module in beside.items() if other not in self._packages}
        self._apart = {self.module_of(file) for file in apart}

    def module_of(self, path: str | Path) -> str:
        """The full name of the module that a file is."""
        file = Path(path)
        below = file.parent != self.folder and file.is_relative_to(self.folder)
        return super().module_of(file) if below else f"{self.name}_{_stem(file)}"

    def short(self, module: str) -> str:
        """A module's name as its author writes it."""
        return super().short(module).removeprefix(self.name + "_")

    def sibling(self, name: str, importer: str) -> str:
        """The full name of the plugin's own file that an absolute import of `name` means; empty if it means none."""
        head = name.split(".")[0]
        if head in _RESERVED:
            return ""
        if f"{self.name}.{head}" in self._packages:
            return f"{self.name}.{name}"
        own = self._others.get(f"{self.name}.{name}", "")
        if own and (own == importer or (own in self._apart and self._elsewhere(head))):
            return ""
        return own or (self._itself(name) if head == self.folder.name else "")

    def parent(self, module: str) -> str:
        """The package from which the relative imports of a module start."""
        return super().parent(module) if module.startswith(self.name + ".") else self.name

    def meant(self, module: str) -> str:
        """The module that is really meant by a name of it; itself unless it has two."""
        return self._others.get(module, module)

    def _folders(self) -> set[str]:
        below = [module for module in self.modules if module.startswith(self.name + ".")]
        return {self.name, *(parent for module in below for parent in _parents(module, self.name))}

    def _knows(self, module: str) -> bool:
        return module in self._others or super()._knows(module)

    def _loaded(self) -> Iterator[str]:
        beside = (name for name in self.modules if name in sys.modules)
        return itertools.chain(beside, super()._loaded())


def _stem(file: Path) -> str:
    return file.stem.replace(".", "_")


def _parents(module: str, root: str) -> Iterator[str]:
    while module != root:
        module = module.rpartition(".")[0]
        yield module


class _Finder:
    """Finds the modules of one plugin; an `importlib.abc.MetaPathFinder` in all but name, which costs 5 ms to import."""

    def __init__(self, package: Package) -> None:
        self.package = package

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """The plugin's file, or its folder, of that name."""
        package = self.package
        if (meant := package.meant(fullname)) != fullname:
            return importlib.machinery.ModuleSpec(fullname, cast("Any", _SecondName(meant)))
        file = package.modules.get(fullname)
        if file is None and not package.is_package(fullname):
            return None
        origin = str(file) if file else None
        spec = _Spec(fullname, cast("Any", _Loader(package, file)), origin=origin, is_package=package.is_package(fullname))
        spec.package = package.parent(fullname)
        spec.has_location = file is not None
        return spec


class _Spec(importlib.machinery.ModuleSpec):
    """Says itself from which package relative imports start."""

    package = ""

    @property
    def parent(self) -> str:
        """The name of that package."""
        return self.package


class _SecondName:
    """Gives a module that is there under another name; a loader in all but name."""

    def __init__(self, meant: str) -> None:
        self._meant = meant

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Leaves it to Python, whose empty module is put away at once."""

    def exec_module(self, module: ModuleType) -> None:
        """Let the module that is meant take the place."""
        sys.modules[module.__name__] = importlib.import_module(self._meant)


class _Resources:
    """The files of one folder; an `importlib.resources.abc.TraversableResources` as far as it is asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def files(self) -> Path:
        """The folder."""
        return self._folder


class _Loader:
    """Runs one file of a plugin from its bytes; an `importlib.abc.InspectLoader` in all but name."""

    def __init__(self, package: Package, file: Path | None) -> None:
        self._package = package
        self._file = file

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Leaves it to Python."""

    def get_source(self, fullname: str) -> str:
        """The text of the file, for tracebacks."""
        return importlib.util.decode_source(self._file.read_bytes()) if self._file else ""

    def get_code(self, fullname: str) -> CodeType:
        """The compiled file. Raises SyntaxError, ValueError."""
        return code_of(self._file) if self._file else compile("", "<folder>", "exec")

    def get_data(self, path: str) -> bytes:
        """The bytes of a file of the plugin, as `pkgutil.get_data` asks. Raises OSError."""
        return Path(path).read_bytes()

    def get_resource_reader(self, fullname: str) -> _Resources:
        """What `importlib.resources` asks for the files beside the plugin's own."""
        return _Resources(self._package.folder_of(fullname))

    def exec_module(self, module: ModuleType) -> None:
        """Run the file in its module."""
        package = self._package
        name = module.__name__
        package.stack.append(name)
        vars(module)["__builtins__"] = _builtins_for(package, name)
        try:
            exec(self.get_code(name), vars(module))
        except BaseException as error:  # noted, and raised again
            package.stuck.setdefault(id(error), tuple(package.stack))
            raise
        finally:
            package.stack.pop()


def code_of(file: Path) -> CodeType:
    """A file's code, compiled from its bytes. Raises SyntaxError for whatever is no Python."""
    size = file.stat().st_size
    if size > LARGEST:
        raise SyntaxError(f"the file has {size / 1024 / 1024:.0f} MB; a tool file may have {LARGEST // 1024 // 1024}")
    text = file.read_bytes()
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SyntaxError("the file is saved as UTF-16 or UTF-32, and Python reads UTF-8: save it as UTF-8")
    if (null := text.find(b"\0")) >= 0:
        line = text.count(b"\n", 0, null) + 1
        raise SyntaxError("there is a null byte in it, which UTF-8 text has not: save it as UTF-8", (str(file), line, 1, ""))
    try:
        return compile(text, str(file), "exec", dont_inherit=True)
    except (ValueError, OverflowError) as error:
        raise SyntaxError(str(error)) from None
    except (RecursionError, MemoryError):
        raise SyntaxError("the code nests too deeply for Python") from None


def _builtins_for(package: Package, importer: str) -> Mapping[str, Any]:
    """The built-ins of one module, with an `import` that knows the plugin's own files."""

    def own_import(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        full = package.sibling(name, importer) if level == 0 and name else ""
        if not full:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        if fromlist:
            return builtins.__import__(full, globals, locals, fromlist, 0)
        importlib.import_module(full)
        return sys.modules[full.removesuffix("." + name.partition(".")[2]) if "." in name else full]

    return {**vars(builtins), "__import__": own_import}
