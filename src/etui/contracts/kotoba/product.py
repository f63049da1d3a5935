"""The importable names: where they lie, and what is said of those that Kotoba keeps for itself.

Above: the contract makes the names importable before it reads a plugin. Below: Python's import system.
It refuses to know: what the names do.
"""

from __future__ import annotations

import difflib
import linecache
import re
import sys
import traceback
from pathlib import Path

from etui.contracts.lent import lend

NAMES = str(Path(__file__).with_name("names"))
HINT = "Take the import out, or put it into a `try` with an answer for where it is missing."
_IMPORT = re.compile(r"\b(kotoba(?:\.\w+)+)")
_NAME = re.compile(r"cannot import name '([^']+)'")


def offer_names() -> None:
    """Make `kotoba` importable in this process, ahead of an installed one; what is not there says so."""
    lend(NAMES, "kotoba", sentence)


def sentence(name: str) -> str:
    """What is said of a name that is not here."""
    return f"{name} belongs to Kotoba itself and has no counterpart here."


def reason(error: BaseException) -> tuple[str, str] | None:
    """Reason and hint, if an import failed for one of those names."""
    if not isinstance(error, ImportError) or (error.name or "").split(".")[0] != "kotoba":
        return None
    wanted = _NAME.search(str(error))
    name = f"{error.name}.{wanted[1]}" if wanted else _whole(str(error.name), error)
    near = _near(str(error.name), wanted[1]) if wanted else ""
    return f"it imports {name}, which belongs to Kotoba itself and has no counterpart here.", f"{HINT}{near}"


def _near(module: str, name: str) -> str:
    """What a module that is here offers instead, if the name looks like a slip or an older one."""
    here = [one for one in vars(sys.modules.get(module, sys)) if not one.startswith("_")]
    close = difflib.get_close_matches(name, here, n=3, cutoff=0.5)
    return f" {module} has {', '.join(close)}." if close else ""


def _whole(name: str, error: BaseException) -> str:
    """The whole of what a line imports, of which Python misses the first part first."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        for module in _IMPORT.findall(linecache.getline(frame.f_code.co_filename, line)):
            if module.startswith(name + "."):
                return str(module)
    return name
