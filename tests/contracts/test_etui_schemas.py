"""The contract `etui`: from hints and docstrings to a schema, and from a call's JSON to what the function gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
from tests.contracts.plugins import Written

Write = Callable[..., Written]

HEAD = """
{future}
from typing import *
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID
from enum import Enum, IntEnum
from pathlib import Path
from dataclasses import dataclass, field
from collections.abc import Iterable, Sequence, Mapping
import collections
import msgspec
from etui import Context, tool

class Colour(Enum):
    RED = "red"
    DARK_BLUE = "dark blue"

class Level(IntEnum):
    LOW = 1
    HIGH = 2

@dataclass
class Spot:
    room: str
    level: int = 0
    colour: Colour = Colour.RED

class Mixed(Enum):
    ONE = 1
    TEXT = "b"
    NOTHING = None

class Pair(Enum):
    LEFT = (1, 2)
    RIGHT = (3, 4)

Json = Union[dict[str, "Json"], list["Json"], int]

class Box(msgspec.Struct):
    spots: list[Spot]
    best: Spot | None = None

class Person(TypedDict, total=False):
    name: Required[str]
    age: int

@dataclass
class Tree:
    name: str
    kids: list["Tree"] = field(default_factory=list)

Age = NewType("Age", int)
T = TypeVar("T")

@tool
def f({parameters}):
    "F."
    return {result}
"""


def one(write: Write, parameters: str, *, result: str = "repr(x)", future: bool = False) -> Written:
    future_line = "from __future__ import annotations" if future else ""
    return write(HEAD.format(parameters=parameters, result=result, future=future_line))


def refs(schema: object) -> bool:
    return "$ref" in json.dumps(schema)


KINDS: list[tuple[str, dict[str, Any], Any, str]] = [
    ("str", {"type": "string"}, "a", "'a'"),
    ("int", {"type": "integer"}, 3, "3"),
    ("float", {"type": "number"}, 3, "3.0"),
    ("bool", {"type": "boolean"}, True, "True"),
    ("None", {"type": "null"}, None, "None"),
    ("Any", {}, {"a": [1]}, "{'a': [1]}"),
    ("object", {}, [1], "[1]"),
    ("Literal['a', 1]", {"enum": [1, "a"]}, 1, "1"),
    ("Colour", {"enum": ["dark blue", "red"]}, "red", "<Colour.RED: 'red'>"),
    ("Mixed", {"enum": [1, "b", None]}, None, "<Mixed.NOTHING: None>"),
    ("list[Mixed]", {"type": "array", "items": {"enum": [1, "b", None]}}, [1], "[<Mixed.ONE: 1>]"),
    ("Pair", {"enum": ["LEFT", "RIGHT"]}, "RIGHT", "<Pair.RIGHT: (3, 4)>"),
    ("Level", {"enum": [1, 2]}, 2, "<Level.HIGH: 2>"),
    ("list", {"type": "array", "items": {}}, [1], "[1]"),
    ("list[str]", {"type": "array", "items": {"type": "string"}}, ["a"], "['a']"),
    ("dict", {"type": "object"}, {"a": 1}, "{'a': 1}"),
    ("dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, "{'a': 1}"),
    ("dict[int, str]", {"type": "object", "additionalProperties": {"type": "string"}}, {"1": "a"}, "{1: 'a'}"),
    ("set[int]", {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1], "{1}"),
    ("Optional[int]", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, "None"),
    ("int | str", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "3", "'3'"),
    ("date", {"type": "string", "format": "date"}, "2026-04-01", "datetime.date(2026, 4, 1)"),
    ("datetime", {"type": "string", "format": "date-time"}, "2026-04-01T09:00:00", "datetime.datetime(2026, 4, 1, 9, 0)"),
    ("time", {"type": "string", "format": "time"}, "09:30:00", "datetime.time(9, 30)"),
    ("Path", {"type": "string", "format": "path"}, "a/b", "PosixPath('a/b')"),
    ("UUID", {"type": "string", "format": "uuid"}, "0" * 32, f"UUID('{'0' * 8}-0000-0000-0000-{'0' * 12}')"),
    ("Decimal", {"type": "string", "format": "decimal"}, "1.50", "Decimal('1.50')"),
    ("bytes", {"type": "string", "contentEncoding": "base64"}, "aGk=", "b'hi'"),
    ("Iterable[int]", {"type": "array", "items": {"type": "integer"}}, [1], "[1]"),
    ("Sequence[str]", {"type": "array", "items": {"type": "string"}}, ["a"], "['a']"),
    ("Mapping[str, bool]", {"type": "object", "additionalProperties": {"type": "boolean"}}, {"a": True}, "{'a': True}"),
    ("Age", {"type": "integer"}, 3, "3"),
    ("T", {}, 3, "3"),
    ("Annotated[int, 'how many']", {"type": "integer", "description": "how many"}, 3, "3"),
    ("Annotated[int, msgspec.Meta(ge=1, le=6)]", {"type": "integer", "minimum": 1, "maximum": 6}, 3, "3"),
    (
        "Annotated[int, 'n', msgspec.Meta(ge=1)]",
        {"type": "integer", "minimum": 1, "description": "n"},
        3,
        "3",
    ),
    (
        "Annotated[Optional[int], 'n', msgspec.Meta(ge=1)]",
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "description": "n"},
        None,
        "None",
    ),
    (
        "list[Annotated[str, 'a name']]",
        {"type": "array", "items": {"type": "string", "description": "a name"}},
        ["a"],
        "['a']",
    ),
    (
        "int | date | str",
        {"anyOf": [{"type": "integer"}, {"type": "string", "format": "date"}, {"type": "string"}]},
        "2026-04-01",
        "datetime.date(2026, 4, 1)",
    ),
    ("Path | int", {"anyOf": [{"type": "string", "format": "path"}, {"type": "integer"}]}, 4, "4"),
]


@pytest.mark.parametrize("future", [False, True])
async def test_an_alias_that_names_itself_is_offered_as_far_as_it_is_written_out(write: Write, future: bool) -> None:
    plugin = one(write, "x: Json", future=future)
    assert plugin.refusals == []
    properties = plugin.tools["f"].parameters["properties"]
    assert [branch["type"] for branch in properties["x"]["anyOf"]] == ["object", "array", "integer"]
    assert (await plugin.call("f", {"x": {"a": [1, {"b": [2]}]}})).text == "{'a': [1, {'b': [2]}]}"


@pytest.mark.parametrize(
    ("parameter", "default"),
    [
        ("x: Pair = Pair.LEFT", "LEFT"),
        ("x: Pair | None = Pair.LEFT", "LEFT"),
        ("x: Mixed | None = Mixed.TEXT", "b"),
        ("x: timedelta = timedelta(days=5)", "P5D"),
        ("x: list[Pair] = [Pair.LEFT]", "nothing"),
        ("x: float = float('nan')", "nothing"),
        ("x: str = 5", "nothing"),
    ],
)
async def test_a_default_is_told_as_a_model_may_send_it_or_not_at_all(write: Write, parameter: str, default: object) -> None:
    plugin = one(write, parameter)
    assert plugin.tools["f"].parameters["properties"]["x"].get("default", "nothing") == default


@pytest.mark.parametrize("future", [False, True])
@pytest.mark.parametrize(("hint", "schema", "sent", "got"), KINDS, ids=[kind[0] for kind in KINDS])
async def test_each_kind_of_hint(write: Write, hint: str, schema: dict[str, Any], sent: Any, got: str, future: bool) -> None:
    plugin = one(write, f"x: {hint}", future=future)
    assert plugin.refusals == []
    parameters = plugin.tools["f"].parameters
    assert parameters["properties"] == {"x": schema}
    assert parameters["required"] == ["x"]
    assert parameters["additionalProperties"] is False
    jsonschema_rs.meta.validate(parameters)
    assert jsonschema_rs.is_valid(parameters, {"x": sent})
    assert (await plugin.call("f", {"x": sent})).text == got


async def test_a_duration_is_seconds_or_iso(write: Write) -> None:
    plugin = one(write, "x: timedelta, y: timedelta = timedelta(minutes=1), z: timedelta | None = None", result="[x, y, z]")
    schema: Any = plugin.tools["f"].parameters["properties"]
    assert schema["x"]["anyOf"] == [{"type": "number"}, {"type": "string", "format": "duration"}]
    assert "seconds" in schema["x"]["description"]
    assert "seconds" in json.dumps(schema["z"])
    for sent in (600, 600.0, "PT10M"):
        assert (await plugin.call("f", {"x": sent})).data == ["PT600S", "PT60S", None]
    ran = await plugin.call("f", {"x": "soon"})
    assert ran.status == "refused"
    assert "'x'" in ran.text


@pytest.mark.parametrize("future", [False, True])
async def test_records_are_written_out_and_arrive_as_they_were_declared(write: Write, future: bool) -> None:
    plugin = one(
        write,
        "spot: Spot, other: Spot, box: Box, person: Person, colours: list[Colour]",
        result="[type(spot).__name__, other.colour.name, box.spots[0].room, box.best, person, colours[0].name]",
        future=future,
    )
    schema: Any = plugin.tools["f"].parameters
    assert not refs(schema)
    assert "title" not in json.dumps(schema)
    spot = {
        "type": "object",
        "properties": {
            "room": {"type": "string"},
            "level": {"type": "integer", "default": 0},
            "colour": {"enum": ["dark blue", "red"], "default": "red"},
        },
        "required": ["room"],
    }
    assert schema["properties"]["spot"] == schema["properties"]["other"] == spot
    assert schema["properties"]["box"]["properties"]["spots"] == {"type": "array", "items": spot}
    assert schema["properties"]["person"] == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name"],
    }
    ran = await plugin.call(
        "f",
        {
            "spot": {"room": "a"},
            "other": {"room": "b", "colour": "dark blue"},
            "box": {"spots": [{"room": "c"}]},
            "person": {"name": "n"},
            "colours": ["red"],
        },
    )
    assert ran.data == ["Spot", "DARK_BLUE", "c", None, {"name": "n"}, "RED"]


async def test_a_field_called_title_stays(write: Write) -> None:
    plugin = write(
        "from etui import tool\nfrom dataclasses import dataclass\n@dataclass\nclass Page:\n    title: str\n"
        "@tool\ndef f(page: Page, title: str) -> str:\n    'F.'\n    return page.title + title\n"
    )
    schema: Any = plugin.tools["f"].parameters["properties"]
    assert list(schema["page"]["properties"]) == ["title"]
    assert (await plugin.call("f", {"page": {"title": "a"}, "title": "b"})).text == "ab"


def test_a_type_that_holds_itself_is_written_out_a_few_times(write: Write) -> None:
    plugin = one(write, "x: Tree")
    schema = plugin.tools["f"].parameters
    assert not refs(schema)
    nested = {"name": "a", "kids": [{"name": "b", "kids": [{"name": "c", "kids": [{"name": "d", "kids": [{"name": "e"}]}]}]}]}
    assert jsonschema_rs.is_valid(schema, {"x": nested})
    assert not jsonschema_rs.is_valid(schema, {"x": {"name": "a", "kids": [{"kids": []}]}})


def test_a_type_too_large_to_write_out_is_refused(write: Write) -> None:
    classes = "\n".join(
        f"@dataclass\nclass C{n}:\n" + "\n".join(f"    f{m}: 'C{n - 1}'" if n else f"    f{m}: int" for m in range(6))
        for n in range(6)
    )
    plugin = write(
        f"from etui import tool\nfrom dataclasses import dataclass\n{classes}\n@tool\ndef f(x: C5):\n    'F.'\n    return 1\n"
    )
    assert "too large" in plugin.refusals[0]


def test_lists_tuples_and_optional_dictionaries(write: Write) -> None:
    plugin = one(
        write,
        "names: list[str], opts: dict[str, int] | None = None, pair: tuple[int, int] = (0, 0)",
        result="[names, opts, pair]",
    )
    properties: Any = plugin.tools["f"].parameters["properties"]
    assert properties["opts"] == {
        "anyOf": [{"type": "object", "additionalProperties": {"type": "integer"}}, {"type": "null"}],
        "default": None,
    }
    assert properties["pair"] == {
        "type": "array",
        "minItems": 2,
        "maxItems": 2,
        "prefixItems": [{"type": "integer"}, {"type": "integer"}],
        "items": False,
        "default": [0, 0],
    }


async def test_open_objects_take_what_comes(write: Write) -> None:
    plugin = one(write, "payload: dict, ctx: Context, **extra", result="[payload, extra]")
    schema = plugin.tools["f"].parameters
    assert schema["additionalProperties"] is True
    assert list(schema["properties"]) == ["payload"]  # type: ignore[arg-type]
    ran = await plugin.call("f", {"payload": {"a": 1}, "b": 2, "ctx": "mine"})
    assert ran.data == [{"a": 1}, {"b": 2}]
    typed = one(write, "**counts: int", result="counts")
    assert typed.tools["f"].parameters["additionalProperties"] == {"type": "integer"}
    assert (await typed.call("f", {"a": 1})).data == {"a": 1}
    assert (await typed.call("f", {"a": "x"})).status == "refused"


@pytest.mark.parametrize("future", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        "text: str, ctx: Context",
        "ctx: Context, text: str",
        "text: str, ctx: Context | None = None",
        "text: str, ctx: 'Context | None' = None",
        "text: str, *, where: 'Context'",
        "text: str, ctx: Annotated[Context, 'the context']",
        "text: str, ctx: Optional[Context] = None",
    ],
)
async def test_a_context_is_given_and_never_shown(write: Write, parameters: str, future: bool) -> None:
    name = "where" if "where" in parameters else "ctx"
    plugin = one(write, parameters, result=f"[text, {name}.session.channel]", future=future)
    assert list(plugin.tools["f"].parameters["properties"]) == ["text"]  # type: ignore[call-overload]
    assert (await plugin.call("f", {"text": "a", name: "forged"})).data == ["a", "console"]


async def test_a_context_under_another_name_or_for_type_checkers_only(write: Write) -> None:
    plugin = write(
        """
        from __future__ import annotations
        from typing import TYPE_CHECKING
        import etui
        from etui import tool, Context as C
        if TYPE_CHECKING:
            from etui import Context

        @tool
        def a(x: int, c: C) -> str:
            "A."
            return c.session.channel

        @tool
        def b(x: int, c: etui.Context) -> str:
            "B."
            return c.session.channel

        @tool
        def d(x: int, c: Context) -> str:
            "D."
            return c.session.channel
        """
    )
    assert plugin.refusals == []
    for name in "abd":
        assert list(plugin.tools[name].parameters["properties"]) == ["x"]  # type: ignore[call-overload]
        assert (await plugin.call(name, {"x": 1})).text == "console"


async def test_types_of_an_enclosing_function_are_found(write: Write) -> None:
    plugin = write(
        """
        from __future__ import annotations
        from dataclasses import dataclass
        from etui import tool

        def make():
            @dataclass
            class Spot:
                room: str

            @tool
            def move(to: Spot) -> str:
                "Move."
                return to.room

            return move

        move = make()
        """
    )
    assert (await plugin.call("move", {"to": {"room": "hall"}})).text == "hall"


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ("x: complex", "the hint of its parameter 'x'"),
        ("x: Callable[[int], int]", "the hint of its parameter 'x'"),
        ("a: int, x: 'Nowhere'", "the hint 'Nowhere' of its parameter 'x' cannot be read"),
        ("x: list[complex]", "the hint of its parameter 'x'"),
        ("x: 1/0", None),
        ("x: '1/0'", "ZeroDivisionError"),
        ("x: [int]", "[<class 'int'>] is a value and no type"),
        ("x: (int, str)", "the hint of its parameter 'x'"),
        ("x: type", "the hint of its parameter 'x'"),
        ("*x: int", "'*x', which a model cannot fill"),
        ("x: Annotated[str, msgspec.Meta(ge=1)]", "the hint of its parameter 'x'"),
    ],
)
def test_a_hint_that_cannot_be_offered_costs_its_tool_only(write: Write, parameters: str, told: str | None) -> None:
    text = HEAD.format(parameters=parameters, result="1", future="") + "\n@tool\ndef ok() -> int:\n    'Ok.'\n    return 1\n"
    plugin = write(text)
    if told is None:  # Python itself evaluates it, so the file does not load
        assert "ZeroDivisionError" in plugin.refusals[0]
        return
    assert list(plugin.tools) == ["ok"]
    (problem,) = plugin.description.problems
    assert told.casefold() in problem.reason.casefold()
    assert text.splitlines()[problem.line - 1].startswith("def f(")
    assert problem.hint


async def test_a_parameter_without_a_hint_takes_anything_with_a_warning(write: Write) -> None:
    plugin = one(write, "x, y=3", result="[x, y]")
    assert plugin.tools["f"].parameters["properties"] == {"x": {}, "y": {"default": 3}}
    assert len(plugin.warnings) == 2
    assert (await plugin.call("f", {"x": {"a": [1]}})).data == [{"a": [1]}, 3]


async def test_a_default_of_none_allows_null(write: Write) -> None:
    plugin = one(write, "x: int = None, y: Spot = None, z: Colour = Colour.RED", result="[x, y, z]")
    properties: Any = plugin.tools["f"].parameters["properties"]
    assert properties["x"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    assert properties["z"]["default"] == "red"
    assert (await plugin.call("f", {"x": None})).data == [None, None, "red"]


async def test_positional_and_keyword_only_parameters(write: Write) -> None:
    plugin = one(write, "a: int, b: int = 2, /, c: int = 3, *, d: int = 4", result="[a, b, c, d]")
    assert (await plugin.call("f", {"a": 1})).data == [1, 2, 3, 4]
    assert (await plugin.call("f", {"a": 1, "d": 9, "b": 8})).data == [1, 8, 3, 9]
    missing = await plugin.call("f", {})
    assert (missing.status, missing.text) == ("refused", "The argument 'a' is missing.")


async def test_what_the_function_cannot_take_is_a_refusal_with_its_path(write: Write) -> None:
    plugin = one(write, "x: list[Spot]")
    ran = await plugin.call("f", {"x": [{"room": "a"}, {"room": 1}]})
    assert ran.status == "refused"
    assert "'x[1].room'" in ran.text
    assert "expected `str`" in ran.text


async def test_an_author_s_own_check_of_a_record_is_heard(write: Write) -> None:
    plugin = write(
        "from etui import tool\nfrom dataclasses import dataclass\n@dataclass\nclass Pair:\n    low: int\n    high: int\n"
        "    def __post_init__(self):\n        if self.low > self.high: raise ValueError('low is above high')\n"
        "@tool\ndef f(pair: Pair) -> int:\n    'F.'\n    return 1\n"
    )
    ran = await plugin.call("f", {"pair": {"low": 2, "high": 1}})
    assert (ran.status, "low is above high" in ran.text) == ("refused", True)


def test_a_foreign_model_class_is_taken_by_its_own_schema(write: Write) -> None:
    plugin = write(
        """
        from etui import tool

        class Model:
            def __init__(self, n): self.n = n
            @classmethod
            def model_json_schema(cls):
                n = {"$ref": "#/$defs/N"}
                return {"title": "Model", "type": "object", "properties": {"n": n}, "$defs": {"N": {"type": "integer"}}}
            @classmethod
            def model_validate(cls, value): return cls(value["n"])

        @tool
        def f(m: Model) -> int:
            "F."
            return m.n
        """
    )
    assert plugin.tools["f"].parameters["properties"] == {"m": {"type": "object", "properties": {"n": {"type": "integer"}}}}


GOOGLE = """
        '''Find things
        that are lost.

        It looks everywhere.

        Args:
            query: what to
                look for
            **extra: more

        Keyword Args:
            limit (int): how many

        Returns:
            what was found
        '''"""
NUMPY = """
        '''Find things that are lost.

        Parameters
        ----------
        query : str
            what to look for

        Other Parameters
        ----------------
        limit : int
            how many

        Returns
        -------
        list
            what was found
        '''"""
SPHINX = """
        '''Find things that are lost.

        :param query: what to look for
        :keyword limit: how many
        :returns: what was found
        '''"""
TIGHT = """
        '''Find things that are lost.
        Args:
            query: what to look for
            limit: how many
        '''"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX, TIGHT], ids=["google", "numpy", "sphinx", "tight"])
def test_docstrings_of_every_style_describe_the_parameters(write: Write, text: str) -> None:
    plugin = write(f"""
    from etui import tool

    @tool
    def find(query: str, *, limit: int = 3) -> list:{text}
        return []
    """)
    tool = plugin.tools["find"]
    properties: Any = tool.parameters["properties"]
    assert tool.description == "Find things that are lost."
    assert properties["query"]["description"] == "what to look for"
    assert properties["limit"]["description"] == "how many"


@pytest.mark.parametrize(
    "text",
    [
        "Args:",
        "Note:\n    x",
        ":param",
        "Parameters\n----------",
        "Args:\n  a\n b\n",
        "x\n---\n",
        "Usage: a: b: c\n\nArgs:\n\tx",
        "@param",
    ],
)
def test_odd_docstrings_break_nothing(write: Write, text: str) -> None:
    plugin = write(f"from etui import tool\n@tool\ndef find(query: str) -> list:\n    {text!r}\n    return []\n")
    assert plugin.refusals == []
    assert plugin.tools["find"].description


def test_a_hint_s_description_comes_before_the_docstring_s(write: Write) -> None:
    plugin = write(
        "from etui import tool\nfrom typing import Annotated\n@tool\ndef f(x: Annotated[int, 'mine'], y: int) -> int:\n"
        "    '''F.\n\n    :param x: other\n    :param y: yours\n    '''\n    return 1\n"
    )
    properties: Any = plugin.tools["f"].parameters["properties"]
    assert (properties["x"]["description"], properties["y"]["description"]) == ("mine", "yours")
