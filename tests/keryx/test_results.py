"""What a handler gives back, and what the model gets of it: one JSON object, whatever it was."""

from __future__ import annotations

import json
import math

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.keryx.homes import keryx, payload, tool, tools

from etui.contracts.keryx import results
from etui.outcome import Status

GIVE = tool(
    "return eval(args['value'])",
    head="""
    from dataclasses import dataclass
    from datetime import datetime

    nan, inf = float("nan"), float("inf")

    @dataclass
    class P:
        x: int

    class Unsayable:
        def __str__(self):
            raise RuntimeError("no")

    def circle():
        d = {}
        d["d"] = d
        return d

    def deep():
        d = []
        for _ in range(100_000):
            d = [d]
        return d
    """,
)


async def given_back(path, value):
    return await payload(tools(path, GIVE), arguments={"value": value})


@pytest.mark.promise("X199", "X072")
async def test_a_dict_arrives_as_it_is(tmp_path):
    assert await given_back(tmp_path, '{"a": [1, {"b": None}], "c": 1.5}') == {"a": [1, {"b": None}], "c": 1.5}


@pytest.mark.promise("X200", "X201", "X202", "X310")
@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("'x'", "x"),
        ("7", 7),
        ("1.5", 1.5),
        ("True", True),
        ("[1]", [1]),
        ("(1, 2)", [1, 2]),
        ("None", None),
        ("''", ""),
        ("0", 0),
        ("[]", []),
    ],
)
async def test_what_is_no_dict_is_wrapped(tmp_path, value, found):
    assert await given_back(tmp_path, value) == {"result": found}


@pytest.mark.promise("X203", "X201", "X310", "X035")
async def test_other_values_become_their_text(tmp_path):
    value = '{"d": datetime(2026, 1, 2, 3, 4), "s": {1}, "b": b"x", "p": P(1), "t": (1, 2)}'
    found = {"d": "2026-01-02 03:04:00", "s": "{1}", "b": "b'x'", "p": "P(x=1)", "t": [1, 2]}
    assert await given_back(tmp_path, value) == found
    assert (await given_back(tmp_path, '{"when": object()}'))["when"].startswith("<object object")
    assert await given_back(tmp_path, "{1, 2}") == {"result": "{1, 2}"}


@pytest.mark.promise("X204")
async def test_plain_keys_become_text_and_of_two_equal_ones_the_later_wins(tmp_path):
    found = await given_back(tmp_path, "{2: 'a', 1.5: 'b', True: 'c', None: 'd'}")
    assert found == {"2": "a", "1.5": "b", "true": "c", "null": "d"}
    assert await given_back(tmp_path, "{2: 'a', '2': 'b'}") == {"2": "b"}


@pytest.mark.promise("X205", "X206", "X207", "X035", "X036")
@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("{(1, 2): 3}", "TypeError: keys must be str, int, float, bool or None, not tuple"),
        ("circle()", "ValueError: Circular reference detected"),
        ("Unsayable()", "RuntimeError: no"),
        ("deep()", "RecursionError: "),
    ],
)
async def test_what_cannot_be_written_is_an_error_with_one_text(tmp_path, value, error):
    file = tools(tmp_path, GIVE)
    ran = await file.call("x", {"value": value})
    assert ran.status is Status.FAILED
    found = json.loads(ran.text)
    assert list(found) == ["error"]
    assert found["error"].startswith(error)
    assert "\n" not in found["error"]
    assert await payload(file, arguments={"value": "1"}) == {"result": 1}


@pytest.mark.promise("X208", "X035")
async def test_what_is_no_number_is_null_for_everybody(tmp_path):
    assert await given_back(tmp_path, '{"mean": nan, "max": inf, "n": 3, "deep": [{"low": -inf}]}') == {
        "mean": None,
        "max": None,
        "n": 3,
        "deep": [{"low": None}],
    }


@pytest.mark.promise("X208")
async def test_what_is_no_number_is_null_on_the_way_through_the_host_too(tmp_path):
    async with keryx(tmp_path, {"x.py": tool('return {"mean": float("nan"), "max": float("inf"), "n": 3}')}) as room:
        outcome = await room.run(await room.open(), "x")
        assert (outcome.status, outcome.data) == (Status.OK, {"mean": None, "max": None, "n": 3})
        assert json.loads(outcome.text) == outcome.data
        assert room.host.store.journal.recent("x")[0].data == outcome.data


@pytest.mark.promise("X209")
async def test_a_dict_with_an_error_of_its_own_is_passed_on(tmp_path):
    file = tools(tmp_path, tool('return {"error": "The shop is closed."}'))
    ran = await file.call("x")
    assert (ran.status, ran.data) == (Status.OK, {"error": "The shop is closed."})


async def test_halves_of_characters_and_huge_numbers_travel(tmp_path):
    assert await given_back(tmp_path, '"a\\udcffb"') == {"result": "a\N{REPLACEMENT CHARACTER}b"}
    assert await given_back(tmp_path, "10**40") == {"result": str(10**40)}


class Odd:
    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.builds(Odd, st.text()) | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=4),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(value=json_like)
def test_every_payload_is_json_that_can_travel(value):
    found, text = results.payload(value)
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name)) == found
    assert json.loads(msgspec.json.encode(found)) == found
    text.encode()
    if isinstance(value, float):
        assert found == {"result": value if math.isfinite(value) else None}
