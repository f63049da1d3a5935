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


def test_definitions_that_hold_themselves_many_times_stay_small() -> None:
    node = {"type": "object", "properties": {name: {"$ref": "#/$defs/Node"} for name in "abcd"}}
    chain = {f"L{at}": {"type": "array", "prefixItems": [{"$ref": f"#/$defs/L{at + 1}"}] * 3} for at in range(20)}
    for first, defs in (("Node", {"Node": node}), ("L0", chain)):
        schema = {"type": "object", "properties": {"root": {"$ref": f"#/$defs/{first}"}}, "$defs": defs}
        assert len(json.dumps(portable(schema, Target.OPENAI))) < 200_000


@pytest.mark.parametrize("target", Target)
def test_a_choice_at_the_top_becomes_one_object_with_all_its_ways(target: Target) -> None:
    ways = [
        {"type": "object", "properties": {"id": {"type": "integer"}, "by": {"type": "string"}}, "required": ["id", "by"]},
        {"type": "object", "properties": {"name": {"type": "string"}, "by": {"type": "string"}}, "required": ["name", "by"]},
    ]
    shaped = portable({"oneOf": ways}, target)
    assert shaped["type"] == "object" and shaped["required"] == ["by"] and "anyOf" not in shaped
    assert shaped["properties"] == {"id": {"type": "integer"}, "by": {"type": "string"}, "name": {"type": "string"}}


@pytest.mark.parametrize("target", Target)
def test_rules_that_no_server_could_check_are_left_out(target: Target) -> None:
    odd = {
        "a": {"type": "number", "minimum": "5", "exclusiveMinimum": True, "default": float("inf")},
        "b": {"type": "string", "minLength": -1, "enum": [], "pattern": None},
        "c": {"type": "string", "description": "half \ud800", "nullable": True},
        "d": {"enum": ["x", "x", True, 1]},
    }
    shaped = portable({"type": "object", "properties": odd, "required": ["a", "a"]}, target)
    text = json.dumps(shaped, allow_nan=False, ensure_ascii=False).encode().decode()
    assert not any(word in text for word in ("xclusive", "minimum", "minLength", "pattern", "True}", "Infinity"))
    assert shaped["required"] == ["a"]
    properties = shaped["properties"]
    assert isinstance(properties, dict) and "enum" not in properties["b"]
    assert properties["c"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert properties["d"].get("enum", ["x", True, 1]) == ["x", True, 1]


def test_a_name_that_anthropic_does_not_take_is_told_in_words() -> None:
    schema = {"type": "object", "properties": {"a b": {"type": "string"}, "c": {"type": "string"}}, "required": ["a b", "c"]}
    shaped = portable(schema | {"additionalProperties": False}, Target.ANTHROPIC)
    assert shaped["properties"] == {"c": {"type": "string"}} and shaped["required"] == ["c"]
    assert "'a b'" in str(shaped["description"]) and "additionalProperties" not in shaped
    assert "a b" in str(portable(schema, Target.OPENAI)["properties"])


def test_an_empty_text_among_the_choices_is_told_to_gemini_in_words() -> None:
    shaped = portable({"type": "object", "properties": {"t": {"type": "string", "enum": ["a", ""]}}}, Target.GOOGLE)
    assert shaped["properties"] == {"t": {"type": "string", "description": "One of ['a', '']."}}


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
