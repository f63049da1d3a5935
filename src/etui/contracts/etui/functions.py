"""One function as a tool: its parameters, its declaration, checked, and one call of it.

Above: the contract, and the inline runner, which both take a decorated function and get a `Bound`. Below: hints, docstrings,
results. It refuses to know: files and folders, and how a function was found.
"""

from __future__ import annotations

import asyncio
import contextvars
import difflib
import hashlib
import inspect
import math
import re
import threading
import traceback
import unicodedata
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, get_args, get_origin

import msgspec

from etui.contracts import Line, Ran
from etui.contracts.etui import docstrings, results
from etui.contracts.etui.authoring import Declaration, Refusal, ToolError, risk_words
from etui.contracts.etui.context import AsyncContext, Context
from etui.contracts.etui.hints import Kind, Unsupported, is_union, kind_of, nullable, resolved
from etui.errors import ServiceError
from etui.outcome import Status
from etui.tool import Checks, Risk, Tool, Voice

THREADS = 64
"""How many blocking calls one worker runs at once."""
_DETAIL = 20_000
_STREAM = 100_000
"""How many values a generator may give."""

_VOICE = ("announce", "heartbeat", "complete", "fail")
_TEXTS = (*_VOICE, "face", "toolset", "arg_timeout")
_FLAGS = ("pin", "silent", "interactive")
_OPTIONS = ("name", "risk", "timeout", "examples", *_TEXTS, *_FLAGS)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")
_SLOT = re.compile(r"\{(\w+)\}")

_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


class Refused(Exception):
    """The function is no tool; the text is one sentence, and `line` where it is known."""

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.hint = hint


class Parameter(msgspec.Struct, frozen=True):
    """One parameter that a model may fill."""

    name: str
    kind: Kind
    required: bool
    positional: bool


class Bound:
    """A function with everything that a call of it needs."""

    def __init__(self, function: Callable[..., Any], declaration: Declaration) -> None:
        self.function = function
        self.declaration = declaration
        self.warnings: list[str] = []
        """Sentences about what is odd and works all the same."""
        self.parameters: dict[str, Parameter] = {}
        self.contexts: list[str] = []
        """The parameters that are filled with a context."""
        self.rest: Kind | None = None
        """What `**names` takes."""
        self.work = ""
        """The working folder."""
        self.is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
        self._read_parameters()

    def _read_parameters(self) -> None:
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):
            raise Refused("its parameters cannot be read.", "Put @tool on a plain function.") from None
        inner = inspect.unwrap(self.function)
        namespace = getattr(inner, "__globals__", {})
        for parameter in signature.parameters.values():
            self._read_parameter(parameter, namespace)

    def _read_parameter(self, parameter: inspect.Parameter, namespace: dict[str, Any]) -> None:
        name = parameter.name
        hint = self._hint(parameter, namespace)
        if _wants_context(hint):
            self.contexts.append(name)
            return
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise Refused(f"it takes '*{name}', which a model cannot fill.", f"Write '{name}: list[...]' instead.")
        try:
            kind = kind_of(hint)
        except Unsupported as error:
            raise Refused(f"the hint of its parameter {name!r} cannot be offered to a model: {error}.", _HINT_HINT) from None
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            self.rest = kind
            return
        required = parameter.default is inspect.Parameter.empty
        if parameter.default is None:
            kind = nullable(kind)
        if not required:
            kind = _with_default(kind, parameter.default)
        self.parameters[name] = Parameter(name, kind, required, parameter.kind is inspect.Parameter.POSITIONAL_ONLY)

    def _hint(self, parameter: inspect.Parameter, namespace: dict[str, Any]) -> Any:
        if parameter.annotation is inspect.Parameter.empty:
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
                self.warnings.append(f"its parameter {parameter.name!r} has no hint, so a model may put anything there.")
            return Any
        scope = dict(self.declaration.scope)
        try:
            try:
                return resolved(parameter.annotation, namespace, scope)
            except NameError:  # a context that is imported for type checkers only
                return resolved(parameter.annotation, {"Context": Context, "AsyncContext": AsyncContext, **namespace}, scope)
        except Exception as error:  # a hint is the author's code and may raise anything
            told = parameter.annotation if isinstance(parameter.annotation, str) else repr(parameter.annotation)
            sentence = f"the hint {told!r} of its parameter {parameter.name!r} cannot be read: {results.repr_of(error)}."
            raise Refused(sentence, _HINT_HINT) from None

    def schema(self, descriptions: Mapping[str, str]) -> dict[str, object]:
        """JSON Schema of the arguments; `descriptions` are those of the docstring."""
        properties: dict[str, object] = {}
        for parameter in self.parameters.values():
            schema = dict(parameter.kind.schema)
            if descriptions.get(parameter.name) and not _own_description(schema):
                schema = {"description": descriptions[parameter.name], **_without_description(schema)}
            properties[parameter.name] = schema
        out: dict[str, object] = {"type": "object", "properties": properties}
        if required := [parameter.name for parameter in self.parameters.values() if parameter.required]:
            out["required"] = required
        out["additionalProperties"] = False if self.rest is None else (self.rest.schema or True)
        return out

    def decode(self, arguments: Mapping[str, object]) -> tuple[list[object], dict[str, object]]:
        """Positional and named values for the function. Raises `Refused` with the path and what was expected."""
        positional: list[object] = []
        named: dict[str, object] = {}
        for parameter in self.parameters.values():
            if parameter.name not in arguments:
                if parameter.required:
                    raise Refused(f"The argument {parameter.name!r} is missing.")
                if parameter.positional:
                    positional.append(inspect.signature(self.function).parameters[parameter.name].default)
                continue
            value = _decoded(parameter.kind, parameter.name, arguments[parameter.name])
            if parameter.positional:
                positional.append(value)
            else:
                named[parameter.name] = value
        if self.rest is not None:
            for name, value in arguments.items():
                if name not in self.parameters and name not in self.contexts:
                    named[name] = _decoded(self.rest, name, value)
        return positional, named


_HINT_HINT = "Use str, int, float, bool, Literal, Enum, list, dict, Optional, a dataclass, TypedDict or msgspec struct."


def _decoded(kind: Kind, name: str, value: object) -> object:
    try:
        return kind.decode(value)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        raise Refused(f"The argument {name + path.rstrip('`')!r} does not fit: {reason[:1].lower()}{reason[1:]}.") from None
    except Exception as error:  # the author's own types may raise anything while they are made
        raise Refused(f"The argument {name!r} does not fit: {results.repr_of(error)}.") from None


def _wants_context(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _wants_context(get_args(hint)[0])
    if is_union(hint):
        return any(_wants_context(member) for member in get_args(hint))
    return isinstance(hint, type) and issubclass(hint, Context | AsyncContext)


def _with_default(kind: Kind, default: object) -> Kind:
    """The kind with the default in its schema, where JSON can say it."""
    try:
        value = results.plain(default)
    except Exception:  # a default that JSON cannot say is still a default
        return kind
    return Kind({**kind.schema, "default": value}, kind.decoders)


def _own_description(schema: Mapping[str, object]) -> bool:
    return "description" in schema and not str(schema["description"]).startswith("A duration: ")


def _without_description(schema: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in schema.items() if key != "description"}


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
        description=results.clean(description),
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
        voice=Voice(**{name: _text(options, name) for name in _VOICE}),
        face=_text(options, "face"),
        arg_timeout=_text(options, "arg_timeout"),
        toolset=_text(options, "toolset") or f"plugin:{plugin}",
        pin=bool(options.get("pin")),
        silent=bool(options.get("silent")),
        interactive=bool(options.get("interactive")),
    )


def _text(options: Mapping[str, object], name: str) -> str:
    return str(options.get(name) or "")


def _entry(bound: Bound, options: Mapping[str, object]) -> str:
    """The name as the author wrote it."""
    name = options.get("name", getattr(bound.function, "__name__", ""))
    if not isinstance(name, str) or not name.strip():
        raise Refused(f"its name must be text; {name!r} is none.")
    if name == "<lambda>":
        raise Refused("a lambda has no name.", "Write @tool(name=...) or a def.")
    if alias(name) != name:
        bound.warnings.append(f"models take no name like {name!r}; it is offered as {alias(name)!r}.")
    return name


def alias(name: str) -> str:
    """A name that every provider takes, the same at each start; the name itself where it is one."""
    if _NAME.match(name):
        return name
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    safe = re.sub(r"[^A-Za-z0-9_]+", "_", ascii_only).rstrip("_")
    lost = not safe.strip("_") or (not name.isascii() and not ascii_only.isidentifier())
    if not safe or safe[0].isdigit():
        safe = "_" + safe
    if lost or len(safe) > 64:
        safe = f"{safe[:55].rstrip('_') or 'tool'}_{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return safe


def _check_options(bound: Bound, options: Mapping[str, object]) -> None:
    for name in options:
        if name not in _OPTIONS:
            near = difflib.get_close_matches(name, _OPTIONS, 1)
            raise Refused(
                f"@tool has no option {name!r}.", f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(_OPTIONS)}."
            )
    risk = options.get("risk", Risk.READ)
    if not isinstance(risk, str) or risk not in tuple(Risk):
        raise Refused(f"its risk {risk!r} is none; it must be one of {risk_words()}.")
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
            kept.append(results.clean(example.strip()))
    return tuple(dict.fromkeys(kept))


async def run(bound: Bound, arguments: Mapping[str, object], line: Line) -> Ran:
    """One call. Raises nothing but CancelledError, and that only when the call itself is cancelled."""
    try:
        positional, named = bound.decode(arguments)
    except Refused as error:
        return results.refusal(str(error))
    maker = AsyncContext if bound.is_async else Context
    for name in bound.contexts:
        named[name] = maker(line, bound.work)
    try:
        if bound.is_async:
            value = bound.function(*positional, **named)
        else:
            value, raised = await _in_thread(bound.function, positional, named)
            if raised is not None:
                return failed(raised)
        return results.ran(await _settled(value))
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return failed(error)
    except (
        BaseException
    ) as error:  # a tool may raise anything, SystemExit and KeyboardInterrupt among it: it costs this one call
        return failed(error)


async def _in_thread(
    function: Callable[..., Any], positional: list[object], named: dict[str, object]
) -> tuple[Any, BaseException | None]:
    """Call a blocking function in a thread of its own context; what it raised is given back, never raised."""

    def call() -> tuple[Any, BaseException | None]:
        try:
            value = function(*positional, **named)
            if inspect.isgenerator(value):
                value = _drained(value)
        except BaseException as error:  # StopIteration and SystemExit must not travel through a future
            return None, error
        return value, None

    return await asyncio.get_running_loop().run_in_executor(_threads(), contextvars.copy_context().run, call)


def _threads() -> ThreadPoolExecutor:
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(THREADS, thread_name_prefix="tool")
        return _pool


def _drained(values: Any) -> list[object]:
    out: list[object] = []
    for value in values:
        out.append(value)
        if len(out) > _STREAM:
            values.close()
            raise ToolError(f"The tool gave more than {_STREAM:,} values.")
    return out


async def _settled(value: Any) -> Any:
    """The value itself, once whatever is to be awaited or walked has been."""
    while inspect.isawaitable(value):
        value = await value
    if inspect.isasyncgen(value):
        out: list[object] = []
        async for one in value:
            out.append(one)
            if len(out) > _STREAM:
                await value.aclose()
                raise ToolError(f"The tool gave more than {_STREAM:,} values.")
        return out
    if inspect.isgenerator(value):
        return _drained(value)
    return value


def failed(error: BaseException) -> Ran:
    """How a call ended that raised."""
    if isinstance(error, Refusal):
        return results.refusal(error.sentence)
    if isinstance(error, ToolError):
        return results.failure(error.sentence, trace(error) if error.__cause__ else "")
    if isinstance(error, ServiceError):
        return results.failure(str(error), trace(error))
    kind = type(error).__name__
    if isinstance(error, SystemExit | KeyboardInterrupt):
        text = f"The tool tried to end the program ({results.clean(results.repr_of(error)).rstrip(': ')})."
    elif isinstance(error, asyncio.CancelledError):
        text = "The tool cancelled itself."
    else:
        text = f"The tool failed with {kind}."
    return Ran(status=Status.FAILED, text=text, error=kind, detail=trace(error))


def trace(error: BaseException) -> str:
    """The traceback as the owner needs it: from the plugin's first frame on."""
    try:
        told = traceback.TracebackException(type(error), error, _own_frames(error.__traceback__), compact=True)
        text = "".join(told.format())
    except Exception as other:  # a foreign __str__ or __repr__ may raise; a RecursionError may be what is told
        text = f"{type(error).__name__} (its traceback cannot be written: {type(other).__name__})"
    if len(text) > _DETAIL:
        text = f"{text[: _DETAIL // 2]}\n[...]\n{text[-_DETAIL // 2 :]}"
    return results.clean(text)


def _own_frames(frames: Any) -> Any:
    """The traceback without the frames that lead to the plugin's code."""
    first = frames
    while frames is not None and frames.tb_frame.f_globals.get("__name__") in _OURS:
        frames = frames.tb_next
    return frames or first


_OURS = frozenset({__name__, "contextvars", "concurrent.futures.thread", "etui.contracts.etui.results"})
