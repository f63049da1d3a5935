"""One decorated function: the parameters that a model fills, those that the host fills, and the decoding of a call.

Above: `declaring` makes a tool of it, `calling` calls it. Below: `hints`. It refuses to know: files, and what `@tool` was told.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Annotated, Any, get_args, get_origin

import msgspec

from etui.contracts.etui import results
from etui.contracts.etui.authoring import Declaration
from etui.contracts.etui.context import AsyncContext, Context
from etui.contracts.etui.hints import Kind, Unsupported, is_union, kind_of, nullable, resolved
from etui.contracts.media import repr_of

_HINT_HINT = "Use str, int, float, bool, Literal, Enum, list, dict, Optional, a dataclass, TypedDict or msgspec struct."
_NAME_HINT = "Define or import it at the top of the file, outside of `if TYPE_CHECKING:`."
"""What to do about a name that is not there."""


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
            wrapper = "<locals>" in getattr(self.function, "__qualname__", "")
            hint = "Let the decorator around it use functools.wraps." if wrapper else f"Write '{name}: list[...]' instead."
            raise Refused(f"it takes '*{name}', which a model cannot fill.", hint)
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
            sentence = f"the hint {told!r} of its parameter {parameter.name!r} cannot be read: {repr_of(error)}."
            raise Refused(sentence, _NAME_HINT if isinstance(error, NameError) else _HINT_HINT) from None

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


def _decoded(kind: Kind, name: str, value: object) -> object:
    try:
        return kind.decode(value)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `")
        where, _, path = place.rstrip("`").rpartition("$")
        key = "A key of the" if where.startswith("key") else "The"
        raise Refused(f"{key} argument {name + path!r} does not fit: {reason[:1].lower()}{reason[1:]}.") from None
    except Exception as error:  # the author's own types may raise anything while they are made
        raise Refused(f"The argument {name!r} does not fit: {repr_of(error)}.") from None


def _wants_context(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _wants_context(get_args(hint)[0])
    if is_union(hint):
        return any(_wants_context(member) for member in get_args(hint))
    return isinstance(hint, type) and issubclass(hint, Context | AsyncContext)


def _with_default(kind: Kind, default: object) -> Kind:
    """The kind with the default in its schema, where JSON can say it in a way that the kind reads."""
    for said in (default, default.name) if isinstance(default, Enum) else (default,):
        try:
            value = results.plain(said)
            kind.decode(value)
        except Exception:  # a default that JSON cannot say is still a default
            continue
        return Kind({**kind.schema, "default": value}, kind.decoders)
    return kind


def _own_description(schema: Mapping[str, object]) -> bool:
    return "description" in schema and not str(schema["description"]).startswith("A duration: ")


def _without_description(schema: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in schema.items() if key != "description"}
