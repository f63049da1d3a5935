"""Where a plugin's modules are found: `plugins.<folder>.<path with dots>`, and a loose file as `sapphire.functions.<stem>`.

The root is where imports start in Sapphire, so `user.plugins`, `functions` and `user.functions` mean what lies there, too.

A file that the manifest lists is run before its name is known to `import`, and is not run again where a sibling imported it
already; everything else is found as in any package, from its bytes alone. Above: `product`, `reading`. Below: Python's import
system, `importing`. It refuses to know: what a file offers.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

from etui.contracts import Files, sealed
from etui.contracts.importing import code_of
from etui.contracts.sapphire import current
from etui.errors import ServiceError

TOP = "plugins"
LOOSE = "functions"
USER = "user"
TOPS = (TOP, LOOSE, USER)
"""The folders of a root that are imported from."""


def offer(files: Files) -> None:
    """Let `plugins` mean the folders of this plugin and of the others that are on; what an older one left is gone."""
    others = files.facts.get("folders")
    known = {str(name): Path(str(path)) for name, path in others.items()} if isinstance(others, dict) else {}
    own = Path(files.path)
    if own.is_dir():
        known[own.name] = own
    sealed.hold(sealed.Sealed(files.sealed, files.copies))
    for name in [name for name in sys.modules if name.split(".")[0] in TOPS]:
        del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    sys.meta_path.insert(0, cast("Any", _Finder(known, _loose(files))))


def _loose(files: Files) -> dict[str, Path]:
    """Where loose modules are imported from; of `user/`, where plugins may write, only what is sealed is run."""
    shipped, own = current.root() / LOOSE, current.root() / USER / LOOSE
    return {LOOSE: shipped, f"{USER}.{LOOSE}": own if str(own) in files.sealed else shipped}


def name_of(files: Files, path: str) -> str:
    """The module name that a file of the plugin has."""
    own = Path(files.path)
    if not own.is_dir():
        return f"sapphire.functions.{Path(path).stem}"
    return ".".join([TOP, *_steps(own, path)])


def _steps(own: Path, path: str) -> list[str]:
    """The names of the plugin's folder, of those in it, and of the file."""
    return [own.name, *Path(path).relative_to(own).with_suffix("").parts]


def load(files: Files, path: str) -> ModuleType:
    """Run one listed file. Raises whatever it raises, and then it is as if it had never been run."""
    name = name_of(files, path)
    loose = not name.startswith(f"{TOP}.")
    if not loose and name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = path
    _run(module, _code(Path(path)))
    if not loose:
        sys.modules[name] = module
        if not any(
            "." in step for step in _steps(Path(files.path), path)
        ):  # `weather-1.2` is no name that `import` could follow
            _hang(module)
    return module


def _run(module: ModuleType, code: CodeType) -> None:
    """Run a body; its name is known meanwhile only where it makes data classes, which look up there what annotations mean."""
    name = module.__name__
    known = "dataclasses" in code.co_names and name not in sys.modules
    if known:
        sys.modules[name] = module
    try:
        exec(code, vars(module))
    finally:
        if known:
            sys.modules.pop(name, None)


def _code(file: Path) -> CodeType:
    """A file's code: of the bytes that the host gave for it, else of what lies there. Raises SyntaxError."""
    given = current.files().code.get(str(file))
    if given is None and (real := sealed.real(file)) != file:
        given = real.read_bytes()
    return code_of(file) if given is None else compile(given, str(file), "exec", dont_inherit=True)


def there(file: Path) -> bool:
    """Whether there is such a file to be run."""
    return str(file) in current.files().code or sealed.real(file).is_file()


def _newer(name: str) -> Path | None:
    """Where a plugin of that folder lies that was switched on after this one was started."""
    if current.on_loop():
        return None
    try:
        found = current.ask("plugins.folders")
    except ServiceError:
        return None
    path = found.get(name) if isinstance(found, dict) else None
    return Path(path) if isinstance(path, str) else None


def _hang(module: ModuleType) -> None:
    """Make it an attribute of the folders above it, so that its dotted name can be followed; no `__init__.py` is run for it."""
    parent, _, child = module.__name__.rpartition(".")
    steps = len(parent.split(".")) - 1
    started = any(there(folder / "__init__.py") for folder in Path(str(module.__file__)).parents[:steps])
    if parent in sys.modules or not started:
        setattr(importlib.import_module(parent), child, module)


class _Finder:
    """Finds `plugins` and what lies in its folders, and the loose modules; a finder in all but name."""

    def __init__(self, folders: Mapping[str, Path], loose: Mapping[str, Path]) -> None:
        self._folders = folders
        self._loose = loose

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """The folder or file of that name."""
        if fullname in (TOP, USER, f"{USER}.{TOP}"):
            return _folder(fullname, None)
        top, parts = self._top(fullname.split("."))
        if top is None:
            return None
        place = top.joinpath(*parts)
        if sealed.real(place).is_dir():
            return _folder(fullname, place)
        file = place.with_name(f"{place.name}.py")
        if not parts or not there(file):
            return None
        spec = importlib.machinery.ModuleSpec(fullname, cast("Any", _Loader(file)), origin=str(file))
        spec.has_location = True
        return spec

    def _top(self, parts: list[str]) -> tuple[Path | None, list[str]]:
        """The folder of a plugin, or of loose modules, in which a name leads somewhere, and where in it."""
        if parts[0] == USER and TOP in parts[1:2]:
            parts = parts[1:]
        if parts[0] == TOP:
            return self._folders.get(parts[1]) or _newer(parts[1]), parts[2:]
        depth = 2 if parts[0] == USER else 1
        return self._loose.get(".".join(parts[:depth])), parts[depth:]


def _folder(fullname: str, place: Path | None) -> importlib.machinery.ModuleSpec:
    start = place / "__init__.py" if place is not None else None
    file = start if start is not None and there(start) else None
    spec = importlib.machinery.ModuleSpec(
        fullname, cast("Any", _Loader(file)), origin=str(file) if file else None, is_package=True
    )
    spec.submodule_search_locations = [str(place)] if place is not None else []
    spec.has_location = file is not None
    return spec


class _Loader:
    """Runs a file from its bytes, or makes an empty package; a loader in all but name."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Leaves it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the file in its module."""
        if self._file is not None:
            exec(_code(self._file), vars(module))
