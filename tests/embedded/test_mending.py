"""What people take back, mistype, deny and only talk about, before any tool is chosen."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.embedded.household import TOOLS
from tests.embedded.judge import NOW

from etui.agent.embedded.known import known
from etui.agent.embedded.mend import labelled, later, mended, plainer
from etui.agent.embedded.mood import explains, refuses, tells
from etui.agent.embedded.spelling import spelt
from etui.agent.embedded.words import cut


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("set a timer for ten minutes no wait make that twelve", "set a timer for twelve minutes"),
        ("what time is it in Berlin no sorry I mean in Vienna", "what time is it in Vienna"),
        ("put apples, no, pears on the shopping list", "put pears on the shopping list"),
        ("what is 18 plus 4 sorry 18 plus 14", "what is 18 plus 14"),
        ("tell Anna no tell Maria that dinner is ready", "tell Maria that dinner is ready"),
        ("remind me tonight at nine no at ten", "remind me tonight at ten"),
        ("there's no butter left", "there's no butter left"),
        ("tell mom sorry I'm late", "tell mom sorry I'm late"),
    ],
)
def test_what_was_taken_back_is_gone_and_other_words_stay(said, meant):
    assert mended(said) == meant


@given(st.text(max_size=200))
def test_any_text_can_be_mended_and_nothing_is_added_but_a_unit(text):
    assert len(mended(text)) <= len(text) + 12


@pytest.mark.parametrize(
    "said", ["I'm out of salt", "we're running low on salt", "there is no salt left", "we could use some salt"]
)
def test_what_somebody_lacks_is_what_they_need(said):
    assert plainer(said) == "we need salt"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("shopping list: tin foil", "add tin foil to the shopping list"),
        ("list: sponges and soap", "add sponges and soap to the list"),
        ("shopping list, washing powder", "add washing powder to the shopping list"),
        ("shopping list: add batteries", ""),
        ("shopping list, please", ""),
    ],
)
def test_what_stands_behind_the_name_of_a_list_goes_on_it(said, meant):
    assert labelled(said) == meant


def test_a_time_at_the_beginning_may_stand_at_the_end():
    assert (
        later("next Friday at nine I need a reminder to call Kim", NOW) == "I need a reminder to call Kim next Friday at nine"
    )
    assert later("today was a good day", NOW) == ""


def test_a_slip_is_put_right_only_towards_a_word_that_the_tools_know():
    assert [word.text for word in spelt(cut("set a tmer for pasta"), {"timer", "set"})] == ["set", "a", "timer", "for", "pasta"]
    assert [word.text for word in spelt(cut("play qwrtz"), {"timer", "play"})] == ["play", "qwrtz"]


def test_commands_not_to_do_something_reports_and_questions_about_commands_are_told_apart():
    assert refuses(cut("don't set a timer")) and refuses(cut("you don't need to turn the lights on"))
    assert not refuses(cut("don't let me forget the dentist"))
    assert explains(cut("which list are you talking about")) and explains(cut("what files do you mean"))
    assert explains(cut("how do I set a timer")) and explains(cut("did you add milk"))
    assert tells(cut("I turned off the lights myself")) and not tells(cut("turn off the lights"))


def test_an_example_without_slots_gets_them_where_the_values_are_plain():
    weather = next(tool for tool in TOOLS if tool.name == "get_weather")
    taught = known(msgspec.structs.replace(weather, examples=(), taught=("is it nice in Lisbon",)))
    assert taught.templates[0].text == "is it nice in {city}"
