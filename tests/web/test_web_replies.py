"""What goes over HTTP as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from etui.surfaces.web.replies import one_line


def test_json_is_one_line_whatever_is_in_it() -> None:
    odd = {"a": "x\u2028y\x85z\ud800", "b": [float("nan"), 2**70, Path("/tmp")], "c": "\r\n"}
    line = one_line(odd)
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line)["a"] == "x\u2028y\x85z\ud800"
    assert json.loads(one_line({"a": "\u2029", "b": float("nan")})) == {"a": "\u2029", "b": None}


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    )
)
def test_json_of_any_shape_is_one_line_that_reads_back_as_it_was(value: object) -> None:
    line = one_line(value)
    assert b"\n" not in line and b"\r" not in line
    assert json.loads(line) == value
