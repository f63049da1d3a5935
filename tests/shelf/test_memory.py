"""What the assistant was told to remember."""

from __future__ import annotations

import msgspec
import pytest

from etui.outcome import Status

from .desk import Desk


@pytest.fixture
def memory(desk_for) -> Desk:
    return desk_for("memory")


def test_a_fact_is_said_back_from_the_persons_side(memory) -> None:
    assert memory.say_of("remember", fact="that my sister is called Anna.") == "I'll remember that your sister is called Anna."
    assert memory.say_of("remember", fact="I'm allergic to nuts") == "I'll remember that you're allergic to nuts."
    assert memory.say_of("remember", fact="My sister is called Anna") == "I already remember that."
    assert memory.fail_of("remember", fact=" . ") == "What should I remember?"


@pytest.mark.parametrize("query", ["my sister", "sister", "Anna", "my sister's name", "what is my sister called"])
def test_a_fact_is_recalled_by_what_it_is_about(memory, query) -> None:
    memory.say_of("remember", fact="my sister is called Anna")
    memory.say_of("remember", fact="the car is parked on level 3")
    assert memory.say_of("recall", query=query) == "You told me that your sister is called Anna."


def test_everything_is_recalled_newest_first_and_nothing_honestly(memory) -> None:
    assert memory.say_of("recall", query="the car") == "I don't remember anything about the car."
    assert memory.say_of("recall") == "I don't remember anything."
    memory.say_of("remember", fact="my sister is called Anna")
    memory.say_of("remember", fact="the car is on level 3")
    for everything in ("", "me", "everything"):
        assert (
            memory.say_of("recall", query=everything) == "You told me that the car is on level 3; your sister is called Anna."
        )


def test_one_fact_is_forgotten_and_comes_back(memory) -> None:
    memory.say_of("remember", fact="my sister is called Anna")
    memory.say_of("remember", fact="my brother is called Ben")
    assert memory.fail_of("forget", query="called").startswith("Which of these should I forget: ")
    gone = memory.run("forget", query="my brother")
    assert gone.text == "I've forgotten that your brother is called Ben."
    assert memory.say_of("recall") == "You told me that your sister is called Anna."
    memory.undo(gone)
    assert "Ben" in memory.say_of("recall", query="brother")
    assert memory.fail_of("forget", query="the moon") == "I don't remember anything about the moon."


def test_remembering_can_be_undone(memory) -> None:
    memory.undo(memory.run("remember", fact="the safe's code is 1234"))
    assert memory.say_of("recall") == "I don't remember anything."


def test_nothing_is_kept_from_a_private_chat(memory) -> None:
    memory.say_of("remember", fact="the sky is blue")
    memory.caller = msgspec.structs.replace(memory.caller, private=True)
    assert memory.run("remember", fact="the safe is open").status is Status.REFUSED
    assert memory.say_of("recall") == "You told me that the sky is blue."
