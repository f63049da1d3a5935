"""The converter of units, with the names that people use for them.

Above: whoever speaks to the assistant. Below: `pint` knows the units and what they measure. An ordinary tool file.
It refuses to know: exchange rates, and what a cup of flour weighs.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Annotated, Any

import pint

from etui import Result, ToolError, tool

from ._numbers import capital, scientific

ALSO = {
    "mile_per_gallon": "mpg|miles per gallon|mile per gallon",
    "liter_per_100km": (
        "l/100km|l/100 km|liters per 100 km|"
        "litres per 100 km|liters per 100 kilometers|litres per 100 kilometres|liters per hundred kilometers"
    ),
    "kilometer_per_hour": "kmh|km/h|kph|kilometers per hour|kilometres per hour|kilometers an hour|kilometres an hour",
    "mile_per_hour": "mph|miles per hour|miles an hour",
    "meter/second": "meters per second|metres per second|m/s",
    "foot/second": "feet per second",
    "degC": "celsius|centigrade|degrees celsius|degree celsius|degrees centigrade|°c|deg c|degrees c",
    "degF": "fahrenheit|degrees fahrenheit|degree fahrenheit|°f|deg f|degrees f",
    "kelvin": "kelvin|kelvins|degrees kelvin",
    "liter": "l|litre|litres|ltr",
    "milliliter": "ml|millilitres",
    "centiliter": "cl",
    "deciliter": "dl",
    "tablespoon": "tbsp|tbsps|tablespoonful",
    "teaspoon": "tsp|tsps",
    "cup": "c.|us cups",
    "fluid_ounce": "fl oz|floz|fluid ounce|fluid ounces",
    "imperial_gallon": "imperial gallon|imperial gallons|uk gallon|uk gallons",
    "gallon": "us gallon|us gallons",
    "imperial_pint": "imperial pint|imperial pints|uk pint|uk pints",
    "pint": "us pints",
    "metric_cup": "metric cups|metric cup",
    "pound": "lbs|lb",
    "ounce": "oz",
    "stone": "st|stones",
    "kilogram": "kilo|kilos|kgs",
    "gram": "gramme|grammes",
    "metric_ton": "metric ton|metric tons|tonne|tonnes",
    "ton": "short tons|us tons",
    "long_ton": "long tons",
    "carat": "carats",
    "inch": 'in|ins|"',
    "foot": "'|ft",
    "yard": "yds",
    "meter": "metre|metres",
    "centimeter": "centimetres",
    "millimeter": "millimetres",
    "kilometer": "kilometre|kilometres|kms|k",
    "nautical_mile": "nautical miles|nautical mile",
    "light_year": "light years|light year|lightyears",
    "astronomical_unit": "astronomical units|au",
    "foot**2": "sq ft|square feet|square foot",
    "meter**2": "square meters|square metres|square meter|sq m|sqm|m2|m²",
    "kilometer**2": "square kilometers|square kilometres",
    "mile**2": "square miles",
    "inch**2": "square inches",
    "yard**2": "square yards",
    "meter**3": "cubic meters|cubic metres",
    "foot**3": "cubic feet",
    "inch**3": "cubic inches",
    "centimeter**3": "cubic centimeters",
    "hectare": "hectares",
    "second": "secs|sec",
    "minute": "mins|min",
    "hour": "hrs|hr|h",
    "year": "yrs",
    "horsepower": "hp",
    "kilowatt_hour": "kwh|kilowatt hours|kilowatt hour",
    "kilowatt": "kw",
    "watt": "w",
    "calorie": "calories",
    "kilocalorie": "kcal|kilocalories",
    "kilojoule": "kj|kilojoules",
    "atmosphere": "atmospheres",
    "millibar": "millibars",
    "hectopascal": "hpa",
    "pound_force_per_square_inch": "psi|pounds per square inch",
    "kilobyte": "kb",
    "megabyte": "mb",
    "gigabyte": "gb",
    "terabyte": "tb",
    "kibibyte": "kib",
    "mebibyte": "mib",
    "gibibyte": "gib",
    "tebibyte": "tib",
    "megabit/second": "mbps|megabits per second",
    "gigabit/second": "gbps",
    "megabyte/second": "megabytes per second",
    "dozen_count": "dozen|dozens",
    "degree": "degrees|degree",
    "radian": "radians",
    "knot": "knots",
    "furlong": "furlongs",
    "fortnight": "fortnights",
}
"""What people also call the library's units."""
UNITS = {name: unit for unit, names in ALSO.items() for name in names.split("|")}
HEAT = {"c": "degC", "f": "degF", "k": "kelvin"}
MONEY = {
    "$", "aud", "bitcoin", "bitcoins", "btc", "cad", "cents", "chf", "cny", "dollar", "dollars", "eth",
    "eur", "euro", "euros", "franc", "francs", "gbp", "inr", "jpy", "krona", "kronor", "peso", "pesos",
    "rupee", "rupees", "sterling", "usd", "won", "yen", "yuan", "£", "¥", "€",
}  # fmt: skip
MEASURES = {
    "[length]": "a length", "[mass]": "a weight", "[time]": "a time", "[temperature]": "a temperature",
    "[length] ** 3": "a volume",
    "[length] ** 2": "an area", "[length] / [time]": "a speed",
    "[length] ** 2 * [mass] / [time] ** 2": "an energy",
    "[length] ** 2 * [mass] / [time] ** 3": "a power",
    "[mass] / [length] / [time] ** 2": "a pressure",
    "dimensionless": "a plain number", "1 / [length] ** 2": "a fuel economy",
}  # fmt: skip
SAID = {
    "degree_Celsius": "degrees Celsius",
    "degree_Fahrenheit": "degrees Fahrenheit",
    "mile_per_gallon": "miles per gallon",
    "liter_per_100km": "liters per 100 kilometers",
    "dozen_count": "dozen",
    "pound_force_per_square_inch": "pounds per square inch",
}
PLURALS = {
    "foot": "feet",
    "inch": "inches",
    "stone": "stone",
    "century": "centuries",
    "kelvin": "kelvin",
    "hertz": "hertz",
    "horsepower": "horsepower",
    "bar": "bar",
}


@tool(
    examples=[
        "convert {value} {from_unit} to {to_unit}",
        "convert {value} {from_unit} into {to_unit}",
        "what is {value} {from_unit} in {to_unit}",
        "how many {to_unit} is {value} {from_unit}",
        "how many {to_unit} are in {value} {from_unit}",
        "how many {to_unit} are there in a {from_unit}",
        "how much is {value} {from_unit} in {to_unit}",
        "{value} {from_unit} in {to_unit}",
        "change {value} {from_unit} to {to_unit}",
    ],
)
def convert(
    from_unit: Annotated[str, "Unit to convert from, such as miles, °F, cups, stone, mpg."],
    to_unit: Annotated[str, "Unit to convert to."],
    value: Annotated[float, "The amount."] = 1.0,
) -> Result:
    """Convert an amount from one unit to another: lengths, weights, volumes, temperatures, speeds, times, data and more."""
    heat = _is_heat(from_unit) or _is_heat(to_unit)
    source, target = (_unit(_scale(said, other), heat) for said, other in ((from_unit, to_unit), (to_unit, from_unit)))
    if not math.isfinite(value):
        raise ToolError("That amount is no number I can convert.")
    try:
        amount = float(_converted(value, source, target))
    except pint.DimensionalityError:
        raise ToolError(
            f"{capital(_spoken(source, 2))} can't be turned into {_spoken(target, 2)}: {_measures(source, target)}."
        ) from None
    except (OverflowError, ZeroDivisionError, ValueError):
        raise ToolError("That can't be converted: the result is no finite number.") from None
    if not math.isfinite(amount):
        raise ToolError("That can't be converted: the result is no finite number.")
    text = f"{_rounded(value)} {_spoken(source, value)} is {_rounded(amount)} {_spoken(target, amount)}."
    return Result(capital(text), data={"value": amount, "unit": str(target)})


@lru_cache(maxsize=1)
def _registry() -> Any:
    registry: Any = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
    registry.define("mile_per_gallon = mile / gallon")
    registry.define("liter_per_100km = liter / (100 * kilometer)")
    registry.define("dozen_count = 12")
    return registry


def _is_heat(unit: str) -> bool:
    plain = unit.casefold().strip(" .")
    return UNITS.get(plain) in {"degC", "degF", "kelvin"} or plain in {"k", "c", "f"}


def _scale(said: str, other: str) -> str:
    """Bare "degrees" are those of the other scale, when the other unit is a temperature."""
    if said.casefold().strip(" .") not in {"degrees", "degree", "°"} or not _is_heat(other):
        return said
    return "celsius" if other.casefold().strip(" .").removeprefix("degrees ").lstrip("°").startswith("f") else "fahrenheit"


def _unit(said: str, heat: bool) -> Any:
    """The unit of that name. Raises ToolError with a sentence."""
    plain = re.sub(r"^(?:an?|the|us customary) ", "", " ".join(said.split()).strip(" ?!,"))
    lower = plain.casefold().strip(".")
    if lower in MONEY or (lower.split() or [""])[-1] in MONEY or lower in {"pound sterling", "pounds sterling"}:
        raise ToolError("I can't convert currencies: exchange rates change all day, and I don't look them up.")
    if (
        not plain
        or len(plain) > 40
        or not re.fullmatch(r"[\w°²³µ'\"/*^ .-]+", plain)
        or re.search(r"\d{2,}(?!km| ?k)|\*\*\d\d|\^\d\d", lower.replace("100", ""))
    ):
        raise ToolError(f"I don't know a unit called {said.strip()[:40]!r}.")
    registry = _registry()
    for name in _spellings(plain, lower, heat):
        try:
            return registry.parse_units(name)
        except Exception:  # noqa: S112, BLE001  pint raises of many kinds for what is no unit
            continue
    raise ToolError(f"I don't know a unit called {plain!r}.")


def _spellings(plain: str, lower: str, heat: bool) -> list[str]:
    """What the unit may be called in the library, the likeliest first."""
    known = [HEAT[lower]] if heat and lower in HEAT else []
    known += [UNITS[lower]] if lower in UNITS else []
    under = lower.replace(" per ", "/").replace(" ", "_").replace("²", "**2").replace("³", "**3").replace("^", "**")
    singular = [under[:-1]] if under.endswith("s") else []
    return [*known, under, *singular, plain]


def _converted(value: float, source: Any, target: Any) -> float:
    registry = _registry()
    quantity = registry.Quantity(value, source)
    inverse = (1 / registry.Quantity(1, target)).dimensionality
    if quantity.dimensionality != registry.Quantity(1, target).dimensionality and quantity.dimensionality == inverse:
        # Miles per gallon and liters per 100 kilometers are each other's inverse.
        quantity = 1 / quantity
    return float(quantity.to(target).magnitude)


def _measures(source: Any, target: Any) -> str:
    kinds = [MEASURES.get(str(unit.dimensionality), "something else") for unit in (source, target)]
    return f"one measures {kinds[0]}, the other {kinds[1]}"


def _rounded(value: float) -> str:
    """The amount as people say it: two digits after the point, or four that count."""
    if value and (abs(value) >= 1e15 or abs(value) < 1e-6):
        return scientific(value)
    digits = 2 if abs(value) >= 10 else 4 - (math.floor(math.log10(abs(value))) + 1 if value else 1)
    text = f"{value:,.{min(digits, 10)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _spoken(unit: Any, amount: float) -> str:
    """The unit's name, in the plural unless there is one."""
    name = str(unit)
    if name in SAID:
        text = SAID[name]
        return text.replace("degrees", "degree").replace("miles", "mile").replace("liters", "liter", 1) if amount == 1 else text
    if not name or name == "dimensionless":
        return ""
    over, _, under = name.replace(" ** 2", "²").replace(" ** 3", "³").partition(" / ")
    over, _, rest = over.partition("_per_")
    first = re.sub(r"(\w+)([²³])", lambda found: f"{ {'²': 'square', '³': 'cubic'}[found[2]] } {found[1]}", over)
    words = first.replace("_", " ").split(" ")
    if amount != 1:
        words[-1] = PLURALS.get(words[-1]) or f"{words[-1]}s"
    below = rest.replace("_", " ") or under.replace("_", " ").replace(" / ", " per ")
    return " ".join(words) + (f" per {below}" if below else "")
