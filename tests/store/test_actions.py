"""The audit of what was done: rows of calls that acted, rows of decisions, and what is kept when a chat goes."""

from __future__ import annotations

import pytest

from etui.outcome import Outcome, Status
from etui.store import Store
from etui.store.actions import BY
from etui.tool import Call, Risk, Tool

WHERE = {"session": "s", "channel": "console"}


@pytest.fixture
def store():
    ticks = iter(range(1, 10_000))
    opened = Store.open(":memory:", clock=lambda: float(next(ticks)))
    yield opened
    opened.close()


def tool(risk: Risk = Risk.WRITE) -> Tool:
    return Tool(name="act", description="", parameters={}, contract="etui", plugin="p", risk=risk)


def acted(store, id: str, status: Status = Status.OK, risk: Risk = Risk.WRITE, chat: str = "", **arguments) -> None:
    store.journal.begin(Call(id=id, tool="act"), tool(risk), arguments, chat=chat, **WHERE)
    store.journal.end(id, Outcome(status=status, text="x"))


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (Status.OK, "executed"),
        (Status.FAILED, "executed:failed"),
        (Status.TIMED_OUT, "executed:failed"),
        (Status.CRASHED, "executed:failed"),
        (Status.UNKNOWN, "executed:failed"),
        (Status.CANCELLED, "executed:cancelled"),
    ],
)
def test_what_ran_has_a_row_that_says_how_it_ended(store, status, detail):
    acted(store, "a", status)
    [row] = store.journal.actions()
    assert (row.call, row.action, row.detail, row.approved, row.approver) == ("a", "act {}", detail, False, "agent-loop")


def test_reads_refusals_and_what_still_runs_have_none(store):
    acted(store, "a", risk=Risk.READ)
    acted(store, "b", Status.REFUSED)
    store.journal.begin(Call(id="c", tool="act"), tool(), {}, chat="", **WHERE)
    refused = Outcome(status=Status.NEEDS_APPROVAL, text="x")
    store.journal.refuse(Call(id="d", tool="act"), refused, tool=tool(), arguments={}, chat="", **WHERE)
    assert store.journal.actions() == []


def test_a_decision_about_a_call_is_told_with_what_was_done(store):
    store.journal.decided("a", "", "write", "approved", "user")
    acted(store, "a", n=1)
    store.journal.decided("b", "rm -rf x", "exec", "declined", "user")
    rows = store.journal.actions()
    assert [(row.action, row.detail, row.approved, row.approver) for row in rows] == [
        ("rm -rf x", "decision", False, "user"),
        ('act {"n": 1}', "executed", True, "user"),
        ('act {"n": 1}', "decision", True, "user"),
    ]
    assert [row.authority for row in rows] == ["You said no.", BY["user"], BY["user"]]


def test_a_command_is_kept_without_its_secrets(store):
    store.journal.decided("a", "curl -H 'Authorization: Bearer abcdef123456'", "exec", "approved", "saved")
    assert "abcdef" not in store.journal.actions()[0].action


def test_pages_follow_one_another(store):
    for number in range(5):
        acted(store, f"c{number}")
    first = store.journal.actions(2)
    second = store.journal.actions(2, first[-1].at)
    assert [row.call for row in (*first, *second)] == ["c4", "c3", "c2", "c1"]


def test_of_a_deleted_chat_only_that_something_was_done_is_left(store):
    chat = store.chats.create().id
    acted(store, "a", chat=chat, secret_plan="x")
    store.journal.decided("a", "open the plan", "write", "approved", "user")
    store.chats.delete(chat)
    assert [(row.action, row.detail) for row in store.journal.actions()] == [("act {}", "decision"), ("act {}", "executed")]


def test_the_reason_of_a_failure_is_kept_for_the_owner_and_masked(store):
    store.journal.begin(Call(id="a", tool="act"), tool(), {}, chat="", **WHERE)
    store.journal.end("a", Outcome(status=Status.FAILED, text="x", why="upstream 502, token=abcdef123456"))
    assert store.journal.get("a").why.endswith("abcdef123456")
    assert store.journal.recent()[0].why.startswith("upstream 502")
    assert "abcdef" not in store.journal.recent()[0].why
