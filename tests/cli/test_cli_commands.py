"""The commands against a host that runs: what they print, and how they end."""

from __future__ import annotations

import json

import pytest
from tests.cli.processes import environ, etui

from etui.surfaces.cli import etui as group


def test_a_call_prints_its_result(said):
    assert said("call", "add", '{"a": 2, "b": 40}') == said("call", "add", '\ufeff{"a": 2, "b": 40}') == (0, "42\n", "")
    code, out, _ = said("call", "add", '{"a": 2, "b": 40}', "--json")
    assert (code, json.loads(out)["data"]) == (0, 42)


@pytest.mark.parametrize(
    ("arguments", "status", "rule", "words"),
    [
        (["boom"], "failed", "", "the inside of it"),
        (["no"], "refused", "tool", "Not today."),
        (["shell", '{"command": "ls"}'], "needs_approval", "allow_exec", "Nobody is there"),
        (["ad", "{}"], "refused", "find", "'ad'"),
        (["add", '{"a": "x", "b": 1}'], "refused", "arguments", "a"),
        (["add", '{"a": 1, "b": 1}', "--plugin", "other"], "refused", "find", "other"),
        (["\x1b[31m\nx", "{}"], "refused", "find", "x1b"),
    ],
)
def test_a_call_that_did_not_go_well_ends_with_1_and_says_why(said, arguments, status, rule, words):
    code, out, err = said("call", *arguments)
    assert (code, out) == (1, "")
    assert status.replace("_", " ") in err
    assert words in err
    assert "\x1b" not in err
    code, out, err = said("call", *arguments, "--json")
    outcome = json.loads(out)
    assert (code, err, outcome["status"], outcome["rule"]) == (1, "", status, rule)


@pytest.mark.parametrize(
    "arguments",
    [
        ["call"],
        ["call", "add", "{"],
        ["call", "add", "[1]"],
        ["call", "add", '{"a": NaN}'],
        ["call", "add", '{"a": 1e999}'],
        ["call", "add", '{"a": "\\ud800"}'],
        ["call", "add", '{"a": ' + "[" * 100_000],
        ["call", "add", "{}", "--channel", "moon"],
        ["call", "add", "{}", "--nope"],
        ["chat", "  "],
        ["config", "nope"],
        ["config", "port", "many"],
        ["config", "--unset"],
        ["config", "port", "1", "--unset"],
        ["audit", "--status", "perhaps"],
        ["tools", "extra"],
        ["nope\x1b[2J"],
    ],
)
def test_a_command_that_makes_no_sense_ends_with_2_a_sentence_and_a_document(said, arguments):
    code, out, err = said(*arguments, "--json")
    assert code == 2
    assert list(json.loads(out)) == ["error"]
    last = err.splitlines()[-1]
    assert last.startswith("etui: ")
    assert last.endswith((".", ")"))
    assert "\x1b" not in out + err


def test_teaching_without_a_tool_a_sentence_or_sense_is_told(said):
    assert said("teach", "add", "sum up {a} with {b}")[:2] == (0, "add is also meant by:\n  sum up {a} with {b}\n")
    assert said("teach", "add")[1].endswith("  sum up {a} with {b}\n")
    assert said("teach", "add", "sum up {a} with {c}")[0] == 2
    assert said("teach", "add", "sum up {a} with {b}", "--forget")[:2] == (0, "Nothing is taught for add.\n")
    assert said("teach", "add", "never taught", "--forget")[0] == 2
    assert said("teach", "add", "--forget")[0] == 2
    assert said("teach", "no/such tool", "x")[0] == 1


def test_the_tools_stand_one_a_line_and_fit(said):
    code, out, err = said("tools")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "mine"
    assert lines[1] == "  add     read     Add two numbers."
    assert "  shell   exec     Run a command." in lines
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in out
    code, out, _ = said("tools", "--json")
    assert {"tools", "plugins", "families", "problems", "folders"} == set(json.loads(out))


@pytest.mark.parametrize("columns", ["1", "20", "40", "200", "nonsense"])
def test_every_list_can_be_read_at_any_width(said, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    for command in ("tools", "config", "audit", "doctor"):
        code, out, err = said(command)
        assert (code, err) == (0, "")
        assert out.strip()


def test_a_tool_is_switched_off_and_on(said):
    assert said("tools", "--off", "no") == (0, "no is off.\n", "")
    assert "  no      off " in said("tools")[1]
    code, _, err = said("call", "no")
    assert (code, "switched off" in err.lower()) == (1, True)
    assert said("tools", "--on", "no") == (0, "no is on.\n", "")
    assert said("tools", "--on", "no", "--off", "no")[0] == 2
    assert said("tools", "--on", "nope")[0] == 1


def test_the_audit_lists_what_ran_and_what_was_refused(said):
    said("call", "add", '{"a": 20, "b": 22}')
    said("call", "no")
    lines = said("audit", "--limit", "2")[1].splitlines()
    assert "add a=20, b=22" in lines[0]
    assert "refused by tool" in lines[1]
    assert lines[2].strip() == "Not today."
    entries = json.loads(said("audit", "--tool", "add", "--status", "ok", "--limit", "1", "--json")[1])
    assert [entry["arguments"] for entry in entries] == [{"a": 20, "b": 22}]
    assert said("audit", "--tool", "nobody")[:2] == (0, "No call fits.\n")


def test_the_doctor_says_who_enforces_what_and_where_things_are(said, home):
    out = said("doctor")[1]
    assert str(home / "tools") in out
    assert "writes only where it may" in out
    assert "enforced by" in out or "only a promise" in out
    assert out.rstrip().endswith("Nothing.")
    report = json.loads(said("doctor", "--json")[1])
    assert report["kept_in"]["home"] == str(home)
    assert report["kept_in"]["secrets"] and "secrets" in out


def test_settings_are_listed_shown_set_and_unset(said, home):
    out = said("config")[1]
    assert "calls_a_turn = 8" in out
    assert said("config", "calls_a_turn", "5")[:2] == (0, "5\n")
    assert json.loads(said("config", "calls_a_turn", "--json")[1]) == {"calls_a_turn": 5}
    assert "calls_a_turn = 5" in (home / "config.toml").read_text()
    assert said("config", "calls_a_turn", "--unset")[:2] == (0, "8\n")
    assert json.loads(said("config", "--json")[1])["calls_a_turn"] == 8


def test_a_setting_that_the_environment_overrides_is_told(said, monkeypatch):
    monkeypatch.setenv("ETUI_SPEAK", "on")
    code, out, err = said("config", "speak", "off")
    assert (code, out) == (0, "true\n")
    assert "ETUI_SPEAK" in err


def test_a_chat_shows_its_step_and_the_answer(said):
    code, out, _ = said("chat", "add 2 and 40")
    assert code == 0
    assert out.splitlines()[0].startswith("  ✓ add a=2, b=40 ")
    assert out.splitlines()[-1] == "42"
    code, out, _ = said("chat", "add 2 and 40", "--json")
    talk = json.loads(out)
    assert (code, talk["answer"], talk["why"], talk["steps"][0]["tool"]) == (0, "42", "done", "add")


def test_the_lines_of_a_pipe_are_one_conversation(home):
    done = etui(home, "chat", input="add 2 and 40\n\nadd 1 and 1\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line for line in done.stdout.splitlines() if not line.startswith("  ")] == ["42", "2"]


def test_nothing_that_a_tool_says_is_obeyed(said):
    code, out, _ = said("call", "nasty")
    assert code == 0
    assert out == "a\\x0db\\x1b[2Jc\\u202edcba\\u202c\\u200b👩‍👩‍👧\n"
    assert "\x1b" not in said("tools", "--all")[1]


def test_arguments_come_from_standard_input_also_many_of_them(home):
    text = json.dumps({"text": "x" * 900_000})
    done = etui(home, "call", "size", "-", input="\ufeff" + text)
    assert (done.returncode, done.stdout) == (0, "900000\n")
    done = etui(home, "call", "size", "-", "--json", input=json.dumps({"text": "x" * 9_000_000}))
    assert done.returncode == 1
    assert list(json.loads(done.stdout)) == ["error"]


@pytest.mark.parametrize("name", sorted(group.commands))
def test_every_command_explains_itself_in_short(name, said):
    code, out, _ = said(name, "--help")
    assert code == 0
    assert group.commands[name].get_short_help_str(200).endswith(".")
    assert max(map(len, out.splitlines())) <= 100


def test_the_environment_of_the_tests_holds_no_keys(home):
    assert not any("KEY" in name for name in environ(home))


def test_the_help_begins_with_what_a_newcomer_needs(said):
    lines = said("--help")[1].partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines[:5]] == ["serve", "chat", "tools", "call", "teach"]
