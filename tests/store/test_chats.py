"""Chats, messages, turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.errors import StoreError
from etui.store import Store
from etui.store.chats import Chat, Message, ToolCall, Turn
from etui.store.reminders import Reminder

if TYPE_CHECKING:
    from tests.store.conftest import Clock


def test_a_chat_is_made_renamed_listed_and_deleted(store: Store, clock: Clock) -> None:
    first = store.chats.create("one", "terminal", private=True)
    clock.now += 1
    second = store.chats.create()
    assert first == Chat(first.id, "one", "terminal", True, clock.now - 1, clock.now - 1)
    assert store.chats.get(first.id) == first
    assert store.chats.all() == [second, first]
    clock.now += 1
    assert store.chats.rename(first.id, "two")
    assert [chat.title for chat in store.chats.all()] == ["two", ""]
    assert store.chats.all(limit=1) == [Chat(first.id, "two", "terminal", True, first.created, clock.now)]
    assert store.chats.delete(first.id)
    assert not store.chats.delete(first.id)
    assert not store.chats.rename(first.id, "three")
    assert store.chats.get(first.id) is None
    assert store.chats.all() == [second]


def test_messages_come_back_as_they_were_kept_in_order_and_after_an_id(store: Store, clock: Clock) -> None:
    chat = store.chats.create()
    said = store.chats.add(
        Message(chat=chat.id, turn="t", role="user", text="hi", images=("b1", "b2"), meta={"open": {"n": [1]}})
    )
    asked = store.chats.add(Message(chat=chat.id, turn="t", role="assistant", calls=(ToolCall("c", "roll", {"count": 3}),)))
    clock.now += 1
    answered = store.chats.add(Message(chat=chat.id, turn="t", role="tool", text="4", call="c", tool="roll", at=7.0))
    assert said.id < asked.id < answered.id
    assert (said.at, answered.at) == (clock.now - 1, 7.0)
    assert store.chats.messages(chat.id) == [said, asked, answered]
    assert store.chats.messages(chat.id, after=said.id) == [asked, answered]
    found = store.chats.get(chat.id)
    assert found and found.changed == clock.now


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("", {}),
        ("  \n", {}),
        (None, {}),
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        ("{half", "{half"),
        ("[1]", "[1]"),
        ('"word"', '"word"'),
    ],
)
def test_arguments_are_kept_as_the_object_they_are_so_that_the_next_turn_can_tell_them_again(
    store: Store, sent: object, kept: object
) -> None:
    chat = store.chats.create()
    message = store.chats.add(Message(chat=chat.id, role="assistant", calls=(ToolCall("c", "get_time", sent),)))
    assert message.calls == (ToolCall("c", "get_time", kept),)
    assert store.chats.messages(chat.id) == [message]


def test_ids_of_messages_never_come_twice(store: Store) -> None:
    chat = store.chats.create()
    last = store.chats.add(Message(chat=chat.id, role="user", text="a"))
    store.chats.delete(chat.id)
    other = store.chats.create()
    assert store.chats.add(Message(chat=other.id, role="user", text="b")).id > last.id


def test_a_message_for_a_chat_that_is_gone_is_refused_with_a_sentence(store: Store) -> None:
    with pytest.raises(StoreError, match="There is no chat 'gone'"):
        store.chats.add(Message(chat="gone", role="user"))
    with pytest.raises(StoreError, match="There is no chat 'gone'"):
        store.chats.begin_turn(Turn(id="t", chat="gone"), Message(chat="gone", role="user"))
    assert store.chats.unfinished() == []


def test_a_turn_begins_with_what_was_said_and_ends_with_the_answer(store: Store, clock: Clock) -> None:
    chat = store.chats.create()
    turn = Turn(id="t1", chat=chat.id, session="s", text="hi", channel="voice", trust="full", model="embedded")
    said = store.chats.begin_turn(turn, Message(chat=chat.id, turn="t1", role="user", text="hi"))
    (open_turn,) = store.chats.unfinished()
    assert open_turn == Turn(
        id="t1", chat=chat.id, session="s", text="hi", started=clock.now, channel="voice", trust="full", model="embedded"
    )
    answer = store.chats.end_turn("t1", "done", Message(chat=chat.id, turn="t1", role="assistant", text="hello"))
    assert answer
    assert store.chats.unfinished() == []
    assert store.chats.messages(chat.id) == [said, answer]


def test_a_turn_ends_once(store: Store) -> None:
    chat = store.chats.create()
    store.chats.begin_turn(Turn(id="t1", chat=chat.id), Message(chat=chat.id, role="user"))
    assert store.chats.end_turn("t1", "stopped") is None
    assert store.chats.end_turn("t1", "done", Message(chat=chat.id, role="assistant", text="late")) is None
    assert len(store.chats.messages(chat.id)) == 1


def test_a_message_says_why_its_turn_was_cut_short(store: Store) -> None:
    chat = store.chats.create()
    store.chats.begin_turn(Turn(id="t1", chat=chat.id), Message(chat=chat.id, turn="t1", role="user"))
    store.chats.add(Message(chat=chat.id, role="notice", text="of no turn"))
    assert [message.why for message in store.chats.messages(chat.id)] == ["", ""]
    store.chats.end_turn("t1", "stopped", Message(chat=chat.id, turn="t1", role="assistant", text="so far"))
    assert [message.why for message in store.chats.messages(chat.id)] == ["stopped", "", "stopped"]


def test_a_turn_that_cannot_begin_leaves_no_message(store: Store) -> None:
    chat = store.chats.create()
    store.chats.begin_turn(Turn(id="t1", chat=chat.id), Message(chat=chat.id, role="user"))
    with pytest.raises(StoreError):
        store.chats.begin_turn(Turn(id="t1", chat=chat.id), Message(chat=chat.id, role="user", text="again"))
    assert [message.text for message in store.chats.messages(chat.id)] == [""]


def test_deleting_a_chat_takes_everything_of_its_own_and_nothing_else(store: Store) -> None:
    gone, kept = store.chats.create(), store.chats.create()
    for chat in (gone, kept):
        store.chats.begin_turn(Turn(id=f"t-{chat.id}", chat=chat.id), Message(chat=chat.id, role="user", text="x"))
    own = store.blobs.put(b"own", "image/png", chat=gone.id)
    both = store.blobs.put(b"both", "image/png", chat=gone.id)
    assert store.blobs.put(b"both", "image/png", chat=kept.id) == both
    reminder = store.reminders.add(Reminder(text="tea", due=5.0, chat=gone.id))
    store.chats.delete(gone.id)
    assert store.chats.messages(gone.id) == []
    assert [turn.chat for turn in store.chats.unfinished()] == [kept.id]
    assert store.blobs.get(own) is None
    assert store.blobs.get(both) is not None
    left = store.reminders.get(reminder.id)
    assert left and (left.text, left.chat) == ("tea", "")
    assert store.chats.end_turn(f"t-{gone.id}", "done", Message(chat=gone.id, role="assistant")) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=10,
)
WILD = st.text(st.characters(exclude_categories=()))


@given(text=WILD, arguments=JSON, meta=st.dictionaries(WILD, JSON, max_size=3))
def test_whatever_is_said_what_add_gives_is_what_messages_gives(text: str, arguments: object, meta: dict[str, object]) -> None:
    store = Store.open(":memory:")
    chat = store.chats.create(text)
    kept = store.chats.add(
        Message(chat=chat.id, role="assistant", text=text, calls=(ToolCall(text, text, arguments),), meta=meta)
    )
    assert store.chats.messages(chat.id) == [kept]
    found = store.chats.get(chat.id)
    assert found and found.title == chat.title
    kept.text.encode()
    store.close()


def test_two_megabytes_of_message_come_back(store: Store) -> None:
    chat = store.chats.create()
    text = "ünd " * 500_000
    store.chats.add(Message(chat=chat.id, role="user", text=text))
    assert store.chats.messages(chat.id)[0].text == text
