"""The clock: what time it is anywhere in the world, which date, which weekday, and how long until a day.

Above: whoever speaks to the assistant. Below: Python's time zones and the places of `_places.py`; no network. An ordinary
tool file. It refuses to know: timers, alarms and reminders.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from etui import Context, Result, ToolError, tool

from ._places import CONTINENTS, Place, find, fold, nearest
from ._settle import NotUnderstood
from ._when import read_day, zone_of
from ._words import clock_time, counted, listed, long_day

HERE = {
    "",
    "here",
    "home",
    "now",
    "my place",
    "our place",
    "local",
    "locally",
    "my city",
    "my town",
    "where i am",
    "this place",
}


def utc_now() -> datetime:
    """Now, aware; tests put another in its place."""
    return datetime.now(UTC)


@tool(
    examples=[
        "what time is it",
        "what's the time",
        "what time is it in {city}",
        "what's the time in {city} right now",
        "tell me the current time in {city}",
        "time in {city}",
        "how late is it in {city}",
        "do you know what time it is over in {city}",
        "is it morning in {city}",
        "got the time",
        "is it night already in {city}",
    ],
)
def time_in(
    ctx: Context,
    city: Annotated[
        str, "City, country, state or time zone, such as Tokyo or Portland, Oregon; empty for where the person is."
    ] = "",
) -> Result:
    """Tell what time and day it is now, here or in any city or country of the world."""
    place = _place(city, ctx)
    now = utc_now().astimezone(ZoneInfo(place.zone))
    data = {"place": place.name, "zone": place.zone, "time": now.isoformat(timespec="seconds")}
    return Result(f"{_several(place, now)}{clock_time(now)}{_where(place)}, {long_day(now.date(), now.date())}.", data=data)


@tool(
    examples=[
        "how many hours ahead is {city}",
        "what's the time difference to {city}",
        "what is the time difference between {city} and {other}",
        "how far behind us is {city}",
        "how many hours are between {city} and {other}",
        "time difference between {city} and {other}",
        "how far ahead of {other} is {city}",
    ],
)
def time_difference(
    ctx: Context,
    city: Annotated[str, "City, country or time zone."],
    other: Annotated[str, "The place to compare with; empty for where the person is."] = "",
) -> Result:
    """Tell how many hours one place is ahead of or behind another, now."""
    first, second = _place(city, ctx), _place(other, ctx)
    moment = utc_now()
    offsets = [moment.astimezone(ZoneInfo(place.zone)).utcoffset() for place in (first, second)]
    assert offsets[0] is not None and offsets[1] is not None
    minutes = round((offsets[0] - offsets[1]).total_seconds() / 60)
    names = [place.name or "here" for place in (first, second)]
    there = "you" if not second.name else second.name
    if not minutes:
        text = f"It's the same time in {listed(names) if second.name else first.name + ' as here'}."
    else:
        text = f"{_capital(first.name or 'it')} is {_hours(abs(minutes))} {'ahead of' if minutes > 0 else 'behind'} {there}."
    return Result(text, data={"minutes": minutes})


@tool(
    examples=[
        "what's the date",
        "what's the date today",
        "what day is it",
        "what day is it today",
        "which day of the week is it",
        "tell me today's date",
        "what date is it in {city}",
        "what day is it in {city}",
        "what year is it",
        "is it Tuesday today",
    ],
)
def date_today(
    ctx: Context,
    city: Annotated[str, "City or country; empty for where the person is."] = "",
) -> Result:
    """Tell today's date and weekday, here or in another place."""
    place = _place(city, ctx)
    day = utc_now().astimezone(ZoneInfo(place.zone)).date()
    return Result(f"It's {day:%A}, {day.day} {day:%B} {day.year}{_where(place)}.", data={"date": day.isoformat()})


@tool(
    examples=[
        "what day of the week is {day}",
        "which weekday is {day}",
        "what date is {day}",
        "what day is {day}",
        "when is {day}",
        "on what day does {day} fall",
        "what's the date on {day}",
    ],
)
def weekday_of(
    ctx: Context,
    day: Annotated[str, "A day in words or ISO 8601: 4 July 2027, next Friday, Christmas, 2027-03-01."],
) -> Result:
    """Tell which weekday and date a given day is."""
    today = _today(ctx)
    found = _day(day, ctx)
    verb = "was" if found < today else "is"
    date_said, said = f"{found.day} {found:%B} {found.year}", " ".join(day.split()).strip(" ?!.,")
    if re.search(r"\d", said):
        text = f"{date_said} {verb} a {found:%A}."
    elif f"{found:%A}".casefold() in said.casefold():
        text = f"{_capital(said)} {verb} {date_said}."
    else:
        text = f"{_capital(said)} {verb} {found:%A}, {date_said}."
    return Result(text, data={"date": found.isoformat(), "weekday": f"{found:%A}"})


@tool(
    examples=[
        "how many days until {day}",
        "how many days are left until {day}",
        "how long is it until {day}",
        "how many days to {day}",
        "how many days since {day}",
        "how far away is {day}",
        "how many weeks until {day}",
        "how many sleeps until {day}",
    ],
)
def days_until(
    ctx: Context,
    day: Annotated[str, "A day in words or ISO 8601: Christmas, 4 July, 2027-03-01."],
) -> Result:
    """Count the days from today until a day, or since one that has passed."""
    found = _day(day, ctx)
    days = (found - _today(ctx)).days
    said = f"{found:%A}, {found.day} {found:%B} {found.year}"
    if days == 0:
        text = f"That's today, {said}."
    elif days > 0:
        text = f"{counted(days, 'day')} until {said}{_weeks(days)}."
    else:
        text = f"{counted(-days, 'day')} since {said}{_weeks(-days)}."
    return Result(text, data={"days": days, "date": found.isoformat()})


def _here(ctx: Context) -> ZoneInfo:
    return zone_of(ctx.session.timezone)


def _today(ctx: Context) -> date:
    return utc_now().astimezone(_here(ctx)).date()


def _place(name: str, ctx: Context) -> Place:
    """The place of that name; one without a name is where the person is."""
    said = _trim(name)
    if said.casefold() in HERE:
        return Place("", _here(ctx).key)
    if found := find(said):
        return found
    if fold(said) in CONTINENTS:
        raise ToolError(f"{said} has several time zones: name a city or a country.")
    close = nearest(said)
    hint = f" Did you mean {' or '.join(close)}?" if close else " Try a larger city nearby, or the country."
    raise ToolError(f"I don't know a place called {said[:60]!r}.{hint}")


def _trim(words: str) -> str:
    text = re.sub(r"\s+", " ", words).strip(" ?!.,")
    return re.sub(r"^in |\s(right now|now|at the moment|currently|today)$", "", text, flags=re.IGNORECASE)


def _day(words: str, ctx: Context) -> date:
    try:
        return read_day(words, utc_now().astimezone(_here(ctx)), language=ctx.session.language)
    except NotUnderstood as error:
        raise ToolError(str(error)) from None


def _where(place: Place) -> str:
    return f" in {place.name}" if place.name and not _zones_differ(place) else ""


def _several(place: Place, now: datetime) -> str:
    """How the sentence begins; a country of several time zones is told by its capital."""
    if not _zones_differ(place):
        return "It's "
    return f"{_capital(place.name)} has more than one time zone; in {place.capital} it's "


def _zones_differ(place: Place) -> bool:
    moment = utc_now()
    return len({moment.astimezone(ZoneInfo(zone)).utcoffset() for zone in place.zones}) > 1


def _hours(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return listed([counted(number, noun) for number, noun in ((hours, "hour"), (rest, "minute")) if number])


def _weeks(days: int) -> str:
    return f", that's {counted(days // 7, 'week')}" if days % 7 == 0 and days > 7 else ""


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
