"""The weather, from a real server on this machine that answers as Open-Meteo's documentation says."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from .desk import Desk
from .server import Server, serving


def place(name: str, latitude: float, country: str, state: str, people: int) -> dict[str, object]:
    """One place as the geocoding service tells it."""
    where = {"latitude": latitude, "longitude": 1.5, "elevation": 10.0, "timezone": "Europe/London", "feature_code": "PPL"}
    return {"id": people, "name": name, "country": country, "admin1": state, "population": people, **where}


PLACES = {
    "London": [
        place("London", 51.5, "United Kingdom", "England", 8961989),
        place("London", 42.98, "Canada", "Ontario", 422324),
    ],
    "Berlin": [place("Berlin", 52.52, "Germany", "State of Berlin", 3426354)],
    "Portland": [
        place("Portland", 45.5, "United States", "Oregon", 652503),
        place("Portland", 43.7, "United States", "Maine", 68408),
    ],
}


def forecast(fahrenheit: bool) -> dict[str, object]:
    """An answer of the forecast service for 16 days from 30 November 2026."""
    days = [(date(2026, 11, 30) + timedelta(n)).isoformat() for n in range(16)]
    codes = [61, 3, 71, 0, 95] + [1] * 11
    warm = 50.0 if fahrenheit else 9.6
    return {
        "latitude": 51.5, "longitude": -0.12, "generationtime_ms": 0.1, "utc_offset_seconds": 0, "timezone": "Europe/London",
        "timezone_abbreviation": "GMT", "elevation": 23.0, "current_units": {"temperature_2m": "°F" if fahrenheit else "°C"},
        "current": {"time": "2026-11-30T12:00", "interval": 900, "temperature_2m": 7.9, "apparent_temperature": 4.2,
                    "weather_code": 61, "wind_speed_10m": 14.0},
        "daily_units": {"temperature_2m_max": "°C"},
        "daily": {"time": days, "weather_code": codes, "temperature_2m_max": [warm] * 16, "temperature_2m_min": [3.5] * 16,
                  "precipitation_probability_max": [80, 10, 60, 0, None] + [5] * 11, "wind_speed_10m_max": [20.0] * 16},
    }  # fmt: skip


def answer(path: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    """Both services of Open-Meteo."""
    if path == "/v1/search":
        found = PLACES.get(query["name"].title())
        body: object = {"results": found, "generationtime_ms": 0.5} if found else {"generationtime_ms": 0.5}
        return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()
    if query["latitude"] == "52.52":
        return 400, {"Content-Type": "application/json"}, b'{"error": true, "reason": "Value of type String required."}'
    return (
        200,
        {"Content-Type": "application/json"},
        json.dumps(forecast(query.get("temperature_unit") == "fahrenheit")).encode(),
    )


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(answer) as running:
        yield running


@pytest.fixture
def weather(desk_for, server) -> Desk:
    desk = desk_for("weather", zone="Europe/London")
    desk.settings |= {"forecast_url": server.url, "geocoding_url": server.url}
    return desk


def test_the_weather_now_is_told_with_the_rest_of_the_day(weather) -> None:
    said = weather.say_of("weather", city="London")
    assert (
        said == "In London it's 8 degrees with light rain, and feels like 4. Today 4 to 10 degrees, 80 percent chance of rain."
    )


def test_the_persons_own_place_is_meant_when_none_is_named(weather) -> None:
    assert weather.say_of("weather").startswith("In London ")
    weather.settings["city"] = "Portland, Maine"
    assert weather.say_of("weather", city="here").startswith("In Portland ")


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("tomorrow", "Tomorrow in London: overcast, 4 to 10 degrees."),
        ("on Wednesday", "On Wednesday in London: light snow, 4 to 10 degrees, 60 percent chance of snow."),
        ("today", "Today in London: light rain, 4 to 10 degrees, 80 percent chance of rain."),
        ("this evening", "Today in London: light rain, 4 to 10 degrees, 80 percent chance of rain."),
        ("2026-12-10", "On Thursday, 10 December, in London: mostly clear, 4 to 10 degrees."),
        ("this weekend", "In London on Saturday mostly clear, 4 to 10 degrees; on Sunday mostly clear, 4 to 10 degrees."),
        ("in two days", "On Wednesday in London: light snow, 4 to 10 degrees, 60 percent chance of snow."),
    ],
)
def test_a_coming_day_is_told(weather, day, said) -> None:
    assert weather.say_of("weather", city="london", day=day) == said


def test_the_state_says_which_of_several_places(weather, server) -> None:
    for city, latitude in (
        ("Portland, Maine", "43.7"),
        ("portland oregon", "45.5"),
        ("London, Ontario", "42.98"),
        ("London, UK", "51.5"),
    ):
        weather.say_of("weather", city=city)
        assert server.asked[-1][1]["latitude"] == latitude


def test_americans_hear_fahrenheit_unless_they_set_otherwise(desk_for, server) -> None:
    desk = desk_for("weather", zone="America/Chicago")
    desk.settings |= {"forecast_url": server.url, "geocoding_url": server.url}
    assert "50 degrees" in desk.say_of("weather", city="London", day="tomorrow")
    desk.settings["units"] = "metric"
    assert "10 degrees" in desk.say_of("weather", city="London", day="tomorrow")


def test_what_is_not_known_is_said(weather) -> None:
    assert weather.fail_of("weather", city="Atlantis") == "I don't know a place called 'Atlantis'."
    assert weather.fail_of("weather", city="London", day="2027-05-01").startswith(
        "I only know the weather from today to Tuesday"
    )
    assert weather.fail_of("weather", city="London", day="someday").startswith("I don't know which day 'someday' is")
    assert weather.fail_of("weather", city="Berlin") == "The weather service refuses: Value of type String required."


def test_offline_is_said_in_one_sentence(weather) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        weather.settings["geocoding_url"] = f"http://127.0.0.1:{bound.getsockname()[1]}"
        assert (
            weather.fail_of("weather", city="London") == "I can't reach the weather service: this machine seems to be offline."
        )


@pytest.mark.parametrize(
    "body", [b"<html>login</html>", b"[]", b"{}", b'{"results": 5}', b'{"results": [{"name": 3}]}', b"\xff\xfe", b""]
)
def test_an_odd_answer_costs_only_the_call(desk_for, body) -> None:
    desk = desk_for("weather")
    with serving(lambda path, query: (200, {"Content-Type": "application/json"}, body)) as odd:
        desk.settings |= {"forecast_url": odd.url, "geocoding_url": odd.url}
        assert desk.fail_of("weather", city="London").endswith(".")
