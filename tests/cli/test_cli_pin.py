"""`etui pin`, and a telephone call that is played in the terminal."""

from __future__ import annotations

import io
import json
import re

import pytest
from tests.cli.processes import Terminal, etui, serving
from tests.keryx.homes import MOON, save, tool
from tests.keryx.pins import holds

SHED = tool(
    'return {"message": "The door of the shed is open."}', name="open_shed", options='description="Open the door of the shed."'
)


@pytest.fixture
def typed(monkeypatch, here):
    """Runs a command with this on its standard input."""

    def run(home, text, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return here(home, *arguments)

    return run


@pytest.mark.promise("X238")
@pytest.mark.parametrize("text", ["12345", "123456789", "letters", ""])
def test_what_is_no_pin_is_not_set(tmp_path, typed, here, text):
    code, out, err = typed(tmp_path, f"{text}\n", "pin", "set")
    assert (code, out) == (1, "")
    assert "nothing was changed" in err
    assert json.loads(here(tmp_path, "pin", "status", "--json")[1]) == {"set": False, "locked_until": None}


@pytest.mark.promise("X239")
def test_a_pin_is_set_asked_after_and_forgotten(tmp_path, typed, here):
    assert typed(tmp_path, "739518\n", "pin", "set") == (0, "The PIN is set.\n", "")
    assert here(tmp_path, "pin", "status") == (0, "A PIN is set.\n", "")
    assert holds(tmp_path, "739518") == []
    assert here(tmp_path, "pin", "clear") == (0, "There is no PIN any more.\n", "")
    assert "No PIN is set" in here(tmp_path, "pin", "status")[1]


def test_a_pin_is_no_argument(tmp_path, here):
    assert here(tmp_path, "pin", "set", "123456")[0] == 2


def test_a_pin_is_typed_twice_and_unseen(tmp_path):
    with serving(tmp_path):
        for second, shown, code in (("739519", "not the same", 1), ("739518", "The PIN is set.", 0)):
            with Terminal(tmp_path, "pin", "set") as terminal:
                terminal.until("digits): ")
                terminal.type("739518\n")
                terminal.until("Once more: ")
                terminal.type(f"{second}\n")
                terminal.until(shown)
                assert terminal.end() == code
                assert "73951" not in terminal.screen


def test_a_call_is_played_in_the_terminal(tmp_path):
    save(tmp_path / "keryx" / "tools", {"shed.py": SHED})
    assert etui(tmp_path, "pin", "set", input="739518\n").returncode == 0
    with Terminal(tmp_path, "chat", "--channel", "phone") as terminal:
        terminal.until("> ")
        terminal.type("open the door of the shed\n")
        terminal.until("What is your PIN?")
        terminal.until("> ")
        terminal.type("739519\n")
        terminal.until("wrong")
        terminal.until("> ")
        terminal.type("seven three nine five one eight\n")
        terminal.until("this conversation is yours")
        terminal.until("The door of the shed is open.")
        terminal.until("> ")
        terminal.type("\x04")
        assert terminal.end() == 0
    assert holds(tmp_path, "739518", "739519", "seven three") == []


@pytest.mark.promise("X044", "X254", "X256")
def test_the_list_says_at_a_glance_what_needs_the_pin(tmp_path, here):
    folder = tmp_path / "keryx" / "tools"
    save(folder, {"a.py": tool(name="a", options='description="Do it."'), "moon.py": MOON})
    code, out, _ = here(tmp_path, "tools")
    lines = out.splitlines()
    at = lines.index(f"# {folder}")
    gated, opened = lines[at + 1 : at + 3]
    assert code == 0
    assert re.fullmatch(r"a {23,}needs PIN +a\.py *", gated)
    assert re.fullmatch(r"moon_phase {14,}no PIN {4,}moon\.py *", opened)
    assert (gated.index("needs PIN"), gated.index("a.py")) == (opened.index("no PIN"), opened.index("moon.py"))
    save(folder, {"a.py": "X = 1", "moon.py": "X = 1"})
    code, out, _ = here(tmp_path, "tools")
    assert code == 1
    assert "refused a.py: defines no tool (decorate a function with @custom_tool)" in out.splitlines()
