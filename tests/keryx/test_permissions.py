"""Who may write a tool file or its folder is judged before a byte is read, and what was judged is what runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.keryx.homes import MOON, keryx, save, tool

from etui.contracts import owned
from etui.contracts.owned import OwnFile, make_own, own_folder

LOOSE = "writable by other users (chmod go-w)"
ANOTHERS = "owned by another user"


def trace(path: Path) -> str:
    """A file that leaves a trace as soon as a byte of it runs."""
    return tool(head=f"open({str(path)!r}, 'w').close()")


def reasons(folder: Path) -> dict[str, str]:
    """What is wrong with each file of a folder."""
    return {file.path.name: file.refused for file in own_folder(folder).files}


def another(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    """Let these seem to be another user's, wherever they are reached from."""
    marked = {(path.stat().st_dev, path.stat().st_ino) for path in paths}
    real = os.fstat

    def fstat(handle: int) -> os.stat_result:
        info = real(handle)
        owner = os.getuid() + ((info.st_dev, info.st_ino) in marked)
        return os.stat_result((*info[:4], owner, *info[5:]))

    monkeypatch.setattr(owned.os, "fstat", fstat)


@pytest.mark.promise("X154", "X156", "X130")
@pytest.mark.parametrize(
    ("mode", "reason"), [(0o600, ""), (0o644, ""), (0o604, ""), (0o444, ""), (0o620, LOOSE), (0o602, LOOSE), (0o666, LOOSE)]
)
def test_a_file_that_anybody_else_may_write_is_refused_and_reading_does_not_matter(tmp_path, mode, reason):
    save(tmp_path / "tools", {"moon.py": MOON})
    (tmp_path / "tools" / "moon.py").chmod(mode)
    (tmp_path / "tools").chmod(0o755)
    (file,) = own_folder(tmp_path / "tools").files
    assert file.refused == (f"PermissionError: {reason}" if reason else "")
    assert file.code == (b"" if reason else MOON.encode())


@pytest.mark.promise("X031", "X130", "X157", "X302")
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_folder_that_anybody_else_may_write_is_refused_with_all_that_it_holds(tmp_path, mode):
    folder = tmp_path / "tools"
    save(folder, {"moon.py": MOON, "other.py": MOON})
    folder.chmod(mode)
    found = own_folder(folder)
    assert (found.refused, found.files) == (LOOSE, ())


@pytest.mark.promise("X153", "X155", "X303")
def test_what_another_user_owns_is_refused_and_that_is_said_first(tmp_path, monkeypatch):
    folder = tmp_path / "tools"
    save(folder, {"moon.py": MOON, "theirs.py": MOON})
    (folder / "theirs.py").chmod(0o666)
    with monkeypatch.context() as patched:
        another(patched, folder / "theirs.py")
        assert reasons(folder) == {"moon.py": "", "theirs.py": f"PermissionError: {ANOTHERS}"}
    monkeypatch.setattr(owned.os, "getuid", lambda: os.stat(folder).st_uid + 1)
    found = own_folder(folder)
    assert (found.refused, found.files) == (ANOTHERS, ())


@pytest.mark.promise("X125", "X124")
def test_a_link_is_judged_by_what_it_leads_to(tmp_path, monkeypatch):
    folder = tmp_path / "tools"
    save(folder, {})
    save(tmp_path / "else", {"own.py": MOON, "loose.py": MOON, "theirs.py": MOON})
    (tmp_path / "else" / "loose.py").chmod(0o666)
    for name in ("own.py", "loose.py", "theirs.py"):
        (folder / name).symlink_to(tmp_path / "else" / name)
    another(monkeypatch, tmp_path / "else" / "theirs.py")
    assert reasons(folder) == {
        "loose.py": f"PermissionError: {LOOSE}",
        "own.py": "",
        "theirs.py": f"PermissionError: {ANOTHERS}",
    }
    assert {file.path.name: file.code for file in own_folder(folder).files}["own.py"] == MOON.encode()


@pytest.mark.promise("X127")
def test_a_linked_folder_is_judged_by_what_it_leads_to(tmp_path):
    save(tmp_path / "real", {"moon.py": MOON})
    (tmp_path / "tools").symlink_to(tmp_path / "real")
    assert reasons(tmp_path / "tools") == {"moon.py": ""}
    (tmp_path / "real").chmod(0o777)
    assert own_folder(tmp_path / "tools").refused == LOOSE


@pytest.mark.promise("X158", "X128")
def test_neither_the_parents_nor_files_of_other_kinds_are_judged(tmp_path):
    parent = tmp_path / "open"
    parent.mkdir()
    save(parent / "tools", {"moon.py": MOON, "x.toml": "", "x.key": "", "x.toml.off": ""})
    for name in ("x.toml", "x.key", "x.toml.off"):
        (parent / "tools" / name).chmod(0o666)
    parent.chmod(0o777)
    assert reasons(parent / "tools") == {"moon.py": ""}


@pytest.mark.promise("X159")
def test_where_the_system_has_no_users_only_the_modes_are_judged(tmp_path, monkeypatch):
    folder = tmp_path / "tools"
    save(folder, {"loose.py": MOON, "moon.py": MOON})
    (folder / "loose.py").chmod(0o666)
    monkeypatch.delattr(owned.os, "getuid")
    assert reasons(folder) == {"loose.py": f"PermissionError: {LOOSE}", "moon.py": ""}


@pytest.mark.promise("X123", "X126")
def test_what_is_no_file_is_refused_and_opened_by_nobody(tmp_path):
    folder = tmp_path / "tools"
    save(folder, {"moon.py": MOON, "unreadable.py": MOON})
    (folder / "x.py").mkdir()
    (folder / "gone.py").symlink_to(folder / "nothing")
    os.mkfifo(folder / "pipe.py", 0o600)
    found = reasons(folder)
    assert found["x.py"] == f"IsADirectoryError: [Errno 21] Is a directory: {str(folder / 'x.py')!r}"
    assert found["gone.py"] == f"FileNotFoundError: [Errno 2] No such file or directory: {str(folder / 'gone.py')!r}"
    assert found["pipe.py"].startswith("OSError: ")
    assert found["moon.py"] == ""


def test_a_huge_file_is_refused(tmp_path):
    save(tmp_path / "tools", {"huge.py": b"#" * (2 << 20) + b"#"})
    assert reasons(tmp_path / "tools")["huge.py"].startswith("OSError: it has more than 2 MB")


@pytest.mark.promise("X030", "X160")
def test_a_file_that_is_swapped_between_the_judgement_and_the_reading_gains_nothing(tmp_path, monkeypatch):
    folder = tmp_path / "tools"
    save(folder, {"moon.py": MOON})
    save(tmp_path / "evil", {"moon.py": "evil"})
    (tmp_path / "evil" / "moon.py").chmod(0o666)
    real = owned.fault

    def fault(info: os.stat_result) -> str:
        reason = real(info)
        if info.st_size == len(MOON):
            (folder / "moon.py").unlink()
            (folder / "moon.py").symlink_to(tmp_path / "evil" / "moon.py")
        return reason

    monkeypatch.setattr(owned, "fault", fault)
    assert own_folder(folder).files == (OwnFile(path=folder / "moon.py", code=MOON.encode()),)
    assert reasons(folder) == {"moon.py": f"PermissionError: {LOOSE}"}


@pytest.mark.promise("X160")
def test_a_folder_that_is_swapped_after_it_was_judged_gains_nothing(tmp_path, monkeypatch):
    folder = tmp_path / "tools"
    save(folder, {"moon.py": MOON})
    save(tmp_path / "evil", {"moon.py": "evil"})
    real = owned.fault

    def fault(info: os.stat_result) -> str:
        if folder.exists() and not folder.is_symlink():
            folder.rename(tmp_path / "aside")
            folder.symlink_to(tmp_path / "evil")
        return real(info)

    monkeypatch.setattr(owned, "fault", fault)
    assert [file.code for file in own_folder(folder).files] == [MOON.encode()]


SWAPS = """
import os, sys
folder, *files = sys.argv[1:]
for number in range(500):
    for file in files:
        os.link(file, f"{folder}/next")
        os.replace(f"{folder}/next", f"{folder}/moon.py")
"""
"""Another process that swaps a file a thousand times for one that others may write, and back."""


@pytest.mark.promise("X030")
def test_of_a_thousand_swaps_with_a_file_that_others_may_write_none_is_read(tmp_path):
    folder = tmp_path / "tools"
    save(folder, {"moon.py": MOON})
    save(tmp_path / "two", {"evil.py": "evil", "good.py": MOON})
    (tmp_path / "two" / "evil.py").chmod(0o666)
    two = [str(tmp_path / "two" / name) for name in ("evil.py", "good.py")]
    read, refused = set(), set()
    with subprocess.Popen([sys.executable, "-S", "-c", SWAPS, str(folder), *two]) as swapping:
        while swapping.poll() is None:
            for file in own_folder(folder).files:
                read.add(file.code)
                refused.add(file.refused)
    assert swapping.returncode == 0
    assert read <= {b"", MOON.encode()}
    assert f"PermissionError: {LOOSE}" in refused, "it was seen"


@pytest.mark.promise("X288")
@pytest.mark.parametrize("mode", [None, 0o755, 0o777])
def test_a_folder_is_made_and_kept_for_its_owner_alone(tmp_path, monkeypatch, mode):
    folder = tmp_path / "data" / "tools"
    if mode is not None:
        folder.mkdir(parents=True)
        folder.chmod(mode)
    make_own(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    monkeypatch.setattr(owned.os, "getuid", lambda: os.stat(folder).st_uid + 1)
    make_own(folder)
    assert folder.stat().st_mode & 0o777 == 0o777, "it is not ours to mend"


@pytest.mark.promise("X288")
@pytest.mark.parametrize("mode", [None, 0o755])
async def test_a_hosts_start_makes_the_folder_that_its_settings_name_its_owners_alone(tmp_path, mode):
    folder = tmp_path / "named" / "tools"
    if mode is not None:
        save(folder, {"moon.py": MOON})
        folder.chmod(mode)
    async with keryx(tmp_path, {}, sources=[{"path": str(folder), "contract": "keryx"}]) as room:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert list((await room.open()).own) == (["moon_phase"] if mode else [])


@pytest.mark.promise("X118")
def test_a_path_that_is_no_folder_is_left_as_it_is_and_holds_nothing(tmp_path):
    (tmp_path / "tools").write_text("not a folder")
    make_own(tmp_path / "tools")
    for path in (tmp_path / "tools", tmp_path / "missing"):
        found = own_folder(path)
        assert (found.refused, found.files) == ("", ())
    assert (tmp_path / "tools").read_text() == "not a folder"


@pytest.mark.promise("X030", "X031", "X161", "X288", "X301")
async def test_what_others_may_write_runs_in_no_session_and_runs_again_once_it_is_mended(tmp_path):
    mark = tmp_path / "home" / "files" / "trace"
    async with keryx(tmp_path, {"moon.py": MOON, "open.py": trace(mark)}) as room:
        assert room.folder.stat().st_mode & 0o777 == 0o700
        (room.folder / "open.py").chmod(0o666)
        assert list((await room.open()).own) == ["moon_phase"]
        assert room.problems() == [("open.py", f"PermissionError: {LOOSE}", True)]
        room.folder.chmod(0o777)
        session = await room.open()
        assert (dict(session.own), room.problems()) == ({}, [("tools", LOOSE, True)])
        assert not mark.exists()
        (room.folder / "open.py").chmod(0o600)
        room.folder.chmod(0o700)
        assert list((await room.open()).own) == ["moon_phase", "x"]
        assert room.problems() == []
        assert mark.exists(), "the trace is one"
