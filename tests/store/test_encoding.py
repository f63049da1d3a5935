"""Values at the database's boundary."""

from __future__ import annotations

import math

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from etui.store.encoding import DEPTH, clean, pack, unpack

WILD = st.text(st.characters(exclude_categories=()))
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WILD | st.binary() | st.dates() | st.complex_numbers(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.frozensets(st.integers())
        | st.dictionaries(WILD | st.integers() | st.none(), inner)
    ),
    max_leaves=20,
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(PLAIN)
def test_json_values_come_back_as_they_were(value: object) -> None:
    assert unpack(pack(value)) == value


@given(ODD)
def test_nothing_raises_and_what_comes_back_stays_as_it_is(value: object) -> None:
    packed = pack(value)
    packed.encode()
    again = unpack(packed)
    assert unpack(pack(again)) == again


@given(WILD)
def test_clean_text_is_utf8_and_clean_stays_clean(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert clean(cleaned) == cleaned


@given(st.text())
def test_good_text_is_left_alone(text: str) -> None:
    assert clean(text) == text


def test_halves_of_one_character_are_joined() -> None:
    assert clean("\ud83d\ude00") == "😀"
    assert unpack(pack({"a": "\ud83d\ude00"})) == {"a": "😀"}


def test_nesting_is_kept_up_to_a_depth_and_width_is_no_depth() -> None:
    def nested(depth: int) -> object:
        value: object = 1
        for _ in range(depth):
            value = {"in": value}
        return value

    assert unpack(pack(nested(DEPTH))) == nested(DEPTH)
    assert pack(nested(DEPTH + 1)).count("nested too deeply") == 1
    assert pack(nested(100_000)).count("nested too deeply") == 1
    wide = [[n] for n in range(1000)]
    assert unpack(pack(wide)) == wide


def test_what_is_no_json_is_replaced_by_what_comes_nearest() -> None:
    class Point(msgspec.Struct):
        x: float

    class Strange:
        def __repr__(self) -> str:
            raise ZeroDivisionError

    assert unpack(pack([math.nan, math.inf, b"\0\1", {1}, (2,), Point(3.0), Strange()])) == [
        None,
        None,
        "AAE=",
        [1],
        [2],
        {"x": 3.0},
        "(Strange)",
    ]
    assert unpack(pack(10**400)) == 10**400
    assert unpack(pack([10**5000])) == [hex(10**5000)]
