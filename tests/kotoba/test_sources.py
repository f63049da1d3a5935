"""Where Kotoba's tools come from: folders and entry points, live, each with its own place and its own reasons."""

from __future__ import annotations

import asyncio
import sysconfig
import venv
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.kotoba.homes import PING, kotoba, ping, write
from tests.spine.homes import LONG, host_at, tool_changed

from etui.agent.scripted import call
from etui.errors import SettingError
from etui.events import Kind
from etui.plugins import sources
from etui.plugins.candidates import Place
from etui.plugins.installed import Odd, Offer, offers, packages_of
from etui.plugins.sources import scan
from etui.settings import check
from etui.surfaces.web.noting import note_problems


def reasons(host, name: str) -> list[str]:
    return [problem.reason for problem in host.problems.all() if problem.what == name]


def environment(path: Path) -> tuple[Path, Path]:
    """An environment for tools, which finds what workers need in this one's; gives it and where its packages lie."""
    venv.create(path, symlinks=True, with_pip=False)
    (site,) = packages_of(str(path / "bin" / "python"))
    (site / "lent.pth").write_text(f"import sys\n{sysconfig.get_paths()['purelib']}\n")
    return path, site


def install(site: Path, name: str, points: dict[str, str], files: dict[str, str], group: str = "kotoba.tools") -> None:
    """What an installer leaves of a package."""
    write(site, files)
    info = site / f"{name}-1.0.dist-info"
    lines = "".join(f"{point} = {target}\n" for point, target in points.items())
    write(
        info,
        {"METADATA": f"Name: {name}\nVersion: 1.0\n", "RECORD": "".join(files), "entry_points.txt": f"[{group}]\n{lines}"},
    )


@pytest.mark.promise("K096", "K097", "K154")
async def test_every_tool_of_a_plugin_is_in_the_plugins_own_family_whatever_it_says(tmp_path):
    files = {
        "p/core.py": ping(name="one", head="TOOLSET = 'core'"),
        "p/other.py": ping(name="two", head="TOOLSET = 'plugin:other'"),
        "p/none.py": ping(name="three"),
        "single.py": ping(name="four"),
    }
    async with kotoba(tmp_path, files) as room:
        assert {tool.name: tool.toolset for tool in room.host.tools.all()} == {
            "one": "plugin:p",
            "two": "plugin:p",
            "three": "plugin:p",
            "four": "plugin:single",
        }


async def test_files_that_the_owner_trusts_keep_the_families_that_they_name(tmp_path):
    files = {"p/named.py": ping(name="named", head="TOOLSET = 'file'"), "p/plain.py": ping(name="plain")}
    async with kotoba(tmp_path, files, source={"families": True}) as room:
        families = {tool.name: tool.toolset for tool in room.host.tools.all()}
        assert families["named"] == "file"
        assert families["plain"]


@pytest.mark.promise("K356")
async def test_a_folder_without_a_tool_has_no_row_and_is_named_to_who_asks(tmp_path):
    async with kotoba(tmp_path, {"u/util.py": "X = 1\n", "p/ping.py": PING}) as room:
        assert [family.name for family in room.host.tools.families()] == ["plugin:p"]
        (problem,) = room.host.problems.all()
        assert (problem.what, problem.refused, problem.plugin) == ("util.py", False, "u")


@pytest.mark.promise("K350", "K352")
async def test_only_what_lies_directly_in_a_plugins_folder_is_a_tool_of_it(tmp_path):
    files = {
        "o/b.py": ping("return 'of b'", name="same"),
        "o/a.py": ping("return 'of a'", name="same"),
        "p/ping.py": PING,
        "p/deeper/deep.py": ping(name="deep"),
        "_off/a.py": ping(name="off"),
        ".hid/b.py": ping(name="hid"),
        "_draft.py": ping(name="draft"),
        "tests/c.py": ping(name="tested"),
    }
    async with kotoba(tmp_path, files) as room:
        assert [tool.name for tool in room.host.tools.all()] == ["ping", "same", "tested"]
        assert (await room.call("same")).text == "of a"  # the files are taken in the order of their names


BELOW = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import p.lib.net
from lib.net import reach
from p import lib as same
from p.helper import TAIL

from . import lib
from ._made.words import GREETING
from .lib.deep.more import again
assert lib is same and lib.net.reach is reach is again is p.lib.net.reach
"""
REACHES = """
import socket
from .. import helper

def reach():
    with socket.socket():
        return "reached" + helper.TAIL
"""


@pytest.mark.promise("K013", "K363")
async def test_a_tool_imports_what_lies_in_subfolders_and_that_counts_as_its_own(tmp_path):
    files = {
        "p/ping.py": ping("return f'{GREETING}, {reach()}'", top=BELOW),
        "p/helper.py": "TAIL = '.'\n",
        "p/lib/__init__.py": "",
        "p/lib/net.py": REACHES,
        "p/lib/deep/more.py": "from ..net import reach as again\n",
        "p/_made/words.py": "GREETING = 'Hi'\n",
        "p/lib/ping2.py": ping(name="below"),
        "q/q.py": ping("return move()", name="q", top="from q.moves import move"),
        "q/q/moves.py": "def move():\n    return 'e4'\n",
        "none/below/x.py": "X = 1\n",
    }
    async with kotoba(tmp_path, files) as room, room.host.hub.listen() as events:
        assert [tool.name for tool in room.host.tools.all()] == ["ping", "q"]
        assert [what for what, _, refused in room.problems() if refused] == []
        assert not any(plugin.name == "none" for plugin in room.host.plugins.all())
        assert (await room.call("ping")).text == "Hi, reached."
        assert (await room.call("q")).text == "e4"
        (p,) = [plugin for plugin in room.host.plugins.all() if plugin.name == "p"]
        assert p.grant.network
        write(room.folder, {"p/_made/words.py": "GREETING = 'Hello'\n"})
        await tool_changed(events, "ping")
        assert (await room.call("ping")).text == "Hello, reached."


async def test_a_tool_that_is_called_as_the_library_that_it_uses_has_that_library(tmp_path):
    optional = "try:\n    import nosuchlib\nexcept ImportError:\n    nosuchlib = None"
    files = {
        "httpx/httpx.py": ping("return httpx.codes.OK.phrase", name="a", top="import httpx"),
        "httpx/other.py": ping("return httpx.codes.OK.phrase", name="b", top="import httpx"),
        "httpx.py": ping("return httpx.codes.OK.phrase", name="c", top="import httpx"),
        "nosuchlib.py": ping("return 'without'", name="d", top=optional, head="def check():\n    return nosuchlib is not None"),
        "own/httpx.py": "codes = 'its own'\n",
        "own/e.py": ping("return httpx.codes", name="e", top="import httpx"),
        "own/nosuch.py": ping("return 'x'", name="f", top="import nosuch"),
        "two/g.py": ping("return h.SCHEMA['name']", name="g", top="import h"),
        "two/h.py": ping(name="h"),
    }
    async with kotoba(tmp_path, files) as room:
        told = {name: (await room.call(name)).text for name in "abcdeg"}
        assert told == {**dict.fromkeys("abc", "OK"), "d": "without", "e": "its own", "g": "h"}
        await room.turn("hello", "Hi.")
        assert "d" not in room.offered()
        assert reasons(room.host, "nosuch.py") == ["it needs the package 'nosuch', which is not installed."]


def test_a_plugin_with_a_library_too_big_to_follow_is_its_own_files(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_FILES", 3)
    write(tmp_path, {"a.py": "", "b.py": "", "lib/c.py": ""})
    assert [file.name for file in sources.files_of(tmp_path, flat=True)] == ["a.py", "b.py", "c.py"]
    write(tmp_path, {"lib/d.py": ""})
    assert [file.name for file in sources.files_of(tmp_path, flat=True)] == ["a.py", "b.py"]


@pytest.mark.promise("K359")
async def test_a_taken_name_stays_with_its_owner_and_both_are_named(tmp_path):
    files = {
        "a/ping.py": ping("return 'of a'"),
        "b/ping.py": ping("return 'of b'"),
        "c/calc.py": ping("return 'of c'", name="calculate"),
    }
    async with kotoba(tmp_path, files, shelf=True) as room:
        assert (await room.call("ping")).text == "of a"
        (clash,) = [problem for problem in room.host.problems.all() if problem.plugin == "b"]
        assert clash.refused
        assert "'a'" in clash.reason
        assert str(room.folder / "b" / "ping.py") in clash.file + clash.hint
        (shelf,) = [problem for problem in room.host.problems.all() if problem.plugin == "c"]
        assert "'calculate'" in shelf.reason
        assert "calculator" in shelf.reason
        assert (await room.call("calculate", {"expression": "1+1"})).text != "of c"


@pytest.mark.promise("K363", "K130")
async def test_an_edit_a_new_file_and_a_removed_one_hold_at_once_and_a_broken_one_breaks_nothing(tmp_path):
    async with kotoba(tmp_path, {"p/ping.py": ping("return 'old'")}) as room, room.host.hub.listen() as events:
        file = room.folder / "p" / "ping.py"
        assert (await room.call("ping")).text == "old"
        file.write_text(ping("return 'new'"))
        await tool_changed(events, "ping")
        assert (await room.call("ping")).text == "new"
        write(room.folder, {"q/pong.py": ping("return 'pong'", name="pong")})
        await tool_changed(events, "pong")
        assert (await room.call("pong")).text == "pong"
        (room.folder / "q" / "pong.py").unlink()
        await tool_changed(events, "pong")
        assert (await room.call("pong")).status == "refused"
        file.write_text(ping("return ("))
        async with asyncio.timeout(LONG):
            while not any(problem.refused and problem.plugin == "p" for problem in room.host.problems.all()):
                await events.next()
        assert (await room.call("ping")).text == "new"
        (broken,) = [problem for problem in room.host.problems.all() if problem.plugin == "p"]
        assert broken.file == str(file)
        assert broken.line


@pytest.mark.promise("K191")
async def test_a_broken_plugin_is_written_to_the_log_of_a_host_that_serves_and_the_others_load(tmp_path):
    files = {"p/a.py": "raise ValueError('at import')\n", "p/b.py": PING, "p/util.py": "X = 1\n"}
    with capture_logs() as logs:
        async with kotoba(tmp_path, files) as room, room.host.hub.listen(Kind.PROBLEM) as told:
            noting = asyncio.create_task(note_problems(room.host))
            assert (await room.call("ping")).text == "pong"
            (room.folder / "p" / "util.py").write_text("1 / 0\n")
            while "util.py" not in str((await asyncio.wait_for(told.next(), LONG)).data):
                pass
            await asyncio.sleep(0.01)
            noting.cancel()
    errors = [log for log in logs if log["log_level"] == "error"]
    assert [(Path(log["file"]).name, log["plugin"]) for log in errors] == [("a.py:1", "p"), ("util.py:1", "p")]
    assert "Traceback" in errors[0]["exception"] and "ValueError: at import" in errors[0]["exception"]
    assert "importlib" not in errors[0]["exception"], "the way to the file is of no use to its author"


@pytest.mark.promise("K364")
async def test_a_folder_of_another_programs_plugins_is_used_as_it_lies(tmp_path):
    there = tmp_path / "elsewhere" / "plugins"
    write(
        there,
        {"p/ping.py": ping("import util\nreturn util.WORD"), "p/util.py": "WORD = 'used'\n", "single.py": ping(name="one")},
    )
    for path in sorted(there.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = _lying(there)
    async with host_at(tmp_path / "home", sources=[{"path": str(there), "contract": "kotoba"}]) as host:
        session = host.session("python")
        assert (await session.call(session.new_call("ping", {}))).text == "used"
        assert (await session.call(session.new_call("one", {}))).text == "pong"
    assert _lying(there) == before


def _lying(folder: Path) -> list[tuple[str, int, int]]:
    return [(str(path), path.stat().st_mtime_ns, path.stat().st_ino) for path in sorted([folder, *folder.rglob("*")])]


@pytest.mark.promise("K016", "K357", "K358", "K360")
async def test_entry_points_are_tools_beside_the_folders_and_share_the_row_of_a_folder_of_their_name(tmp_path):
    env, site = environment(tmp_path / "env")
    package = {
        "fcpkg/__init__.py": "PLACE = 'Lima'\n",
        "fcpkg/tool.py": ping("from fcpkg import PLACE\nfrom . import PLACE as same\nreturn PLACE + same", name="of_fc"),
        "fcpkg/nameless.py": ping("return 'sunny'").replace("\"name\": 'ping', ", ""),
        "fcpkg/second.py": ping("return 'second'", name="second"),
        "fcpkg/zed.py": ping("return 'of the package'", name="zed"),
    }
    install(site, "fcpkg", {"fc": "fcpkg.tool", "p": "fcpkg.second", "a": "fcpkg.zed", "forecast": "fcpkg.nameless"}, package)
    files = {"p/ping.py": PING, "z/zed.py": ping("return 'of the folder'", name="zed")}
    async with kotoba(tmp_path, files, tools_env=str(env)) as room, room.host.hub.listen() as events:
        rows = {family.name: family for family in room.host.tools.families()}
        assert rows["plugin:fc"].tools == ("of_fc",)
        assert (await room.call("of_fc")).text == "LimaLima"
        assert rows["plugin:forecast"].tools == ("forecast",)
        assert rows["plugin:p"].tools == ("ping", "second")
        assert (await room.call("second")).text == "second"
        room.host.tools.switch("plugin:p", False)
        for name in ("ping", "second"):
            assert (await room.call(name)).rule == "switched_off"
        await room.turn("hello", [call("forecast")], "Done.")
        assert room.offered(0) == ["forecast", "of_fc", "zed"]
        assert [result.text for result in room.results()] == ["sunny"]
        assert (await room.call("zed")).text == "of the folder"
        assert any("'z'" in reason for reason in reasons(room.host, "zed"))

        install(site, "late", {"late": "late"}, {"late.py": ping("return 'came later'", name="late")})
        await tool_changed(events, "late")
        assert (await room.call("late")).text == "came later"
        (site / "late.py").write_text(ping("return 'edited'", name="late"))
        await tool_changed(events, "late")
        assert (await room.call("late")).text == "edited"


OBJECTS = """
import types


def schema(name):
    return {"type": "function", "name": name, "description": name, "parameters": {"type": "object", "properties": {}}}


class Classy:
    SCHEMA = schema("classy")
    RISK = "network"

    @staticmethod
    async def execute(args, ctx):
        return "of a class"


class Made:
    SCHEMA = schema("made")

    async def execute(self, args, ctx):
        return "of an object"


class Outer:
    class Inner:
        SCHEMA = {"type": "function", "description": "d", "parameters": {"type": "object", "properties": {}}}

        @classmethod
        async def execute(cls, args, ctx):
            return "of one inside"


made = Made()
space = types.SimpleNamespace(SCHEMA=schema("spaced"), execute=made.execute)
"""


@pytest.mark.promise("K016", "K213")
async def test_a_tool_without_a_name_is_called_after_its_entry_point_and_any_object_may_be_one(tmp_path):
    env, site = environment(tmp_path / "env")
    nameless = ping("return 'sunny'").replace("\"name\": 'ping', ", "")
    points = {
        "forecast": "fcpkg.tool",
        "c": "fcpkg.objects:Classy",
        "m": "fcpkg.objects:made",
        "inside": "fcpkg.objects:Outer.Inner",
        "s": "fcpkg.objects:space",
        "gone": "fcpkg.objects:nosuch",
    }
    install(site, "fcpkg", points, {"fcpkg/__init__.py": "", "fcpkg/tool.py": nameless, "fcpkg/objects.py": OBJECTS})
    gave = {
        "forecast": "sunny",
        "classy": "of a class",
        "made": "of an object",
        "inside": "of one inside",
        "spaced": "of an object",
    }
    async with kotoba(tmp_path, {}, tools_env=str(env)) as room:
        await room.turn("hello", [call(name, {}, at) for at, name in enumerate(gave)], "Done.")
        assert sorted(room.offered(0)) == sorted(gave)
        assert [(result.text, result.meta["status"]) for result in room.results()] == [(text, "ok") for text in gave.values()]
        tools = {tool.name: tool for tool in room.host.tools.all()}
        assert (tools["classy"].risk, tools["forecast"].toolset, tools["inside"].toolset) == (
            "network",
            "plugin:forecast",
            "plugin:inside",
        )
        (broken,) = [problem for problem in room.host.problems.all() if problem.plugin == "gone"]
        assert broken.refused and "nosuch" in broken.reason


def test_entry_points_are_read_and_nothing_of_them_is_run(tmp_path):
    code = {"bad.pth": "import os; os.abort()\n/nowhere\n", "pkg/__init__.py": "raise SystemExit\n", "pkg/tool.py": PING}
    install(tmp_path, "pkg", {"t": "pkg.tool", "o": "pkg.tool:thing [extra]", "odd": "not a module"}, code)
    install(tmp_path, "broken", {"x": "pkg"}, {})
    (tmp_path / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(b"[kotoba.tools]\n\xff\xfe = \n")
    install(tmp_path, "else", {"x": "pkg"}, {}, group="console_scripts")
    found = list(offers((tmp_path,), "kotoba.tools"))
    assert [(one.name, one.target, one.path) for one in found if isinstance(one, Offer)] == [
        ("o", "pkg.tool:thing", tmp_path / "pkg" / "tool.py"),
        ("t", "pkg.tool", tmp_path / "pkg" / "tool.py"),
    ]
    assert sorted(one.file.parent.name for one in found if isinstance(one, Odd)) == [
        "broken-1.0.dist-info",
        "pkg-1.0.dist-info",
    ]


def test_a_package_that_is_edited_in_its_checkout_is_found_there(tmp_path):
    site, checkout = tmp_path / "site", tmp_path / "checkout"
    install(site, "ed", {"ed": "edpkg.tool"}, {})
    write(checkout, {"src/edpkg/tool.py": PING})
    write(site, {"ed-1.0.dist-info/direct_url.json": f'{{"url": "file://{checkout}", "dir_info": {{"editable": true}}}}'})
    (candidate,), problems = scan([Place(name="kotoba.tools", group="kotoba.tools", contract="kotoba", packages=(site,))])
    assert problems == []
    assert (candidate.name, candidate.family, candidate.entry) == ("ed", "plugin:ed", "edpkg.tool")
    assert checkout / "src" / "edpkg" / "tool.py" in candidate.files


def test_a_change_of_what_is_installed_changes_the_digest_and_a_moment_nothing(tmp_path):
    install(tmp_path, "pkg", {"t": "pkg.tool"}, {"pkg/tool.py": PING, "pkg/helper.py": "X = 1\n"})
    place = Place(name="kotoba.tools", group="kotoba.tools", contract="kotoba", packages=(tmp_path,))
    digests = []
    for name in ("", "pkg/helper.py", "pkg-1.0.dist-info/RECORD"):
        if name:
            (tmp_path / name).write_text("other")
        (candidate,), _ = scan([place])
        digests.append(candidate.digest)
    assert len(set(digests)) == 3
    again, _ = scan([place])
    assert [one.digest for one in again] == digests[-1:]


def test_of_packages_with_other_offers_nothing_is_read_but_what_they_offer(tmp_path):
    for number in range(30):
        install(tmp_path, f"package{number}", {"x": "pkg"}, {}, group="console_scripts")
        for name in ("METADATA", "RECORD"):
            unreadable = tmp_path / f"package{number}-1.0.dist-info" / name
            unreadable.unlink()
            unreadable.mkdir()
    place = Place(name="kotoba.tools", group="kotoba.tools", packages=(tmp_path,))
    assert scan([place]) == ([], [])


async def test_a_group_that_the_owner_names_is_a_source_of_its_own_with_what_they_say_of_it(tmp_path):
    env, site = environment(tmp_path / "env")
    install(site, "mine", {"m": "mine"}, {"mine.py": ping(name="mine", head="TOOLSET = 'file'")}, group="my.tools")
    row = {"entry_points": "my.tools", "contract": "kotoba", "name": "mine", "families": True}
    async with host_at(tmp_path / "home", tools_env=str(env), sources=[row]) as host:
        (tool,) = host.tools.all()
        assert (tool.name, tool.toolset, tool.source, tool.plugin) == ("mine", "file", "mine", "m")


def test_a_source_needs_a_folder_or_a_group():
    with pytest.raises(SettingError, match="entry_points"):
        check("sources", [{"name": "nothing"}])


async def test_a_source_that_is_written_into_the_settings_by_hand_is_there_without_a_restart(tmp_path):
    home, config = tmp_path / "home", tmp_path / "home" / "config.toml"
    write(tmp_path / "mine", {"p/ping.py": PING})
    row = f'[[sources]]\npath = "{tmp_path / "mine"}"\ncontract = "kotoba"\n'
    async with host_at(home) as host, host.hub.listen() as events:
        assert host.tools.all() == ()
        config.write_text(row)
        assert (await tool_changed(events, "ping")).data["added"] == ["ping"]
        session = host.session("python")
        assert (await session.call(session.new_call("ping", {}))).text == "pong"

        config.write_text(row + "allow_read = \n")
        await settled(lambda: host.settings.now.allow_read == "ask")
        assert "no TOML" in reasons(host, "settings")[0]
        assert [tool.name for tool in host.tools.all()] == ["ping"], "what was named before a slip is not unloaded for it"

        config.write_text(row)
        await settled(lambda: host.settings.now.allow_read == "allow")
        assert reasons(host, "settings") == []
        config.write_text("")
        assert (await tool_changed(events, "ping")).data["removed"] == ["ping"]


async def settled(true) -> None:
    """Wait until something is so, for as long as a person would wait for a page."""
    async with asyncio.timeout(LONG / 2):
        while not true():
            await asyncio.sleep(0.02)
