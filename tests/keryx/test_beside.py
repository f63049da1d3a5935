"""Code that a tool file takes from beside itself, as its owner's own scripts do: it may do what that code visibly asks for."""

from __future__ import annotations

import pytest
from tests.keryx.homes import keryx, save, tool

ASKS = """
    import sqlite3
    from socket import socket

    def kept():
        return sqlite3.connect("kept.db").execute("select 1").fetchone()[0]
    """
"""A draft that keeps a database and may ask the network; it is no tool file."""
FOUND = {
    "a folder on the path": """
        import os, sys
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        from _helper import kept
        """,
    "by its path": """
        import importlib.util
        from pathlib import Path
        spec = importlib.util.spec_from_file_location("helper", Path(__file__).with_name("_helper.py"))
        helper = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(helper)
        kept = helper.kept
        """,
    "by its name at run time": """
        import importlib, os, sys
        sys.path.append(os.path.dirname(__file__))
        kept = importlib.import_module("_helper").kept
        """,
    "as text": """
        from pathlib import Path
        exec((Path(__file__).parent / "_helper.py").read_text())
        """,
}


def helper(text: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in text.strip("\n").splitlines())


@pytest.mark.parametrize("how", FOUND)
async def test_a_file_may_do_what_the_code_asks_for_that_it_takes_from_beside_it(tmp_path, how):
    text = tool("return {'kept': kept()}", head=FOUND[how], kind="def")
    async with keryx(tmp_path, {"a.py": text, "_helper.py": helper(ASKS)}) as room:
        session = await room.open()
        assert await room.payload(session, "x") == {"kept": 1}
        (plugin,) = room.host.plugins.all()
        assert plugin.wishes.network and plugin.wishes.write and not plugin.wishes.subprocess


async def test_what_a_helper_takes_from_a_package_beside_it_counts_too(tmp_path):
    save(tmp_path / "data" / "tools" / "lib", {"__init__.py": "from lib import net", "net.py": "import http.client"})
    text = tool(head="import sys\nsys.path.insert(0, __file__.rpartition('/')[0])\nimport _helper")
    async with keryx(tmp_path, {"a.py": text, "_helper.py": "import lib"}) as room:
        await room.open()
        (plugin,) = room.host.plugins.all()
        assert plugin.wishes.network and not plugin.wishes.write


async def test_a_helper_that_changed_counts_from_the_next_session_on(tmp_path):
    text = tool("return {'kept': kept()}", head=FOUND["a folder on the path"], kind="def")
    async with keryx(tmp_path, {"a.py": text, "_helper.py": "def kept():\n    return 0\n"}) as room:
        first = await room.open()
        save(room.folder, {"_helper.py": helper(ASKS)})
        second = await room.open()
        assert [await room.payload(one, "x") for one in (first, second)] == [{"kept": 0}, {"kept": 1}]


async def test_files_that_are_not_taken_from_and_files_that_others_may_write_ask_for_nothing(tmp_path):
    path = "import sys\nsys.path.insert(0, __file__.rpartition('/')[0])\n"
    files = {
        "calendar.py": tool(name="other", head="import http.client"),
        "a.py": tool(head=f"{path}import calendar"),
        "b.py": tool(name="y", head="NAME = '_helper.py'  # and nothing more"),
        "c.py": tool(name="z", head=f"{path}import _loose"),
        "_helper.py": "import http.client",
        "_loose.py": "LOOSE = 1\ndef later():\n    import http.client\n",
    }
    async with keryx(tmp_path, files) as room:
        (room.folder / "_loose.py").chmod(0o666)
        session = await room.open()
        assert {tool.name for tool in session.tools()} >= {"x", "y", "z", "other"}
        asked = {plugin.name.rpartition(".")[2]: plugin.wishes.network for plugin in room.host.plugins.all()}
        assert asked == {"a": False, "b": False, "c": False, "calendar": True}


async def test_a_file_that_writes_beside_itself_while_it_loads_is_told_where_it_may(tmp_path):
    head = "from pathlib import Path\n(Path(__file__).parent / 'data').mkdir(exist_ok=True)"
    async with keryx(tmp_path, {"a.py": tool(head=head), "b.py": tool(name="y")}) as room:
        session = await room.open()
        assert await room.payload(session, "y") == {"ok": True}
        (problem,) = room.host.problems.all()
        assert problem.reason == f"PermissionError: [Errno 13] Permission denied: '{room.folder / 'data'}'"
        assert str(tmp_path / "home" / "files") in problem.hint and "write" in problem.hint
