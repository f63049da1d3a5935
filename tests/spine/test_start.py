"""How it starts, and what the front page says of it."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from pathlib import Path

import pytest
from tests.spine.homes import DICE, host_at, tools_in
from tests.spine.test_death import served

from etui.home import Home
from etui.host.tooling import tools_python
from etui.settings import Settings

ROOT = Path(__file__).parents[2]


def test_the_six_lines_of_the_readme_are_the_tool_that_is_tried():
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block.strip() == DICE.strip()


def test_another_port_and_another_place_reach_the_program():
    command = ["make", "--no-print-directory", "-C", str(ROOT), "-n", "run", "PORT=4711", "ETUI_HOME=/elsewhere"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search(r'ETUI_PORT="4711" exec \S+/etui serve', shown)
    assert "ETUI_HOME=" not in shown  # make hands it on as it is
    assert Home.find({"ETUI_HOME": "/elsewhere"}).path == Path("/elsewhere")


async def test_the_console_listens_on_loopback_and_nowhere_else(tmp_path):
    async with served(tmp_path):
        door = json.loads((tmp_path / "run.json").read_text())
        with socket.create_connection(("127.0.0.1", door["port"]), 5):
            pass
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", door["port"]), 5):
            pass


async def test_a_further_folder_is_one_entry(tmp_path):
    home, more = tmp_path / "home", tmp_path / "my tools"
    home.mkdir()
    tools_in(tmp_path, DICE, "dice.py").parent.rename(more)
    (home / "config.toml").write_text(f'[[sources]]\npath = "{more}"\ncontract = "auto"\n')
    async with host_at(home) as host:
        (tool,) = host.tools.all()
        assert (tool.name, tool.source) == ("roll", "my tools")
        session = host.session("python")
        assert (await session.call(session.new_call("roll", {}))).ok


def test_tools_run_in_the_environment_that_was_named_then_in_the_homes_own_then_in_the_one_beside_the_hosts(
    tmp_path, monkeypatch
):
    def made(folder: Path) -> str:
        python = folder / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.touch()
        return str(python)

    home = Home(tmp_path / "home")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "checkout" / ".venv"))
    monkeypatch.setattr("sys.executable", "the host's own")
    assert tools_python(home, Settings()) == "the host's own"
    beside = made(tmp_path / "checkout" / ".venv-tools")
    assert tools_python(home, Settings()) == beside
    own = made(home.env)
    assert tools_python(home, Settings()) == own
    named = made(tmp_path / "named")
    assert tools_python(home, Settings(tools_env=str(tmp_path / "named"))) == named
