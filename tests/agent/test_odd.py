from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.agent.odd import Joiner, arguments_of, canonical, resolve


def _joined(*fragments: tuple[int, str, str, str]) -> list[tuple[str, str, str]]:
    joiner = Joiner()
    for fragment in fragments:
        joiner.add(*fragment)
    return [(call.id, call.name, call.arguments) for call in joiner.calls()]


TWO = [("a", "f", '{"p":"x"}'), ("b", "g", '{"q":1}')]


def test_calls_that_all_claim_the_first_place_are_kept_apart() -> None:
    assert _joined((0, "a", "f", '{"p":"x"}'), (0, "b", "g", '{"q":1}')) == TWO
    assert _joined((0, "", "f", '{"p":"x"}'), (0, "", "g", '{"q":1}')) == [("", "f", '{"p":"x"}'), ("", "g", '{"q":1}')]
    assert _joined((0, "", "f", '{"p":1}'), (0, "", "f", '{"p":2}')) == [("", "f", '{"p":1}'), ("", "f", '{"p":2}')]
    streamed = [(0, "a", "f", ""), (0, "", "", '{"p":'), (0, "", "", '"x"}'), (0, "b", "g", ""), (0, "", "", '{"q":1}')]
    assert _joined(*streamed) == TWO


def test_fragments_without_a_place_are_one_call() -> None:
    assert _joined((-1, "", "f", ""), (-1, "", "", '{"p":'), (-1, "", "", '"x"}')) == [("", "f", '{"p":"x"}')]
    assert _joined((-1, "a", "f", '{"p":"x"}'), (-1, "b", "g", '{"q":1}')) == TWO


def test_a_place_that_counts_every_fragment_is_one_call() -> None:
    assert _joined((0, "a", "f", ""), (1, "", "", '{"p":'), (2, "", "", '"x"}')) == [("a", "f", '{"p":"x"}')]


def test_ghosts_are_dropped() -> None:
    assert _joined((0, "", "", "")) == []
    assert _joined((0, "", "  ", "{}"), (1, "b", "g", "{}")) == [("b", "g", "{}")]


def test_interleaved_fragments_find_their_own_call() -> None:
    fragments = [(0, "a", "f", ""), (1, "b", "g", ""), (0, "", "", '{"p":'), (1, "", "", '{"q"')]
    fragments += [(0, "", "", '"x"}'), (1, "", "", ":1}")]
    assert _joined(*fragments) == TWO


def test_names_and_ids_that_come_with_every_fragment_are_no_new_calls() -> None:
    assert _joined((0, "a", "f", ""), (0, "a", "f", '{"p":'), (0, "a", "f", '"x"}')) == [("a", "f", '{"p":"x"}')]


def test_arguments_sent_again_whole_at_the_end_are_not_doubled() -> None:
    assert _joined((0, "a", "f", '{"p":'), (0, "", "", '"x"}'), (0, "", "", '{"p":"x"}')) == [("a", "f", '{"p":"x"}')]


def test_objects_one_behind_another_are_several_calls_and_an_empty_one_in_front_is_none() -> None:
    assert _joined((0, "a", "f", '{"p":1}{"p":2}')) == [("a", "f", '{"p":1}'), ("", "f", '{"p":2}')]
    assert _joined((0, "a", "f", "{}"), (0, "", "", '{"p":"x"}')) == [("a", "f", '{"p":"x"}')]


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        ("", {}),
        ("  \n", {}),
        (None, {}),
        ("null", {}),
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        (json.dumps(json.dumps({"pattern": "*.md"})), {"pattern": "*.md"}),
        ('{"content": "partial han', '{"content": "partial han'),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 1e999}', '{"a": 1e999}'),
        ("{'a': True, 'b': None, \"c\": [1.5,]}", {"a": True, "b": None, "c": [1.5]}),
        ('{a: "it\'s"}', {"a": "it's"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ("None", {}),
        ("{'a': 'it's'}", "{'a': 'it's'}"),
        ("{'a': nan}", "{'a': nan}"),
        ("{'a': 1", "{'a': 1"),
        ("[1]", "[1]"),
        ('"text"', '"text"'),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_arguments_are_read_strictly_and_never_invented(raw: object, meant: object) -> None:
    assert arguments_of(raw) == meant


def test_equal_arguments_have_one_form() -> None:
    assert (
        canonical('{"b": [1, 2], "a": "ü"}') == canonical({"a": "ü", "b": [1, 2]}) == canonical(' { "a":"\\u00fc","b":[1,2]}')
    )
    assert canonical({"a": 1}) != canonical({"a": "1"})


@pytest.mark.parametrize(
    ("name", "offered", "meant"),
    [
        ("lamp_on", ["lamp_on", "lampon"], "lamp_on"),
        ("memory:read_graph", ["memory__read_graph"], "memory__read_graph"),
        ("Memory.read_graph", ["memory__read_graph"], "memory__read_graph"),
        ("functions.memory__read_graph", ["memory__read_graph"], "memory__read_graph"),
        ("memory:read_graph", ["mcp__Memory__read_graph"], "mcp__Memory__read_graph"),
        ("read_graph", ["mcp__Memory__read_graph", "mcp__Other__read_graph"], "read_graph"),
        ("mcp__house__lamp_on", ["lamp_on"], "lamp_on"),
        ("Lamp-On", ["lamp_on"], "lamp_on"),
        ("lamp on", ["lamp_on"], "lamp_on"),
        ("lamp_on<|channel|>commentary", ["lamp_on"], "lamp_on"),
        ("ｌａｍｐ＿ｏｎ", ["lamp_on"], "lamp_on"),
        ("l\u0430mp_on", ["lamp_on"], "l\u0430mp_on"),
        ("lamp.on", ["lamp_on", "LampOn"], "lamp.on"),
        ("on", ["lamp_on"], "on"),
        ("lamp", ["lamp_on"], "lamp"),
        ("", ["lamp_on"], ""),
    ],
)
def test_a_name_is_resolved_only_where_exactly_one_tool_is_meant(name: str, offered: list[str], meant: str) -> None:
    assert resolve(name, offered) == meant


@given(st.text(), st.lists(st.from_regex(r"[a-z_][a-z0-9_]{0,12}", fullmatch=True), max_size=5))
def test_any_name_is_itself_or_one_that_was_offered(name: str, offered: list[str]) -> None:
    assert resolve(name, offered) in {name, *offered}


@given(
    st.lists(
        st.tuples(st.integers(-1, 3), st.sampled_from(["", "a", "b"]), st.sampled_from(["", "f", "g"]), st.text(max_size=8))
    )
)
def test_any_fragments_make_named_calls_or_none(fragments: list[tuple[int, str, str, str]]) -> None:
    assert all(name in ("f", "g") for _, name, _ in _joined(*fragments))


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9)), min_size=1, max_size=4),
    st.integers(1, 6),
)
def test_calls_cut_into_fragments_come_out_as_they_went_in(calls: list[dict[str, object]], size: int) -> None:
    joiner = Joiner()
    for index, arguments in enumerate(calls):
        text = json.dumps(arguments)
        joiner.add(index, f"id{index}", "f", "")
        for at in range(0, len(text), size):
            joiner.add(index, "", "", text[at : at + size])
    assert [(call.id, json.loads(call.arguments)) for call in joiner.calls()] == [
        (f"id{index}", arguments) for index, arguments in enumerate(calls)
    ]
