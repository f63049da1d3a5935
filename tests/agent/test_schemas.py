from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.agent.schemas import Target, portable

ODD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Odd",
    "x-note": "mine",
    "examples": [{}],
    "type": "object",
    "$defs": {
        "Spot": {"type": "object", "properties": {"room": {"type": "string", "title": "Room"}}},
        "Loop": {"$ref": "#/$defs/Loop"},
    },
    "properties": {
        "to": {"$ref": "#/$defs/Spot", "description": "Where."},
        "from": {"$ref": "#/$defs/Spot"},
        "loop": {"$ref": "#/$defs/Loop"},
        "names": {"anyOf": [{"type": "array"}, {"type": "null"}]},
        "size": {"type": ["integer", "null"], "exclusiveMinimum": 0},
        "list": {"type": ["array", "null"], "items": {"type": "string"}},
        "code": {"type": "string", "pattern": "^[A-Z]+$", "format": "x"},
        "kind": {"const": "a"},
        "both": {
            "allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {}}}]
        },
        "any": True,
    },
    "required": ["to", "ghost"],
    "additionalProperties": False,
}


def _nodes(schema: object) -> list[dict[str, object]]:
    if isinstance(schema, list):
        return [node for inner in schema for node in _nodes(inner)]
    if not isinstance(schema, dict):
        return []
    found = [schema]
    for key, inner in schema.items():
        if key == "properties":
            found += [node for one in inner.values() for node in _nodes(one)]
        elif key in ("items", "anyOf", "additionalProperties", "prefixItems"):
            found += _nodes(inner)
    return found


@pytest.mark.parametrize("target", Target)
def test_an_odd_schema_is_made_fit_for_every_target(target: Target) -> None:
    before = json.dumps(ODD)
    schema = portable(ODD, target)
    assert json.dumps(ODD) == before
    text = json.dumps(schema)
    assert all(word not in text for word in ("$ref", "$defs", "$schema", "x-note", '"title"', '"examples"', "allOf", "oneOf"))
    assert schema["required"] == ["to"] and schema["type"] == "object"
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert properties["to"] == {"type": "object", "properties": {"room": {"type": "string"}}, "description": "Where."}
    assert properties["from"]["properties"] == {"room": {"type": "string"}}
    assert properties["both"]["properties"].keys() == {"a", "b"} and properties["both"]["required"] == ["a"]
    assert properties["any"] == {}
    assert {"type": "array", "items": {"type": "string"}} in properties["list"]["anyOf"]
    for node in _nodes(schema):
        assert node.get("type") != "array" or "items" in node
        assert not isinstance(node.get("type"), list)


def test_a_local_server_gets_no_pattern_as_a_rule_but_in_words() -> None:
    properties = portable(ODD, Target.LOCAL)["properties"]
    assert isinstance(properties, dict)
    assert "pattern" not in properties["code"] and "^[A-Z]+$" in properties["code"]["description"]
    assert "more than 0" in properties["size"]["description"]


def test_gemini_gets_enumerations_of_text_only() -> None:
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}, "t": {"enum": ["a"]}, "c": {"const": "x"}}}
    properties = portable(schema, Target.GOOGLE)["properties"]
    assert isinstance(properties, dict)
    assert "enum" not in properties["n"] and "1" in properties["n"]["description"]
    assert properties["t"] == {"enum": ["a"], "type": "string"}
    assert properties["c"] == {"enum": ["x"], "type": "string"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "required", "enum", "$ref", "allOf", "description", "x", "pattern"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(
    st.dictionaries(st.sampled_from(["type", "properties", "required", "anyOf", "$defs", "items"]), JSON),
    st.sampled_from(Target),
)
def test_any_schema_becomes_one_of_an_object(schema: dict[str, object], target: Target) -> None:
    shaped = portable(schema, target)
    assert shaped["type"] == "object" and isinstance(shaped["properties"], dict)
    assert all(not isinstance(node.get("$ref"), str) for node in _nodes(shaped))
