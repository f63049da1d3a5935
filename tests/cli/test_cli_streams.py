"""Pipes, closed and full streams, terminals that are not UTF-8: no traceback, no mangled document, nothing lost."""

from __future__ import annotations

import json
import sqlite3

import pytest
from tests.cli.processes import etui, shell


@pytest.mark.parametrize("command", ["tools", "--help", "tools --json", "chat 'add 2 and 40'"])
def test_a_reader_that_has_enough_ends_the_command_quietly(home, command):
    done = shell(home, f"etui {command} | head -c 1; echo ${{PIPESTATUS[0]}}")
    assert done.stderr == ""
    assert done.stdout.endswith("0\n")


def test_a_pipe_that_nobody_reads_at_all_is_no_defect_either(home):
    done = shell(home, "(etui tools; echo $? >&3) 3>&2 2>/dev/null | true")
    assert done.stderr == "0\n"
    done = shell(home, "(etui call boom 2>&1 >/dev/null; echo $? >&3) 3>&2 | true")
    assert done.stderr in ("0\n", "1\n")  # the pipe may still be open when the one line goes through it


@pytest.mark.parametrize("command", ["tools", 'call add \'{"a": 1, "b": 2}\' --json', "--version"])
def test_a_full_disk_is_told_in_a_sentence(home, command):
    done = shell(home, f"etui {command} >/dev/full; echo $?")
    assert done.stdout == "1\n"
    assert done.stderr == "etui: What was to be printed could not be written: No space left on device.\n"


def test_with_every_stream_closed_it_still_works_and_nothing_lands_in_the_database(tmp_path):
    done = shell(tmp_path, "etui tools <&- >&- 2>&-; echo $?; etui call nope <&- >&- 2>&-; echo $?; etui chat <&- >&-; echo $?")
    assert (done.stdout, done.stderr) == ("0\n1\n0\n", "")
    with sqlite3.connect(tmp_path / "etui.db") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    database.close()


def test_a_closed_standard_input_holds_nothing(home):
    done = shell(home, "etui call no - <&-; echo $?; etui chat --json <&-; echo $?")
    assert done.stdout.splitlines()[0] == "1"
    assert done.stdout.splitlines()[-1] == "2"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "env",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}],
)
def test_a_terminal_that_is_not_utf_8_gets_signs_that_it_has(home, env):
    done = etui(home, "chat", "add 2 and 40", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("  + add a=2, b=40")
    done = etui(home, "call", "nasty", "--json", env=env)
    assert "👩" in json.loads(done.stdout)["text"]
    done = etui(home, "call", "nasty", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\U0001f469" in done.stdout


@pytest.mark.parametrize("command", ["call add -", "chat", "chat --json"])
def test_input_that_is_no_text_is_told_in_a_sentence(home, command):
    done = shell(home, f"printf '\\xff\\xfe{{' | etui {command}; echo $?", PYTHONIOENCODING="utf-8:strict")
    assert done.stdout.splitlines()[-1] in ("1", "2")
    assert done.stderr.startswith("etui: Standard input is no UTF-8 text")
    assert "Traceback" not in done.stderr


def test_an_argument_that_is_no_text_is_told_in_a_sentence(home):
    done = shell(home, "etui chat $'\\xff'; echo $?; etui call $'\\xff'; echo $?; etui tools --on $'\\xff'; echo $?")
    assert done.stdout.split() == ["2", "2", "1"]
    assert all(line.startswith("etui: ") for line in done.stderr.splitlines())


def test_colour_is_for_terminals_that_want_it(home):
    assert "\x1b" not in etui(home, "tools").stdout
    assert "\x1b" in etui(home, "tools", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[3" not in etui(home, "tools", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
