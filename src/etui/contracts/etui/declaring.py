"""What `@tool` declared, checked, and the tool that comes of it.

Above: the contract, and whoever has one function. Below: `functions`, `docstrings`.
It refuses to know: files, and how a call runs.
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Mapping

from etui.contracts.etui import docstrings
from etui.contracts.etui.authoring import risk_words
from etui.contracts.etui.functions import Bound, Refused
from etui.contracts.media import clean
from etui.contracts.naming import alias
from etui.tool import Checks, Risk, Tool, Voice

_TEXTS = ("announce", "complete", "fail", "face", "toolset", "arg_timeout", "mode")
_FLAGS = ("pin", "silent", "interactive")
OPTIONS = ("name", "risk", "timeout", "examples", "heartbeat", *_TEXTS, *_FLAGS)
"""The options of `@tool`."""
MODES = ("conversation", "work")
"""The modes in which alone a tool may want to be offered."""
_SLOT = re.compile(r"\{(\w+)\}")


def describe(bound: Bound, *, plugin: str, source: str = "", contract: str = "etui", digest: str = "") -> Tool:
    """The tool that a bound function is; adds to `bound.warnings`. Raises `Refused` for a declaration of no sense."""
    options = bound.declaration.options
    _check_options(bound, options)
    entry = _entry(bound, options)
    description, descriptions = docstrings.read(inspect.getdoc(bound.function))
    if not description:
        description = entry.replace("_", " ").strip().capitalize() + "."
        bound.warnings.append("it has no docstring, so a model knows only its name.")
    timeout = options.get("timeout", 30.0)
    return Tool(
        name=alias(entry),
        description=clean(description),
        parameters=bound.schema(descriptions),
        contract=contract,
        plugin=plugin,
        source=source,
        entry=entry,
        digest=digest,
        risk=Risk(str(options.get("risk", Risk.READ.value))),
        checks=Checks.VALIDATE,
        timeout=None if timeout is None else float(timeout),  # type: ignore[arg-type]
        examples=_examples(bound, options),
        voice=Voice(
            announce=_text(options, "announce"),
            heartbeat=_heartbeat(options),
            complete=_text(options, "complete"),
            fail=_text(options, "fail"),
        ),
        face=_text(options, "face"),
        arg_timeout=_text(options, "arg_timeout"),
        toolset=_text(options, "toolset") or f"plugin:{plugin}",
        mode=_text(options, "mode"),
        pin=bool(options.get("pin")),
        silent=bool(options.get("silent")),
        interactive=bool(options.get("interactive")),
    )


def _text(options: Mapping[str, object], name: str) -> str:
    return str(options.get(name) or "")


def _heartbeat(options: Mapping[str, object]) -> tuple[str, ...]:
    """One line, or several that are said one after another."""
    given = options.get("heartbeat") or ()
    lines = (given,) if isinstance(given, str) else given
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        raise Refused(f"its heartbeat must be text or a list of texts; {given!r} is neither.")
    return tuple(lines)


def _entry(bound: Bound, options: Mapping[str, object]) -> str:
    """The name as the author wrote it."""
    name = options.get("name", getattr(bound.function, "__name__", None))
    if name is None:
        raise Refused("what @tool stands on has no name of its own.", "Write @tool(name=...) or a def.")
    if not isinstance(name, str) or not name.strip():
        raise Refused(f"its name must be text; {name!r} is none.")
    if name == "<lambda>":
        raise Refused("a lambda has no name.", "Write @tool(name=...) or a def.")
    if alias(name) != name:
        bound.warnings.append(f"models take no name like {name!r}; it is offered as {alias(name)!r}.")
    return name


def _check_options(bound: Bound, options: Mapping[str, object]) -> None:
    for name in options:
        if name not in OPTIONS:
            near = difflib.get_close_matches(name, OPTIONS, 1)
            raise Refused(
                f"@tool has no option {name!r}.", f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(OPTIONS)}."
            )
    risk = options.get("risk", Risk.READ)
    if not isinstance(risk, str) or risk not in tuple(Risk):
        raise Refused(f"its risk {risk!r} is none; it must be one of {risk_words()}.")
    if options.get("mode", "") not in ("", *MODES):
        raise Refused(f"its mode {options['mode']!r} is none; it must be one of {', '.join(map(repr, MODES))}, or left out.")
    for name in _TEXTS:
        if not isinstance(options.get(name, ""), str):
            raise Refused(f"its {name} must be text; {options[name]!r} is none.")
    for name in _FLAGS:
        if not isinstance(options.get(name, False), bool):
            raise Refused(f"its {name} must be True or False; {options[name]!r} is neither.")
    _check_times(bound, options)


def _check_times(bound: Bound, options: Mapping[str, object]) -> None:
    timeout = options.get("timeout", 30.0)
    if timeout is not None:
        number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
        if not number or not math.isfinite(timeout) or timeout <= 0:  # type: ignore[arg-type, operator]
            raise Refused(f"its timeout must be a number of seconds above 0, or None; {timeout!r} is neither.")
    argument = options.get("arg_timeout")
    if argument and argument not in bound.parameters:
        raise Refused(f"its arg_timeout names {argument!r}, which is none of its parameters.")


def _examples(bound: Bound, options: Mapping[str, object]) -> tuple[str, ...]:
    given = options.get("examples", ())
    if isinstance(given, str):
        given = (given,)
    if not isinstance(given, list | tuple | set | frozenset):
        raise Refused(f"its examples must be a list of sentences; {given!r} is none.")
    kept = []
    for example in given:
        if not isinstance(example, str) or not example.strip():
            bound.warnings.append(f"its example {example!r} is no sentence and is left out.")
        elif strange := sorted(set(_SLOT.findall(example)) - set(bound.parameters)):
            names = ", ".join(repr(slot) for slot in strange)
            bound.warnings.append(f"its example {example!r} names {names}, which it does not take; the example is left out.")
        else:
            kept.append(clean(example.strip()))
    return tuple(dict.fromkeys(kept))
