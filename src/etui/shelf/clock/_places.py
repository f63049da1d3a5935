"""Finds a city, country, state or time zone of the world by the name that a person gives it; needs no network.

Above: `clock.py`. Below: `places.tsv.gz` (see ATTRIBUTION.md), which is kept as one text and searched as text: it is found
in a millisecond and costs no index. It refuses to know: what time it is.
"""

from __future__ import annotations

import difflib
import gzip
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

LETTERS = str.maketrans(
    {
        "ß": "ss",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "đ": "d",
        "Đ": "D",
        "æ": "ae",
        "Æ": "Ae",
        "œ": "oe",
        "ı": "i",
        "þ": "th",
        "ð": "d",
    }
)
ZONES = {
    "utc": ("UTC", "UTC"),
    "gmt": ("UTC", "GMT"),
    "greenwich mean time": ("UTC", "Greenwich Mean Time"),
    "zulu": ("UTC", "UTC"),
    "eastern": ("America/New_York", "the Eastern zone"),
    "est": ("America/New_York", "the Eastern zone"),
    "edt": ("America/New_York", "the Eastern zone"),
    "central": ("America/Chicago", "the Central zone"),
    "cst": ("America/Chicago", "the Central zone"),
    "cdt": ("America/Chicago", "the Central zone"),
    "mountain": ("America/Denver", "the Mountain zone"),
    "mst": ("America/Denver", "the Mountain zone"),
    "mdt": ("America/Denver", "the Mountain zone"),
    "pacific": ("America/Los_Angeles", "the Pacific zone"),
    "pst": ("America/Los_Angeles", "the Pacific zone"),
    "pdt": ("America/Los_Angeles", "the Pacific zone"),
    "cet": ("Europe/Paris", "Central Europe"),
    "cest": ("Europe/Paris", "Central Europe"),
    "central european": ("Europe/Paris", "Central Europe"),
    "bst": ("Europe/London", "the British zone"),
    "ist": ("Asia/Kolkata", "India"),
    "jst": ("Asia/Tokyo", "Japan"),
}
SHORT = {"st": "saint", "mt": "mount", "ft": "fort"}
CONTINENTS = {"africa", "asia", "europe", "north america", "south america", "oceania", "antarctica"}
OTHER_NAME = 30
"""A place that only also bears a name must have this many times the people of one that is called so."""
FAME = {"country": 20.0, "state": 0.1}
"""How much a kind of place counts by its people: "Georgia" is the country, "Washington" the city."""


@dataclass(frozen=True)
class Place:
    """A place and its time zone."""

    name: str
    """What to call it, with its article: `Tokyo`, `the United States`."""
    zone: str
    """IANA name."""
    region: str = ""
    """Country code, with a state's after a dot: `JP`, `US.TX`."""
    weight: float = 0.0
    """By this the best known of several places of a name is chosen."""
    kind: str = "city"
    """`city`, `country`, `state`, `region` or `zone`."""
    capital: str = ""
    """Of a country or state: its seat or largest city."""
    zones: tuple[str, ...] = ()
    """Of a country or state: every zone where many of its people live."""


def fold(name: str) -> str:
    """A name without case, accents and punctuation; empty if nothing Latin is left."""
    plain = unicodedata.normalize("NFKD", name.translate(LETTERS)).casefold()
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return " ".join(re.findall(r"[a-z0-9]+", letters.replace("'", "").replace("’", "").replace("ʻ", "")))


def find(name: str) -> Place | None:
    """The best known place of that name, or None; "Portland, Oregon" and "london ontario" say which one."""
    wanted = re.sub(r"^(?:the )?(?:city of |state of |downtown )?", "", fold(name))
    zone = re.sub(r"( standard| daylight| summer)?( time)?( zone)?$", "", wanted)
    if zone in ZONES:
        return Place(ZONES[zone][1], ZONES[zone][0], kind="zone")
    found = _best(wanted) or _qualified(wanted) or _best(f"{wanted} city") or _best(wanted.removesuffix(" city"))
    return _called(found, name, wanted) if found else None


def nearest(name: str, limit: int = 3) -> list[str]:
    """Names of well-known places spelt like this one, the likeliest first."""
    wanted = fold(name)[:40]
    if not wanted:
        return []
    known = _known()
    close = difflib.get_close_matches(wanted, known, n=limit * 3, cutoff=0.72)
    return list(dict.fromkeys(known[key] for key in close))[:limit]


def _called(place: Place, said: str, wanted: str) -> Place:
    """The place by the name that the person used, if that is another name of its own, such as Saigon."""
    own = fold(place.name).removeprefix("the ")
    if place.kind != "city" or len(wanted) < 5 or wanted in own or wanted.split()[0] == own.split()[0] or not _best(wanted):
        return place
    spelt = " ".join(said.split()).strip(" ?!.,")
    return replace(place, name=spelt.title() if spelt == spelt.casefold() else spelt)


def _best(wanted: str) -> Place | None:
    """The best known place of that folded name, "st" and "saint" and the like being one word."""
    spellings = {wanted}
    for short, long in SHORT.items():
        spellings |= {re.sub(rf"^{short} ", f"{long} ", wanted), re.sub(rf"^{long} ", f"{short} ", wanted)}
    return max((place for name in spellings for place in _named(name)), key=lambda place: place.weight, default=None)


def _named(name: str) -> list[Place]:
    """Every place that bears the folded name, the best known first."""
    text, key, found, at = _text(), f"|{name}|", [], -1
    while name and (at := text.find(key, at + 1)) >= 0:
        start = text.rfind("\n", 0, at) + 1
        row = text[start : text.find("\n", at)]
        head = text.rfind("\n#", 0, at) + 2
        found.append(_place(row, text[head : text.find("\n", head)], own=at == start))
    return sorted(found, key=lambda place: -place.weight)


def _place(row: str, head: str, own: bool) -> Place:
    region, _, zone = head.partition(" ")
    _, name, people, *more = row.split("\t")
    weight = float(people) or 1.0
    if not more:
        return Place(name, zone, region, weight if own else weight / OTHER_NAME)
    kind, capital, zones = more
    return Place(name, zone, region, weight * FAME.get(kind, 1.0), kind, capital, tuple(zones.split(",")))


def _qualified(wanted: str) -> Place | None:
    """A place named together with its state or country: the words are parted wherever that makes sense."""
    words = wanted.split()
    for cut in range(len(words) - 1, 0, -1):
        name, area = " ".join(words[:cut]).removesuffix(" in"), " ".join(words[cut:]).removeprefix("in ").removeprefix("the ")
        codes = {place.region for place in _named(area) if place.kind in {"country", "state"}}
        codes |= {area.upper(), f"US.{area.upper()}"} if len(area) == 2 else set()
        for place in _named(name):
            if place.region in codes or place.region.partition(".")[0] in codes:
                return place
    return None


@lru_cache(maxsize=1)
def _text() -> str:
    with gzip.open(Path(__file__).with_name("places.tsv.gz"), "rt", encoding="utf-8") as file:
        return file.read()


@lru_cache(maxsize=1)
def _known() -> dict[str, str]:
    """Folded name to shown name of countries, states and cities of more than 100,000 people."""
    rows = (line.split("\t") for line in _text().split("\n") if line.startswith("|"))
    return {row[0][1:].partition("|")[0]: row[1] for row in rows if int(row[2]) >= 100_000 or len(row) > 3}
