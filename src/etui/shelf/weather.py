"""The weather now and in the coming days, anywhere, from Open-Meteo's public service, which needs no key.

Above: whoever speaks to the assistant. Below: `httpx2`, and the service's two documented addresses: one finds a place by
its name, the other gives its forecast. An ordinary tool file with the risk "network". It refuses to know: weather that has
passed. Settings: `city` (where the person is), `units` ("metric" or "imperial"), `forecast_url`, `geocoding_url`.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import httpx2

from etui import Context, Result, ToolError, tool

FORECAST = "https://api.open-meteo.com"
GEOCODING = "https://geocoding-api.open-meteo.com"
DAYS = 16
"""How far the service looks ahead, today included."""
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
AHEAD = {"today": 0, "tonight": 0, "morning": 0, "afternoon": 0, "evening": 0, "tomorrow": 1, "day after tomorrow": 2}
SPANS = {"week": 7, "few days": 3, "coming days": 3, "next days": 3, "days": 3}
NOW = "temperature_2m,apparent_temperature,weather_code,wind_speed_10m"
DAILY = "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max,wind_speed_10m_max"
SKY = {
    0: "clear sky", 1: "mostly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "freezing fog",
    51: "light drizzle", 53: "drizzle", 55: "heavy drizzle", 56: "freezing drizzle", 57: "heavy freezing drizzle",
    61: "light rain", 63: "rain", 65: "heavy rain", 66: "freezing rain", 67: "heavy freezing rain",
    71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains", 80: "light showers", 81: "showers",
    82: "heavy showers", 85: "light snow showers", 86: "heavy snow showers", 95: "thunderstorms",
    96: "thunderstorms with hail", 99: "thunderstorms with heavy hail",
}  # fmt: skip
"""The codes of the World Meteorological Organization that the service uses, in words."""
IMPERIAL = {
    "New_York", "Chicago", "Denver", "Los_Angeles", "Phoenix", "Anchorage", "Detroit", "Boise", "Honolulu", "Indianapolis",
    "Louisville", "Juneau",
}  # fmt: skip
"""Cities of the time zones whose people count in Fahrenheit and miles."""


def utc_now() -> datetime:
    """Now, aware; tests put another in its place."""
    return datetime.now(UTC)


@tool(
    risk="network",
    timeout=30,
    examples=[
        "what's the weather in {city}",
        "what's the weather like",
        "how is the weather in {city} {day}",
        "what will the weather be {day} in {city}",
        "will it rain {day}",
        "will it rain in {city} {day}",
        "do I need an umbrella {day}",
        "how cold will it be {day} in {city}",
        "what's the temperature outside",
        "will it be sunny {day}",
        "is it going to snow in {city}",
        "what's it going to be like in {city} {day}",
    ],
)
def weather(
    ctx: Context,
    city: Annotated[str, "City or place, such as London or Portland, Oregon; empty for where the person is."] = "",
    day: Annotated[str, "today, tomorrow, a weekday, the weekend or a date as ISO 8601; empty for now."] = "",
) -> Result:
    """Tell the weather now, or the forecast for a day of the coming two weeks, in any city of the world."""
    place = _place(_city(city, ctx), ctx)
    imperial = _imperial(ctx)
    forecast = _forecast(place, imperial, ctx)
    today = utc_now().astimezone(_zone(forecast)).date()
    name = _name(place)
    days = _days(day, today)
    data = {
        "place": name,
        "latitude": place["latitude"],
        "longitude": place["longitude"],
        "units": "imperial" if imperial else "metric",
    }
    values = [_of_day(forecast, one) for one in days or [today]]
    if not days:
        return Result(_now_said(name, forecast), data={**data, "current": forecast["current"], "day": values[0]})
    if len(days) == 1:
        day_name = _day_name(days[0], today)
        text = f"{day_name[0].upper()}{day_name[1:]} in {name}: {_sky_said(values[0])}."
    else:
        told = (f"{_day_name(one, today)} {_sky_said(of_day)}" for one, of_day in zip(days, values, strict=True))
        text = f"In {name} {'; '.join(told)}."
    return Result(text, data={**data, "days": values})


def _city(said: str, ctx: Context) -> str:
    """Where to look: as said, else the owner's city, else the largest city of the person's time zone."""
    plain = re.sub(r"^(in|for|at) |[?!.]+$", "", " ".join(said.split()), flags=re.IGNORECASE).strip()
    if plain.casefold() not in {"", "here", "home", "outside", "my city", "my area", "my town", "local"}:
        return plain
    if home := ctx.settings.get("city", ""):
        return str(home)
    zone = ctx.session.timezone
    if "/" not in zone or zone.startswith("Etc/"):
        raise ToolError("For which city? I don't know where you are.")
    return zone.rpartition("/")[2].replace("_", " ")


def _place(name: str, ctx: Context) -> dict[str, Any]:
    """The best known place of that name; what follows a comma, or the last words, may say in which country or state."""
    base = str(ctx.settings.get("geocoding_url", GEOCODING)).rstrip("/")
    first, _, area = (part.strip() for part in name.partition(","))
    words = name.replace(",", " ").split()
    tries = (
        [(first, area)]
        if area
        else [(name, "")]
        + [(" ".join(words[:cut]), " ".join(words[cut:])) for cut in (len(words) - 1, len(words) - 2) if cut > 0]
    )
    for wanted, where in tries:
        answer = _get(f"{base}/v1/search", {"name": wanted, "count": 20, "language": "en", "format": "json"})
        found = [one for one in _listed(answer.get("results")) if _is_place(one)]
        if fits := [one for one in found if not where or _lies_in(one, where)]:
            return max(fits, key=lambda one: (one["name"].casefold() == wanted.casefold(), one.get("population") or 0))
    raise ToolError(f"I don't know a place called {name[:60]!r}.")


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_place(found: object) -> bool:
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        return False
    return all(isinstance(found.get(key), int | float) for key in ("latitude", "longitude"))


def _lies_in(place: dict[str, Any], area: str) -> bool:
    wanted = area.casefold().replace(".", "").removeprefix("the ")
    wanted = {"uk": "united kingdom", "usa": "united states", "us": "united states", "england": "england"}.get(wanted, wanted)
    return wanted in {str(place.get(key, "")).casefold() for key in ("country", "country_code", "admin1", "admin2")}


def _forecast(place: dict[str, Any], imperial: bool, ctx: Context) -> dict[str, Any]:
    base = str(ctx.settings.get("forecast_url", FORECAST)).rstrip("/")
    wanted = {
        "latitude": place["latitude"],
        "longitude": place["longitude"],
        "current": NOW,
        "daily": DAILY,
        "timezone": "auto",
        "forecast_days": DAYS,
    }
    units = {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph"} if imperial else {}
    answer = _get(f"{base}/v1/forecast", {**wanted, **units})
    if not isinstance(answer.get("daily"), dict) or not isinstance(answer.get("current"), dict):
        raise ToolError("The weather service gave an answer that I don't understand.")
    return answer


def _get(url: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The service's answer, a JSON object. Raises ToolError with one sentence."""
    try:
        response = httpx2.get(url, params=parameters, timeout=10.0, follow_redirects=False)
        answer = response.json()
    except httpx2.TimeoutException:
        raise ToolError("The weather service takes too long to answer.") from None
    except httpx2.TransportError:
        raise ToolError("I can't reach the weather service: this machine seems to be offline.") from None
    except (ValueError, httpx2.HTTPError):
        raise ToolError("The weather service gave an answer that I don't understand.") from None
    if not isinstance(answer, dict):
        raise ToolError("The weather service gave an answer that I don't understand.")
    if response.status_code == 429:
        raise ToolError("The weather service has had too many questions from here: try again later.")
    if response.status_code >= 400:
        raise ToolError(f"The weather service refuses: {str(answer.get('reason') or response.status_code)[:120].rstrip('.')}.")
    return answer


def _days(said: str, today: date) -> list[date]:
    """The days that are meant, none for now. Raises ToolError for what is no day or too far ahead."""
    plain = re.sub(r"[?!.]+$", "", " ".join(said.casefold().split()))
    plain = re.sub(r"^((on|this|for|the|coming|next) )+", "", plain).strip()
    if plain in {"", "now", "right now", "outside", "at the moment", "currently"}:
        return []
    if plain in SPANS:
        return [today + timedelta(n) for n in range(SPANS[plain])]
    if plain == "weekend":
        saturday = today + timedelta((5 - today.weekday()) % 7)
        return [today] if today.weekday() == 6 else [saturday, saturday + timedelta(1)]
    found = _day(plain, today)
    if found is None:
        hint = f"say tomorrow, Friday or a date like {today.isoformat()}"
        raise ToolError(f"I don't know which day {said.strip()[:40]!r} is: {hint}.")
    if not today <= found < today + timedelta(DAYS):
        raise ToolError(f"I only know the weather from today to {today + timedelta(DAYS - 1):%A, %d %B}.")
    return [found]


def _day(plain: str, today: date) -> date | None:
    first = plain.split()[0]
    if (ahead := AHEAD.get(plain, AHEAD.get(first))) is not None:
        return today + timedelta(ahead)
    if first in WEEKDAYS:
        return today + timedelta((WEEKDAYS.index(first) - today.weekday()) % 7)
    if number := re.fullmatch(r"in (\d{1,2}|a|one|two|three|four|five|six) days?", plain):
        words = ("zero", "one", "two", "three", "four", "five", "six")
        return today + timedelta(int(number[1]) if number[1].isdigit() else words.index(number[1].replace("a", "one")))
    try:
        return date.fromisoformat(plain[:10])
    except ValueError:
        return None


def _of_day(forecast: dict[str, Any], day: date) -> dict[str, Any]:
    """The service's columns as one day's values."""
    daily = forecast["daily"]
    times = _listed(daily.get("time"))
    if day.isoformat() not in times:
        raise ToolError("The weather service gave no forecast for that day.")
    at = times.index(day.isoformat())
    return {key: column[at] for key, column in daily.items() if isinstance(column, list) and len(column) > at}


def _now_said(name: str, forecast: dict[str, Any]) -> str:
    current = forecast["current"]
    degrees, feels = current.get("temperature_2m"), current.get("apparent_temperature")
    if degrees is None:
        raise ToolError("The weather service gave no temperature for now.")
    text = f"In {name} it's {_degrees(degrees)} with {_sky(current.get('weather_code'))}"
    if feels is not None and abs(feels - degrees) >= 3:
        text += f", and feels like {round(feels)}"
    times = _listed(forecast["daily"].get("time"))
    day = str(current.get("time", ""))[:10]
    if day in times:
        today = _of_day(forecast, date.fromisoformat(day))
        text += f". Today {_range(today)}{_rain(today)}"
    return f"{text}."


def _day_name(day: date, today: date) -> str:
    ahead = (day - today).days
    return {0: "today", 1: "tomorrow"}.get(ahead) or f"on {day:%A}" + (f", {day.day} {day:%B}," if ahead > 6 else "")


def _sky_said(values: dict[str, Any]) -> str:
    return f"{_sky(values.get('weather_code'))}, {_range(values)}{_rain(values)}"


def _sky(code: object) -> str:
    return SKY.get(code, "changing skies") if isinstance(code, int) else "changing skies"


def _range(values: dict[str, Any]) -> str:
    low, high = values.get("temperature_2m_min"), values.get("temperature_2m_max")
    if low is None or high is None:
        return "with no temperatures known"
    if round(low) == round(high):
        return f"around {_degrees(high)}"
    return f"{round(low)} to {_degrees(high)}"


def _rain(values: dict[str, Any]) -> str:
    chance = values.get("precipitation_probability_max")
    if chance is None or chance < 20:
        return ""
    snow = isinstance(code := values.get("weather_code"), int) and code in {71, 73, 75, 77, 85, 86}
    return f", {round(chance)} percent chance of {'snow' if snow else 'rain'}"


def _degrees(value: float) -> str:
    number = round(value)
    return f"{number} degree{'' if abs(number) == 1 else 's'}"


def _zone(forecast: dict[str, Any]) -> ZoneInfo:
    try:
        return ZoneInfo(str(forecast.get("timezone") or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def _name(place: dict[str, Any]) -> str:
    return str(place["name"])


def _imperial(ctx: Context) -> bool:
    units = str(ctx.settings.get("units", "") or "").casefold()
    if units in {"metric", "imperial"}:
        return units == "imperial"
    return ctx.session.timezone.rpartition("/")[2] in IMPERIAL
