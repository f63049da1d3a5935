from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.agent.loose import Broken, Spoken, loose, spoken
from etui.agent.written import several, unwrapped

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_what_json_and_python_write_is_read_as_it_was_meant(value: object) -> None:
    assert loose(json.dumps(value)) == loose(repr(value)) == value


@given(st.text(st.sampled_from("{}[]()\"',:= abTrue1.-\\\n")))
def test_any_text_is_a_value_or_broken(text: str) -> None:
    for read in (loose, spoken):
        with contextlib.suppress(Broken):
            read(text)


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1', "{'a': 'b}", "[1 2]", "1e999", "nan", "{a}", "[" * 500, "{'a': 1} x", "9" * 9999]
)
def test_what_is_cut_off_or_no_value_is_broken(text: str) -> None:
    with pytest.raises(Broken):
        loose(text)


def test_calls_are_read_as_python_writes_them() -> None:
    assert spoken("f()") == [Spoken(name="f")]
    assert spoken("[a.f(1, 'x', k=[True]), g(b={'c': None})]") == [
        Spoken(name="a.f", places=(1, "x"), named={"k": [True]}),
        Spoken(name="g", named={"b": {"c": None}}),
    ]
    assert spoken("print(f(a=1))\ng()") == [Spoken(name="f", named={"a": 1}), Spoken(name="g")]


@pytest.mark.parametrize("text", ["f(", "f(a=)", "f(x)", "f(1) and more", "f(g())", "[f()", "f", "()"])
def test_what_is_no_call_with_plain_values_is_broken(text: str) -> None:
    with pytest.raises(Broken):
        spoken(text)


CITY = {"type": "object", "properties": {"city": {"type": "string"}}}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"name": "weather", "arguments": {"city": "Oslo"}}, {"city": "Oslo"}),
        ({"parameters": {"city": "Oslo"}}, {"city": "Oslo"}),
        ({"city": {"arguments": {}}}, {"city": {"arguments": {}}}),
        ({"name": "other", "arguments": {"city": "Oslo"}}, {"name": "other", "arguments": {"city": "Oslo"}}),
        ({"arguments": {}, "input": {}}, {"arguments": {}, "input": {}}),
    ],
)
def test_arguments_are_taken_out_of_the_calls_own_form_where_the_tool_takes_none_of_it(given: object, meant: object) -> None:
    assert unwrapped("weather", given, CITY) == meant


def test_what_a_tool_takes_itself_is_never_taken_out() -> None:
    schema = {"type": "object", "properties": {"input": {"type": "object"}}}
    assert unwrapped("weather", {"input": {"city": "Oslo"}}, schema) == {"input": {"city": "Oslo"}}
    assert unwrapped("weather", {"input": {"city": "Oslo"}}, {"type": "object"}) == {"input": {"city": "Oslo"}}


def test_several_calls_in_one_are_told_apart() -> None:
    uses = [{"recipient_name": "functions.f", "parameters": {"p": 1}}, {"recipient_name": "functions.g", "parameters": {}}]
    assert [(one.name, one.arguments) for one in several({"tool_uses": uses})] == [("f", {"p": 1}), ("g", {})]
    assert several({"tool_uses": "none"}) == several("text") == []
