"""Section D: what a model sends for arguments, through the door. `tests/test_arguments.py` asks every repair."""

from __future__ import annotations

import json

import pytest
from tests.cases.desk import Desk

from etui.agent.model import CallPart
from etui.agent.scripted import Scripted
from etui.home import Home
from etui.host import open_host
from etui.outcome import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOLS = '''
from typing import Annotated
from msgspec import Meta
from etui import tool

@tool
def get_time() -> str:
    """The time."""
    return "noon"

@tool
def find(pattern: str) -> str:
    """Finds."""
    return "found " + pattern

@tool
def save_note(text: str) -> str:
    """Saves."""
    return text

@tool
def door(unlock: bool) -> str:
    """Locks or unlocks."""
    return f"unlock is {unlock}"

@tool
def dim(level: Annotated[float, Meta(ge=0, le=1)]) -> str:
    """Dims."""
    return f"level {level}"

@tool
def case(case_id: str, zip: str, flag: str, tags: list[str] = []) -> list:
    """Opens a case."""
    return [case_id, zip, flag, tags]

@tool
def light(room: str) -> str:
    """Switches the light."""
    return "light in " + room
'''
NOTHING = ["", "  \n", None, "null", "{}", {}, '"{}"', '""', b"", "\t"]


async def ready(desk: Desk) -> None:
    if "light" not in desk.names():
        desk.save("arguments.py", TOOLS)
        await desk.offered("light", "get_time")


@pytest.mark.parametrize("sent", NOTHING, ids=range(len(NOTHING)))
async def test_nothing_sent_is_no_arguments(desk: Desk, sent: object):
    """R040: also for a tool that needs some, which then says what it needs and does not run."""
    await ready(desk)
    session = desk.host.session("python")
    outcome = await session.call(session.new_call("get_time", sent))
    assert outcome.text == "noon"
    outcome = await session.call(session.new_call("find", sent))
    assert outcome.rule == "arguments" and "'pattern' is missing" in outcome.text
    assert desk.host.store.journal.recent("get_time", 1)[0].arguments == {}


async def test_a_tolerated_oddity_is_no_trouble_in_the_turns_after_it(tmp_path):
    """R041: what is kept and replayed is an object, in the next turn and after a restart."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "arguments.py").write_text(TOOLS)
    odd = ["", "  ", "null", json.dumps("{}")]
    first = Scripted([[CallPart(0, name="get_time", arguments=sent)] for sent in odd] + ["Noon.", "Hello again."])
    rows = {"shelf": False, "unconfined": "allow"}
    async with open_host(Home(tmp_path), rows, environ={}, model=first) as host:
        chat = host.store.chats.create(channel="console").id
        assert await host.conversations.turn(chat, "time?")
        assert await host.conversations.turn(chat, "hello")
        calls = [made for message in first.asked[-1].messages for made in message.calls]
        assert calls and all(made.arguments == {} for made in calls)
    second = Scripted(["And again."])
    async with open_host(Home(tmp_path), rows, environ={}, model=second) as host:
        assert await host.conversations.turn(chat, "still there?") == "And again."
        assert all(isinstance(made.arguments, dict) for message in second.asked[0].messages for made in message.calls)


async def test_arguments_that_were_encoded_over_again_are_unwrapped(desk: Desk):
    """R043: and what was sent is never taken for nothing."""
    await ready(desk)
    session = desk.host.session("python")
    sent: object = {"pattern": "*.md"}
    for _ in range(3):
        sent = json.dumps(sent)
        outcome = await session.call(session.new_call("find", sent))
        assert outcome.text == "found *.md"
    for lost in [
        "[1]",
        "42",
        '"text"',
        "true",
        '{"pattern": ',
        "{'pattern': 'x'}",
        "pattern=*.md",
        '{"pattern": "x"} trailing',
    ]:
        outcome = await session.call(session.new_call("get_time", lost))
        assert (outcome.status, outcome.rule) == (Status.REFUSED, "arguments"), lost


TEXTS = [
    '{"a": 1}',
    "[draft]",
    "42",
    "true",
    "null",
    "",
    " ",
    "NaN",
    "1e999",
    '"quoted"',
    "'single'",
    "[1, 2",
    "\u202eabc",
    "0x1F",
]
TEXTS += [
    "line\nbreak",
    "tab\there",
    "\x00",
    "007",
    "1_000",
    "{}",
    "[]",
    "None",
    "Grüße 🎲",
    "\\u0041",
    "${HOME}",
    "a" * 100_000,
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
async def test_a_text_parameter_gets_exactly_the_text(desk: Desk, text: str):
    """R044: as an object, as JSON, and as JSON in JSON."""
    await ready(desk)
    for sent in ({"text": text}, json.dumps({"text": text}), json.dumps(json.dumps({"text": text}))):
        session = desk.host.session("python")
        call = session.new_call("save_note", sent)
        outcome = await session.call(call)
        assert outcome.ok
        assert desk.host.store.journal.get(call.id).arguments == {"text": text}
        if text.strip() and len(text) < 10_000 and text.isprintable():
            assert outcome.text == text


@pytest.mark.parametrize("word", ["maybe", "", " ", "off", "on", 2, -1, "2", 0.5, [], {}, "yes please", "ture", "T", "nein"])
async def test_a_boolean_is_never_guessed(desk: Desk, word: object):
    """R046: the tool does not run, and the answer says what was expected."""
    await ready(desk)
    outcome = await desk.call("door", {"unlock": word})
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "arguments")
    assert "'unlock'" in outcome.text and "true or false" in outcome.text


@pytest.mark.parametrize(("word", "means"), [("true", True), ("True", True), (" FALSE ", False), (True, True), (False, False)])
async def test_plain_spellings_of_true_and_false_are_taken(desk: Desk, word: object, means: bool):
    """R046"""
    await ready(desk)
    assert await desk.value("door", unlock=word) == f"unlock is {means}"


FAR = ["NaN", "nan", "Infinity", "-Infinity", "inf", "1e999", "-1e999", float("nan"), float("inf"), 1.5, "2", "-0.1", 10**400]
RAW = ['{"level": NaN}', '{"level": Infinity}', '{"level": -Infinity}', '{"level": 1e999}', '{"level": 1' + "0" * 400 + "}"]


@pytest.mark.parametrize("sent", [*({"level": far} for far in FAR), *RAW], ids=range(len(FAR) + len(RAW)))
async def test_what_is_no_number_or_out_of_range_never_runs(desk: Desk, sent: object):
    """R047: and nothing that is not finite is kept."""
    await ready(desk)
    session = desk.host.session("python")
    call = session.new_call("dim", sent)
    outcome = await session.call(call)
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "arguments")
    kept = json.dumps(desk.host.store.journal.get(call.id).arguments)
    json.loads(kept, parse_constant=lambda name: pytest.fail(f"{name} was kept"))


async def test_numbers_and_truths_become_text_where_text_is_declared(desk: Desk):
    """R049: also in a list."""
    await ready(desk)
    assert await desk.value("case", case_id=2662, zip=1230, flag=True) == ["2662", "1230", "true", []]
    assert await desk.value("case", case_id=0, zip=-1, flag=False, tags=[1, True, "x", 2.5]) == [
        "0",
        "-1",
        "false",
        ["1", "true", "x", "2.5"],
    ]


async def test_arguments_that_were_made_up_never_reach_the_function(desk: Desk):
    """R050: nor any injected thing."""
    await ready(desk)
    made_up = {"tool_code": "print(1)", "self": 1, "__user__": {"role": "admin"}, "ctx": {"trust": "full"}, "": 1, "Room ": "x"}
    outcome = await desk.call("light", {"room": "hall", **made_up})
    assert outcome.text == "light in hall"
    assert desk.host.store.journal.recent("light", 1)[0].arguments == {"room": "hall"}


async def test_huge_and_deep_arguments_are_refused_in_a_sentence(desk: Desk):
    """R043 R047: the host goes on at once."""
    await ready(desk)
    deep = "[" * 100_000 + "]" * 100_000
    circle: dict[str, object] = {}
    circle["room"] = circle
    for sent in (
        deep,
        '{"room": ' + deep + "}",
        circle,
        {"room": "x" * 5_000_000},
        '{"room": "' + "x" * 5_000_000 + '"}',
        {1: 2},
        {"room": object()},
    ):
        session = desk.host.session("python")
        outcome = await session.call(session.new_call("light", sent))
        assert (outcome.status, outcome.rule) == (Status.REFUSED, "arguments")
        assert len(outcome.text) < 600
    assert await desk.value("light", room="hall") == "light in hall"
