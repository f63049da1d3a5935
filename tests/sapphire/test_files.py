"""Files for the person and questions with buttons: the marker lines, what they refuse, and that no model ever reads one."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from tests.sapphire.homes import Room, manifest, sapphire, tool

from etui.agent.scripted import call
from etui.contracts.marks import unmarked, without
from etui.contracts.sapphire.ask_card import normalize
from etui.contracts.sapphire.markers import line

pytestmark = pytest.mark.asyncio(loop_scope="module")
SONG = tool(
    "save_song",
    "ask",
    "made",
    "raw",
    head="""
    import json

    from core import ask_card, attachments
    """,
    body="""
    if function_name == "save_song":
        row = attachments.marker("Copper Light", [
            {"url": "/api/plugin/my-plugin/song/ab12.mp3", "name": "copper-light.mp3"},
            {"url": "/api/plugin/my-plugin/song/ab12.mid", "name": "copper-light.mid"},
        ])
        return f"Saved Copper Light.\\n{row}", True
    if function_name == "ask":
        card = ask_card.normalize([{"question": "Which colour?", "options": ["Red", "Blue"]}])
        return "A card is shown.\\n" + ask_card.marker(card), True
    if function_name == "raw":
        return arguments["text"], True
    module = {"attachments": attachments, "ask_card": ask_card}[arguments["of"]]
    try:
        return json.dumps([getattr(module, arguments["do"])(*arguments["given"]), ""]), True
    except ValueError as error:
        return json.dumps([None, str(error)]), True
    """,
    properties={"given": {"type": "array"}},
    writes=False,
)
FILES: dict[str, str | bytes] = {
    "plugins/music/plugin.json": manifest("my-plugin", "tools/song.py"),
    "plugins/music/tools/song.py": SONG,
    "functions/loose.py": SONG.replace("save_song", "loose_song")
    .replace('"ask"', '"loose_ask"')
    .replace("'ask'", "'loose_ask'")
    .replace("'made'", "'loose_made'")
    .replace("'raw'", "'loose_raw'")
    .replace('"raw"', '"loose_raw"'),
}
OWN = "/api/plugin/my-plugin/x.mp3"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("files"), FILES, limit=None) as opened:
        yield opened


async def made(room: Room, of: str, do: str, *given: Any) -> tuple[Any, str]:
    """What a function of `core.attachments` or `core.ask_card` gave, or the sentence of its ValueError."""
    outcome = await room.call("made", {"of": of, "do": do, "given": list(given)})
    result, error = json.loads(outcome.shown or outcome.text)
    return result, error


def held(marker: str, kind: str = "FILES") -> Any:
    """What a marker holds."""
    found = re.fullmatch(rf"<!--{kind}:(\{{.*\}})-->", marker)
    assert found is not None, marker
    return json.loads(found[1])


@pytest.mark.promise("S094", "S379")
async def test_a_marker_names_its_files_in_one_line_behind_the_text(room: Room) -> None:
    outcome = await room.call("save_song")
    text, _, row = outcome.shown.partition("\n")
    assert text == "Saved Copper Light."
    assert held(row) == {
        "title": "Copper Light",
        "items": [
            {"url": "/api/plugin/my-plugin/song/ab12.mp3", "name": "copper-light.mp3"},
            {"url": "/api/plugin/my-plugin/song/ab12.mid", "name": "copper-light.mid"},
        ],
    }
    assert await made(room, "attachments", "marker", "t", []) == ("", "")
    assert await made(room, "attachments", "marker", "t", None) == ("", "")


@pytest.mark.promise("S095", "S380")
async def test_titles_and_names_are_one_line_and_without_what_could_end_the_marker(room: Room) -> None:
    wild = "Copper\r\nLight\u2028 -->" + "y" * 200
    row, _ = await made(room, "attachments", "marker", wild, [{"url": OWN, "name": 'a<b>"\n' + "z" * 200}, {"url": OWN}])
    assert row.splitlines() == [row]
    assert row.count("-->") == 1 == row.count("<!--")
    found = held(row)
    assert found["title"] == ("Copper Light -->" + "y" * 200)[:120]
    assert found["items"][0]["name"] == ("ab" + "z" * 200)[:120]
    assert found["items"][1]["name"] == "x.mp3"
    empty, _ = await made(room, "attachments", "marker", "", [{"url": "/api/plugin/my-plugin/song/ab12.mp3?t=1", "name": ""}])
    assert held(empty) == {"title": "", "items": [{"url": "/api/plugin/my-plugin/song/ab12.mp3?t=1", "name": "ab12.mp3"}]}


@pytest.mark.promise("S100", "S101", "S381", "S382", "S263")
async def test_a_url_is_a_route_of_the_plugins_own_or_a_value_error(room: Room) -> None:
    for url in (OWN, "/api/plugin/my-plugin/a/b-c_d.mp3?t=1&u=2", "/api/plugin/my-plugin/song/ab12"):
        row, error = await made(room, "attachments", "marker", "t", [{"url": url, "name": "n"}])
        assert (error, held(row)["items"][0]["url"]) == ("", url)
        assert await made(room, "attachments", "safe_url", url) == (url, "")
    outside = (
        *("https://x.example/a", "//x.example/a", "/api/chats", "javascript:1", "data:audio/wav;base64,AA", "", "x.mp3"),
        *("/api/plugin/my-plugin/../b", "/api/plugin/my-plugin//x", "/api/plugin/other/x.mp3", "/api/plugin/my-plugin/"),
        *("/api/plugin/my-plugin/x?u=https://x.example", "/api/plugin/my-plugin/x#y", "/api/plugin/my-plugin/x\n", f" {OWN}"),
        *("http://127.0.0.1/api/plugin/my-plugin/x", "/api/plugin/my-plugin/%2e%2e/x", "/api/plugin/my-plugin/\\x"),
    )
    for url in outside:
        row, error = await made(room, "attachments", "marker", "t", [{"url": OWN}, {"url": url, "name": "n"}])
        assert row is None and "own routes, /api/plugin/my-plugin/..." in error, url
        assert await made(room, "attachments", "safe_url", url) == ("", "")
    assert (await made(room, "attachments", "marker", "t", [{"name": "no url"}]))[0] is None
    assert (await made(room, "attachments", "safe_url", None)) == ("", "")
    loose, error = await room.value("loose_made", {"of": "attachments", "do": "marker", "given": ["t", [{"url": OWN}]]})
    assert loose is None and "a loose module has none" in error


@pytest.mark.promise("S106", "S263")
async def test_a_marker_holds_twelve_files_and_drops_the_rest(room: Room) -> None:
    row, error = await made(room, "attachments", "marker", "t", [{"url": f"/api/plugin/my-plugin/{n}.mp3"} for n in range(13)])
    assert (error, [one["name"] for one in held(row)["items"]]) == ("", [f"{n}.mp3" for n in range(12)])


@pytest.mark.promise("S382")
async def test_strip_takes_out_its_own_markers_and_leaves_the_rest(room: Room) -> None:
    row = line("FILES", {"title": "t", "items": []})
    ask = line("ASK", {"questions": []})
    assert await made(room, "attachments", "strip", f"a\n{row}\nb {ask}") == (f"a\nb {ask}", "")
    assert await made(room, "ask_card", "strip", f"a\n{row}\nb {ask}") == (f"a\n{row}\nb ", "")


@pytest.mark.promise("S105", "S104", "S263", "S378", "S383")
async def test_no_model_reads_a_marker_in_any_turn_and_the_person_keeps_it(tmp_path: Path) -> None:
    tagged = "<<FILE::x>> a\n<<IMG::tool:y>>\nb"
    async with sapphire(tmp_path, FILES) as room:
        await room.turn(
            "one", [call("save_song", id="c1"), call("raw", {"text": tagged}, id="c2"), call("ask", id="c3")], "Done."
        )
        song, raw, ask = room.results()
        assert (song.text, raw.text, ask.text) == ("Saved Copper Light.", "a\nb", "A card is shown.")
        await room.turn("two", "Yes.")
        chat, requests = room.chat, list(room.requests)
    async with sapphire(tmp_path, FILES) as room:
        room.chat = chat
        await room.turn("three", "Still.")
        requests += room.requests
        assert len(requests) == 4
        for ask_ in requests:
            told = json.dumps([message.text for message in ask_.messages])
            assert not re.search(r"FILES:|ASK:|<!--|<<", told)
        assert "Saved Copper Light." in told
        turn = next(message.turn for message in room.host.store.chats.messages(chat) if message.role == "tool")
        shown = [entry.shown for entry in room.host.store.journal.of_turn(turn)]
        assert "<!--FILES:" in shown[0] and shown[1] == tagged and "<!--ASK:" in shown[2]


@pytest.mark.promise("S384")
async def test_a_card_has_one_to_four_questions_of_two_to_six_options_and_short_texts(room: Room) -> None:
    one = {"question": "Which?", "options": ["A", "B"]}
    long = {
        "question": "q" * 400,
        "header": "h" * 20,
        "multi_select": True,
        "options": [{"label": "l" * 100, "description": "d\n" * 300}, {"label": "M"}],
    }
    card, error = await made(room, "ask_card", "normalize", [one, long])
    assert error == ""
    first, second = card["questions"]
    assert first == {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}
    assert (len(second["question"]), len(second["header"]), second["multi_select"]) == (300, 16, True)
    assert [len(second["options"][0][name]) for name in ("label", "description")] == [80, 199]
    marker, _ = await made(room, "ask_card", "marker", card)
    assert held(marker, "ASK") == card
    assert (await made(room, "ask_card", "marker", [one]))[0].splitlines() == [line("ASK", normalize([one]))]
    for wrong in (
        [],
        [one] * 5,
        "Which?",
        None,
        [{"question": "", "options": ["A", "B"]}],
        [{"question": "Which?", "options": ["A"]}],
        [{"question": "Which?", "options": list("ABCDEFG")}],
        [{"question": "Which?", "options": ["A", ""]}],
        [{"question": "Which?", "options": ["A", "A"]}],
        [{"question": "Which?"}],
        ["Which?"],
    ):
        assert (await made(room, "ask_card", "normalize", wrong))[0] is None, wrong


@given(st.dictionaries(st.sampled_from(["title", "items"]), st.text(max_size=40)), st.text(max_size=20), st.text(max_size=20))
async def test_a_marker_is_one_line_that_is_taken_out_whole(value: dict[str, str], before: str, after: str) -> None:
    marker = line("FILES", value)
    assert "\n" not in marker and json.loads(marker[len("<!--FILES:") : -len("-->")]) == value
    assert unmarked(marker) == "" == without(marker, "FILES")
    plain = re.sub("[<>]", "", before), re.sub("[<>]", "", after)
    assert without(f"{plain[0]}\n{marker}\n{plain[1]}", "FILES") == f"{plain[0]}\n{plain[1]}"
