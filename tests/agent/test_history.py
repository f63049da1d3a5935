from __future__ import annotations

import itertools
import json
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from etui.agent.history import NO_RESULT, Called, Reply, Said, replay
from etui.store.chats import Message, ToolCall

Role = Literal["user", "assistant", "tool", "notice"]


def _say(role: Role, text: str = "", *calls: ToolCall, call: str = "", tool: str = "", **more: object) -> Message:
    return Message(chat="c", role=role, text=text, calls=calls, call=call, tool=tool, **more)  # type: ignore[arg-type]


LAMP = ToolCall("a", "lamp", {"on": True})


def test_results_are_matched_by_id_whatever_stands_between() -> None:
    door = ToolCall("b", "door", {})
    entries = replay(
        [
            _say("user", "do"),
            _say("assistant", "", LAMP, door),
            _say("assistant", "I did."),
            _say("tool", "open", call="b", tool="door"),
            _say("tool", "lit", call="a", tool="lamp"),
        ]
    )
    assert entries == [
        Said("do"),
        Reply("", (Called("a", "lamp", {"on": True}, "lit"), Called("b", "door", {}, "open"))),
        Reply("I did."),
    ]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    entries = replay([_say("user", "do"), _say("assistant", "Well.", LAMP)])
    assert entries[1] == Reply("Well.", (Called("a", "lamp", {"on": True}, NO_RESULT, ok=False),))


def test_ghosts_and_orphans_are_dropped_and_the_words_survive() -> None:
    ghost = ToolCall("", "", {})
    entries = replay([_say("user", "do"), _say("assistant", "Words.", ghost), _say("tool", "lost", call="zzz", tool="lamp")])
    assert entries == [Said("do"), Reply("Words.")]


def test_missing_ids_are_made_and_each_result_lands_on_its_own_call() -> None:
    calls = (ToolCall("", "lamp", {"n": 1}), ToolCall("", "door", {"n": 2}))
    stored = [
        _say("user", "do"),
        _say("assistant", "", *calls),
        _say("tool", "door!", tool="door"),
        _say("tool", "lamp!", tool="lamp"),
    ]
    reply = replay(stored)[1]
    assert isinstance(reply, Reply)
    assert [call.result for call in reply.calls] == ["lamp!", "door!"]
    assert len({call.id for call in reply.calls}) == 2 and all(call.id for call in reply.calls)
    assert replay(stored) == replay(stored)


def test_ids_that_repeat_are_made_unique() -> None:
    stored = [_say("user", "do")]
    for number in range(3):
        stored += [_say("assistant", "", LAMP), _say("tool", str(number), call="a", tool="lamp"), _say("user", "again")]
    replies = [entry for entry in replay(stored) if isinstance(entry, Reply)]
    assert [reply.calls[0].result for reply in replies] == ["0", "1", "2"]
    assert len({reply.calls[0].id for reply in replies}) == 3


def test_arguments_are_always_an_object() -> None:
    odd = ["", "  ", '{"half', None, [1], '{"a": 1}', {"x": float("nan"), "y": ["\ud835"]}]
    stored = [_say("user", "do"), _say("assistant", "", *(ToolCall(str(at), "lamp", one) for at, one in enumerate(odd)))]
    reply = replay(stored)[1]
    assert isinstance(reply, Reply)
    found = [call.arguments for call in reply.calls]
    assert found == [{}, {}, {}, {}, {}, {"a": 1}, {"x": None, "y": ["\ufffd"]}]
    json.dumps(found, allow_nan=False).encode()


def test_neighbours_of_one_side_become_one_and_the_person_begins() -> None:
    stored = [
        _say("assistant", "Welcome."),
        _say("user", "one"),
        _say("user", "two"),
        _say("notice", "Tea is ready."),
        _say("assistant", " "),
    ]
    entries = replay(stored)
    assert isinstance(entries[0], Said) and entries[1] == Reply("Welcome.")
    assert entries[2] == Said("one\n\ntwo\n\n(Notice, not from the person: Tea is ready.)")
    assert len(entries) == 3


def test_the_oldest_turns_go_first_and_whole() -> None:
    stored: list[Message] = []
    for number in range(10):
        id = f"k{number}"
        stored += [
            _say("user", f"question {number}"),
            _say("assistant", "", ToolCall(id, "look", {})),
            _say("tool", "x" * 1000, call=id, tool="look"),
            _say("assistant", f"answer {number}"),
        ]
    entries = replay(stored, budget=3500)
    assert [entry.text for entry in entries if isinstance(entry, Said)] == ["question 7", "question 8", "question 9"]


def test_a_last_turn_that_is_too_long_keeps_its_shape_with_shorter_results() -> None:
    calls = tuple(ToolCall(str(at), "look", {}) for at in range(4))
    stored = [_say("user", "look"), _say("assistant", "", *calls)]
    stored += [_say("tool", "y" * 100_000, call=call.id, tool="look") for call in calls]
    reply = replay(stored, budget=10_000)[1]
    assert isinstance(reply, Reply)
    assert len(reply.calls) == 4 and sum(len(call.result) for call in reply.calls) < 11_000
    assert "left out" in reply.calls[0].result


CALL = st.builds(
    ToolCall, st.sampled_from(["", "a", "b", "c"]), st.sampled_from(["", "f", "g"]), st.text(max_size=5) | st.none()
)
CALLS = st.lists(CALL, max_size=3).map(tuple)
MESSAGES = st.lists(
    st.builds(
        Message,
        chat=st.just("c"),
        role=st.sampled_from(["user", "assistant", "tool", "notice"]),
        text=st.text(st.characters(), max_size=20),
        calls=CALLS,
        call=st.sampled_from(["", "a", "b", "z"]),
        tool=st.sampled_from(["", "f", "g"]),
    ),
    max_size=12,
)


@given(MESSAGES, st.integers(0, 200))
def test_whatever_is_stored_the_replay_is_well_formed(messages: list[Message], budget: int) -> None:
    entries = replay(messages, budget)
    assert not entries or isinstance(entries[0], Said)
    calls = [call for entry in entries if isinstance(entry, Reply) for call in entry.calls]
    assert len({call.id for call in calls}) == len(calls)
    assert all(call.id and call.name and isinstance(call.arguments, dict) for call in calls)
    assert all(entry.text or (isinstance(entry, Reply) and entry.calls) for entry in entries)
    for before, after in itertools.pairwise(entries):
        assert not (isinstance(before, Said) and isinstance(after, Said))
    "".join(entry.text for entry in entries).encode("utf-8")
