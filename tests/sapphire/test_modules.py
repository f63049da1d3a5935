"""Where files lie and what they import: paths, the root in each of its four spellings, and modules of other plugins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.keryx.homes import MOON
from tests.kotoba.homes import PING, write
from tests.sapphire.homes import Room, manifest, sapphire, tool
from tests.spine.homes import DICE

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATHS = """
import json
from core.paths import PROJECT_ROOT, SYSTEM_PLUGINS_DIR, USER_PLUGINS_DIR, PLUGIN_STATE_DIR
"""
SAYS = "return json.dumps([str(one) for one in (PROJECT_ROOT, SYSTEM_PLUGINS_DIR, USER_PLUGINS_DIR, PLUGIN_STATE_DIR)]), True"
UP = """
    from pathlib import Path
    up = Path(__file__).parent.parent.parent.parent
    if arguments.get("write"):
        (up / "user").mkdir(exist_ok=True)
        (up / "user" / "x.txt").write_text(function_name)
    return str(up), True
"""
FILES = {
    "plugins/paths/tools/a.py": tool("paths", head=PATHS, body=SAYS),
    "plugins/up/tools/a.py": tool("up", body=UP),
    "plugins/conf/tools/a.py": tool("conf", head="import config\nfrom pathlib import Path", body="""
        place = Path(config.__file__).parent / "user"
        (place / "by_config.txt").write_text("x")
        return str(place), True
        """),
    "plugins/cwd/tools/a.py": tool("cwd", head='with open("user/body.txt", "w") as body:\n    body.write("x")', body="""
        with open("user/n.txt", "w") as file:
            file.write("x")
        return "written", True
        """),
    "plugins/docs/tools/a.py": tool("docs", body='return open("docs/TOOLS.md").read(), True'),
    "docs/TOOLS.md": "All about tools.",
    "plugins/walks/tools/a.py": tool("walks", head="import subprocess\nimport sys\nfrom pathlib import Path", body="""
        script = Path(__file__).with_name("walk.py")
        done = subprocess.run([sys.executable, str(script)], cwd=script.parent, capture_output=True, text=True)
        return done.stdout.strip() or done.stderr, done.returncode == 0
        """),
    "plugins/walks/tools/walk.py": """
from pathlib import Path

place = Path(__file__).resolve()
while not (place / "sapphire.py").exists():
    place = place.parent
print(place)
""",
    "plugins/walks/plugin.json": manifest("walks", "tools/a.py"),
    "plugins/lends/tools/people.py": tool("people", body="return 'people', True", head="def get_people():\n    return ['Ada']"),
    "plugins/asks/tools/a.py": tool("asks", body="""
        found = []
        for other in ("lends", "nowhere"):
            try:
                module = __import__(f"plugins.{other}.tools.people", fromlist=["get_people"])
                found.append(module.get_people())
            except ImportError:
                found.append("not there")
        try:
            from plugins.lends.tools.people import get_people
        except ImportError:
            found.append("not there")
        return repr(found), True
        """),
    "plugins/all/tools/a.py": tool("imports_all", head="import config\nimport core\nimport core.paths\nimport plugins"),
}  # fmt: skip
SHARED = """
import sys
import types
from core.paths import PROJECT_ROOT

shared = sys.modules.setdefault("_made_up_state", types.ModuleType("_made_up_state"))


def noted(name):
    (PROJECT_ROOT / "user" / name).write_text(f"{PROJECT_ROOT} {getattr(shared, 'data', b'').hex()}")
"""
FILES |= {
    "plugins/cam/tools/a.py": tool(
        "takes", head=SHARED, body="shared.data = bytes(range(4))\nnoted('by_tool')\nreturn 'x', True"
    ),
    "plugins/cam/routes/r.py": SHARED + "\n\ndef handle(body=None, settings=None):\n    noted('by_route')\n    return {}\n",
    "plugins/cam/hooks/h.py": SHARED + "\n\ndef pre_chat(event):\n    noted('by_hook')\n",
    "plugins/cam/plugin.json": manifest(
        "cam",
        "tools/a.py",
        routes=[{"method": "GET", "path": "still", "handler": "routes/r.py:handle"}],
        hooks={"pre_chat": "hooks/h.py"},
    ),
}
LAYOUT = {
    "core/plugins/shipped/tools/a.py": tool("shipped_up", "shipped_paths", head=PATHS, body=f"""
    if function_name == "shipped_paths":
        {SAYS}
    {UP}"""),
    "user/plugins/mine/tools/a.py": tool("mine_up", "mine_paths", head=PATHS, body=f"""
    if function_name == "mine_paths":
        {SAYS}
    {UP}"""),
    "sapphire.py": "",
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("modules"), FILES, limit=None, allow_exec="allow") as room:
        yield room


@pytest.mark.promise("S182", "S288")
async def test_core_paths_names_the_root_and_what_lies_directly_below(room):
    root, _, own, state = map(Path, await room.value("paths"))
    assert root == room.root
    assert (root / "user").is_dir()
    assert (root / "sapphire.py").is_file()
    assert (own / "paths" / "plugin.json").samefile(root / "plugins" / "paths" / "plugin.json")
    assert state == root / "user" / "plugin_state"
    assert state.is_dir()


@pytest.mark.promise("S182", "S490")
async def test_tools_routes_and_hooks_of_a_plugin_have_one_root_and_share_a_made_up_module(room):
    assert await room.ran("takes") == ("x", True)
    await room.handled("cam", "route", path={}, body={}, settings={})
    await room.handled("cam", "hook", event={})
    said = [(room.user / f"by_{kind}").read_text() for kind in ("tool", "route", "hook")]
    assert said == [f"{room.root} 00010203"] * 3


@pytest.mark.promise("S467")
async def test_four_parents_up_is_the_root_for_a_file_in_plugins(room):
    assert await room.ran("up", {"write": True}) == (str(room.root), True)
    assert (room.user / "x.txt").read_text() == "up"


@pytest.mark.promise("S468")
async def test_the_parent_of_the_config_module_is_the_root(room):
    assert await room.ran("conf") == (str(room.user), True)
    assert (room.user / "by_config.txt").exists()


@pytest.mark.promise("S469")
async def test_the_working_directory_is_the_root_in_a_call_and_at_the_top_of_a_file(room):
    assert await room.ran("cwd") == ("written", True)
    assert {one.name for one in room.user.glob("*.txt")} >= {"body.txt", "n.txt"}


@pytest.mark.promise("S183", "S288")
async def test_counting_parents_in_the_newer_layout_misses_and_nothing_is_written_elsewhere(tmp_path):
    async with sapphire(tmp_path, LAYOUT, checkout=True) as room:
        where = [room.root, room.root / "core" / "plugins", room.root / "user" / "plugins", room.user / "plugin_state"]
        assert await room.value("shipped_paths") == await room.value("mine_paths") == [str(one) for one in where]
        assert await room.ran("shipped_up") == (str(room.root / "core"), True)
        assert await room.ran("mine_up") == (str(room.root / "user"), True)
        text, ok = await room.ran("shipped_up", {"write": True})
        assert not ok
        assert str(room.root / "core" / "user") in text
        assert await room.ran("mine_up", {"write": True}) == (str(room.root / "user"), True)
        assert [one.relative_to(room.root) for one in room.root.rglob("x.txt")] == [Path("user/user/x.txt")]


@pytest.mark.promise("S184")
async def test_a_program_that_cannot_import_core_walks_up_to_the_marker(room):
    assert await room.ran("walks") == (str(room.root), True)


@pytest.mark.promise("S487")
async def test_another_plugins_module_is_imported_where_it_is_on(tmp_path, room):
    assert await room.ran("asks") == ("[['Ada'], 'not there']", True)
    asks, lends = "plugins/asks/tools/a.py", "plugins/lends/tools/people.py"
    async with sapphire(tmp_path, {asks: FILES[asks], lends: FILES[lends]}, on=("asks",)) as other:
        assert await other.ran("asks") == ("['not there', 'not there', 'not there']", True)


@pytest.mark.promise("S526")
async def test_the_names_are_importable_here_and_in_no_other_contracts_files(tmp_path, room):
    assert await room.ran("imports_all") == ("done", True)
    write(tmp_path / "kotoba", {"p/ping.py": "import core.paths\n" + PING})
    write(tmp_path / "home" / "tools", {"dice.py": "import core.paths\n" + DICE})
    moon = {"moon.py": "import core.paths\n" + MOON}
    write(tmp_path / "home" / "keryx" / "tools", moon)
    (tmp_path / "home" / "keryx" / "tools").chmod(0o700)
    sources = [{"path": str(tmp_path / "kotoba"), "contract": "kotoba"}]
    async with sapphire(tmp_path, {}, sources=sources) as other:
        assert not {"ping", "roll", "moon_phase"} & set(other.tools())
        told = " ".join(other.reasons())
        assert told.count("'core'") >= 2


@pytest.mark.promise("S528")
async def test_two_hosts_have_two_roots(tmp_path, room):
    files = {one: FILES[one] for one in ("plugins/cwd/tools/a.py", "plugins/docs/tools/a.py")} | {"docs/TOOLS.md": "Other."}
    async with sapphire(tmp_path, files) as other:
        texts = await asyncio.gather(room.ran("docs"), other.ran("docs"))
        assert texts == [("All about tools.", True), ("Other.", True)]
        (room.user / "n.txt").unlink(missing_ok=True)
        assert await other.ran("cwd") == ("written", True)
        assert (other.user / "n.txt").exists()
        assert not (room.user / "n.txt").exists()


@pytest.mark.promise("S531")
async def test_a_module_lives_on_from_call_to_call_and_is_run_anew_when_it_is_reloaded(tmp_path):
    counter = tool("counts", head="COUNT = []", body="COUNT.append(1)\nreturn str(len(COUNT)), True")
    route = """
from plugins.p.tools.a import COUNT


def handle(body=None, settings=None):
    return {"count": len(COUNT)}
"""
    file, settings = "plugins/p/tools/a.py", [{"key": "city", "type": "string", "default": "Oslo"}]
    routes = [{"method": "GET", "path": "count", "handler": "routes/r.py:handle"}]
    files = {
        file: counter,
        "plugins/p/routes/r.py": route,
        "plugins/p/plugin.json": manifest("p", "tools/a.py", routes=routes, settings=settings),
    }
    async with sapphire(tmp_path, files) as room:
        assert [await room.ran("counts") for _ in range(3)] == [("1", True), ("2", True), ("3", True)]
        assert (await room.handled("p", "route", path={}, body={}, settings={})).data == {"count": 3}
        await room.host.installed.save("p", {"city": "Rome"})
        assert await room.ran("counts") == ("4", True)
        (room.root / file).write_text(counter.replace("Do counts", "Count"))
        await room.refreshed()
        assert room.tool("counts").description == "Count."
        assert await room.ran("counts") == ("1", True)
