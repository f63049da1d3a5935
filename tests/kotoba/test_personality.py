"""The owner's personality file: its grammar, and that what it says is said instead of what a tool's file declares."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kotoba.clocks import jumping, waits
from tests.kotoba.homes import Room, kotoba, ping

from etui.agent.scripted import call
from etui.events import Kind
from etui.owner.personality import Personality, patterns
from etui.tool import Tool, Voice

OWN = "ANNOUNCE = 'own before'\nHEARTBEAT = ['own beat']\nCOMPLETE = 'own after'\nFAIL = 'own fail'"
HEAD = "name: Kotoba\nlanguage: en\n---\n"
SECTION = "## Tool voice patterns\n"


def saved(path: Path, text: str) -> None:
    """Save the personality file of a home."""
    file = path / "home" / "personality.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


async def lines(room: Room, name: str = "ping") -> list[str]:
    """What is said in a turn with one call."""
    await room.events()
    await room.turn("go", [call(name)], "Done.")
    return [str(event.data["text"]) for event in await room.events() if event.kind is Kind.SAID]


@pytest.mark.promise("K068", "K178", "K179", "K180", "K319")
async def test_the_file_wins_line_by_line_and_the_tools_file_is_untouched(tmp_path: Path) -> None:
    four = '  before: "B"\n  heartbeat: ["H"]\n  after: "A"\n  fail: "F"\n'
    saved(tmp_path, f"{HEAD}## Style\nwarm\n\n{SECTION}ping:\n{four}bad:\n{four}half:\n  after: only this\n")
    files = {
        "p/ping.py": waits(head=f"{OWN}\nTIMEOUT = 60"),
        "p/bad.py": ping("return None", name="bad", head=OWN),
        "p/half.py": ping(name="half", head=OWN),
    }
    async with jumping(tmp_path, files) as stage:
        room = stage.room
        before = (room.folder / "p/ping.py").read_bytes(), room.host.registry.snapshot.tools["ping"].digest
        async with stage.waiting():
            await stage.passes(10)
        assert [text for _, text in await stage.heard()] == ["B", "H", "A"]
        assert await lines(room, "bad") == ["B", "F"]
        assert await lines(room, "half") == ["own before", "only this"]
        after = (room.folder / "p/ping.py").read_bytes(), room.host.registry.snapshot.tools["ping"].digest
        assert before == after
    saved(tmp_path, f"{HEAD}## Style\nwarm\n")
    async with kotoba(tmp_path, {}) as room:
        assert await lines(room, "half") == ["own before", "own after"]


@pytest.mark.promise("K070", "K232")
async def test_a_tool_sees_the_table_in_force(tmp_path: Path) -> None:
    saved(tmp_path, f"{HEAD}{SECTION}ping:\n  before: mine\n")
    body = "import json\nreturn json.dumps(ctx.soul_patterns)"
    files = {"p/ping.py": ping(body), "p/plain.py": ping(name="plain"), "p/own.py": ping(name="own", head=OWN)}
    async with kotoba(tmp_path, files) as room:
        await room.turn("go", [call("ping")], "Done.")
        table = json.loads(room.results()[-1].text)
        empty = {"before": "", "heartbeat": [], "after": "", "fail": ""}
        assert table["ping"] == {**empty, "before": "mine"}
        assert table["plain"] == empty
        assert table["own"] == {"before": "own before", "heartbeat": ["own beat"], "after": "own after", "fail": "own fail"}


@pytest.mark.promise("K312", "K314", "K318")
async def test_what_the_grammar_reads_is_said_and_what_it_does_not_is_not(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(head="ANNOUNCE = 'own'")}) as room:
        for text, said in (
            (f'{HEAD}## TOOL VOICE PATTERNS\nping:\n  before: "Hm."\n', "Hm."),
            (f"{HEAD}{SECTION}ping:\n\tbefore: Tab.\n", "Tab."),
            (f"{HEAD}# Tool voice patterns\nping:\n  before: no\n", "own"),
            (f"{HEAD}### Tool voice patterns\nping:\n  before: no\n", "own"),
            (f"{HEAD}{SECTION}ping:\n", "own"),
            (f"{HEAD}{SECTION}nosuch:\n  before: nobody\nping:\n  before: yes\n  mood: x\n", "yes"),
        ):
            saved(tmp_path, text)
            assert await lines(room) == [said], text
        assert room.problems() == []


@pytest.mark.promise("K313", "K314", "K315", "K316", "K317", "K318")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{SECTION}a:\n  before: x\n---\n  after: y\n", {"before": "x", "after": "y"}),
        (f"{SECTION}a:\n  before: x\n## Other\nb:\n{SECTION}a:\n  after: y\n", {"after": "y"}),
        (f"{SECTION}a:\n  before: x\n\n# no\n  # no\n  after: y\n", {"before": "x", "after": "y"}),
        (f"{SECTION}a:\n  mood: x\n\tbefore: y\n", {"before": "y"}),
        (f'{SECTION}a:\n  before: "a\\u00e9"\n', {"before": "aé"}),
        (f"{SECTION}a:\n  before: 'a'\n  after: a\n  fail: a # b\n", {"before": "a", "after": "a", "fail": "a # b"}),
        (f'{SECTION}a:\n  heartbeat: ["a", "b"]\n', {"heartbeat": ("a", "b")}),
        (f"{SECTION}a:\n  heartbeat: a\n", {"heartbeat": ()}),
        (f'{SECTION}a:\n  heartbeat: ["a",\n  "b"]\n', {"heartbeat": ()}),
        (f"{SECTION}a:\n", None),
        (f"{SECTION}  before: x\n", None),
        (f'{SECTION}a:\n  before: "half \\ud800"\n', {"before": "half ?"}),
    ],
)
def test_the_grammar(text: str, found: object) -> None:
    assert patterns(HEAD + text).get("a") == found


@given(st.text(alphabet=st.sampled_from("ab:-#\"'[]\\ \t\n,"), max_size=80), st.text(max_size=40))
def test_any_file_gives_lines_or_none(text: str, more: str) -> None:
    for tool, found in patterns(f"{HEAD}{SECTION}{text}\n{more}").items():
        assert tool == tool.strip()
        assert set(found) <= {"before", "heartbeat", "after", "fail"}


def test_a_file_that_is_changed_is_read_again_and_one_that_goes_is_forgotten(tmp_path: Path) -> None:
    tool = Tool(name="a", description="", parameters={}, contract="kotoba", plugin="p", voice=Voice(announce="own"))
    file = tmp_path / "soul.md"
    personality = Personality(lambda: file)
    assert (personality.voice(tool).announce, personality.problem()) == ("own", None)
    for text in ("one", "two!"):
        file.write_text(f"{HEAD}{SECTION}a:\n  before: {text}\nb:\n  fail: hm\n")
        assert personality.voice(tool).announce == text
    assert personality.table([tool])["b"] == {"before": "", "heartbeat": [], "after": "", "fail": "hm"}
    file.unlink()
    assert personality.voice(tool).announce == "own"


async def test_a_file_that_is_named_and_cannot_be_read_is_told_and_breaks_nothing(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(head="ANNOUNCE = 'own'")}, personality="soul/default.md") as room:
        soul = tmp_path / "home" / "soul"
        assert [what for what, _, refused in room.problems() if not refused] == ["personality"]
        assert await lines(room) == ["own"]
        soul.mkdir()
        os.mkfifo(soul / "default.md")
        assert "it is no file" in room.problems()[0][1]
        (soul / "default.md").unlink()
        (soul / "default.md").write_text(f"{HEAD}{SECTION}ping:\n  before: soul\n")
        assert room.problems() == []
        assert await lines(room) == ["soul"]
