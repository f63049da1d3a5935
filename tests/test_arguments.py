"""What a model sends, made into arguments: repaired without loss, else refused with the path and what was expected."""

from __future__ import annotations

import copy
import json
import math
import time
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etui.arguments import Invalid, prepare
from etui.arguments.judging import validator
from etui.tool import Checks, Tool


def tool(
    properties: dict[str, Any] | None = None, *, required: tuple[str, ...] = (), checks: Checks = Checks.VALIDATE, **more: Any
) -> Tool:
    schema: dict[str, object] = {"type": "object", "properties": properties or {}, "additionalProperties": False, **more}
    if required:
        schema["required"] = list(required)
    return Tool(name="t", description="T.", parameters=schema, contract="etui", plugin="p", checks=checks)


def one(schema: dict[str, Any], sent: object, checks: Checks = Checks.VALIDATE) -> Any:
    """What becomes of one argument `x`; the sentence where it is refused."""
    out = prepare(tool({"x": schema}, required=("x",), checks=checks), {"x": sent})
    return out.sentence if isinstance(out, Invalid) else out["x"]


def refused(outcome: object) -> bool:
    return isinstance(outcome, Invalid)


@pytest.mark.parametrize("raw", ["", "  \n", None, "null", "{}", {}, b"", b"{}", '""', '"{}"'])
def test_nothing_sent_means_no_arguments(raw: object) -> None:
    assert prepare(tool(), raw) == {}
    told = prepare(tool({"x": {"type": "string", "description": "what"}}, required=("x",)), raw)
    assert told == Invalid("x", "The argument 'x' is missing; it must be text (what).")


def test_an_object_in_text_is_unwrapped_as_often_as_it_was_wrapped() -> None:
    raw = '{"pattern": "*.md"}'
    for _ in range(3):
        assert prepare(tool({"pattern": {"type": "string"}}), raw) == {"pattern": "*.md"}
        raw = json.dumps(raw)


@pytest.mark.parametrize("checks", list(Checks))
@pytest.mark.parametrize(
    "raw",
    [
        "[1]", [1], 3, "3", True, "hello", '"hello"', "{", '{"content": "partial han', '{"a": 1} x', "{'a': 1}", b"\xff\xfe",
        object(),
        "[" * 100_000, '{"a":' * 100_000, '{"a": NaN}', '{"a": Infinity}', '{"a": 1e999}', {"a": math.inf}, {"a": math.nan},
        {"a": [{"b": -math.inf}]}, {1: 2}, {"a": {1: 2}}, {"a": object()}, {"a": {1, 2}}, {"a": b"x"}, {"a": 10**30},
        {"a": -(10**30)},
        '{"a": ' + "1" * 6000 + "}", "x" * 5_000_000, {"a": "x" * 5_000_000}, {"a": list(range(300_000))}, "{" * 5_000,
        '"' * 1001,
    ],
    ids=lambda raw: type(raw).__name__,
)  # fmt: skip
def test_what_is_no_json_object_that_can_travel_is_refused_in_a_sentence(raw: object, checks: Checks) -> None:
    told = prepare(tool({"a": {}}, checks=checks), raw)
    assert isinstance(told, Invalid)
    assert told.sentence.endswith(".")
    assert len(told.sentence) < 400


def test_what_holds_itself_or_nests_too_deep_is_refused() -> None:
    circle: dict[str, object] = {}
    circle["a"] = circle
    wide: list[object] = []
    wide.extend([wide, wide, wide])
    deep: object = 1
    for _ in range(5000):
        deep = [deep]
    for sent in (circle, {"a": wide}, {"a": deep}):
        assert refused(prepare(tool({"a": {}}), sent))
    fine: object = 1
    for _ in range(50):
        fine = [fine]
    assert prepare(tool({"a": {}}), {"a": fine}) == {"a": fine}


def test_cut_off_json_is_called_that() -> None:
    told = prepare(tool(), '{"content": "partial han')
    assert isinstance(told, Invalid)
    assert "end in the middle" in told.sentence


def test_halves_of_characters_are_replaced_and_pairs_are_kept() -> None:
    text = tool({"x": {"type": "string"}})
    assert prepare(text, '{"x": "\\ud835"}') == {"x": "�"}
    assert prepare(text, '{"x": "\\ud83d\\ude00"}') == {"x": "😀"}
    assert prepare(text, {"x": "a\ud835b"}) == {"x": "a�b"}
    assert prepare(text, {"x": "\ud83d\ude00"}) == {"x": "😀"}
    assert prepare(tool({}, additionalProperties=True), {"\ud835": 1}) == {"�": 1}
    assert prepare(tool({"x": {}}, checks=Checks.PASS), {"x": ["\ud835"]}) == {"x": ["�"]}


INTEGER, NUMBER, BOOLEAN, TEXT = {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": "string"}
LIST = {"type": "array", "items": INTEGER}
TEXTS = {"type": "array", "items": TEXT}
OBJECT = {"type": "object", "properties": {"n": INTEGER}, "required": ["n"]}
MAYBE = {"anyOf": [INTEGER, {"type": "null"}]}
EITHER = {"anyOf": [INTEGER, TEXT]}
COLOUR = {"enum": ["red", "dark_blue"]}


@pytest.mark.parametrize(
    ("schema", "sent", "got"),
    [
        (INTEGER, "3", 3),
        (INTEGER, " -3 ", -3),
        (INTEGER, 3.0, 3),
        (INTEGER, "3.0", 3),
        (INTEGER, "1e3", 1000),
        (NUMBER, "3.5", 3.5),
        (NUMBER, "3", 3),
        (NUMBER, 3, 3),
        (NUMBER, "-1e-3", -0.001),
        (BOOLEAN, "true", True),
        (BOOLEAN, " False ", False),
        (TEXT, 2662, "2662"),
        (TEXT, 1230, "1230"),
        (TEXT, True, "true"),
        (TEXT, 2.5, "2.5"),
        (TEXT, {"a": 1}, '{"a": 1}'),
        (TEXTS, [1, "a", False], ["1", "a", "false"]),
        (OBJECT, '{"n": "4"}', {"n": 4}),
        (OBJECT, {"n": "4"}, {"n": 4}),
        (LIST, "[1, 2]", [1, 2]),
        (LIST, ["1", 2.0], [1, 2]),
        (LIST, 5, [5]),
        (LIST, "5", [5]),
        (TEXTS, "milk", ["milk"]),
        ({"type": "array", "items": OBJECT}, {"n": 1}, [{"n": 1}]),
        (MAYBE, "5", 5),
        (MAYBE, "null", None),
        (MAYBE, None, None),
        ({"type": ["integer", "null"]}, "5", 5),
        (EITHER, "3", "3"),
        (EITHER, 3, 3),
        ({"anyOf": [BOOLEAN, INTEGER]}, "3", 3),
        ({"anyOf": [LIST, INTEGER]}, "3", 3),
        ({"oneOf": [OBJECT, {"type": "null"}]}, '{"n": 1}', {"n": 1}),
        ({"allOf": [INTEGER, {"minimum": 1}]}, "3", 3),
        (COLOUR, "RED", "red"),
        (COLOUR, "Dark Blue", "dark_blue"),
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": ["1", "2"]}, 2, "2"),
        ({"const": True}, "true", True),
        ({"type": "string", "format": "date-time"}, "2026-04-01 09:00", "2026-04-01T09:00:00"),
        ({"type": "string", "format": "date-time"}, "2026-04-01T09:00+02:00", "2026-04-01T09:00:00+02:00"),
        ({"type": "string", "format": "time"}, "09:30", "09:30:00"),
        ({"type": "string", "format": "date"}, "2026-04-01T00:00:00", "2026-04-01"),
        ({"type": "object", "additionalProperties": INTEGER}, {"a": "1"}, {"a": 1}),
        ({"type": "array", "prefixItems": [INTEGER, TEXT], "items": False}, ["1", 2], [1, "2"]),
        ({}, "3", "3"),
        (True, "3", "3"),
    ],
)  # fmt: skip
def test_a_value_is_repaired_towards_its_declared_type(schema: Any, sent: object, got: object) -> None:
    out = one(schema, sent)
    assert out == got
    assert type(out) is type(got)


@pytest.mark.parametrize("text", ['{"a": 1}', "[draft]", "42", "true", "null", "NaN", "", " ", "3.0", '"quoted"', "[1, 2]"])
@pytest.mark.parametrize(
    "schema", [TEXT, {"anyOf": [TEXT, {"type": "null"}]}, {"type": ["string", "integer"]}, {"type": "string", "minLength": 0}]
)
def test_text_stays_exactly_the_text_that_was_sent(text: str, schema: dict[str, Any]) -> None:
    assert one(schema, text) == text
    assert prepare(tool({"x": schema}), json.dumps({"x": text})) == {"x": text}


@pytest.mark.parametrize(
    ("schema", "sent", "told"),
    [
        (INTEGER, "three", "must be a whole number"),
        (INTEGER, "3.5", "must be a whole number"),
        (INTEGER, 3.5, "must be a whole number"),
        (INTEGER, "1,000", "must be a whole number"),
        (INTEGER, "1_000", "must be a whole number"),
        (INTEGER, "007", "must be a whole number"),
        (INTEGER, "", "must be a whole number"),
        (INTEGER, True, "must be a whole number"),
        (INTEGER, None, "must be a whole number"),
        (INTEGER, "9" * 40, "must be a whole number"),
        (INTEGER, "٣", "must be a whole number"),
        (INTEGER, [3], "must be a whole number"),
        ({"type": "integer", "minimum": 1, "maximum": 6}, "7", "a whole number, at least 1 and at most 6; 7 was given."),
        (BOOLEAN, "maybe", 'must be true or false; "maybe" was given.'),
        (BOOLEAN, "", "must be true or false"),
        (BOOLEAN, 2, "must be true or false"),
        (BOOLEAN, 1, "must be true or false"),
        (BOOLEAN, "off", "must be true or false"),
        (BOOLEAN, "1", "must be true or false"),
        ({"type": "number", "minimum": 0, "maximum": 1}, "NaN", "must be a number"),
        ({"type": "number", "minimum": 0, "maximum": 1}, "Infinity", "must be a number"),
        ({"type": "number", "minimum": 0, "maximum": 1}, "1e999", "must be a number"),
        (TEXT, None, "must be text"),
        (TEXTS, "milk, eggs", "must be a list of text"),
        (TEXTS, "milk and eggs", "must be a list of text"),
        (TEXTS, "", "must be a list of text"),
        (LIST, [1, "x"], "'x[1]' must be a whole number"),
        (LIST, "[1, NaN]", "must be a list"),
        (OBJECT, {}, "The argument 'x.n' is missing; it must be a whole number."),
        (OBJECT, "{", "must be an object with 'n'"),
        (COLOUR, "green", 'must be one of "red", "dark_blue"; "green" was given.'),
        (COLOUR, None, "must be one of"),
        ({"enum": ["a-b", "a b"]}, "a_b", "must be one of"),
        ({"type": "string", "format": "date"}, "tomorrow", "must be a date such as 2026-04-01"),
        ({"type": "string", "format": "date"}, "2026-02-30", "must be a date"),
        ({"type": "string", "format": "date-time"}, "2026-04-01", "must be a date and time"),
        ({"type": "string", "format": "duration"}, "10 minutes", "must be a duration such as PT10M"),
        ({"type": "string", "pattern": "^a"}, "b", "like ^a"),
        ({"type": "string", "format": "decimal"}, "NaN", "must be a decimal number"),
        ({"type": "string", "format": "decimal"}, "-Infinity", "must be a decimal number"),
        ({"type": "string", "format": "uuid"}, "mine", "must be an id such as"),
        ({"type": "array", "items": INTEGER, "uniqueItems": True}, [1, 1], "must hold no item twice; [1, 1] was given."),
        ({"type": "array", "items": INTEGER, "minItems": 1, "maxItems": 2}, [], "with at least 1 item and with at most 2"),
        ({"type": "array", "items": INTEGER}, "1,2", "must be a list of whole numbers"),
        (MAYBE, "x", 'must be a whole number or null; "x" was given.'),
        (False, 1, "does not fit"),
        ({"not": INTEGER}, 1, "'x'"),
    ],
)  # fmt: skip
def test_what_cannot_be_repaired_without_loss_is_refused_with_what_was_expected(schema: Any, sent: object, told: str) -> None:
    out = one(schema, sent)
    assert isinstance(out, str)
    assert told in out, out


def test_several_faults_are_told_at_once_and_long_values_are_cut() -> None:
    told = prepare(tool({"a": INTEGER, "b": BOOLEAN}, required=("a", "c")), {"a": "x" * 1000, "b": "maybe"})
    assert isinstance(told, Invalid)
    assert "'a' must be" in told.sentence
    assert "'b' must be" in told.sentence
    assert "'c' is missing" in told.sentence
    assert len(told.sentence) < 500


def test_invented_arguments_are_dropped_and_noted() -> None:
    notes: list[str] = []
    light = tool({"room": TEXT}, required=("room",))
    sent = {"room": "hall", "tool_code": "print(1)", "self": 1, "__user__": {"role": "admin"}}
    kept = copy.deepcopy(sent)
    assert prepare(light, sent, notes) == {"room": "hall"}
    assert sent == kept
    assert notes == ["Left out what the tool does not take: 'tool_code', 'self', '__user__'."]


def test_an_open_tool_keeps_what_comes() -> None:
    opened = tool({"a": INTEGER}, additionalProperties=True)
    assert prepare(opened, {"a": "1", "b": "2"}) == {"a": 1, "b": "2"}
    typed = tool({}, additionalProperties=INTEGER)
    assert prepare(typed, {"b": "2"}) == {"b": 2}
    assert refused(prepare(typed, {"b": "x"}))


def test_a_name_written_a_little_differently_is_the_one_that_is_meant() -> None:
    named = tool({"room_name": TEXT, "level": INTEGER})
    assert prepare(named, {"RoomName": "hall", "LEVEL": 2}) == {"room_name": "hall", "level": 2}
    assert prepare(named, {"room_name": "a", "roomName": "b"}) == {"room_name": "a"}
    assert prepare(named, {"Level": 1, "LEVEL": 2}) == {}


def test_null_for_an_optional_argument_means_its_default() -> None:
    optional = tool({"a": INTEGER, "b": MAYBE, "c": OBJECT}, required=("a",))
    assert prepare(optional, {"a": 1, "b": None, "c": None}) == {"a": 1, "b": None}
    assert refused(prepare(optional, {"a": None}))


def test_a_json_object_passes_untouched_where_nothing_is_checked() -> None:
    free = tool({"n": INTEGER}, required=("n",), checks=Checks.PASS)
    sent = {"n": "x", "more": [1, {"a": None}]}
    assert prepare(free, sent) is sent
    assert prepare(free, "") == {}


@pytest.mark.parametrize(
    ("schema", "sent", "got"),
    [
        (INTEGER, "2", 2),
        (INTEGER, "2.0", 2),
        (INTEGER, 2.0, 2),
        (NUMBER, "2.5", 2.5),
        (NUMBER, 2, 2),
        (BOOLEAN, "yes", True),
        (BOOLEAN, "0", False),
        (BOOLEAN, 1, True),
        (BOOLEAN, "FALSE", False),
        (BOOLEAN, "maybe", "maybe"),
        (BOOLEAN, "", ""),
        (BOOLEAN, 2, 2),
        ({"type": "array", "items": NUMBER}, "1,2.5,3", [1, 2.5, 3]),
        ({"type": "array", "items": INTEGER}, ["1", "2"], [1, 2]),
        ({"type": "array", "items": TEXT}, "a,b", "a,b"),
        (TEXT, 3, 3),
        (INTEGER, None, None),
        (COLOUR, "RED", "RED"),
    ],
)  # fmt: skip
def test_coercion_goes_towards_numbers_and_booleans_only(schema: dict[str, Any], sent: object, got: object) -> None:
    out = one(schema, sent, Checks.COERCE)
    assert out == got
    assert type(out) is type(got)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (INTEGER, "2.5"), (INTEGER, "x"), (INTEGER, 2.5), (INTEGER, True), (INTEGER, {}), (NUMBER, "NaN"), (NUMBER, "1e999"),
        ({"type": "array", "items": NUMBER}, "1,x"),
        ({"type": "array", "items": NUMBER}, 5),
    ],
)  # fmt: skip
def test_the_impossible_is_not_coerced(schema: dict[str, Any], sent: object) -> None:
    out = one(schema, sent, Checks.COERCE)
    assert isinstance(out, str)
    assert out.startswith("The argument 'x' must be ")


def test_coercion_checks_nothing_else() -> None:
    loose = tool({"n": INTEGER}, required=("n",), checks=Checks.COERCE)
    assert prepare(loose, {"other": 1}) == {"other": 1}


def test_a_schema_that_cannot_be_used_lets_the_call_through_with_a_note() -> None:
    for schema in (
        {"type": "strange"},
        {"$ref": "#/nowhere"},
        {"$ref": "http://127.0.0.1:1/x"},
        {"$ref": "file:///etc/passwd"},
    ):
        notes: list[str] = []
        assert prepare(tool({"x": schema}), {"x": 1}, notes) == {"x": 1}
        assert notes == ["The tool's schema cannot be used, so the arguments were not checked."]


def test_a_validator_is_made_once_for_a_schema() -> None:
    schema = {"type": "object"}
    assert validator(schema) is validator(schema)
    assert validator(dict(schema)) is not validator(schema)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
SCHEMAS = st.recursive(
    st.sampled_from([
        INTEGER, NUMBER, BOOLEAN, TEXT, {"type": "null"}, {}, True, COLOUR, MAYBE, EITHER, OBJECT, LIST, TEXTS, {"const": 3},
        {"type": "integer", "minimum": 0}, {"type": "string", "format": "date"}, {"type": "string", "format": "date-time"},
        {"enum": [1, "1", None, True]}, {"type": ["integer", "null"]}, {"type": "array"}, {"type": "object"},
    ]),
    lambda inner: st.builds(lambda s: {"type": "array", "items": s}, inner)
    | st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner)
    | st.builds(lambda a, b: {"type": "object", "properties": {"a": a, "b": b}, "required": ["a"]}, inner, inner)
    | st.builds(lambda s: {"type": "object", "additionalProperties": s}, inner),
    max_leaves=5,
)  # fmt: skip
quick = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(
    raw=JSON | st.text() | st.binary() | JSON.map(lambda value: json.dumps(value)),
    checks=st.sampled_from(list(Checks)),
    schema=SCHEMAS,
)
def test_whatever_is_sent_the_answer_is_an_object_or_a_sentence(raw: object, checks: Checks, schema: Any) -> None:
    for sent in (raw, {"x": raw}):
        out = prepare(tool({"x": schema}, checks=checks), sent)
        if isinstance(out, Invalid):
            assert out.sentence.strip()
            out.sentence.encode()
        else:
            json.dumps(out, allow_nan=False).encode()


@quick
@given(value=JSON, schema=SCHEMAS)
def test_what_comes_out_is_valid_and_repair_changes_it_no_more(value: object, schema: Any) -> None:
    checked = tool({"x": schema}, required=("x",))
    out = prepare(checked, {"x": value})
    if isinstance(out, Invalid):
        return
    assert jsonschema_rs.Draft202012Validator(checked.parameters).is_valid(out)
    assert prepare(checked, copy.deepcopy(out)) == out


@quick
@given(value=JSON, schema=SCHEMAS)
def test_what_is_valid_is_not_changed(value: object, schema: Any) -> None:
    checked = tool({"x": schema}, required=("x",))
    sent = {"x": value}
    try:
        if not jsonschema_rs.Draft202012Validator(checked.parameters, validate_formats=False).is_valid(sent):
            return
    except ValueError:  # no JSON, such as a half of a character
        return
    out = prepare(checked, copy.deepcopy(sent))
    assert isinstance(out, Invalid) or out == sent


@quick
@given(text=st.text())
def test_text_parameters_receive_exactly_the_text(text: str) -> None:
    assert prepare(tool({"x": TEXT, "y": TEXTS}), {"x": text, "y": [text]}) == {"x": text, "y": [text]}
    assert prepare(tool({"x": TEXT}), json.dumps({"x": text})) == {"x": text}


def test_huge_text_is_refused_quickly() -> None:
    before = time.perf_counter()
    assert refused(prepare(tool({"x": INTEGER}), {"x": "1" * 3_000_000}))
    assert refused(prepare(tool({"x": LIST}), {"x": "[" * 3_000_000}))
    assert time.perf_counter() - before < 5


@pytest.mark.parametrize("inner", [True, {}])
def test_a_missing_argument_of_any_kind_is_named(inner: object) -> None:
    out = prepare(tool({"x": {"type": "object", "properties": {"a": inner}, "required": ["a"]}}, required=("x",)), {"x": {}})
    assert isinstance(out, Invalid)
    assert out == Invalid("x.a", "The argument 'x.a' is missing.")
