"""Files in the working folder."""

from __future__ import annotations

import difflib
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etui.outcome import Status

from .desk import Desk


@pytest.fixture
def files(desk_for) -> Desk:
    return desk_for("files")


def test_a_file_is_written_read_and_listed(files, tmp_path) -> None:
    assert files.say_of("files_list") == "The working folder is empty."
    assert files.say_of("file_write", file="recipes/bread.md", text="flour\nwater\n") == "Wrote recipes/bread.md, 2 lines."
    assert (tmp_path / "recipes/bread.md").read_text() == "flour\nwater\n"
    assert files.say_of("file_read", file="recipes/bread.md") == "flour\nwater\n"
    assert files.say_of("file_read", file="recipes/bread.md", start=2, lines=1) == "water\n"
    assert files.say_of("files_list") == "There is one file: recipes/bread.md."
    assert files.say_of("files_list", folder="the recipes folder") == "There is one file in recipes: recipes/bread.md."
    assert files.fail_of("files_list", folder="nowhere") == "There is no folder 'nowhere'."


@pytest.mark.parametrize("said", ["recipes/bread.md", "bread.md", "Bread", "bread dot md", "'bread.md'"])
def test_a_file_is_found_by_what_people_call_it(files, said) -> None:
    files.say_of("file_write", file="recipes/bread.md", text="flour")
    assert files.say_of("file_read", file=said) == "flour"


def test_a_missing_file_names_the_nearest(files) -> None:
    files.say_of("file_write", file="shopping.txt", text="x")
    assert files.fail_of("file_read", file="shoping.txt") == "There is no file 'shoping.txt'. Did you mean shopping.txt?"


def test_text_is_appended_on_a_line_of_its_own(files) -> None:
    files.say_of("file_write", file="log.txt", text="one")
    assert files.say_of("file_write", file="log.txt", text="two", append=True) == "Added to log.txt, 1 line."
    assert files.say_of("file_read", file="log.txt") == "one\ntwo"


def test_files_are_searched_by_name_and_text(files) -> None:
    files.say_of("file_write", file="a.txt", text="alpha\nThe Needle is here\n")
    files.say_of("file_write", file="deep/needle.md", text="nothing")
    said = files.say_of("files_search", query="needle")
    assert said == "Found in 2 files:\na.txt, line 2: The Needle is here\ndeep/needle.md (by its name)"
    assert files.say_of("files_search", query="needle", pattern="*.md") == "Found in 1 file:\ndeep/needle.md (by its name)"
    assert files.say_of("files_search", query="haystack") == "No file holds 'haystack'."


def test_binary_files_cost_only_themselves(files, tmp_path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff needle")
    files.say_of("file_write", file="a.txt", text="needle")
    assert files.say_of("files_search", query="needle") == "Found in 1 file:\na.txt, line 1: needle"
    assert files.fail_of("file_read", file="photo.jpg") == "'photo.jpg' is no text file."


def test_one_exact_text_is_replaced(files) -> None:
    files.say_of("file_write", file="a.txt", text="one two two")
    assert files.say_of("file_patch", file="a.txt", old="one", new="1") == "Changed a.txt."
    assert files.say_of("file_read", file="a.txt") == "1 two two"
    assert "stands 2 times" in files.fail_of("file_patch", file="a.txt", old="two", new="2")
    assert files.fail_of("file_patch", file="a.txt", old="three", new="3") == "That text is not in a.txt."
    assert files.fail_of("file_patch", file="a.txt") == "Give either the text to replace, or a unified diff."


DIFF = """--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
@@ -5,2 +5,3 @@
 five
+5.5
 six
"""


def test_a_unified_diff_is_applied(files) -> None:
    files.say_of("file_write", file="a.txt", text="one\ntwo\nthree\nfour\nfive\nsix\n")
    assert files.say_of("file_patch", file="a.txt", diff=DIFF) == "Changed a.txt."
    assert files.say_of("file_read", file="a.txt") == "one\n2\nthree\nfour\nfive\n5.5\nsix\n"


def test_a_diff_whose_lines_have_moved_is_applied_where_it_fits(files) -> None:
    files.say_of("file_write", file="a.txt", text="zero\nzero\none\ntwo\nthree\nfour\nfive\nsix\n")
    files.say_of("file_patch", file="a.txt", diff=DIFF)
    assert files.say_of("file_read", file="a.txt") == "zero\nzero\none\n2\nthree\nfour\nfive\n5.5\nsix\n"


def test_a_diff_that_does_not_fit_changes_nothing(files) -> None:
    files.say_of("file_write", file="a.txt", text="one\ntwo\nthree\n")
    assert files.fail_of("file_patch", file="a.txt", diff=DIFF) == "Part 2 of the diff does not fit a.txt: nothing was changed."
    assert files.say_of("file_read", file="a.txt") == "one\ntwo\nthree\n"
    assert "no unified diff" in files.fail_of("file_patch", file="a.txt", diff="hello")


@given(st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8), st.lists(st.sampled_from(["a", "b", "d", ""]), max_size=8))
@settings(max_examples=60, deadline=None)
def test_any_unified_diff_of_pythons_own_is_applied(shared_files, old, new) -> None:
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    diff = "".join(difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), "x", "x"))
    if not diff:
        return
    shared_files.say_of("file_write", file="x.txt", text=before)
    shared_files.say_of("file_patch", file="x.txt", diff=diff)
    assert (shared_files.work / "x.txt").read_text() == after


@pytest.fixture(scope="module")
def shared_files(tmp_path_factory) -> Desk:
    return Desk("files", tmp_path_factory.mktemp("work"))


def test_every_write_can_be_undone(files, tmp_path) -> None:
    written = files.run("file_write", file="a.txt", text="one")
    replaced = files.run("file_write", file="a.txt", text="two")
    files.undo(replaced)
    assert files.say_of("file_read", file="a.txt") == "one"
    files.undo(files.run("file_patch", file="a.txt", old="one", new="1"))
    assert files.say_of("file_read", file="a.txt") == "one"
    deleted = files.run("file_delete", file="a.txt")
    assert deleted.text == "Deleted a.txt."
    assert not (tmp_path / "a.txt").exists()
    files.undo(deleted)
    assert files.say_of("file_read", file="a.txt") == "one"
    files.undo(written)
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "a/../../secret.txt", "~/secret.txt"])
@pytest.mark.parametrize("tool", ["file_read", "file_write", "file_patch", "file_delete"])
def test_no_name_leads_out_of_the_working_folder(files, tool, name) -> None:
    more = {"file_write": {"text": "x"}, "file_patch": {"old": "root", "new": "x"}}.get(tool, {})
    assert files.run(tool, file=name, **more).status is Status.REFUSED


def test_links_are_not_followed(files, tmp_path, tmp_path_factory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("secret")
    os.symlink(outside, tmp_path / "out")
    os.symlink(outside / "secret.txt", tmp_path / "link.txt")
    for name in ("out/secret.txt", "link.txt", "out/new.txt"):
        assert files.run("file_write", file=name, text="x").status is Status.REFUSED
        assert "secret" not in files.run("file_read", file=name).text.replace("secret.txt", "")
    assert (outside / "secret.txt").read_text() == "secret"
    assert not (outside / "new.txt").exists()


def test_odd_targets_end_in_a_sentence(files) -> None:
    files.say_of("file_write", file="folder/a.txt", text="x")
    assert files.fail_of("file_read", file="folder") == "'folder' is a folder."
    assert files.fail_of("file_write", file="folder", text="x") == "'folder' is a folder."
    assert "can't be deleted" in files.fail_of("file_delete", file="folder")
    assert files.run("file_write", file="folder/a.txt/b", text="x").error == ""
    assert files.fail_of("file_read", file="") == "Which file?"
    assert files.say_of("file_write", file="empty.txt", text="") == "Wrote empty.txt, 0 lines."
    assert files.say_of("file_read", file="empty.txt") == "empty.txt is empty."
    files.say_of("file_write", file="empty.txt", text="\n\n")
    assert files.say_of("file_read", file="empty.txt") == "empty.txt holds only blank lines."
