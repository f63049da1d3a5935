"""Timers and the stopwatch."""

from __future__ import annotations

from datetime import timedelta

import pytest

from .desk import NOON, Desk


@pytest.fixture
def clock(desk_for) -> Desk:
    return desk_for("clock")


def test_a_timer_is_a_reminder_that_says_when_it_is_done(clock) -> None:
    assert clock.say_of("set_timer", duration=600) == "Timer set for 10 minutes."
    [reminder] = clock.reminders
    assert reminder["kind"] == "timer"
    assert reminder["text"] == "Your 10 minute timer is done."
    assert reminder["due"] == NOON.timestamp() + 600


def test_a_timer_takes_a_label_and_an_iso_duration(clock) -> None:
    said = clock.say_of("set_timer", duration="PT1H30M", label="the pasta")
    assert said == "Timer set for 1 hour and 30 minutes for the pasta."
    assert clock.reminders[0]["text"] == "Your pasta timer is done."


def test_the_time_left_is_told(clock) -> None:
    assert clock.say_of("timers") == "No timers are running."
    clock.run("set_timer", duration=600, label="pasta")
    clock.run("set_timer", duration=3600)
    clock.now = NOON + timedelta(minutes=5, seconds=50)
    assert clock.say_of("timers", timer="pasta") == "The pasta timer has 4 minutes and 10 seconds left."
    assert clock.say_of("timers").startswith("The pasta timer has 4 minutes and 10 seconds left and the 1 hour timer has")


@pytest.mark.parametrize("said", ["pasta", "the pasta timer", "Pasta", "my pasta timer"])
def test_a_timer_is_cancelled_by_its_label(clock, said) -> None:
    clock.run("set_timer", duration=600, label="pasta")
    clock.run("set_timer", duration=60)
    assert clock.say_of("cancel_timer", timer=said) == "The pasta timer is cancelled, with 10 minutes left."
    assert [one["label"] for one in clock.reminders] == ["1 minute"]


@pytest.mark.parametrize("said", ["10 minute", "ten minute", "the 10 minutes timer", "ten minutes", "10-minute timer"])
def test_a_timer_is_cancelled_by_its_length(clock, said) -> None:
    clock.run("set_timer", duration=600)
    clock.run("set_timer", duration=60)
    clock.say_of("cancel_timer", timer=said)
    assert [one["label"] for one in clock.reminders] == ["1 minute"]


def test_the_only_timer_needs_no_name_and_several_are_asked_about(clock) -> None:
    assert clock.say_of("cancel_timer") == "No timers are running."
    clock.run("set_timer", duration=60)
    clock.run("set_timer", duration=600, label="tea")
    assert clock.fail_of("cancel_timer") == "Which timer: the 1 minute timer or the tea timer?"
    assert clock.fail_of("cancel_timer", timer="egg").startswith("There is no egg timer.")
    assert clock.say_of("cancel_timer", timer="all") == "Cancelled 2 timers."
    assert clock.reminders == []


def test_setting_and_cancelling_can_be_undone(clock) -> None:
    clock.undo(clock.run("set_timer", duration=60))
    assert clock.reminders == []
    clock.run("set_timer", duration=60, label="egg")
    clock.now = NOON + timedelta(seconds=20)
    clock.undo(clock.run("cancel_timer"))
    assert clock.reminders[0]["label"] == "egg"
    assert clock.reminders[0]["due"] == NOON.timestamp() + 60


def test_a_timer_without_a_label_goes_on_under_its_length(clock) -> None:
    clock.run("set_timer", duration=600)
    cancelled = clock.run("cancel_timer")
    assert clock.undo(cancelled) == "The 10 minute timer goes on, with 10 minutes left."
    assert clock.reminders[0]["text"] == "Your 10 minute timer is done."


@pytest.mark.parametrize("another", [False, True])
def test_what_has_ended_is_undone_with_words(clock, another) -> None:
    timer, alarm = clock.run("set_timer", duration=60), clock.run("set_alarm", at="7 am")
    reminder = clock.run("remind_me", text="call Kim", when="at 5 pm")
    clock.reminders.clear()
    if another:
        clock.run("set_timer", duration=600)
        clock.run("remind_me", text="water the fern", when="at 6 pm")
        clock.reminders = [{**one, "id": f"n{at}"} for at, one in enumerate(clock.reminders)]
    assert clock.undo(timer) == "That timer has already ended."
    assert clock.undo(alarm) == "That alarm has already gone off."
    assert clock.undo(reminder) == "I have already told you of that reminder."


def test_the_stopwatch_can_be_put_back_as_it_was(clock) -> None:
    assert clock.undo(clock.run("stopwatch_start")) == "The stopwatch is at zero."
    clock.run("stopwatch_start")
    clock.now = NOON + timedelta(seconds=10)
    stopped = clock.run("stopwatch_stop")
    clock.now = NOON + timedelta(seconds=30)
    assert clock.undo(stopped) == "The stopwatch goes on from 30.0 seconds."
    reset = clock.run("stopwatch_reset")
    clock.now = NOON + timedelta(seconds=40)
    assert clock.undo(reset) == "The stopwatch goes on from 40.0 seconds."
    clock.run("stopwatch_stop")
    assert clock.undo(clock.run("stopwatch_start")) == "The stopwatch is stopped at 40.0 seconds."
    assert clock.undo(clock.run("stopwatch_reset")) == "The stopwatch is stopped at 40.0 seconds."


def test_impossible_durations_are_said_no_to(clock) -> None:
    assert clock.fail_of("set_timer", duration=0) == "A timer needs at least a second."
    assert clock.fail_of("set_timer", duration=-5) == "A timer needs at least a second."
    assert "31 days" in clock.fail_of("set_timer", duration=10**8)


def test_a_stopwatch_runs_stops_goes_on_and_resets(clock) -> None:
    assert clock.say_of("stopwatch_read") == "The stopwatch isn't running."
    assert clock.say_of("stopwatch_start") == "The stopwatch is running."
    clock.now = NOON + timedelta(seconds=12.5)
    assert clock.say_of("stopwatch_read") == "12.5 seconds so far."
    assert clock.say_of("stopwatch_start") == "The stopwatch is already running: 12.5 seconds."
    assert clock.say_of("stopwatch_stop") == "Stopped at 12.5 seconds."
    clock.now = NOON + timedelta(hours=1)
    assert clock.say_of("stopwatch_read") == "The stopwatch is stopped at 12.5 seconds."
    clock.run("stopwatch_start")
    clock.now = NOON + timedelta(hours=1, seconds=60)
    assert clock.say_of("stopwatch_stop") == "Stopped at 1 minute and 12 seconds."
    assert clock.say_of("stopwatch_reset") == "The stopwatch is at zero."
    assert clock.say_of("stopwatch_stop") == "The stopwatch isn't running."
