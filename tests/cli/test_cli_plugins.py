"""`etui plugins`: listed, turned on and off, with settings on the command line and secrets never there."""

from __future__ import annotations

import io
import json
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.processes import ETUI, Terminal, environ

FOLDER = ("keryx", "tools")
KEYS = ["name", "on", "installed", "tool_file", "config_file", "refused", "settings"]
NOBODY = ("--set", "searxng=http://127.0.0.1:1")


@pytest.fixture
def folder(home: Path) -> Iterator[Path]:
    """The folder of the home's own plugins, empty before and after."""
    path = home.joinpath(*FOLDER)
    yield path
    for one in path.iterdir():
        one.unlink()
    (home / "secrets.sealed").unlink(missing_ok=True)


@pytest.mark.promise("X269", "X272", "X337")
def test_a_plugin_is_turned_on_with_several_settings_and_removed_with_nobody_there(said, folder):
    code, out, _ = said("plugins", "install", "search_web", *NOBODY, "--set", "results=40")
    assert (code, out) == (0, "search_web is on, from the next call\n")
    values = tomllib.loads((folder / "search_web.toml").read_text())
    assert (values["searxng"], values["results"]) == ("http://127.0.0.1:1", 40)
    code, out, _ = said("plugins", "remove", "search_web", "--yes")
    assert code == 0 and out.startswith("search_web is off, from the next call")
    assert [path.name for path in folder.iterdir()] == ["search_web.toml.off"]


@pytest.mark.promise("X269")
def test_what_lacks_something_is_installed_but_refused(said, folder):
    code, out, _ = said("plugins", "install", "search_web")
    assert code == 1
    assert out.startswith("search_web is installed but refused: search_web knows nobody to ask yet: `etui plugins install")


@pytest.mark.promise("X272")
def test_a_template_is_written_to_be_finished_by_hand_and_settings_turn_plugins_on(said, folder):
    code, out, _ = said("plugins", "install", "search_web", *NOBODY, "--template")
    assert code == 0 and out == f"Fill in {folder / 'search_web.toml'}, then `etui plugins install search_web`.\n"
    assert sorted(path.name for path in folder.iterdir()) == ["_search_web.py", "search_web.toml"]
    assert said("plugins", "install", "--from-settings")[:2] == (0, "search_web is on, from the next call\n")
    assert said("plugins", "install", "--from-settings")[:2] == (0, "Nothing waits to be turned on.\n")
    said("plugins", "remove", "search_web", "--yes")
    assert said("plugins", "install", "search_web", "--from-settings")[:2] == (0, "search_web is on, from the next call\n")
    code, _, err = said("plugins", "install", "home_assistant", "--from-settings")
    assert code == 1 and "home_assistant has no settings in" in err


@pytest.mark.promise("X272")
def test_the_help_names_every_option(said):
    told = said("plugins", "install", "--help")[1]
    assert all(option in told for option in ("--set", "--secret", "--template", "--from-settings"))
    assert "--yes" in said("plugins", "remove", "--help")[1]


@pytest.mark.promise("X267", "X336")
def test_the_list_shows_off_on_and_refused_with_its_reason(said, folder):
    assert said("plugins")[1].splitlines() == [
        "home_assistant  off     Lights, scenes and states of your home, through its Home Assistant",
        "search_web      off     Questions answered from the web, through a SearXNG of yours or Brave's search",
    ]
    said("plugins", "install", "search_web", *NOBODY)
    said("plugins", "install", "home_assistant")
    lines = said("plugins", "list")[1].splitlines()
    assert lines[0].startswith("home_assistant  refused Lights")
    assert lines[1].strip().startswith("refused: home_assistant has no token yet")
    shown = "".join(line.strip() for line in lines)
    assert f"settings:{folder / 'home_assistant.toml'}" in shown.replace("settings: ", "settings:")
    assert any(line.startswith("search_web      on      Questions") for line in lines)


@pytest.mark.promise("X268")
def test_the_list_as_json_has_these_keys(said, folder):
    said("plugins", "install", "search_web", *NOBODY)
    found = json.loads(said("plugins", "list", "--json")[1])
    assert [list(one) for one in found] == [KEYS, KEYS]
    assert found == json.loads(said("plugins", "--json")[1])
    assert found[1] == {
        "name": "search_web",
        "on": True,
        "installed": True,
        "tool_file": str(folder / "search_web.py"),
        "config_file": str(folder / "search_web.toml"),
        "refused": None,
        "settings": {
            "provider": "auto",
            "searxng": "http://127.0.0.1:1",
            "results": 5,
            "language": "",
            "timeout_s": 10.0,
            "brave": "https://api.search.brave.com",
        },
    }


def test_one_is_shown_with_what_can_be_set_and_which_secrets_it_has(said, folder):
    code, out, _ = said("plugins", "show", "home_assistant")
    assert code == 0 and "Home Assistant (home_assistant) is off." in out
    assert "address = http://homeassistant.local:8123" in out
    assert "HOME_ASSISTANT_TOKEN is not set; `etui plugins install home_assistant --secret HOME_ASSISTANT_TOKEN`" in out
    assert json.loads(said("plugins", "show", "home_assistant", "--json")[1])["secrets"] == {"HOME_ASSISTANT_TOKEN": False}


@pytest.mark.promise("X263", "X264", "X265", "X266")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("search_web", "--set", "language=a b"), "search_web: language must be a bare word (letters, digits, . _ -)"),
        (("search_web", "--set", "provider=altavista"), "search_web: provider must be one of auto, searxng, brave"),
        (("search_web", "--set", "timeout_s=0"), "search_web: timeout_s must be more than 0"),
        (("home_assistant", "--set", "certificate=a\nb"), "home_assistant: certificate must be one line"),
        (("home_assistant", "--set", "colour=red"), "home_assistant has no setting 'colour'"),
        (("x",), "there is no plugin called 'x'"),
        (("home_assistant", "--secret", "OTHER"), "home_assistant wants no secret called 'OTHER'"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(said, folder, arguments, sentence):
    code, out, err = said("plugins", "install", *arguments)
    assert (code, out) == (1, "") and sentence in err
    assert list(folder.iterdir()) == []


@pytest.mark.promise("X338")
@pytest.mark.parametrize("key", ["HOME_ASSISTANT_TOKEN", "home_assistant_token", "BRAVE_SEARCH_KEY", "token", "api.password"])
def test_a_secret_on_the_command_line_is_refused_and_in_no_output(said, folder, key):
    code, out, err = said("plugins", "install", "home_assistant", "--set", f"{key}=xoxb-1")
    assert code == 1 and "secret" in err and "xoxb-1" not in out + err
    assert list(folder.iterdir()) == []


@pytest.mark.promise("X271")
def test_a_secret_is_read_from_the_input(said, folder, home, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("t-o-k-e-n\n"))
    code, out, _ = said("plugins", "install", "home_assistant", "--secret", "HOME_ASSISTANT_TOKEN")
    assert (code, out) == (0, "home_assistant is on, from the next call\n")
    assert "HOME_ASSISTANT_TOKEN is set" in said("plugins", "show", "home_assistant")[1]
    assert [path for path in folder.iterdir() if "t-o-k-e-n" in path.read_text()] == []
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code, _, err = said("plugins", "install", "home_assistant", "--secret", "HOME_ASSISTANT_TOKEN")
    assert code == 2 and "No HOME_ASSISTANT_TOKEN came" in err
    assert (home / "secrets.sealed").exists()
    assert said("plugins", "remove", "home_assistant", "--yes", "--forget")[0] == 0
    assert not (home / "secrets.sealed").exists()


def test_at_a_terminal_a_secret_is_typed_unseen_and_removing_asks(home, folder):
    with Terminal(home, "plugins", "install", "home_assistant", "--secret", "HOME_ASSISTANT_TOKEN") as typed:
        typed.until("HOME_ASSISTANT_TOKEN: ")
        typed.type("t-o-k-e-n\n")
        assert typed.end() == 0
        assert "t-o-k-e-n" not in typed.screen and "is on, from the next call" in typed.screen
    with Terminal(home, "plugins", "remove", "home_assistant") as asked:
        asked.until("Turn home_assistant off?")
        asked.type("n\n")
        assert asked.end() == 130
    assert (folder / "home_assistant.py").exists()


def test_removing_with_nobody_to_ask_wants_a_yes(said, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code, _, err = said("plugins", "remove", "home_assistant")
    assert code == 2 and "`etui plugins remove home_assistant --yes` does it" in err
    code, _, err = said("plugins", "remove", "home_assistant", "--yes")
    assert code == 1 and "home_assistant is not installed" in err


@pytest.mark.promise("X339")
@pytest.mark.parametrize("act", [("install", "search_web"), ("remove", "search_web", "--yes")])
def test_only_the_owner_turns_a_plugin_on_or_off(home, folder, act):
    env = environ(home, KERYX_ACTOR="service")
    ended = subprocess.run([*ETUI, "plugins", *act], env=env, capture_output=True, text=True)
    assert ended.returncode == 1 and f"only the owner may {act[0]} a plugin, at their own terminal" in ended.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("install",),
        ("install", "search_web", "--set", "results"),
        ("install", "search_web", "--from-settings", "--template"),
        ("--json", "install", "search_web"),
        ("list", "search_web"),
    ],
)
def test_a_command_that_makes_no_sense_is_told(said, folder, arguments):
    code, _, err = said("plugins", *arguments)
    assert code == 2 and err
    assert list(folder.iterdir()) == []


LOOK = '''
from etui import tool


@tool
def look() -> str:
    """Look."""
    return "seen"
'''


def test_the_terminal_opens_and_shuts_a_path_as_it_is_meant_there(tmp_path, here, monkeypatch):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "calendar.ics").write_text("dentist")
    (tmp_path / "home" / "tools").mkdir(parents=True)
    (tmp_path / "home" / "tools" / "look.py").write_text(LOOK)
    monkeypatch.chdir(mine)
    code, out, _ = here(tmp_path / "home", "grant", "look", "--read", "./calendar.ics", "--write", "../mine")
    assert code == 0
    assert f"You let it read {mine / 'calendar.ics'}." in " ".join(out.split())
    assert f"You let it read and write {mine}." in " ".join(out.split())
    code, out, _ = here(tmp_path / "home", "grant", "look", "--take", "calendar.ics", "--take", str(mine))
    assert (code, "You let it" in out) == (0, False)
    assert here(tmp_path / "home", "grant", "look", "--read", "none/such")[0] == 2
