"""One tool file being read: run once, its tools collected in the order of their definition, and each checked.

Above: the contract and `folder`. Below: `module`, `checks`, `custom`. It refuses to know: files on the disk, and other files;
what they have taken is handed in. A fault in the file costs the file, a fault in a tool costs the tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from etui.contracts.keryx import checks, module
from etui.contracts.keryx.custom import LOADING_SETTINGS, CustomTool, ToolUnavailable
from etui.contracts.keryx.settings import Settings
from etui.contracts.media import repr_of

NONE = "defines no tool (decorate a function with @custom_tool)"


class Refusal(NamedTuple):
    """Why a file, or one tool of it, is not offered."""

    reason: str
    tool: CustomTool | None = None
    """None where it is the whole file."""
    error: BaseException | None = None
    """What the file raised."""


def read(path: str, code: bytes, taken: set[str], settings: Settings | None) -> Iterator[CustomTool | Refusal]:
    """The tools of a file and what is refused of it, in order; names that it takes join `taken`. Raises nothing."""
    made = _run(path, code, settings)
    if isinstance(made, BaseException):
        yield Refusal(reason(made), error=made)
        return
    found = tools_in(made)
    if not found:
        yield Refusal(NONE)
    for tool in found:
        if unfit := checks.unfit(tool, taken):
            yield Refusal(unfit, tool)
        else:
            taken.add(checks.plain(tool.name))
            yield tool


def _run(path: str, code: bytes, settings: Settings | None) -> ModuleType | BaseException:
    loading = LOADING_SETTINGS.set(settings)
    try:
        return module.run(path, code)
    except BaseException as error:  # a file may raise anything, SystemExit too: it costs this file
        return error
    finally:
        LOADING_SETTINGS.reset(loading)


def reason(error: BaseException) -> str:
    """Why a file that raised this while it loaded is refused."""
    if not isinstance(error, ToolUnavailable):
        return repr_of(error)
    try:
        return str(error)
    except Exception:  # a foreign __str__
        return repr_of(error)


def tools_in(made: ModuleType) -> list[CustomTool]:
    """Every value of the module that is a tool, whatever it is called there and wherever it was made."""
    return [value for value in list(vars(made).values()) if issubclass(type(value), CustomTool)]
