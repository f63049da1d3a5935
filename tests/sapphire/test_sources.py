"""Where Sapphire's plugins lie: a home's own root, folders dropped in, a whole checkout; and two that want the same name."""

from __future__ import annotations

import json

import pytest
from tests.kotoba.homes import write
from tests.sapphire.homes import manifest, sapphire, save, tool
from tests.spine.homes import host_at, tool_changed

WHERE = """
    from pathlib import Path
    import os
    here = Path(__file__)
    return f"{__name__} {os.getcwd() == str(here.parents[int(arguments['up'])])}", True
"""


@pytest.mark.promise("S003", "S436")
async def test_a_checkout_ships_plugins_by_both_layouts_and_the_owners_copy_of_one_wins(tmp_path):
    files = {
        "core/plugins/email/tools/x.py": tool("newer", body=WHERE),
        "plugins/old/tools/x.py": tool("older", body=WHERE),
        "core/plugins/clock/tools/c.py": tool("get_time", body='return "shipped", True'),
        "user/plugins/clock/tools/c.py": tool("get_time", body='return "the owner\'s", True'),
        "functions/notepad.py": tool("notepad", body="import os; return os.getcwd(), True"),
        "user/functions/own.py": tool("own"),
    }
    async with sapphire(tmp_path, files, checkout=True) as room:
        assert room.tools() == ["get_time", "newer", "notepad", "older", "own"]
        assert await room.ran("newer", {"up": 4}) == ("plugins.email.tools.x True", True)
        assert await room.ran("older", {"up": 3}) == ("plugins.old.tools.x True", True)
        assert await room.ran("get_time") == ("the owner's", True)
        assert await room.ran("notepad") == (str(room.root), True)
        assert room.tool("get_time").plugin == "clock"
        told = [one for one in room.host.problems.all() if "takes its place" in one.reason]
        assert [(one.what, one.refused) for one in told] == [("clock", False)]


async def test_without_the_owners_copy_the_shipped_one_answers_again(tmp_path):
    files = {
        "core/plugins/clock/tools/c.py": tool("get_time", body='return "shipped", True'),
        "user/plugins/clock/tools/c.py": tool("get_time", body='return "the owner\'s", True'),
    }
    async with sapphire(tmp_path, files, checkout=True) as room:
        assert await room.ran("get_time") == ("the owner's", True)
        (room.root / "user/plugins/clock/plugin.json").unlink()
        await room.refreshed()
        assert await room.ran("get_time") == ("shipped", True)


@pytest.mark.promise("S005")
async def test_folders_and_files_dropped_into_the_homes_usual_places_have_the_homes_root(tmp_path):
    home = tmp_path / "home"
    write(
        home,
        {
            "plugins/p/plugin.json": manifest("p", "tools/a.py", default_enabled=True),
            "plugins/p/tools/a.py": tool("a", body="import os; return os.getcwd(), True"),
            "tools/loose.py": tool("b", body="import os; return os.getcwd(), True"),
            "sapphire/functions/c.py": tool("c", body="import os; return os.getcwd(), True"),
        },
    )
    async with host_at(home) as host:
        session = host.session("python")
        found = {name: (await session.call(session.new_call(name, {}))).text for name in ("a", "b", "c")}
    assert found == {name: str(home / "sapphire") for name in "abc"}
    assert (home / "sapphire/user/plugins").resolve() == home / "sapphire/plugins"
    assert (home / "sapphire/user/functions").is_symlink() and (home / "sapphire/sapphire.py").is_file()


async def test_code_can_only_be_read_by_a_plugin_and_not_written_through_the_links(tmp_path):
    body = """
    from pathlib import Path
    found = []
    for path in ("plugins/p/tools/new.py", "user/plugins/new.py", "user/functions/new.py", "user/mine.txt"):
        try:
            Path(path).write_text("x = 1")
            found.append(path)
        except OSError:
            continue
    return str(found), True
    """
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": tool("a", body=body)}) as room:
        assert await room.ran("a") == ("['user/mine.txt']", True)


@pytest.mark.promise("S326", "S535")
async def test_of_two_plugins_with_the_same_tool_the_second_is_refused_whole_until_the_owner_gives_it_another_name(tmp_path):
    hook = "def post_chat(event):\n    pass\n"
    files = {
        "plugins/a/tools/a.py": tool("save_memory", body='return "a", True'),
        "plugins/b/tools/b.py": tool("save_memory", "more", body='return f"b {function_name}", True'),
        "plugins/b/h.py": hook,
        "plugins/b/r.py": "def handle(**given):\n    return {}\n",
        "plugins/b/plugin.json": manifest(
            "b",
            "tools/b.py",
            hooks={"post_chat": "h.py"},
            routes=[{"method": "GET", "path": "x", "handler": "r.py:handle"}],
            scopes=[{"key": "b"}],
        ),
    }
    async with sapphire(tmp_path, files) as room:
        before = {path: path.read_bytes() for path in room.root.rglob("*.py")}
        assert room.tools() == ["save_memory"]
        assert await room.ran("save_memory") == ("a", True)
        refused = room.host.registry.snapshot.plugins["b"]
        assert (refused.tools, refused.handlers, refused.scopes) == ((), (), ())
        [reason] = room.reasons("b")
        assert "'a'" in reason and "'b'" in reason and "mutually exclusive — enable one, not both" in reason
        room.host.installed.alias("b", "save_memory", "save_memory_b")
        assert room.tools() == ["more", "save_memory", "save_memory_b"]
        assert await room.ran("save_memory") == ("a", True)
        assert await room.ran("save_memory_b") == ("b save_memory", True)
        assert room.host.registry.snapshot.plugins["b"].scopes[0].key == "b"
        assert not room.reasons("b")
        assert {path: path.read_bytes() for path in room.root.rglob("*.py")} == before
        room.host.installed.alias("b", "save_memory", "")
        assert room.tools() == ["save_memory"]
    async with sapphire(tmp_path, files) as room:
        room.host.tools.switch("plugin:a", False)
        assert await room.ran("save_memory") == ("b save_memory", True)
        assert not room.reasons("b")


@pytest.mark.promise("S327")
async def test_of_two_loose_modules_with_the_same_tool_the_first_goes_on_answering(tmp_path):
    files = {
        "functions/clock.py": tool("get_time", body='return "first", True'),
        "functions/meta.py": tool("get_time", "meta", body='return "second", True'),
    }
    async with sapphire(tmp_path, files) as room:
        assert await room.ran("get_time") == ("first", True)
        assert await room.ran("meta") == ("second", True)
        [reason] = room.reasons("meta")
        assert "'get_time' is already taken by plugin 'clock'" in reason


async def test_two_folders_that_call_themselves_the_same_are_told_apart_by_the_owner_alone(tmp_path):
    files = {
        "plugins/one/plugin.json": manifest("same", "a.py"),
        "plugins/one/a.py": tool("a"),
        "plugins/two/plugin.json": manifest("same", "b.py"),
        "plugins/two/b.py": tool("b"),
    }
    async with sapphire(tmp_path, files) as room:
        assert room.tools() == ["a"]
        assert any("Another plugin calls itself 'same' too" in reason for reason in room.reasons())


@pytest.mark.promise("S440", "S475")
async def test_a_plugin_sees_the_others_and_has_them_looked_for(tmp_path):
    body = """
    import json
    from core.plugin_loader import plugin_loader
    act = arguments["act"]
    if act == "rescan":
        return json.dumps(plugin_loader.rescan()), True
    if act == "reload":
        return json.dumps(plugin_loader.reload_plugin(arguments["name"])), True
    found = plugin_loader.get_plugin_info(arguments["name"])
    there = arguments["name"] in plugin_loader._plugins
    return json.dumps([found and (found["loaded"], found["enabled"]), there, sorted(plugin_loader._plugins)]), True
    """
    files = {"plugins/p/tools/a.py": tool("ask", body=body, writes=False), "plugins/q/tools/b.py": tool("b")}
    async with sapphire(tmp_path, files, on=("p",)) as room:
        assert await room.value("ask", {"act": "info", "name": "p"}) == [[True, True], True, ["p", "q"]]
        assert await room.value("ask", {"act": "info", "name": "q"}) == [[False, False], True, ["p", "q"]]
        assert await room.value("ask", {"act": "info", "name": "nobody"}) == [None, False, ["p", "q"]]
        assert await room.value("ask", {"act": "rescan"}) == {"added": [], "removed": []}
        new = {"plugins/n/plugin.json": manifest("newer", "c.py", default_enabled=True), "plugins/n/c.py": tool("c")}
        write(tmp_path / "aside", new)
        # The folders' own watch would see it as soon as the plugin does.
        await room.host._tooling.catalogue._watching.close()
        (tmp_path / "aside/plugins/n").rename(room.root / "plugins/n")
        (room.root / "plugins/q").rename(tmp_path / "q")
        assert await room.value("ask", {"act": "rescan"}) == {"added": ["newer"], "removed": ["q"]}
        assert room.tools() == ["ask", "c"]
        assert await room.value("ask", {"act": "reload", "name": "newer"}) is True
        assert await room.value("ask", {"act": "reload", "name": "nobody"}) is False


async def test_a_checkout_that_is_not_there_is_told_and_its_missing_folders_are_not(tmp_path):
    async with host_at(tmp_path / "home", sources=[{"path": str(tmp_path / "gone"), "contract": "sapphire"}]) as host:
        told = {one.what for one in host.problems.all() if "cannot be read" in one.reason}
        assert told == {str(tmp_path / "gone")}
    save(tmp_path / "there", {"plugins/p/tools/a.py": tool("a")})
    async with host_at(tmp_path / "home", sources=[{"path": str(tmp_path / "there"), "contract": "sapphire"}]) as host:
        assert [one.name for one in host.tools.all()] == ["a"]
        assert host.problems.all() == ()


async def test_code_that_appears_where_plugins_may_write_waits_for_the_owner(tmp_path):
    files = {
        "core/plugins/p/tools/a.py": tool("a"),
        "user/plugins/q/plugin.json": manifest("q", "b.py", default_enabled=True),
        "user/plugins/q/b.py": tool("b"),
        "user/functions/c.py": tool("c"),
    }
    async with sapphire(tmp_path, files, checkout=True, on=("p",)) as room:
        assert room.tools() == ["a", "b", "c"]
        new = {
            "user/plugins/n/plugin.json": manifest("n", "d.py", default_enabled=True),
            "user/plugins/n/d.py": tool("d"),
            "user/functions/e.py": tool("e"),
        }
        write(room.root, new)
        await room.refreshed()
        assert room.tools() == ["a", "b", "c"] and {"plugin:n", "plugin:e"} <= room.host.tools.off()
        async with room.host.hub.listen() as heard:
            room.host.tools.switch("plugin:n", True)
            await tool_changed(heard, "d")


async def test_what_was_switched_on_in_an_older_installation_is_taken_over_once(tmp_path):
    files = {"plugins/p/tools/a.py": tool("a"), "plugins/q/tools/b.py": tool("b")}
    async with sapphire(tmp_path, files, on=("p",)) as room:
        assert room.tools() == ["a"]
        room.host.tools.switch("plugin:p", False)
    (tmp_path / "home/sapphire/user/webui/plugins.json").write_text(json.dumps({"enabled": ["p", "q"]}))
    async with host_at(tmp_path / "home") as host:
        assert {"plugin:p", "plugin:q"} <= host.tools.off()
        async with host.hub.listen() as heard:
            host.tools.switch("plugin:q", True)
            await tool_changed(heard, "b")


async def test_plugins_brought_along_in_user_are_moved_out_of_it_once_and_never_again(tmp_path):
    async with sapphire(tmp_path, {"user/plugins/mine/tools/a.py": tool("hail")}) as room:
        brought = room.user / "plugins"
        assert (brought.is_symlink(), room.tools()) == (True, ["hail"])
    brought.unlink()
    evil = manifest("evil", "tools/a.py").replace("{", '{"default_enabled": true, ', 1)
    async with sapphire(
        tmp_path, {"user/plugins/evil/plugin.json": evil, "user/plugins/evil/tools/a.py": tool("bite")}
    ) as room:
        assert room.tools() == ["hail"]
        [odd] = [one for one in room.host.problems.all() if one.what == "user/plugins"]
        assert (odd.refused, str(room.root / "plugins") in odd.hint) == (True, True)
