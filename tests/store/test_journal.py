"""Calls, written down before they run; the truth for turns, and masked for eyes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from typing import TYPE_CHECKING

import msgspec
import pytest

from etui.errors import StoreError
from etui.outcome import File, Image, Outcome, Status, refused
from etui.store import Store
from etui.tool import Call, Risk, Tool

if TYPE_CHECKING:
    from pathlib import Path

    from tests.store.conftest import Clock

TOOL = Tool(
    name="login", description="", parameters={}, contract="etui", plugin="door", digest="d" * 64, risk=Risk.NETWORK, source="s"
)
SECRETS = {"user": "ann", "password": "hunter2", "cfg": {"apiKey": "sk-test-123", "list": [{"token": "t"}]}}


def begin(store: Store, id: str, arguments: dict[str, object] | None = None, *, turn: str = "", chat: str = "") -> None:
    call = Call(id=id, tool="login", turn=turn)
    store.journal.begin(call, TOOL, arguments or {}, chat=chat, session="s1", channel="console")


def test_a_call_that_began_is_running_until_it_ended(store: Store, clock: Clock) -> None:
    begin(store, "c1", {"a": 1}, turn="t1", chat="h1")
    entry = store.journal.get("c1")
    assert entry
    assert (entry.id, entry.turn, entry.chat, entry.session, entry.channel) == ("c1", "t1", "h1", "s1", "console")
    assert (entry.tool, entry.plugin, entry.contract, entry.risk, entry.digest) == (
        "login",
        "door",
        "etui",
        "network",
        "d" * 64,
    )
    assert (entry.status, entry.arguments, entry.started, entry.ended) == ("running", {"a": 1}, clock.now, None)
    assert store.journal.running() == [entry]
    clock.now += 2
    outcome = Outcome(
        status=Status.OK,
        text="in",
        shown="You are in.",
        data={"n": [1, None]},
        images=(Image("image/png", id="b1"), Image("image/png", data=b"not kept")),
        files=(File("a.txt", "text/plain", data=b"x", id="b2"),),
        seconds=1.5,
        silent=True,
        rule="r",
        reference="42",
        detail="why",
    )
    store.journal.end("c1", outcome)
    ended = store.journal.get("c1")
    assert ended
    assert (ended.status, ended.text, ended.shown, ended.data) == ("ok", "in", "You are in.", {"n": [1, None]})
    assert (ended.images, ended.files) == (("b1",), (File("a.txt", "text/plain", id="b2"),))
    assert (ended.seconds, ended.silent, ended.rule, ended.reference, ended.detail) == (1.5, True, "r", "42", "why")
    assert ended.ended == clock.now
    assert store.journal.running() == []


def test_the_first_end_counts_and_an_unknown_one_changes_nothing(store: Store) -> None:
    begin(store, "c1")
    store.journal.end("c1", Outcome(status=Status.TIMED_OUT, text="too long"))
    store.journal.end("c1", Outcome(status=Status.OK, text="late"))
    store.journal.end("nobody", Outcome(status=Status.OK))
    entry = store.journal.get("c1")
    assert entry and (entry.status, entry.text) == ("timed_out", "too long")
    assert store.journal.get("nobody") is None


def test_a_call_begins_once(store: Store) -> None:
    begin(store, "c1", {"first": True})
    with pytest.raises(StoreError):
        begin(store, "c1", {"first": False})
    entry = store.journal.get("c1")
    assert entry and entry.arguments == {"first": True}


def test_a_refused_call_is_written_down_with_whatever_was_sent(store: Store) -> None:
    call = Call(id="c1", tool="lgoin", arguments="{half", turn="t")
    store.journal.refuse(
        call, refused("find", "There is no such tool."), tool=None, arguments="{half", chat="h", session="s", channel="mcp"
    )
    entry = store.journal.get("c1")
    assert entry
    assert (entry.tool, entry.status, entry.rule, entry.arguments) == ("lgoin", "refused", "find", "{half")
    assert entry.ended is not None
    assert store.journal.running() == []


def test_a_refusal_never_hides_a_call_that_began(store: Store) -> None:
    begin(store, "c1")
    store.journal.refuse(Call(id="c1", tool="x"), refused("r", "no"), tool=TOOL, arguments={}, chat="", session="", channel="")
    entry = store.journal.get("c1")
    assert entry and entry.status == "running"


def test_a_turns_calls_come_in_order_and_true(store: Store) -> None:
    begin(store, "b", SECRETS, turn="t1")
    begin(store, "a", {}, turn="t1")
    begin(store, "c", {}, turn="t2")
    begin(store, "d", {})
    entries = store.journal.of_turn("t1")
    assert [entry.id for entry in entries] == ["b", "a"]
    assert entries[0].arguments == SECRETS
    assert store.journal.of_turn("") == []


def test_what_runs_is_found_however_much_has_ended_since(store: Store) -> None:
    for number in range(50):
        begin(store, str(number))
        if number not in (7, 31):
            store.journal.end(str(number), Outcome(status=Status.OK))
        if number % 10 == 9:
            assert [entry.id for entry in store.journal.running()] == [id for id in ("7", "31") if int(id) <= number]
    store.journal.end("7", Outcome(status=Status.UNKNOWN))
    assert [entry.id for entry in store.journal.running()] == ["31"]
    store.journal.end("31", Outcome(status=Status.UNKNOWN))
    assert store.journal.running() == []
    begin(store, "new")
    assert [entry.id for entry in store.journal.running()] == ["new"]


def test_the_audit_pages_and_filters(store: Store) -> None:
    for number in range(5):
        begin(store, str(number))
        store.journal.end(str(number), Outcome(status=Status.OK if number % 2 else Status.FAILED))
    first = store.journal.audit(2)
    assert [entry.id for entry in first] == ["4", "3"]
    assert [entry.id for entry in store.journal.audit(9, before=first[-1].number)] == ["2", "1", "0"]
    assert [entry.id for entry in store.journal.audit(status=Status.FAILED)] == ["4", "2", "0"]
    assert [entry.id for entry in store.journal.audit(status="ok", tool="login")] == ["3", "1"]
    assert store.journal.audit(tool="other") == []
    assert [entry.id for entry in store.journal.recent("login", 1)] == ["4"]


def test_no_secret_is_in_the_audit_while_names_stay_and_the_truth_is_kept(store: Store) -> None:
    begin(store, "c1", SECRETS)
    detail = "Traceback: login(password='hunter2') gave sk-test-123, pw=x, https://u:pw@host/?key=abc"
    outcome = Outcome(status=Status.FAILED, text="t", shown="use hunter2", data={"said": ["hunter2", "ann"]}, detail=detail)
    store.journal.end("c1", outcome)
    (seen,) = store.journal.audit()
    assert seen == store.journal.recent("login")[0]
    told = json.dumps(msgspec.to_builtins(seen))
    for secret in ("hunter2", "sk-test-123", '"t"', "pw=x", "u:pw", "key=abc"):
        assert secret not in told
    for name in ("password", "apiKey", "token", "cfg", "list", "ann"):
        assert name in told
    true = store.journal.get("c1")
    assert true and true.arguments == SECRETS and true.text == "t"
    assert "hunter2" not in true.detail and "sk-test-123" not in true.detail, "details are masked before they are kept"


def test_odd_values_never_raise(store: Store) -> None:
    circle: list[object] = []
    circle.append(circle)
    deep: object = "end"
    for _ in range(5000):
        deep = [deep]
    arguments = {
        "nan": float("nan"),
        "half\ud800": "\ud83d\ude00 \udfff",
        "big": 10**400,
        "circle": circle,
        "deep": deep,
        "odd": object(),
    }
    begin(store, "c\ud800", arguments, turn="t\udfff")
    store.journal.end("c\ud800", Outcome(status=Status.OK, text="\ud800x", data={"inf": float("inf"), (1, 2): {3}}))
    entry = store.journal.get("c\ud800")
    assert entry and isinstance(entry.arguments, dict)
    assert (entry.id, entry.turn, entry.text) == ("c\ufffd", "t\ufffd", "\ufffdx")
    assert entry.arguments["nan"] is None
    assert entry.arguments["half\ufffd"] == "😀 \ufffd"
    assert entry.arguments["big"] == 10**400
    assert entry.arguments["circle"] == ["(circular)"]
    assert entry.data == {"inf": None, "(1, 2)": [3]}
    assert store.journal.audit()[0].status == "ok"


def test_two_megabytes_go_in_and_come_out(store: Store) -> None:
    text = "päge " * 400_000
    begin(store, "c1", {"text": text})
    store.journal.end("c1", Outcome(status=Status.OK, text=text))
    entry = store.journal.get("c1")
    assert entry and entry.text == text and entry.arguments == {"text": text}


def test_a_deleted_chats_calls_stay_without_their_contents_even_those_that_end_later(store: Store) -> None:
    chat = store.chats.create()
    begin(store, "c1", SECRETS, turn="t1", chat=chat.id)
    store.journal.end("c1", Outcome(status=Status.FAILED, text="x", shown="y", data=[1], detail="z", rule="r", reference="7"))
    begin(store, "c2", {"a": "private"}, turn="t1", chat=chat.id)
    begin(store, "c3", {"a": "other"})
    store.chats.delete(chat.id)
    store.journal.end("c2", Outcome(status=Status.OK, text="private", seconds=3.0))
    for id, status in (("c1", "failed"), ("c2", "ok")):
        entry = store.journal.get(id)
        assert entry
        assert (entry.chat, entry.arguments, entry.text, entry.shown, entry.data, entry.detail) == ("", {}, "", "", None, "")
        assert (entry.tool, entry.plugin, entry.risk, entry.status, entry.turn) == ("login", "door", "network", status, "t1")
    other = store.journal.get("c3")
    assert other and other.arguments == {"a": "other"}
    assert store.journal.running() == [other]


async def test_who_acts_is_on_the_disk_before_it_runs_and_who_reads_a_moment_later(store: Store, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "home" / "etui.db", isolation_level=None)

    def on_disk() -> list[tuple[str, str]]:
        return other.execute("SELECT id, status FROM calls ORDER BY number").fetchall()

    reading = msgspec.structs.replace(TOOL, risk=Risk.READ)
    store.journal.begin(Call(id="r", tool="login"), reading, {}, chat="", session="", channel="")
    assert on_disk() == []
    begin(store, "a")
    assert on_disk() == [("r", "running"), ("a", "running")]
    store.journal.end("r", Outcome(status=Status.OK))
    store.journal.end("a", Outcome(status=Status.FAILED))
    assert on_disk() == [("r", "running"), ("a", "running")]
    async with asyncio.timeout(10):
        while on_disk() != [("r", "ok"), ("a", "failed")]:
            await asyncio.sleep(0)
    other.close()


async def test_what_is_written_soon_is_found_at_once(store: Store) -> None:
    reading = msgspec.structs.replace(TOOL, risk=Risk.READ)
    store.journal.begin(Call(id="r", tool="login"), reading, {"n": 1}, chat="", session="", channel="")
    assert [entry.id for entry in store.journal.running()] == ["r"]
    store.journal.end("r", Outcome(status=Status.OK, text="done"))
    entry = store.journal.get("r")
    assert entry and (entry.status, entry.text) == ("ok", "done")


async def test_what_waits_is_on_the_disk_with_the_next_call_that_acts_even_one_that_cannot_be_written(
    tmp_path: Path,
) -> None:
    store = Store.open(tmp_path / "etui.db")
    other = sqlite3.connect(tmp_path / "etui.db")
    begin(store, "a")
    store.journal.end("a", Outcome(status=Status.OK))
    begin(store, "b")
    rows = "SELECT id, status FROM calls ORDER BY number"
    assert other.execute(rows).fetchall() == [("a", "ok"), ("b", "running")]
    store.journal.end("b", Outcome(status=Status.FAILED))
    with pytest.raises(StoreError):
        begin(store, "a")
    assert other.execute(rows).fetchall() == [("a", "ok"), ("b", "failed")]
    begin(store, "c")
    assert other.execute(rows).fetchall()[2:] == [("c", "running")]
    other.close()
    store.close()


async def test_a_store_that_closes_keeps_what_was_to_be_written_soon(tmp_path: Path) -> None:
    reading = msgspec.structs.replace(TOOL, risk=Risk.READ)
    for _ in range(2):
        store = Store.open(tmp_path / "etui.db")
        store.journal.begin(Call(id="r", tool="login"), reading, {}, chat="", session="", channel="")
        store.close()
    store = Store.open(tmp_path / "etui.db")
    assert [entry.id for entry in store.journal.running()] == ["r"]
    store.close()
