"""What goes with a chat: the name that plugins have for it, and what was chosen for it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etui.errors import StoreError
from etui.store import Store


@pytest.fixture
def store():
    made = Store.open(":memory:")
    yield made
    made.close()


def test_a_chat_is_called_by_its_title_and_found_by_it(store):
    chat = store.chats.create("Trip")
    assert (store.names.of(chat.id), store.names.find("Trip"), store.names.find(chat.id)) == ("Trip", chat.id, chat.id)


def test_of_two_chats_with_one_title_the_older_keeps_it_and_both_are_found(store):
    first, second = store.chats.create("Trip"), store.chats.create("Trip")
    assert store.names.of(first.id) == "Trip"
    assert store.names.find(store.names.of(second.id)) == second.id != first.id


def test_a_chat_without_a_title_is_called_by_its_id(store):
    chat = store.chats.create()
    assert store.names.of(chat.id) == chat.id
    assert store.names.find("") == "" == store.names.find("nowhere")


def test_a_renamed_chat_has_its_new_name_only(store):
    chat = store.chats.create("Old")
    store.chats.rename(chat.id, "New")
    assert (store.names.find("Old"), store.names.find("New")) == ("", chat.id)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=6))
def test_every_chat_is_found_by_its_name_whatever_they_are_called(titles):
    store = Store.open(":memory:")
    chats = [store.chats.create(title) for title in titles]
    assert [store.names.find(store.names.of(chat.id)) for chat in chats] == [chat.id for chat in chats]
    store.close()


def test_choices_are_kept_by_chat_taken_back_with_none_and_gone_with_the_chat(store):
    one, other = store.chats.create("one"), store.chats.create("other")
    store.choices.put(one.id, "email_scope", "work")
    store.choices.put(one.id, "extra_toolsets", ["files"])
    store.choices.put(one.id, "email_scope", "home")
    assert store.choices.of(one.id) == {"email_scope": "home", "extra_toolsets": ["files"]}
    assert store.choices.of(other.id) == {}
    store.choices.put(one.id, "email_scope", None)
    assert store.choices.of(one.id) == {"extra_toolsets": ["files"]}
    store.chats.delete(one.id)
    assert store.choices.of(one.id) == {}


def test_nothing_can_be_chosen_for_a_chat_that_is_not_there(store):
    with pytest.raises(StoreError, match="no chat 'gone'"):
        store.choices.put("gone", "toolset", "all")
