"""Reminders, alarms, and the words for a moment."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .desk import Desk

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def clock(desk_for) -> Desk:
    """Monday, 30 November 2026, 13:00 in Berlin."""
    return desk_for("clock", zone="Europe/Berlin")


@pytest.mark.parametrize(
    ("when", "wall"),
    [
        ("in 20 minutes", "2026-11-30T13:20"),
        ("in twenty minutes", "2026-11-30T13:20"),
        ("20 minutes from now", "2026-11-30T13:20"),
        ("in half an hour", "2026-11-30T13:30"),
        ("in an hour and a half", "2026-11-30T14:30"),
        ("in two and a half hours", "2026-11-30T15:30"),
        ("in 1 hour and 15 minutes", "2026-11-30T14:15"),
        ("in a couple of hours", "2026-11-30T15:00"),
        ("in 3 days", "2026-12-03T13:00"),
        ("in 2 weeks at 8 am", "2026-12-14T08:00"),
        ("at 5 pm", "2026-11-30T17:00"),
        ("at 5", "2026-11-30T17:00"),
        ("at 7", "2026-11-30T19:00"),
        ("8 a.m.", "2026-12-01T08:00"),
        ("at 17:30", "2026-11-30T17:30"),
        ("five thirty pm", "2026-11-30T17:30"),
        ("at half past six", "2026-11-30T18:30"),
        ("at quarter to six", "2026-11-30T17:45"),
        ("at ten past four", "2026-11-30T16:10"),
        ("at noon", "2026-12-01T12:00"),
        ("at midnight", "2026-12-01T00:00"),
        ("at 8 in the evening", "2026-11-30T20:00"),
        ("tonight", "2026-11-30T20:00"),
        ("at 10 tonight", "2026-11-30T22:00"),
        ("this evening", "2026-11-30T19:00"),
        ("tomorrow", "2026-12-01T09:00"),
        ("tomorrow at 5 pm", "2026-12-01T17:00"),
        ("at 5 pm tomorrow", "2026-12-01T17:00"),
        ("tomorrow morning", "2026-12-01T09:00"),
        ("tomorrow morning at 7", "2026-12-01T07:00"),
        ("tomorrow evening at 7", "2026-12-01T19:00"),
        ("the day after tomorrow at noon", "2026-12-02T12:00"),
        ("on Friday", "2026-12-04T09:00"),
        ("Friday at 3", "2026-12-04T15:00"),
        ("next monday at 10", "2026-12-07T10:00"),
        ("on monday", "2026-12-07T09:00"),
        ("on monday at 6 pm", "2026-11-30T18:00"),
        ("next week", "2026-12-07T09:00"),
        ("on wednesday next week", "2026-12-09T09:00"),
        ("on the 5th at 3pm", "2026-12-05T15:00"),
        ("on 1 April at 09:00", "2027-04-01T09:00"),
        ("April 1st", "2027-04-01T09:00"),
        ("the first of January", "2027-01-01T09:00"),
        ("December 24 2027 at 6 pm", "2027-12-24T18:00"),
        ("on Christmas eve at 6", "2026-12-24T18:00"),
        ("2026-12-24", "2026-12-24T09:00"),
        ("2026-12-24T18:30", "2026-12-24T18:30"),
        ("2026-12-24T18:30:00+00:00", "2026-12-24T19:30"),
    ],
)
def test_a_moment_is_understood_in_words(clock, when, wall) -> None:
    clock.say_of("remind_me", text="call mom", when=when)
    assert clock.due().strftime("%Y-%m-%dT%H:%M") == wall
    assert clock.reminders[-1]["repeat"] == ""
    assert clock.reminders[-1]["zone"] == "Europe/Berlin"


@pytest.mark.parametrize(
    ("when", "repeat", "wall"),
    [
        ("every day at 9", "daily", "2026-12-01T09:00"),
        ("daily at 6 pm", "daily", "2026-11-30T18:00"),
        ("every morning", "daily", "2026-12-01T09:00"),
        ("every evening at 8", "daily", "2026-11-30T20:00"),
        ("every weekday at half past seven", "weekdays", "2026-12-01T07:30"),
        ("on weekdays at 8 am", "weekdays", "2026-12-01T08:00"),
        ("every Friday", "weekly", "2026-12-04T09:00"),
        ("every monday at 8 am", "weekly", "2026-12-07T08:00"),
        ("mondays at 8 pm", "weekly", "2026-11-30T20:00"),
        ("every month on the 5th", "monthly", "2026-12-05T09:00"),
        ("every year on 1 April", "yearly", "2027-04-01T09:00"),
    ],
)
def test_repetition_is_understood_in_words(clock, when, repeat, wall) -> None:
    clock.say_of("remind_me", text="stretch", when=when)
    assert clock.reminders[-1]["repeat"] == repeat
    assert clock.due().strftime("%Y-%m-%dT%H:%M") == wall


@pytest.mark.parametrize(
    "when", ["whenever", "", "at 25:00", "in five", "31 April", "tomorrow blah", "before lunch", "99999999 years from now"]
)
def test_what_is_no_moment_is_asked_about_and_nothing_is_set(clock, when) -> None:
    assert clock.fail_of("remind_me", text="call mom", when=when)
    assert clock.reminders == []


def test_what_has_passed_is_said(clock) -> None:
    assert clock.fail_of("remind_me", text="x", when="today at 5 am") == "'today at 5 am' has already passed."
    assert clock.fail_of("remind_me", text="x", when="2026-11-29T10:00") == "'2026-11-29T10:00' has already passed."


def test_rhythms_that_are_not_kept_are_refused_honestly(clock) -> None:
    assert "no other rhythm" in clock.fail_of("remind_me", text="x", when="every other day at 9")


def test_nine_by_the_wall_stays_nine_over_the_change_of_clocks(desk_for) -> None:
    clock = desk_for("clock", zone="Europe/Berlin", now=datetime(2026, 3, 27, 12, tzinfo=UTC))
    clock.say_of("remind_me", text="stretch", when="on 1 April at 09:00")
    assert clock.reminders[-1]["due"] == datetime(2026, 4, 1, 7, tzinfo=UTC).timestamp()
    assert (clock.reminders[-1]["wall"], clock.reminders[-1]["zone"]) == ("2026-04-01T09:00", "Europe/Berlin")


def test_a_wall_time_that_the_spring_leaves_out_moves_on(desk_for) -> None:
    clock = desk_for("clock", zone="Europe/Berlin", now=datetime(2026, 3, 27, 12, tzinfo=UTC))
    clock.say_of("remind_me", text="x", when="2026-03-29T02:30")
    assert clock.due().strftime("%H:%M") == "03:30"


def test_an_hour_is_an_hour_over_the_change_of_clocks(desk_for) -> None:
    clock = desk_for("clock", zone="Europe/Berlin", now=datetime(2026, 3, 29, 0, 30, tzinfo=UTC))
    clock.say_of("remind_me", text="x", when="in 1 hour")
    assert clock.reminders[-1]["due"] == datetime(2026, 3, 29, 1, 30, tzinfo=UTC).timestamp()


def test_other_languages_are_read_by_a_library(desk_for) -> None:
    clock = desk_for("clock", zone="Europe/Berlin", language="de")
    clock.say_of("remind_me", text="Mama anrufen", when="morgen um 17 Uhr")
    assert clock.due().strftime("%Y-%m-%dT%H:%M") == "2026-12-01T17:00"


def test_a_reminder_is_said_back_listed_and_cancelled(clock) -> None:
    assert clock.say_of("reminders") == "You have no reminders set."
    assert clock.say_of("remind_me", text="to feed the cat", when="at 6 pm") == "I'll remind you today at 6 pm: feed the cat."
    clock.say_of("remind_me", text="call Anna", when="every friday at 10")
    assert clock.reminders[0]["text"] == "Reminder: feed the cat."
    assert clock.say_of("reminders") == "You have 2 reminders: feed the cat, today at 6 pm; call Anna, every Friday at 10 am."
    assert clock.fail_of("reminder_cancel").startswith("Which reminder: feed the cat, today at 6 pm or call Anna")
    assert clock.say_of("reminder_cancel", reminder="the cat") == "Cancelled the reminder: feed the cat, today at 6 pm."
    assert [one["label"] for one in clock.reminders] == ["call Anna"]
    assert "no reminder like 'dentist'" in clock.fail_of("reminder_cancel", reminder="the dentist")


def test_a_cancelled_reminder_comes_back_at_its_time(clock) -> None:
    clock.say_of("remind_me", text="call Anna", when="every friday at 10")
    due = clock.due()
    clock.undo(clock.run("reminder_cancel", reminder="Anna"))
    assert clock.due() == due
    assert clock.reminders[-1]["repeat"] == "weekly"
    clock.undo(clock.run("remind_me", text="x y z", when="at 6 pm"))
    assert len(clock.reminders) == 1


@pytest.mark.parametrize(
    ("at", "wall"),
    [
        ("7", "2026-12-01T07:00"),
        ("at 6:30", "2026-12-01T06:30"),
        ("half past six", "2026-12-01T06:30"),
        ("tomorrow at 8", "2026-12-01T08:00"),
        ("5 tomorrow", "2026-12-01T05:00"),
        ("3", "2026-11-30T15:00"),
        ("7 pm", "2026-11-30T19:00"),
        ("in 8 hours", "2026-11-30T21:00"),
        ("every weekday at 6:30", "2026-12-01T06:30"),
    ],
)
def test_an_alarm_without_more_words_is_for_the_morning(clock, at, wall) -> None:
    clock.say_of("set_alarm", at=at)
    assert clock.due().strftime("%Y-%m-%dT%H:%M") == wall


def test_alarms_are_told_and_cancelled_by_their_time(clock) -> None:
    assert clock.say_of("set_alarm", at="7") == "Alarm set for tomorrow at 7 am."
    assert clock.say_of("set_alarm", at="7 am") == "The alarm is already set for tomorrow at 7 am."
    clock.say_of("set_alarm", at="every weekday at 6:30", label="gym")
    assert clock.say_of("alarms") == "You have 2 alarms: gym, every weekday at 6:30 am; tomorrow at 7 am."
    assert clock.say_of("cancel_alarm", alarm="7 o'clock") == "Cancelled the alarm: tomorrow at 7 am."
    undone = clock.run("cancel_alarm", alarm="6:30")
    assert clock.reminders == []
    clock.undo(undone)
    assert (clock.reminders[0]["repeat"], clock.reminders[0]["label"]) == ("weekdays", "gym")
    assert clock.say_of("cancel_alarm", alarm="all") == "Cancelled 1 alarm."


VOCABULARY = """in at on next every the a of to half past quarter am pm today tomorrow tonight friday monday may 1 5 30 99
17:30 2nd hour hours minutes days week month noon midnight morning evening weekday april christmas and 2027
2027-02-30 . , second"""
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=8).map(" ".join)


@given(st.one_of(WORDS, st.text(max_size=50)), st.booleans())
@settings(max_examples=400, deadline=None)
def test_any_words_are_a_coming_moment_or_a_sentence(words, early) -> None:
    when = sys.modules["etui_plugin_clock._when"]
    now = datetime(2026, 11, 30, 13, tzinfo=BERLIN)
    for read in (when.read, when.read_day):
        try:
            found = read(words, now, early=early) if read is when.read else read(words, now)
        except when.NotUnderstood as error:
            assert str(error)
            continue
        assert not isinstance(found, when.When) or found.at > now - timedelta(seconds=1)
