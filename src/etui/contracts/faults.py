"""Why a file did not load, in one sentence with file and line, and tracebacks, for the person who wrote it.

Above: the contracts. Below: `importing`. It refuses to know: what else is wrong with the plugin; one error makes one `Problem`.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from etui.contracts import Files
from etui.contracts.importing import Package
from etui.contracts.media import clean, repr_of
from etui.tool import Problem

_PACKAGES = {
    "PIL": "Pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
    "serial": "pyserial",
    "usb": "pyusb",
    "Crypto": "pycryptodome",
}
"""Packages that are installed under another name than they are imported by."""

_DETAIL = 20_000
"""Characters of a traceback."""
_BRIEF = 300
"""Characters of an error on one line."""
Own = Callable[[BaseException], tuple[str, str] | None]
"""What a contract has to say itself about an error: the reason and what to do; None leaves it to `fault`."""

MEND = "Mend the file and save it; it is read again at once."


def fault(error: BaseException, file: str, package: Package, files: Files, own: Own = lambda _: None) -> Problem:
    """The problem that an import which raised `error` is."""
    where, line = _place(error, file, package)
    reason, hint = own(error) or _reason(error, package, files)
    if where != file:
        reason = f"{_name(where, files)}, which it imports, does not load (line {line}): {reason}"
        where, line = file, _line_in(error, file)
    return Problem(
        what=_name(file, files),
        reason=clean(reason),
        hint=hint,
        file=where,
        line=line,
        plugin=files.plugin,
        source=files.source,
        trace=trace(error),
    )


def _name(file: str, files: Files) -> str:
    """The file as its author calls it: relative to the plugin's folder."""
    try:
        return str(Path(file).relative_to(files.path)) if file != files.path else Path(file).name
    except ValueError:
        return Path(file).name


def _reason(error: BaseException, package: Package, files: Files) -> tuple[str, str]:
    if circle := package.circle(error):
        return (
            f"circular import: {' -> '.join(circle)}.",
            "Move what both need into a third file, or import it inside the function.",
        )
    match error:
        case SyntaxError():
            text = str(error.msg or error)
            shown = f" in {error.text.strip()[:80]!r}" if isinstance(error.text, str) and error.text.strip() else ""
            return f"syntax error: {text.rstrip('.')}{shown}.", MEND
        case ModuleNotFoundError(name=str(name)) if name:
            return _missing(name, package, files)
        case SystemExit():
            return f"it tried to end the program while it loaded ({repr_of(error).rstrip(': ')}).", "Remove the call of exit."
        case KeyboardInterrupt():
            return "it tried to end the program while it loaded (KeyboardInterrupt).", "Remove what raises it."
        case ImportError(name=package.name) if unknown := re.match(r"cannot import name '([^']+)'", str(error)):
            return _missing(f"{package.name}.{unknown[1]}", package, files)
        case ImportError() | AttributeError() if hidden := _hidden(error, package):
            return (
                f"it means {hidden}.py beside it, but {hidden!r} is a module of Python's own.",
                f"Rename {hidden}.py, or write `from . import {hidden}`.",
            )
        case PermissionError(filename=str(name)) if beside := _beside(name, files):
            return (
                f"it may not read {beside!r} beside it: a loose file has nothing but itself.",
                "Put both into a folder of their own; a folder is one plugin.",
            )
        case EOFError() if str(error) == "EOF when reading a line":
            return "it asks for input, and nobody is there to type it.", "Let the tool take it as an argument."
        case PermissionError() | ConnectionError():
            return (
                f"it was not allowed something while it loaded: {repr_of(error)}.",
                "Do it inside the tool, or declare its risk: 'write', 'network' or 'exec'.",
            )
        case KeyError(args=(str(name),)) if of_environment(error):
            return (
                f"it needs the variable {name}, which it was not given.",
                f"`etui grant {files.plugin} {name}` gives it; `{name}=VALUE` a value of its own.",
            )
        case RecursionError():
            return "it calls itself without end while it loads (RecursionError).", MEND
        case MemoryError():
            return "it needs more memory than it may have while it loads (MemoryError).", MEND
    return f"it raised {' '.join(_told(error).split()).rstrip('.')}.", MEND


def _told(error: BaseException) -> str:
    """The kind and the text of an error, and of a group those of its members."""
    members = error.exceptions[:3] if isinstance(error, BaseExceptionGroup) else ()
    return repr_of(error)[:300] + "".join(f"; {repr_of(one)[:100].rstrip(': ')}" for one in members)


def _hidden(error: BaseException, package: Package) -> str:
    """The module of Python's own in which something was sought that a file of the plugin's, of the same name, may have."""
    sought = getattr(error, "obj", None)
    name = error.name if isinstance(error, ImportError) else sought.__name__ if isinstance(sought, ModuleType) else None
    return name if name and name in sys.stdlib_module_names and f"{package.name}.{name}" in package.modules else ""


def _beside(name: str, files: Files) -> str:
    """How a loose tool file would call that, if it lies in the same folder; else empty."""
    own, path = Path(files.path), Path(name)
    return str(path.relative_to(own.parent)) if own.is_file() and own.parent in path.parents and path != own else ""


def _missing(name: str, package: Package, files: Files) -> tuple[str, str]:
    if name == package.name or name.startswith(package.name + "."):
        return f"it imports {package.short(name)!r}, which is no file of this plugin.", "Check the name, or add the file."
    head = name.split(".")[0]
    if Path(files.path).is_file() and Path(files.path).with_name(head + ".py").exists():
        return (
            f"it imports {head!r} in a way that is not seen from outside, so the file beside it was not brought along.",
            "Import it at the top of the file, or put both files into a folder of their own; a folder is one plugin.",
        )
    if head != name and head in sys.modules:
        return f"it imports {name!r}, but {head!r} has no such part.", "Check the name and the version that is installed."
    wheel = _PACKAGES.get(head, head)
    return (
        f"it needs the package {wheel!r}, which is not installed.",
        f"Install {wheel!r} into the environment that tools run in (`etui doctor` names it), then save the file again.",
    )


def _place(error: BaseException, file: str, package: Package) -> tuple[str, int]:
    """The innermost place in the plugin's own files that the error comes from."""
    own = {str(path) for path in package.modules.values()}
    if isinstance(error, SyntaxError) and error.filename in own:
        return str(error.filename), error.lineno or 0
    for name, line in reversed(_frames(error)):
        if name in own:
            return name, line
    return (package.current(error) or file), 0


def _line_in(error: BaseException, file: str) -> int:
    """The line of `file` through which the error came."""
    return next((line for name, line in _frames(error) if name == file), 0)


def _frames(error: BaseException) -> Sequence[tuple[str, int]]:
    return [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]


def of_environment(error: BaseException) -> bool:
    """Whether it was raised because a variable of the environment is not there."""
    frames = [frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return isinstance(error, KeyError) and frames[-1:] == ["os"]


def brief(error: BaseException) -> str:
    """An error that a call ended in, on one line, with the last place in it that is the plugin's own."""
    frames = [(Path(frame.f_code.co_filename), line) for frame, line in traceback.walk_tb(_own_frames(error))]
    own = [(path, line) for path, line in frames if path.is_relative_to(frames[0][0].parent)]
    where = f" ({own[-1][0].name}, line {own[-1][1]})" if own else ""
    return f"{' '.join(clean(repr_of(error)).split()).rstrip(':.')[:_BRIEF]}{where}."


def causes(error: BaseException) -> Iterator[BaseException]:
    """What led to it, itself included: also what a library keeps in `reason`, or among the arguments of its own error."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            led = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args)
            waiting += [other for other in led if isinstance(other, BaseException)]


def trace(error: BaseException) -> str:
    """The traceback as the owner needs it: from the plugin's first frame on."""
    try:
        told = traceback.TracebackException(type(error), error, _own_frames(error), compact=True)
        text = "".join(told.format())
    except Exception as other:  # a foreign __str__ or __repr__ may raise; a RecursionError may be what is told
        text = f"{type(error).__name__} (its traceback cannot be written: {type(other).__name__})"
    if len(text) > _DETAIL:
        text = f"{text[: _DETAIL // 2]}\n[...]\n{text[-_DETAIL // 2 :]}"
    return clean(text)


def _own_frames(error: BaseException) -> Any:
    """The traceback without the frames that lead to the plugin's code."""
    first = frames = error.__traceback__
    while frames is not None and _is_ours(frames.tb_frame.f_globals.get("__name__")):
        frames = frames.tb_next
    return frames or (None if isinstance(error, SyntaxError) else first)


def _is_ours(module: object) -> bool:
    return module in _RUNNERS or (isinstance(module, str) and module.startswith("etui.contracts."))


_RUNNERS = frozenset({"contextvars", "concurrent.futures.thread", "importlib", "importlib._bootstrap"})
