"""Names of units as people say them, each with the name that a converter knows.

Above: the parameters. Below: nothing. It refuses to convert: it only knows that "kilos" are kilograms and "km/h" a speed.
"""

from __future__ import annotations

from collections.abc import Sequence

_NAMES = """
meter: meters metre metres m
kilometer: kilometers kilometre kilometres km kms klick klicks
centimeter: centimeters centimetre centimetres cm cms
millimeter: millimeters millimetre millimetres mm
micrometer: micrometers micron microns
mile: miles mi
nautical mile: nautical miles
yard: yards yd yds
foot: feet ft
inch: inches
light year: light years lightyear lightyears
gram: grams gramme grammes g gr
kilogram: kilograms kilo kilos kg kgs kilogramme kilogrammes
milligram: milligrams mg
tonne: tonnes; metric ton; metric tons
ton: tons
pound: pounds lb lbs
ounce: ounces oz
stone: stones
liter: liters litre litres l
milliliter: milliliters millilitre millilitres ml
centiliter: centiliters centilitre cl
deciliter: deciliters decilitre dl
gallon: gallons gal
quart: quarts
pint: pints
cup: cups
tablespoon: tablespoons tbsp
teaspoon: teaspoons tsp
fluid ounce: fluid ounces; fl oz
celsius: centigrade; c; degrees celsius; degree celsius; degrees centigrade; ° c; degrees c
fahrenheit: f; degrees fahrenheit; degree fahrenheit; ° f; degrees f
kelvin: kelvins; k; degrees kelvin
kilometer per hour: kilometers per hour; kilometers an hour; kilometer an hour; kilometres per hour; km / h; km an hour; kmh
kilometer per hour: km per hour; kmph; kph; kilometres an hour; kilometers / hour
mile per hour: miles per hour; mph; miles an hour; mile an hour
meter per second: meters per second; metres per second; meters a second; m / s
knot: knots
second: seconds sec secs
minute: minutes min mins
hour: hours hr hrs
day: days
week: weeks
month: months
year: years
square meter: square meters; square metre; square metres; sqm
square foot: square feet; sq ft; sqft
square kilometer: square kilometers; square kilometres
square mile: square miles
acre: acres
hectare: hectares ha
cubic meter: cubic meters; cubic metre; cubic metres
bit: bits
byte: bytes
kilobyte: kilobytes kb
megabyte: megabytes mb
gigabyte: gigabytes gb gigs gig
terabyte: terabytes tb
joule: joules
kilojoule: kilojoules kj
calorie: calories cal
kilocalorie: kilocalories kcal
watt: watts
kilowatt: kilowatts kw
kilowatt hour: kilowatt hours; kwh
horsepower: hp
degree: degrees
radian: radians
pascal: pascals
bar: bars
psi:
atmosphere: atmospheres atm
newton: newtons
volt: volts
hertz: hz
kilohertz: khz
megahertz: mhz
gigahertz: ghz
"""


def _table() -> dict[tuple[str, ...], str]:
    table: dict[tuple[str, ...], str] = {}
    for line in _NAMES.strip().splitlines():
        name, _, others = line.partition(":")
        table[tuple(name.split())] = name
        for group in others.split(";"):
            words = group.split()
            together = ";" in others or len(name.split()) > 1
            for alias in [words] if together else [[word] for word in words]:
                if alias:
                    table[tuple(alias)] = name
    return table


UNITS = _table()
SYMBOLS = {"c", "f", "k", "l", "g", "m", "h", "bar", "cal", "mi", "ha", "stone", "foot", "yard", "cup", "day", "min"}
"""Names that also are other words or letters: read only where a unit is looked for next to a number or another unit."""


def read_unit(words: Sequence[str], at: int) -> tuple[str, int] | None:
    """The longest name of a unit that begins at `at`: the name a converter knows, and the index after it."""
    for length in (3, 2, 1):
        name = UNITS.get(tuple(words[at : at + length])) if at + length <= len(words) else None
        if name:
            return name, at + length
    return None
