"""Beginning and end: signals, two hosts, what a death left behind, homes that cannot be used."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import uvicorn
from tests.cli.processes import ETUI, LONG, Terminal, environ, etui, gone, running, serving, shell, tools_in

from etui.store import Store
from etui.surfaces.cli.reach import KEPT, Reach


def ends(home: Path) -> list[str]:
    """How the last calls ended, newest first, after the host is gone."""
    store = Store.open(home / "etui.db")
    try:
        return [entry.status for entry in store.journal.recent(limit=10)]
    finally:
        store.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_the_middle_of_a_call_ends_the_call_and_is_journalled(tmp_path, number, code):
    tools_in(tmp_path)
    with running(tmp_path) as until_it_runs:
        call = subprocess.Popen(
            [*ETUI, "call", "hang", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ(tmp_path)
        )
        until_it_runs()
    call.send_signal(number)
    out, err = call.communicate(timeout=LONG)
    assert (call.returncode, err) == (code, "")
    assert list(json.loads(out)) == ["error"]
    assert ends(tmp_path) == ["cancelled"]
    assert not (tmp_path / "run.json").exists()


def test_ctrl_c_ends_the_call_in_the_running_host_and_the_host_goes_on(tmp_path):
    tools_in(tmp_path)
    with serving(tmp_path), running(tmp_path) as until_it_runs, Terminal(tmp_path, "call", "hang") as terminal:
        until_it_runs()
        terminal.type("\x03")
        assert terminal.end() == 130
        assert etui(tmp_path, "call", "add", '{"a": 1, "b": 1}').stdout == "2\n"
    assert ends(tmp_path) == ["ok", "cancelled"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_ends_in_good_order_and_leaves_nothing_behind(tmp_path, number):
    tools_in(tmp_path)
    with serving(tmp_path) as host:
        assert etui(tmp_path, "call", "add", '{"a": 1, "b": 1}').stdout == "2\n"
        workers = json.loads(etui(tmp_path, "doctor", "--json").stdout)["workers"]
        processes = [os.pidfd_open(worker["pid"]) for worker in workers]
        host.send_signal(number)
        assert host.wait(LONG) == 0
        assert not (tmp_path / "run.json").exists()
        assert [gone(process) for process in processes] == [True]


def test_a_second_host_on_the_same_home_is_told_where_the_first_one_is(home, here):
    code, out, err = here(home, "serve", "--port", "0", "--no-browser")
    assert (code, out) == (1, "")
    assert "Etui already runs" in err
    assert "/login/" in err
    assert err.count("\n") == 1


def test_what_a_killed_host_left_behind_is_in_nobodys_way(tmp_path, here):
    with serving(tmp_path) as host:
        host.kill()
        host.wait(LONG)
    assert (tmp_path / "run.json").exists()
    assert here(tmp_path, "tools")[0] == 0


def test_whoever_has_the_port_of_a_dead_host_is_not_shown_the_owners_token(tmp_path, here):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait(LONG)
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        left = {"port": stranger.getsockname()[1], "pid": dead.pid, "token": "secret"}
        (tmp_path / "run.json").write_text(json.dumps(left))
        assert here(tmp_path, "tools")[0] == 0
        stranger.settimeout(0)
        with pytest.raises(BlockingIOError):
            stranger.accept()


@pytest.mark.parametrize("left", [b"", b"{", b"[]", b"null", b'{"port": "x", "pid": 1, "token": 1}', b"\xff"])
def test_a_run_file_that_makes_no_sense_is_in_nobodys_way(tmp_path, here, left):
    (tmp_path / "run.json").write_bytes(left)
    assert here(tmp_path, "config", "speak", "on")[:2] == (0, "true\n")


def test_commands_at_the_same_time_on_one_home_all_get_their_answer(tmp_path):
    tools_in(tmp_path)
    call = 'etui call add \'{"a": 20, "b": 22}\' & '
    done = shell(tmp_path, f"{call * 4} wait")
    assert (done.stdout, done.stderr) == ("42\n" * 4, "")


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path, here):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = here(tmp_path, "serve", "--port", str(taken.getsockname()[1]), "--no-browser")
    assert code == 2
    assert "Choose another port" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run.json").exists()


def test_a_port_in_the_environment_that_is_none_starts_nothing_elsewhere(tmp_path, here, monkeypatch):
    monkeypatch.setenv("ETUI_PORT", "abc")
    code, out, err = here(tmp_path, "serve", "--no-browser")
    said = "etui: The setting 'port' cannot be 'abc'. It must be a whole number. The variable ETUI_PORT says so.\n"
    assert (code, out, err) == (2, "", said)


@pytest.mark.parametrize("command", ["tools --json", "call add --json", "chat hello", "serve --no-browser", "setup"])
@pytest.mark.parametrize("home", ["a file", "a file/below", "/proc/etui", "~nobody-of-that-name/x"])
def test_a_home_that_cannot_be_used_is_told_in_a_sentence(tmp_path, here, command, home):
    (tmp_path / "a file").write_text("not a folder")
    code, out, err = here(home if home[0] in "/~" else tmp_path / home, *command.split())
    assert code == 1
    assert err.startswith("etui: ")
    assert err.count("\n") == 1
    assert list(json.loads(out)) == ["error"] if "--json" in command else out == ""


def test_a_home_in_which_no_file_can_be_made_is_told_in_a_sentence(tmp_path, here):
    (tmp_path / "lock").mkdir()
    code, out, err = here(tmp_path, "tools", "--json")
    assert code == 1
    assert "ETUI_HOME" in err
    assert list(json.loads(out)) == ["error"]


def test_a_database_that_is_none_is_told_in_a_sentence(tmp_path, here):
    (tmp_path / "etui.db").write_text("this is no database, " * 200)
    code, out, err = here(tmp_path, "tools", "--json")
    assert code == 1
    assert list(json.loads(out)) == ["error"]
    assert err.count("\n") == 1


def test_what_was_refused_makes_tools_end_with_1_and_stands_with_file_and_line(tmp_path, here):
    tools_in(tmp_path)
    bad = tools_in(tmp_path, "def broken(:\n", "bad.py")
    code, out, err = here(tmp_path, "tools")
    assert code == 1
    assert "add" in out
    assert f"({bad}:1)" in err
    code, out, _ = here(tmp_path, "tools", "--json")
    assert code == 1
    assert [problem["file"] for problem in json.loads(out)["problems"]] == [str(bad)]
    assert here(tmp_path, "tools", "--off", "add")[0] == 0


def test_a_program_that_ends_while_sentences_are_being_learnt_ends_cleanly():
    program = (
        "import threading\n"
        "from etui.agent.embedded.vectors import Vectors\n"
        "vectors = Vectors()\n"
        "vectors.of('one')\n"
        "begun = threading.Event()\n"
        "run = vectors._run\n"
        "vectors._run = lambda texts: (begun.set(), run(texts))[1]\n"
        "texts = [f'thing {number} of many' for number in range(5000)]\n"
        "threading.Thread(target=vectors.make, args=(texts,)).start()\n"
        "begun.wait()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=LONG, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_only_what_a_command_needs_is_imported(home):
    program = (
        "import os, sys\n"
        "from etui.__main__ import open_lazily\n"
        "from etui.surfaces.cli import main\n"
        "code = main(open_lazily, ['call', 'add', '{\"a\": 1, \"b\": 1}'])\n"
        "heavy = ('etui.host', 'uvicorn', 'starlette', 'structlog', 'pydantic', 'openai', 'onnxruntime', 'numpy')\n"
        "print(code, [name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environ(home), timeout=LONG, check=False
    )
    assert (done.stdout, done.stderr) == ("2\n0 []\n", "")


def test_a_command_lets_go_of_an_idle_connection_well_before_the_server_does():
    kept = uvicorn.Config("app").timeout_keep_alive
    assert kept >= KEPT * 2
    assert Reach("http://127.0.0.1:1", "t")._client._transport._pool._keepalive_expiry == KEPT  # type: ignore[attr-defined]
