"""Folders and files that the owner opens to a plugin: on whole hosts, with workers that the kernel holds to them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from tests.spine.homes import host_at

from etui.errors import UsageError
from etui.host import Host
from etui.outcome import Outcome
from etui.owner.grants import Grants
from etui.owner.opened import opened
from etui.store import Store
from etui.tool import Grant

TOOL = '''
from pathlib import Path

from etui import tool


@tool
def look(path: str) -> str:
    """Say what a file says."""
    return Path(path).read_text()


@tool
def note(path: str) -> str:
    """Write something into a file."""
    Path(path).write_text("noted")
    return "done"
'''


async def call(host: Host, name: str, path: Path) -> Outcome:
    session = host.session("python")
    return await session.call(session.new_call(name, {"path": str(path)}))


def folder(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "tools").mkdir(parents=True)
    (home / "tools" / "look.py").write_text(TOOL)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "calendar.ics").write_text("dentist")
    return mine


async def test_a_tool_reads_what_was_opened_to_it_and_nothing_once_it_is_shut(tmp_path):
    mine = folder(tmp_path)
    async with host_at(tmp_path / "home") as host:
        refused = await call(host, "look", mine / "calendar.ics")
        assert (refused.status, "`etui grant look --read PATH`" in refused.why) == ("failed", True)
        host.plugins.open("look", str(mine), write=False)
        assert (await call(host, "look", mine / "calendar.ics")).text == "dentist"
        assert (await call(host, "note", mine / "new.txt")).status == "failed"
        host.plugins.shut("look", str(mine))
        assert (await call(host, "look", mine / "calendar.ics")).status == "failed"


async def test_a_file_opened_for_writing_is_written_and_its_folder_is_not_over_a_restart_too(tmp_path):
    mine = folder(tmp_path)
    file = mine / "calendar.ics"
    async with host_at(tmp_path / "home") as host:
        host.plugins.open("look", str(file), write=False)
        host.plugins.open("look", str(file), write=True)
        assert host.plugins.grant("look")["opened"] == {"read": [], "write": [str(file)]}
    async with host_at(tmp_path / "home") as host:
        assert (await call(host, "note", file)).text == "done"
        assert (await call(host, "look", file)).text == "noted"
        assert (await call(host, "note", mine / "new.txt")).status == "failed"
        assert not any("working folder" in note for plugin in host.plugins.all() for note in plugin.notes)


async def test_nobody_is_let_into_etuis_own_folder_nor_writes_what_it_runs(tmp_path):
    mine = folder(tmp_path)
    (mine / "link").symlink_to(tmp_path / "home")
    (tmp_path / "more").mkdir()
    async with host_at(tmp_path / "home", sources=[{"path": str(tmp_path / "more")}]) as host:
        for path in (tmp_path, tmp_path / "home", tmp_path / "home" / "etui.db", mine / "link", "/", mine / ".." / "home"):
            with pytest.raises(UsageError, match="Etui's own folder"):
                host.plugins.open("look", str(path), write=False)
        for path in (tmp_path / "more", Path(pytest.__file__).parent, Path(socket.__file__)):
            with pytest.raises(UsageError, match="what Etui runs"):
                host.plugins.open("look", str(path), write=True)
        for path, words in (("calendar.ics", "no whole path"), (str(mine / "none"), "There is no"), ("a\0b", "no NUL")):
            with pytest.raises(UsageError, match=words):
                host.plugins.open("look", path, write=False)
        with pytest.raises(UsageError, match="never opened"):
            host.plugins.shut("look", str(mine))
        assert host.plugins.grant("look")["opened"] == {"read": [], "write": []}


def test_what_was_opened_holds_whatever_else_is_forbidden_and_goes_with_the_plugin(tmp_path):
    grants = Grants(Store.open(":memory:").values, {}, "/work", home=Path("/nowhere"))
    asked = Grant(write=("/work",))
    before = grants.mark("p")
    grants.open("p", str(tmp_path), write=True)
    grants.forbid("p", "write", True, asked)
    assert grants.of("p", asked).write == (str(tmp_path),)
    assert grants.mark("p") != before
    assert grants.of("q", asked).write == ("/work",)
    grants.forget("p")
    assert grants.of("p", asked) == Grant(write=("/work",))


async def test_a_link_that_is_put_where_something_was_opened_leads_nowhere(tmp_path):
    mine = folder(tmp_path)
    (mine / "open").mkdir()
    (tmp_path / "secret").mkdir()
    listed, key = mine / "open" / "list.txt", tmp_path / "secret" / "key"
    for kept in (listed, key):
        kept.write_text("milk")
    async with host_at(tmp_path / "home") as host:
        host.plugins.open("look", str(listed), write=False)
        assert (await call(host, "look", listed)).text == "milk"
    listed.unlink()
    listed.symlink_to(key)
    async with host_at(tmp_path / "home") as host:
        for path in (listed, key):
            assert (await call(host, "look", path)).status == "failed"
    listed.unlink()
    (mine / "open").rmdir()
    (mine / "open").symlink_to(tmp_path / "secret")
    key.rename(key.with_name("list.txt"))
    async with host_at(tmp_path / "home") as host:
        assert (await call(host, "look", listed)).status == "failed"


async def test_of_a_file_that_was_replaced_the_owner_is_told_to_open_its_folder(tmp_path):
    mine = folder(tmp_path)
    file = mine / "calendar.ics"
    async with host_at(tmp_path / "home") as host:
        host.plugins.open("look", str(file), write=False)
        assert (await call(host, "look", file)).text == "dentist"
        (mine / "new").write_text("barber")
        (mine / "new").replace(file)
        refused = await call(host, "look", file)
        assert (refused.status, "open the folder" in refused.why) == ("failed", True)
        host.plugins.open("look", str(mine), write=False)
        assert (await call(host, "look", file)).text == "barber"


def test_etuis_folder_is_known_under_another_name_too(tmp_path, monkeypatch):
    for name in ("home", "other"):
        (tmp_path / name / "files").mkdir(parents=True)
    stat = os.stat

    def mounted(path, *args, **more):
        return stat(tmp_path / "home" if str(path) == str(tmp_path / "other") else path, *args, **more)

    monkeypatch.setattr(os, "stat", mounted)  # as a bind mount of the one on the other shows
    with pytest.raises(UsageError, match="Etui's own folder"):
        opened(str(tmp_path / "other" / "files"), write=False, home=tmp_path / "home", code=())
