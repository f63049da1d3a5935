"""What is a Kotoba tool and what is none: files, attributes and their defaults, names, refusals with file and line."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog
from tests.agent.servers import ModelServer, Says
from tests.kotoba.homes import PING, kinds, kotoba, ping, write
from tests.spine.homes import host_at

from etui.agent.models import Models
from etui.agent.scripted import call
from etui.budgets import deadline
from etui.contracts import Caller, Description, Files
from etui.contracts.kotoba import KotobaContract
from etui.events import Kind
from etui.tool import FACES, Grant, Tool

HN_TOP = """
SCHEMA = {
    "type": "function",
    "name": "hn_top",
    "description": "List the top stories on Hacker News right now.",
    "parameters": {
        "type": "object",
        "properties": {"count": {"type": "integer", "description": "How many stories (default 5)."}},
        "required": [],
        "additionalProperties": False,
    },
}


async def execute(args, ctx):
    return repr(args)
"""
"""A module with the schema of the owners' page."""


class Line:
    """A host that answers nothing, for a contract that is asked without one."""

    def __init__(self, **caller: Any) -> None:
        self.call = "call_1"
        self.caller = Caller(**caller)


def described(folder: Path, files: Mapping[str, str], name: str = "p", **more: Any) -> Description:
    """What a plugin in this folder offers, described in this process."""
    write(folder, files)
    paths = tuple(sorted(str(path) for path in folder.rglob("*.py")))
    given = Files(plugin=name, source="s", contract="kotoba", path=str(folder), files=paths, work=str(folder), **more)
    return KotobaContract().describe(given)


def one(folder: Path, text: str, **more: Any) -> Tool:
    """The one tool of a file, which has nothing wrong with it."""
    found = described(folder, {"ping.py": text}, **more)
    assert found.problems == ()
    (tool,) = found.tools
    return tool


@pytest.fixture(autouse=True)
def this_process_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a contract brings into this process when it is asked without a worker goes with the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("kotoba_plugin_"):
            del sys.modules[name]


@pytest.mark.promise("K001", "K003", "K030", "K122", "K123", "K124", "K125", "K126", "K131")
async def test_the_pages_smallest_plugin_works_as_it_stands(tmp_path):
    now = [1000.0]
    async with kotoba(tmp_path, {"p/ping.py": PING}, clock=lambda: now[0]) as room:
        assert room.problems() == []
        (tool,) = room.host.tools.all()
        assert (tool.name, tool.toolset, tool.risk, tool.timeout) == ("ping", "plugin:p", "read", 30.0)
        assert (tool.interactive, tool.provided, tool.checked, tool.face, tool.fail_face) == (False, False, False, "", "")
        assert tool.voice == type(tool.voice)()
        before = room.host.store.journal.actions()
        await room.turn("hello", [call("ping")], "Done.")
        now[0] += 60
        await room.turn("again", [call("ping")], "Done.")
        assert [room.offered(number) for number in range(4)] == [["ping"]] * 4
        assert [(message.text, message.meta["status"]) for message in room.results()] == [("pong", "ok")] * 2
        told = await room.events()
        assert kinds(told, Kind.SAID) == []
        assert {data["risk"] for _, data in kinds(told, Kind.CALL_STARTED)} == {"read"}
        assert room.host.store.journal.actions() == before
        assert (await room.call("ping", mode="work")).text == "pong"


NOT_A_TOOL = {
    "p/util.py": "def f():\n    return 1\n",
    "p/listed.py": "SCHEMA = []\n\nasync def execute(args, ctx): return 'x'\n",
    "p/text.py": "SCHEMA = 'ping'\n\nasync def execute(args, ctx): return 'x'\n",
    "p/nothing.py": "SCHEMA = None\n",
    "p/classy.py": "class SCHEMA: pass\n",
}
PASSED_OVER = {
    "p/_z.py": ping(name="hidden"),
    "p/__init__.py": ping(name="package"),
    "p/c/d.py": ping(name="below"),
    "_x/x.py": ping(name="underscore"),
    ".y/y.py": ping(name="dotted"),
    "lonely/util.py": "MARK = 'executed'\n",
}
REFUSED = {
    "bad/noexec.py": ("SCHEMA = {'name': 'noexec'}\n", "execute"),
    "bad/admin.py": (
        ping(name="admin", head="\nRISK = 'admin'\n"),
        "'admin'; it must be one of 'read', 'write', 'network', 'exec'",
    ),
    "bad/soon.py": (ping(name="soon", head="TIMEOUT = 'soon'\n"), "TIMEOUT is 'soon'"),
    "bad/yields.py": (ping("yield 'x'", name="yields"), "async generator"),
    "bad/ends.py": ("import sys\nsys.exit()\n", "tried to end the program"),
    "bad/keys.py": ("raise KeyboardInterrupt\n", "tried to end the program"),
    "bad/discord.py": (ping(name="discord", top="import kotoba.discord.state"), "kotoba.discord.state"),
    "bad/loops.py": (
        ping(name="loops", top="from kotoba.core.loop import _run_iterations"),
        "kotoba.core.loop._run_iterations",
    ),
    "bad/a.py": ("1 / 0\n", "ZeroDivisionError"),
}


@pytest.mark.promise("K002", "K009", "K010", "K011", "K012", "K140", "K191", "K203", "K206", "K240", "K255", "K256")
@pytest.mark.promise("K350", "K351", "K352", "K353", "K354", "K356", "K015", "K014", "K013", "K128", "K187")
async def test_each_file_is_a_tool_or_has_one_reason_why_it_is_none(tmp_path):
    files = {
        "p/ping.py": ping(
            top="import util\nfrom . import util as again\nfrom .util import f\nassert util is again and f() == 1"
        ),
        "p/uses.py": ping("return _z.SCHEMA['name']", name="uses", top="import _z"),
        "p/dice.py": ping(name="dice").replace("\"name\": 'dice', ", ""),
        "p/x.py": ping(name="other", head="RISK = 'write'"),
        "solo.py": ping(name="alone"),
        "bad/good.py": ping(name="good"),
        **NOT_A_TOOL,
        **PASSED_OVER,
        **{file: text for file, (text, _) in REFUSED.items()},
    }
    with structlog.testing.capture_logs() as logged:
        async with kotoba(tmp_path, files) as room:
            tools = {tool.name: tool for tool in room.host.tools.all()}
            assert sorted(tools) == ["alone", "dice", "good", "other", "ping", "uses"]
            assert {tool.plugin for tool in tools.values()} == {"p", "solo", "bad"}
            assert tools["alone"].toolset == "plugin:solo"
            found = {problem.file.removeprefix(str(room.folder) + "/"): problem for problem in room.host.problems.all()}
            for file in [*NOT_A_TOOL, "lonely/util.py"]:
                assert (found[file].refused, found[file].reason) == (False, "It has no SCHEMA dict, so it is no tool."), file
            for file, (_, why) in REFUSED.items():
                assert found[file].refused, file
                assert why in found[file].reason, found[file].reason
                assert found[file].line > 0, file
            assert set(found) == {*NOT_A_TOOL, *REFUSED, "lonely/util.py"}
            assert found["bad/admin.py"].line == 5
            assert "1 / 0" in found["bad/a.py"].trace
            await room.turn(
                "go", [call("dice"), call("good"), call("alone"), call("other"), call("ping"), call("uses")], "Done."
            )
            assert room.offered(0) == sorted(tools)
            assert [message.text for message in room.results()] == ["pong"] * 5 + ["hidden"]
            rows = kinds(await room.events(), Kind.CALL_STARTED, Kind.CALL_ENDED)
            assert [data["tool"] for _, data in rows].count("other") == 2
            assert [(row.tool, row.action) for row in room.host.store.journal.actions()] == [("other", "other {}")]
            assert (await room.call("other")).text == "pong"
            for file in NOT_A_TOOL:
                assert (await room.call(Path(file).stem)).rule == "find"
            told = [str(entry) for entry in logged]
    assert not [entry for entry in told for file in NOT_A_TOOL if Path(file).name in entry]
    assert not [name for name in sys.modules if name.startswith("kotoba_plugin")]


@pytest.mark.promise("K006", "K007", "K008", "K017", "K004")
async def test_what_the_model_gets_is_the_schema_as_the_file_wrote_it(tmp_path):
    marked = ping(top='"""DOCMARK"""', head="ANNOUNCE = 'LINEMARK'\nPRIORITY = 9\nPERMISSION = 'x'\n", name="marked")
    async with kotoba(tmp_path, {"p/hn_top.py": HN_TOP, "p/marked.py": marked}) as room:
        await room.turn("news", [call("hn_top", {}), call("hn_top", {"count": 3}, 1), call("marked", {}, 2)], "Done.")
        views = {view.name: view for view in room.requests[0].tools}
        scope: dict[str, Any] = {}
        exec(HN_TOP, scope)
        assert scope["SCHEMA"] == {
            "type": "function",
            "name": views["hn_top"].name,
            "description": views["hn_top"].description,
            "parameters": views["hn_top"].parameters,
        }
        assert [message.text for message in room.results()] == ["{}", "{'count': 3}", "pong"]
        assert views["marked"].description == "Reply with pong."
        sent = msgspec.json.encode([room.requests[0].tools, room.requests[0].messages, room.requests[0].system]).decode()
        assert "DOCMARK" not in sent
        assert "LINEMARK" not in sent


@pytest.mark.promise("K006", "K007", "K017")
async def test_a_provider_is_sent_the_four_values_of_the_schema_and_nothing_else_of_the_file(tmp_path):
    marked = HN_TOP.replace("SCHEMA = {", "# COMMENTMARK\nANNOUNCE = 'LINEMARK'\nRISK = 'network'\nSCHEMA = {", 1)
    with ModelServer(Says(["There are none."])) as server:
        model = Models({}).open("openai-responses:m", base_url=f"{server.url}/v1", key="k")
        write(tmp_path / "kotoba", {"p/hn_top.py": f'"""DOCMARK"""\n{marked}'})
        source = {"path": str(tmp_path / "kotoba"), "contract": "kotoba"}
        async with host_at(tmp_path / "home", model=model, sources=[source]) as host:
            assert (
                await host.conversations.turn(host.store.chats.create("", "python").id, "news", channel="python")
                == "There are none."
            )
        (body,) = server.seen
        scope: dict[str, Any] = {}
        exec(HN_TOP, scope)
        (sent,) = body["tools"]
        assert {name: sent[name] for name in scope["SCHEMA"]} == scope["SCHEMA"]
        assert sent.keys() <= scope["SCHEMA"].keys() | {"strict"}
        assert not [mark for mark in ("DOCMARK", "COMMENTMARK", "LINEMARK", "network") if mark in str(body)]


@pytest.mark.promise("K004", "K139", "K129", "K083", "K085")
def test_what_is_left_out_has_its_default_and_other_names_change_nothing(tmp_path):
    plain = one(tmp_path / "a", ping())
    written = ping(
        head="""
        BUILT_IN = False
        TOOLSET = "core"
        RISK = "read"
        EXPRESSIONS = None
        ANNOUNCE = ""
        HEARTBEAT = []
        COMPLETE = ""
        FAIL = ""
        TIMEOUT = 30
        ARG_TIMEOUT = False
        MAX_TIMEOUT = 600
        INTERACTIVE = False
        """
    )
    other = ping(head="PRIORITY = 9\nPERMISSION = 'x'\n")
    moved = described(tmp_path / "other" / "p", {"ping.py": ping()}).tools[0]
    for tool in (one(tmp_path / "b", written), one(tmp_path / "c", other), moved):
        assert msgspec.structs.replace(tool, file=plain.file, line=plain.line) == plain
    assert (plain.timeout, deadline(plain, {}, "console")) == (30.0, 30.0)
    names = "from kotoba.core.loop import TOOL_TIMEOUT\nfrom kotoba.core.emotions import VALID_EMOTIONS\n"
    check = "assert TOOL_TIMEOUT == 30\nassert sorted(VALID_EMOTIONS) == sorted('''" + " ".join(FACES) + "'''.split())\n"
    assert one(tmp_path / "d", ping(top=names + check)).name == "ping"
    faces = """neutral happy excited sad crying angry surprised
        embarrassed thinking sleepy affectionate confused scared determined"""
    assert sorted(FACES) == sorted(faces.split())


@pytest.mark.parametrize(
    ("risk", "grant"),
    [
        pytest.param("read", Grant(), marks=pytest.mark.promise("K031")),
        ("write", Grant(write=("W",))),
        ("network", Grant(write=("W",), network=True)),
        ("exec", Grant(write=("W",), network=True, subprocess=True)),
    ],
)
@pytest.mark.promise("K031")
def test_each_of_the_four_risks_is_taken_and_folders_change_nothing(tmp_path, risk, grant):
    for folder in ("builtin", "action", "x"):
        found = described(tmp_path / folder, {"ping.py": ping(head=f"RISK = {risk!r}\n")})
        assert [tool.risk for tool in found.tools] == [risk]
        wished = msgspec.structs.replace(found.wishes, write=("W",) * len(found.wishes.write))
        assert wished == grant


@pytest.mark.promise("K134")
async def test_a_tool_may_do_the_same_from_whatever_folder_it_comes(tmp_path):
    folders = ("action", "builtin", "x")
    body = "(ctx.workdir / 'mark').write_text('x')\nreturn 'wrote'"
    async with kotoba(tmp_path, {f"{name}/tool.py": ping(body, name=name, head="RISK = 'write'") for name in folders}) as room:
        await room.turn("go", [call(name, index=number) for number, name in enumerate(folders)], "Done.")
        assert [message.text for message in room.results()] == ["wrote"] * 3
        assert {tool.name: tool.risk for tool in room.host.tools.all()} == dict.fromkeys(folders, "write")
        grant = Grant(write=(str(room.host.home / "files"),))
        assert {alive.plugin: alive.grant for alive in room.host.workers.report()} == dict.fromkeys(folders, grant)
        audited = [(row.tool, row.risk, row.detail) for row in reversed(room.host.store.journal.actions())]
        assert audited == [(name, "write", "executed") for name in folders]


@pytest.mark.promise("K205", "K207", "K376")
def test_numbers_have_their_usual_meaning(tmp_path):
    for number, timeout in enumerate(["0", "None"]):
        tool = one(tmp_path / f"t{number}", ping(head=f"TIMEOUT = {timeout}\n"))
        assert deadline(tool, {}, "console") == 30.0
    assert deadline(one(tmp_path / "m", ping(head="MAX_TIMEOUT = 5\n")), {"timeout": 100}, "console") == 30.0
    assert deadline(one(tmp_path / "l", ping(head="TIMEOUT = 5\n")), {}, "console") == 5.0
    often = {
        name: one(tmp_path / name, ping(name=name)).most for name in ("ping", "todo", "cronjob", "delegate", "browser__go")
    }
    assert often == {"ping": 3, "todo": 10, "cronjob": 10, "delegate": 3, "browser__go": 40}


@pytest.mark.promise("K096", "K097", "K098")
async def test_a_plugins_toolset_is_always_its_own_and_switches_all_of_it(tmp_path):
    files = {
        "p/a.py": ping(name="a", head="TOOLSET = 'core'\n"),
        "p/b.py": ping(name="b", head="TOOLSET = 'plugin:other'\n"),
        "p/c.py": ping(name="c"),
        "q/d.py": ping(name="d"),
    }
    async with kotoba(tmp_path, files) as room:
        assert {tool.name: tool.toolset for tool in room.host.tools.all()} == {
            **dict.fromkeys("abc", "plugin:p"),
            "d": "plugin:q",
        }
        room.host.tools.switch("plugin:p", False)
        await room.turn("go", [call("a"), call("b", index=1), call("c", index=2), call("d", index=3)], "Done.")
        assert room.offered(0) == ["d"]
        assert [message.meta["status"] for message in room.results()] == ["refused"] * 3 + ["ok"]


def test_an_owner_may_let_a_source_keep_its_families(tmp_path):
    assert one(tmp_path / "a", ping(head="TOOLSET = 'file'\n"), families=True).toolset == "file"
    assert one(tmp_path / "b", ping(), families=True).toolset == "core"


@pytest.mark.promise("K095", "K202", "K099", "K101", "K110", "K142", "K143", "K211", "K212", "K355", "K257", "K189")
async def test_names_import_and_modules_are_real_modules(tmp_path):
    data = """
        '''A docstring.'''
        from __future__ import annotations
        import pickle, sys
        from dataclasses import dataclass
        from kotoba.tools import ToolContext, ToolResult
        from kotoba.core.path_security import PathSecurityError, validate_within_dir
        from kotoba.core.loop import note_tool_refusal, note_tool_failure

        @dataclass
        class Row:
            name: str
        """
    body = """
        from kotoba.core.loop import note_tool_refusal, note_tool_failure
        assert sys.modules[__name__].Row is Row and pickle.loads(pickle.dumps(Row("x"))) == Row("x")
        return __name__ + " " + Row("x").name
        """
    older = """
        from kotoba.tools import ToolSpec, TOOL_REGISTRY, TOOL_SCHEMAS, FUNCTION_TOOLS, discover, register, schemas_for
        spec = ToolSpec(name='x', module=None, schema={})
        assert (spec.toolset, spec.risk, spec.built_in, spec.check(), spec.expressions) == ('core', 'read', False, True, None)
        """
    provided = ping("open(ctx.workdir / 'ran', 'w').close()", name="web", head="BUILT_IN = True\nRISK = 'write'\n")
    later = """
        class Later:
            async def __call__(self, args, ctx):
                return "object"

        execute = Later()
        """
    partial = """
        import functools

        async def go(word, args, ctx):
            return word

        execute = functools.partial(go, "partial")
        """
    wrapped = """
        import functools

        def decorated(function):
            @functools.wraps(function)
            def inner(args, ctx):
                return function(args, ctx)
            return inner

        execute = decorated(execute)
        """
    files = {
        "p/ping.py": ping(body, top=textwrap.dedent(data).strip()),
        "p/older.py": ping(name="older", top=older),
        "p/web.py": provided,
        "p/later.py": ping(name="later") + textwrap.dedent(later),
        "p/part.py": ping(name="part") + textwrap.dedent(partial),
        "p/wrap.py": ping(name="wrap") + textwrap.dedent(wrapped),
    }
    async with kotoba(tmp_path, files) as room:
        assert room.problems() == []
        wanted = ["ping", "older", "web", "later", "part", "wrap"]
        await room.turn("go", [call(name, index=number) for number, name in enumerate(wanted)], "Done.")
        texts = [message.text for message in room.results()]
        assert texts == ["kotoba_plugin_p_ping x", "pong", "", "object", "partial", "pong"]
        assert {message.meta["status"] for message in room.results()} == {"ok"}
        assert not (room.host.home / "files" / "ran").exists()
        for name in ("os.system", "kotoba.tools.action.shell", "../p/ping"):
            assert (await room.call(name)).rule == "find"


@pytest.mark.promise("K020", "K258")
async def test_a_plain_def_is_listed_with_a_warning_and_is_judged_by_what_it_gives_back(tmp_path):
    plain = ping(name="plain").replace("async def execute", "def execute")
    hands = "\n\nasync def go(a):\n    return 'went'\n\n\ndef execute(args, ctx):\n    return go(args)\n"
    files = {"p/plain.py": plain, "p/hands.py": ping(name="hands") + hands, "p/ping.py": PING}
    async with kotoba(tmp_path, files) as room:
        warned = {what: (reason, refused) for what, reason, refused in room.problems()}
        assert set(warned) == {"plain", "hands"}
        assert "async def" in warned["plain"][0]
        assert not warned["plain"][1]
        await room.turn("go", [call("plain"), call("hands", index=1), call("ping", index=2)], "Done.")
        assert [message.meta["status"] for message in room.results()] == ["failed", "ok", "ok"]
        assert [message.text for message in room.results()][1:] == ["went", "pong"]
        outcome = await room.call("plain")
        assert "cannot be awaited" in outcome.why
        assert "'str'" in outcome.detail


async def test_an_entry_point_names_a_module_or_any_object_with_the_attributes(tmp_path, monkeypatch):
    package = {
        "fcpkg/__init__.py": "",
        "fcpkg/words.py": "WORD = 'sunny'\n",
        "fcpkg/tool.py": ping("return WORD", top="from fcpkg.words import WORD").replace("\"name\": 'ping', ", ""),
        "fcpkg/classy.py": """
class Tool:
    SCHEMA = {"name": "classy", "description": "d", "parameters": {"type": "object"}}
    RISK = "network"

    @staticmethod
    async def execute(args, ctx):
        return "from a class"
""",
    }
    write(tmp_path, package)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = []
    for plugin, entry in (("forecast", "fcpkg.tool"), ("c", "fcpkg.classy:Tool")):
        contract = KotobaContract()
        path = str(tmp_path / "fcpkg")
        files = Files(plugin=plugin, source="s", contract="kotoba", path=path, files=(), entry=entry)
        description = contract.describe(files)
        assert description.problems == ()
        (tool,) = description.tools
        ran = await contract.invoke(tool.entry, {}, Line())
        found.append((tool.name, tool.toolset, tool.risk, ran.text))
    assert found == [
        ("forecast", "plugin:forecast", "read", "sunny"),
        ("classy", "plugin:c", "network", "from a class"),
    ]
    broken = KotobaContract().describe(
        Files(plugin="z", source="s", contract="kotoba", path="/x", files=(), entry="nosuch_zz.tool")
    )
    assert [problem.refused for problem in broken.problems] == [True]


@pytest.mark.promise("K201")
async def test_the_check_is_taken_when_the_module_is_read(tmp_path):
    body = """
        global check
        check = lambda: False
        return "pong"
        """
    now = [1000.0]
    async with kotoba(
        tmp_path, {"p/ping.py": ping(body, head="def check():\n    return True\n")}, clock=lambda: now[0]
    ) as room:
        await room.turn("go", [call("ping")], "Done.")
        now[0] += 31
        await room.turn("go", [call("ping")], "Done.")
        assert [room.offered(number) for number in range(4)] == [["ping"]] * 4


def test_a_second_tool_of_a_name_in_one_plugin_is_refused_with_both_files(tmp_path):
    found = described(tmp_path, {"a.py": ping(name="twin"), "b.py": ping(name="twin")})
    assert [Path(tool.file).name for tool in found.tools] == ["a.py"]
    (problem,) = found.problems
    assert problem.refused
    assert "a.py" in problem.reason
    assert "b.py" in problem.reason


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("HEARTBEAT = 3\n", "HEARTBEAT is 3"),
        ("ANNOUNCE = ['a']\n", "ANNOUNCE is ['a']"),
        ("EXPRESSIONS = 'happy'\n", "EXPRESSIONS is 'happy'"),
        ("EXPRESSIONS = {'focus': 'smug'}\n", "'smug'"),
        ("async def check():\n    return False\n", "check is an `async def`"),
    ],
)
def test_what_is_odd_in_an_attribute_is_a_warning_with_its_line(tmp_path, head, told):
    found = described(tmp_path, {"ping.py": ping(head=head)})
    (problem,) = found.problems
    assert told in problem.reason
    assert not problem.refused
    assert problem.line == 4
    assert [tool.name for tool in found.tools] == ["ping"]


def test_wishes_are_read_from_the_source_even_when_it_does_not_load(tmp_path):
    texts = {
        "a.py": ping(name="a", top="import httpx_zz, urllib.request\nimport os\nTOKEN = os.getenv('MY_SERVICE_TOKEN')"),
        "b.py": ping("await ctx.ensure_sandbox()", name="b"),
    }
    found = described(tmp_path, texts)
    assert found.wishes == Grant(write=(str(tmp_path),), network=True, subprocess=True, env=("MY_SERVICE_TOKEN",))
    assert [tool.name for tool in found.tools] == ["b"]


async def test_a_check_answers_in_a_thread_and_raises_what_it_raises(tmp_path):
    contract = KotobaContract()
    write(
        tmp_path,
        {
            "a.py": ping(
                name="a",
                head="def check():\n    import threading\n    return threading.current_thread().name != 'MainThread'\n",
            ),
            "b.py": ping(name="b", head="check = 3\n"),
            "c.py": ping(name="c", head="def check():\n    raise SystemExit\n"),
            "d.py": ping(name="d"),
        },
    )
    paths = tuple(sorted(map(str, tmp_path.glob("*.py"))))
    found = contract.describe(Files(plugin="p", source="s", contract="kotoba", path=str(tmp_path), files=paths))
    assert [tool.checked for tool in found.tools] == [True, True, True, False]
    assert await contract.available("a")
    assert await contract.available("d")
    assert not await contract.available("nosuch")
    with pytest.raises(TypeError):
        await contract.available("b")
    with pytest.raises(SystemExit):
        await contract.available("c")


def test_files_of_a_plugin_may_import_each_other_and_what_is_missing_is_named(tmp_path):
    found = described(
        tmp_path,
        {
            "a.py": ping(name="a", top="from . import b\nimport kotoba_plugin_p.b as again\nassert again is b"),
            "b.py": ping(name="b", top="import a as other\nfrom . import a\nassert other is a"),
            "c.py": ping(name="c", top="from .json import mine\nimport json\nassert json.dumps(mine) == '1'"),
            "json.py": "mine = 1\n",
            "x.py": "from .nosuch import y\n",
            "y.py": "from .z import later\nfirst = 1\n",
            "z.py": "from .y import first\nlater = 2\n",
        },
    )
    assert [tool.name for tool in found.tools] == ["a", "b", "c"]
    refused = {problem.what: problem.reason for problem in found.problems if problem.refused}
    assert set(refused) == {"x.py", "y.py", "z.py"}
    assert "'nosuch', which is no file of this plugin" in refused["x.py"]
    assert "circular import: y -> z -> y" in refused["y.py"]


async def test_a_module_in_etuis_own_folder_is_recognised_by_itself(tmp_path):
    write(tmp_path / "home" / "tools", {"ping.py": PING})
    async with kotoba(tmp_path, {}) as room:
        (tool,) = room.host.tools.all()
        assert (tool.contract, tool.plugin, tool.toolset) == ("kotoba", "ping", "plugin:ping")
        assert (await room.call("ping")).text == "pong"


IN_WAYS = {
    "plain": "SCHEMA = {given}",
    "typed": "SCHEMA: dict[str, object] = {given}",
    "marked": "\ufeffSCHEMA = {given}",
    "inside": "try:\n    import nosuch\nexcept ImportError:\n    if True:\n        SCHEMA = {given}",
    "tupled": "SCHEMA, RISK = {given}, 'read'",
    "chained": "TOOL = SCHEMA = {given}",
    "looked": "globals()['SCHEMA'] = {given}",
    "made": "def tool(function):\n    global SCHEMA\n    SCHEMA = {given}\n    return function\n\n@tool\ndef _(): ...",
}
NO_WAYS = {
    "in a function": "def f():\n    SCHEMA = {}\nasync def execute(args, ctx): ...",
    "in a class": "class T:\n    SCHEMA = {}\n    async def execute(self, args, ctx): ...",
    "read": "print(SCHEMA)\nexecute = 1",
    "compared": "SCHEMA == {}\nexecute = 1",
    "of no tool": "if True:\n    SCHEMA = {}",
    "broken": "if True:\n    SCHEMA = {\nexecute",
    "deep": "SCHEMA.execute = " + "-" * 3000 + "1",
}


@pytest.mark.parametrize("text", NO_WAYS.values(), ids=NO_WAYS)
def test_a_file_that_gives_its_module_no_schema_is_none_of_kotobas(text):
    assert not KotobaContract().recognises(text)


async def test_a_module_is_recognised_in_whichever_way_it_comes_by_its_schema(tmp_path):
    end = "\n\nasync def execute(args, ctx):\n    return 'pong'\n"
    for name, way in IN_WAYS.items():
        given = repr({"type": "function", "name": name, "description": "Reply.", "parameters": {"type": "object"}})
        write(tmp_path / "home" / "tools", {f"{name}.py": way.replace("{given}", given) + end})
    write(tmp_path / "home" / "tools", {"taken/taken.py": "from ._schema import SCHEMA as SCHEMA" + end})
    write(tmp_path / "home" / "tools", {"taken/_schema.py": "NAMED = {'name': 'taken'}\nfor SCHEMA in [NAMED]: ...\n"})
    async with kotoba(tmp_path, {}) as room:
        assert room.problems() == []
        assert {tool.name: tool.contract for tool in room.host.tools.all()} == dict.fromkeys([*IN_WAYS, "taken"], "kotoba")
        assert (await room.call("made")).text == "pong"
