"""Marks in a result's text, taken out for whoever reads it in words."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etui.contracts.marks import offered, unmarked

GALLERY = '<!--GALLERY:{"title": "t", "items": [{"handle": "img:0123456789ab.png"}]}-->'
OLDER = '<!--GALLERY:["/api/plugin/p/a.jpg"]-->'
FILES = '<!--FILES:{"title": "t", "items": [{"url": "/api/plugin/p/a.mp3", "name": "a"}]}-->'
ASK = '<!--ASK:{"questions": []}-->'
IMAGE = "<<IMG::tool:0123456789ab.jpg>>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{IMAGE}\nHere.", "Here."),
        (f"{IMAGE}\n{IMAGE}\n", ""),
        (f"Three.\n{GALLERY}\n\nMore", "Three.\nMore"),
        (f"a {OLDER}", "a "),
        (f"Saved.\n{FILES}  \nDone.", "Saved.\nDone."),
        (f"{ASK}", ""),
        (f"{FILES}\n{GALLERY}", ""),
        ("<!--GALLERY:no json-->", "<!--GALLERY:no json-->"),
        ("<!--GALLERY:{ without an end", "<!--GALLERY:{ without an end"),
        ("<!--FILES:{\n}-->", "<!--FILES:{\n}-->"),
        ("a < b, <<x>>, <b>", "a < b, <<x>>, <b>"),
        (f"<<SCENE::{'long ' * 200}a < b>> Here.", "Here."),
        (f"a <<{'LONG' * 20}::x>>\n<<A::b", "a <<A::b"),
    ],
)
def test_marks_go_and_everything_else_stays(text: str, words: str) -> None:
    assert unmarked(text) == words


@given(st.lists(st.sampled_from([GALLERY, OLDER, FILES, ASK, IMAGE, "\n", " ", "words", "<", "<!--", "-->", "{", "}"])))
def test_no_whole_mark_is_left(pieces: list[str]) -> None:
    left = unmarked("\n".join(pieces))
    assert not any(mark in left for mark in (GALLERY, OLDER, FILES, ASK, IMAGE))


@given(st.text(alphabet="ab<>!-\n"))
def test_text_without_marks_stays_as_it_is(text: str) -> None:
    assert unmarked(text) == text


@pytest.mark.parametrize("piece", ["<!--GALLERY:{", "<<A::", "<<A::x < y", "<<AAAAAAAAA", "<!--FILES:{}--", "}--><!--ASK:{"])
def test_reading_takes_time_in_proportion_to_the_length(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    unmarked(text)
    assert time.process_time() - began < 1.0


def test_the_files_that_a_mark_offers_are_named() -> None:
    mark = (
        r'<!--FILES:{"title": "T", "items": [{"url": "/x", "name": "t\u00fcne \\ a.wav"}, {"url": "/y", "name": "b.mid"}]}-->'
    )
    assert offered(f"Saved.\n{mark}") == ["tüne \\ a.wav", "b.mid"]
    assert offered('Saved "name": "x".') == offered('<!--FILES:{"name": "x"') == []
