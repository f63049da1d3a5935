"""The TOML file of a plugin's settings, written anew: each setting under its comment, and what the owner added kept.

Above: `packaged`. Below: `extras.rows`, `tomlkit`. It refuses to know: where the file lies, and whether its values are right.
"""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterator, Mapping

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Comment, Item, Key

from etui.extras.rows import Offer, Row

WIDTH = 100


def rendered(offer: Offer, values: Mapping[str, object], before: str) -> str:
    """The text of the file. `before` is what it held: keys, tables and comments of the owner's own are taken over from it."""
    own = _Own(offer, before)
    lines = [*_comment(f"{offer.title}: {offer.summary}."), *_comment(_secrets(offer)), ""]
    for row in offer.rows:
        if row.kind != "table":
            lines += [*own.above(row.name), *_comment(row.help), own.beside(row.name, values[row.name]), ""]
    for name in own.keys:
        lines += [*own.above(name), own.text(name)]
    lines += [""] if own.keys else []
    for row in offer.rows:
        if row.kind == "table":
            lines += [*own.above(row.name), *_table(row, values[row.name]), ""]
    for name in own.tables:
        lines += [*own.above(name), own.text(name), ""]
    lines += own.above("")
    return "\n".join(lines).rstrip() + "\n"


def _secrets(offer: Offer) -> str:
    names = ", ".join(secret.name for secret in offer.secrets)
    return f"Secrets do not belong here: `etui plugins install {offer.name} --secret {names}` asks for one." if names else ""


def _table(row: Row, values: object) -> list[str]:
    entries = tomlkit.dumps(values).strip() if isinstance(values, dict) and values else ""
    return [*_comment(row.help), f"[{row.name}]", *([entries] if entries else [])]


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, WIDTH, break_on_hyphens=False)]


class _Own:
    """What stands in the old file that is the owner's own."""

    def __init__(self, offer: Offer, before: str) -> None:
        try:
            self._document = tomlkit.parse(before)
        except TOMLKitError:
            self._document = tomlkit.document()
        known = {row.name for row in offer.rows}
        ours = set(_ours(offer))
        names = [name for name in self._document if name not in known]
        self.tables = [name for name in names if isinstance(self._document[name], Mapping)]
        self.keys = [name for name in names if name not in self.tables]
        self._above: dict[str, list[str]] = {}
        waiting: list[str] = []
        for key, comment in _body(self._document, known):
            if comment:
                waiting += [comment] if comment not in ours else []
            elif key:
                self._above[key] = waiting
                waiting = []
        self._above[""] = waiting

    def above(self, name: str) -> list[str]:
        """The owner's comments above a key or table; under an empty name, those at the end."""
        return self._above.get(name, [])

    def beside(self, name: str, value: object) -> str:
        """The line that sets this value, with the owner's comment behind it."""
        item = self._document.item(name) if name in self._document else None
        comment = item.trivia.comment if isinstance(item, Item) else ""
        return tomlkit.dumps({name: value}).strip() + (f"  {comment}" if comment else "")

    def text(self, name: str) -> str:
        """A key or table as it stood there."""
        alone = tomlkit.document()
        alone.add(name, self._document.item(name))
        return alone.as_string().strip()


def _ours(offer: Offer) -> Iterator[str]:
    """Every comment line that is written by itself."""
    for text in (f"{offer.title}: {offer.summary}.", _secrets(offer), *(row.help for row in offer.rows)):
        yield from _comment(text)


def _body(document: tomlkit.TOMLDocument, known: Container[str]) -> Iterator[tuple[str, str]]:
    """Top-level keys and comments in their order; a comment inside a known table belongs to what follows the table."""
    for key, item in document.body:
        if isinstance(item, Comment):
            yield "", item.as_string().strip()
        elif isinstance(key, Key):
            yield key.key, ""
            if key.key in known and isinstance(item, Mapping):
                for inner, value in getattr(getattr(item, "value", None), "body", ()):
                    if inner is None and isinstance(value, Comment):
                        yield "", value.as_string().strip()
