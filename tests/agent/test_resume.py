from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agent import doomed

from etui.agent.scripted import Scripted, call
from etui.events import Kind
from etui.outcome import Outcome, Status

ROOT = Path(__file__).parents[2]


def _killed(home: Path, point: str) -> None:
    """Take the turn in a child that dies at the point."""
    command = [sys.executable, "-m", "tests.agent.doomed", str(home / "db"), str(home / "done"), point]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.parametrize(
    ("point", "done", "statuses"),
    [
        ("asking 0", ["look", "add", "send"], ["ok", "ok", "ok"]),
        ("before look", ["look", "add", "send"], ["ok", "ok", "ok"]),
        ("in look", ["look", "look", "add", "send"], ["ok", "ok", "ok"]),
        ("asking 1", ["look", "add", "send"], ["ok", "ok", "ok"]),
        ("in add", ["look", "add", "send"], ["ok", "unknown", "ok"]),
        ("in send", ["look", "add", "send"], ["ok", "ok", "unknown"]),
        ("asking 2", ["look", "add", "send"], ["ok", "ok", "ok"]),
    ],
)
async def test_a_turn_that_a_kill_cut_short_goes_on(tmp_path: Path, point: str, done: list[str], statuses: list[str]) -> None:
    _killed(tmp_path, point)
    room = doomed.room(str(tmp_path / "db"), tmp_path / "done")
    (turn,) = room.store.chats.unfinished()
    ended = await room.loop.resume(turn, room.door, doomed.model())
    assert ended.why == "done" and ended.text == "Let me see.\n\nAll done."
    assert (tmp_path / "done").read_text().split() == done
    assert [message.meta["status"] for message in room.results()] == statuses
    assert all(("may have happened" in message.text) == (message.meta["status"] == "unknown") for message in room.results())
    assert [message.text for message in room.messages() if message.role == "user"] == ["do it"]
    assert room.store.chats.unfinished() == [] and room.store.journal.running() == []
    assert [event.kind for event in room.told if event.kind in (Kind.TURN_STARTED, Kind.TURN_ENDED)] == [
        Kind.TURN_STARTED,
        Kind.TURN_ENDED,
    ]
    room.store.close()


async def test_a_turn_killed_twice_in_the_same_reading_call_goes_on(tmp_path: Path) -> None:
    _killed(tmp_path, "in look")
    room = doomed.room(str(tmp_path / "db"), tmp_path / "done")
    (turn,) = room.store.chats.unfinished()
    (look,) = next(message.calls for message in room.messages() if message.calls)
    for id in (look.id, look.id + "+"):
        room.store.journal.begin(
            room.door.new_call("look", {}, turn=turn.id, id=id),
            room.door.tools()[0],
            {},
            chat=room.chat,
            session="session",
            channel="console",
        )
    room.store.journal.end(look.id, Outcome(status=Status.UNKNOWN, text="Cut short."))
    ended = await room.loop.resume(turn, room.door, doomed.model())
    assert ended.why == "done"
    assert [entry.status for entry in room.store.journal.of_turn(turn.id)] == ["unknown", "unknown", "ok", "ok", "ok"]
    room.store.close()


async def test_limits_count_what_was_called_before_the_kill(tmp_path: Path) -> None:
    _killed(tmp_path, "asking 2")
    room = doomed.room(str(tmp_path / "db"), tmp_path / "done")
    room.settings = type(room.settings)(calls_a_turn=3)
    (turn,) = room.store.chats.unfinished()
    ended = await room.loop.resume(turn, room.door, Scripted([[call("look", {"again": 1})]]))
    assert ended.why == "limit" and (tmp_path / "done").read_text().split() == ["look", "add", "send"]
    room.store.close()
