"""How `execute` is called: by the number of its parameters, with arguments as they were meant, and in what measure."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.kotoba.clocks import Clock
from tests.sapphire.homes import SAMPLE, Room, sapphire, schema, tool
from tests.spine.homes import LONG

from etui.agent.scripted import call
from etui.outcome import BAD, Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

NUMBERS = {
    "k": {"type": "integer"},
    "ratio": {"type": "number"},
    "flag": {"type": "boolean"},
    "items": {"type": "array", "items": {"type": "integer"}},
    "lines": {"type": "array", "items": {"type": "string"}},
    "text": {"type": "string"},
    "kind": {"type": "string", "enum": ["a", "b"]},
}
ECHO = """
import json
RAN = []
"""
FILES = {
    "plugins/sample/tools/a.py": SAMPLE,
    "plugins/two/tools/a.py": tool("call_a", "call_b", body="return function_name, True"),
    "plugins/unknown/tools/a.py": tool("known", "unknown", body="""
        if function_name == "known":
            return "known", True
        return "Unknown function", False
        """),
    "plugins/count/tools/two.py": tool("takes_2", signature="a, b"),
    "plugins/count/tools/three.py": tool("takes_3", signature="a, b, c", body="return str(len([a, b, c])), True"),
    "plugins/count/tools/four.py": tool("takes_4", signature="a, b, c, credentials", body="return repr(credentials), True"),
    "plugins/count/tools/five.py": tool(
        "takes_5", signature="a, b, c, d=None, e=None", body="return f'{d!r} {type(e).__name__} {e is None}', True"
    ),
    "plugins/count/tools/six.py": tool("takes_6", signature="a, b, c, d, e, f='six'", body="return f, e is not None"),
    "plugins/count/tools/any.py": tool("takes_any", signature="*args", body="return str(len(args)), True"),
    "plugins/count/tools/more.py": tool("takes_more", signature="a, b, c, **more"),
    "plugins/count/tools/opaque.py": """
class Opaque:
    @property
    def __signature__(self):
        raise ValueError("it has none")

    def __call__(self, *args):
        return str(len(args)), True


execute = Opaque()
TOOLS = """ + repr([schema("takes_opaque")]),
    "plugins/echo/tools/a.py": tool(
        "echo", "echo_ran", head=ECHO, properties=NUMBERS, signature="name, arguments, config",
        body="""
            if name == "echo_ran":
                return str(len(RAN)), True
            RAN.append(1)
            import config as imported
            found = {"name": name, "arguments": arguments, "config": config is imported}
            return json.dumps({**found, "dict": type(arguments) is dict, "socks": bool(config.SOCKS_ENABLED)}), True
            """,
    ),
    "plugins/boom/tools/a.py": tool("boom", "bang", "fine", body="""
        if function_name == "boom":
            raise ValueError("x")
        if function_name == "bang":
            import sys
            sys.exit(1)
        return "fine", True
        """),
    "plugins/gone/tools/a.py": tool("takes_away", "taken", body="""
        import sys
        if function_name == "takes_away":
            del sys.modules[__name__].execute
        return "done", True
        """),
    "plugins/loops/tools/a.py": tool(
        "loops", body="return 'hi', True", properties={"n": {"type": "integer"}}, loop_warn_after=2,
        loop_warn_message="Called {count} times. Stop.",
    ),
    "plugins/loops/tools/odd.py": "TOOLS = " + repr(
        [schema(f"odd_{n}", loop_warn_after=after, loop_warn_message="never") for n, after in enumerate(("x", 0, None, -1))]
    ) + "\n\n\ndef execute(function_name, arguments, config):\n    return 'hi', True\n",
    "plugins/order/tools/a.py": tool("step", head="import threading\nRUNNING = threading.Lock()\nDONE = []", body="""
        assert RUNNING.acquire(blocking=False), "two at once"
        DONE.append(arguments["n"])
        RUNNING.release()
        return str(DONE), True
        """, properties={"n": {"type": "integer"}}),
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("calls"), FILES, limit=None, failures_a_turn=50) as room:
        yield room


async def arguments(room: Room, **sent: object) -> object:
    """The arguments as `execute` got them."""
    return (await room.value("echo", sent))["arguments"]


@pytest.mark.promise("S013", "S014")
async def test_one_execute_answers_for_all_functions_of_its_file(room):
    assert [await room.ran(name) for name in ("call_a", "call_b")] == [("call_a", True), ("call_b", True)]
    assert await room.ran("my_tool_do_thing", {"target": "door"}) == ("Did the thing to door", True)
    assert await room.ran("my_tool_do_thing") == ("Did the thing to ", True)


@pytest.mark.promise("S015")
async def test_a_name_that_the_dispatcher_does_not_know_is_a_failed_call_and_the_turn_goes_on(room):
    answer = await room.turn("go", [call("unknown")], [call("known")], "Done.")
    assert answer == "Done."
    assert [(one.text, one.meta["status"]) for one in room.results()[-2:]] == [("Unknown function", "failed"), ("known", "ok")]


@pytest.mark.promise("S016", "S017", "S020", "S022", "S336")
async def test_parameters_are_counted_and_filled_by_their_place(room):
    assert await room.ran("takes_3") == ("3", True)
    assert await room.ran("takes_4") == ("{}", True)
    assert await room.ran("takes_5") == ("{} CredentialsManager False", True)
    assert await room.ran("takes_6") == ("six", True)
    text, ok = await room.ran("takes_2")
    assert text.startswith("Error executing takes_2: ")
    assert not ok
    assert await room.ran("takes_3") == ("3", True)


@pytest.mark.promise("S337", "S338", "S339")
async def test_odd_signatures_are_counted_as_they_stand(room):
    assert await room.ran("takes_any") == ("3", True)
    assert await room.ran("takes_opaque") == ("5", True)
    text, ok = await room.ran("takes_more")
    assert text.startswith("Error executing takes_more: ")
    assert not ok
    assert await room.ran("takes_any") == ("3", True)


@pytest.mark.promise("S021", "S340")
async def test_the_first_three_are_the_name_the_arguments_and_the_module_config(room):
    found = await room.value("echo", {"text": "x"})
    assert found == {"name": "echo", "arguments": {"text": "x"}, "config": True, "dict": True, "socks": False}


@pytest.mark.promise("S341")
async def test_unknown_keys_missing_ones_and_values_outside_of_an_enum_reach_the_tool(room):
    assert await arguments(room, zzz=1, kind="c") == {"zzz": 1, "kind": "c"}


@pytest.mark.promise("S361")
async def test_numbers_are_taken_from_text(room):
    assert await arguments(room, k="2", ratio="2.5") == {"k": 2, "ratio": 2.5}
    assert await arguments(room, k="2.0") == {"k": 2}
    text, ok = await room.ran("echo", {"k": "2.5"})
    assert text.startswith("Error: invalid argument type(s) ")
    assert not ok


@pytest.mark.promise("S362")
async def test_truths_are_taken_from_words_and_other_words_pass(room):
    for word, truth in (("yes", True), ("no", False), ("1", True), ("False", False), ("maybe", "maybe")):
        assert await arguments(room, flag=word) == {"flag": truth}


@pytest.mark.promise("S363", "S366")
async def test_lists_of_numbers_are_taken_from_text_and_lists_of_text_pass(room):
    assert await arguments(room, items="1,2,3") == {"items": [1, 2, 3]}
    assert await arguments(room, items=["1", "2"]) == {"items": [1, 2]}
    assert await arguments(room, lines="x") == {"lines": "x"}


@pytest.mark.promise("S364")
async def test_text_is_never_coerced(room):
    assert await arguments(room, text="007") == {"text": "007"}
    assert await arguments(room, text=7) == {"text": 7}


@pytest.mark.promise("S365")
async def test_impossible_numbers_and_lists_are_refused_in_the_words_of_the_contract(room):
    before = await room.ran("echo_ran")
    outcome = await room.call("echo", {"k": "abc", "items": "1,x"})
    faults = """'k' expects integer, got "abc"; 'items' expects array of integer, got "1,x\""""
    text = f"Error: invalid argument type(s) — {faults}. Re-call the tool with the correct types."
    assert (outcome.text, outcome.status) == (text, Status.REFUSED)
    assert await room.ran("echo_ran") == before


@pytest.mark.promise("S356")
async def test_broken_json_is_said_and_nothing_runs(room):
    before = await room.ran("echo_ran")
    await room.turn("go", [call("echo", '{"a":')], "Done.")
    assert room.results()[-1].text == "Error: Invalid JSON arguments."
    assert await room.ran("echo_ran") == before


@pytest.mark.promise("S350", "S351")
async def test_what_is_raised_is_one_failed_call(room):
    outcome = await room.call("boom")
    assert (outcome.text, outcome.status) == ("Error executing boom: x", Status.FAILED)
    assert "ValueError" in outcome.detail
    assert await room.ran("bang") == ("Error executing bang: 1", False)
    assert await room.ran("fine") == ("fine", True)


@pytest.mark.promise("S355")
async def test_a_tool_whose_execute_is_gone_says_so(room):
    assert await room.ran("takes_away") == ("done", True)
    assert await room.ran("taken") == ("The tool taken is recognized but has no execution logic.", False)


@pytest.mark.promise("S333")
async def test_a_warning_stands_behind_the_results_of_a_tool_that_is_called_again_and_again(room):
    await room.turn("go", *([call("loops", {"n": n})] for n in range(3)), "Done.")
    texts = [one.text for one in room.results()[-3:]]
    assert texts == ["hi", "hi\n\nCalled 2 times. Stop.", "hi\n\nCalled 3 times. Stop."]
    await room.turn("again", *([call("loops")] for _ in range(3)), "Done.")
    first, *others = (one.text for one in room.results()[-3:])
    assert first == "hi"
    # The very same call is told what it gave, and warned all the same.
    assert [text.startswith("Not run again: ") for text in others] == [True, True]
    assert [text.rpartition("\nhi")[2] for text in others] == [f"\n\nCalled {count} times. Stop." for count in (2, 3)]


@pytest.mark.promise("S334")
async def test_a_warning_that_makes_no_sense_is_passed_over(room):
    names = [f"odd_{number}" for number in range(4)]
    await room.turn("go", *([call(name, {"n": n}, i) for i, name in enumerate(names)] for n in range(2)), "Done.")
    assert {one.text for one in room.results()[-8:]} == {"hi"}
    assert room.reasons("loops") == []


@pytest.mark.promise("S344")
async def test_of_one_reply_five_calls_run_one_after_the_other(room):
    await room.turn("go", [call("step", {"n": n}, n) for n in range(7)], "Done.")
    *ran, sixth, seventh = room.results()[-7:]
    assert [one.text for one in ran] == [str(list(range(n + 1))) for n in range(5)]
    for left in (sixth, seventh):
        assert left.text == "THIS CALL DID NOT RUN: only 5 calls of one reply run. Call it again if it is still needed."


@pytest.mark.promise("S345")
async def test_a_turn_has_seven_rounds_of_tools(room):
    before = len(room.results())
    answer = await room.turn("go", *([call("known", {"n": n})] for n in range(20)))
    assert len(room.results()) - before == 7
    assert answer == "I stopped here, for one turn may use these tools 7 times in a row. Say so if I am to go on."


@pytest.mark.promise("S001")
async def test_a_plugins_tool_is_called_and_told_as_one_of_the_shelf_is(tmp_path):
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": SAMPLE}, shelf=True) as room:
        wanted = [call("my_tool_do_thing", {"target": "door"}), call("calculate", {"expression": "1 + 1"}, 1)]
        await room.turn("go", wanted, "Done.")
        mine, other = room.results()
        assert (mine.role, mine.tool, mine.text) == ("tool", "my_tool_do_thing", "Did the thing to door")
        assert (other.role, other.tool) == ("tool", "calculate")
        assert set(mine.meta) - {"shown"} == set(other.meta) - {"shown"} == {"status", "seconds"}
        entries = room.host.store.journal.of_turn(mine.turn)
        assert [(one.tool, one.status, one.contract) for one in entries] == [
            ("my_tool_do_thing", "ok", "sapphire"),
            ("calculate", "ok", "etui"),
        ]


WAITS = """
import os


def wait():
    gate = os.open("user/gate", os.O_RDONLY)
    os.read(gate, 1)
    os.close(gate)
"""
"""Waits until somebody has opened the gate for writing and lets go of it."""


@pytest.mark.promise("S343")
async def test_a_call_may_take_long_and_one_that_takes_for_ever_is_ended(tmp_path):
    files = {"plugins/p/tools/a.py": tool("waits", "pid", head=WAITS, body="""
        if function_name == "waits":
            wait()
        return str(os.getpid()), True
        """)}  # fmt: skip
    async with sapphire(tmp_path, files, limit=None, allow_write="allow") as room:
        os.mkfifo(room.user / "gate")
        clock = Clock()
        try:
            for seconds in (15, 61, 300):
                running = asyncio.create_task(room.call("waits"))
                gate = await asyncio.wait_for(asyncio.to_thread(os.open, room.user / "gate", os.O_WRONLY), LONG)
                await clock.passes(seconds)
                assert not running.done()
                os.close(gate)
                assert (await running).status is Status.OK
            first = (await room.call("pid")).text
            running = asyncio.create_task(room.call("waits"))
            gate = await asyncio.to_thread(os.open, room.user / "gate", os.O_WRONLY)
            await clock.passes(400)
            assert (await running).status is Status.TIMED_OUT
            os.close(gate)
            assert (await room.call("pid")).text != first
        finally:
            clock.stop()


@pytest.mark.promise("S536")
async def test_code_that_never_ends_bursts_or_reaches_out_costs_its_own_call_alone(tmp_path):
    wild = tool("spin", "bomb", "reach", "read", body="""
        import threading
        if function_name == "spin":
            while True:
                pass
        if function_name == "bomb":
            held = threading.Event()
            while True:
                threading.Thread(target=held.wait, daemon=True).start()
        if function_name == "reach":
            with open("outside", "w") as out:
                out.write("x")
        return "read", True
        """)  # fmt: skip
    files = {"plugins/wild/tools/a.py": wild, "plugins/calm/tools/a.py": tool("calm")}
    async with sapphire(tmp_path, files, limit=None, grace_seconds=0.1) as room:
        text, ok = await room.ran("reach")
        assert not ok
        assert text.startswith("Error executing reach: [Errno 13] Permission denied")
        assert not (room.root / "outside").exists()
        clock = Clock()
        try:
            for name in ("spin", "bomb"):
                # A burst may end by itself, or hang where no thread can begin: then the limit ends it.
                running = asyncio.create_task(room.call(name))
                assert await room.ran("calm") == ("done", True)
                await clock.passes(400)
                ends = {Status.TIMED_OUT} if name == "spin" else BAD
                assert (await running).status in ends
        finally:
            clock.stop()
        assert await room.ran("calm") == ("done", True)
