"""A tool's schema in the form that each kind of provider takes: known keys only, no references, consistent in itself.

Above: `chat` and `direct` send it. Below: `history`, for values that are no JSON. It refuses to know: tools. Whatever a
schema holds, the request with it is accepted: one odd tool must not spoil the others.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from etui.agent.history import plain

Schema = dict[str, object]


class Target(StrEnum):
    """Who will read the schema."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    LOCAL = "local"
    """A compatible server, which often turns the schema into a grammar."""


_COMMON = frozenset(
    {
        *("type", "description", "enum", "const", "default", "anyOf"),
        *("properties", "required", "additionalProperties", "items"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems"),
    }
)
_KNOWN: Mapping[Target, frozenset[str]] = {
    Target.OPENAI: _COMMON | {"pattern", "format", "multipleOf", "prefixItems", "uniqueItems", "patternProperties"},
    Target.ANTHROPIC: _COMMON | {"pattern", "format", "multipleOf", "prefixItems", "uniqueItems", "patternProperties"},
    Target.GOOGLE: (_COMMON | {"format", "prefixItems"}) - {"exclusiveMinimum", "exclusiveMaximum", "const"},
    Target.LOCAL: _COMMON - {"exclusiveMinimum", "exclusiveMaximum"},
}
_EMPTY = frozenset({Target.OPENAI, Target.ANTHROPIC})
"""Those who take an empty `required`, which a file may write out."""
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""What Anthropic takes for the name of a property."""
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_SIZES = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
_DEEP = 24
"""Levels after which a schema becomes "anything"."""
_AGAIN = 2
"""How often a definition may stand within itself before it becomes "anything"."""
_NODES = 3000
"""Nodes after which a schema whose definitions multiply becomes "anything"."""


def portable(schema: Mapping[str, object], target: Target) -> Schema:
    """The schema of an object as `target` takes it; the given one is not changed."""
    definitions: dict[str, object] = {}
    for key in ("$defs", "definitions"):
        if isinstance(found := schema.get(key), dict):
            definitions |= {f"#/{key}/{name}": inner for name, inner in found.items()}
    shaped = _Shaper(target, definitions).shape(schema, 0)
    shaped["type"] = "object"
    ways = [
        way for way in _list(shaped.pop("anyOf", None)) if isinstance(way, dict) and isinstance(way.get("properties"), dict)
    ]
    for key in ("items", "enum", "const", "default"):
        shaped.pop(key, None)
    properties = shaped.setdefault("properties", {})
    if ways and isinstance(properties, dict):
        # None of them takes a choice at the top: it becomes one object, of which only that is required which all require.
        shaped["properties"] = {**{name: inner for way in ways for name, inner in way["properties"].items()}, **properties}
        always = [name for name in _list(ways[0].get("required")) if all(name in _list(way.get("required")) for way in ways)]
        if required := list(dict.fromkeys([*_list(shaped.get("required")), *always])):
            shaped["required"] = required
    return {key: plain(value) for key, value in shaped.items()}


class _Shaper:
    def __init__(self, target: Target, definitions: Mapping[str, object]) -> None:
        self._known = _KNOWN[target]
        self._target = target
        self._definitions = definitions
        self._within: Counter[str] = Counter()
        """The definitions that the node stands in."""
        self._nodes = 0

    def shape(self, schema: object, depth: int) -> Schema:
        """One node, and all below it."""
        self._nodes += 1
        if not isinstance(schema, Mapping) or depth > _DEEP or self._nodes > _NODES:
            return {}
        used: list[str] = []
        node = self._joined(schema, depth, used)
        self._within.update(used)
        out = self._shaped(node, depth)
        self._within.subtract(used)
        return out

    def _shaped(self, node: Mapping[str, object], depth: int) -> Schema:
        out: Schema = {key: value for key, value in node.items() if key in self._known and _sound(key, value)}
        self._type(out, node)
        self._alternatives(out, node, depth)
        self._object(out, depth)
        self._array(out, depth)
        self._notes(out, node)
        return out

    def _joined(self, schema: Mapping[str, object], depth: int, used: list[str]) -> dict[str, object]:
        """References resolved, and the parts of an `allOf` laid over one another."""
        node = dict(schema)
        reference = node.pop("$ref", None)
        if isinstance(reference, str) and depth <= _DEEP and self._within[reference] < _AGAIN:
            target = self._definitions.get(reference)
            if isinstance(target, Mapping):
                used.append(reference)
                node = self._joined(target, depth + 1, used) | node
        for part in _list(node.pop("allOf", None)):
            if isinstance(part, Mapping):
                node = _laid_over(node, self._joined(part, depth + 1, used))
        return node

    def _type(self, out: Schema, node: Mapping[str, object]) -> None:
        kind = node.get("type")
        kinds = [one for one in (kind if isinstance(kind, list) else [kind]) if isinstance(one, str) and one in _TYPES]
        if node.get("nullable") is True and kinds and "null" not in kinds:
            kinds.append("null")
        out.pop("type", None)
        if len(kinds) == 1:
            out["type"] = kinds[0]
        elif kinds:
            out["anyOf"] = [{"type": one} for one in kinds]
        elif "properties" in node:
            out["type"] = "object"
        if "const" in node and "const" not in out:
            out["enum"] = [node["const"]]
        if "enum" in out:
            values = _list(out["enum"])
            out["enum"] = [value for at, value in enumerate(values) if not any(_same(value, one) for one in values[:at])]
        if self._target is Target.GOOGLE and "enum" in out:
            # Gemini's enumerations hold text only, and none that is empty.
            values = [value for value in _list(out["enum"]) if isinstance(value, str) and value]
            if len(values) == len(_list(out["enum"])) and values:
                out["type"] = "string"
            else:
                out.setdefault("description", f"One of {_list(out.pop('enum'))}.")

    def _alternatives(self, out: Schema, node: Mapping[str, object], depth: int) -> None:
        choices = [
            *_list(node.get("anyOf")),
            *_list(node.get("oneOf")),
        ]
        if choices:
            out["anyOf"] = [self.shape(choice, depth + 1) for choice in choices]
        elif isinstance(found := out.get("anyOf"), list):
            # From a list of types: each alternative keeps what belongs to it.
            out["anyOf"] = [self._split(out, choice) for choice in found]
            for key in ("items", "properties", "required", "additionalProperties"):
                out.pop(key, None)
        else:
            # No list, so no alternatives.
            out.pop("anyOf", None)

    def _split(self, out: Schema, choice: Schema) -> Schema:
        keys = {"array": ("items",), "object": ("properties", "required", "additionalProperties")}.get(str(choice["type"]), ())
        return self.shape(choice | {key: out[key] for key in keys if key in out}, 1)

    def _object(self, out: Schema, depth: int) -> None:
        properties = out.get("properties")
        if "properties" in out:
            named = properties if isinstance(properties, Mapping) else {}
            out["properties"] = {
                str(name): self.shape(inner, depth + 1) for name, inner in named.items() if self._takes(str(name))
            }
            if left := [str(name) for name in named if not self._takes(str(name))]:
                out["description"] = f"{out.get('description') or ''} (Also takes {', '.join(map(repr, left))}.)".strip()
                out.pop("additionalProperties", None)
        if "required" in out:
            have = out.get("properties")
            given = dict.fromkeys(name for name in _list(out["required"]) if isinstance(name, str))
            names = [name for name in given if isinstance(have, dict) and name in have]
            kept = names or (self._target in _EMPTY and out["required"] == [])
            out.pop("required")
            if kept:
                out["required"] = names
        if isinstance(extra := out.get("additionalProperties"), Mapping):
            out["additionalProperties"] = self.shape(extra, depth + 1) or True
        if isinstance(patterns := out.get("patternProperties"), Mapping):
            out["patternProperties"] = {name: self.shape(inner, depth + 1) for name, inner in patterns.items()}

    def _takes(self, name: str) -> bool:
        """Whether a property may be called so."""
        return self._target is not Target.ANTHROPIC or bool(_KEY.fullmatch(name))

    def _array(self, out: Schema, depth: int) -> None:
        if "prefixItems" in out:
            out["prefixItems"] = [self.shape(inner, depth + 1) for inner in _list(out["prefixItems"])]
        if out.get("type") != "array" and "items" not in out:
            return
        items = out.get("items")
        out["items"] = self.shape(items, depth + 1) if isinstance(items, Mapping) else {}

    def _notes(self, out: Schema, node: Mapping[str, object]) -> None:
        """What the target does not take as a rule, it still gets in words."""
        words = []
        for key, phrase in (("pattern", "matches {}"), ("format", "format {}"), ("multipleOf", "a multiple of {}")):
            if key in node and key not in out:
                words.append(phrase.format(node[key]))
        for key, phrase in (("exclusiveMinimum", "more than {}"), ("exclusiveMaximum", "less than {}")):
            if key in node and key not in out and _sound(key, node[key]):
                words.append(phrase.format(node[key]))
        if words:
            out["description"] = f"{out.get('description') or ''} ({', '.join(words)})".strip()
        if "description" in out and not isinstance(out["description"], str):
            out.pop("description")


def _sound(key: str, value: object) -> bool:
    """Whether a rule is one that a server can check; an odd one is left out, for it would be refused with all others."""
    if key in _BOUNDS:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if key in _SIZES:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if key == "enum":
        return bool(_list(value))
    return key not in ("pattern", "format") or isinstance(value, str)


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _laid_over(base: dict[str, object], more: Mapping[str, object]) -> dict[str, object]:
    merged = dict(base)
    for key, value in more.items():
        have = merged.get(key)
        if key == "properties" and isinstance(have, dict) and isinstance(value, Mapping):
            merged[key] = {**have, **value}
        elif key == "required":
            merged[key] = [*_list(have), *(name for name in _list(value) if name not in _list(have))]
        else:
            merged.setdefault(key, value)
    return merged
