"""`kotoba.core.path_security`: a path of a model's, held inside a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kotoba.homes import kotoba, ping

from etui.agent.scripted import call
from etui.contracts.kotoba.jail import PathSecurityError, validate_within_dir

READS = ping(
    """
    try:
        target = validate_within_dir(args["path"], ctx.workdir)
    except PathSecurityError:
        return "That path is outside my workspace."
    return str(target)
    """,
    name="reads",
    top="from kotoba.core.path_security import PathSecurityError, validate_within_dir",
)
"""The owners' own snippet."""


@pytest.fixture
def jail(tmp_path: Path) -> Path:
    root = tmp_path / "jail"
    (root / "a").mkdir(parents=True)
    (root / "notes.txt").write_text("x")
    (tmp_path / "jail-evil").mkdir()
    (root / "out").symlink_to("/etc/passwd")
    (root / "in").symlink_to(root / "a")
    (root / "loop").symlink_to(root / "pool")
    (root / "pool").symlink_to(root / "loop")
    (root / "gone").symlink_to("/nowhere/at/all")
    return root


@pytest.mark.promise("K101", "K102", "K103", "K104", "K105")
async def test_the_pages_snippet_answers_with_its_own_sentence(tmp_path):
    async with kotoba(tmp_path, {"p/reads.py": READS}) as room:
        work = room.host.home / "files"
        (work / "link").symlink_to("/etc/passwd")
        (work / "a").mkdir()
        (work / "notes.txt").write_text("x")
        paths = ["a/../notes.txt", "../x", "link"]
        await room.turn("go", [call("reads", {"path": path}, n) for n, path in enumerate(paths)], "Done.")
        assert [message.text for message in room.results()] == [
            str((work / "notes.txt").resolve()),
            *["That path is outside my workspace."] * 2,
        ]
        assert {message.meta["status"] for message in room.results()} == {"ok"}


@pytest.mark.promise("K344", "K345")
@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("", "."),
        (".", "."),
        ("a/../b", "b"),
        ("f/", "f"),
        ("new/x", "new/x"),
        ("a/../notes.txt", "notes.txt"),
        ("in/x", "a/x"),
        ("{root}", "."),
        ("{root}/a/x", "a/x"),
        ("notes.txt/below", "notes.txt/below"),
        ("a\\b", "a\\b"),
        ("%2e%2e", "%2e%2e"),
        ("%2e%2e/x", "%2e%2e/x"),
    ],
)
def test_what_stays_inside_is_handed_back(jail, path, inside):
    assert validate_within_dir(path.replace("{root}", str(jail)), jail) == (jail / inside).resolve()
    assert validate_within_dir(Path(path.replace("{root}", str(jail))), str(jail)) == (jail / inside).resolve()


@pytest.mark.promise("K103", "K104", "K346", "K348")
@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "/etc/passwd",
        "//etc",
        "{root}-evil/x",
        "~",
        "a/../../x",
        "..",
        "out",
        "gone",
        "in/../../x",
        "loop",
        "loop/x",
        "~nosuchuser/x",
        "a\0b",
        None,
        3,
        b"x",
        ["x"],
        "x" * 300,
    ],
)
def test_what_leads_out_or_is_no_path_is_one_kind_of_error(jail, path):
    if isinstance(path, str):
        path = path.replace("{root}", str(jail))
    with pytest.raises(PathSecurityError) as raised:
        validate_within_dir(path, jail)
    assert str(raised.value)


@pytest.mark.promise("K347")
def test_the_error_is_an_ordinary_exception():
    assert issubclass(PathSecurityError, Exception)
    assert not issubclass(PathSecurityError, ValueError | OSError)


def test_a_relative_folder_is_meant_from_here_and_none_is_no_folder(jail, monkeypatch):
    monkeypatch.chdir(jail.parent)
    assert validate_within_dir("a", "jail") == (jail / "a").resolve()
    for root in (None, b"jail"):
        with pytest.raises(PathSecurityError):
            validate_within_dir("a", root)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(
    parts=st.lists(st.sampled_from(["..", ".", "a", "in", "out", "loop", "gone", "~", "", "/", "x", "notes.txt"]), max_size=6)
)
def test_no_mixture_of_steps_leads_out(jail, parts):
    try:
        found = validate_within_dir("/".join(parts), jail)
    except PathSecurityError:
        return
    assert found == jail.resolve() or jail.resolve() in found.parents
    assert os.path.realpath(found) == str(found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(text=st.text(alphabet=st.characters(), max_size=30))
def test_any_text_is_a_path_inside_or_that_error(jail, text):
    try:
        assert validate_within_dir(text, jail).is_relative_to(jail.resolve())
    except PathSecurityError:
        return
