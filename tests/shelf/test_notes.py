"""Notes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from .desk import NOON, Desk


@pytest.fixture
def notes(desk_for) -> Desk:
    return desk_for("notes")


@pytest.fixture
def three(notes) -> Desk:
    notes.say_of("note_add", text="The wifi password is hunter2")
    notes.say_of("note_add", text="Berlin trip: take the 9:40 train, hotel at Alexanderplatz.")
    notes.say_of("note_add", text="Dentist said to floss more", title="Dentist")
    return notes


def test_a_note_is_kept_and_read_back(notes) -> None:
    assert notes.say_of("note_add", text="The spare key is under the pot") == "Noted: The spare key is under the pot."
    assert notes.say_of("note_read") == "The spare key is under the pot"
    assert notes.fail_of("note_add", text="  ") == "What should the note say?"


@pytest.mark.parametrize("query", ["wifi password", "the wifi password", "wifi", "password for the wifi", "WIFI"])
def test_a_note_is_found_by_its_words(three, query) -> None:
    assert three.say_of("notes_search", query=query) == "The wifi password is hunter2"


def test_several_hits_are_told_together_and_none_honestly(three) -> None:
    three.say_of("note_add", text="Berlin budget is 400 euros")
    text = three.say_of("notes_search", query="Berlin")
    assert text.startswith("I found 2 notes: ")
    assert "9:40 train" in text and "400 euros" in text
    assert three.say_of("notes_search", query="quantum gravity") == "I found no note about quantum gravity."


@pytest.mark.parametrize("said", ["2", "number 2", "Berlin trip", "the berlin trip note", "alexanderplatz"])
def test_a_note_is_read_by_number_or_words(three, said) -> None:
    assert three.say_of("note_read", note=said).startswith("Berlin trip:")


def test_a_note_that_is_not_clear_is_asked_about(three) -> None:
    three.say_of("note_add", text="Dentist on 4 May")
    assert three.fail_of("note_read", note="dentist").startswith("Which note: number ")
    assert three.fail_of("note_read", note="99") == "There is no note number 99."
    assert three.fail_of("note_delete", note="quantum") == "I found no note about quantum."


def test_the_newest_come_first(three) -> None:
    three.now = NOON + timedelta(days=1)
    three.say_of("note_add", text="Buy stamps")
    text = three.say_of("notes_recent", limit=2)
    assert text == "Today: Buy stamps; yesterday: Dentist said to floss more. That's 2 of 4."


def test_no_notes_are_said_plainly(notes) -> None:
    assert notes.say_of("notes_recent") == "You have no notes."
    assert notes.fail_of("note_read") == "You have no notes."


def test_writing_and_deleting_can_be_undone(three) -> None:
    added = three.run("note_add", text="Call Ben")
    three.undo(added)
    assert three.say_of("notes_search", query="Ben") == "I found no note about Ben."
    deleted = three.run("note_delete", note="wifi")
    assert deleted.text == "Deleted the note: The wifi password is hunter2."
    three.undo(deleted)
    assert three.say_of("notes_search", query="wifi") == "The wifi password is hunter2"


def test_a_deleted_notes_number_is_not_given_again(three) -> None:
    three.say_of("note_delete", note="3")
    assert three.run("note_add", text="New one").data["id"] == 4
