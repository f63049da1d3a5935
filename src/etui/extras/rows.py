"""The settings of a plugin as rows: their kinds, what may stand in each, and reading the TOML file that holds them.

Above: `offers` lists them, a factory reads them in its worker, the host checks what it is about to write. Below: `msgspec`.
It refuses to know: how the file is written, and what a setting does.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec

Kind = Literal["word", "choice", "number", "path", "address", "table"]
WORD = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
SPOKEN = re.compile(r"[\w'-]+(?: [\w'-]+)*")
"""What people call a thing: words with single spaces between them."""
LONGEST = 2000
"""Characters of the longest text."""


class RowError(ValueError):
    """A setting that cannot be so, in a sentence for the owner."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One setting of one plugin."""

    name: str
    kind: Kind
    default: object
    help: str
    """What it does, as the comment above it in the file."""
    choices: tuple[str, ...] = ()
    positive: bool = False
    """Of a number: 0 is refused too."""


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin must be told and no file of its own may hold."""

    name: str
    """The variable in which its worker finds it."""
    help: str
    """What it is and where it comes from."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One plugin with settings: the tool's name, what it is for, and what there is to set."""

    name: str
    """Of the plugin, its tool, its files and its module in this package."""
    title: str
    summary: str
    rows: tuple[Row, ...]
    secrets: tuple[Secret, ...] = ()

    def row(self, name: str) -> Row | None:
        """The row of that name."""
        return next((row for row in self.rows if row.name == name), None)


def defaults(offer: Offer) -> dict[str, object]:
    """Every setting as it is when nobody said anything."""
    return {row.name: dict(row.default) if isinstance(row.default, dict) else row.default for row in offer.rows}


def checked(offer: Offer, values: Mapping[str, object]) -> dict[str, object]:
    """The values over the defaults, each as its row wants it; what has no row stays as it is. Raises RowError."""
    merged = defaults(offer) | dict(values)
    found = {row.name: row for row in offer.rows}
    return {name: check(offer.name, found[name], value) if name in found else value for name, value in merged.items()}


def read(offer: Offer, path: Path) -> dict[str, object]:
    """The settings in that file; where there is none, the defaults. Raises RowError."""
    try:
        values = tomllib.loads(path.read_bytes().decode()) if path.exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RowError(f"{path} does not parse ({error})") from None
    except OSError as error:
        raise RowError(f"{path} cannot be read ({error.strerror or error})") from None
    return checked(offer, values)


def check(plugin: str, row: Row, value: object) -> object:
    """The value as the row wants it, also where it came as text from a command line. Raises RowError with what is wrong."""
    where = f"{plugin}: {row.name}"
    if row.kind == "table":
        return _table(where, value)
    if row.kind == "number":
        return _number(where, row, value)
    if not isinstance(value, str):
        raise RowError(f"{where} must be text")
    text = value.strip()
    if row.kind == "choice":
        text = text.lower()
        if text not in row.choices:
            raise RowError(f"{where} must be one of {', '.join(row.choices)}")
    elif row.kind == "word" and text and not WORD.fullmatch(text):
        raise RowError(f"{where} must be a bare word (letters, digits, . _ -)")
    elif not text.isprintable() or len(text) > LONGEST:
        raise RowError(f"{where} must be one line")
    elif row.kind == "address" and text:
        return _address(where, text)
    return text


def _number(where: str, row: Row, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise RowError(f"{where} must be a number")
    try:
        number = float(value or 0)
    except (ValueError, OverflowError):
        raise RowError(f"{where} must be a number") from None
    if not math.isfinite(number) or number < 0 or (row.positive and number == 0):
        raise RowError(f"{where} must be {'more than 0' if row.positive else '0 or more'}")
    return int(number) if isinstance(row.default, int) and number.is_integer() else number


def _address(where: str, text: str) -> str:
    try:
        parts = urlsplit(text)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        right = False
    if not right or " " in text:
        raise RowError(f"{where} must be an address that starts with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise RowError(f"{where} must be a bare address, with no name, password or question in it")
    return text.rstrip("/")


def _table(where: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise RowError(f'{where} must be a table of name = "value" lines')
    table: dict[str, str] = {}
    for alias, meant in value.items():
        name = " ".join(str(alias).lower().split())
        if not SPOKEN.fullmatch(name):
            raise RowError(f"{where}: each name must be words with spaces between them")
        if not isinstance(meant, str) or not WORD.fullmatch(meant.strip()):
            raise RowError(f"{where}: each value must be a bare word (letters, digits, . _ -)")
        table[name] = meant.strip()
    return table
