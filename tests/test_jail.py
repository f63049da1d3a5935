"""The jailed folder: whatever name is tried, nothing outside the folder is read, written or seen."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etui import Refusal
from etui.contracts.etui import files as jail
from etui.contracts.etui.files import Folder

SECRET = "the secret"


class Place:
    """A working folder, and a secret beside it."""

    def __init__(self, base: Path) -> None:
        self.root = base / "work"
        self.outside = base / "outside"
        self.root.mkdir(exist_ok=True)
        self.outside.mkdir(exist_ok=True)
        self.secret = self.outside / "secret.txt"
        self.secret.write_text(SECRET)
        self.folder = Folder(self.root)

    def untouched(self) -> bool:
        return sorted(os.listdir(self.outside)) == ["secret.txt"] and self.secret.read_text() == SECRET


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


ACTS: dict[str, Callable[[Folder, object], object]] = {
    "read_text": lambda folder, name: folder.read_text(name),  # type: ignore[arg-type]
    "read_bytes": lambda folder, name: folder.read_bytes(name),  # type: ignore[arg-type]
    "write_text": lambda folder, name: folder.write_text(name, "x"),  # type: ignore[arg-type]
    "open": lambda folder, name: folder.open(name).close(),  # type: ignore[arg-type]
    "append": lambda folder, name: folder.open(name, "a").close(),  # type: ignore[arg-type]
    "create": lambda folder, name: folder.open(name, "x").close(),  # type: ignore[arg-type]
    "truncate": lambda folder, name: folder.open(name, "w").close(),  # type: ignore[arg-type]
    "delete": lambda folder, name: folder.delete(name),  # type: ignore[arg-type]
    "mkdir": lambda folder, name: folder.mkdir(name),  # type: ignore[arg-type]
    "exists": lambda folder, name: folder.exists(name),  # type: ignore[arg-type]
    "path": lambda folder, name: folder.path(name),  # type: ignore[arg-type]
    "list": lambda folder, name: folder.list(name),  # type: ignore[arg-type]
}
every_act = pytest.mark.parametrize("act", sorted(ACTS))


@every_act
@pytest.mark.parametrize(
    "name",
    [
        "../outside/secret.txt",
        "a/../../outside/secret.txt",
        "..",
        "/etc/passwd",
        "//etc/passwd",
        "~/secret",
        "~root/x",
        "a\0b",
        "..\\outside",
        "C:\\x",
        "C:x",
        "\ud835",
        "x" * 300,
        "/".join("x" * 70),
        PurePosixPath("../x"),
        PurePosixPath("/etc/passwd"),
        b"a.txt",
        None,
        3,
        ["a"],
    ],
    ids=repr,
)
def test_a_name_that_is_none_inside_is_refused(place: Place, act: str, name: object) -> None:
    with pytest.raises(Refusal) as told:
        ACTS[act](place.folder, name)
    assert told.value.sentence.endswith(".")
    assert os.listdir(place.root) == []
    assert place.untouched()


@every_act
@pytest.mark.parametrize(
    "name", ["link.txt", "out/secret.txt", "out/new.txt", "deep/out/secret.txt", "chain/secret.txt", "up/outside/secret.txt"]
)
def test_links_are_not_followed(place: Place, act: str, name: str) -> None:
    (place.root / "link.txt").symlink_to(place.secret)
    (place.root / "out").symlink_to(place.outside)
    (place.root / "chain").symlink_to("out")
    (place.root / "up").symlink_to("..")
    (place.root / "deep").mkdir()
    (place.root / "deep" / "out").symlink_to("../out")
    if act == "list":
        assert place.folder.list(name) == []
    else:
        with pytest.raises(Refusal, match="links are not followed"):
            ACTS[act](place.folder, name)
    assert place.untouched()
    assert place.folder.list("**") == ["deep/"]


def test_a_dangling_link_is_not_written_through(place: Place) -> None:
    (place.root / "new.txt").symlink_to(place.outside / "new.txt")
    for act in ("write_text", "append", "truncate", "create"):
        with pytest.raises((Refusal, FileExistsError)):
            ACTS[act](place.folder, "new.txt")
    assert place.untouched()


@pytest.mark.parametrize("act", ["read_text", "write_text", "open", "append", "truncate"])
def test_hard_links_are_refused(place: Place, act: str) -> None:
    os.link(place.secret, place.root / "hard.txt")
    with pytest.raises(Refusal, match="hard link"):
        ACTS[act](place.folder, "hard.txt")
    assert place.untouched()


def test_pipes_and_devices_are_refused_at_once(place: Place) -> None:
    os.mkfifo(place.root / "pipe")
    for act in ("read_text", "write_text", "append", "truncate"):
        with pytest.raises(Refusal, match="no plain file"):
            ACTS[act](place.folder, "pipe")


def test_the_working_folder_may_itself_be_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "work").symlink_to("real")
    Folder(tmp_path / "work").write_text("a.txt", "hi")
    assert (tmp_path / "real" / "a.txt").read_text() == "hi"


def test_a_file_is_written_read_listed_and_deleted(place: Place) -> None:
    folder = place.folder
    assert folder.write_text("a/b/c.txt", "grüße") == 7
    assert folder.read_text("a/b/c.txt") == "grüße"
    assert folder.read_text("./a//b/c.txt") == "grüße"
    folder.write_bytes("top.bin", b"\0\1")
    assert folder.read_bytes(PurePosixPath("top.bin")) == b"\0\1"
    assert folder.list() == ["a/", "top.bin"]
    assert folder.list("*.bin") == ["top.bin"]
    assert folder.list("a/*") == ["a/b/"]
    assert folder.list("**") == ["a/", "a/b/", "a/b/c.txt", "top.bin"]
    assert folder.list("**/*.txt") == ["a/b/c.txt"]
    assert folder.list("a/**") == ["a/b/", "a/b/c.txt"]
    assert folder.exists("a/b") and folder.exists("top.bin") and folder.exists(".")
    assert not folder.exists("a/none") and not folder.exists("top.bin/x")
    assert folder.path("a/b/c.txt") == place.root / "a/b/c.txt"
    assert folder.path() == place.root
    folder.delete("a/b/c.txt")
    folder.delete("a/b")
    folder.mkdir("m/n")
    folder.mkdir("m/n")
    assert folder.list("**") == ["a/", "m/", "m/n/", "top.bin"]


def test_a_folder_that_is_not_empty_is_not_deleted(place: Place) -> None:
    place.folder.write_text("a/b.txt", "x")
    with pytest.raises(OSError, match="not empty"):
        place.folder.delete("a")
    assert place.folder.read_text("a/b.txt") == "x"


def test_open_works_as_the_built_in_does(place: Place) -> None:
    with place.folder.open("log.txt", "w") as file:
        file.write("one\n")
    with place.folder.open("log.txt", "a") as file:
        file.write("two\n")
    with place.folder.open("log.txt") as file:
        assert file.readlines() == ["one\n", "two\n"]
    with place.folder.open("log.txt", "r+b") as file:
        file.seek(0)
        file.write(b"ONE")
    assert place.folder.read_text("log.txt") == "ONE\ntwo\n"
    with place.folder.open("log.txt", "w"):
        pass
    assert place.folder.read_text("log.txt") == ""
    with place.folder.open("new/x.txt", "x+") as file:
        file.write("x")
    with pytest.raises(FileExistsError):
        place.folder.open("new/x.txt", "x")
    for mode in ("q", "rw", "bt", "", "rr"):
        with pytest.raises(ValueError, match="no mode"):
            place.folder.open("log.txt", mode)


def test_missing_things_are_the_usual_errors(place: Place) -> None:
    with pytest.raises(FileNotFoundError):
        place.folder.read_text("none.txt")
    with pytest.raises(FileNotFoundError):
        place.folder.delete("none/none.txt")
    with pytest.raises(IsADirectoryError):
        place.folder.read_text("d") if place.folder.mkdir("d") is None else None
    with pytest.raises(IsADirectoryError):
        place.folder.write_text("d", "x")


def test_a_working_folder_that_is_not_there_is_made_by_writing_only(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "later")
    assert folder.list() == []
    assert not folder.exists("a")
    folder.write_text("a.txt", "x")
    assert folder.list() == ["a.txt"]
    with pytest.raises(Refusal, match="no working folder"):
        Folder("").list()


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.folder.write_text("a.txt", "old")

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(jail.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        place.folder.write_text("a.txt", "new")
    assert os.listdir(place.root) == ["a.txt"]
    assert place.folder.read_text("a.txt") == "old"


def test_a_replaced_file_keeps_its_mode(place: Place) -> None:
    place.folder.write_text("a.sh", "x")
    os.chmod(place.root / "a.sh", 0o600)
    place.folder.write_text("a.sh", "y")
    assert stat.S_IMODE(os.stat(place.root / "a.sh").st_mode) == 0o600


def test_readers_never_see_half_a_file(place: Place) -> None:
    texts = {"a" * 100_000, "b" * 100_000}
    place.folder.write_text("x", "a" * 100_000)
    stop = threading.Event()

    def writer() -> None:
        while not stop.is_set():
            for text in texts:
                place.folder.write_text("x", text)

    thread = threading.Thread(target=writer)
    thread.start()
    try:
        assert {place.folder.read_text("x") for _ in range(50)} <= texts
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("swap", ["file", "parent"])
@pytest.mark.parametrize("act", ["read_text", "write_text", "append", "truncate", "delete"])
def test_a_link_slipped_in_between_check_and_use_leads_nowhere(
    place: Place, monkeypatch: pytest.MonkeyPatch, swap: str, act: str
) -> None:
    (place.root / "sub").mkdir()
    (place.root / "sub" / "secret.txt").write_text("harmless")
    opened = os.open
    swapped = []

    def slip(path: object, flags: int, *args: object, **options: object) -> int:
        handle = opened(path, flags, *args, **options)  # type: ignore[arg-type]
        if not swapped and options.get("dir_fd") is None:  # the root is open; now somebody else is quick
            swapped.append(True)
            if swap == "file":
                os.rename(place.root / "sub" / "secret.txt", place.root / "old.txt")
                os.symlink(place.secret, place.root / "sub" / "secret.txt")
            else:
                os.rename(place.root / "sub", place.root / "old")
                os.symlink(place.outside, place.root / "sub")
        return handle

    monkeypatch.setattr(jail.os, "open", slip)
    with pytest.raises(Refusal, match="links are not followed"):
        ACTS[act](place.folder, "sub/secret.txt")
    assert swapped
    assert place.untouched()


def test_no_swap_at_any_moment_lets_the_secret_out(place: Place) -> None:
    """Another thread swaps a folder and a link without pause; every read is harmless, refused or missing."""
    inner, spare, link = place.root / "sub", place.root / "spare", place.root / "link"
    inner.mkdir()
    (inner / "secret.txt").write_text("harmless")
    link.symlink_to(place.outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(inner, spare)
            os.rename(link, inner)
            os.rename(inner, link)
            os.rename(spare, inner)

    thread = threading.Thread(target=swap)
    thread.start()
    seen: set[str] = set()
    try:
        for _ in range(3000):
            try:
                seen.add(place.folder.read_text("sub/secret.txt"))
            except (Refusal, OSError):
                continue
    finally:
        stop.set()
        thread.join()
    assert seen <= {"harmless"}


NAMES = st.one_of(
    st.text(max_size=20),
    st.lists(
        st.sampled_from(
            ["..", ".", "", "a", "b", "out", "link.txt", "hard.txt", "~", "~root", "*", "**", "\0", "\\", "C:", "ä", "\ud800"]
        ),
        max_size=6,
    ).map("/".join),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
@given(name=NAMES, act=st.sampled_from(sorted(ACTS)))
def test_no_name_reaches_outside(name: str, act: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = PLACES.setdefault("one", None) or Place(tmp_path_factory.mktemp("jail"))
    if not PLACES["one"]:
        PLACES["one"] = place
        (place.root / "out").symlink_to(place.outside)
        (place.root / "link.txt").symlink_to(place.secret)
        os.link(place.secret, place.root / "hard.txt")
    try:
        result = ACTS[act](place.folder, name)
    except (Refusal, OSError):
        result = None
    assert result not in (SECRET, SECRET.encode())
    if act == "path" and result is not None:
        assert Path(os.path.realpath(result)).is_relative_to(os.path.realpath(place.root))
    if act == "list":
        assert not any("secret" in one for one in result or [])  # type: ignore[attr-defined]
    assert place.untouched()


PLACES: dict[str, Place | None] = {}
