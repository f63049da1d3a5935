"""The face of a turn: what a tool's file says about it, and the one tag of the reply."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kotoba.clocks import jumping, waits
from tests.kotoba.homes import Room, kotoba, ping

from etui.agent.model import Text
from etui.agent.scripted import call
from etui.events import Event, Kind
from etui.tool import FACES

FOUR = "EXPRESSIONS = {'focus': 'happy', 'fail': 'confused', 'done': 'angry', 'start': 'scared'}"
ENUM = "import enum\n\nclass Face(str, enum.Enum):\n    SHY = 'embarrassed'"
FAILS = 'raise ValueError("boom")'
ORDER = (Kind.FACE, Kind.WORKING, Kind.CALL_STARTED, Kind.CALL_ENDED, Kind.TEXT, Kind.TURN_ENDED)


def shown(events: list[Event]) -> list[str]:
    """Faces, signs, calls and words among events, in order."""
    words = {Kind.FACE: "face", Kind.WORKING: "on", Kind.CALL_STARTED: "tool", Kind.CALL_ENDED: "status", Kind.TEXT: "text"}
    return [
        f"{event.kind.value} {event.data[words[event.kind]]}" if event.kind in words else event.kind.value
        for event in events
        if event.kind in ORDER
    ]


async def faces(room: Room) -> list[str]:
    """The faces shown since it was last asked."""
    return [str(event.data["face"]) for event in await room.events() if event.kind is Kind.FACE]


@pytest.mark.promise("K076", "K077", "K078", "K080", "K082", "K185")
async def test_two_keys_reach_the_face_and_the_others_never_do(tmp_path: Path) -> None:
    files = {
        "p/ping.py": ping(head="EXPRESSIONS = {'focus': 'happy'}"),
        "p/plain.py": ping(name="plain"),
        "p/four.py": ping(name="four", head=FOUR),
        "p/done.py": ping(name="done", head="EXPRESSIONS = {'done': 'happy'}"),
        "p/enum.py": ping(name="enum", head="EXPRESSIONS = {'focus': Face.SHY}", top=ENUM),
    }
    async with kotoba(tmp_path, files) as room:
        assert room.problems() == []
        for name, reply, expected in (
            ("ping", "Done.", ["happy"]),
            ("plain", "Done.", ["thinking"]),
            ("four", "Done.", ["happy"]),
            ("done", "[sad] Done.", ["thinking", "sad"]),
            ("enum", "Done.", ["embarrassed"]),
        ):
            await room.turn("go", [call(name)], reply)
            assert await faces(room) == expected, name


@pytest.mark.promise("K077", "K079", "K186")
async def test_a_failure_shows_its_face_before_the_reply_begins(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(FAILS), "p/four.py": ping(FAILS, name="four", head=FOUR)}) as room:
        await room.turn("go", [call("ping")], "Oh.")
        assert shown(await room.events()) == [
            "face thinking",
            "call_started ping",
            "face sad",
            "call_ended failed",
            "text Oh.",
            "turn_ended",
        ]
        await room.turn("go", [call("four")], "Oh.")
        assert await faces(room) == ["happy", "confused"]


@pytest.mark.promise("K081", "K184", "K322")
async def test_the_first_tag_of_the_reply_is_the_turns_face_for_everybody(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping()}) as room, room.host.hub.listen() as other:
        assert await room.turn("go", "[excited] Done.") == "Done."
        events = await room.events()
        assert shown(events) == ["face excited", "text Done.", "turn_ended"]
        heard = [await other.next() for _ in events]
        assert [event for event in heard if event and event.kind is Kind.FACE] == [
            event for event in events if event.kind is Kind.FACE
        ]
        assert room.host.store.chats.messages(room.chat)[-1].text == "Done."
        assert await room.turn("go", [Text("[s"), Text("ad] I looked."), Text(" [happy"), Text("] It is there.")]) == (
            "I looked. It is there."
        )
        assert await faces(room) == ["sad"]
        for face in FACES:
            assert await room.turn("go", f"[{face}] Hello.") == "Hello."
            assert await faces(room) == [face]


@pytest.mark.promise("K288", "K296")
async def test_events_of_actions_come_in_a_fixed_order(tmp_path: Path) -> None:
    files = {"p/ping.py": ping(head="RISK = 'write'"), "p/bad.py": ping(FAILS, name="bad", head="RISK = 'network'")}
    async with kotoba(tmp_path, files) as room:
        await room.turn("go", [call("ping")], [call("bad")], "[happy] Done.")
        assert shown(await room.events()) == [
            "face determined",
            "working True",
            "face thinking",
            "call_started ping",
            "call_ended ok",
            "face thinking",
            "call_started bad",
            "face sad",
            "call_ended failed",
            "face happy",
            "text Done.",
            "working False",
            "turn_ended",
        ]


@pytest.mark.promise("K289", "K297")
async def test_events_of_reads_come_in_a_fixed_order_and_no_sign_is_switched_on(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(), "p/bad.py": ping(FAILS, name="bad")}) as room:
        await room.turn("go", [call("ping")], [call("bad")], "[happy] Done.")
        assert shown(await room.events()) == [
            "face thinking",
            "call_started ping",
            "call_ended ok",
            "face thinking",
            "call_started bad",
            "face sad",
            "call_ended failed",
            "face happy",
            "text Done.",
            "turn_ended",
        ]


@pytest.mark.promise("K114")
async def test_a_refusal_is_no_stumble(tmp_path: Path) -> None:
    refuses = """
    from kotoba.core.loop import note_tool_refusal
    note_tool_refusal(ctx)
    return "Not that one."
    """
    async with kotoba(tmp_path, {"p/no.py": ping(refuses, name="no"), "p/ping.py": ping()}) as room:
        await room.turn("go", [call("no", {"n": 1})], [call("no", {"n": 2})], [call("ping")], "Done.")
        assert await faces(room) == ["thinking"] * 3
        assert [result.text for result in room.results()] == ["Not that one.", "Not that one.", "pong"]


@pytest.mark.promise("K321")
async def test_an_unknown_face_is_named_at_load_and_never_shown(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(head="EXPRESSIONS = {'focus': 'smug'}")}) as room:
        [reason] = [reason for _, reason, refused in room.problems() if not refused]
        assert "'smug'" in reason
        assert all(face in reason for face in FACES)
        await room.turn("go", [call("ping")], "[smug] Done.")
        events = await room.events()
        assert [event.data["face"] for event in events if event.kind is Kind.FACE] == ["thinking"]
        assert "text [smug] Done." in shown(events)


async def test_a_tag_before_the_calls_holds_again_at_the_end_where_the_reply_has_none(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping()}) as room:
        await room.turn("go", [Text("[happy] I look."), call("ping")], "It is there.")
        assert await faces(room) == ["happy", "thinking", "happy"]
        await room.turn("go", [Text("[happy] I look."), call("ping")], "[sad] Nothing there.")
        assert await faces(room) == ["happy", "thinking", "sad"]


async def test_the_sign_goes_out_when_the_turn_is_cut_short(tmp_path: Path) -> None:
    async with jumping(tmp_path, {"p/ping.py": waits(head="RISK = 'write'")}) as stage:
        async with stage.waiting():
            assert stage.room.host.conversations.stop(stage.room.chat)
        events = shown(await stage.room.events())
        assert events[-3:] == ["call_ended cancelled", "working False", "turn_ended"]
