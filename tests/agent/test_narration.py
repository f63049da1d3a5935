"""Lines around a call, on a clock that jumps."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from etui.agent.narration import Narration, in_manner
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

    def __init__(self, contract="etui", narrate="auto", reasons=False) -> None:
        self.hub, self.clock = Hub(), Clock()
        self.told = self.hub.listen(Kind.SAID, Kind.HUM)
        tool = Tool(name="find", description="", parameters={}, contract=contract, plugin="p", voice=VOICE)
        manner = partial(in_manner, narrate, reasons)
        self.narration = Narration(self.hub, {"find": tool}.get, self.clock.later, manner=manner)

    def tell(self, kind, turn="t", call="c", **data):
        self.narration.hear(self.hub.tell(kind, {"tool": "find", **data}, turn=turn, call=call))

    async def heard(self):
        return [(await self.told.next()).kind for _ in range(len(self.told._events))]

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
    for card in ("a", "b"):
        talk.tell(Kind.CARD_OPENED, card={"id": card}, waits=True)
    talk.clock.jump(10)
    assert len(talk.said()) == 1
    talk.tell(Kind.CARD_CLOSED, card="a")
    talk.clock.jump(9)
    assert len(talk.said()) == 1
    talk.tell(Kind.CARD_CLOSED, card="b")
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
    beat = narration._beats["c"].handle
    await narration.close()
    assert beat.cancelled()


@pytest.mark.promise("K310")
@pytest.mark.parametrize(("channel", "hums"), [("voice", 1), ("phone", 1), ("console", 0), ("python", 0)])
async def test_a_remote_tool_has_no_lines_and_hums_where_silence_is_heard(channel, hums):
    talk = Talk(contract="mcp")
    talk.tell(Kind.CALL_STARTED, runs=True, channel=channel)
    talk.clock.jump(12)
    talk.tell(Kind.CALL_ENDED, status="ok")
    talk.clock.jump(100)
    assert await talk.heard() == [Kind.HUM] * hums


@pytest.mark.parametrize(
    ("narrate", "reasons", "turn", "expected"),
    [
        ("auto", False, "t", [Kind.SAID, Kind.SAID, Kind.SAID]),
        ("auto", True, "t", [Kind.HUM]),
        ("auto", True, "", [Kind.SAID, Kind.SAID, Kind.SAID]),
        ("always", True, "t", [Kind.SAID, Kind.SAID, Kind.SAID]),
        ("never", False, "t", []),
        ("never", True, "t", []),
    ],
)
async def test_who_speaks_is_the_owners_choice_and_the_models_manner(narrate, reasons, turn, expected):
    talk = Talk(narrate=narrate, reasons=reasons)
    talk.tell(Kind.CALL_STARTED, turn=turn, runs=True, channel="voice")
    talk.clock.jump(12)
    talk.tell(Kind.CALL_ENDED, turn=turn, status="ok")
    assert await talk.heard() == expected


def test_one_last_word_for_a_tool_in_a_turn_however_often_it_is_called():
    talk = Talk()
    for call, status in (("a", "ok"), ("b", "failed"), ("c", "ok")):
        talk.tell(Kind.CALL_STARTED, call=call, runs=True)
        talk.tell(Kind.CALL_ENDED, call=call, status=status)
    assert talk.said() == [("announce", "Looking."), ("complete", "Found it.")]


async def test_a_call_outside_of_any_turn_has_its_lines_too():
    hub = Hub()
    tool = Tool(name="find", description="", parameters={}, contract="etui", plugin="p", voice=VOICE)
    narration = Narration(hub, {"find": tool}.get)
    narration.start()
    async with hub.listen(Kind.SAID) as said:
        await asyncio.sleep(0)
        hub.tell(Kind.CALL_STARTED, {"tool": "find", "runs": True}, call="c")
        hub.tell(Kind.CALL_ENDED, {"tool": "find", "status": "ok"}, call="c")
        assert [(await said.next()).data["why"] for _ in range(2)] == ["announce", "complete"]
    await narration.close()
