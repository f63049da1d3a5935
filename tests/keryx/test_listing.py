"""`etui tools` over a folder of custom tools: what it prints, in text and in JSON, and how it ends."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.processes import serving
from tests.keryx.homes import MOON, keryx, save, tool

from etui.__main__ import open_lazily
from etui.home import Home
from etui.plugins.fresh import Listing
from etui.surfaces.cli import main

PIN = tool(name="submit_pin", options='description="d"')
Etui = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def etui(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Etui:
    """Runs a command on a home whose one source is `data/tools`; gives its exit code and what it printed."""
    monkeypatch.setenv("ETUI_SHELF", "off")
    monkeypatch.setenv("ETUI_HOME", str(tmp_path / "home"))
    home = Home(tmp_path / "home")
    home.make()
    home.write("sources", [{"path": str(tmp_path / "data" / "tools"), "contract": "keryx"}])

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(open_lazily, list(arguments))
        shown = capfd.readouterr()
        return code, shown.out, shown.err

    return run


def listed(etui: Etui) -> tuple[int, dict[str, Any]]:
    """The exit code, and this folder's part of the one JSON document."""
    code, out, _ = etui("tools", "--json")
    (folder,) = json.loads(out)["folders"]
    return code, folder


@pytest.mark.promise("X042", "X044", "X045", "X046", "X254", "X255", "X256", "X257", "X319", "X320")
def test_the_folder_stands_first_with_its_tools_and_what_was_refused(tmp_path, etui):
    folder = tmp_path / "data" / "tools"
    files = {
        "moon.py": MOON,
        "a.py": tool(name="a", options='description="Act."'),
        "odd.py": tool(name="odd", options="description=None"),
        "pin.py": PIN,
        "restart.py": tool(name="restart_service"),
    }
    save(folder, files)
    code, out, err = etui("tools")
    lines = out.splitlines()
    assert code == 1
    assert lines == [
        f"# {folder}",
        f"{'a':<24} {'needs PIN':<10} a.py",
        f"{'moon_phase':<24} {'no PIN':<10} moon.py",
        "refused odd.py: 'odd' has no description",
        "refused pin.py: 'submit_pin' is already a tool's name",
        "refused restart.py: 'restart_service' is already a tool's name",
    ]
    assert any(re.fullmatch(r"moon_phase {14,}no PIN {4,}moon.py", line) for line in lines)
    assert "Traceback" not in out + err
    code, found = listed(etui)
    assert code == 1
    assert found == {
        "directory": str(folder),
        "tools": [
            {"name": "a", "needs_pin": True, "file": "a.py", "description": "Act."},
            {
                "name": "moon_phase",
                "needs_pin": False,
                "file": "moon.py",
                "description": "Say the phase of the moon tonight. Answer in one sentence.",
            },
        ],
        "refused": [
            {"file": "odd.py", "reason": "'odd' has no description"},
            {"file": "pin.py", "reason": "'submit_pin' is already a tool's name"},
            {"file": "restart.py", "reason": "'restart_service' is already a tool's name"},
        ],
    }


@pytest.mark.promise("X255", "X256", "X318", "X321")
def test_an_empty_folder_says_so_and_a_good_one_is_no_failure(tmp_path, etui):
    folder = tmp_path / "data" / "tools"
    save(folder, {})
    code, out, _ = etui("tools")
    assert (code, out.splitlines()) == (0, [f"# {folder}", "no custom tools"])
    save(folder, {"moon.py": MOON})
    assert etui("tools")[1].splitlines()[1:] == [f"{'moon_phase':<24} {'no PIN':<10} moon.py"]
    code, found = listed(etui)
    moon = {"name": "moon_phase", "needs_pin": False, "file": "moon.py"}
    moon["description"] = "Say the phase of the moon tonight. Answer in one sentence."
    assert (code, found) == (0, {"directory": str(folder), "tools": [moon], "refused": []})


@pytest.mark.promise("X047", "X060", "X061")
def test_what_a_file_says_of_its_refusal_is_all_that_is_said_and_once_it_is_mended_the_exit_is_0(tmp_path, etui):
    folder = tmp_path / "data" / "tools"
    wants = tool(
        head="""
            from pathlib import Path
            from keryx.tools.custom import ToolUnavailable

            if not Path(__file__).with_suffix(".key").exists():
                raise ToolUnavailable("not signed in: save the key in x.key")
        """
    )
    save(folder, {"x.py": wants})
    code, out, err = etui("tools")
    assert (code, out.splitlines()) == (1, [f"# {folder}", "refused x.py: not signed in: save the key in x.key"])
    assert "Traceback" not in out + err
    save(folder, {"x.key": "secret"})
    code, out, _ = etui("tools")
    assert (code, out.splitlines()) == (0, [f"# {folder}", f"{'x':<24} {'no PIN':<10} x.py"])


def test_what_to_do_about_a_file_of_keryxs_own_is_said_beside_the_list(tmp_path, etui):
    save(tmp_path / "data" / "tools", {"old.py": MOON.replace("keryx", "jarvis"), "slack.py": "import keryx.plugins.slack\n"})
    code, out, err = etui("tools")
    assert (code, len(out.splitlines())) == (1, 3)
    assert "Keryx was called jarvis once: write `keryx` in its place." in err
    assert "`etui plugins list` has Etui's own." in " ".join(err.split())


def test_a_tool_of_the_folder_is_called_and_switched_by_its_name(tmp_path, etui):
    save(tmp_path / "data" / "tools", {"moon.py": MOON})
    assert etui("call", "moon_phase")[:2] == (0, '{"phase": "waxing gibbous"}\n')
    assert etui("tools", "--off", "moon_phase")[:2] == (0, "moon_phase is off.\n")
    assert f"{'moon_phase':<24} {'no PIN':<10} moon.py  off" in etui("tools")[1].splitlines()
    assert etui("call", "moon_phase")[0] == 1


@pytest.mark.promise("X322")
def test_a_look_at_the_folder_disturbs_no_host_that_runs_and_no_socket_that_lies_about(tmp_path, etui, monkeypatch):
    save(tmp_path / "data" / "tools", {"moon.py": MOON})
    approvals = tmp_path / "home" / "approvals.sock"
    with socket.socket(socket.AF_UNIX) as theirs, serving(tmp_path / "home"):
        theirs.bind(str(approvals))
        theirs.listen()
        door = (tmp_path / "home" / "run.json").read_bytes()
        before = os.stat(approvals).st_ino
        assert etui("tools")[0] == 0
        assert etui("call", "moon_phase")[:2] == (0, '{"phase": "waxing gibbous"}\n')
        assert etui("tools")[0] == 0
        assert (os.stat(approvals).st_ino, (tmp_path / "home" / "run.json").read_bytes()) == (before, door)
        with socket.socket(socket.AF_UNIX) as mine:
            mine.connect(str(approvals))


@pytest.mark.promise("X005")
async def test_what_comes_with_the_program_is_offered_whatever_the_folder_holds(tmp_path):
    async with keryx(tmp_path, {}, shelf=True) as room:
        offered = {tool.name for tool in await (await room.open("phone")).offered()}
        shelf = {tool.name for tool in room.host.tools.all() if tool.source == "shelf" and tool.mode != "work"}
        assert shelf
        assert shelf | {"submit_pin"} <= offered
        assert await room.host.plugins.folders() == (Listing(directory=str(room.folder)),)


@pytest.mark.promise("X008")
async def test_the_owners_tools_are_never_in_the_repository(tmp_path):
    async with keryx(tmp_path, {"my_moon.py": MOON}) as room:
        session = await room.open()
        assert await room.payload(session, "moon_phase") == {"phase": "waxing gibbous"}
    inside = (path for top in ("src", "tests", "docs", "scripts", "bench") for path in (ROOT / top).rglob("*"))
    assert [path for path in inside if path.name == "my_moon.py" or "custom_tools" in path.parts] == []
    assert [path.name for path in ROOT.glob("*.py")] == []


async def test_the_homes_own_folder_is_a_source_and_is_listed_once_it_holds_something(tmp_path):
    async with keryx(tmp_path, {}) as room:
        own = tmp_path / "home" / "keryx" / "tools"
        assert own.stat().st_mode & 0o777 == 0o700
        assert await room.host.plugins.folders() == (Listing(directory=str(room.folder)),)
        save(own, {"moon.py": MOON})
        save(room.folder, {"moon.py": MOON})
        assert list((await room.open()).own) == ["moon_phase"]
        _, second = await room.host.plugins.folders()
        assert (second.directory, [one.reason for one in second.refused]) == (
            str(own),
            ["'moon_phase' is already a tool's name"],
        )
        await room.host.settings.set("sources", [])
        assert [plugin.name for plugin in room.host.plugins.all()] == ["keryx.moon", "home.moon"]
        session = await room.open()
        assert [one.plugin for one in session.own.values()] == ["home.moon"]


async def test_sources_of_the_same_name_are_told_apart(tmp_path):
    for name in ("one", "two"):
        save(tmp_path / name / "tools", {f"{name}.py": tool(name=name), "same.py": tool(name=f"{name}_same")})
    rows = [{"path": str(tmp_path / name / "tools"), "contract": "keryx"} for name in ("one", "two")]
    async with keryx(tmp_path, {}, sources=rows) as room:
        session = await room.open()
        assert {one.name: one.plugin for one in session.own.values()} == {
            "one": "keryx.one",
            "one_same": "keryx.same",
            "two_same": "keryx2.same",
            "two": "keryx2.two",
        }
