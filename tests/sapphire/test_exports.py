"""What one file exports: the schemas that a model is sent, the flags beside them, and `get_tools`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.sapphire.homes import SAMPLE, Room, sapphire, schema, tool

from etui.agent.model import ToolView
from etui.contracts.sapphire.exports import CALLS, LARGEST, ROUNDS, SECONDS
from etui.surfaces.web.shapes import tool_page

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVERYTHING = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "Words", "default": "hi"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        "thing": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "kind": {"type": "string", "enum": ["a", "b"]},
    },
    "required": ["text"],
}
GET_TOOLS = """
CALLS = []


def _cfg():
    import json
    from pathlib import Path
    path = Path("user/webui/plugins/painter.json")
    return json.loads(path.read_text()) if path.exists() else {}


def get_tools():
    base = "Generate an image."
    name = (_cfg().get("ai_name") or "").strip()
    if name:
        base += f" Write '{name}' for yourself — the appearance is filled in automatically."
    return [{"type": "function", "function": {"name": "generate_image", "description": base,
             "parameters": {"type": "object", "properties": {}}}}]


TOOLS = [{"type": "function", "function": {"name": "generate_image", "description": "old", "parameters": {}}}]


def execute(function_name, arguments, config):
    return "painted", True
"""
FILES = {
    "plugins/sample/tools/a.py": SAMPLE,
    "plugins/some/tools/a.py": "AVAILABLE_FUNCTIONS = ['some_a']\n" + tool("some_a", "some_b"),
    "plugins/all/tools/a.py": f"""
TOOLS = [{{"type": "function", "function": {{"name": "everything", "description": "All.", "parameters": {EVERYTHING!r}}}}}]


def execute(function_name, arguments, config):
    import json
    return json.dumps(arguments), True
""",
    "plugins/bare/tools/a.py": """
TOOLS = [
    {"type": "function", "function": {"name": "bare_none", "description": "No parameters."}},
    {"type": "function", "function": {"name": "bare_empty", "description": "Empty.", "parameters": {}}},
    {"type": "function", "function": {"name": "bare_union", "description": "Either.", "parameters": {
        "type": "object", "properties": {"id": {"type": ["string", "integer"]}}}}},
    {"function": "nothing"}, "nothing", {"type": "function", "function": {"name": "bare_odd", "parameters": {"x": {1, 2}}}},
]


def execute(function_name, arguments, config):
    return repr(arguments.get("id")), True
""",
    "plugins/flags/tools/a.py": """
EMOJI = "🚩"
TOOL_CATEGORY = "web"
GROUP = "Flags and more"
SETTINGS_GATED = {"flag_local": "FLAGS_ON"}
MODE_FILTER = {"monolith": ["flag_local", "flag_plain"], "assembled": ["flag_plain"]}
TOOLS = """
    + repr(
        [
            schema("flag_local", is_local=True, network=True, hidden=True, category="media", writes=True),
            schema("flag_not", is_local=False, network=False, hidden="yes", category=7, writes="yes"),
            schema("flag_endpoint", is_local="endpoint", loop_warn_after=2, loop_warn_message="{count} times"),
            schema("flag_plain"),
        ]
    )
    + """


def execute(function_name, arguments, config):
    return function_name, True
""",
    "plugins/painter/tools/a.py": GET_TOOLS,
    "user/webui/plugins/painter.json": json.dumps({"ai_name": " Ada "}),
    "plugins/plain/tools/a.py": GET_TOOLS.replace("painter", "plain").replace("generate_image", "plain_image"),
    "plugins/news/tools/a.py": "def get_tools():\n    raise KeyError('cfg')\n" + tool("news_old"),
    "plugins/less/tools/a.py": "AVAILABLE_FUNCTIONS = ['less_a']\n"
    + f"def get_tools():\n    return {[schema('less_a'), schema('less_b')]!r}\n"
    + tool("less_old"),
    "plugins/gives/tools/a.py": "def get_tools():\n    return 'nothing'\n\n\ndef execute(a, b, c):\n    return 'x', True\n",
    "plugins/risks/tools/reads.py": tool("risk_reads"),
    "plugins/risks/tools/says.py": tool("risk_says", writes=True),
    "plugins/risks/tools/net.py": tool("risk_net", head="from urllib.request import urlopen"),
    "plugins/risks/tools/sends.py": tool("risk_sends", head="import socket", writes=True),
    "plugins/risks/tools/looks.py": tool("risk_looks", head="import socket", writes=False),
    "plugins/risks/tools/runs.py": tool("risk_runs", head="import subprocess", writes=False),
    "plugins/risks/tools/saves.py": tool("risk_saves", body='open("user/x", "w").close()\nreturn "x", True'),
    "plugins/risks/tools/lends.py": tool("risk_lends", head="from plugins.risks.lib.store import keep"),
    "plugins/risks/tools/beside.py": tool("risk_beside", head="from ..lib import store"),
    "plugins/risks/tools/within.py": tool("risk_within", body="from ..lib.store import keep\nreturn str(keep()), True"),
    "plugins/risks/tools/shelf.py": "import sqlite3\n"
    + f"TOOLS = {[schema('mixed_add', writes=True), schema('mixed_list'), schema('mixed_count', writes=False)]!r}\n"
    + "def execute(name, arguments, config):\n    return name, True\n",
    "plugins/risks/tools/post.py": "import sqlite3, socket\n"
    + f"TOOLS = {[schema('post_send', writes=True), schema('post_list'), schema('post_count', writes=False)]!r}\n"
    + "def execute(name, arguments, config):\n    return name, True\n",
    "plugins/risks/tools/some.py": "import sqlite3\n"
    + f"TOOLS = {[schema('some_keep'), schema('some_count', writes=False)]!r}\n"
    + "def execute(name, arguments, config):\n    return name, True\n",
    "plugins/risks/lib/store.py": "import sqlite3\n\n\ndef keep():\n    return sqlite3\n",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("exports"), FILES, limit=None) as room:
        await room.turn("hello", "Hello.")
        yield room


def sent(room: Room, name: str) -> dict[str, object]:
    """What the model was sent of a tool, as every provider is told it."""
    view = next(one for one in room.requests[0].tools if one.name == name)
    return {"name": view.name, "description": view.description, "parameters": view.parameters}


@pytest.mark.promise("S010", "S011", "S185")
async def test_the_model_is_sent_name_description_and_schema_as_the_file_says_them(room):
    properties = {"target": {"type": "string", "description": "What to do it to"}}
    assert sent(room, "my_tool_do_thing") == {
        "name": "my_tool_do_thing",
        "description": "Does the thing",
        "parameters": {"type": "object", "properties": properties, "required": ["target"]},
    }


@pytest.mark.promise("S009")
async def test_only_the_functions_that_the_file_makes_available_are_offered_and_callable(room):
    assert "some_a" in room.offered(0)
    assert "some_b" not in room.offered(0)
    text, ok = await room.ran("some_b")
    assert not ok
    assert "some_b" in text


@pytest.mark.promise("S330")
async def test_every_word_of_a_schema_reaches_the_model(room):
    assert sent(room, "everything")["parameters"] == EVERYTHING


@pytest.mark.promise("S329")
async def test_parameters_may_lack_nearly_everything_and_a_type_may_be_a_union(room):
    nothing = {"type": "object", "properties": {}}
    assert sent(room, "bare_none")["parameters"] == sent(room, "bare_empty")["parameters"] == nothing
    assert await room.ran("bare_union", {"id": "5"}) == ("'5'", True)
    assert await room.ran("bare_union", {"id": 5}) == ("5", True)


async def test_what_is_no_tool_is_told_and_the_others_are_offered(room):
    assert [one.partition(" Mend")[0] for one in room.reasons("bare")] == [
        "tools/a.py: TOOLS[3] is no tool: it has no 'function' with a name, a description and parameters.",
        "tools/a.py: TOOLS[4] is no tool: it has no 'function' with a name, a description and parameters.",
        "tools/a.py: TOOLS[5] is no tool: the parameters of 'bare_odd' are no JSON (Object of type set is not JSON "
        "serializable).",
    ]


@pytest.mark.promise("S012", "S035", "S335")
async def test_flags_are_each_tools_own_and_none_reaches_a_model(room):
    local, other, endpoint, plain = (room.tool(f"flag_{name}") for name in ("local", "not", "endpoint", "plain"))
    assert [one.local for one in (local, other, endpoint, plain)] == [True, False, False, None]
    assert [one.badges for one in (local, other, endpoint, plain)] == [("local", "network", "writes"), (), ("endpoint",), ()]
    assert [one.hidden for one in (local, other, plain)] == [True, False, False]
    assert [one.category for one in (local, other, plain)] == ["media", "web", "web"]
    assert [one.risk for one in (local, other, plain)] == ["write", "read", "read"]
    assert (endpoint.warn_after, endpoint.warning) == (2, "{count} times")
    assert {(one.icon, one.group) for one in (local, other, endpoint, plain)} == {("🚩", "Flags and more")}
    assert (local.gated, other.gated) == ("FLAGS_ON", "")
    assert (local.prompt, plain.prompt, other.prompt) == ("monolith", "", "")
    assert room.tool("my_tool_do_thing").local is True
    assert tool_page(room.host, room.tool("my_tool_do_thing"), frozenset(), ())["badges"] == ["local"]
    # All that any provider is told of a tool, beside what the house itself says of it.
    of_the_house = {"examples", "taught", "risk", "silent", "plugin"}
    assert {*ToolView.__struct_fields__} - of_the_house == {"name", "description", "parameters"}
    for view in room.requests[0].tools:
        known = json.dumps([view.parameters, view.description])
        assert not [flag for flag in ("is_local", "network", "hidden", "writes", "loop_warn", "category") if flag in known]


@pytest.mark.promise("S328")
async def test_names_are_sent_without_a_prefix(room):
    assert {"my_tool_do_thing", "everything", "flag_plain"} <= set(room.offered(0))


async def test_the_risk_of_a_tool_is_what_it_says_and_what_its_source_visibly_does(room):
    names = ("reads", "says", "net", "sends", "looks", "runs", "saves", "lends", "beside", "within")
    found = [room.tool(f"risk_{name}").risk.value for name in names]
    assert found == ["read", "write", "network", "network", "read", "exec", "write", "write", "write", "write"]


async def test_where_a_file_marks_its_tools_that_write_the_others_only_read(room):
    def risks(*names: str) -> list[str]:
        return [room.tool(name).risk.value for name in names]

    assert risks("mixed_add", "mixed_list", "mixed_count") == ["write", "read", "read"]
    assert risks("post_send", "post_list", "post_count") == ["network", "network", "read"]
    assert risks("some_keep", "some_count") == ["write", "read"]


async def test_every_tool_has_the_limits_of_its_contract(room):
    tools = [room.tool(name) for name in ("my_tool_do_thing", "everything")]
    assert {(one.timeout, one.chars, one.in_reply, one.rounds) for one in tools} == {(SECONDS, LARGEST, CALLS, ROUNDS)}


@pytest.mark.promise("S186", "S187", "S188", "S190", "S254")
async def test_get_tools_is_asked_at_load_and_tools_stand_where_there_is_none(room):
    told = "Generate an image. Write 'Ada' for yourself — the appearance is filled in automatically."
    assert sent(room, "generate_image")["description"] == told
    assert sent(room, "plain_image")["description"] == "Generate an image."
    assert "my_tool_do_thing" in room.offered(0)
    assert await room.ran("generate_image") == ("painted", True)


@pytest.mark.promise("S189")
async def test_tools_stand_where_get_tools_raises_and_the_owner_is_told_why(room):
    assert "news_old" in room.offered(0)
    [told] = room.reasons("news")
    assert (
        told == "tools/a.py: get_tools() did not work, so TOOLS is offered as it stands in the file: it raised KeyError: 'cfg'."
    )
    [told] = room.reasons("gives")
    why = "missing TOOLS or execute() (get_tools() did not work: it gave str where a list is wanted)"
    assert told.startswith(f"tools/a.py: {why} ")


@pytest.mark.promise("S386")
async def test_available_functions_filters_what_get_tools_gives(room):
    assert "less_a" in room.offered(0)
    assert not {"less_b", "less_old"} & set(room.tools())
