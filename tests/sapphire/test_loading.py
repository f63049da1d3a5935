"""Which files are run, under which names and in what order, and what the owner reads of those that offer nothing."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.sapphire.homes import SAMPLE, Room, manifest, sapphire, tool
from tests.spine.homes import ended

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = 'import json\nimport sys\nTHERE = __name__ in sys.modules\nRUNS = globals().get("RUNS", 0) + 1\n'
SAYS = "return json.dumps([__name__, THERE, __name__ in sys.modules, __file__]), True"
FILES = {
    # Loose modules: no plugin around them, none whose name begins with `_`.
    "functions/loose_a.py": tool("loose_a", head=NAMES, body=SAYS),
    "functions/loose_b.py": tool("loose_b"),
    "functions/_loose_c.py": tool("loose_c"),
    "functions/wants_five.py": tool("wants_five", signature="a, b, c, d, e"),
    "functions/off.py": SAMPLE.replace("ENABLED = True", "ENABLED = False").replace("my_tool_do_thing", "off_do_thing"),
    "functions/leans.py": "import loose_b\n" + tool("leans"),
    "functions/none_listed.py": "AVAILABLE_FUNCTIONS = []\n" + tool("none_loose"),
    # The sample of the page, and what a module is called.
    "plugins/sample/tools/my_tool.py": SAMPLE,
    "plugins/sample/tools/other.py": tool("unlisted"),
    "plugins/sample/plugin.json": manifest("sample", "tools/my_tool.py"),
    "plugins/my-clock/tools/t.py": tool(
        "where_am_i",
        "beside",
        head=NAMES + "from pathlib import Path",
        body="""
            if function_name == "beside":
                return Path(__file__).with_name("words.txt").read_text(encoding="utf-8"), isinstance(__file__, str)
            """
        + SAYS,
    ),
    "plugins/my-clock/tools/words.txt": "grüße 🕐",
    # Siblings.
    "plugins/kin/tools/a.py": tool(
        "kin_flag",
        "kin_count",
        head="from plugins.kin.tools.b import counter\nfrom plugins.kin.lib.helper import HELLO\nFLAG = 0",
        body="""
            if function_name == "kin_flag":
                return str(FLAG), True
            from plugins.kin.lib import helper
            return f"{HELLO} {helper.HELLO} {counter()}", True
            """,
    ),
    "plugins/kin/tools/b.py": tool(
        "kin_set",
        "kin_runs",
        head="""
            import itertools
            COUNT = itertools.count(1)
            def counter():
                return next(COUNT)
            import builtins
            builtins.kin_runs = getattr(builtins, "kin_runs", 0) + 1
            """,
        body="""
            if function_name == "kin_runs":
                import builtins
                return f"{builtins.kin_runs} {counter()}", True
            import plugins.kin.tools.a
            plugins.kin.tools.a.FLAG = 1
            return "set", True
            """,
    ),
    "plugins/kin/lib/helper.py": "HELLO = 'hello'\n",
    "plugins/kin/tools/bare.py": "import helper\n" + tool("bare"),
    # Manifests that name too much, and files that are none.
    "plugins/astray/plugin.json": manifest("astray", "../x.py", "tools/none.py", "./tools/a.py", "tests/t.py"),
    "plugins/astray/tests/t.py": tool("astray_t"),
    "plugins/astray/tools/a.py": tool("astray_a"),
    "plugins/x.py": "raise AssertionError('it was run')\n",
    "plugins/skips/tools/good.py": tool("skips_good"),
    "plugins/skips/tools/a_no_execute.py": "TOOLS = [1]\n",
    "plugins/skips/tools/b_no_tools.py": "def execute(function_name, arguments, config):\n    return 'x', True\n",
    "plugins/skips/tools/c_empty.py": "TOOLS = []\n\n\ndef execute(function_name, arguments, config):\n    return 'x', True\n",
    "plugins/faults/tools/a_package.py": "import nosuchpkg.inner\n" + tool("faults_a"),
    "plugins/faults/tools/b.py": tool("faults_b"),
    "plugins/faults/tools/c_exit.py": "import sys\n\nsys.exit(3)\n",
    "plugins/faults/tools/d_zero.py": "x = 1\ny = x / 0\n",
    "plugins/faults/tools/e_syntax.py": "def broken(:\n",
    # ENABLED, EMOJI, AVAILABLE_FUNCTIONS.
    "plugins/quiet/tools/off.py": "ENABLED = 0\nimport builtins\nbuiltins.quiet_ran = True\n" + tool("quiet_off"),
    "plugins/quiet/tools/on.py": tool(
        "quiet_on", body='import builtins\nreturn str(getattr(builtins, "quiet_ran", False)), True'
    ),
    "plugins/empty/tools/a.py": "AVAILABLE_FUNCTIONS = []\n" + tool("none_plugin", "none_too"),
    "plugins/late/tools/a.py": """
TOOLS = [{"type": "function", "function": {"name": "late_one", "description": "First.", "parameters": {"type": "object"}}}]
WORD = "two"
TOOLS.append({"type": "function", "function": {"name": f"late_{WORD}", "description": f"The number {WORD} 🥈 für dich.",
              "parameters": {"type": "object", "properties": {}}}})
AVAILABLE_FUNCTIONS = [one["function"]["name"] for one in TOOLS]


def execute(function_name, arguments, config):
    return function_name, True
""",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("loading"), FILES, limit=None, environ={"LC_ALL": "C"}) as room:
        yield room


@pytest.mark.promise("S005")
@pytest.mark.promise("S301")
async def test_a_loose_module_needs_no_plugin_and_one_with_an_underscore_is_none(room):
    assert await room.ran("loose_b") == ("done", True)
    assert {"loose_a", "loose_b"} <= set(room.tools())
    assert "loose_c" not in room.tools()


@pytest.mark.promise("S303")
async def test_a_loose_module_has_its_own_name_and_is_not_in_sys_modules(room):
    name, before, now, file = await room.value("loose_a")
    assert (name, before, now) == ("sapphire.functions.loose_a", False, False)
    assert file == str(room.root / "functions" / "loose_a.py")


@pytest.mark.promise("S304", "S305", "S306")
async def test_a_plugins_module_is_named_by_its_folder_and_enters_sys_modules_after_its_body(room):
    name, before, now, file = await room.value("where_am_i")
    assert (name, before, now) == ("plugins.my-clock.tools.t", False, True)
    assert file == str(room.root / "plugins" / "my-clock" / "tools" / "t.py")
    assert await room.ran("beside") == ("grüße 🕐", True)


@pytest.mark.promise("S034")
async def test_only_the_files_that_the_manifest_lists_are_run(room):
    assert "my_tool_do_thing" in room.tools()
    assert "unlisted" not in room.tools()


@pytest.mark.promise("S308", "S310")
async def test_siblings_are_imported_by_their_full_names_and_run_once(room):
    assert await room.ran("kin_count") == ("hello hello 1", True)
    assert await room.ran("kin_runs") == ("1 2", True)


@pytest.mark.promise("S307")
async def test_what_a_sibling_sets_on_a_module_its_functions_see(room):
    assert await room.ran("kin_flag") == ("0", True)
    assert await room.ran("kin_set") == ("set", True)
    assert await room.ran("kin_flag") == ("1", True)


@pytest.mark.promise("S309")
async def test_a_bare_import_of_a_sibling_is_a_missing_module_and_the_neighbours_load(room):
    assert "bare" not in room.tools()
    [told] = room.reasons("kin")
    assert told.startswith("tools/bare.py: It imports 'helper', a module that there is not.")
    assert "'plugins.kin.lib.helper'" in told
    assert "leans" not in room.tools()
    [told] = room.reasons("leans")
    assert told.startswith("leans.py: It imports 'loose_b', a module that there is not. A loose module has no files beside it")


@pytest.mark.promise("S311")
async def test_a_path_out_of_the_folder_and_a_missing_file_are_told_and_the_rest_loads(room):
    assert "astray_a" in room.tools()
    assert room.reasons("astray") == [
        "../x.py: '../x.py' leads out of the plugin's folder, so it is not run.",
        "tools/none.py: The manifest lists 'tools/none.py', and there is no such file.",
        "tests/t.py: 'tests/t.py' is not run: its name, or its folder's, is one that no file of a plugin has.",
    ]


@pytest.mark.promise("S312", "S319")
async def test_tools_are_known_by_running_the_file_and_its_text_is_utf_8(room):
    assert {"late_one", "late_two"} <= set(room.tools())
    assert room.tool("late_two").description == "The number two 🥈 für dich."
    assert await room.ran("late_two") == ("late_two", True)


@pytest.mark.promise("S007", "S315")
async def test_a_file_with_enabled_false_has_run_and_offers_nothing_and_says_why(room):
    assert await room.ran("quiet_on") == ("True", True)
    assert "quiet_off" not in room.tools()
    why = "ENABLED is false in it, so none of its tools is offered. Set ENABLED = True to offer them."
    assert room.reasons("quiet") == [f"tools/off.py: {why}"]
    assert "off_do_thing" not in room.tools()
    assert room.reasons("off") == [f"off.py: {why}"]


@pytest.mark.promise("S316")
async def test_without_emoji_and_available_functions_everything_is_offered(room):
    assert "loose_b" in room.tools()
    assert room.tool("loose_b").icon == ""
    assert room.tool("my_tool_do_thing").icon == "🔧"


@pytest.mark.promise("S317")
async def test_an_empty_list_of_functions_is_nothing_in_a_loose_module_and_everything_in_a_plugin(room):
    assert "none_loose" not in room.tools()
    assert {"none_plugin", "none_too"} <= set(room.tools())


@pytest.mark.promise("S024", "S318")
async def test_a_file_without_tools_or_execute_is_skipped_with_the_reason_and_an_empty_list_is_legal(room):
    assert "skips_good" in room.tools()
    told = room.reasons("skips")
    assert [one.partition(" A tool")[0] for one in told] == [
        "tools/a_no_execute.py: missing TOOLS or execute()",
        "tools/b_no_tools.py: missing TOOLS or execute()",
    ]


@pytest.mark.promise("S324")
async def test_a_missing_package_is_named_with_what_to_install(room):
    assert "faults_b" in room.tools()
    told = next(one for one in room.host.problems.all() if one.what == "tools/a_package.py")
    assert told.reason == "Missing pip package: nosuchpkg"
    assert told.hint.startswith("pip install nosuchpkg ")
    assert told.line == 1


@pytest.mark.promise("S325")
async def test_any_other_error_at_the_top_of_a_file_costs_that_file_and_is_told_with_its_line(room):
    found = {one.what: (one.reason, one.line) for one in room.host.problems.all() if one.plugin == "faults"}
    assert "faults_b" in room.tools()
    assert found["tools/c_exit.py"] == ("it tried to end the program while it loaded (SystemExit: 3).", 3)
    assert found["tools/d_zero.py"] == ("it raised ZeroDivisionError: division by zero.", 2)
    assert found["tools/e_syntax.py"][1] == 1


@pytest.mark.promise("S302")
async def test_a_loose_module_gets_three_arguments_whatever_it_wants(room):
    assert await room.ran("loose_b") == ("done", True)
    text, ok = await room.ran("wants_five")
    assert text.startswith("Error executing wants_five: ")
    assert not ok


@pytest.mark.promise("S002")
@pytest.mark.parametrize(
    "place", ["core/plugins/p/tools/my_tool.py", "user/plugins/p/tools/my_tool.py", "functions/my_tool.py"]
)
async def test_the_same_bytes_are_the_same_tool_wherever_they_lie(tmp_path, room, place):
    first = room.tool("my_tool_do_thing")
    async with sapphire(tmp_path, {place: SAMPLE}, checkout=True) as other:
        found = other.tool("my_tool_do_thing")
        assert (found.description, found.parameters, found.local) == (first.description, first.parameters, first.local)
        assert await other.ran("my_tool_do_thing", {"target": "door"}) == ("Did the thing to door", True)


@pytest.mark.promise("S389")
async def test_a_thread_of_a_module_ends_with_its_worker_when_the_file_is_read_anew(tmp_path):
    beating = """
        import os, threading, time
        def beat():
            while True:
                with open("user/beats", "a") as beats:
                    beats.write(f"{os.getpid()}\\n")
                time.sleep(0.01)
        threading.Thread(target=beat, daemon=True).start()
    """
    file = "plugins/p/tools/a.py"
    async with sapphire(tmp_path, {file: tool("who", head=beating, body="return str(os.getpid()), True")}) as room:
        first = int((await room.ran("who"))[0])
        (room.root / file).write_text(tool("who", "again", head="import os", body="return str(os.getpid()), True"))
        await room.refreshed()
        second = int((await room.ran("again"))[0])
        assert second != first
        beats = (room.user / "beats").read_text().split()
        assert str(first) in beats
        with pytest.raises(ProcessLookupError):
            await _gone(first)
        before = (room.user / "beats").read_text()
        assert (await room.ran("who"))[0] == str(second)
        assert (room.user / "beats").read_text() == before


async def test_the_last_good_version_runs_as_if_it_lay_where_it_was_saved(tmp_path):
    says = "from plugins.p.lib.helper import WORD\nreturn json.dumps([__file__, str(Path(__file__).parents[3]), WORD]), True"
    mine, helper = "plugins/p/tools/a.py", "plugins/p/lib/helper.py"
    head = "import json\nfrom pathlib import Path"
    async with sapphire(tmp_path, {mine: tool("says", head=head, body=says), helper: "WORD = 'good'\n"}) as room:
        (room.root / mine).write_text("def broken(:\n")
        (room.root / helper).write_text("WORD = 'new'\n")
        await room.refreshed()
        assert "The last version that loaded goes on serving." in room.reasons("p")[0]
        assert await room.value("says") == [str(room.root / mine), str(room.root), "good"]


async def _gone(pid: int) -> None:
    """Wait until there is no such process; raises ProcessLookupError at once where there is none."""
    handle = os.pidfd_open(pid)
    try:
        await ended(handle)
    finally:
        os.close(handle)
    os.kill(pid, 0)
