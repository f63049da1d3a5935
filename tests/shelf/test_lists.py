"""Named lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .desk import Desk


@pytest.fixture
def lists(desk_for) -> Desk:
    return desk_for("lists")


def test_the_shopping_list_is_meant_when_none_is_named(lists) -> None:
    assert lists.say_of("list_show") == "The shopping list is empty."
    assert lists.say_of("list_add", items=["milk"]) == "Added milk to the shopping list."
    assert lists.say_of("list_add", items=["bread", "eggs"]) == "Added bread and eggs to the shopping list."
    assert lists.say_of("list_show") == "On the shopping list: milk, bread and eggs."


@pytest.mark.parametrize(
    "name", ["shopping", "my shopping list", "Shopping List", "groceries", "the grocery list", "", "list", "the list"]
)
def test_one_list_has_many_names(lists, name) -> None:
    lists.say_of("list_add", items=["milk"], list=name)
    assert lists.say_of("list_show") == "On the shopping list: milk."


def test_lists_are_kept_apart(lists) -> None:
    lists.say_of("list_add", items=["milk"])
    lists.say_of("list_add", items=["tent", "torch"], list="packing")
    lists.say_of("list_add", items=["call the bank"], list="to do")
    assert lists.say_of("list_show", list="the packing list") == "On the packing list: tent and torch."
    assert lists.say_of("lists") == "You have 3 lists: packing with 2 things, shopping with 1 thing and to-do with 1 thing."


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (["milk and two eggs, bread"], ["milk", "two eggs", "bread"]),
        (["milk, eggs, and butter"], ["milk", "eggs", "butter"]),
        (["some milk"], ["milk"]),
        (["mac and cheese"], ["mac and cheese"]),
        (["rice and beans", "salt"], ["rice and beans", "salt"]),
        (["milk", "Milk", "milk."], ["milk"]),
        (["a dozen eggs"], ["a dozen eggs"]),
    ],
)
def test_things_are_told_apart_as_people_mean_them(lists, said, kept) -> None:
    ran = lists.run("list_add", items=said)
    assert ran.data["added"] == kept


def test_what_is_there_already_is_not_put_twice(lists) -> None:
    lists.say_of("list_add", items=["milk"])
    assert lists.say_of("list_add", items=["Milk", "bread"]) == "Added bread to the shopping list. Milk was already on it."
    assert lists.say_of("list_add", items=["milk"]) == "Milk was already on the shopping list."
    assert "undo" not in lists.run("list_add", items=["milk"]).data


@pytest.mark.parametrize("said", ["eggs", "egg", "the eggs", "Eggs", "a dozen eggs"])
def test_a_thing_is_taken_off_under_its_everyday_name(lists, said) -> None:
    lists.say_of("list_add", items=["a dozen eggs", "milk"])
    assert lists.say_of("list_remove", items=[said]) == "Took a dozen eggs off the shopping list."
    assert lists.say_of("list_show") == "On the shopping list: milk."


def test_what_is_not_there_is_said(lists) -> None:
    lists.say_of("list_add", items=["milk"])
    assert lists.fail_of("list_remove", items=["caviar"]) == "There is no caviar on the shopping list."
    assert lists.say_of("list_remove", items=["milk", "tea"]) == "Took milk off the shopping list. Tea was not on it."


def test_every_write_can_be_undone(lists) -> None:
    added = lists.run("list_add", items=["milk", "bread"])
    removed = lists.run("list_remove", items=["milk"])
    lists.undo(removed)
    assert lists.run("list_show").data["items"] == ["bread", "milk"]
    lists.undo(added)
    assert lists.say_of("list_show") == "The shopping list is empty."
    lists.say_of("list_add", items=["rice and beans", "tea"])
    cleared = lists.run("list_clear")
    assert cleared.text == "The shopping list is empty now; 2 things are gone."
    lists.undo(cleared)
    assert lists.run("list_show").data["items"] == ["rice and beans", "tea"]


def test_undo_of_an_addition_takes_off_only_what_was_added(lists) -> None:
    lists.say_of("list_add", items=["a dozen eggs"])
    lists.undo(lists.run("list_add", items=["eggs"]))
    assert lists.run("list_show").data["items"] == ["a dozen eggs"]


def test_a_cleared_list_that_is_empty_already_says_so(lists) -> None:
    assert lists.say_of("list_clear", list="packing") == "The packing list is already empty."
    assert lists.say_of("lists") == "All lists are empty."


@given(st.lists(st.text(max_size=20), max_size=4))
@settings(max_examples=60, deadline=None)
def test_whatever_is_added_is_there_once_and_can_be_taken_off(items) -> None:
    lists = Desk("lists", Path("unused"))
    added = lists.run("list_add", items=items)
    if isinstance(added.data, dict) and added.data["added"]:
        kept = lists.run("list_show").data["items"]
        assert kept == added.data["added"]
        lists.undo(added)
        assert lists.run("list_show").data["items"] == []
    lists.store.close()
