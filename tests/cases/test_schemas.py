"""Section C: what a declaration becomes, and that the function gets what it declared. `tests/contracts` asks every hint."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest
from tests.cases.desk import Desk

from etui.agent.scripted import Scripted
from etui.home import Home
from etui.host import open_host
from etui.tool import Tool

pytestmark = pytest.mark.asyncio(loop_scope="module")

FUTURE = "from __future__ import annotations\n"


def schema(desk: Desk, name: str) -> dict[str, object]:
    [tool] = [tool for tool in desk.host.tools.all() if tool.name == name]
    return tool.parameters


def within(node: object, key: str) -> bool:
    """Whether the key stands anywhere in a schema, as a keyword."""
    if isinstance(node, dict):
        return key in node or any(within(value, key) for value in node.values())
    return isinstance(node, list) and any(within(value, key) for value in node)


def is_sound(tool: Tool) -> None:
    """An object's schema that stands alone, with items for each list and nothing required that is not there."""
    text = json.dumps(tool.parameters)
    assert "$ref" not in text and "$defs" not in text, tool.name
    jsonschema_rs.meta.validate(tool.parameters)
    queue: list[object] = [tool.parameters]
    assert tool.parameters["type"] == "object"
    while queue:
        node = queue.pop()
        if isinstance(node, list):
            queue.extend(node)
        elif isinstance(node, dict):
            if node.get("type") == "array":
                assert "items" in node or "prefixItems" in node, tool.name
            if isinstance(node.get("required"), list):
                assert set(node["required"]) <= set(node.get("properties", {})), tool.name
            queue.extend(node.values())


TYPED = '''
import datetime, enum
from dataclasses import dataclass
from typing import Annotated, Literal, Optional, TypedDict, Union
from etui import Context as Ctx, tool
import etui

class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"

@dataclass
class Spot:
    room: str
    level: int
    colour: Colour = Colour.RED

class Place(TypedDict, total=False):
    city: str
    at: Spot

@tool
def tag(names: list[str], opts: dict[str, int] | None = None, pair: tuple[int, int] = (0, 0)) -> list:
    """Tags."""
    return [type(names).__name__, type(opts).__name__, type(pair).__name__, names, opts, list(pair)]

@tool
def save(payload: dict, **extra) -> dict:
    """Saves."""
    return {"payload": payload, "extra": extra}

@tool
def paint(first: Spot, second: Spot, others: list[Spot], colour: Colour) -> list:
    """Paints."""
    return [type(first).__name__, first == second, [spot.level + 1 for spot in others], colour.name]

@tool
def run(command: list, either: list | int = 1, nested: dict[str, list] | None = None) -> list:
    """Runs."""
    return [command, either, nested]

@tool
def move(to: Spot, note: str) -> str:
    """Moves."""
    return f"{type(to).__name__} {to.room} {to.level + 1} {note}"

@tool
def note(text: str, ctx: Ctx) -> str:
    """Notes."""
    return f"{text} by {ctx.session.channel}"

@tool
def note_quoted(text: str, ctx: "Ctx | None" = None) -> str:
    """Notes."""
    return f"{text} by {ctx.session.channel}"

@tool
def note_module(ctx: etui.Context, text: str) -> str:
    """Notes."""
    return f"{text} by {ctx.session.channel}"

@tool
def note_optional(text: str, *, where: Optional[etui.Context] = None) -> str:
    """Notes."""
    return f"{text} by {where.session.channel}"

@tool
def place(
    at: Place, when: datetime.datetime, how: Literal["fast", "slow", 3] = "fast", who: Union[int, str, None] = None
) -> str:
    """Places."""
    return f"{at['at'].room} {when.year} {how} {who}"
'''


@pytest.mark.parametrize("future", [False, True], ids=["plain", "postponed"])
async def test_what_is_declared_is_offered_and_arrives(desk: Desk, future: bool):
    """R025 R026 R028 R031 R034 R035: with and without postponed annotations, called through the door."""
    path = desk.save("typed.py", (FUTURE if future else "") + TYPED)
    await desk.offered("place", "tag")
    value = desk.value
    assert desk.problems("typed") == []
    assert await value("tag", names=["a"], opts={"x": 1}, pair=[1, 2]) == ["list", "dict", "tuple", ["a"], {"x": 1}, [1, 2]]
    assert await value("tag", names=[]) == ["list", "NoneType", "tuple", [], None, [0, 0]]
    assert await value("save", payload={"a": [1]}, more=1, again="x") == {
        "payload": {"a": [1]},
        "extra": {"more": 1, "again": "x"},
    }
    spot = {"room": "hall", "level": 1}
    got = await value(
        "paint", first=spot, second={**spot, "colour": "red"}, others=[spot, {**spot, "level": "5"}], colour="blue"
    )
    assert got == ["Spot", True, [2, 6], "BLUE"]
    assert await value("run", command=[1, "a", [2]], either=[3], nested={"x": [1]}) == [[1, "a", [2]], [3], {"x": [1]}]
    assert await value("move", to=spot, note="now") == "Spot hall 2 now"
    for name in ("note", "note_quoted", "note_module", "note_optional"):
        assert list(schema(desk, name)["properties"]) == ["text"]
        assert schema(desk, name)["required"] == ["text"]
        assert await value(name, text="x", ctx="forged", where={"channel": "forged"}) == "x by python"
    assert await value("place", at={"at": spot}, when="2026-04-01T09:00", how=3) == "hall 2026 3 None"
    for tool in desk.host.tools.all():
        is_sound(tool)
    path.unlink()
    await desk.gone("tag")


async def test_what_is_wrong_with_arguments_is_told_with_its_path(desk: Desk):
    """R025 R028 R035"""
    path = desk.save("typed.py", TYPED)
    await desk.offered("tag", "paint")
    spot = {"room": "hall", "level": 1}
    for name, arguments, words in [
        ("tag", {"names": "a, b"}, ["names", "list"]),
        ("tag", {"names": ["a"], "pair": [1]}, ["pair"]),
        ("tag", {"names": ["a"], "opts": {"x": "one"}}, ["opts", "object"]),
        ("move", {"to": {"room": "hall"}, "note": "x"}, ["to.level", "missing"]),
        ("move", {"to": "hall", "note": "x"}, ["to", "object"]),
        ("paint", {"first": spot, "second": spot, "others": [spot, {"room": 1}], "colour": "red"}, ["others[1].level"]),
        ("paint", {"first": spot, "second": spot, "others": [], "colour": "green"}, ["colour", '"red"', '"blue"']),
        ("place", {"at": {}, "when": "tomorrow-ish"}, ["when", "2026"]),
    ]:
        outcome = await desk.call(name, arguments)
        assert outcome.rule == "arguments", (name, arguments, outcome)
        assert all(word in outcome.text for word in words), (words, outcome.text)
    path.unlink()
    await desk.gone("tag")


NOT_OFFERED = {
    "a socket": "import socket\n@tool\ndef f(s: socket.socket) -> str:\n    'F.'\n    return 'x'\n",
    "star": "@tool\ndef f(*names: str) -> str:\n    'F.'\n    return 'x'\n",
    "unknown hint": "@tool\ndef f(x: 'Nowhere') -> str:\n    'F.'\n    return 'x'\n",
    "a hint that raises": "class M(type):\n    def __getattr__(cls, name): raise RuntimeError('mine')\n"
    "class A(metaclass=M): pass\n"
    "@tool\ndef f(x: A) -> str:\n    'F.'\n    return 'x'\n",
    "a class": "@tool\nclass F:\n    pass\n",
    "a callable hint": "from typing import Callable\n@tool\ndef f(x: Callable[[], int]) -> str:\n    'F.'\n    return 'x'\n",
}


async def test_one_declaration_that_cannot_be_offered_costs_no_other(desk: Desk):
    """R029 R032 R035: of five tools in one file the four good ones work, and the fifth is one problem that says why."""
    for number, text in enumerate(NOT_OFFERED.values()):
        good = "".join(f"\n@tool\ndef good_{number}_{at}(x: int = {at}) -> int:\n    'G.'\n    return x\n" for at in range(4))
        desk.save(f"mixed_{number}.py", "from etui import tool\n" + text + good)
    for number, kind in enumerate(NOT_OFFERED):
        await desk.offered(f"good_{number}_3")
        assert [await desk.value(f"good_{number}_{at}") for at in range(4)] == [0, 1, 2, 3]
        refused = [problem for problem in desk.problems(f"mixed_{number}") if problem.refused]
        assert len(refused) == 1, (kind, refused)
        assert refused[0].line or kind == "a class", kind
        assert refused[0].file == str(desk.tools / f"mixed_{number}.py") and refused[0].reason.endswith("."), kind
        is_sound(next(tool for tool in desk.host.tools.all() if tool.name == f"good_{number}_0"))


DOCS = {
    "google": "Finds.\n\n    More words.\n\n    Args:\n        query: What to look for.\n\n    "
    "Keyword Args:\n        limit: How many at most.\n\n    Returns:\n        list: what was found.\n",
    "numpy": "Finds.\n\n    Parameters\n    ----------\n    query : str\n        What to look for.\n\n    "
    "Other Parameters\n    ----------------\n    limit : int\n        How many at most.\n",
    "rest": "Finds.\n\n    :param query: What to look for.\n    :keyword limit: How many at most.\n"
    "    :returns: what was found.\n",
}


@pytest.mark.parametrize("style", DOCS)
async def test_every_style_of_docstring_describes_the_parameters(desk: Desk, style: str):
    """R037: also what stands under `Keyword Args` and `Other Parameters`; the description does not repeat it."""
    text = f"from etui import tool\n\n@tool\ndef find_{style}(query: str, *, limit: int = 5) -> list:\n"
    text += f'    """{DOCS[style]}    """\n    return []\n'
    desk.save(f"docs_{style}.py", text)
    await desk.offered(f"find_{style}")
    [tool] = [tool for tool in desk.host.tools.all() if tool.name == f"find_{style}"]
    properties = tool.parameters["properties"]
    assert properties["query"]["description"] == "What to look for."
    assert properties["limit"]["description"] == "How many at most."
    assert tool.description.startswith("Finds.")
    assert "look for" not in tool.description and "at most" not in tool.description


async def test_thirty_tools_of_every_shape_reach_a_model_in_one_request(tmp_path):
    """R031 R032 R038: each schema is sound and holds only what a model needs."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "typed.py").write_text(TYPED)
    more = "".join(
        f"\n@tool\ndef more_{at}(x: list = [], y: dict = {{}}) -> int:\n    'M.'\n    return {at}\n" for at in range(25)
    )
    (tools / "more.py").write_text("from etui import tool\n" + more)
    model = Scripted(["Seen."])
    async with open_host(Home(tmp_path), {"shelf": False}, environ={}, model=model) as host:
        chat = host.store.chats.create(channel="console")
        assert await host.conversations.turn(chat.id, "hello") == "Seen."
        for tool in host.tools.all():
            is_sound(tool)
    assert len(model.asked[0].tools) == 35
    for view in model.asked[0].tools:
        for key in ("$schema", "$id", "x-note"):
            assert not within(view.parameters, key)
