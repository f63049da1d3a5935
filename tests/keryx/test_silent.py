"""Results about which nothing is to be said: they join the conversation, and the next word is the person's."""

from __future__ import annotations

import json

import pytest
from tests.keryx.homes import keryx, tool, tools

from etui.agent.model import Text
from etui.agent.scripted import call
from etui.events import Kind
from etui.outcome import Status

QUIET = tool(name="note", options='description="Note it.", needs_pin=False, silent=True')
LOUD = tool(name="tell", options='description="Tell it.", needs_pin=False')
ASKED = tool(
    "RAN.append('ran'); return {'ran': RAN}",
    name="mark",
    head="""
    RAN = []

    def silent(arguments):
        RAN.append("asked")
        RAN.append(arguments)
        return arguments.get("still_to_say") is False
    """,
    options='description="Mark it.", needs_pin=False, silent=silent',
)
BREAKS = tool(
    name="breaks",
    head="def silent(arguments):\n    return arguments['nothing of the kind']",
    options='description="Break.", needs_pin=False, silent=silent',
)


async def quiet(room, *steps):
    """Take a turn; how many requests it made."""
    before = len(room.requests)
    await room.turn("go", *steps)
    return len(room.requests) - before


@pytest.mark.promise("X085", "X086", "X088", "X066", "X072")
async def test_a_silent_result_joins_the_conversation_and_no_request_follows_until_the_person_speaks(tmp_path):
    async with keryx(tmp_path, {"note.py": QUIET, "tell.py": LOUD}) as room:
        assert await quiet(room, [call("tell")], "Told.") == 2
        assert await quiet(room, [call("note")], "never asked for") == 1
        assert json.loads(room.results()[-1].text) == {"ok": True}
        await room.turn("and now?", "Now this.")
        *_, result, person = room.requests[-1].messages
        assert (result.role, result.tool, person.role, person.text) == ("tool", "note", "user", "and now?")


@pytest.mark.promise("X087", "X089")
async def test_what_was_said_before_a_silent_call_is_said_once_and_the_turn_ends_well(tmp_path):
    async with keryx(tmp_path, {"note.py": QUIET}) as room:
        assert await room.turn("go", [Text("It is done."), call("note")], "It is done.") == "It is done."
        ended = [event.data for event in await room.events() if event.kind is Kind.TURN_ENDED]
        assert [end["why"] for end in ended] == ["done"]
        assert await room.turn("go", [call("note")], "never") == ""
        (ended,) = [event.data for event in await room.events() if event.kind is Kind.TURN_ENDED]
        assert ended["why"] == "done"


@pytest.mark.promise("X090", "X091", "X183")
async def test_a_function_of_the_arguments_decides_after_the_tool_ran(tmp_path):
    async with keryx(tmp_path, {"mark.py": ASKED}) as room:
        assert await quiet(room, [call("mark", {"still_to_say": False})], "never") == 1
        assert await quiet(room, [call("mark", {"still_to_say": True})], "More.") == 2
        assert await quiet(room, [call("mark")], "More.") == 2
        ran = json.loads(room.results()[-1].text)["ran"]
        assert ran == ["ran", "asked", {"still_to_say": False}, "ran", "asked", {"still_to_say": True}, "ran"]


@pytest.mark.promise("X182", "X142")
@pytest.mark.parametrize(
    ("said", "silent"),
    [("1", True), ("'y'", True), ("0", False), ("None", False), ("''", False), ("True", True), ("[]", False)],
)
async def test_its_truth_counts(tmp_path, said, silent):
    options = f'description="d", needs_pin=False, silent=lambda arguments: {said}'
    assert (await tools(tmp_path, tool(options=options)).call("x")).silent is silent


@pytest.mark.promise("X093")
async def test_where_the_function_fails_the_result_is_handed_in_and_spoken_of_and_the_owner_sees_the_fault(tmp_path):
    async with keryx(tmp_path, {"breaks.py": BREAKS}) as room:
        assert await quiet(room, [call("breaks")], "It is done.") == 2
        assert json.loads(room.results()[-1].text) == {"ok": True}
        assert "nothing of the kind" in room.host.store.journal.recent("breaks")[0].detail


async def test_a_silent_tool_that_fails_is_spoken_of(tmp_path):
    options = 'description="d", needs_pin=False, silent=True'
    files = {"x.py": tool("raise ValueError('nope')", options=options)}
    async with keryx(tmp_path, files) as room:
        assert await quiet(room, [call("x")], "It did not work.") == 2
        assert room.results()[-1].meta["status"] == Status.FAILED


@pytest.mark.parametrize("fault", ["raise SystemExit(2)", "raise KeyboardInterrupt", "return arguments['none']"])
async def test_whatever_the_function_raises_the_result_is_kept(tmp_path, fault):
    text = tool(head=f"def silent(arguments):\n    {fault}", options='description="d", needs_pin=False, silent=silent')
    ran = await tools(tmp_path, text).call("x")
    assert (ran.status, ran.data, ran.silent) == (Status.OK, {"ok": True}, False)
    assert "silent(arguments)" in ran.detail or "in silent" in ran.detail


async def test_an_async_function_is_waited_for(tmp_path):
    text = tool(
        head="async def silent(arguments):\n    return False", options='description="d", needs_pin=False, silent=silent'
    )
    assert (await tools(tmp_path, text).call("x")).silent is False
