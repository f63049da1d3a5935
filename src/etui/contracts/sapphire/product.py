"""The importable names: `core`, `config` and `plugins`, and what is said of those that Sapphire keeps for itself.

Above: the contract makes them importable before it reads a plugin. Below: `folders`, `settings`, Python's import system.
It refuses to know: what the names do.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

from etui.contracts import Files
from etui.contracts.lent import lend
from etui.contracts.sapphire import current, folders, settings

NAMES = str(Path(__file__).with_name("names"))
WHERE = "(into the environment that tools run in, which `etui doctor` names)"
_MISSING = re.compile(r"cannot import name '(\w+)' from ")
HINT = "Take the import out, or put it into a `try` with an answer for where it is missing."
SCOPES = "core.chat.function_manager"
SCOPE_HINT = "Switch on the plugin that has it and reload this one, or put the import into a `try`."


def offer_names(files: Files) -> None:
    """Make the names importable in this process, ahead of anything else that is called so."""
    lend(NAMES, "core", sentence)
    folders.offer(files)
    settings.offer()


def sentence(name: str) -> str:
    """What is said of a name that is not here."""
    return f"{name} belongs to Sapphire itself and has no counterpart here."


def member(package: str, name: str) -> ModuleType:
    """What `from core import <name>` means: the module of that name. Raises ModuleNotFoundError with a sentence."""
    if name.startswith("__"):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return importlib.import_module(f"{package}.{name}")


def reason(error: BaseException) -> tuple[str, str] | None:
    """Reason and hint, if an import failed for one of those names, or for a package that is not installed."""
    if not isinstance(error, ImportError):
        return None
    name = error.name or ""
    if missing := _MISSING.match(str(error)):
        name = f"{name}.{missing[1]}"
    head = name.split(".")[0]
    if key := name.partition(f"{SCOPES}.scope_")[2]:
        return f"it imports the scope {key!r}, and no plugin that is on has one of that name.", SCOPE_HINT
    if head == "core":
        return f"it imports {name}, which belongs to Sapphire itself and has no counterpart here.", HINT
    if isinstance(error, ModuleNotFoundError) and head and head not in folders.TOPS:
        if hint := _beside(head, current.files()):
            return f"It imports {head!r}, a module that there is not.", hint
        return f"Missing pip package: {head}", f"pip install {head} {WHERE}"
    return None


def _beside(name: str, files: Files) -> str:
    """What to do where a file of the plugin's own, or one beside a loose one, is meant by a bare name."""
    found = [path for path in files.files if Path(path).stem == name]
    if not found:
        return ""
    if Path(files.path).is_dir():
        return f"A file beside it is imported as {folders.name_of(files, found[0])!r}."
    return (
        f"A loose module has no files beside it: it imports one in the root's folder as `{folders.LOOSE}.NAME`, "
        f"and what a plugin has as `{folders.TOP}.FOLDER`."
    )
