"""Time, date and places."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etui.outcome import Status

from .desk import Desk


@pytest.fixture
def clock(desk_for) -> Desk:
    return desk_for("clock", zone="Europe/Berlin")


def test_the_time_here_is_the_persons_own(clock) -> None:
    assert clock.say_of("time_in") == "It's 1:00 in the afternoon, Monday 30 November."
    assert clock.say_of("time_in", city="here") == clock.say_of("time_in")


def test_the_time_elsewhere_names_the_place_and_its_day(clock) -> None:
    clock.now = datetime(2026, 11, 30, 18, 42, tzinfo=UTC)
    assert clock.say_of("time_in", city="Tokyo") == "It's 3:42 in the morning in Tokyo, Tuesday 1 December."


@pytest.mark.parametrize(
    ("city", "zone"),
    [
        ("Tokyo", "Asia/Tokyo"),
        ("sao paulo", "America/Sao_Paulo"),
        ("São Paulo", "America/Sao_Paulo"),
        ("NYC", "America/New_York"),
        ("new york", "America/New_York"),
        ("LA", "America/Los_Angeles"),
        ("Washington", "America/New_York"),
        ("Bombay", "Asia/Kolkata"),
        ("cologne", "Europe/Berlin"),
        ("Lucerne", "Europe/Zurich"),
        ("St. Petersburg", "Europe/Moscow"),
        ("St Louis", "America/Chicago"),
        ("Portland, Maine", "America/New_York"),
        ("portland oregon", "America/Los_Angeles"),
        ("London, Ontario", "America/Toronto"),
        ("Sydney, Australia", "Australia/Sydney"),
        ("Paris, TX", "America/Chicago"),
        ("Paris", "Europe/Paris"),
        ("Georgia", "Asia/Tbilisi"),
        ("California", "America/Los_Angeles"),
        ("Scotland", "Europe/London"),
        ("the Netherlands", "Europe/Amsterdam"),
        ("UK", "Europe/London"),
        ("the US", "America/New_York"),
        ("Hawaii", "Pacific/Honolulu"),
        ("Bali", "Asia/Makassar"),
        ("Kathmandu", "Asia/Kathmandu"),
        ("Pacific time", "America/Los_Angeles"),
        ("utc", "UTC"),
        ("Amsterdam right now", "Europe/Amsterdam"),
        ("in Rome", "Europe/Rome"),
        ("New York City?", "America/New_York"),
        ("Mexico City", "America/Mexico_City"),
    ],
)
def test_a_place_is_found_under_the_names_that_people_use(clock, city, zone) -> None:
    ran = clock.run("time_in", city=city)
    assert ran.status is Status.OK, ran.text
    assert ZoneInfo(ran.data["zone"]).utcoffset(datetime(2026, 7, 1)) == ZoneInfo(zone).utcoffset(datetime(2026, 7, 1))
    assert ZoneInfo(ran.data["zone"]).utcoffset(datetime(2026, 1, 1)) == ZoneInfo(zone).utcoffset(datetime(2026, 1, 1))


def test_a_person_hears_the_name_that_they_used(clock) -> None:
    assert "in Saigon," in clock.say_of("time_in", city="saigon")
    assert "in New Delhi," in clock.say_of("time_in", city="new delhi")


def test_a_country_of_several_zones_is_told_by_its_capital(clock) -> None:
    text = clock.say_of("time_in", city="Australia")
    assert text == "Australia has more than one time zone; in Canberra it's 11:00 at night, Monday 30 November."


def test_an_unknown_place_names_the_nearest(clock) -> None:
    assert clock.fail_of("time_in", city="Amsterdm") == "I don't know a place called 'Amsterdm'. Did you mean Amsterdam?"
    assert "I don't know a place called '東京'" in clock.fail_of("time_in", city="東京")
    assert "name a city or a country" in clock.fail_of("time_in", city="Europe")


def test_every_zone_of_the_places_is_a_zone_of_python(clock) -> None:
    places = sys.modules["etui_plugin_clock._places"]
    zones = {line.partition(" ")[2] for line in places._text().split("\n") if line.startswith("#")}
    assert len(zones) > 300
    for zone in zones:
        ZoneInfo(zone)


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_place_or_a_sentence(text) -> None:
    places = sys.modules["etui_plugin_clock._places"]
    begun = time.perf_counter()
    found = places.find(text)
    names = places.nearest(text) if found is None else []
    assert found is None or ZoneInfo(found.zone)
    assert len(names) <= 3
    assert time.perf_counter() - begun < 1


def test_differences_are_told_both_ways(clock) -> None:
    assert clock.say_of("time_difference", city="Tokyo") == "Tokyo is 8 hours ahead of you."
    said = clock.say_of("time_difference", city="New York", other="Delhi")
    assert said == "New York is 10 hours and 30 minutes behind Delhi."
    assert clock.say_of("time_difference", city="Paris") == "It's the same time in Paris as here."


def test_the_date_is_the_places_own(clock) -> None:
    assert clock.say_of("date_today") == "It's Monday, 30 November 2026."
    assert clock.say_of("date_today", city="Auckland") == "It's Tuesday, 1 December 2026 in Auckland."


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("4 July 2027", "4 July 2027 is a Sunday."),
        ("2027-03-01", "1 March 2027 is a Monday."),
        ("Christmas", "Christmas is Friday, 25 December 2026."),
        ("next Friday", "Next Friday is 4 December 2026."),
        ("yesterday", "Yesterday was Sunday, 29 November 2026."),
        ("the twenty first", "The twenty first is Monday, 21 December 2026."),
    ],
)
def test_a_day_has_its_weekday(clock, day, said) -> None:
    assert clock.say_of("weekday_of", day=day) == said


def test_days_are_counted_until_and_since(clock) -> None:
    assert clock.say_of("days_until", day="Christmas") == "25 days until Friday, 25 December 2026."
    assert clock.say_of("days_until", day="today") == "That's today, Monday, 30 November 2026."
    assert clock.say_of("days_until", day="2026-11-29") == "1 day since Sunday, 29 November 2026."
    assert "There is no such day" in clock.fail_of("days_until", day="31 April")
    assert "I don't know which day" in clock.fail_of("days_until", day="gibberish")
