"""Switching Sapphire's plugins on and off, reading them anew, taking them off: and what a plugin may still do when it goes."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest
from tests.kotoba.homes import write
from tests.sapphire.homes import Room, manifest, sapphire, schema, tool
from tests.spine.homes import ended, host_at, tool_changed

from etui.errors import StoreError
from etui.events import Kind


def marking(name: str, version: str = "1", *, shutdown: str = "") -> str:
    """A tool file that writes down when it is run and when it is told to go; what it says is this version."""
    return f"""
import os
from pathlib import Path

PATH = Path("user/plugin_state/marks")


def _mark(what):
    if PATH.parent.is_dir() and os.access(PATH.parent, os.W_OK):
        try:
            with open(PATH, "a") as marks:
                marks.write(what + chr(10))
        except PermissionError:
            pass  # while it is only being read it may write nothing


_mark("run {version}")
TOOLS = [{schema(name)!r}]


def execute(function_name, arguments, config):
    return "version {version}", True


def shutdown():
    _mark("gone {version} " + str(Path("plugins/p/plugin.json").exists()))
    {shutdown or "pass"}
"""


def marks(room: Room) -> list[str]:
    """What was written down, without what was only read."""
    path = room.user / "plugin_state/marks"
    return path.read_text().splitlines() if path.exists() else []


async def off_and_gone(room: Room, name: str) -> None:
    """Switch a plugin off and wait until its process is gone."""
    [alive] = [one for one in room.host.workers.report() if one.plugin == name]
    handle = os.pidfd_open(alive.pid)
    room.host.tools.switch(f"plugin:{name}", False)
    await ended(handle)
    os.close(handle)


@pytest.mark.promise("S404")
async def test_a_new_plugin_is_off_until_it_is_switched_on_and_one_that_says_so_is_on_until_it_is_switched_off(tmp_path):
    mark = tmp_path / "ran"
    files = {
        "plugins/p/plugin.json": manifest("p", "a.py"),
        "plugins/p/a.py": f"open({str(mark)!r}, 'w').close()\n" + tool("a"),
        "plugins/q/plugin.json": manifest("q", "b.py", default_enabled=True),
        "plugins/q/b.py": tool("b"),
    }
    async with sapphire(tmp_path, files, on=()) as room:
        assert room.tools() == ["b"]
        assert not mark.exists()
        assert [one.name for one in room.host.plugins.all()] == ["p", "q"]
        assert {one.name: one.on for one in room.host.tools.families()} == {"plugin:p": False, "plugin:q": True}
        async with room.host.hub.listen() as heard:
            (room.root / "plugins/p/a.py").write_text(tool("a"))
            await room.refreshed()
            room.host.tools.switch("plugin:p", True)
            await tool_changed(heard, "a")
        assert await room.ran("a") == ("done", True)
        room.host.tools.switch("plugin:q", False)
        assert (await room.call("b")).rule == "switched_off"
    async with host_at(tmp_path / "home") as host:
        assert {one.name: one.on for one in host.tools.families()} == {"plugin:p": True, "plugin:q": False}


@pytest.mark.promise("S255", "S256", "S257", "S258", "S259", "S260")
async def test_a_plugin_may_clear_up_once_before_each_time_that_it_goes(tmp_path):
    files = {"plugins/p/tools/a.py": marking("a")}
    async with sapphire(tmp_path, files) as room:
        assert await room.ran("a") == ("version 1", True)
        assert marks(room) == ["run 1"]
        await off_and_gone(room, "p")
        assert marks(room) == ["run 1", "gone 1 True"]
        room.host.tools.switch("plugin:p", True)
        assert await room.ran("a") == ("version 1", True)
        async with room.host.hub.listen() as heard:
            write(room.root, {"plugins/p/tools/a.py": marking("a", "2")})
            await tool_changed(heard, "a")
        assert await room.ran("a") == ("version 2", True)
        assert marks(room) == ["run 1", "gone 1 True"] * 2 + ["run 2"]
        done = await room.host.installed.uninstall("p")
        assert done.removed == (str(room.root / "plugins/p"),) and done.kept == ()
        assert marks(room)[-1] == "gone 2 True" and not (room.root / "plugins/p").exists()
        assert room.tools() == []
        write(
            room.root,
            {"plugins/n/plugin.json": manifest("n", "a.py", default_enabled=True), "plugins/n/a.py": marking("n", "3")},
        )
        await room.refreshed()
        assert await room.ran("n") == ("version 3", True)
    assert marks(room)[-2:] == ["run 3", "gone 3 False"]


@pytest.mark.promise("S255")
async def test_a_plugin_without_shutdown_goes_as_well(tmp_path):
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": tool("a")}) as room:
        assert await room.ran("a") == ("done", True)
        await off_and_gone(room, "p")
        room.host.tools.switch("plugin:p", True)
        assert await room.host.installed.reload("p")
        assert await room.ran("a") == ("done", True)
        assert room.reasons() == []


HOLDING = """
import os, socket, subprocess, threading
from pathlib import Path

_server = socket.create_server(("127.0.0.1", {port}))
_stop = threading.Event()
_thread = threading.Thread(target=_stop.wait)
_thread.start()
_child = subprocess.Popen(["sleep", "1000"])


def shutdown():
    _server.close()
    _stop.set()
    _thread.join()
    _child.kill()
    _child.wait()
"""


@pytest.mark.promise("S257", "S261")
async def test_what_a_plugin_let_go_is_free_for_its_next_version(tmp_path):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    body = "return f'{os.getpid()} {_child.pid} {_server.getsockname()[1]}', True"
    first = tool("a", head=HOLDING.format(port=port), body=body)
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": first}, allow_exec="allow", allow_network="allow") as room:
        worker, child, bound = map(int, (await room.ran("a"))[0].split())
        assert bound == port
        gone = [os.pidfd_open(worker), os.pidfd_open(child)]
        async with room.host.hub.listen() as heard:
            write(room.root, {"plugins/p/tools/a.py": first + "\n# another version\n"})
            await tool_changed(heard, "a")
        again, other, bound = map(int, (await room.ran("a"))[0].split())
        for handle in gone:
            await ended(handle)
            os.close(handle)
        assert (bound, room.reasons()) == (port, [])
        assert worker != again and child != other


@pytest.mark.promise("S262")
async def test_a_plugin_that_goes_can_call_no_tool_any_more(tmp_path):
    head = """
    from pathlib import Path

    def shutdown():
        from core.chat.function_manager import FunctionManager
        from etui.contracts.sapphire import current
        try:
            said = current.ask("tools.call", name="other", arguments={})
        except Exception as error:
            said = str(error)
        Path("user/plugin_state/said").write_text(str(said))
    """
    files = {"plugins/p/tools/a.py": tool("a", head=head), "plugins/q/tools/b.py": tool("other")}
    async with sapphire(tmp_path, files) as room:
        await room.ran("a")
        began = asyncio.get_running_loop().time()
        await off_and_gone(room, "p")
        assert asyncio.get_running_loop().time() - began < 3
        said = (room.user / "plugin_state/said").read_text()
        assert said == "The plugin is going: 'tools.call' cannot be asked for any more."


async def test_a_plugin_may_have_itself_read_anew_in_the_middle_of_a_call(tmp_path):
    head = """
    import os
    from core.plugin_loader import plugin_loader

    def shutdown():
        pass
    """
    body = "return f'{plugin_loader.reload_plugin(\"p\")} {os.getpid()}', True"
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": tool("a", head=head, body=body)}) as room:
        loaded, first = (await room.ran("a"))[0].split()
        assert loaded == "True"
        assert (await room.ran("a"))[0].split()[1] != first


async def test_a_plugin_that_does_not_come_to_an_end_is_ended(tmp_path):
    head = "import time\n\n\ndef shutdown():\n    time.sleep(1000)\n"
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": tool("a", head=head)}, limit=30) as room:
        await room.ran("a")
        await off_and_gone(room, "p")


@pytest.mark.promise("S413")
async def test_uninstalling_cleans_up_what_is_the_plugins_own_and_nothing_else(tmp_path):
    paths = ["plugin_state/p*", "../x", "/etc", "plugin_state/other.json", "webui/plugins/p.json", "plugins/q", "toolsets/p"]
    files = {
        "plugins/p/plugin.json": manifest("p", "a.py", cleanup_paths=paths, settings=[{"key": "k", "default": 1}]),
        "plugins/p/a.py": tool("a"),
        "plugins/q/a.py": tool("q"),
        "user/plugin_state/p.json": "{}",
        "user/plugin_state/p_songs/a.mp3": "x",
        "user/plugin_state/pq.json": "{}",
        "user/plugin_state/other.json": "{}",
        "x": "here",
    }
    async with sapphire(tmp_path, files) as room:
        assert (room.user / "webui/plugins/p.json").is_file()
        done = await room.host.installed.uninstall("p")
        assert not (room.root / "plugins/p").exists() and (room.root / "plugins/q").is_dir()
        assert not (room.user / "webui/plugins/p.json").exists()
        left = sorted(path.name for path in (room.user / "plugin_state").iterdir())
        assert left == ["other.json", "pq.json"] and (room.root / "x").read_text() == "here"
        assert [one.split("'")[1] for one in done.kept] == [
            "../x",
            "/etc",
            "plugin_state/other.json",
            "plugins/q",
            "toolsets/p",
        ]
        assert all("not its own, so it was left" in one for one in done.kept)


async def test_a_plugin_that_could_not_be_uninstalled_can_be_called_again(tmp_path, monkeypatch):
    files = {"plugins/p/plugin.json": manifest("p", "a.py"), "plugins/p/a.py": marking("a")}
    async with sapphire(tmp_path, files) as room:

        def withdraw(family: str) -> None:
            raise StoreError("The disk is full.")

        monkeypatch.setattr(room.host.installed, "_withdraw", withdraw)
        with pytest.raises(StoreError, match="full"):
            await room.host.installed.uninstall("p")
        async with asyncio.timeout(20):
            assert await room.ran("a") == ("version 1", True)


async def test_uninstalling_names_what_of_the_plugins_own_stays(tmp_path):
    files = {
        "plugins/p/plugin.json": manifest("p", "a.py", cleanup_paths=["plugin_state/p.json"]),
        "plugins/p/a.py": tool("a"),
        **{f"user/plugin_state/{name}": "x" for name in ("p.json", "p_songs/a.mp3", "pq.json", "p-extra.json")},
    }
    async with sapphire(tmp_path, files) as room:
        folder = room.user / "plugin_state"
        assert (await room.host.installed.uninstall("p")).kept == (f"This of its own stays in {str(folder)!r}: p_songs.",)
        more = {"plugins/p/plugin.json": manifest("p", "a.py"), **{f"user/plugin_state/p_{at}": "x" for at in range(6)}}
        write(room.root, {**more, "plugins/p/a.py": tool("a")})
        await room.refreshed()
        assert (await room.host.installed.uninstall("p")).kept == (
            f"7 things of its own stay in {str(folder)!r}: p_0, p_1, p_2, p_3, p_4 and 2 more.",
        )


@pytest.mark.parametrize("by", ["uninstalling", "hand"])
async def test_a_plugin_does_not_inherit_that_another_one_of_its_name_was_on(tmp_path, by):
    files = {
        "plugins/first/plugin.json": manifest("p", "a.py"),
        "plugins/first/a.py": tool("a"),
        "plugins/second/plugin.json": manifest("p", "b.py"),
        "plugins/second/b.py": tool("b"),
        "user/webui/plugins.json": '{"enabled": ["p"]}',
    }
    async with sapphire(tmp_path, files) as room:
        assert room.tools() == ["a"]
        if by == "hand":
            shutil.rmtree(room.root / "plugins/first")
            await room.refreshed()
        else:
            await room.host.installed.uninstall("p")
        assert room.tools() == [] and "plugin:p" in room.host.tools.off()
        room.host.tools.switch("plugin:p", True)
        await room.refreshed()
        assert room.tools() == ["b"]
    async with sapphire(tmp_path, {}) as room:
        assert room.tools() == ["b"]


@pytest.mark.parametrize("on", [True, False])
async def test_a_plugin_that_gets_another_ones_name_keeps_its_own_switch_and_what_is_made_anew_has_none(tmp_path, on):
    files = {
        "plugins/p/plugin.json": manifest("p", "a.py"),
        "plugins/p/a.py": tool("a"),
        "user/webui/plugins.json": '{"enabled": ["p"]}',
    }
    write(
        tmp_path / "other",
        {
            "core/plugins/p/plugin.json": manifest("p", "b.py", default_enabled=not on),
            "core/plugins/p/b.py": tool("b"),
        },
    )
    sources = [{"path": str(tmp_path / "other"), "contract": "sapphire"}]
    async with sapphire(tmp_path, files, sources=sources) as room:
        [second] = [name for name in room.host.installed.names() if name != "p"]
        room.host.tools.switch(f"plugin:{second}", on)

        def names_on() -> tuple[tuple[str, ...], list[str]]:
            names, off = room.host.installed.names(), room.host.tools.off()
            return names, [name for name in names if f"plugin:{name}" not in off]

        assert names_on() == (("p", second), ["p", second] if on else ["p"])
        await room.host.installed.uninstall("p")
        assert names_on() == (("p",), ["p"] if on else [])
        write(room.root, files)
        await room.refreshed()
        assert names_on() == (("p", second), [second] if on else [])
        assert not (await room.call("a")).ok


async def test_what_came_with_a_checkout_is_not_removed_here(tmp_path):
    async with sapphire(tmp_path, {"core/plugins/p/tools/a.py": tool("a")}, checkout=True) as room:
        with pytest.raises(Exception, match="came with the installation"):
            await room.host.installed.uninstall("p")
        assert await room.ran("a") == ("done", True)


@pytest.mark.promise("S438")
async def test_reading_a_plugin_anew_runs_its_manifest_and_files_again_though_its_folder_has_another_name(tmp_path):
    shout = "import time\nSTARTED = time.time_ns()\n"
    files = {
        "plugins/x/plugin.json": manifest("y", "a.py"),
        "plugins/x/a.py": tool("a", head=shout, body="return str(STARTED), True"),
        "user/toolsets/toolsets.json": '{"mine": {"emoji": "", "functions": ["a"]}}',
    }
    async with sapphire(tmp_path, files) as room:
        first, _ = await room.ran("a")
        assert (await room.ran("a"))[0] == first
        assert await room.host.installed.reload("y")
        second, ok = await room.ran("a")
        assert ok and second != first
        room.chat = room.host.store.chats.create("", "python").id
        room.host.choosing.choose(room.chat, "toolset", "mine")
        async with room.host.hub.listen() as heard:
            write(room.root, {"plugins/x/a.py": tool("a", body='return "new", True')})
            await tool_changed(heard, "a")
        assert await room.ran("a", chat=room.chat) == ("new", True)
        assert [one.name for one in room.host.session("python", chat=room.chat).tools() if one.contract == "sapphire"] == ["a"]


@pytest.mark.promise("S439")
async def test_a_version_that_does_not_load_leaves_the_last_good_one_at_work_in_its_own_place(tmp_path):
    where = "return f'{__file__} {Path(__file__).parent.parent.parent.parent.name}', True"
    good = tool("a", head="from pathlib import Path", body=where)
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": good}) as room:
        file = room.root / "plugins/p/tools/a.py"
        assert await room.ran("a") == (f"{file} sapphire", True)
        async with room.host.hub.listen() as heard:
            write(room.root, {"plugins/p/tools/a.py": "def execute(:\n"})
            while (event := await heard.next()) is None or event.kind is not Kind.PROBLEM:
                continue
        [reason] = room.reasons("p")
        [problem] = [one for one in room.host.problems.all() if one.plugin == "p"]
        assert (problem.file, problem.line) == (str(file), 1) and "goes on serving" in reason
        room.host.workers.restart_plugin("p")
        assert await room.ran("a") == (f"{file} sapphire", True)
    async with host_at(tmp_path / "home") as host:
        session = host.session("python")
        outcome = await session.call(session.new_call("a", {}))
        assert outcome.text == f"{file} sapphire"
        assert Path(host.tools.all()[0].file) == file


@pytest.mark.promise("S437")
async def test_the_files_of_a_plugin_are_run_in_their_order(tmp_path):
    note = "import sys\nmade = sys.modules.setdefault('_order_of_p', type(sys)('_order_of_p'))\n"
    note += "vars(made).setdefault('order', []).append({!r})\n"
    head = note.format("tool") + "from core.chat.function_manager import scope_mine\n"
    files = {
        "plugins/p/plugin.json": manifest(
            "p",
            "tools/a.py",
            scopes=[{"key": "mine"}],
            hooks={"post_chat": "hook.py"},
            voice_commands=[{"triggers": ["zap"], "match": "exact", "handler": "voice.py"}],
            routes=[{"method": "GET", "path": "r", "handler": "route.py:handle"}],
            schedule=[{"name": "s", "cron": "0 9 * * *", "handler": "plan.py"}],
            daemon={"entry": "daemon.py"},
        ),
        "plugins/p/tools/a.py": tool(
            "a", head=head, body="import sys\nreturn ' '.join(sys.modules['_order_of_p'].order) + ' ' + scope_mine.get(), True"
        ),
        "plugins/p/hook.py": note.format("hook") + "def post_chat(event):\n    pass\n",
        "plugins/p/voice.py": note.format("voice") + "def pre_chat(event):\n    pass\n",
        "plugins/p/route.py": note.format("route") + "def handle(**given):\n    return {}\n",
        "plugins/p/plan.py": note.format("schedule") + "def run(event):\n    pass\n",
        "plugins/p/daemon.py": note.format("daemon") + "def start(loader, settings):\n    pass\n\n\ndef stop():\n    pass\n",
    }
    async with sapphire(tmp_path, files) as room:
        assert await room.ran("a") == ("hook voice tool route schedule daemon default", True)


async def test_a_plugin_reaches_a_neighbours_module_while_that_neighbour_is_on(tmp_path):
    body = """
    try:
        from plugins.memory.tools.people import people
    except ImportError as error:
        return f"disabled: {error}", True
    return people(), True
    """
    files = {
        "plugins/email/tools/a.py": tool("mail", body=body),
        "plugins/memory/tools/people.py": tool("people_tool", head="def people():\n    return 'Ada'\n"),
    }
    async with sapphire(tmp_path, files, on=("email",)) as room:
        assert (await room.ran("mail"))[0].startswith("disabled: ")
        async with room.host.hub.listen() as heard:
            room.host.tools.switch("plugin:memory", True)
            await tool_changed(heard, "people_tool")
        assert await room.ran("mail") == ("Ada", True)
