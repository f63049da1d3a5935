"""The parsers read what people say, read back what is written out, and take any text."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.agent.embedded.arithmetic import read_arithmetic
from etui.agent.embedded.dates import read_when
from etui.agent.embedded.durations import read_duration
from etui.agent.embedded.numbers import SMALL, TENS, read_number
from etui.agent.embedded.units import read_unit
from etui.agent.embedded.words import MOST_WORDS, cut, plain, span, stem

NOW = datetime(2026, 3, 31, 15, 0, tzinfo=ZoneInfo("Europe/Berlin"))
SMALL_NAMES = {value: word for word, value in SMALL.items()}
TENS_NAMES = {value: word for word, value in TENS.items() if word != "fourty"}


def written(number: int) -> str:
    if number < 0:
        return "minus " + written(-number)
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            return f"{written(number // size)} {name}" + (f" {'and ' if rest < 100 else ''}{written(rest)}" if rest else "")
    if number < 20:
        return SMALL_NAMES[number]
    return TENS_NAMES[number - number % 10] + (f" {SMALL_NAMES[number % 10]}" if number % 10 else "")


def texts(sentence: str) -> list[str]:
    return [word.text for word in cut(sentence)]


@given(st.integers(-999_999_999, 999_999_999))
def test_a_number_written_out_in_words_is_read_back(number):
    words = texts(written(number))
    assert read_number(words, 0) == (number, len(words))


@given(st.integers(0, 10**12))
def test_a_number_in_digits_is_read_back_with_and_without_commas(number):
    assert read_number(texts(str(number)), 0) == (number, 1)
    assert read_number(texts(f"{number:,}"), 0) == (number, 1)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("half", 0.5),
        ("a dozen", 12),
        ("half a dozen", 6),
        ("two and a half", 2.5),
        ("1,5", 1.5),
        ("three point one four", 3.14),
        ("a quarter", 0.25),
        ("three quarters", 0.75),
        ("a couple of", 2),
        ("minus seven", -7),
        ("forty-two", 42),
        ("½", 0.5),
    ],
)
def test_numbers_as_people_say_them(said, value):
    words = texts(said)
    assert read_number(words, 0) == (value, len(words))


@given(st.integers(1, 59), st.integers(1, 59), st.booleans())
def test_a_duration_of_two_units_is_their_sum(minutes, seconds, spelt):
    write = written if spelt else str
    words = texts(f"{write(minutes)} minutes and {write(seconds)} seconds")
    found = read_duration(words, 0)
    assert found is not None
    assert (found.end, found.seconds) == (len(words), minutes * 60 + seconds)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("ten minutes", 600),
        ("an hour and a half", 5400),
        ("a quarter of an hour", 900),
        ("1h30", 5400),
        ("90s", 90),
        ("half an hour", 1800),
        ("two and a half hours", 9000),
        ("10-minute", 600),
        ("three quarters of an hour", 2700),
        ("two hours, 5 minutes and 3 seconds", 7503),
    ],
)
def test_durations_as_people_say_them(said, seconds):
    words = texts(said)
    found = read_duration(words, 0)
    assert found is not None
    assert (found.end, found.seconds) == (len(words), seconds)


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("tomorrow at half past five", "2026-04-01T17:30"),
        ("at 5 pm", "2026-03-31T17:00"),
        ("in ten minutes", "2026-03-31T15:10"),
        ("on Friday", "2026-04-03T09:00"),
        ("quarter to six", "2026-03-31T17:45"),
        ("the 5th of May 2027", "2027-05-05T09:00"),
        ("at noon", "2026-04-01T12:00"),
        ("tonight at 8", "2026-03-31T20:00"),
        ("2026-04-01", "2026-04-01T09:00"),
        ("in two days", "2026-04-02T09:00"),
        ("tomorrow morning at 7", "2026-04-01T07:00"),
        ("at 17:00", "2026-03-31T17:00"),
        ("for seven every morning", "2026-04-01T07:00"),
    ],
)
def test_times_as_people_say_them(said, moment):
    words = texts(said)
    found = read_when(words, 0, NOW)
    assert found is not None
    assert (found.end, found.resolve(NOW).isoformat()[:16]) == (len(words), moment)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("340 plus 27", 367),
        ("15 percent of 80", 12),
        ("the square root of 81", 9),
        ("the sum of 3, 4 and 5", 12),
        ("subtract 3 from 10", 7),
        ("20% off 50", 40),
        ("80 plus 15 percent", 92),
        ("half of 90", 45),
        ("2 to the power of 10", 1024),
        ("three times four plus five", 17),
        ("(3 + 4) * 2", 14),
        ("twelve squared", 144),
        ("the average of 4 and 8", 6),
        ("10 minus 3 minus 2", 5),
        ("divide 91 by 7", 13),
    ],
)
def test_sums_as_people_say_them(said, value):
    words = texts(said)
    found = read_arithmetic(words, 0)
    assert found is not None
    assert found[1] == len(words)
    assert eval(found[0]) == pytest.approx(value)


@given(st.lists(st.integers(0, 999), min_size=2, max_size=6), st.data())
def test_a_written_sum_keeps_its_value(numbers, data):
    signs = [data.draw(st.sampled_from("+-*")) for _ in numbers[1:]]
    line = str(numbers[0]) + "".join(f" {sign} {number}" for sign, number in zip(signs, numbers[1:], strict=True))
    words = texts(line)
    found = read_arithmetic(words, 0)
    assert found is not None
    assert found[1] == len(words)
    assert eval(found[0]) == eval(line)


@pytest.mark.parametrize(
    ("said", "unit"),
    [
        ("degrees celsius", "celsius"),
        ("km/h", "kilometer per hour"),
        ("kilos", "kilogram"),
        ("lbs", "pound"),
        ("square feet", "square foot"),
    ],
)
def test_units_have_the_name_that_a_converter_knows(said, unit):
    words = texts(said)
    assert read_unit(words, 0) == (unit, len(words))


@given(st.text(max_size=300))
def test_no_text_breaks_a_parser(text):
    words = texts(text)
    for at in range(len(words)):
        read_number(words, at)
        read_duration(words, at)
        read_arithmetic(words, at)
        read_unit(words, at)
        when = read_when(words, at, NOW)
        if when is not None:
            when.resolve(NOW)


WORDS = st.sampled_from(
    [
        "in",
        "at",
        "on",
        "the",
        "half",
        "quarter",
        "past",
        "to",
        "ten",
        "five",
        "12",
        "5",
        "pm",
        "am",
        "tomorrow",
        "monday",
        "may",
        "31",
        "31st",
        "2026",
        "-",
        "/",
        "and",
        "a",
        "hour",
        "minutes",
        "days",
        "years",
        "99999",
        "of",
        "next",
        "every",
        "times",
        "plus",
        "percent",
        "root",
        "square",
        "(",
        ")",
        "minus",
        "dozen",
        "hundred",
        "thousand",
        "point",
    ]
)


@given(st.lists(WORDS, max_size=14))
def test_no_heap_of_the_parsers_own_words_breaks_them(words):
    for at in range(len(words)):
        read_number(words, at)
        read_duration(words, at)
        read_arithmetic(words, at)
        when = read_when(words, at, NOW)
        if when is not None:
            when.resolve(NOW)


@given(st.text(max_size=400))
def test_every_word_stands_where_it_says(text):
    words = cut(text)
    assert all(0 <= word.start <= word.end <= len(text) for word in words)
    assert plain(words) or not words
    assert span(text, words) in text
    assert all(stem(word.text) for word in words if word.text.strip("'s"))


def test_a_huge_text_is_cut_off():
    assert len(cut("word " * 100_000)) <= MOST_WORDS
