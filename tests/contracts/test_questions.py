"""The same questions to every contract: load, list, call, refuse, fail, odd values. A new one adds its files to `CONTRACTS`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contracts.plugins import Written

from etui.contracts import VERSIONS, find
from etui.contracts.sapphire.markers import stripped
from etui.tool import Tool

Write = Callable[..., Written]

CONTRACTS: dict[str, dict[str, str]] = {
    "etui": {
        "echo": """
            from etui import tool

            @tool(examples=["say {text}"])
            def echo(text: str, times: int = 1) -> str:
                "Say it back."
                return text * times
            """,
        "refuses": """
            from etui import tool, Refusal

            @tool
            def refuses() -> str:
                "Refuse."
                raise Refusal("It is locked.")
            """,
        "fails": """
            from etui import tool

            @tool
            def fails() -> str:
                "Fail."
                raise ValueError("secret-9")
            """,
        "exits": """
            from etui import tool
            import sys

            @tool
            def exits() -> str:
                "Exit."
                sys.exit(3)
            """,
        "odd": """
            from etui import tool

            @tool
            def odd(which: str) -> object:
                "Give odd values."
                circle = []
                circle.append(circle)
                deep = []
                for _ in range(5000):
                    deep = [deep]
                return {
                    "none": None, "zero": 0, "false": False, "empty": "", "list": [], "dict": {}, "nan": float("nan"),
                    "surrogate": "x\\udcff", "object": object(), "circle": circle, "deep": deep, "big": 10**40,
                }[which]
            """,
        "broken": "from etui import tool\ndef broken(:\n",
        "exit_at_load": "from etui import tool\nimport sys\nsys.exit(1)\n",
        "missing": "from etui import tool\nimport nosuchpkg_zz\n",
    },
    "kotoba": {
        "echo": """
            SCHEMA = {
                "type": "function", "name": "echo", "description": "Say it back.",
                "parameters": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}, "required": ["text"],
                },
            }

            async def execute(args, ctx):
                return args["text"] * args.get("times", 1)
            """,
        "refuses": """
            from kotoba.core.loop import note_tool_refusal

            SCHEMA = {"type": "function", "name": "refuses", "description": "Refuse.", "parameters": {"type": "object"}}

            async def execute(args, ctx):
                note_tool_refusal(ctx)
                return "It is locked."
            """,
        "fails": """
            SCHEMA = {"type": "function", "name": "fails", "description": "Fail.", "parameters": {"type": "object"}}

            async def execute(args, ctx):
                raise ValueError("secret-9")
            """,
        "exits": """
            import sys

            SCHEMA = {"type": "function", "name": "exits", "description": "Exit.", "parameters": {"type": "object"}}

            async def execute(args, ctx):
                sys.exit(3)
            """,
        "odd": """
            SCHEMA = {"type": "function", "name": "odd", "description": "Give odd values.", "parameters": {"type": "object"}}

            async def execute(args, ctx):
                circle = []
                circle.append(circle)
                deep = []
                for _ in range(5000):
                    deep = [deep]
                return {
                    "none": None, "zero": 0, "false": False, "empty": "", "list": [], "dict": {}, "nan": float("nan"),
                    "surrogate": "x\\udcff", "object": object(), "circle": circle, "deep": deep, "big": 10**40,
                }[args["which"]]
            """,
        "broken": "SCHEMA = {}\ndef broken(:\n",
        "exit_at_load": "SCHEMA = {}\nimport sys\nsys.exit(1)\n",
        "missing": "SCHEMA = {}\nimport nosuchpkg_zz\n",
    },
    "keryx": {
        "echo": """
            from keryx.tools.custom import custom_tool

            @custom_tool(
                description="Say it back.",
                parameters={
                    "type": "object",
                    "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}, "required": ["text"],
                },
            )
            async def echo(ctx, args):
                return args["text"] * args.get("times", 1)
            """,
        "refuses": """
            from keryx.tools.custom import custom_tool

            @custom_tool(description="Refuse.")
            def refuses(ctx, args):
                return {"error": "It is locked."}
            """,
        "fails": """
            from keryx.tools.custom import custom_tool

            @custom_tool(description="Fail.")
            def fails(ctx, args):
                raise ValueError("secret-9")
            """,
        "exits": """
            import sys
            from keryx.tools.custom import custom_tool

            @custom_tool(description="Exit.")
            def exits(ctx, args):
                sys.exit(3)
            """,
        "odd": """
            from keryx.tools.custom import custom_tool

            @custom_tool(description="Give odd values.")
            def odd(ctx, args):
                circle = []
                circle.append(circle)
                deep = []
                for _ in range(5000):
                    deep = [deep]
                return {
                    "none": None, "zero": 0, "false": False, "empty": "", "list": [], "dict": {}, "nan": float("nan"),
                    "surrogate": "x\\udcff", "object": object(), "circle": circle, "deep": deep, "big": 10**40,
                }[args["which"]]
            """,
        "broken": "import keryx\ndef broken(:\n",
        "exit_at_load": "import keryx\nimport sys\nsys.exit(1)\n",
        "missing": "import keryx\nimport nosuchpkg_zz\n",
    },
    "sapphire": {
        "echo": """
            TOOLS = [{"type": "function", "is_local": True, "function": {
                "name": "echo", "description": "Say it back.",
                "parameters": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}, "required": ["text"],
                },
            }}]

            def execute(function_name, arguments, config):
                return arguments["text"] * arguments.get("times", 1), True
            """,
        "refuses": """
            TOOLS = [{"type": "function", "function": {"name": "refuses", "description": "Refuse.", "parameters": {}}}]

            def execute(function_name, arguments, config):
                return "It is locked.", False
            """,
        "fails": """
            TOOLS = [{"type": "function", "function": {"name": "fails", "description": "Fail.", "parameters": {}}}]

            def execute(function_name, arguments, config):
                raise ValueError("secret-9")
            """,
        "exits": """
            import sys

            TOOLS = [{"type": "function", "function": {"name": "exits", "description": "Exit.", "parameters": {}}}]

            def execute(function_name, arguments, config):
                sys.exit(3)
            """,
        "odd": """
            TOOLS = [{"type": "function", "function": {"name": "odd", "description": "Give odd values.", "parameters": {}}}]

            def execute(function_name, arguments, config):
                circle = []
                circle.append(circle)
                deep = []
                for _ in range(5000):
                    deep = [deep]
                return {
                    "none": None, "zero": 0, "false": False, "empty": "", "list": [], "dict": {}, "nan": float("nan"),
                    "surrogate": "x\\udcff", "object": object(), "circle": circle, "deep": deep, "big": 10**40,
                }[arguments["which"]]
            """,
        "broken": "TOOLS = []\ndef execute(:\n",
        "exit_at_load": "TOOLS = []\nimport sys\nsys.exit(1)\n",
        "missing": "TOOLS = []\nimport nosuchpkg_zz\n",
    },
}
FAILING = {
    "etui": {"object", "circle", "deep"},
    "kotoba": {"none", "zero", "false", "empty", "list", "dict", "deep"},
    "keryx": {"circle", "deep"},
    "sapphire": {"deep"},
}
"""The odd values that are no result: what cannot travel, and in `kotoba` whatever is false."""
TELLING = {"keryx", "sapphire"}
"""The contracts whose models read the text of what was raised."""
OWN_WORDS = {"sapphire"}
"""Those that say it in a sentence of their own, and whose every result is text."""
REFUSED = {"keryx": ("ok", '{"error": "It is locked."}'), "sapphire": ("failed", "It is locked.")}
"""What a refusal is in those that have none: a result like any other, or no success."""
EXITED = {"keryx": '{"error": "SystemExit: 3"}', "sapphire": "Error executing exits: 3"}
"""What is said of a call that wanted to end the program, other than that."""
ECHOED: dict[str, Callable[[str], str | None]] = {
    "etui": lambda text: text,
    "keryx": lambda text: json.dumps({"result": text}, ensure_ascii=False),
    "sapphire": lambda text: stripped(text) or "(no output)",
    "kotoba": lambda text: uncited if (uncited := re.sub("[\ue200-\ue2ff]", "", text)).strip() else None,
}
"""What a text comes back as; None where it is no result. `kotoba` takes the marks of citations out of arguments."""

every = pytest.mark.parametrize("contract", sorted(CONTRACTS))


@pytest.fixture
def ask(write: Write) -> Callable[[str, str], Written]:
    return lambda contract, what: write(CONTRACTS[contract][what], contract=contract)


def test_each_contract_that_there_is_is_asked() -> None:
    assert set(CONTRACTS) == set(VERSIONS)


@every
def test_it_knows_its_own_files(contract: str) -> None:
    assert find(contract).name == contract
    assert find(contract).recognises(CONTRACTS[contract]["echo"].replace("\n            ", "\n"))
    assert not find(contract).recognises("x = 1\n")


@every
def test_it_lists_what_a_file_offers(contract: str, ask: Callable[[str, str], Written]) -> None:
    description = ask(contract, "echo").description
    assert description.contract == contract
    assert description.problems == ()
    (tool,) = description.tools
    assert (tool.name, tool.contract, tool.plugin, tool.source, tool.digest) == ("echo", contract, "plugin_0", "tests", "d1")
    assert tool.description
    assert tool.file.endswith("main.py")
    assert tool.line > 0
    assert tool.parameters["type"] == "object"
    assert set(tool.parameters["properties"]) == {"text", "times"}  # type: ignore[call-overload]
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(tool), type=Tool) == tool


@every
async def test_a_call_gives_its_result(contract: str, ask: Callable[[str, str], Written]) -> None:
    ran = await ask(contract, "echo").call("echo", {"text": "hé", "times": 2})
    assert (ran.status, ran.text) == ("ok", ECHOED[contract]("héhé"))


@every
async def test_a_refusal_is_a_refusal(contract: str, ask: Callable[[str, str], Written]) -> None:
    ran = await ask(contract, "refuses").call("refuses")
    assert (ran.status, ran.text) == REFUSED.get(contract, ("refused", "It is locked."))


@every
async def test_a_failure_tells_the_kind_and_keeps_the_rest_for_the_owner(
    contract: str, ask: Callable[[str, str], Written]
) -> None:
    ran = await ask(contract, "fails").call("fails")
    assert (ran.status, ran.error) == ("failed", "" if contract in OWN_WORDS else "ValueError")
    assert ("secret-9" in ran.text + ran.shown) == (contract in TELLING)
    assert "secret-9" in ran.detail
    assert "main.py" in ran.detail


@every
async def test_ending_the_program_is_one_failed_call(contract: str, ask: Callable[[str, str], Written]) -> None:
    plugin = ask(contract, "exits")
    for _ in range(2):
        ran = await plugin.call("exits")
        assert (ran.status, EXITED.get(contract, "tried to end the program") in ran.text) == ("failed", True)


@every
@pytest.mark.parametrize(
    "which", ["none", "zero", "false", "empty", "list", "dict", "nan", "surrogate", "object", "circle", "deep", "big"]
)
async def test_odd_values_have_an_end_that_can_travel(contract: str, which: str, ask: Callable[[str, str], Written]) -> None:
    ran = await ask(contract, "odd").call("odd", {"which": which})
    assert ran.status == ("failed" if which in FAILING[contract] else "ok")
    assert ran.text.strip()
    msgspec.msgpack.encode(ran)


@every
@pytest.mark.parametrize("what", ["broken", "exit_at_load", "missing"])
def test_a_file_that_does_not_load_is_one_problem(contract: str, what: str, ask: Callable[[str, str], Written]) -> None:
    description = ask(contract, what).description
    assert description.tools == ()
    (problem,) = description.problems
    assert problem.refused
    assert problem.reason.endswith(".") or contract in TELLING
    assert problem.file.endswith("main.py")
    assert problem.line == {"broken": 2, "exit_at_load": 3, "missing": 2}[what]


@every
def test_it_describes_the_same_file_the_same_way_twice(contract: str, ask: Callable[[str, str], Written]) -> None:
    plugin = ask(contract, "echo")
    assert plugin.description == plugin.describe()


@every
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(text=st.text())
async def test_any_text_comes_back_as_it_went_in(contract: str, text: str, ask: Any) -> None:
    plugin = ECHO.setdefault(contract, None) or ask(contract, "echo")
    ECHO[contract] = plugin
    ran = await plugin.call("echo", {"text": text})
    echoed = ECHOED[contract](text)
    assert ran.status == ("failed" if echoed is None else "ok")
    assert echoed is None or (ran.text if echoed.strip() or contract in OWN_WORDS else ran.data) == echoed


ECHO: dict[str, Any] = {}
