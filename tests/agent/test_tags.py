"""Tags in a reply as it streams: which are taken out, and what is left as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.agent.tags import TAGS, Tags
from etui.tool import FACES


def sifted(text: str, size: int = 1000) -> tuple[str, str]:
    """The words without tags, fed in pieces of this size, and the face."""
    tags = Tags()
    words = "".join(tags.feed(text[at : at + size]) for at in range(0, len(text), size))
    return words + tags.close(), tags.face


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("text", "words", "face"),
    [
        ("[excited] Done.", "Done.", "excited"),
        ("[Excited]\nDone.", "Done.", "excited"),
        ("Well [sighs] fine.", "Well fine.", "sad"),
        ("Hi.[happy] Yes", "Hi. Yes", "happy"),
        ("[sad warmly] A [happy] b", "A b", "sad"),
        ("[sad][laughs softly] hm", "hm", "sad"),
        ("[happy] (quietly) Yes", "(quietly) Yes", "happy"),
    ],
)
def test_a_tag_is_taken_out_however_it_comes(text, words, face, size):
    assert sifted(text, size) == (words, face)


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "mood[happy] = 1",
        "[happy](https://example.com)",
        "[1] see [x] and [ ] and [link](there)",
        "[sad and warm] he said",
        "```\n[happy]\n```",
        "~~~ py\nx = 1\n[happy]\n~~~",
        "use `[happy]` for that",
        "a list:\n\n    [happy]",
        "a [happy",
        "ends [",
        "[happy",
        "  two  blanks \n\n and a line ",
    ],
)
def test_nothing_else_is_touched(text, size):
    assert sifted(text, size) == (text, "")


def test_every_tag_has_one_of_the_faces():
    assert set(TAGS.values()) <= set(FACES)
    assert {face: TAGS[face] for face in FACES} == {face: face for face in FACES}


@given(st.text(alphabet="[] \n`ab,.(x{:", max_size=60), st.integers(1, 7))
def test_brackets_around_other_words_stay_whatever_stands_about_them(text, size):
    assert sifted(text, size) == (text, "")


@given(st.text(max_size=80).filter(lambda text: "[" not in text), st.integers(1, 9))
def test_text_without_brackets_comes_out_as_it_went_in(text, size):
    assert sifted(text, size) == (text, "")
