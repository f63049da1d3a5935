"""The contract `etui`: what a plugin's files offer, and what is wrong with them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contracts.plugins import Written

Write = Callable[..., Written]

GOOD = """
from etui import tool

@tool
def {name}() -> str:
    "Say {name}."
    return "{name}"
"""


def good(name: str) -> str:
    return GOOD.format(name=name)


def test_the_decorator_and_the_module_share_a_name() -> None:
    code = (
        "import etui\nfrom etui.tool import Tool\nfrom etui import tool\nimport etui.tool\n"
        "@tool\ndef f(): return 1\nassert f() == 1 and Tool.__module__ == 'etui.tool' and etui.tool is tool"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr == ""


def test_importing_etui_brings_nothing_heavy() -> None:
    heavy = "pydantic openai mcp onnxruntime jsonschema_rs docstring_parser numpy starlette sqlite3"
    code = f"import sys, etui\nprint([name for name in {heavy.split()} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_tool_is_described_whole(write: Write) -> None:
    plugin = write(
        """
        from etui import tool

        X = 1

        @tool(
            risk="network", pin=True, timeout=5, arg_timeout="wait", examples=["look at {place}"], announce="Looking.",
            heartbeat="Still looking.", complete="Seen.", fail="Blind.", face="curious", silent=True, interactive=True,
            toolset="eyes",
        )
        def look(place: str, wait: float = 3.0) -> str:
            '''Look at a place,
            and say what is there.

            More about it.

            Args:
                place: where to look
            '''
            return place
        """
    )
    tool = plugin.tools["look"]
    assert plugin.description.problems == ()
    assert tool.description == "Look at a place, and say what is there."
    assert (tool.risk, tool.pin, tool.timeout, tool.arg_timeout, tool.examples) == (
        "network",
        True,
        5.0,
        "wait",
        ("look at {place}",),
    )
    assert (tool.voice.announce, tool.voice.heartbeat, tool.voice.complete, tool.voice.fail) == (
        "Looking.",
        ("Still looking.",),
        "Seen.",
        "Blind.",
    )
    assert (tool.face, tool.silent, tool.interactive, tool.toolset) == ("curious", True, True, "eyes")
    assert (tool.line, Path(tool.file).name, tool.digest, tool.plugin, tool.contract, tool.checks) == (
        11,
        "main.py",
        "d1",
        plugin.plugin,
        "etui",
        "validate",
    )
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "place": {"description": "where to look", "type": "string"},
            "wait": {"type": "number", "default": 3.0},
        },
        "required": ["place"],
        "additionalProperties": False,
    }


def test_a_bare_declaration_has_defaults(write: Write) -> None:
    tool = write(good("hello")).tools["hello"]
    assert (tool.risk, tool.timeout, tool.pin, tool.silent, tool.toolset) == ("read", 30.0, False, False, "plugin:plugin_0")


def test_one_broken_file_costs_only_itself(write: Write) -> None:
    plugin = write({"a.py": good("a"), "b.py": "import etui\nx = 1\ndef broken(:\n", "c.py": good("c")})
    assert sorted(plugin.tools) == ["a", "c"]
    (problem,) = plugin.description.problems
    assert (problem.what, problem.line, problem.refused) == ("b.py", 3, True)
    assert problem.reason.startswith("syntax error: ")
    assert problem.file.endswith("b.py")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import sys\nsys.exit(3)\n", "tried to end the program while it loaded"),
        ("exit()\n", "tried to end the program while it loaded"),
        ("raise KeyboardInterrupt\n", "tried to end the program while it loaded"),
        ("class Odd(BaseException): pass\n\nraise Odd('x')\n", "it raised Odd: x"),
        ("import asyncio\nraise asyncio.CancelledError\n", "it raised CancelledError"),
        ("1 / 0\n", "ZeroDivisionError"),
        ("def f(): f()\nf()\n", "calls itself without end"),
        ("import nosuchpkg_zz.inner\n", "needs the package 'nosuchpkg_zz', which is not installed"),
        ("import yaml_not, yaml\n", "needs the package 'yaml_not'"),
        ("x = " + "(" * 5000 + ")" * 5000, "syntax error"),
        ("x = " + "-" * 200_000 + "1", "syntax error"),
        ("x = 1\0\n", "there is a null byte in it"),
        (b"x = '\xff\xfe'\n", "syntax error"),
        (b"\xff\xfeh\x00i\x00", "saved as UTF-16 or UTF-32, and Python reads UTF-8: save it as UTF-8"),
        ("raise ExceptionGroup('many', [ValueError('a'), OSError('b')])\n", "(2 sub-exceptions); ValueError: a; OSError: b."),
        ("raise ValueError('It ends in a stop.')\n", "ValueError: It ends in a stop."),
        ("from . import nothing\n", "it imports 'nothing', which is no file of this plugin"),
        ("from etui import tool\n@tool('its name')\ndef f(): return 1\n", "such as @tool(name='its name')"),
        ("x = '" + "y" * (3 * 1024 * 1024) + "'", "the file has 3 MB; a tool file may have 2"),
        ("raise PermissionError(13, 'no')\n", "was not allowed something while it loaded"),
        ("import os\nraise MemoryError\n", "needs more memory"),
        ("class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n", "it raised E"),
    ],
)
def test_what_breaks_at_import_is_one_problem(write: Write, text: str | bytes, told: str) -> None:
    plugin = write({"good.py": good("fine"), "odd.py": text})
    assert list(plugin.tools) == ["fine"]
    (problem,) = plugin.description.problems
    assert told in problem.reason, problem.reason
    assert ".." not in problem.reason
    assert problem.what == "odd.py"
    assert problem.hint
    assert problem.refused


def test_a_plugin_may_call_itself_by_the_name_of_its_folder_and_find_its_data(write: Write) -> None:
    plugin = write(
        {
            "__init__.py": "from plugin_0.other import WORD\nimport plugin_0.other\nassert plugin_0.other.WORD is WORD\n",
            "main.py": "import importlib.resources, pkgutil\nfrom plugin_0 import WORD\n"
            "assert importlib.resources.files(__package__).joinpath('data.txt').read_text() == 'data'\n"
            "assert pkgutil.get_data(__package__, 'data.txt') == b'data'\n" + good("fine"),
            "other.py": "WORD = 'word'\n",
            "data.txt": "data",
        }
    )
    assert plugin.description.problems == ()
    assert list(plugin.tools) == ["fine"]


@pytest.mark.parametrize("use", ["from logging import word\n", "import logging\nlogging.word\n"])
def test_a_file_that_has_the_name_of_a_module_of_pythons_own_is_named(write: Write, use: str) -> None:
    plugin = write({"main.py": use + good("fine"), "logging.py": "word = 1\n"})
    (problem,) = plugin.description.problems
    assert problem.reason == "it means logging.py beside it, but 'logging' is a module of Python's own."
    assert problem.hint == "Rename logging.py, or write `from . import logging`."


@pytest.mark.parametrize("name", ["data.txt", "data/words.txt"])
def test_a_loose_file_that_may_not_read_what_lies_beside_it_is_told_what_to_do(write: Write, name: str) -> None:
    raised = f"import pathlib\nraise PermissionError(13, 'no', str(pathlib.Path(__file__).parent / '{name}'))\n"
    (problem,) = write(raised).description.problems
    assert problem.reason == f"it may not read {name!r} beside it: a loose file has nothing but itself."
    assert problem.hint == "Put both into a folder of their own; a folder is one plugin."


def test_the_line_of_an_error_in_a_helper_is_told(write: Write) -> None:
    plugin = write({"main.py": "from etui import tool\nimport part\n" + good("m"), "part.py": "x = 1\ny = x / 0\n"})
    main, part = plugin.description.problems
    assert (main.what, main.line) == ("main.py", 2)
    assert main.reason == "part.py, which it imports, does not load (line 2): it raised ZeroDivisionError: division by zero."
    assert (part.what, part.line) == ("part.py", 2)
    assert "part.py" in part.trace
    assert "importlib" not in part.trace.split("part.py")[0].split("\n")[-1]


def test_an_empty_file_says_so(write: Write) -> None:
    assert write("").refusals == ["It is empty."]
    assert write("x = 1\n").refusals == ["It offers no tool."]


def test_siblings_are_found_in_every_way(write: Write) -> None:
    plugin = write(
        {
            "__init__.py": "",
            "main.py": """
                from etui import tool
                import helper
                import deep.inner
                from deep import inner as again
                from phrases import HELLO
                from . import helper as same
                from .phrases import HELLO as HELLO2

                @tool
                def hello() -> list:
                    "Say hello."
                    import late
                    return [HELLO, HELLO2, helper is same, deep.inner.X, again is deep.inner, late.Y]
                """,
            "helper.py": "",
            "phrases.py": "HELLO = 'old'\n",
            "late.py": "Y = 5\n",
            "deep/inner.py": "import near\nX = near.X\n",
            "deep/near.py": "X = 3\n",
        }
    )
    assert plugin.refusals == []
    assert list(plugin.tools) == ["hello"]
    assert not {"helper", "phrases", "deep", "late"} & set(sys.modules)


async def test_a_file_that_is_called_as_the_library_that_it_imports_has_that_library(write: Write) -> None:
    tool = "from etui import tool\n@tool\ndef pack() -> str:\n 'Pack.'\n return msgspec.json.encode([1]).decode()\n"
    plugin = write({"msgspec.py": "import msgspec\n" + tool})
    assert plugin.refusals == []
    assert (await plugin.call("pack")).text == "[1]"
    (refused,) = write({"nosuchlib.py": "import nosuchlib\n"}).refusals
    assert "'nosuchlib'" in refused


async def test_a_changed_helper_is_seen_and_no_bytecode_is_left(write: Write) -> None:
    plugin = write(
        {
            "main.py": "from etui import tool\nfrom phrases import HELLO\n@tool\ndef hello() -> str:\n 'Hi.'\n return HELLO\n",
            "phrases.py": "HELLO = 'old'\n",
        }
    )
    assert (await plugin.call("hello")).text == "old"
    path = plugin.write("phrases.py", "HELLO = 'new'\n")
    import os

    os.utime(path, (1, 1))
    plugin.describe()
    assert (await plugin.call("hello")).text == "new"
    assert list(plugin.folder.rglob("__pycache__")) == []


async def test_stale_bytecode_is_not_read(write: Write) -> None:
    import py_compile

    plugin = write(good("a").replace('return "a"', 'return "stale"'))
    main = plugin.folder / "main.py"
    py_compile.compile(str(main), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    plugin.write("main.py", good("a"))
    plugin.describe()
    assert (await plugin.call("a")).text == "a"


def test_a_file_named_as_a_standard_module_does_not_take_its_place(write: Write) -> None:
    plugin = write(
        {"random.py": "from etui import tool\nimport random\nX = random.randint(1, 1)\n" + good("r"), "math.py": "1"}
    )
    assert list(plugin.tools) == ["r"]


def test_a_lone_file_is_told_about_its_neighbour(write: Write, tmp_path: Path) -> None:
    from etui.contracts import Files, find

    (tmp_path / "helper.py").write_text("X = 1")
    main = tmp_path / "main.py"
    main.write_text("from etui import tool\nimport helper\n")
    (problem,) = (
        find("etui").describe(Files(plugin="main", source="s", contract="etui", path=str(main), files=(str(main),))).problems
    )
    assert "was not brought along" in problem.reason


def test_a_circular_import_is_named(write: Write) -> None:
    plugin = write(
        {
            "a.py": "import etui\nfrom b import B\nA = 1\n" + good("a"),
            "b.py": "import etui\nfrom a import A\nB = A\n" + good("b"),
            "c.py": good("c"),
        }
    )
    assert list(plugin.tools) == ["c"]
    assert any("circular import: a -> b -> a." in reason for reason in plugin.refusals), plugin.refusals
    plugin.write("b.py", "B = 2\n" + good("b"))
    plugin.describe()
    assert sorted(plugin.tools) == ["a", "b", "c"]


def test_a_circle_that_python_allows_works(write: Write) -> None:
    plugin = write({"a.py": "import b\nA = 1\n" + good("a"), "b.py": "import a\ndef late(): return a.A\n" + good("b")})
    assert plugin.refusals == []
    assert sorted(plugin.tools) == ["a", "b"]


def test_a_failed_load_leaves_nothing_behind(write: Write) -> None:
    plugin = write({"main.py": "import part\n1 / 0\n" + good("m"), "part.py": good("p")})
    assert list(plugin.tools) == ["p"]
    name = f"etui_plugin_{plugin.plugin}"
    assert f"{name}.main" not in sys.modules
    for _ in range(2):
        plugin.write("main.py", "import part\n" + good("m"))
        plugin.describe()
        assert sorted(plugin.tools) == ["m", "p"]
        assert plugin.refusals == []


def test_a_half_loaded_circle_leaves_nothing_behind(write: Write) -> None:
    plugin = write({"a.py": "import b\n1 / 0\n", "b.py": "import a\n" + good("b")})
    assert plugin.tools == {}
    assert [name for name in sys.modules if name.startswith(f"etui_plugin_{plugin.plugin}.")] == []


def test_reexported_tools_count_once_and_helpers_are_no_tools(write: Write) -> None:
    plugin = write(
        {
            "main.py": "from shared import ring as ring, plain, ring as bell\nfrom shared import *\n",
            "shared.py": "from etui import tool\ndef plain(): pass\n@tool\ndef ring() -> str:\n    'Ring.'\n    return 'r'\n",
        }
    )
    assert list(plugin.tools) == ["ring"]
    assert plugin.refusals == []
    assert plugin.tools["ring"].file.endswith("shared.py")
    assert plugin.tools["ring"].line == 4


def test_two_tools_of_one_name_name_both_lines(write: Write) -> None:
    plugin = write(
        """
        from etui import tool

        @tool
        def a() -> int:
            "First."
            return 1

        @tool
        def a() -> int:
            "Second."
            return 2
        """
    )
    assert plugin.tools["a"].description == "First."
    (problem,) = plugin.description.problems
    assert problem.reason == "The name 'a' is taken: by main.py line 5; this one is on line 10."
    assert problem.line == 10


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("3d_print", "_3d_print"),
        ("_x", "_x"),
        ("-dash", "_dash"),
        ("light.on", "light_on"),
        ("großer name", "groer_name_"),
        ("日本", "tool_"),
        ("a" * 70, "a" * 55 + "_"),
        ("a" * 64, "a" * 64),
    ],
)
def test_every_offered_name_satisfies_the_strictest_rule(write: Write, name: str, offered: str) -> None:
    plugin = write(f"from etui import tool\n@tool(name={name!r})\ndef f() -> int:\n    'F.'\n    return 1\n")
    (tool,) = plugin.description.tools
    assert tool.name.startswith(offered)
    assert len(tool.name) <= 64
    assert tool.name.isascii()
    assert tool.name.isidentifier()
    assert tool.entry == name
    assert [problem.refused for problem in plugin.description.problems] == ([] if tool.name == name else [False])
    plugin.describe()
    assert plugin.description.tools[0].name == tool.name


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("risk='dangerous'", "must be one of 'read', 'write', 'network', 'exec'"),
        ("risk=3", "must be one of"),
        ("risk=[]", "must be one of"),
        ("timeout=0", "above 0"),
        ("timeout=-1", "above 0"),
        ("timeout=float('inf')", "above 0"),
        ("timeout=float('nan')", "above 0"),
        ("timeout='5'", "above 0"),
        ("timeout=True", "above 0"),
        ("arg_timeout='wait'", "names 'wait', which is none of its parameters"),
        ("examples=3", "must be a list of sentences"),
        ("pin='yes'", "must be True or False"),
        ("announce=3", "must be text"),
        ("name=''", "its name must be text"),
        ("name=3", "its name must be text"),
        ("tiemout=3", "has no option 'tiemout'"),
    ],
)
def test_an_option_of_no_sense_costs_its_tool_only(write: Write, options: str, told: str) -> None:
    plugin = write(f"from etui import tool\n@tool({options})\ndef f(x: int = 1) -> int:\n    'F.'\n    return 1\n" + good("ok"))
    assert list(plugin.tools) == ["ok"]
    (problem,) = plugin.description.problems
    assert told.casefold() in problem.reason.casefold()
    assert problem.line == 3
    assert problem.refused


def test_odd_examples_are_left_out_with_a_warning(write: Write) -> None:
    plugin = write(
        "from etui import tool\n@tool(examples=['roll {count}', 'roll {cuont}', 3, ' '])\n"
        "def roll(count: int = 1) -> int:\n    'Roll.'\n    return 1\n"
    )
    assert plugin.tools["roll"].examples == ("roll {count}",)
    assert len(plugin.warnings) == 3
    assert "names 'cuont'" in plugin.warnings[0]


def test_a_tool_without_words_gets_a_description_and_a_warning(write: Write) -> None:
    plugin = write("from etui import tool\n@tool\ndef water_plants(): return 1\n")
    assert plugin.tools["water_plants"].description == "Water plants."
    assert plugin.warnings == ["It has no docstring, so a model knows only its name."]


def test_whatever_a_tool_mark_stands_on_the_line_is_told_and_what_to_do(write: Write) -> None:
    plugin = write(
        "import functools\nfrom etui import tool\n@tool\nclass A: pass\nclass B:\n    @tool\n    @staticmethod\n"
        "    def s(a: int): 'S.'\nclass C:\n    def __call__(self): return 1\nmade = tool(C())\n"
        "part = tool(functools.partial(int, base=2))\ndef bare(f):\n    def inner(*a): return f(*a)\n    return inner\n"
        "@tool\n@bare\ndef wrapped(a: int): 'W.'\n@tool\ndef later(a: 'Nowhere'): 'L.'\n"
    )
    told = {problem.what: (problem.line, problem.hint) for problem in plugin.description.problems}
    assert plugin.tools == {}
    assert {what: line for what, (line, _) in told.items()} == {
        "A": 3,
        "s": 8,
        "C": 11,
        "partial": 12,
        "inner": 14,
        "later": 20,
    }
    assert "functools.wraps" in told["inner"][1]
    assert "TYPE_CHECKING" in told["later"][1]
    assert "@tool(name=...)" in told["C"][1]


def test_what_is_no_function_is_no_tool(write: Write) -> None:
    plugin = write(
        "from etui import tool\n@tool\nclass A: pass\n" + good("ok") + "\nclass B:\n    @tool\n    def m(self): 'M.'\n"
        "\ndef hide(f): return lambda: 1\n@hide\n@tool\ndef hidden() -> int:\n    'H.'\n    return 1\n"
    )
    assert list(plugin.tools) == ["ok"]
    told = {problem.what: problem.reason for problem in plugin.description.problems}
    assert "goes on a function" in told["A"]
    assert "inside a class" in told["m"]
    assert "Something else has taken its name" in told["hidden"]


async def test_an_outer_decorator_that_wraps_well_is_the_tool(write: Write) -> None:
    plugin = write(
        """
        import functools
        from etui import tool

        def twice(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs) * 2
            return inner

        @twice
        @tool
        def one(n: int = 1) -> int:
            "One."
            return n

        @tool
        @twice
        def two(n: int = 1) -> int:
            "Two."
            return n

        @tool(name="first")
        @tool(name="second")
        def both() -> int:
            "Both."
            return 1
        """
    )
    assert (await plugin.call("one", {"n": 4})).data == 8
    assert (await plugin.call("two", {"n": 4})).data == 8
    assert plugin.refusals == []
    assert plugin.tools["one"].line == 13


def test_the_wishes_are_known_even_when_the_import_fails(write: Write) -> None:
    plugin = write(
        {
            "a.py": "from etui import tool as t\n@t(risk='network')\ndef f() -> int:\n    'F.'\n    return 1\n1 / 0\n",
            "b.py": "import etui\n@etui.tool(risk='write')\ndef g() -> int:\n    'G.'\n    return 1\n",
        }
    )
    wishes = plugin.description.wishes
    assert (wishes.network, wishes.subprocess, wishes.write) == (True, False, (str(plugin.work),))
    assert write(good("r")).description.wishes.write == ()
    assert write("from etui import tool\nx(risk='exec')\n").description.wishes.subprocess is False


def test_a_grant_follows_the_risks() -> None:
    from etui.contracts.etui.grants import grant_for
    from etui.tool import Grant

    assert grant_for(["read"], "/w") == Grant()
    assert grant_for(["write", "read"], "/w") == Grant(write=("/w",))
    assert grant_for(["network"], "/w") == Grant(write=("/w",), network=True)
    assert grant_for(["exec", "nonsense"], "/w") == Grant(write=("/w",), network=True, subprocess=True)
    assert grant_for([], "/w") == Grant()
    assert grant_for(["write"]) == Grant()


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("from etui import tool\n", True),
        ("import etui\n", True),
        ("    from etui import tool\n", True),
        ("# from etui import tool\n", False),
        ("import etuition\n", False),
        ("from kotoba import x\n", False),
        ("", False),
    ],
)
def test_a_file_is_recognised_by_its_import(text: str, is_one: bool) -> None:
    from etui.contracts import find

    assert find("etui").recognises(text) is is_one
