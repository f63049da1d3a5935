"""A schema in one piece: what it defines elsewhere in itself is put where it is named, for a tool's schema holds no `$ref`.

Above: `offers`. Below: nothing. It refuses to know: what a schema means. Where one holds itself, and where it grows beyond all
measure, stands "anything".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NODES = 5000
"""Parts of the largest schema in one piece."""
_ASIDE = ("$defs", "definitions", "$schema", "$id")


def whole(schema: object) -> dict[str, Any]:
    """The schema of an object without references; of what is no schema, that of an object with nothing known of it."""
    root = schema if isinstance(schema, Mapping) else {}
    found = _Piece(root).of(root, ())
    properties = found.get("properties")
    return {**found, "type": "object", "properties": properties if isinstance(properties, dict) else {}}


class _Piece:
    """Puts one schema together."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = NODES

    def of(self, node: Any, within: tuple[str, ...]) -> Any:
        """A part with all below it; `within` are the references that led here."""
        self._left -= 1
        if self._left < 0:
            return {}
        if isinstance(node, list):
            return [self.of(item, within) for item in node]
        if not isinstance(node, Mapping):
            return node
        reference = node.get("$ref")
        named = {str(key): self.of(value, within) for key, value in node.items() if key not in ("$ref", *_ASIDE)}
        if not isinstance(reference, str) or reference in within:
            return named
        target = self._found(reference)
        return {**self.of(target, (*within, reference)), **named} if isinstance(target, Mapping) else named

    def _found(self, reference: str) -> object:
        """What a reference into the schema itself names; None for any other."""
        if not reference.startswith("#"):
            return None
        node: object = self._root
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            node = node.get(step) if isinstance(node, Mapping) else None
        return node
