"""A PIN that is said, in any language, digits and manner: it is taken if it is right, and kept nowhere either way."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs
from tests.keryx.homes import keryx, timeless, tool
from tests.keryx.pins import Door, Somebody, holds, pin_in

from etui.agent.scripted import call
from etui.owner.numerals import languages, spellings
from etui.owner.reading import read

GATED = tool(name="open_door", options='description="Open the door."')
SEPARATORS = (
    " ",
    ", ",
    "-",
    " - ",
    "–",
    ". ",
    "/",
    " / ",
    "_",
    "...",
    "、",
    "\n",
    " a ",
    " dash ",
    " hm ",
    " b. ",
    "; ",
    ") (",
)
DIGITS = st.text("0123456789", min_size=6, max_size=8)
TOGETHER = [one for one in languages() if not one.endswith("-latin") and one != "km"]
"""Languages whose digits can be told apart when they run together: in Khmer 8 is 5 and 3."""
WRITTEN = sorted(
    {char for char in map(chr, range(0x110000)) if unicodedata.decimal(char, None) is not None}, key=unicodedata.decimal
)
"""Every decimal digit of Unicode."""
CIRCLED = ["⓪①②③④⑤⑥⑦⑧⑨", "⓿❶❷❸❹❺❻❼❽❾", "₀₁₂₃₄₅₆₇₈₉", "⁰¹²³⁴⁵⁶⁷⁸⁹", "〇一二三四五六七八九", "零壹貳參肆伍陸柒捌玖"]
EMOJI = [[f"{digit}\ufe0f\u20e3" for digit in "0123456789"], [f"{digit}\u200b" for digit in "0123456789"]]


async def tried(door: Door, text: str) -> tuple[str, str]:
    """What is left of a sentence that answers the question for the PIN, and what became of that."""
    heard = await door.pins.hear(Somebody(), text, asked=True)
    return heard.text, heard.tried.status if heard.tried else ""


def says(draw: st.DataObject, language: str, digits: str) -> list[str]:
    """The words for these digits."""
    return [draw.draw(st.sampled_from(spellings(language)[int(digit)])) for digit in digits]


def is_left(text: str, words: list[str]) -> list[str]:
    """Those of the words that are still in a text."""
    left = [token.word for token in read(text)]
    return [word for word in words if any(token.word in left for token in read(word))]


@pytest.mark.promise("X243", "X251")
@pytest.mark.parametrize("language", languages())
@settings(max_examples=8, deadline=None)
@given(st.data(), DIGITS, st.sampled_from(SEPARATORS), st.booleans())
async def test_a_pin_is_taken_in_every_language_whatever_is_said_between_its_digits(language, data, digits, separator, right):
    words = says(data, language, digits)
    door = await Door().set(digits if right else ("1" if digits[0] != "1" else "2") + digits[1:])
    left, became = await tried(door, separator.join(words))
    assert became == ("authorized" if right else "invalid"), separator.join(words)
    assert left.strip("()") == "[PIN]"


@pytest.mark.promise("X243", "X251")
@pytest.mark.parametrize("language", TOGETHER)
@settings(max_examples=8, deadline=None)
@given(DIGITS)
async def test_a_pin_is_taken_though_its_words_run_together(language, digits):
    text = "".join(spellings(language)[int(digit)][0] for digit in digits)
    assert await tried(await Door().set(digits), text) == ("[PIN]", "authorized"), text


@pytest.mark.promise("X243", "X251")
@settings(max_examples=60, deadline=None)
@given(st.data(), DIGITS, st.sampled_from((*SEPARATORS, "")))
async def test_a_pin_is_taken_in_every_decimal_digit_there_is(data, digits, separator):
    def of(digit: str) -> str:
        return data.draw(st.sampled_from([char for char in WRITTEN if unicodedata.decimal(char) == int(digit)]))

    written = separator.join(map(of, digits))
    assert await tried(await Door().set(digits), f"it is {written}") == ("it is [PIN]", "authorized")


@pytest.mark.promise("X243", "X251")
@pytest.mark.parametrize("digits", [*CIRCLED, *EMOJI])
@settings(max_examples=10, deadline=None)
@given(pin=DIGITS, separator=st.sampled_from((" ", "", ", ", "-")))
async def test_a_pin_is_taken_in_circles_boxes_and_raised_digits(digits, pin, separator):
    written = separator.join(digits[int(one)] for one in pin)
    assert await tried(await Door().set(pin), written) == ("[PIN]", "authorized")


@pytest.mark.promise("X243", "X251")
@pytest.mark.parametrize(
    "said",
    [
        "7-a-3-b-9-c-5-d-1-e-8",
        "7 dash 3 dash 9 dash 5 dash 1 dash 8",
        "p1n7395 18",
        "seven tree niner fife wun ait",
        "seven-threeninefive one/eight",
        "SEVEN Drei 9 cinq UNO otto",
        "seven three nine five won ate",
        "soixante-treize quatre-vingt-quinze dix-huit",
        "dreiundsiebzig, fünfundneunzig, achtzehn",
        "drei und siebzig fünf und neunzig achtzehn",
        "settantatré novantacinque diciotto",
        "setenta y tres, noventa y cinco, dieciocho",
        "treoghalvfjerds femoghalvfems atten",
        "семьдесят три девяносто пять восемнадцать",
        "yetmiş üç doksan beş on sekiz",
        "ثلاثة وسبعون خمسة وتسعون ثمانية عشر",
        "七十三、九十五、十八",
        "暗証番号はななさんきゅうごいちはちです",
        "我的密码是七三九五一八",
        "비밀번호는 칠삼구오일팔이에요",
        "รหัสเจ็ดสามเก้าห้าหนึ่งแปดครับ",
        "the first half is 739 and then it goes on with 518",
        "739518739518",
        "seven three nine five one eight seven three nine five one eight",
        "\u06f7\u0663\uff19 五 Ⅰ ⑧",
        "7️⃣3️⃣9️⃣5️⃣1️⃣8️⃣",
        "7\u200d3\u00ad9\u20605\ufeff1\u200e8",
    ],
)
async def test_the_right_pin_is_taken_in_this_way(said):
    left, became = await tried(await Door().set("739518"), said)
    assert became == "authorized"
    assert not [token for token in read(left.replace("p1n", "")) if token.digits]


@pytest.mark.promise("X251")
@pytest.mark.parametrize(
    "said",
    [
        "double seven three nine five one eight nine nine nine nine",
        "seven hundred and thirty nine thousand five hundred and eighteen and one two three four",
        "seven three nine five",
        "9 5 1 8 are the last ones",
        "sieben drei neun fünf, mehr weiß ich nicht",
    ],
)
async def test_what_is_no_whole_pin_and_its_greater_part_is_kept_nowhere_either(said):
    left, became = await tried(await Door().set("739518"), said)
    assert became == "incomplete"
    assert "[PIN]" in left
    assert not [token for token in read(left) if token.digits]


@pytest.mark.parametrize(
    "said",
    [
        "one moment please, I am looking for it",
        "I want to go on for a walk to the shop, too",
        "there are one or two things to do first",
        "what is at 12:30?",
        "ich habe ein Problem mit einem der Räume",
        "attends une minute, j'en ai deux ou trois à la maison",
        "espera un momento, que son dos o tres",
        "aspetta un attimo, sei molto gentile",
        "een momentje, ik heb er twee",
        "vänta en minut",
        "подождите одну минуту",
        "一个人在家",
        "ちょっと待ってください、一人で来ました",
        "잠시만 기다려 주세요, 이 일은 오늘 해요",
        "رجاء انتظر دقيقة واحدة",
        "एक मिनट रुको",
    ],
)
async def test_an_ordinary_answer_goes_on_as_it_was_said(said):
    assert await tried(await Door().set("739518"), said) == (said, "")


@pytest.mark.promise("X242", "X251")
@settings(max_examples=60, deadline=None)
@given(DIGITS, st.lists(st.integers(1, 3), min_size=8, max_size=8), st.sampled_from(languages()), st.booleans())
async def test_a_pin_that_is_said_over_several_turns_is_taken_and_never_goes_on(digits, lengths, language, right):
    door, who = await Door().set(digits if right else ("1" if digits[0] != "1" else "2") + digits[1:]), Somebody()
    statuses, at = [], 0
    while at < len(digits):
        words = [spellings(language)[int(digit)][0] for digit in digits[at : at + lengths[0]]]
        at += lengths.pop(0)
        heard = await door.pins.hear(who, ", ".join(words), asked=True)
        assert heard.text == "[PIN]"
        statuses.append(heard.tried.status if heard.tried else "")
    assert statuses[-1] == ("authorized" if right else "invalid")
    assert set(statuses[:-1]) <= {"incomplete"}


@pytest.mark.promise("X250", "X251")
@pytest.mark.parametrize("first", range(0, len(languages()), 8))
async def test_what_was_said_is_in_no_journal_log_event_row_or_request(tmp_path, first):
    """A wrong PIN and the right one, in eight languages, in a host with all that it writes."""
    right, wrong = "739518", "739519"
    async with keryx(tmp_path, {"x.py": GATED}, pin_failures=1000) as room:
        await pin_in(room.host, right)
        with capture_logs() as noted:
            for language in languages()[first : first + 8]:
                room.chat = room.host.store.chats.create("", "phone").id
                said = [" ".join(spellings(language)[int(digit)][0] for digit in pin) for pin in (wrong, right)]
                room.script([call("open_door")], "Please?", [call("open_door")], "Again?", [call("open_door")], "It is open.")
                for one in ("open the door", *said):
                    await room.host.conversations.turn(room.chat, one, channel="phone")
                rows = room.host.store.chats.messages(room.chat)
                assert [one.text for one in rows if one.role == "user"] == ["open the door", "[PIN]", "[PIN]"], said
                assert [one.meta["pin"] for one in rows if one.role == "notice"] == ["invalid", "authorized"], said
                written = str(rows) + str(room.requests) + str(room.host.store.journal.audit(1000))
                assert not [one for one in said if one in written]
        told = timeless(await room.events(), noted)
        everything = [" ".join(spellings(one)[int(digit)][0] for digit in pin) for one in languages() for pin in (right, wrong)]
        assert not [one for one in (*everything, right, wrong) if one in told]
    assert holds(tmp_path, *everything) == []
