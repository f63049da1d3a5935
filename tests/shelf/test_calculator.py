"""The calculator and the converter."""

from __future__ import annotations

import string
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etui.outcome import Status

from .desk import Desk


@pytest.fixture(scope="module")
def calculator() -> Desk:
    return Desk("calculator", Path("unused"))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("12 times 7", "84"),
        ("0.1 + 0.2", "0.3"),
        ("340 plus 27", "367"),
        ("144 divided by 12", "12"),
        ("6 × 7", "42"),
        ("12x7", "84"),
        ("84 ÷ 2", "42"),
        ("2^10", "1,024"),
        ("2 to the power of 8", "256"),
        ("five squared", "25"),
        ("15% of 80", "12"),
        ("15 percent of 80", "12"),
        ("80 + 10%", "88"),
        ("200 - 25%", "150"),
        ("20 percent off 50", "40"),
        ("what percentage is 5 of 20", "25"),
        ("half of 90", "45"),
        ("two thirds of 90", "60"),
        ("twenty five times four", "100"),
        ("three hundred and twenty five plus seven", "332"),
        ("seven point five times two", "15"),
        ("3.5 million divided by 7", "500,000"),
        ("1,234 * 2", "2,468"),
        ("3(4+5)", "27"),
        ("(1+2)(3+4)", "21"),
        ("17 mod 5", "2"),
        ("17 % 5", "2"),
        ("5!", "120"),
        ("(2+3)!", "120"),
        ("5 factorial", "120"),
        ("the square root of 144", "12"),
        ("sqrt(2)", "about 1.414213562"),
        ("1/3", "about 0.3333333333"),
        ("10/4", "2.5"),
        ("sine of 30 degrees", "0.5"),
        ("cos(pi)", "-1"),
        ("log(1000)", "3"),
        ("ln(e)", "1"),
        ("round(2.567, 2)", "2.57"),
        ("007 + 1", "8"),
        ("-5 + 3", "-2"),
        ("what is 2 + 2?", "4"),
        ("2^100", "about 1.2677 times 10 to the 30"),
    ],
)
def test_an_expression_in_symbols_or_words_is_worked_out(calculator, expression, said) -> None:
    assert calculator.say_of("calculate", expression=expression) == f"That's {said}."


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("1/0", "divides by zero"),
        ("sqrt(-1)", "no real number"),
        ("9**9**9", "too large"),
        ("2^100000", "too large"),
        ("1000!", "too large"),
        ("1e400", "too large"),
        ("(" * 100 + "1" + ")" * 100, "nested too deeply"),
        ("-" * 200 + "1", "nested too deeply"),
        ("1+" * 400 + "1", "too long"),
        ("", "What should I work out?"),
        ("5 +", "can't work out"),
        ("x + 1", "don't know what 'x' is"),
        ("__import__('os').system('ls')", "can't work out"),
        ("().__class__", "can't work out"),
        ("'a' * 10**9", "can't work out"),
        ("[0] * 10**9", "can't work out"),
        ("1 if 1 else 2", "can't work out"),
    ],
)
def test_what_cannot_be_worked_out_is_said_in_a_sentence(calculator, expression, why) -> None:
    assert why in calculator.fail_of("calculate", expression=expression)


VOCABULARY = """+ - * / ^ ** % ( ) ! , . sqrt sin( log( factorial( max( pi e percent of x times hundred half 9 99999 0 1e300
0.001 400 twenty point degrees"""
TERMS = st.sampled_from(VOCABULARY.split())


@given(st.one_of(st.lists(TERMS, max_size=14).map(" ".join), st.text(max_size=60), st.text(string.printable, max_size=40)))
@settings(max_examples=500, deadline=None)
def test_any_text_is_worked_out_or_refused_in_a_sentence_within_a_second(calculator_of_all, text) -> None:
    begun = time.perf_counter()
    ran = calculator_of_all.run("calculate", expression=text)
    assert time.perf_counter() - begun < 1
    assert ran.status in {Status.OK, Status.FAILED}
    assert not ran.error, ran.detail
    assert ran.text.endswith((".", "?"))


@pytest.fixture(scope="module")
def calculator_of_all(calculator) -> Desk:
    return calculator


@pytest.mark.parametrize(
    ("value", "from_unit", "to_unit", "said"),
    [
        (10, "miles", "kilometers", "10 miles is 16.09 kilometers."),
        (1, "mile", "feet", "1 mile is 5,280 feet."),
        (5, "kilos", "lbs", "5 kilograms is 11.02 pounds."),
        (12, "stone", "kg", "12 stone is 76.2 kilograms."),
        (72, "fahrenheit", "celsius", "72 degrees Fahrenheit is 22.22 degrees Celsius."),
        (72, "°F", "°C", "72 degrees Fahrenheit is 22.22 degrees Celsius."),
        (-40, "F", "C", "-40 degrees Fahrenheit is -40 degrees Celsius."),
        (0, "degrees celsius", "kelvin", "0 degrees Celsius is 273.15 kelvin."),
        (180, "degrees", "fahrenheit", "180 degrees Celsius is 356 degrees Fahrenheit."),
        (2, "cups", "ml", "2 cups is 473.18 milliliters."),
        (2, "tablespoons", "teaspoons", "2 tablespoons is 6 teaspoons."),
        (30, "mpg", "l/100km", "30 miles per gallon is 7.84 liters per 100 kilometers."),
        (7.84, "liters per 100 km", "miles per gallon", "7.84 liters per 100 kilometers is 30 miles per gallon."),
        (100, "km/h", "mph", "100 kilometers per hour is 62.14 miles per hour."),
        (3, "hours", "minutes", "3 hours is 180 minutes."),
        (1, "acre", "square meters", "1 acre is 4,046.87 square meters."),
        (500, "MB", "GB", "500 megabytes is 0.5 gigabytes."),
        (30, "psi", "bar", "30 pounds per square inch is 2.068 bar."),
        (1, "light year", "km", "1 light year is 9,460,730,472,580.8 kilometers."),
    ],
)
def test_amounts_are_converted_between_everyday_units(calculator, value, from_unit, to_unit, said) -> None:
    assert calculator.say_of("convert", value=value, from_unit=from_unit, to_unit=to_unit) == said


def test_an_amount_is_one_unless_it_is_said(calculator) -> None:
    assert calculator.say_of("convert", from_unit="inch", to_unit="cm") == "1 inch is 2.54 centimeters."


@pytest.mark.parametrize(
    ("from_unit", "to_unit", "why"),
    [
        ("cups", "grams", "Cups can't be turned into grams: one measures a volume, the other a weight."),
        ("usd", "euros", "I can't convert currencies: exchange rates change all day, and I don't look them up."),
        ("pounds", "dollars", "I can't convert currencies: exchange rates change all day, and I don't look them up."),
        ("blorps", "m", "I don't know a unit called 'blorps'."),
        ("", "m", "I don't know a unit called ''."),
        ("m**999999999", "m", "I don't know a unit called 'm**999999999'."),
    ],
)
def test_what_cannot_be_converted_is_said_in_a_sentence(calculator, from_unit, to_unit, why) -> None:
    assert calculator.fail_of("convert", value=1, from_unit=from_unit, to_unit=to_unit) == why


UNIT_WORDS = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(["m", "^", "9", "per", "square", " ", "/", "*", "**", "hour", "km", "°", "(", ".", "100km"]), max_size=8
    ).map("".join),
)


@given(st.floats(), UNIT_WORDS, UNIT_WORDS)
@settings(max_examples=200, deadline=None)
def test_any_units_are_converted_or_refused_in_a_sentence_within_a_second(calculator_of_all, value, from_unit, to_unit) -> None:
    begun = time.perf_counter()
    ran = calculator_of_all.run("convert", value=value, from_unit=from_unit, to_unit=to_unit)
    assert time.perf_counter() - begun < 1
    assert not ran.error, ran.detail
    assert ran.text
