"""One call of a tool: where it runs, what it is given, how long it may take, and that it has exactly one end."""

from __future__ import annotations

import asyncio
import json
import os
import time

import pytest
import structlog
from tests.keryx.homes import MOON, keryx, payload, tool, tools, wire
from tests.spine.homes import tool_changed, tools_in

from etui.agent.scripted import call
from etui.events import Kind
from etui.outcome import Status

SLOW = 'description="d", needs_pin=False, timeout_s=0.05'
TRACE = "open(args['path'], 'a').write('x')"


def trace_of(room):
    """A file in the working folder, which tools that ask for it may write."""
    folder = room.host.home / "files"
    folder.mkdir(exist_ok=True)
    return folder / "trace"


@pytest.mark.promise("X001", "X010", "X013", "X068")
async def test_the_pages_example_runs_unmodified_for_whoever_calls(tmp_path):
    async with keryx(tmp_path, {"moon.py": MOON}) as room:
        phone = await room.open("phone", caller="+1")
        assert phone.trust == "none"
        assert await room.payload(phone, "moon_phase") == {"phase": "waxing gibbous"}
        await room.turn("which moon?", [call("moon_phase")], "A waxing one.", channel="phone")
        (offered,) = [one for one in room.requests[0].tools if one.name == "moon_phase"]
        assert offered.description == "Say the phase of the moon tonight. Answer in one sentence."
        assert offered.parameters == {"type": "object", "properties": {}}
        assert json.loads(room.results()[-1].text) == {"phase": "waxing gibbous"}


async def test_a_file_of_keryxs_in_etuis_own_folder_is_a_plugin_like_any_other(tmp_path):
    text = MOON + tool(name="submit_pin") + tool(name="shut", options='description="d"')
    async with keryx(tmp_path, {}) as room, room.host.hub.listen() as heard:
        tools_in(room.host.home, text, "moon.py")
        await tool_changed(heard, "moon_phase")
        phone = await room.open("phone")
        assert await room.payload(phone, "moon_phase") == {"phase": "waxing gibbous"}
        assert (await room.payload(phone, "shut"))["status"] == "refused"
        assert ("submit_pin", "'submit_pin' is already a tool's name", True) in room.problems()


@pytest.mark.promise("X071", "X073", "X184", "X079", "X213", "X078", "X068")
async def test_the_models_arguments_reach_the_handler_and_its_payload_goes_back_under_the_same_id(tmp_path):
    options = """description="Echo.", needs_pin=False, parameters={"type": "object",
        "properties": {"n": {"type": "integer"}}, "required": ["n"]}"""
    files = {
        "a.py": tool("return {'got': args}", name="a", options=options),
        "b.py": tool("return {'got': args}", name="b", options=options, kind="def"),
    }
    async with keryx(tmp_path, files) as room:
        for name in ("a", "b"):
            for sent in ({"text": "hi", "n": 2}, {"m": "x"}, {"n": "three", "deep": [{"a": None}]}):
                await room.turn("go", [call(name, sent, id="call_7")], "Done.", channel="phone")
                assert {"a", "b"} <= set(room.offered(0))
                asked, result = room.requests[-1].messages[-2:]
                assert json.loads(result.text) == {"got": sent}
                assert (result.role, result.call) == ("tool", asked.calls[0].id)
        assert len(room.host.store.journal.recent("a")) == 3


@pytest.mark.promise("X185")
async def test_what_is_no_json_object_runs_nothing_and_the_model_is_told(tmp_path):
    files = {"x.py": tool("RAN.append(1); return {'ran': len(RAN), 'got': args}", head="RAN = []")}
    async with keryx(tmp_path, files) as room:
        for wrong in ("{broken", "[1]", '"x"'):
            await room.turn("go", [call("x", wrong)], "Sorry.")
            assert "JSON object" in room.results()[-1].text
        for number, nothing in enumerate(("", "null"), 1):
            await room.turn("go", [call("x", nothing)], "Done.")
            assert json.loads(room.results()[-1].text) == {"ran": number, "got": {}}


@pytest.mark.promise("X074", "X309", "X071")
async def test_a_plain_handler_runs_off_the_main_thread(tmp_path):
    body = """
    import threading
    return {"said": args["text"], "main": threading.current_thread() is threading.main_thread()}
    """
    found = await payload(tools(tmp_path, tool(body, name="echo", kind="def")), "echo", {"text": "hi"})
    assert found == {"said": "hi", "main": False}


@pytest.mark.promise("X075", "X210")
async def test_a_plain_handler_can_block_while_others_answer(tmp_path):
    text = """
import threading
from keryx.tools.custom import custom_tool
GO = threading.Event()

@custom_tool(description="Wait.", needs_pin=False)
def wait(ctx, args):
    return {"waited": GO.wait(10)}

@custom_tool(description="Go.", needs_pin=False)
async def go(ctx, args):
    GO.set()
    return {}
"""
    async with keryx(tmp_path, {"x.py": text}) as room:
        await room.turn("go", [call("wait", index=0), call("go", index=1)], "Done.")
        assert [json.loads(message.text) for message in room.results()] == [{"waited": True}, {}]
        assert len({message.call for message in room.results()}) == 2


@pytest.mark.promise("X032")
async def test_neither_the_file_nor_its_handlers_run_in_the_host(tmp_path):
    files = {"x.py": tool("return {'at': [AT, os.getpid()]}", head="import os\nAT = os.getpid()")}
    async with keryx(tmp_path, files) as room:
        found = await room.payload(await room.open(), "x")
        assert os.getpid() not in found["at"]
        assert len(set(found["at"])) == 1


@pytest.mark.promise("X033", "X036", "X083", "X192", "X214", "X312", "X191", "X197")
@pytest.mark.parametrize(
    ("kind", "body", "error"),
    [
        ("async def", "raise ValueError('nope')", "ValueError: nope"),
        ("def", "raise ValueError('nope')", "ValueError: nope"),
        ("async def", "1 / 0", "ZeroDivisionError: division by zero"),
        ("def", "raise TimeoutError('upstream')", "TimeoutError: upstream"),
        ("async def", "raise TimeoutError('upstream')", "TimeoutError: upstream"),
        ("def", "class ReadTimeout(Exception): pass\nraise ReadTimeout('slow site')", "ReadTimeout: slow site"),
        ("def", "raise StopIteration('done')", "StopIteration: done"),
        ("async def", "raise StopIteration('done')", "RuntimeError: coroutine raised StopIteration"),
        ("def", "import sys; sys.exit(2)", "SystemExit: 2"),
        ("async def", "import sys; sys.exit(2)", "SystemExit: 2"),
        ("def", "raise KeyboardInterrupt", "KeyboardInterrupt: "),
        ("async def", "import asyncio; raise asyncio.CancelledError('mine')", "CancelledError: mine"),
        ("def", "raise ValueError('two\\nlines')", "ValueError: two lines"),
    ],
)
async def test_what_a_handler_raises_is_one_error_at_once_and_the_next_call_works(tmp_path, kind, body, error):
    file = tools(tmp_path, tool(body + "\n", kind=kind) + tool(name="y"))
    ran = await file.call("x", host=wire())
    assert (ran.status, json.loads(ran.text)) == (Status.FAILED, {"error": error})
    assert ran.error == error.partition(":")[0]
    assert "Traceback" not in ran.text
    assert "main.py" in ran.detail
    assert await payload(file, "y") == {"ok": True}


@pytest.mark.promise("X080", "X084", "X186", "X191")
async def test_no_end_of_a_handler_ends_the_host_and_the_owner_finds_the_traceback(tmp_path):
    bodies = {
        "raises": "raise ValueError('nope')",
        "exits": "import sys; sys.exit(2)",
        "interrupts": "raise KeyboardInterrupt",
        "late": "raise TimeoutError('upstream')",
        "dies": "import os; os._exit(1)",
    }
    files = {f"{name}.py": tool(body, name=name) for name, body in bodies.items()}
    async with keryx(tmp_path, {**files, "ok.py": tool(name="ok")}) as room:
        session = await room.open()
        for name in bodies:
            outcome = await room.run(session, name)
            assert outcome.status is (Status.CRASHED if name == "dies" else Status.FAILED)
            assert list(json.loads(outcome.text)) == ["error"]
            (entry,) = room.host.store.journal.recent(name)
            assert (bodies[name].partition("(")[0].split()[-1] in entry.detail) or name == "dies"
            assert "Traceback" not in outcome.text
            assert await room.payload(session, "ok") == {"ok": True}
        await room.turn("go", [call("raises")], [call("ok")], "I am sorry, and then it worked.")
        assert [json.loads(message.text) for message in room.results()] == [{"error": "ValueError: nope"}, {"ok": True}]


@pytest.mark.promise("X188", "X105", "X189")
@pytest.mark.parametrize(
    "handler",
    [
        "functools.partial(afn, 1)",
        "lambda ctx, args: afn(1, ctx, args)",
        "Called()",
    ],
)
async def test_whatever_gives_a_coroutine_is_waited_for(tmp_path, handler):
    text = f"""
import functools
from keryx.tools.custom import custom_tool

async def afn(extra, ctx, args):
    return {{"extra": extra}}

class Called:
    async def __call__(self, ctx, args):
        return {{"extra": 1}}

p = custom_tool("p", description="d", needs_pin=False)({handler})
"""
    assert await payload(tools(tmp_path, text), "p") == {"extra": 1}


@pytest.mark.promise("X189")
async def test_such_a_coroutine_is_under_the_limit_too(tmp_path):
    made = f"p = custom_tool('p', {SLOW})(lambda c, a: asyncio.sleep(9))"
    text = f"import asyncio\nfrom keryx.tools.custom import custom_tool\n{made}"
    async with keryx(tmp_path, {"x.py": text}) as room:
        assert await room.payload(await room.open(), "p") == {"error": "p did not answer in time"}


@pytest.mark.promise("X190", "X311", "X036")
async def test_a_limit_is_a_limit_with_one_warning(tmp_path):
    files = {"slow.py": tool("import asyncio\nawait asyncio.sleep(5)", name="slow", options=SLOW)}
    async with keryx(tmp_path, files) as room:
        session = await room.open()
        began = time.monotonic()
        with structlog.testing.capture_logs() as logs:
            outcome = await room.run(session, "slow")
        assert (outcome.status, json.loads(outcome.text)) == (Status.TIMED_OUT, {"error": "slow did not answer in time"})
        assert time.monotonic() - began < 2
        assert [(one["log_level"], one["tool"]) for one in logs] == [("warning", "slow")]


@pytest.mark.promise("X193", "X195", "X034", "X194", "X196")
async def test_what_is_late_is_really_ended_and_its_late_value_is_nowhere(tmp_path):
    head = "import asyncio, time"
    bodies = {
        "clears_up": ("async def", "try:\n    await asyncio.sleep(5)\nfinally:\n    " + TRACE),
        "swallows": (
            "async def",
            "try:\n    await asyncio.sleep(5)\nexcept asyncio.CancelledError:\n    await asyncio.sleep(3)\nreturn {'late': 1}",
        ),
        "accepts": ("async def", "try:\n    await asyncio.sleep(5)\nexcept asyncio.CancelledError:\n    return {'late': 1}"),
        "blocks": ("async def", "time.sleep(10)\nreturn {'late': 1}"),
        "plain": ("def", "while True:\n    " + TRACE + "\n    time.sleep(0.005)"),
    }
    files = {f"{name}.py": tool(body, name=name, head=head, options=SLOW, kind=kind) for name, (kind, body) in bodies.items()}
    async with keryx(tmp_path, {**files, "ok.py": tool(name="ok")}, grace_seconds=0.2) as room:
        session = await room.open()
        trace = trace_of(room)
        running = [asyncio.ensure_future(room.run(session, name, {"path": f"{trace}_{name}"})) for name in bodies]
        assert await room.payload(session, "ok") == {"ok": True}
        outcomes = dict(zip(bodies, await asyncio.gather(*running), strict=True))
        for name, outcome in outcomes.items():
            assert (outcome.status, json.loads(outcome.text)) == (
                Status.TIMED_OUT,
                {"error": f"{name} did not answer in time"},
            )
            assert "late" not in str(room.host.store.journal.recent(name)[0].data)
        assert (trace.parent / "trace_clears_up").read_text() == "x"
        written = (trace.parent / "trace_plain").read_text()
        assert await room.payload(session, "ok") == {"ok": True}
        assert written
        assert (trace.parent / "trace_plain").read_text() == written
        events = await room.events()
        assert "'late'" not in str(events)
        ended = [event.data for event in events if event.kind is Kind.CALL_ENDED]
        assert sorted(one["tool"] for one in ended) == sorted([*bodies, "ok", "ok"])


@pytest.mark.promise("X081", "X144", "X212")
async def test_a_cancelled_call_ends_with_the_cancellation_and_no_payload(tmp_path):
    options = 'description="d", needs_pin=False, timeout_s=float("inf")'
    waits = "open(args['path'], 'w').close()\nawait asyncio.sleep(args['seconds'])\nreturn {'slept': 1}"
    async with keryx(tmp_path, {"x.py": tool(waits, head="import asyncio", options=options)}) as room:
        session = await room.open()
        assert await room.payload(session, "x", {"seconds": 0, "path": str(trace_of(room))}) == {"slept": 1}
        begun = trace_of(room).with_name("begun")
        running = asyncio.ensure_future(room.run(session, "x", {"seconds": 99, "path": str(begun)}))
        while not begun.exists():
            await asyncio.sleep(0.002)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        entry = room.host.store.journal.recent("x")[0]
        assert (entry.status, entry.data) == (Status.CANCELLED, None)
        assert "error" not in entry.text


@pytest.mark.promise("X211", "X212")
async def test_the_sessions_end_cancels_what_runs_and_its_workers_go(tmp_path):
    files = {
        "a.py": tool("open(args['path'], 'w').close()\nawait asyncio.sleep(9)", name="a", head="import asyncio"),
        "b.py": tool("open(args['path'], 'w').close()\ntime.sleep(9)", name="b", head="import time", kind="def"),
    }
    async with keryx(tmp_path, files, grace_seconds=0.2) as room:
        session = await room.open("phone")
        trace = trace_of(room)
        running = [asyncio.ensure_future(room.run(session, name, {"path": f"{trace}_{name}"})) for name in ("a", "b")]
        while not all((trace.parent / f"trace_{name}").exists() for name in ("a", "b")):
            await asyncio.sleep(0.002)
        assert room.host.sessions.end_by_id(session.id)
        assert [outcome.status for outcome in await asyncio.gather(*running)] == [Status.CANCELLED, Status.CANCELLED]
        while any(one.instance == session.id for one in room.host.workers.report()):
            await asyncio.sleep(0.002)
        assert [entry.data for entry in room.host.store.journal.recent()] == [None, None]


@pytest.mark.promise("X143")
async def test_a_limit_of_true_is_one_second(tmp_path):
    options = 'description="d", needs_pin=False, timeout_s=True'
    async with keryx(tmp_path, {"x.py": tool("await asyncio.sleep(5)", head="import asyncio", options=options)}) as room:
        session = await room.open()
        began = time.monotonic()
        assert await room.payload(session, "x") == {"error": "x did not answer in time"}
        assert 1 <= time.monotonic() - began < 3


@pytest.mark.promise("X187")
async def test_the_gate_comes_first_then_the_limit_then_the_wrapping(tmp_path):
    files = {"x.py": tool("return {1, 2}", options='description="d"')}
    async with keryx(tmp_path, files) as room:
        phone = await room.open("phone")
        assert (await room.payload(phone, "x", {"any": "thing"}))["status"] == "refused"
        phone.authorize()
        assert await room.payload(phone, "x") == {"result": "{1, 2}"}


@pytest.mark.promise("X165")
async def test_what_a_handler_pickles_of_its_own_module_comes_back(tmp_path):
    head = """
    import pickle
    from dataclasses import dataclass

    @dataclass
    class Point:
        x: int
    """
    file = tools(tmp_path, tool("return {'p': pickle.loads(pickle.dumps(Point(1))).x}", head=head))
    assert await payload(file) == {"p": 1}


@pytest.mark.promise("X286", "X285")
async def test_the_plain_shapes_of_keryxs_own_pages_work_here(tmp_path):
    train = tool("return {'leaves': '08:15', 'platform': 4}", name="next_train", kind="def")
    tides = tool("return httpx.get('https://tides.example', params=args).json()", name="tides", head="import httpx", kind="def")
    async with keryx(tmp_path, {"next_train.py": train, "tides.py": tides}) as room:
        session = await room.open("phone")
        assert {"next_train", "tides"} <= {one.name for one in session.tools()}
        assert await room.payload(session, "next_train") == {"leaves": "08:15", "platform": 4}
