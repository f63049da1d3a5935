"""Descriptions that are built from settings: said anew when they are saved, in the same process, and nothing else of them."""

from __future__ import annotations

import json

import msgspec
import pytest
from tests.kotoba.homes import write
from tests.sapphire.homes import manifest, sapphire, tool
from tests.spine.homes import host_at, tool_changed

from etui.agent.scripted import call

HEAD = """
import itertools, json, os, sqlite3, threading
from pathlib import Path

LOADED = os.getpid()
COUNT = itertools.count(1)
DB = sqlite3.connect(":memory:", check_same_thread=False)
DB.execute("create table t (x)")
DB.execute("insert into t values (42)")
LOCK = threading.Lock()


def _load():
    path = Path("user/webui/plugins/p.json")
    return json.loads(path.read_text()) if path.exists() else {}


def get_tools():
    cfg = _load()
    if cfg.get("broken"):
        raise RuntimeError("no")
    name = (cfg.get("ai_name") or "").strip()
    made = [{
        "type": "function", "is_local": cfg.get("local", True), "network": bool(cfg.get("network")),
        "category": cfg.get("category", "media"), "loop_warn_after": cfg.get("after", 3), "loop_warn_message": "Enough.",
        "function": {
            "name": cfg.get("called", "draw"),
            "description": "Draw something." + (f" Write '{name}' for yourself." if name else ""),
            "parameters": {"type": "object", "properties": {"kind": {"type": "string", "enum": cfg.get("kinds", ["ink"])}}},
        },
    }]
    if cfg.get("more"):
        made.append({"type": "function", "function": {"name": "more", "description": "More.", "parameters": {}}})
    return made


TOOLS = get_tools()


def execute(function_name, arguments, config):
    held = LOCK.locked() or LOCK.acquire()
    return json.dumps([function_name, os.getpid(), next(COUNT), DB.execute("select x from t").fetchone()[0], held]), True
"""
FILES = {"plugins/p/tools/a.py": HEAD}


@pytest.mark.promise("S191", "S192", "S193", "S194", "S195", "S196", "S197", "S286", "S387")
async def test_a_save_is_seen_by_the_model_at_once_and_changes_only_description_and_parameters(tmp_path):
    files = {**FILES, "user/toolsets/toolsets.json": '{"mine": {"emoji": "", "functions": ["draw"]}}'}
    async with sapphire(tmp_path, files) as room:
        room.chat = room.host.store.chats.create("", "python").id
        room.host.choosing.choose(room.chat, "toolset", "mine")
        await room.turn("hello", [call("draw")], "Done.")
        before = room.tool("draw")
        name, pid, count, row, held = json.loads(room.results()[-1].text)
        assert (name, count, row, held) == ("draw", 1, 42, True)
        changed = {"local": "endpoint", "network": True, "category": "web", "after": 9, "called": "paint"}
        await room.host.installed.save("p", {"ai_name": "Ada", "kinds": ["ink", "oil"]})
        assert room.tool("draw").description == "Draw something. Write 'Ada' for yourself."
        await room.turn("again", [call("draw")], "Done.")
        offered = {view.name: view for view in room.requests[-1].tools}
        assert offered["draw"].description.endswith("Write 'Ada' for yourself.")
        assert offered["draw"].parameters["properties"]["kind"]["enum"] == ["ink", "oil"]
        assert json.loads(room.results()[-1].text) == ["draw", pid, 2, 42, True]
        await room.host.installed.save("p", changed)
        after = room.tool("draw")
        assert (after.local, after.badges, after.category, after.warn_after) == (True, before.badges, "media", 3)
        assert after == msgspec.structs.replace(before, description=after.description, parameters=after.parameters)
        assert "paint" not in room.tools()
        assert json.loads((await room.ran("draw"))[0]) == ["draw", pid, 3, 42, True]
        assert (await room.call("paint")).rule == "find"


@pytest.mark.promise("S198")
async def test_tools_come_and_go_with_a_reload_only(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        await room.ran("draw")
        await room.host.installed.save("p", {"more": True})
        assert room.tools() == ["draw"]
        assert await room.host.installed.reload("p")
        assert room.tools() == ["draw", "more"]
        assert json.loads((await room.ran("more"))[0])[2] == 1
        await room.host.installed.save("p", {"more": False})
        assert room.tools() == ["draw", "more"]
        assert await room.host.installed.reload("p")
        assert room.tools() == ["draw"]


async def test_what_code_says_of_its_tools_that_serves_no_more_is_passed_over(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        catalogue, told = room.host._tooling.catalogue, [{"name": "draw", "description": "Old.", "parameters": {}}]
        catalogue.refreshed("p", "another digest", told)
        assert room.tool("draw").description == "Draw something."
        catalogue.refreshed("p", room.host.registry.snapshot.plugins["p"].digest, told)
        assert room.tool("draw").description == "Old."


@pytest.mark.promise("S191")
async def test_what_was_saved_is_what_is_said_after_a_restart_too(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        await room.host.installed.save("p", {"ai_name": "Ada"})
    async with host_at(tmp_path / "home") as host:
        assert host.registry.snapshot.tools["draw"].description.endswith("Write 'Ada' for yourself.")
    write(tmp_path / "home/sapphire", {"user/webui/plugins/p.json": '{"ai_name": "Bob"}'})
    async with host_at(tmp_path / "home") as host:
        assert host.registry.snapshot.tools["draw"].description.endswith("Write 'Bob' for yourself.")


@pytest.mark.promise("S199")
async def test_get_tools_that_raises_when_it_is_first_asked_costs_its_file_and_no_other(tmp_path):
    files = {
        **FILES,
        "plugins/p/tools/b.py": tool("b"),
        "user/webui/plugins/p.json": '{"broken": true}',
    }
    async with sapphire(tmp_path, files) as room:
        assert room.tools() == ["b"]
        [problem] = [one for one in room.host.problems.all() if one.refused]
        assert problem.file.endswith("plugins/p/tools/a.py") and problem.line == HEAD.split("raise")[0].count("\n") + 1
        write(room.root, {"user/webui/plugins/p.json": "{}"})
        assert await room.host.installed.reload("p")
        assert room.tools() == ["b", "draw"]
        await room.host.installed.save("p", {"broken": True})
        assert room.tool("draw").description == "Draw something."


@pytest.mark.promise("S200")
async def test_a_plugin_without_get_tools_is_the_same_after_a_save(tmp_path):
    files = {
        "plugins/p/plugin.json": manifest("p", "a.py", settings=[{"key": "k", "default": 1}]),
        "plugins/p/a.py": tool("a", body="import os; return str(os.getpid()), True"),
    }
    async with sapphire(tmp_path, files) as room:
        before, (pid, _) = room.tool("a"), await room.ran("a")
        await room.host.installed.save("p", {"k": 2})
        assert room.tool("a") == before
        assert room.reasons() == []
        assert await room.ran("a") == (pid, True)


@pytest.mark.promise("S388")
async def test_a_loose_module_says_anew_what_its_tools_are(tmp_path):
    text = """
import config

SETTINGS = {"KINDS": ["ink"]}


def get_tools():
    kinds = {"type": "string", "enum": list(config.KINDS)}
    function = {"name": "draw", "description": "Draw.", "parameters": {"type": "object", "properties": {"kind": kinds}}}
    return [{"type": "function", "function": function}]


def execute(function_name, arguments, config):
    return "drawn", True
"""
    async with sapphire(tmp_path, {"functions/draw.py": text}) as room:
        assert room.tool("draw").parameters["properties"]["kind"]["enum"] == ["ink"]
        await room.host.installed.save("draw", {"KINDS": ["ink", "oil"]})
        assert room.tool("draw").parameters["properties"]["kind"]["enum"] == ["ink", "oil"]
    async with host_at(tmp_path / "home") as host, host.hub.listen() as heard:
        assert host.registry.snapshot.tools["draw"].parameters["properties"]["kind"]["enum"] == ["ink", "oil"]
        write(tmp_path / "home/sapphire", {"functions/draw.py": text + "\n# another\n", "functions/other.py": tool("other")})
        await tool_changed(heard, "other")
        assert host.registry.snapshot.tools["draw"].parameters["properties"]["kind"]["enum"] == ["ink", "oil"]
