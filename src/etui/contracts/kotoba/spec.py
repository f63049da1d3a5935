"""From the attributes of a tool module to a `Tool`, or one reason with its line why it is none.

Above: `reading` has a module described, and reports what comes of it. Below: `results`, the nouns.
It refuses to know: how the module was imported, and who owns a name.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Mapping
from typing import Any

from etui.contracts import Files
from etui.contracts.etui.authoring import ToolError
from etui.contracts.etui.results import plain
from etui.contracts.kotoba.results import CUT, NOTE, TIMED_OUT
from etui.contracts.media import clean, repr_of
from etui.contracts.naming import alias
from etui.tool import FACES, Checks, Risk, Tool, Voice, Words

TIMEOUT, LONGEST, ASKED = 30.0, 600.0, 60.0
"""Seconds: of a call, at most, and where the argument `timeout` says nothing."""
CHARS, BROWSER_CHARS = 16_000, 24_000
OFTEN: Mapping[str, int] = {"todo": 10, "cronjob": 10, "delegate": 3}
"""How often a tool of that name may run in a turn, where it is not `MOST`."""
MOST, BROWSER_MOST, FAILURES = 3, 40, 2
_ONLY_IN_CONVERSATIONS = frozenset({"start_work", "cancel_work"})
_FITS = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")
_OBJECT = "Write a JSON Schema of an object."
_EXECUTE = "Write `async def execute(args, ctx)`."
WORDS = Words(timed_out=TIMED_OUT, note=NOTE, cut=CUT)


class Unfit(Exception):
    """The module is no tool although it has a SCHEMA; the text is a sentence."""

    def __init__(self, sentence: str, hint: str, attribute: str = "SCHEMA") -> None:
        super().__init__(sentence)
        self.hint = hint
        self.attribute = attribute
        """Where in the file it is wrong."""


class Spec:
    """One module as a tool."""

    def __init__(self, target: Any, fallback: str, files: Files) -> None:
        """`target` has the attributes, `fallback` is its name where its SCHEMA has none. Raises `Unfit`."""
        self.target = target
        self.warnings: list[tuple[str, str]] = []
        """What works all the same: the attribute, and a sentence about it."""
        self._files = files
        self.schema: dict[str, Any] = _attribute(target, "SCHEMA", None)
        self.name = self._name(fallback)
        self.provided = bool(_attribute(target, "BUILT_IN", False))
        self.check = _attribute(target, "check", None)
        """Taken now: what the module calls so later changes nothing."""
        self.checked = _has(target, "check") and not self._is_async_check()
        self.risk = self._risk()
        self.expressions = self._expressions()
        self.parameters = self._parameters()
        if not self.provided:
            self._see_execute()

    def tool(self, *, file: str, line: int, wants: tuple[str, ...]) -> Tool:
        """The tool. Raises `Unfit`."""
        browser = self.name.startswith("browser__")
        interactive = bool(_attribute(self.target, "INTERACTIVE", False))
        by_argument = bool(_attribute(self.target, "ARG_TIMEOUT", False)) and not interactive
        timeout = self._seconds("TIMEOUT", TIMEOUT)
        return Tool(
            name=self.name if _FITS.match(self.name) else self._other_name(),
            entry=self.name,
            description=clean(str(self.schema.get("description") or "")),
            parameters=self.parameters,
            contract="kotoba",
            plugin=self._files.plugin,
            source=self._files.source,
            file=file,
            line=line,
            digest=self._files.digest,
            risk=self.risk,
            checks=Checks.PASS,
            timeout=None if interactive else timeout,
            arg_timeout="timeout" if by_argument else "",
            max_timeout=self._seconds("MAX_TIMEOUT", LONGEST) if by_argument else LONGEST,
            arg_default=ASKED if by_argument else 0.0,
            headroom=(by_argument or self.risk is Risk.EXEC) and not interactive,
            interactive=interactive,
            voice=self._voice(),
            face=self._face("focus"),
            fail_face=self._face("fail"),
            toolset=self._toolset(),
            words=WORDS,
            chars=BROWSER_CHARS if browser else CHARS,
            failures=FAILURES,
            most=OFTEN.get(self.name, BROWSER_MOST if browser else MOST),
            mode="conversation" if self.name in _ONLY_IN_CONVERSATIONS else "",
            checked=self.checked,
            provided=self.provided,
            asks=True,
            wants=wants,
        )

    def _name(self, fallback: str) -> str:
        name = self.schema.get("name") or fallback
        if not isinstance(name, str):
            raise Unfit(f"Its SCHEMA has {name!r} for a name, which is no text.", 'Write "name": "a_name" in SCHEMA.')
        return name

    def _other_name(self) -> str:
        self.warnings.append(("SCHEMA", f"Models take no name like {self.name!r}; it is offered as {alias(self.name)!r}."))
        return alias(self.name)

    def _parameters(self) -> dict[str, Any]:
        given = self.schema.get("parameters")
        if given is None:
            return {"type": "object", "properties": {}}
        if not isinstance(given, dict):
            raise Unfit(
                f"The parameters in its SCHEMA must be a dict; {_short(given)} is none.", "Write a JSON Schema of an object."
            )
        try:
            found: dict[str, Any] = plain(given)
        except ToolError as error:
            raise Unfit(f"The parameters in its SCHEMA are no JSON. {error}", _OBJECT) from None
        return found

    def _risk(self) -> Risk:
        given = _attribute(self.target, "RISK", Risk.READ)
        try:
            return Risk(given)
        except ValueError:
            known = ", ".join(repr(risk.value) for risk in Risk)
            raise Unfit(
                f"Its RISK is {_short(given)}; it must be one of {known}.", f"Set RISK to one of {known}.", "RISK"
            ) from None

    def _seconds(self, attribute: str, usual: float) -> float:
        given = _attribute(self.target, attribute, usual)
        if not given and not isinstance(given, str):
            return usual
        try:
            seconds = math.nan if isinstance(given, bool) else float(given)
        except (TypeError, ValueError, OverflowError):
            seconds = math.nan
        if not math.isfinite(seconds) or seconds <= 0:
            sentence = f"Its {attribute} is {_short(given)}; it must be a number of seconds above 0."
            raise Unfit(sentence, f"Set {attribute} to a number, or leave it out for {usual:g}.", attribute)
        return seconds

    def _voice(self) -> Voice:
        return Voice(
            announce=self._line("ANNOUNCE"),
            heartbeat=self._heartbeat(),
            complete=self._line("COMPLETE"),
            fail=self._line("FAIL"),
        )

    def _line(self, attribute: str) -> str:
        given = _attribute(self.target, attribute, "") or ""
        if isinstance(given, str):
            return clean(given).strip()
        self.warnings.append((attribute, f"Its {attribute} is {_short(given)}, which is no text; nothing is said."))
        return ""

    def _heartbeat(self) -> tuple[str, ...]:
        given = _attribute(self.target, "HEARTBEAT", ()) or ()
        lines = (given,) if isinstance(given, str) else given
        if isinstance(lines, list | tuple) and all(isinstance(line, str) for line in lines):
            said = tuple(clean(line).strip() for line in lines)
            return said if any(said) else ()  # a blank one among others has its moment, in which nothing is said
        self.warnings.append(("HEARTBEAT", f"Its HEARTBEAT is {_short(given)}, which is no list of texts; nothing is said."))
        return ()

    def _expressions(self) -> Mapping[str, Any]:
        given = _attribute(self.target, "EXPRESSIONS", None)
        if given is None or isinstance(given, Mapping):
            return given or {}
        self.warnings.append(
            ("EXPRESSIONS", f"Its EXPRESSIONS is {_short(given)}, which is no dict; the usual faces are shown.")
        )
        return {}

    def _face(self, key: str) -> str:
        face = self.expressions.get(key)
        if not face or face in FACES:
            return next((known for known in FACES if known == face), "")
        sentence = f"Its EXPRESSIONS name {_short(face)} for {key!r}, which is no face; there are {', '.join(FACES)}."
        self.warnings.append(("EXPRESSIONS", sentence))
        return ""

    def _toolset(self) -> str:
        if not self._files.families:
            return f"plugin:{self._files.plugin}"
        given = _attribute(self.target, "TOOLSET", "core")
        return given if isinstance(given, str) and given else "core"

    def _is_async_check(self) -> bool:
        if not any(map(inspect.iscoroutinefunction, _layers(self.check))):
            return False
        self.warnings.append(("check", "Its check is an `async def`, which is not waited for; the tool counts as available."))
        return True

    def _see_execute(self) -> None:
        if not _has(self.target, "execute"):
            raise Unfit("It has a SCHEMA but no execute.", _EXECUTE)
        execute = self.target.execute
        if not callable(execute):
            raise Unfit(
                f"Its execute is {_short(execute)}, which cannot be called.", "Write `async def execute(args, ctx)`.", "execute"
            )
        kinds = list(_layers(execute))
        if any(map(inspect.isasyncgenfunction, kinds)):
            hint = "Return the result instead of yielding it."
            raise Unfit("Its execute is an async generator; a tool returns one result.", hint, "execute")
        if not any(map(inspect.iscoroutinefunction, kinds)):
            sentence = "Its execute is no `async def`; a call of it fails unless it gives back something that can be awaited."
            self.warnings.append(("execute", sentence))


def _layers(function: Any) -> Any:
    """A function, and what it stands for: what a partial calls, what a decorator wraps, how an object is called."""
    for _ in range(50):
        yield function
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif not inspect.isroutine(function) and not isinstance(function, type):
            function = type(function).__call__
        else:
            return


def is_tool(target: Any) -> bool:
    """Whether it has a SCHEMA that is a dict."""
    return isinstance(_attribute(target, "SCHEMA", None), dict)


def _has(target: Any, name: str) -> bool:
    return _attribute(target, name, _MISSING) is not _MISSING


def _attribute(target: Any, name: str, usual: Any) -> Any:
    try:
        return getattr(target, name, usual)
    except Exception as error:  # a module may answer for its own attributes, and raise anything
        raise Unfit(f"Reading its {name} raised {repr_of(error)}.", "Set it plainly in the file.", name) from None


def _short(value: object) -> str:
    try:
        return repr(value)[:80]
    except Exception:  # a foreign __repr__
        return f"a {type(value).__name__}"


_MISSING = object()
