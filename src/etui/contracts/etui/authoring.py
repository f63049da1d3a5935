"""What authors of tool files write with: the decorator, and the words in which a tool answers.

Above: tool files, through `from etui import tool, Result, ...`. Below: the nouns.
It refuses to know: files, schemas, workers. The decorator only remembers what was declared; a declaration that makes no sense
is reported when the file is described, so that it costs its one tool and not the file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, overload

import msgspec

from etui.outcome import File, Image
from etui.tool import Risk

F = TypeVar("F", bound=Callable[..., Any])

MARK = "__etui_tool__"
"""The attribute of a decorated function that holds its `Declaration`."""
MADE = "__etui_tools__"
"""The name, in the globals of a file, of the list of functions that were decorated in it, in their order."""


class Declaration:
    """What one use of `@tool` said, unchecked."""

    def __init__(
        self,
        function: object,
        options: Mapping[str, object],
        scope: Mapping[str, object] | None,
        place: tuple[str, int] = ("", 0),
    ) -> None:
        self.function = function
        self.options = dict(options)
        """Only the options that were given."""
        self.scope = scope or {}
        """Local names at the place of the declaration, for hints that name types of an enclosing function."""
        self.place = place
        """The file and line where `@tool` stands."""


class Refusal(Exception):
    """Raised or returned by a tool that did nothing, for a reason: `raise Refusal("The list is locked.")`."""

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence)
        self.sentence = str(sentence)


class ToolError(Exception):
    """Raised by a tool that went wrong in a way that may be told: the model and the person get exactly this sentence."""

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence)
        self.sentence = str(sentence)


class Result:
    """A result with more to it than one value.

    `text` is for the model and the person; `data` any JSON value; `images` are bytes or `etui.outcome.Image`; `files` are
    paths, `(name, bytes)` pairs or `etui.outcome.File`; `silent` says whether the assistant is to say nothing about it.
    """

    def __init__(
        self,
        text: str = "",
        data: object = None,
        *,
        images: Sequence[bytes | Image] = (),
        files: Sequence[object | File] = (),
        silent: bool | None = None,
        shown: str = "",
    ) -> None:
        self.text = text
        self.data = data
        self.images = images
        self.files = files
        self.silent = silent
        self.shown = shown

    def __repr__(self) -> str:
        return f"Result({self.text!r}, data={self.data!r})"


class Answer(msgspec.Struct, frozen=True):
    """What became of a question to the person."""

    state: str
    """`answered`, `declined`, or `nobody` when nobody was there to answer."""
    text: str = ""
    """What they answered."""

    @property
    def yes(self) -> bool:
        """True if they answered, and it was a plain yes."""
        return self.state == "answered" and self.text.strip().rstrip(".!").casefold() in _YES

    def __bool__(self) -> bool:
        raise TypeError("An Answer is neither true nor false: ask for answer.yes, answer.text or answer.state.")


_YES = frozenset({"yes", "y", "yeah", "yep", "ok", "okay", "sure", "true", "approve", "go ahead", "please do"})


class Reminder(msgspec.Struct, frozen=True, kw_only=True):
    """Something that will be said to the person at a time."""

    id: str
    text: str
    at: datetime
    """Aware, in the zone that it was made for."""
    kind: str = "reminder"
    label: str = ""
    repeat: str = ""
    """Empty, `daily`, `weekdays`, `weekly`, `monthly` or `yearly`."""


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    name: str = ...,
    risk: str = ...,
    pin: bool = ...,
    timeout: float | None = ...,
    arg_timeout: str = ...,
    examples: Sequence[str] = ...,
    announce: str = ...,
    heartbeat: str | Sequence[str] = ...,
    complete: str = ...,
    fail: str = ...,
    face: str = ...,
    silent: bool = ...,
    interactive: bool = ...,
    toolset: str = ...,
    mode: str = ...,
) -> Callable[[F], F]: ...
def tool(function: Any = None, /, **options: object) -> Any:
    """Offer a typed function to the assistant; the function itself stays as it was.

    `name`: instead of the function's own. `risk`: "read" (default), "write", "network" or "exec"; the kernel holds the tool to
    it. `pin`: ask for the owner's PIN first. `timeout`: seconds, default 30, None for no limit. `arg_timeout`: the parameter
    that says how many seconds this call may take. `examples`: what a person would say, with `{parameter}` where a value stands.
    `announce`, `heartbeat`, `complete`, `fail`: lines to be said around a call; `heartbeat` may be a list, said one after
    another. `face`: the expression while it runs. `silent`: nothing is said about the result. `interactive`: it waits for a
    person. `toolset`: the family it is switched with. `mode`: "conversation" or "work", if it is for one of the two only.
    """
    around = sys._getframe(1)
    scope = None if around.f_locals is around.f_globals else dict(around.f_locals)
    place = (around.f_code.co_filename, around.f_lineno)
    file = around.f_globals
    if function is None:
        return lambda decorated: _declare(decorated, Declaration(decorated, options, scope, place), file)
    return _declare(function, Declaration(function, options, scope, place), file)


def _declare(function: Any, made: Declaration, file: dict[str, Any]) -> Any:
    """Mark the function, and note it in the globals of its own file, or of the one in which it was decorated."""
    try:
        setattr(function, MARK, made)
    except (AttributeError, TypeError):
        wanted = f"@tool goes on a function; {type(function).__name__!r} is none"
        if isinstance(function, str):
            wanted = f"@tool takes its options by name, such as @tool(name={function[:80]!r})"
        raise TypeError(wanted) from None
    own = getattr(function, "__globals__", file)
    if isinstance(own, dict):
        own.setdefault(MADE, []).append(function)
    return function


def risk_words() -> str:
    """The risks there are, as a sentence names them."""
    return ", ".join(repr(risk.value) for risk in Risk)
