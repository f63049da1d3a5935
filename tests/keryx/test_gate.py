"""What waits for the PIN: which tools, in which sessions, what is told instead, and that nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.keryx.homes import MOON, Room, keryx, tool
from tests.keryx.pins import RIGHT, Clock, pin_in, submit
from tests.spine.homes import host_at, tools_in

from etui.agent.scripted import call
from etui.contracts.keryx.trust import NO_PIN, PIN_REQUIRED
from etui.gate import RULES, pin_needed
from etui.outcome import Outcome, Status

TRACE = "import pathlib; pathlib.Path({path!r}).write_text('it ran'); return {{'ok': True}}"
GATED = tool(name="gated", options='description="Do it."')
OPEN = tool(name="anybody", options='description="Say it.", needs_pin=False')
ARGUMENTS: list[object] = [{}, {"text": "hi"}, {"id": 99}, {"pin": RIGHT}, "{broken", [1], None, 7]


def tracing(path: Path) -> dict[str, str]:
    """A gated tool that leaves a trace when it runs."""
    return {"gated.py": tool(TRACE.format(path=str(path)), name="gated", options='description="Do it."')}


async def ended(room: Room, session: object, name: str, arguments: object = None) -> Outcome:
    outcome = await room.run(session, name, arguments)  # type: ignore[arg-type]
    assert outcome.status is Status.REFUSED
    return outcome


@pytest.mark.promise("X037", "X039", "X230")
async def test_a_gated_tool_waits_and_then_runs(tmp_path):
    trace = tmp_path / "home" / "files" / "trace"
    async with keryx(tmp_path, tracing(trace)) as room:
        await pin_in(room.host)
        session = await room.open("phone")
        for arguments in ARGUMENTS:
            outcome = await ended(room, session, "gated", arguments)
            assert outcome.data == PIN_REQUIRED
            assert json.loads(outcome.text) == PIN_REQUIRED
            assert outcome.rule == "pin"
        assert not trace.exists()
        await submit(room.host, session, RIGHT)
        assert json.loads((await room.run(session, "gated")).text) != PIN_REQUIRED


@pytest.mark.promise("X039")
async def test_the_same_call_works_once_the_pin_was_right(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        steps = [[call("gated", {"a": 1})], [call("submit_pin", {"pin": RIGHT})], [call("gated", {"a": 1})], "Done."]
        assert await room.turn("do it", *steps, channel="phone") == "Done."
        assert [json.loads(one.text).get("status", "ran") for one in room.results()] == ["pin_required", "authorized", "ran"]


@pytest.mark.promise("X041", "X308")
async def test_an_open_tool_answers_whoever_rings(tmp_path):
    async with keryx(tmp_path, {"moon.py": MOON, "x.py": GATED}) as room:
        await pin_in(room.host)
        session = await room.open("phone", caller="+49 000")
        assert await room.payload(session, "moon_phase") == {"phase": "waxing gibbous"}
        assert session.trust == "none"


@pytest.mark.promise("X198")
async def test_the_clock_of_a_tool_does_not_run_while_the_pin_is_awaited(tmp_path):
    late = tool(name="gated", options='description="Do it.", timeout_s=0.3')
    async with keryx(tmp_path, {"x.py": late}, clock=(clock := Clock())) as room:
        await pin_in(room.host)
        session = await room.open("phone")
        assert (await room.payload(session, "gated"))["status"] == "pin_required"
        clock.now += 60
        await submit(room.host, session, RIGHT)
        assert await room.payload(session, "gated") == {"ok": True}


@pytest.mark.promise("X224", "X307", "X229")
async def test_trust_on_the_phone(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED, "y.py": OPEN}) as room:
        await pin_in(room.host)
        inbound = await room.open("phone", caller="+49 1")
        placed = await room.open("phone", caller="+49 1", possession=True)
        assert (inbound.trust, placed.trust) == ("none", "possession")
        placed.press()
        assert await room.payload(placed, "gated") == await room.payload(inbound, "gated") == PIN_REQUIRED
        await submit(room.host, placed, RIGHT)
        assert (inbound.trust, placed.trust) == ("none", "full")
        assert await room.payload(placed, "gated") == {"ok": True}


@pytest.mark.promise("X225")
async def test_a_callers_number_proves_nothing(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        placed = await room.open("phone", caller="+49 1", possession=True)
        inbound = await room.open("phone", caller=placed.caller)
        assert inbound.trust == "none"


@pytest.mark.promise("X346", "X306")
@pytest.mark.parametrize("channel", ["console", "terminal", "python"])
async def test_off_the_phone_what_is_the_owners_passes(tmp_path, channel):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        session = await room.open(channel)
        assert (session.trust, session.authorized) == ("full", False)
        assert await room.payload(session, "gated") == {"ok": True}


@pytest.mark.parametrize("channel", ["voice", "mcp", "http"])
async def test_other_channels_wait_for_the_pin(tmp_path, channel):
    async with keryx(tmp_path, {"x.py": GATED, "y.py": OPEN}) as room:
        await pin_in(room.host)
        session = await room.open(channel)
        assert (await room.payload(session, "gated"))["status"] == "pin_required"
        assert await room.payload(session, "anybody") == {"ok": True}


@pytest.mark.promise("X227", "X343")
async def test_without_a_pin_what_is_gated_is_refused(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        session = await room.open("phone")
        outcome = await ended(room, session, "gated")
        assert outcome.data == NO_PIN
        assert "none is configured" in json.loads(outcome.text)["message"]
        await pin_in(room.host)
        assert (await room.payload(session, "gated"))["status"] == "pin_required"


@pytest.mark.promise("X340")
async def test_before_the_pin_every_other_tool_answers_the_same_and_does_nothing(tmp_path):
    trace = tmp_path / "home" / "files" / "trace"
    files = {**tracing(trace), "other.py": tool(name="other", options='description="Do more."'), "moon.py": MOON}
    async with keryx(tmp_path, files) as room:
        await pin_in(room.host)
        session = await room.open("phone")
        offered = [one.name for one in session.tools()]
        assert offered == ["submit_pin", "gated", "moon_phase", "other"]
        for name in offered:
            payload = await room.payload(session, name)
            assert (payload == PIN_REQUIRED) == (name in ("gated", "other"))
        assert not trace.exists()


NATIVE = '''from pathlib import Path
from etui import tool

@tool
def diary(day: str) -> str:
    """Read the diary."""
    return "Dear diary"

@tool(pin=True)
def vault(what: str) -> str:
    """Open the vault."""
    return "gold"

@tool
def hours() -> str:
    """Say when the shop is open."""
    return "nine to five"
'''


async def test_whoever_rings_gets_nothing_of_other_contracts_either_but_what_the_owner_opened(tmp_path):
    tools_in(tmp_path, NATIVE)
    async with host_at(tmp_path, before_pin=["hours"]) as host:
        await pin_in(host)
        session = host.session("phone")
        for name in ("diary", "vault"):
            texts = {
                (await session.call(session.new_call(name, one))).text.replace(name, "it") for one in ({}, {"day": 1}, "x", [2])
            }
            assert len(texts) == 1
            assert "PIN" in texts.pop()
        assert (await session.call(session.new_call("hours", {}))).text == "nine to five"
        await submit(host, session, RIGHT)
        assert (await session.call(session.new_call("diary", {"day": "today"}))).text == "Dear diary"


@pytest.mark.parametrize("family", ["plugin:calculator", "time_in", "hours", "contract:kotoba"])
async def test_no_tool_is_opened_to_whoever_rings_by_the_family_that_its_file_names(tmp_path, family):
    tools_in(tmp_path, NATIVE.replace("@tool\ndef diary", f"@tool(toolset={family!r})\ndef diary"))
    async with host_at(tmp_path, before_pin=["plugin:calculator", "time_*", "hours", "mcp:*", "contract:kotoba"]) as host:
        await pin_in(host)
        session = host.session("phone")
        (diary,) = [one for one in session.tools() if one.name == "diary"]
        assert diary.toolset == family
        assert (await session.call(session.new_call("diary", {"day": "today"}))).rule == "pin"
        assert (await session.call(session.new_call("hours", {}))).text == "nine to five"


async def test_on_other_channels_only_what_asks_for_the_pin_waits(tmp_path):
    tools_in(tmp_path, NATIVE)
    async with host_at(tmp_path) as host:
        await pin_in(host)
        session = host.session("voice")
        assert (await session.call(session.new_call("hours", {}))).ok
        assert (await session.call(session.new_call("vault", {"what": "x"}))).rule == "pin"


async def test_the_names_of_files_are_told_to_nobody_unknown(tmp_path):
    tools_in(tmp_path, "from etui import tool\n\n@tool\ndef broken(:\n", "broken.py")
    async with host_at(tmp_path) as host:
        known, unknown = host.session("python"), host.session("phone")
        assert "broken.py" in (await known.call(known.new_call("broken", {}))).text
        assert str(tmp_path) not in (await unknown.call(unknown.new_call("broken", {}))).text


def test_the_pin_comes_before_every_other_rule():
    assert RULES[0] is pin_needed
