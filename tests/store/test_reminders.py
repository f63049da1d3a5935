"""Timers, alarms and reminders by the wall clock of a named zone."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.errors import StoreError
from etui.store import Store
from etui.store.reminders import REPEATS, Reminder, instant

if TYPE_CHECKING:
    from tests.store.conftest import Clock

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Africa/Casablanca",
    "America/Sao_Paulo",
    "Antarctica/Troll",
    "Asia/Tehran",
    "UTC",
)


def at(text: str, zone: ZoneInfo = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def walls(store: Store, reminder: Reminder, times: int) -> list[tuple[str, str]]:
    """The wall times that it fires at, each said when it is due: as kept, and as a clock in the zone shows it."""
    fired = []
    for _ in range(times):
        shown = datetime.fromtimestamp(reminder.due, ZoneInfo(reminder.zone)).strftime("%Y-%m-%dT%H:%M%z")
        fired.append((reminder.wall, shown))
        moved = store.reminders.finish(reminder.id, reminder.due)
        assert moved
        reminder = moved
    return fired


def test_every_day_at_nine_is_nine_before_and_after_the_clocks_change(store: Store) -> None:
    reminder = store.reminders.add(Reminder(text="x", wall="2026-03-27T09:00", zone="Europe/Berlin", repeat="daily"))
    assert [shown for _, shown in walls(store, reminder, 4)] == [
        "2026-03-27T09:00+0100",
        "2026-03-28T09:00+0100",
        "2026-03-29T09:00+0200",
        "2026-03-30T09:00+0200",
    ]


def test_a_date_beyond_the_change_is_told_by_the_wall(store: Store) -> None:
    reminder = store.reminders.add(Reminder(text="x", wall="2026-04-01T09:00", zone="Europe/Berlin"))
    assert reminder.due == datetime(2026, 4, 1, 7, 0, tzinfo=UTC).timestamp()


def test_a_time_that_is_missing_moves_on_and_is_itself_again_the_next_day(store: Store) -> None:
    reminder = store.reminders.add(Reminder(text="x", wall="2026-03-28T02:30", zone="Europe/Berlin", repeat="daily"))
    assert walls(store, reminder, 3) == [
        ("2026-03-28T02:30", "2026-03-28T02:30+0100"),
        ("2026-03-29T02:30", "2026-03-29T03:30+0200"),
        ("2026-03-30T02:30", "2026-03-30T02:30+0200"),
    ]


def test_a_time_that_comes_twice_fires_the_first_time_only(store: Store) -> None:
    reminder = store.reminders.add(Reminder(text="x", wall="2026-10-24T02:30", zone="Europe/Berlin", repeat="daily"))
    assert walls(store, reminder, 3) == [
        ("2026-10-24T02:30", "2026-10-24T02:30+0200"),
        ("2026-10-25T02:30", "2026-10-25T02:30+0200"),
        ("2026-10-26T02:30", "2026-10-26T02:30+0100"),
    ]


def test_the_second_of_two_equal_times_can_be_meant(store: Store) -> None:
    second = datetime(2026, 10, 25, 1, 30, tzinfo=UTC).timestamp()
    reminder = store.reminders.add(Reminder(kind="timer", due=second, zone="Europe/Berlin"))
    assert (reminder.due, reminder.wall) == (second, "2026-10-25T02:30")


def test_the_wall_is_right_where_it_and_the_instant_disagree(store: Store) -> None:
    reminder = store.reminders.add(Reminder(wall="2026-04-01T09:00", zone="Europe/Berlin", due=at("2026-04-01T10:00")))
    assert reminder.due == at("2026-04-01T09:00")


@pytest.mark.parametrize(
    ("repeat", "wall", "following"),
    [
        ("weekdays", "2026-05-07T08:00", ["2026-05-08", "2026-05-11", "2026-05-12"]),
        ("weekly", "2026-05-07T08:00", ["2026-05-14", "2026-05-21", "2026-05-28"]),
        ("monthly", "2026-01-31T08:00", ["2026-02-28", "2026-03-31", "2026-04-30"]),
        ("monthly", "2026-11-15T08:00", ["2026-12-15", "2027-01-15", "2027-02-15"]),
        ("yearly", "2024-02-29T08:00", ["2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]),
    ],
)
def test_each_repeat_moves_to_its_next_day(store: Store, repeat: str, wall: str, following: list[str]) -> None:
    reminder = store.reminders.add(Reminder(wall=wall, zone="Europe/Berlin", repeat=repeat))
    fired = [kept for kept, _ in walls(store, reminder, len(following) + 1)]
    assert fired == [wall, *(f"{day}T08:00" for day in following)]


def test_on_weekdays_begins_on_a_weekday(store: Store) -> None:
    saturday = "2026-05-09T08:00"
    assert store.reminders.add(Reminder(wall=saturday, zone="Europe/Berlin", repeat="weekdays")).wall == "2026-05-11T08:00"
    due = at(saturday)
    assert store.reminders.add(Reminder(due=due, zone="Europe/Berlin", repeat="weekdays")).wall == "2026-05-11T08:00"


def test_times_that_passed_while_nobody_was_there_are_said_once(store: Store) -> None:
    reminder = store.reminders.add(Reminder(wall="2020-01-01T09:00", zone="Europe/Berlin", repeat="daily"))
    now = at("2026-05-07T12:00")
    assert store.reminders.due(now) == [reminder]
    moved = store.reminders.finish(reminder.id, now)
    assert moved and moved.wall == "2026-05-08T09:00"
    assert store.reminders.due(now) == []
    assert store.reminders.finish(reminder.id, now) == moved, "a second host that says the same moves nothing"


def test_what_is_due_what_comes_and_when_the_next_one_is(store: Store, clock: Clock) -> None:
    assert store.reminders.next_due() is None
    late = store.reminders.add(Reminder(kind="alarm", due=300.0, plugin="clock"))
    early = store.reminders.add(Reminder(kind="timer", due=100.5, plugin="clock"))
    other = store.reminders.add(Reminder(text="tea", due=200.0, plugin="notes"))
    assert early.created == clock.now
    assert (early.zone, early.wall, early.due) == ("", "", 100.5)
    assert store.reminders.upcoming() == [early, other, late]
    assert store.reminders.upcoming("alarm") == [late]
    assert store.reminders.upcoming(plugin="clock") == [early, late]
    assert store.reminders.due(100.0) == []
    assert store.reminders.due(200.0) == [early, other]
    assert store.reminders.next_due() == 100.5
    done = store.reminders.finish(early.id, 101.0)
    assert done and done.done == 101.0
    assert store.reminders.finish(early.id, 150.0) == done
    assert store.reminders.get(early.id) == done
    assert store.reminders.due(200.0) == [other]
    assert store.reminders.next_due() == 200.0
    assert store.reminders.cancel(other.id)
    assert not store.reminders.cancel(other.id)
    assert not store.reminders.cancel(early.id)
    assert store.reminders.finish("nothing", 1.0) is None
    assert store.reminders.get("nothing") is None


def test_an_id_is_short_and_its_own(store: Store) -> None:
    ids = {store.reminders.add(Reminder(due=1.0)).id for _ in range(100)}
    assert len(ids) == 100
    assert all(len(id) <= 6 for id in ids)
    named = store.reminders.add(Reminder(id="mine", due=1.0))
    assert store.reminders.get("mine") == named
    with pytest.raises(StoreError, match="'mine' already"):
        store.reminders.add(Reminder(id="mine", due=1.0))


def test_a_snooze_moves_the_next_time_only_and_a_new_wall_time_moves_them_all(store: Store) -> None:
    reminder = store.reminders.add(Reminder(wall="2026-05-07T09:00", zone="Europe/Berlin", repeat="daily"))
    snoozed = store.reminders.update(reminder.id, due=at("2026-05-07T09:10"), text="later")
    assert snoozed and (snoozed.due, snoozed.text) == (at("2026-05-07T09:10"), "later")
    moved = store.reminders.finish(reminder.id, snoozed.due)
    assert moved and (moved.wall, moved.due) == ("2026-05-08T09:00", at("2026-05-08T09:00"))
    earlier = store.reminders.update(reminder.id, wall="2026-05-08T07:30")
    assert earlier and earlier.due == at("2026-05-08T07:30")
    assert [wall for wall, _ in walls(store, earlier, 2)] == ["2026-05-08T07:30", "2026-05-09T07:30"]
    once = store.reminders.add(Reminder(wall="2026-05-07T09:00", zone="Europe/Berlin"))
    put_off = store.reminders.update(once.id, due=at("2026-05-08T10:00"))
    assert put_off and put_off.wall == "2026-05-08T10:00"
    assert store.reminders.get(once.id) == put_off
    assert store.reminders.update("nothing", text="x") is None


def test_what_makes_no_sense_is_refused_with_a_sentence(store: Store) -> None:
    with pytest.raises(StoreError, match="no time zone 'Mars/Olympus'"):
        store.reminders.add(Reminder(wall="2026-05-07T09:00", zone="Mars/Olympus"))
    with pytest.raises(StoreError, match="no time zone"):
        store.reminders.add(Reminder(wall="2026-05-07T09:00", zone="../../etc/passwd"))
    with pytest.raises(StoreError, match="'tomorrow' cannot be read"):
        store.reminders.add(Reminder(wall="tomorrow", zone="UTC"))
    with pytest.raises(StoreError, match="cannot repeat 'hourly'; choose one of daily"):
        store.reminders.add(Reminder(due=1.0, repeat="hourly"))
    with pytest.raises(StoreError, match="needs a time"):
        store.reminders.add(Reminder(text="x"))
    for far in (1e300, float("inf"), float("nan")):
        with pytest.raises(StoreError, match="outside of the calendar"):
            store.reminders.add(Reminder(due=far))
    assert store.reminders.upcoming() == []


def test_a_time_with_an_offset_is_the_instant_it_is(store: Store) -> None:
    reminder = store.reminders.add(Reminder(wall="2026-07-01T09:00:00+00:00", zone="Europe/Berlin"))
    assert (reminder.wall, reminder.due) == ("2026-07-01T11:00", datetime(2026, 7, 1, 9, tzinfo=UTC).timestamp())


def test_a_series_ends_with_the_calendar(store: Store) -> None:
    reminder = store.reminders.add(Reminder(wall="9999-12-30T09:00", zone="UTC", repeat="yearly"))
    done = store.reminders.finish(reminder.id, reminder.due)
    assert done and done.done == reminder.due


OTHER_ZONE = """
import sys
from etui.store import Store
store = Store.open(sys.argv[1])
(reminder,) = store.reminders.upcoming()
print(reminder.due, reminder.wall, reminder.zone)
moved = store.reminders.finish(reminder.id, reminder.due)
print(moved.due, moved.wall, moved.zone)
store.close()
"""


@pytest.mark.parametrize("system", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_a_restart_under_another_system_zone_changes_nothing(tmp_path: Path, system: str) -> None:
    store = Store.open(tmp_path / "etui.db")
    store.reminders.add(Reminder(wall="2026-03-28T09:00", zone="Europe/Berlin", repeat="daily"))
    store.close()
    told = subprocess.run(
        [sys.executable, "-c", OTHER_ZONE, str(tmp_path / "etui.db")],
        env={**os.environ, "TZ": system},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert told == [
        f"{at('2026-03-28T09:00')} 2026-03-28T09:00 Europe/Berlin",
        f"{at('2026-03-29T09:00')} 2026-03-29T09:00 Europe/Berlin",
    ]


WALLS = st.datetimes(datetime(1995, 1, 1), datetime(2037, 12, 31)).map(
    lambda wall: wall.replace(second=0, microsecond=0, fold=0)
)


@given(zone=st.sampled_from(ZONES), wall=WALLS)
def test_a_wall_time_is_shown_by_the_clock_when_it_is_due_unless_it_is_missing(zone: str, wall: datetime) -> None:
    there = ZoneInfo(zone)
    due = instant(wall, there)
    shown = datetime.fromtimestamp(due, there).replace(tzinfo=None, fold=0)
    if shown != wall:
        missing = wall.replace(tzinfo=there).astimezone(UTC).astimezone(there).replace(tzinfo=None) != wall
        assert missing
        assert shown > wall, "it moves on, never back"
    earlier = datetime.fromtimestamp(due - 1800, there).replace(tzinfo=None)
    assert earlier != wall, "of two equal times it is the first"


@given(
    zone=st.sampled_from(ZONES),
    wall=WALLS,
    repeat=st.sampled_from(REPEATS[1:]),
    late=st.lists(st.integers(0, 40 * 86400), min_size=1, max_size=4),
)
def test_a_series_moves_on_strictly_and_keeps_its_time_of_day(zone: str, wall: datetime, repeat: str, late: list[int]) -> None:
    store = Store.open(":memory:")
    there = ZoneInfo(zone)
    reminder = store.reminders.add(Reminder(wall=wall.isoformat(timespec="minutes"), zone=zone, repeat=repeat))
    for seconds in late:
        now = reminder.due + seconds
        moved = store.reminders.finish(reminder.id, now)
        assert moved and moved.done is None
        assert moved.due > now >= reminder.due
        local = datetime.fromisoformat(moved.wall)
        assert local.time() == wall.time()
        assert moved.due == instant(local, there)
        if repeat == "weekly":
            assert local.weekday() == wall.weekday()
        if repeat == "weekdays":
            assert local.weekday() < 5
        if repeat in ("monthly", "yearly"):
            last = (date(local.year + local.month // 12, local.month % 12 + 1, 1) - timedelta(days=1)).day
            assert local.day == min(wall.day, last)
        if repeat == "daily":
            before = instant(local - timedelta(days=1), there)
            assert before <= now, "no day is left out"
        reminder = moved
    assert store.reminders.get(reminder.id) == reminder
    store.close()


@given(due=st.floats(0, 4e9), zone=st.sampled_from(ZONES))
def test_an_instant_is_kept_exactly(due: float, zone: str) -> None:
    store = Store.open(":memory:")
    if due:
        reminder = store.reminders.add(Reminder(due=due, zone=zone))
        assert reminder.due == due
        assert store.reminders.get(reminder.id) == reminder
    store.close()
