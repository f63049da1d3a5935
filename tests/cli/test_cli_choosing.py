"""`etui toolsets` and `etui accounts`: what the console shows and decides, at the terminal."""

from __future__ import annotations

import io
import json

import pytest
from tests.cli.processes import serving
from tests.sapphire.homes import manifest, save, tool

from etui.store import Store


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A home with two plugins, and a chat in it."""
    home = tmp_path_factory.mktemp("etui")
    files = {
        "plugins/email/plugin.json": manifest("email", "tools/e.py", scopes=[{"key": "email"}]),
        "plugins/email/tools/e.py": tool("read_mail"),
        "plugins/net/tools/n.py": "TOOL_CATEGORY = 'web'\n" + tool("fetch"),
    }
    save(home / "sapphire", files)
    store = Store.open(home / "etui.db")
    store.chats.create("Letters", "console")
    store.close()
    with serving(home):
        yield home


def test_toolsets_are_saved_listed_and_removed(place, here):
    assert here(place, "toolsets", "save", "Desk", "fetch", "read_mail", "--emoji", "*") == (0, "Desk has 2 tools.\n", "")
    code, out, err = here(place, "toolsets", "save", "One", "fetch,nothing")
    assert (code, out, err.strip()) == (0, "One has 2 tools.\n", "No tool is called 'nothing' now.")
    assert here(place, "toolsets", "remove", "One")[0] == 0
    found = json.loads(here(place, "toolsets", "--json")[1])
    assert found["toolsets"] == [{"name": "Desk", "emoji": "*", "functions": ["fetch", "read_mail"]}]
    out = here(place, "toolsets")[1]
    assert "* Desk" in out and "web" in out
    assert here(place, "toolsets", "remove", "Desk")[:2] == (0, "Desk is gone.\n")
    code, _, err = here(place, "toolsets", "remove", "Desk")
    assert (code, "no saved toolset" in err) == (1, True)


def test_a_chats_tools_and_accounts_are_chosen_and_shown(place, here):
    code, out, _ = here(place, "toolsets", "chat", "Letters", "--toolset", "web", "--extra", "email", "--scope", "email=work")
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["toolset", "web"],
        ["extra", "email"],
        ["email", "work"],
        ["tools", "fetch,", "read_mail"],
    ]
    found = json.loads(here(place, "toolsets", "chat", "Letters", "--scope", "email=none", "--json")[1])
    assert (found["tools"], found["scopes"][0]["stands_for"]) == (["fetch"], None)
    assert "Nothing is called 'nope'." in here(place, "toolsets", "chat", "Letters", "--toolset", "nope")[1]
    back = json.loads(
        here(place, "toolsets", "chat", "Letters", "--toolset", "", "--extra", "", "--scope", "email=", "--json")[1]
    )
    assert (back["toolset"], back["extra_toolsets"], back["tools"]) == ("all", [], ["fetch", "read_mail"])
    assert here(place, "toolsets", "chat", "Nobody")[0] == 1
    assert here(place, "toolsets", "chat", "Letters", "--scope", "email")[0] == 2


def test_an_account_is_kept_given_taken_back_and_forgotten(place, here, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("swordfish-4711\n"))
    code, out, _ = here(place, "accounts", "keep", "mail", "work", "--set", "address=a@b.c", "--secret", "app_password")
    assert (code, out) == (0, "Mail work is kept.\n")
    assert here(place, "accounts", "give", "email", "mail", "work") == (0, "email may have mail:work.\n", "")
    out = here(place, "accounts")[1]
    assert "address a@b.c" in out and "for email" in out
    assert "swordfish" not in out + here(place, "accounts", "--json")[1]
    assert here(place, "accounts", "take", "email", "mail", "work")[0] == 0
    assert "for no plugin" in here(place, "accounts")[1]
    assert here(place, "accounts", "give", "nobody", "mail")[0] == 1
    assert here(place, "accounts", "forget", "mail", "work")[:2] == (0, "Mail work is forgotten.\n")
    assert here(place, "accounts", "forget", "mail", "work")[0] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("keep", "mail", "work", "--set", "app_password=x"),
        ("keep", "mail", "work", "--set", "color=red"),
        ("keep", "mail", "work", "--secret", "address"),
        ("keep", "nothing", "work"),
        ("keep", "mail", "work"),
    ],
)
def test_what_is_no_account_is_a_usage_error_and_no_secret_is_an_argument(place, here, arguments):
    assert here(place, "accounts", *arguments)[0] == 2
