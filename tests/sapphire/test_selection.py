"""The words of a selection and the file of saved toolsets by themselves, with whatever a file or a choice may hold."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.errors import UsageError
from etui.home import write_private
from etui.selection.saved import Saved
from etui.selection.words import Words
from etui.tool import Plugin, Tool

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


def made(name: str, **more: object) -> Tool:
    fields = {
        "description": "",
        "parameters": {},
        "contract": "sapphire",
        "plugin": "p",
        "toolset": "plugin:p",
        "file": "/p/tools/t.py",
    }
    return Tool(name=name, **{**fields, **more})


TOOLS = {
    tool.name: tool
    for tool in (
        made("a", category="web"),
        made("b", category="files"),
        made("h", category="web", hidden=True),
        made("loose", plugin="web", file="/functions/web.py", category="system", toolset="plugin:web"),
    )
}
PLUGINS = {
    "p": Plugin(name="p", contract="sapphire", source="s", path="/p"),
    "web": Plugin(name="web", contract="sapphire", source="s", path="/functions/web.py"),
}


def words(**saved: tuple[str, ...]) -> Words:
    return Words(TOOLS, PLUGINS, saved)


@given(VALUES)
def test_any_selection_means_some_tools_and_names_only_what_there_is(selection):
    names, unknown = words(set=("a", "gone", "h")).meant(selection)
    assert names <= TOOLS.keys()
    assert all(isinstance(word, str) for word in unknown)


@pytest.mark.promise("S447")
def test_a_word_that_is_a_module_and_a_category_means_both():
    assert words().meant("web") == ({"a", "loose"}, ())
    assert words().meant("plugin_p_t") == ({"a", "b"}, ())


def test_a_module_is_called_as_its_plugin_calls_itself():
    """The house may have to call a plugin otherwise, where another one has its name."""
    plugins = {"p": Plugin(name="sapphire.p", contract="sapphire", source="s", path="/p", manifest={"name": "p"})}
    assert Words(TOOLS, plugins, {}).meant("plugin_p_t") == ({"a", "b"}, ())


def test_a_saved_toolset_stands_before_a_category_of_the_same_name():
    assert words(web=("b", "h")).meant(" web ,") == ({"b", "h"}, ())


def test_a_tools_own_name_is_a_word_too_and_a_hidden_one_stays_hidden():
    assert words().meant("a, nope, h") == ({"a"}, ("nope",))


@given(st.binary(max_size=300) | VALUES.map(msgspec.json.encode))
def test_whatever_the_file_holds_nothing_breaks(content):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "toolsets.json"
        file.write_bytes(content)
        saved = Saved(lambda: [file], write_private)
        assert all(isinstance(name, str) for one in saved.all().values() for name in one.functions)
        assert saved.sets().keys() == saved.all().keys()


def test_what_is_no_file_is_not_waited_for(tmp_path):
    pipe, folder, large = tmp_path / "pipe", tmp_path / "folder", tmp_path / "large"
    os.mkfifo(pipe)
    folder.mkdir()
    large.write_bytes(b" " * 1_000_001)
    elsewhere, linked = tmp_path / "elsewhere.json", tmp_path / "linked.json"
    elsewhere.write_text('{"mine": {"functions": ["a"]}}')
    linked.symlink_to(elsewhere)
    whys = {pipe: "no regular file", folder: "no regular file", large: "more than", linked: "symbolic links"}
    opened = len(os.listdir("/proc/self/fd"))
    for file, why in whys.items():
        saved = Saved(lambda file=file: [file], write_private)
        assert saved.all() == {}
        assert why in saved.trouble()
        with pytest.raises(UsageError):
            saved.save("mine", ["a"])
    assert len(os.listdir("/proc/self/fd")) == opened
    elsewhere = tmp_path / "away"
    elsewhere.symlink_to(folder)
    with pytest.raises(UsageError, match="cannot be read"):
        Saved(lambda: [elsewhere / "toolsets.json"], write_private).save("mine", ["a"])
    assert list(folder.iterdir()) == []


def test_the_homes_own_toolset_stands_before_a_checkouts_and_only_it_is_written(tmp_path):
    own, other = tmp_path / "own" / "toolsets.json", tmp_path / "other.json"
    other.write_text('{"work": {"functions": ["theirs"]}, "play": ["b"]}')
    saved = Saved(lambda: [own, other], write_private)
    assert saved.sets() == {"work": ("theirs",), "play": ("b",)}
    saved.save("work", ["mine"])
    assert saved.sets() == {"work": ("mine",), "play": ("b",)}
    assert not saved.remove("play")
    assert other.read_text().startswith('{"work": {"functions": ["theirs"]}')
