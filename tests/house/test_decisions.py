"""What the owner decided, over restarts."""

from __future__ import annotations

import pytest

from etui.errors import UsageError
from etui.owner.approvals import Approvals
from etui.owner.decisions import Owners, Switches, Taught
from etui.store import Store
from etui.tool import Tool

ALARM = Tool(
    name="alarm",
    description="",
    parameters={"type": "object", "properties": {"time": {"type": "string"}}},
    contract="etui",
    plugin="clock",
    digest="1",
)


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "etui.db")
    yield store
    store.close()


def test_what_is_switched_off_stays_off_after_a_restart(store):
    switches = Switches(store.values)
    switches.switch("alarm", False)
    assert Switches(store.values).off == switches.off == {"alarm"}
    switches.switch("alarm", True)
    assert Switches(store.values).off == switches.off == frozenset()


def test_a_sentence_is_taught_once_and_can_be_taken_back(store):
    taught = Taught(store.values)
    taught.teach(ALARM, "  wake me  at {time} ")
    taught.teach(ALARM, "wake me at {time}")
    assert Taught(store.values).of("alarm") == ("wake me at {time}",)
    taught.forget("alarm", "wake me at {time}")
    assert Taught(store.values).of("alarm") == ()


@pytest.mark.parametrize(
    ("sentence", "says"), [("", "word"), ("{time}", "word"), ("wake me at {when}", "'when'"), ("x" * 999, "999")]
)
def test_a_sentence_that_could_never_work_is_refused_with_the_reason(store, sentence, says):
    with pytest.raises(UsageError, match=says):
        Taught(store.values).teach(ALARM, sentence)


def test_a_yes_to_this_call_is_no_yes_to_another(store):
    approvals = Approvals(store.values)
    approvals.remember(ALARM, "console", {"time": "7"})
    again = Approvals(store.values)
    assert again.allows(ALARM, "console", {"time": "7"})
    assert not again.allows(ALARM, "console", {"time": "8"})
    assert not again.allows(ALARM, "phone", {"time": "7"})


def test_a_yes_to_the_tool_holds_until_its_code_changes(store):
    import msgspec

    approvals = Approvals(store.values)
    approvals.remember(ALARM, "console", None)
    assert approvals.allows(ALARM, "console", {"time": "8"})
    assert not approvals.allows(msgspec.structs.replace(ALARM, digest="2"), "console", {"time": "8"})
    assert not approvals.allows(msgspec.structs.replace(ALARM, plugin="other"), "console", {"time": "8"})
    assert approvals.forget("alarm") == 1
    assert not approvals.allows(ALARM, "console", {"time": "8"})


def test_who_took_a_name_first_is_remembered(store):
    Owners(store.values).write({"roll": "dice"})
    assert Owners(store.values).read() == {"roll": "dice"}
