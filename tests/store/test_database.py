"""Opening, refusing, migrating, and several processes at once."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from etui.errors import StoreError
from etui.store import Store
from etui.store.chats import Message
from etui.store.database import Database
from etui.store.migrations import MIGRATIONS, migrate


def child(code: str, *args: str) -> subprocess.Popen[str]:
    """A real process that runs the code with the arguments."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_new_database_is_for_its_owner_only_and_in_wal_mode(tmp_path: Path) -> None:
    path = tmp_path / "new" / "etui.db"
    Store.open(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_database_in_memory_has_every_store() -> None:
    store = Store.open(":memory:")
    chat = store.chats.create("hello")
    store.state.put("p", "k", [1])
    assert store.chats.get(chat.id) == chat
    assert store.state.get("p", "k") == ([1], 1)
    store.close()


def test_closing_twice_is_closing_once_and_a_closed_store_says_so(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "etui.db")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.chats.create()
    with pytest.raises(StoreError, match="is closed"):
        store.chats.all()


def test_each_migration_is_applied_once_and_recorded_by_name(tmp_path: Path) -> None:
    path = tmp_path / "etui.db"
    database = Database(path)
    assert migrate(database, 5.0) == [migration.__name__ for migration in MIGRATIONS]
    assert migrate(database, 6.0) == []
    assert set(database.rows("SELECT name, at FROM migrations")) == {(migration.__name__, 5.0) for migration in MIGRATIONS}
    database.close()


def test_an_older_database_keeps_its_rows_and_gets_the_new_tables(tmp_path: Path) -> None:
    database = Database(tmp_path / "etui.db")
    migrate(database, 1.0, MIGRATIONS[:1])
    database.write("INSERT INTO chats VALUES ('c', 'old', 'console', 0, 1, 1)")
    assert migrate(database, 2.0) == [migration.__name__ for migration in MIGRATIONS[1:]]
    assert database.row("SELECT title FROM chats") == ("old",)
    database.close()


def test_a_migration_that_fails_leaves_nothing_of_itself(tmp_path: Path) -> None:
    def m999_breaks(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (x)")
        raise ZeroDivisionError

    database = Database(tmp_path / "etui.db")
    with pytest.raises(ZeroDivisionError):
        migrate(database, 1.0, (*MIGRATIONS, m999_breaks))
    assert database.row("SELECT 1 FROM sqlite_master WHERE name = 'half'") is None
    assert migrate(database, 2.0) == []
    database.close()


def test_a_newer_database_is_refused_with_a_sentence_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "etui.db"
    Store.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO migrations VALUES ('m900_future', 1.0)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer Etui \(m900_future\).*update Etui"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "etui.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        Store.open(path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    connection.close()


def filled(path: Path) -> None:
    store = Store.open(path)
    chat = store.chats.create()
    for number in range(200):
        store.chats.add(Message(chat=chat.id, role="user", text=f"message {number} " * 20))
    store.close()


def ruined(path: Path, how: str) -> None:
    whole = path.read_bytes()
    if how == "text":
        path.write_text("dear diary\n" * 500)
    elif how == "noise":
        path.write_bytes(os.urandom(20_000))
    elif how == "short":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "head":
        path.write_bytes(whole[:100])
    elif how == "pages":
        path.write_bytes(whole[:4096] + b"\xff" * 8192 + whole[12288:])


@pytest.mark.parametrize("how", ["text", "noise", "short", "head", "pages"])
def test_a_damaged_file_is_refused_with_where_and_what_to_do_and_nothing_is_lost(tmp_path: Path, how: str) -> None:
    path = tmp_path / "etui.db"
    filled(path)
    ruined(path, how)
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert repr(str(path)) in str(caught.value)
    assert "damaged" in str(caught.value)
    assert "move it aside" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("free", "said"), [(0, "is full; make room and try again"), (9, "did not take a statement: disk I/O")])
def test_an_input_output_error_is_a_full_disk_where_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, said: str
) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR | 19 << 8

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(sqlite3, "connect", fails)
    real = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*real[:4], free, *real[5:10])))
    with pytest.raises(StoreError, match=said):
        Store.open(tmp_path / "etui.db")


def test_a_path_that_cannot_be_made_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written; make its folder writable"):
        Store.open(tmp_path / "file" / "etui.db")
    with pytest.raises(StoreError, match="cannot be written"):
        Store.open(tmp_path)


UNPRIVILEGED = """
import os, sys
from etui.errors import StoreError
from etui.store import Store
path, uid = sys.argv[1], int(sys.argv[2])
if uid:
    os.setuid(uid)
try:
    Store.open(path)
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("there", [False, True])
def test_a_read_only_folder_is_refused_with_a_sentence(there: bool) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        path = folder / "etui.db"
        if there:
            filled(path)
            path.chmod(0o444)
        folder.chmod(0o555)
        root = os.getuid() == 0
        process = child(UNPRIVILEGED, str(path), "65534" if root else "0")
        out, err = process.communicate()
        assert "cannot be written" in out, err
        assert repr(str(path)) in out
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_change_that_raises_is_undone_and_the_next_one_works(tmp_path: Path) -> None:
    database = Database(tmp_path / "etui.db")
    database.write("CREATE TABLE t (x INTEGER PRIMARY KEY)")
    with pytest.raises(StoreError, match="UNIQUE"), database.change() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("INSERT INTO t VALUES (1)")
    assert database.rows("SELECT x FROM t") == []
    database.write("INSERT INTO t VALUES (2)")
    assert database.rows("SELECT x FROM t") == [(2,)]
    database.close()


def test_a_lock_that_is_held_too_long_is_a_sentence_and_not_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "etui.db"
    database = Database(path, patience=0.05)
    database.write("CREATE TABLE t (x)")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"locked by another program for 0\.05 s"):
        database.write("INSERT INTO t VALUES (1)")
    assert database.rows("SELECT * FROM t") == [], "reading does not wait for writing"
    other.execute("ROLLBACK")
    database.write("INSERT INTO t VALUES (1)")
    other.close()
    database.close()


def test_the_log_is_copied_home_in_the_background(tmp_path: Path) -> None:
    path = tmp_path / "etui.db"
    database = Database(path, log_size=100_000, pause=0.0)
    database.write("CREATE TABLE t (x)")
    database.write("INSERT INTO t VALUES (zeroblob(2000000))")
    end = time.monotonic() + 30
    while path.stat().st_size < 2_000_000 and time.monotonic() < end:
        database.rows("SELECT count(*) FROM sqlite_master")
    assert path.stat().st_size > 2_000_000
    database.close()


def test_closing_brings_the_log_home_and_ends_the_thread(tmp_path: Path) -> None:
    path = tmp_path / "etui.db"
    before = threading.active_count()
    filled(path)
    assert threading.active_count() == before
    assert bytes_in(tmp_path).keys() == {"etui.db"}


def test_many_threads_write_through_one_store_and_nothing_is_lost(store: Store) -> None:
    def add() -> None:
        for _ in range(50):
            while True:
                found = store.state.get("p", "n")
                value, version = found or (0, 0)
                assert isinstance(value, int)
                if store.state.swap("p", "n", value + 1, version):
                    break

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.state.get("p", "n") == (400, 400)


WRITER = """
import sys
from etui.store import Store
path, name = sys.argv[1:]
store = Store.open(path)
print("ready", flush=True)
sys.stdin.readline()
for number in range(200):
    store.state.put(name, str(number), number)
    while True:
        value, version = store.state.get("both", "n") or (0, 0)
        if store.state.swap("both", "n", value + 1, version):
            break
store.close()
print("done", flush=True)
"""
READER = """
import sys
from etui.store import Store
store = Store.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
seen = 0
while seen < 400:
    found = store.state.get("both", "n")
    now = found[0] if found else 0
    assert now >= seen
    seen = now
store.close()
print("done", flush=True)
"""


@pytest.mark.slow
def test_two_processes_write_while_one_reads_and_one_holds_a_transaction_for_two_seconds(tmp_path: Path) -> None:
    path = tmp_path / "etui.db"
    store = Store.open(path)
    processes = [child(WRITER, str(path), "a"), child(WRITER, str(path), "b"), child(READER, str(path))]
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = [process.stdout for process in processes if process.stdout]
    assert select.select(outputs, [], [], 2.0)[0] == [], "nobody ends, well or badly, while the transaction is held"
    assert store.state.keys("a") == store.state.keys("b") == []
    holder.execute("COMMIT")
    holder.close()
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert (out, err, process.returncode) == ("done\n", "", 0)
    assert len(store.state.keys("a")) == len(store.state.keys("b")) == 200
    assert store.state.get("both", "n") == (400, 400)
    store.close()


OPENER = """
import sys
from etui.store import Store
print("ready", flush=True)
sys.stdin.readline()
store = Store.open(sys.argv[1])
store.values.put("meta", sys.argv[2], True)
store.close()
"""


def test_processes_that_open_a_new_database_at_once_all_get_it(tmp_path: Path) -> None:
    path = tmp_path / "etui.db"
    processes = [child(OPENER, str(path), str(number)) for number in range(4)]
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        assert process.communicate(timeout=60)[1] == ""
    store = Store.open(path)
    assert store.values.all("meta") == {str(number): True for number in range(4)}
    store.close()


KILLED = """
import sys
from etui.outcome import Outcome, Status
from etui.store import Store
from etui.store.chats import Message, Turn
from etui.tool import Call, Tool
store = Store.open(sys.argv[1])
chat = store.chats.create()
store.chats.begin_turn(Turn(id="t", chat=chat.id, text="go"), Message(chat=chat.id, turn="t", role="user", text="go"))
tool = Tool(name="send", description="", parameters={}, contract="etui", plugin="post")
for id in ("done", "cut"):
    store.journal.begin(Call(id=id, tool="send", turn="t"), tool, {"to": id}, chat=chat.id, session="s", channel="console")
    if id == "done":
        store.journal.end(id, Outcome(status=Status.OK, text="sent"))
with store._database.change() as connection:
    connection.execute("DELETE FROM calls")
    print(chat.id, flush=True)
    sys.stdin.readline()
"""


def test_what_was_committed_is_there_after_kill_nine_and_what_was_not_is_not(tmp_path: Path) -> None:
    path = tmp_path / "etui.db"
    process = child(KILLED, str(path))
    assert process.stdout
    chat = process.stdout.readline().strip()
    assert chat, process.communicate()[1]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    store = Store.open(path)
    (turn,) = store.chats.unfinished()
    assert (turn.id, turn.chat, turn.text) == ("t", chat, "go")
    assert [message.text for message in store.chats.messages(chat)] == ["go"]
    assert [(entry.id, entry.status, entry.text, entry.arguments) for entry in store.journal.of_turn("t")] == [
        ("done", "ok", "sent", {"to": "done"}),
        ("cut", "running", "", {"to": "cut"}),
    ]
    assert [entry.id for entry in store.journal.running()] == ["cut"]
    store.close()
