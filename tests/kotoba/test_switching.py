"""Families switched off and on: what is offered, what runs, and what code is there at all."""

from __future__ import annotations

import asyncio
import json
import os

import pytest
from tests.kotoba.homes import PING, kotoba, ping, write
from tests.spine.homes import ended, host_at, tool_changed, until

from etui.agent.scripted import call
from etui.events import Kind
from etui.owner.decisions import Switches
from etui.store import Store

COUNTER = ping("COUNT.append(1)\nreturn str(len(COUNT))", name="count", head="COUNT = []")
MARKER = ping(top="with open('marker', 'a') as file:\n    file.write('ran')\n")


@pytest.mark.promise("K098", "K161")
async def test_a_plugin_that_is_off_loses_all_its_tools_whatever_they_declare_and_no_other_does(tmp_path):
    files = {
        "p/one.py": ping(name="one", head="TOOLSET = 'core'"),
        "p/two.py": ping(name="two", head="TOOLSET = 'plugin:other'"),
        "p/three.py": ping(name="three"),
        "other/ping.py": PING,
    }
    async with kotoba(tmp_path, files) as room:
        room.host.tools.switch("plugin:p", False)
        await room.turn("hello", [call("one"), call("two", index=1), call("three", index=2), call("ping", index=3)], "Done.")
        assert room.offered() == ["ping"]
        said = {message.tool: message.text for message in room.results()}
        assert "switched OFF" in said["one"]
        assert "switched OFF" in said["two"]
        assert "switched OFF" in said["three"]
        assert said["ping"] == "pong"
        rows = {family.name: family for family in room.host.tools.families()}
        assert (rows["plugin:p"].on, rows["plugin:p"].loaded) == (False, False)
        assert rows["plugin:other"].on
        room.host.tools.switch("plugin:p", True)
        await room.turn("hello", "Hi.")
        assert room.offered() == ["one", "ping", "three", "two"]


@pytest.mark.promise("K162")
async def test_a_family_of_trusted_files_is_only_filtered_and_its_code_stays(tmp_path):
    files = {"f/count.py": COUNTER.replace("COUNT = []", "COUNT = []\nTOOLSET = 'file'"), "f/ping.py": PING}
    async with kotoba(tmp_path, files, source={"families": True}) as room:
        assert [(await room.call("count")).text for _ in range(2)] == ["1", "2"]
        room.host.tools.switch("file", False)
        assert (await room.call("count")).rule == "switched_off"
        await room.turn("hello", "Hi.")
        assert room.offered() == ["ping"]
        room.host.tools.switch("file", True)
        await room.turn("hello", "Hi.")
        assert room.offered() == ["count", "ping"]
        assert (await room.call("count")).text == "3"


@pytest.mark.promise("K163")
async def test_a_plugin_that_is_off_has_no_process_and_starts_afresh_when_it_is_on(tmp_path):
    async with kotoba(tmp_path, {"p/count.py": COUNTER}) as room:
        assert [(await room.call("count")).text for _ in range(2)] == ["1", "2"]
        (alive,) = room.host.workers.report()
        process = os.pidfd_open(alive.pid)
        room.host.tools.switch("plugin:p", False)
        await ended(process)
        os.close(process)
        room.host.tools.switch("plugin:p", True)
        assert (await room.call("count")).text == "1"
        (fresh,) = room.host.workers.report()
        assert fresh.pid != alive.pid


async def test_a_call_under_way_ends_as_it_would_when_its_plugin_is_switched_off(tmp_path):
    body = "import asyncio\nwhile not os.path.exists('go'):\n    await asyncio.sleep(0.01)\nreturn 'done'"
    async with kotoba(tmp_path, {"p/slow.py": ping(body, top="import os")}) as room, room.host.hub.listen() as events:
        task = asyncio.create_task(room.call("ping"))
        await until(events, Kind.WORKER_STARTED)
        room.host.tools.switch("plugin:p", False)
        (tmp_path / "home" / "files" / "go").touch()
        assert (await task).text == "done"


@pytest.mark.promise("K196", "K214")
async def test_a_tool_file_may_ask_which_families_there_are_and_nothing_of_one_that_is_off_dispatches(tmp_path):
    top = "import json\nfrom kotoba.tools.registry import all_toolsets, disabled_toolsets, dispatchable"
    body = "return json.dumps([list(all_toolsets()), sorted(disabled_toolsets()), dispatchable('ping') is None])"
    async with kotoba(tmp_path, {"p/ping.py": PING, "q/asks.py": ping(body, name="asks", top=top)}) as room:
        families, off, none = json.loads((await room.call("asks")).text)
        assert families == sorted(families)
        assert {"plugin:p", "plugin:q"} <= set(families)
        assert (off, none) == ([], False)
        room.host.tools.switch("plugin:p", False)
        _, off, none = json.loads((await room.call("asks")).text)
        assert (off, none) == (["plugin:p"], True)
        assert "ping" in [tool.name for tool in room.host.tools.all()]


@pytest.mark.parametrize(
    "config",
    [
        pytest.param("", id="whole", marks=pytest.mark.promise("K361")),
        pytest.param("# a comment\nsources = [broken\n", id="broken", marks=pytest.mark.promise("K362")),
    ],
)
async def test_what_is_off_stays_off_over_a_restart_and_its_code_is_not_run(tmp_path, config):
    home, marker = tmp_path / "home", tmp_path / "home" / "files" / "marker"
    write(home / "plugins", {"p/ping.py": MARKER})
    async with host_at(home) as host:
        assert [tool.name for tool in host.tools.all()] == ["ping"]
        assert marker.exists()
        host.tools.switch("plugin:p", False)
    marker.unlink()
    # What its bytes offer is not known any more: it would have to be run to learn that.
    write(home / "plugins", {"p/ping.py": MARKER + "\n# edited while nobody looked\n"})
    (home / "config.toml").write_text(config)
    async with host_at(home) as host, host.hub.listen() as events:
        assert not marker.exists()
        (row,) = host.tools.families()
        assert (row.name, row.plugins, row.on, row.loaded) == ("plugin:p", ("p",), False, False)
        session = host.session("python")
        assert (await session.call(session.new_call("ping", {}))).status == "refused"
        if config:
            told = [problem for problem in host.problems.all() if problem.file == str(home / "config.toml")]
            assert [problem.line for problem in told] == [2]
        write(home / "plugins", {"p/ping.py": MARKER + "\n# edited while Etui runs\n"})
        assert not marker.exists()
        host.tools.switch("plugin:p", True)
        await tool_changed(events, "ping")
        assert marker.exists()
        # While the settings cannot be read, the strictest hold: nothing of a plugin's is for conversations.
        assert (await session.call(session.new_call("ping", {}))).rule == ("mode" if config else "")


@pytest.mark.promise("K362")
async def test_the_folders_of_a_configuration_that_cannot_be_read_are_not_run(tmp_path):
    home, there = tmp_path / "home", tmp_path / "there"
    write(there, {"p/ping.py": MARKER})
    write(home, {"config.toml": f'[[sources]]\npath = "{there}"\ncontract = "kotoba"\n[broken\n'})
    async with host_at(home) as host:
        assert host.tools.all() == ()
        assert not (home / "files" / "marker").exists()
        (problem,) = host.problems.all()
        assert (problem.file, problem.line) == (str(home / "config.toml"), 4)


@pytest.mark.promise("K362")
def test_a_switch_that_cannot_be_read_is_off(tmp_path):
    store = Store.open(tmp_path / "etui.db")
    store.values.put("switch", "plugin:p", {"what": "is this"})
    assert Switches(store.values).off == {"plugin:p"}
    store.close()


async def test_a_native_plugin_that_is_off_as_a_whole_takes_the_tools_of_other_toolsets_along(tmp_path):
    home = tmp_path / "home"
    tool = "from etui import tool\n\n@tool(toolset='house')\ndef lamp() -> str:\n    return 'lit'\n"
    write(home / "tools", {"lights.py": tool, "more.py": tool.replace("lamp", "fire")})
    async with host_at(home) as host:
        session = host.session("python")
        assert (await session.call(session.new_call("lamp", {}))).text == "lit"
        host.tools.switch("plugin:lights", False)
        assert [one.name for one in session.tools()] == ["fire"]
        assert (await session.call(session.new_call("lamp", {}))).rule == "switched_off"
        assert (await session.call(session.new_call("fire", {}))).text == "lit"
