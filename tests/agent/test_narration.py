"""Lines around a call, on a clock that jumps."""

from __future__ import annotations

import asyncio

import pytest

from etui.agent.narration import Narration
from etui.events import Hub, Kind
from etui.tool import Tool, Voice

VOICE = Voice(announce="Looking.", heartbeat=("Still looking.",), complete="Found it.", fail="No luck.")


class Clock:
    """Does things later, when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due = []

    def later(self, seconds, action):
        entry = [self.now + seconds, action]
        self.due.append(entry)
        return Entry(self, entry)

    def jump(self, seconds):
        end = self.now + seconds
        while ready := [entry for entry in self.due if entry[0] <= end]:
            entry = min(ready, key=lambda one: one[0])
            self.due.remove(entry)
            self.now = entry[0]
            entry[1]()
        self.now = end


class Entry:
    def __init__(self, clock, entry):
        self.clock, self.entry = clock, entry

    def cancel(self):
        if self.entry in self.clock.due:
            self.clock.due.remove(self.entry)


class Talk:
    """A narration, what it heard and what it said."""

    def __init__(self) -> None:
        self.hub, self.clock = Hub(), Clock()
        tool = Tool(name="find", description="", parameters={}, contract="etui", plugin="p", voice=VOICE)
        self.narration = Narration(self.hub, {"find": tool}.get, self.clock.later)

    def tell(self, kind, turn="t", call="c", **data):
        self.narration.hear(self.hub.tell(kind, {"tool": "find", **data}, turn=turn, call=call))

    def said(self):
        return [(event.data["why"], event.data["text"]) for event in self.hub.said_after(0)]


def test_a_line_before_and_a_line_after():
    talk = Talk()
    talk.tell(Kind.CALL_STARTED, runs=True)
    assert talk.said() == [("announce", "Looking.")]
    talk.tell(Kind.CALL_ENDED, status="ok")
    assert talk.said()[1:] == [("complete", "Found it.")]


@pytest.mark.parametrize("status", ["failed", "timed_out", "crashed", "unknown"])
def test_another_line_after_it_went_wrong(status):
    talk = Talk()
    talk.tell(Kind.CALL_STARTED, runs=True)
    talk.tell(Kind.CALL_ENDED, status=status)
    assert talk.said()[1:] == [("fail", "No luck.")]


@pytest.mark.parametrize("status", ["refused", "needs_approval"])
def test_nothing_is_said_about_a_call_that_did_not_run(status):
    talk = Talk()
    talk.tell(Kind.CALL_STARTED, runs=False)
    talk.tell(Kind.CALL_ENDED, status=status)
    assert talk.said() == []


def test_heartbeats_come_after_nine_seconds_and_then_every_twenty_one():
    talk = Talk()
    talk.tell(Kind.CALL_STARTED, runs=True)
    talk.clock.jump(8.9)
    assert len(talk.said()) == 1
    talk.clock.jump(0.2)
    assert talk.said()[1:] == [("heartbeat", "Still looking.")]
    talk.clock.jump(42)
    assert len(talk.said()) == 4
    talk.tell(Kind.CALL_ENDED, status="ok")
    talk.clock.jump(100)
    assert [why for why, _ in talk.said()] == ["announce", "heartbeat", "heartbeat", "heartbeat", "complete"]


def test_nobody_talks_over_a_question():
    talk = Talk()
    talk.tell(Kind.CALL_STARTED, runs=True)
    talk.tell(Kind.CARD_OPENED)
    talk.clock.jump(10)
    assert len(talk.said()) == 1
    talk.tell(Kind.CARD_CLOSED)
    talk.clock.jump(21)
    assert talk.said()[1:] == [("heartbeat", "Still looking.")]


def test_each_line_is_said_once_a_turn_and_again_in_the_next():
    talk = Talk()
    for turn, call in (("t", "a"), ("t", "b"), ("u", "c")):
        talk.tell(Kind.CALL_STARTED, turn=turn, call=call, runs=True)
        talk.tell(Kind.CALL_ENDED, turn=turn, call=call, status="ok")
    assert [why for why, _ in talk.said()] == ["announce", "complete"] * 2


async def test_it_listens_to_the_hub_and_lets_go():
    hub = Hub()
    tool = Tool(name="find", description="", parameters={}, contract="etui", plugin="p", voice=VOICE)
    narration = Narration(hub, {"find": tool}.get)
    narration.start()
    async with hub.listen(Kind.SAID) as said:
        await asyncio.sleep(0)
        hub.tell(Kind.CALL_STARTED, {"tool": "find", "runs": True}, call="c", turn="t")
        event = await said.next()
        assert event is not None
        assert event.data == {"text": "Looking.", "why": "announce"}
    await narration.close()
    assert narration._beats["c"].cancelled()
