"""The settings of Sapphire's plugins: where tools read them, what wins over what, and what of them is secret; and `config`."""

from __future__ import annotations

import json
import os
import stat

import pytest
from tests.kotoba.homes import write
from tests.sapphire.homes import Room, manifest, sapphire, save, tool
from tests.spine.homes import host_at

from etui.errors import UsageError

FOUR = "function_name, arguments, config, plugin_settings"
GIVEN = "import json\nreturn json.dumps(plugin_settings), True"
BY_PATH = """
    import json
    from pathlib import Path
    from core.paths import PROJECT_ROOT

    def _load_settings():
        path = Path("user/webui/plugins/p.json")
        if path.exists():
            return json.loads(path.read_text())
        return {}

    def _load_merged():
        path = PROJECT_ROOT / "user" / "webui" / "plugins" / "p.json"
        settings = {"timeout": 30, "max_results": 10}
        if path.exists():
            try:
                settings.update(json.loads(path.read_text()))
            except Exception:
                pass
        return settings
"""
"""The two readers of the authors' page."""
ROWS = [{"key": "timeout", "type": "number", "default": 30}, {"key": "max_results", "type": "number", "default": 10}]


def stored(room: Room, name: str = "p") -> dict[str, object]:
    """What stands in a plugin's file of settings."""
    return json.loads((room.user / f"webui/plugins/{name}.json").read_text())


@pytest.mark.promise("S018", "S342")
async def test_a_fourth_parameter_has_the_settings_of_this_plugin_and_of_no_other(tmp_path):
    files = {
        "plugins/a/tools/a.py": tool("a", signature=FOUR, body="return plugin_settings['city'], True"),
        "plugins/b/tools/b.py": tool("b", signature=FOUR, body="return plugin_settings['city'], True"),
        "plugins/c/tools/c.py": tool("c", signature=FOUR, body=GIVEN),
        "user/webui/plugins/a.json": '{"city": "Oslo"}',
        "user/webui/plugins/b.json": '{"city": "Rome"}',
    }
    async with sapphire(tmp_path, files) as room:
        assert await room.ran("a") == ("Oslo", True)
        assert await room.ran("b") == ("Rome", True)
        assert await room.ran("c") == ("{}", True)


@pytest.mark.promise("S176", "S177", "S179", "S180")
async def test_a_tool_that_looks_for_the_file_by_itself_finds_what_was_saved(tmp_path):
    body = """
    import os
    here = os.getcwd()
    os.chdir("/")
    try:
        rooted = (PROJECT_ROOT / "user" / "webui" / "plugins" / "p.json").exists(), _load_merged()
    finally:
        os.chdir(here)
    return json.dumps([_load_settings(), *rooted]), True
    """
    files = {"plugins/p/tools/a.py": tool("a", head=BY_PATH, body=body)}
    async with sapphire(tmp_path, files) as room:
        assert await room.value("a") == [{}, False, {"timeout": 30, "max_results": 10}]
        await room.host.installed.save("p", {"timeout": 5})
        assert await room.value("a") == [{"timeout": 5}, True, {"timeout": 5, "max_results": 10}]
        path = room.user / "webui/plugins/p.json"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.promise("S178", "S419")
async def test_the_file_is_made_with_the_defaults_and_what_stands_in_it_wins(tmp_path):
    body = "from core.plugin_loader import plugin_loader\nimport json\n"
    body += "return json.dumps([plugin_settings, plugin_loader.get_plugin_settings('p')]), True"
    files = {
        "plugins/p/plugin.json": manifest("p", "a.py", settings=[*ROWS, {"key": "note", "type": "string"}]),
        "plugins/p/a.py": tool("a", signature=FOUR, body=body),
    }
    async with sapphire(tmp_path, files) as room:
        assert stored(room) == {"timeout": 30, "max_results": 10}
        assert await room.value("a") == [{"timeout": 30, "max_results": 10}] * 2
        write(room.root, {"user/webui/plugins/p.json": '{"zz": 1, "timeout": "x"}'})
        assert await room.value("a") == [{"timeout": "x", "max_results": 10, "zz": 1}] * 2
        await room.host.installed.save("p", {"max_results": 5})
        assert stored(room) == {"zz": 1, "timeout": "x", "max_results": 5}
        write(room.root, {"user/webui/plugins/p.json": '{"max_results": 5}'})
        assert await room.value("a") == [{"timeout": 30, "max_results": 5}] * 2
        await room.host.installed.reset("p")
        assert stored(room) == {"timeout": 30, "max_results": 10}


@pytest.mark.promise("S181")
async def test_a_file_that_cannot_be_read_leaves_the_defaults_and_the_owner_is_told(tmp_path):
    files = {
        "plugins/p/plugin.json": manifest("p", "a.py", "tools/b.py", settings=ROWS),
        "plugins/p/a.py": tool(
            "a", head=BY_PATH, signature=FOUR, body="return json.dumps([_load_merged(), plugin_settings]), True"
        ),
        "plugins/p/tools/b.py": tool("b", signature=FOUR, body="return str(plugin_settings), True"),
        "user/webui/plugins/p.json": "{",
    }
    async with sapphire(tmp_path, files) as room:
        assert await room.value("a") == [{"timeout": 30, "max_results": 10}] * 2
        [reason] = room.reasons("p")
        assert reason.startswith("p.json: The settings cannot be read, so the defaults hold: ")
        with pytest.raises(UsageError, match="Mend or remove"):
            await room.host.installed.save("p", {"timeout": 5})
        # Nor is anything read for a plugin that lies elsewhere, waited for, or cannot be told.
        path, secret = room.user / "webui/plugins/p.json", tmp_path / "p.json"
        secret.write_text('{"timeout": "secret"}')
        path.unlink()
        path.symlink_to(secret)
        assert (await room.value("a"))[1] == {"timeout": 30, "max_results": 10}
        path.unlink()
        os.mkfifo(path)
        assert "it is no regular file" in str(room.reasons("p"))
        path.unlink()
        for odd in ('{"timeout": NaN}', '{"timeout": "\\ud800"}', f'{{"timeout": 1{"0" * 300}}}'):
            path.write_text(odd)
            assert (await room.ran("b"))[0] == "{'timeout': 30, 'max_results': 10}"
            assert room.reasons("p") != []
        path.unlink()
        path.parent.rename(tmp_path / "moved")
        path.parent.symlink_to(tmp_path)
        assert (await room.value("a"))[1] == {"timeout": 30, "max_results": 10}
        with pytest.raises(UsageError, match="leads out of"):
            await room.host.installed.reset("p")
        assert secret.exists()
        path.parent.unlink()
        await room.host.installed.save("p", {"timeout": 5})
        assert (await room.value("a"))[1] == {"timeout": 5, "max_results": 10} and room.reasons("p") == []


SECRET = [{"key": "token", "type": "string", "widget": "password", "default": ""}, {"key": "city", "default": "Oslo"}]


async def test_a_password_stands_in_no_file_of_settings_and_comes_with_the_call(tmp_path):
    # Backwards, since what a plugin says of a secret is hidden.
    ask = "from core.plugin_loader import plugin_loader\nimport json\nreturn json.dumps({}), True"
    both = "[plugin_settings['token'][::-1], plugin_loader.get_plugin_settings('p')['token'][::-1]]"
    files = {
        "plugins/p/plugin.json": manifest("p", "a.py", settings=SECRET),
        "plugins/p/a.py": tool("a", signature=FOUR, body=ask.format(both)),
        "plugins/q/b.py": tool("b", body=ask.format("plugin_loader.get_plugin_settings('p')")),
        "plugins/q/plugin.json": manifest("q", "b.py"),
    }
    async with sapphire(tmp_path, files) as room:
        await room.host.installed.save("p", {"token": "sesame-street", "city": "Rome"})
        assert stored(room) == {"city": "Rome"}
        assert await room.value("a") == ["teerts-emases"] * 2
        assert await room.value("b") == {"token": "", "city": "Rome"}
        form = room.host.installed.form("p")
        assert form["secrets"] == {"token": True} and "sesame" not in json.dumps(form)
        everywhere = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
        assert not any(b"sesame" in path.read_bytes() for path in everywhere)
    async with host_at(tmp_path / "home") as host:
        session = host.session("python")
        outcome = await session.call(session.new_call("a", {}))
        assert json.loads(outcome.text)[0] == "teerts-emases"
        await host.installed.save("p", {"token": ""})
        # What an older installation left in the file is not lost when another setting is saved.
        path = tmp_path / "home/sapphire/user/webui/plugins/p.json"
        path.write_text('{"token": "left-there"}')
        await host.installed.save("p", {"city": "Bonn"})
        assert json.loads(path.read_text()) == {"city": "Bonn"}
        assert json.loads((await session.call(session.new_call("a", {}))).text)[0] == "ereht-tfel"
        await host.installed.save("p", {"token": ""})
        assert host.installed.form("p")["secrets"] == {"token": False}
        await host.installed.save("p", {"token": "sesame-street"})
        host.plugins.forbid("p", "network", False)
        assert host.registry.snapshot.plugins["p"].grant.network
        await host.installed.uninstall("p")
        save(tmp_path / "home/sapphire", {name: files[name] for name in files if "/p/" in name})
        assert await host.installed.rescan() == {"added": ["p"], "removed": []}
        assert host.installed.form("p")["secrets"] == {"token": False}
        assert not host.registry.snapshot.plugins["p"].grant.network


async def test_a_password_of_code_that_reads_the_file_stands_in_it_for_the_owner_alone(tmp_path):
    head = "import json\nfrom pathlib import Path\n"
    body = "told = json.loads(Path('user/webui/plugins/p.json').read_text())['token']\nreturn f'{told[::-1]} {told}', True"
    files = {"plugins/p/plugin.json": manifest("p", "a.py", settings=SECRET), "plugins/p/a.py": tool("a", head=head, body=body)}
    async with sapphire(tmp_path, files) as room:
        await room.host.installed.save("p", {"token": "sesame-street"})
        text, _ = await room.ran("a")
        assert text.startswith("teerts-emases ") and "sesame" not in text
        form = room.host.installed.form("p")
        assert form["in_file"] and form["secrets"] == {"token": True} and "token" not in form["values"]


async def test_a_plugin_that_replaces_the_folder_of_settings_leads_nobody_out_of_the_root(tmp_path):
    body = "import os\nos.rename('user/webui', 'user/aside')\nos.symlink(arguments['to'], 'user/webui')\nreturn 'moved', True"
    out = tmp_path / "out"
    (out / "plugins").mkdir(parents=True)
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": tool("a", body=body)}) as room:
        assert await room.ran("a", {"to": str(out)}) == ("moved", True)
        with pytest.raises(UsageError, match="leads out of"):
            await room.host.installed.save("p", {"x": 1})
        assert not list((out / "plugins").iterdir())


@pytest.mark.promise("S302", "S470", "S527")
async def test_config_lies_in_the_root_and_has_settings_as_attributes_and_nothing_else(tmp_path):
    body = """
    import config as module
    from pathlib import Path
    import json
    try:
        config.NOPE
        nope = ""
    except AttributeError as error:
        nope = str(error)
    told = [getattr(config, "USER_TIMEZONE", ""), getattr(config, "NOPE", "none"), config.SOCKS_ENABLED]
    return json.dumps([str(Path(module.__file__).parent), module is config, nope, told]), True
    """
    five = tool("five", signature="function_name, arguments, config, plugin_settings, credentials")
    files = {
        "functions/a.py": tool("a", body=body),
        "functions/b.py": five,
        "functions/d.py": tool("url", body="return getattr(config, 'API_URL', 'none'), True"),
        "plugins/p/tools/c.py": tool("c", body=body),
    }
    async with sapphire(tmp_path, files) as room:
        told = [str(room.root), True, "module 'config' has no attribute 'NOPE'", ["Europe/Berlin", "none", False]]
        assert await room.value("a") == told
        assert await room.value("c") == told
        text, ok = await room.ran("five")
        assert text.startswith("Error executing five: ") and not ok
        await room.host.settings.set("timezone", "Asia/Tokyo")
        assert (await room.value("a"))[3][0] == "Asia/Tokyo"
        assert (await room.ran("url"))[0] == "none"
        room.host.addressed("http://127.0.0.1:8470")
        assert await room.ran("url") == ("http://127.0.0.1:8470", True)


@pytest.mark.promise("S321")
async def test_the_settings_that_a_loose_module_brings_are_everybodys_by_config(tmp_path):
    head = 'SETTINGS = {"X_LIMIT": 3, "X_NAMES": ["a"]}\nSETTINGS_HELP = {"X_LIMIT": "How many at most."}\n'
    files = {
        "functions/x.py": tool("x", head=head, body="return str(config.X_LIMIT), True"),
        "plugins/p/tools/a.py": tool("a", body="return str(getattr(config, 'X_LIMIT', None)), True"),
    }
    async with sapphire(tmp_path, files) as room:
        assert await room.ran("x") == ("3", True) and await room.ran("a") == ("3", True)
        [row, names] = room.host.installed.form("x")["rows"]
        assert (row["key"], row["type"], row["default"], row["help"]) == ("X_LIMIT", "number", 3, "How many at most.")
        assert names["type"] == "list"
        await room.host.installed.save("x", {"X_LIMIT": 7})
        assert await room.ran("x") == ("7", True) and await room.ran("a") == ("7", True)
    async with host_at(tmp_path / "home") as host:
        session = host.session("python")
        assert (await session.call(session.new_call("a", {}))).text == "7"


@pytest.mark.promise("S322")
async def test_a_tool_that_a_setting_gates_is_offered_while_it_is_on(tmp_path):
    head = 'SETTINGS = {"X_ON": False}\nSETTINGS_GATED = {"x": "X_ON"}\n'
    async with sapphire(tmp_path, {"functions/x.py": tool("x", "y", head=head)}) as room:
        chat = room.host.store.chats.create("", "python").id
        session = room.host.session("python", chat=chat)

        def offered():
            return [one.name for one in session.tools() if one.contract == "sapphire"]

        assert offered() == ["y"]
        assert not (await session.call(session.new_call("x", {}))).ok
        await room.host.installed.save("x", {"X_ON": True})
        assert offered() == ["x", "y"]
        assert (await session.call(session.new_call("x", {}))).text == "done"
        await room.host.installed.save("x", {"X_ON": False})
        assert offered() == ["y"]
