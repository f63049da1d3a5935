"""What plugins offered when they were last described, so that a start runs nobody's code: one description for each place.

Above: `host` hands it to the loader. Below: `store`. It refuses to know: when a description holds; the stamp says so.
"""

from __future__ import annotations

from functools import cached_property

import msgspec

from etui.contracts import Description
from etui.store.values import Values

SPACE = "description"


class Descriptions:
    """The descriptions of one host."""

    def __init__(self, values: Values) -> None:
        self._values = values

    @cached_property
    def _kept(self) -> dict[str, object]:
        return self._values.all(SPACE)

    def get(self, place: str, stamp: str) -> Description | None:
        """The description of what lies in that place, if it was made of exactly this and has today's shape."""
        kept = self._kept.get(place)
        if not isinstance(kept, dict) or kept.get("stamp") != stamp:
            return None
        try:
            return msgspec.convert(kept.get("description"), Description)
        except msgspec.ValidationError:
            return None

    def put(self, place: str, stamp: str, description: Description) -> None:
        """Keep it instead of the one before."""
        kept = {"stamp": stamp, "description": msgspec.to_builtins(description)}
        self._kept[place] = kept
        self._values.put(SPACE, place, kept)
