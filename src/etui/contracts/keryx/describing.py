"""A tool of a file, and what of the file was refused, in the host's own nouns.

Above: the contract. Below: `checks`, `results`, `trust`. It refuses to know: how the file was run.
"""

from __future__ import annotations

import functools
import inspect
import math
from pathlib import Path
from typing import Any

from etui.contracts import Files
from etui.contracts.faults import trace
from etui.contracts.keryx import calling, checks, product, results
from etui.contracts.keryx.custom import CustomTool, ToolUnavailable
from etui.contracts.keryx.reading import Refusal
from etui.contracts.keryx.trust import NO_PIN, PIN_REQUIRED
from etui.contracts.media import clean, repr_of
from etui.tool import Checks, Grant, Problem, Risk, Tool, Words

NAME = "keryx"
_PIN = results.text(PIN_REQUIRED)
_NO_PIN = results.text(NO_PIN)


def made(found: CustomTool | Refusal, path: str, files: Files, wishes: Grant) -> Tool | Problem:
    """What the host is told of a tool that passed the checks, or of what did not. Raises nothing."""
    if isinstance(found, CustomTool):
        try:
            return described(found, path, files, wishes)
        except Exception as error:  # a field that does not let itself be looked at: it costs this tool
            found = Refusal(f"{checks.called(found)!r}: it cannot be described ({repr_of(error)})", found, error)
    return refused(found, path, files)


def described(tool: CustomTool, path: str, files: Files, wishes: Grant) -> Tool:
    """A tool that passed the checks; `wishes` is what its file asks for."""
    name = checks.called(tool)
    seconds = checks.seconds(tool.timeout_s)
    return Tool(
        name=name,
        description=clean(checks.plain(tool.description)),
        parameters=checks.schema(tool.parameters) or {},
        contract=NAME,
        plugin=files.plugin,
        instance=files.instance,
        source=files.source,
        file=path,
        line=_place(tool, path),
        digest=files.digest,
        risk=risk(wishes),
        checks=Checks.PASS,
        pin=tool.needs_pin,
        timeout=seconds if math.isfinite(seconds) else None,
        silent=_silent(tool.silent),
        examples=_examples(tool),
        toolset=f"plugin:{files.plugin}",
        words=Words(timed_out=results.sentence(calling.late(name)), pin=_PIN, no_pin=_NO_PIN, payload=True),
        asks=True,  # the PIN is the owner's yes
    )


def _examples(tool: CustomTool) -> tuple[str, ...]:
    """The sentences that mean it, where its kind of tool has any, as that of Etui's own plugins has."""
    listed = getattr(tool, "examples", ())
    return tuple(checks.plain(one) for one in listed if isinstance(one, str)) if isinstance(listed, tuple) else ()


def _silent(given: object) -> bool:
    """Whether it says so of every call; where it cannot say, it speaks."""
    try:
        return not callable(given) and bool(given)
    except Exception:  # a value of somebody's own making
        return False


def risk(wishes: Grant) -> Risk:
    """The most that a tool of a file with these wishes does."""
    if wishes.subprocess:
        return Risk.EXEC
    if wishes.network:
        return Risk.NETWORK
    return Risk.WRITE if wishes.write else Risk.READ


def refused(found: Refusal, path: str, files: Files) -> Problem:
    """What was refused of a file; it is about the tool where that has a name, else about the file."""
    name = checks.called(found.tool) if found.tool is not None else ""
    return Problem(
        what=clean(name) or Path(path).name,
        reason=clean(found.reason),
        hint=product.hint(found.error, files.work),
        file=path,
        line=_place(found.tool, path) if found.tool is not None else _line(found.error, path),
        plugin=files.plugin,
        source=files.source,
        # Who refuses itself has said what to do; where in the file it did is of no use to anybody.
        trace="" if found.error is None or isinstance(found.error, ToolUnavailable) else trace(found.error),
    )


def _place(tool: CustomTool, path: str) -> int:
    """The line of the handler, where it is one of this file; else the first."""
    try:
        handler: Any = tool.handler
        while isinstance(handler, functools.partial):
            handler = handler.func
        code = inspect.unwrap(handler).__code__
        return int(code.co_firstlineno) if code.co_filename == path else 1
    except Exception:  # a handler may be anything at all
        return 1


def _line(error: BaseException | None, path: str) -> int:
    """The line of the file from which the error came; 0 where it shows none."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 0
    line = 0
    frame = error.__traceback__ if error is not None else None
    while frame is not None:
        line = frame.tb_lineno if frame.tb_frame.f_code.co_filename == path else line
        frame = frame.tb_next
    return line
