"""One table of settings: the file, the environment, the fall-backs, the documentation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.errors import SettingError
from etui.home import Home
from etui.settings import STRICTEST, TABLE, Settings, check, from_text, read


def test_the_defaults_are_what_an_empty_file_gives():
    assert read("", {}) == (Settings(), [])


def test_the_environment_stands_above_the_file_and_a_program_above_both():
    assert read("port = 1", {})[0].port == 1
    assert read("port = 1", {"ETUI_PORT": "2"})[0].port == 2
    assert read("port = 1", {"ETUI_PORT": "2"}, {"port": 3})[0].port == 3


def test_one_bad_row_costs_that_row():
    settings, errors = read('port = "many"\nshelf = false\n', {})
    assert (settings.port, settings.shelf) == (Settings().port, False)
    assert [str(error).split("'")[1] for error in errors] == ["port"]


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("port", "abc", "It must be a whole number."),
        ("port", 70_000, "It must be at most 65535."),
        ("ask_seconds", 0, "It must be more than 0."),
        ("speak", 3, "It must be on or off."),
        ("sources", 3, "It must be a list."),
        ("allow_exec", "no", "It is one of auto, allow, ask, refuse."),
    ],
)
def test_a_value_that_does_not_fit_is_answered_with_what_would(name, value, wanted):
    with pytest.raises(SettingError) as refused:
        check(name, value)
    assert str(refused.value) == f"The setting {name!r} cannot be {value!r}. {wanted}"


def test_an_unknown_row_is_named_with_its_nearest():
    _, errors = read("prot = 1\npor = 2\n", {})
    assert "'prot'" in str(errors[0])
    assert "'port'" in str(errors[1])


def test_a_rule_that_cannot_be_read_is_the_strictest():
    settings, errors = read('allow_exec = "sure"\n', {})
    assert settings.allow_exec == "refuse"
    assert "allow, ask, refuse" in str(errors[0])


def test_a_file_that_is_no_toml_leaves_the_strictest_rules():
    settings, errors = read("allow_exec = = 1", {})
    assert len(errors) == 1
    assert all(getattr(settings, name) == value for name, value in STRICTEST.items())


def test_every_row_has_a_sentence_and_an_environment_variable():
    for row in TABLE:
        assert row.help.endswith("."), row.name
        assert row.env == f"ETUI_{row.name.upper()}"


@pytest.mark.parametrize(("text", "value"), [("on", True), ("OFF", False), ("yes", True), ("0", False)])
def test_a_switch_is_written_in_plain_words(text, value):
    assert from_text("shelf", text) is value


def test_a_list_is_written_with_commas():
    assert from_text("hosts", "etui.home, kitchen.home") == ("etui.home", "kitchen.home")


@given(st.text(), st.sampled_from([row.name for row in TABLE]))
def test_any_text_is_a_value_or_a_sentence(text, name):
    try:
        value = from_text(name, text)
    except SettingError as error:
        assert str(error)
    else:
        assert check(name, value) == value


@given(st.text())
def test_any_file_gives_settings(text):
    settings, _ = read(text, {})
    assert isinstance(settings, Settings)


def test_writing_one_setting_keeps_the_rest_of_the_file(tmp_path):
    home = Home(tmp_path)
    home.config.write_text("# mine\nport = 9 # nine\n\n[plugin.weather]\nunits = 'metric'\n")
    home.write("shelf", False)
    home.write("port", 10)
    text = home.config.read_text()
    assert "# mine" in text
    assert "# nine" in text
    settings, errors = home.read({})
    assert errors == []
    assert (settings.port, settings.shelf, settings.plugin) == (10, False, {"weather": {"units": "metric"}})


def test_a_setting_that_is_unset_has_its_default_again(tmp_path):
    home = Home(tmp_path)
    home.write("port", 9)
    home.write("port", None)
    assert home.read({})[0].port == Settings().port


def test_a_broken_file_is_never_written_over(tmp_path):
    home = Home(tmp_path)
    home.config.write_text("port = = 9")
    with pytest.raises(SettingError):
        home.write("port", 1)
    assert home.config.read_text() == "port = = 9"


def test_the_file_is_for_the_owner_alone(tmp_path):
    home = Home(tmp_path)
    home.write("port", 9)
    assert home.config.stat().st_mode & 0o077 == 0
