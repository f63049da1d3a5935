"""One call of a Kotoba module: its arguments, the loop it runs on, and what no tool can do to the turn or to its neighbours."""

from __future__ import annotations

import asyncio
import json
import os
import textwrap

import pytest
from tests.kotoba.homes import PING, kotoba, ping

from etui.agent.scripted import call
from etui.events import Kind
from etui.outcome import Status

NOTE = " [tool failed — do not retry the same call; try another approach.]"
ECHO = ping("import json\nreturn json.dumps(args)", name="echo")


@pytest.mark.promise("K018", "K019", "K021", "K022", "K023", "K024", "K208", "K209", "K210")
async def test_arguments_reach_execute_as_the_model_sent_them_and_nothing_else_does(tmp_path):
    two = """
        import asyncio, json, kotoba.tools

        async def nap(x):
            await asyncio.sleep(0)
            return x

        async def execute(*given):
            a, b = given
            assert isinstance(a, dict) and isinstance(b, kotoba.tools.ToolContext)
            assert asyncio.current_task() is not None
            return json.dumps([len(given), await asyncio.gather(nap(1), nap(2)), a])
        """
    files = {"p/echo.py": ECHO, "p/two.py": ping(name="two") + textwrap.dedent(two)}
    odd = {"a": 1, "b": [True, None], "c": {"d": "é"}}
    async with kotoba(tmp_path, files) as room:
        assert json.loads((await room.call("two", {"x": 1})).text) == [2, [1, 2], {"x": 1}]
        for sent, got in [
            (odd, odd),
            ({"count": "many", "x": 1}, {"count": "many", "x": 1}),
            ({}, {}),
            ({"q": "tea\ue200\ue201", "l": ["\ue203x"]}, {"q": "tea", "l": ["x"]}),
        ]:
            await room.turn("go", [call("echo", json.dumps(sent, ensure_ascii=False))], "Done.")
            assert json.loads(room.results()[-1].text) == got
        await room.turn("go", [call("echo", "")], "Done.")
        await room.turn("go", [call("echo", "null")], "Done.")
        assert [message.text for message in room.results()][-2:] == ["{}", "{}"]
        assert {message.meta["status"] for message in room.results()} == {"ok"}
        for wrong in ('{"a": ', "[1]", '"x"', "3"):
            await room.turn("go", [call("echo", wrong)], "Done.")
            result = room.results()[-1]
            assert result.meta["status"] == "refused"
            assert "JSON object" in result.text


@pytest.mark.promise("K026", "K027", "K253", "K254", "K250")
async def test_whatever_a_tool_raises_is_one_failed_call_and_the_owner_sees_it(tmp_path):
    files = {
        f"p/{name}.py": ping(body, name=name)
        for name, body in {
            "boom": "raise ValueError('boom')",
            "stop": "import asyncio\nraise asyncio.CancelledError",
            "gives_up": "import asyncio\nasyncio.current_task().cancel()\nawait asyncio.sleep(0)",
            "leave": "import sys\nsys.exit(1)",
            "key": "raise KeyboardInterrupt",
            "caught": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    return 'The feed is empty today.'",
        }.items()
    }
    async with kotoba(tmp_path, {**files, "q/ping.py": PING, "p/beside.py": ping(name="beside")}) as room:
        for name in ("boom", "stop"):
            outcome = await room.call(name)
            assert (outcome.status, outcome.text) == (Status.FAILED, "The tool errored." + NOTE)
            assert "boom" not in outcome.text
        entry = room.host.store.journal.recent("boom")[0]
        assert "ValueError: boom" in entry.detail
        assert 'boom.py", line' in entry.detail
        for name in ("leave", "key"):
            outcome = await room.call(name)
            assert outcome.status is Status.FAILED
            assert outcome.text.startswith("The tool tried to end the program")
            assert outcome.text.endswith(NOTE)
        outcome = await room.call("gives_up")
        assert (outcome.status, outcome.text) == (Status.FAILED, "gives_up failed: it cancelled itself." + NOTE)
        assert (await room.call("caught")).text == "The feed is empty today."
        answer = await room.turn("go", [call("stop"), call("ping", index=1), call("beside", index=2)], "Answered.")
        assert answer == "Answered."
        assert [message.text for message in room.results()][1:] == ["pong", "pong"]


@pytest.mark.promise("K252", "K259", "K262")
async def test_over_its_time_a_call_ends_and_so_does_all_that_it_started(tmp_path):
    thread = """
        import os, threading, time
        folder = ctx.workdir

        def late():
            while not (folder / "go").exists():
                time.sleep(0.01)
            (folder / "late").write_text("x")

        threading.Thread(target=late).start()
        (folder / "pid").write_text(str(os.getpid()))
        await asyncio.sleep(60)
        """
    tasks = """
        async def late():
            await asyncio.sleep(0.5)
            STATE.append("late")

        if args.get("ask"):
            return repr(STATE)
        asyncio.create_task(late())
        await asyncio.sleep(60)
        """
    files = {
        "p/thread.py": ping(thread, name="thread", top="import asyncio", head="TIMEOUT = 0.2\nRISK = 'write'\n"),
        "q/blocks.py": ping("import time\ntime.sleep(8)", name="blocks", head="TIMEOUT = 0.2\n"),
        "r/ping.py": PING,
        "s/tasks.py": ping(tasks, name="tasks", top="import asyncio", head="TIMEOUT = 0.2\nSTATE = []\n"),
    }
    async with kotoba(tmp_path, files) as room:
        work = room.host.home / "files"
        ended = await asyncio.gather(room.call("thread"), room.call("blocks"), room.call("tasks"), room.call("ping"))
        assert [outcome.status for outcome in ended] == [Status.TIMED_OUT] * 3 + [Status.OK]
        assert {outcome.text for outcome in ended[:3]} == {"The tool timed out." + NOTE}
        assert ended[3].seconds < 1
        with pytest.raises(ProcessLookupError):
            os.kill(int((work / "pid").read_text()), 0)
        (work / "go").write_text("")
        assert not (work / "late").exists()
        assert (await room.call("tasks", {"ask": True})).text == "[]"


@pytest.mark.promise("K119", "K120", "K121", "K268", "K107")
async def test_a_witness_grades_the_call_that_it_belongs_to_and_no_other(tmp_path):
    top = "import asyncio\nfrom kotoba.core.loop import note_tool_failure, note_tool_refusal\nnote_tool_failure('at import')"
    first = """
        if args.get("no"):
            note_tool_refusal(ctx)
        if args.get("blank"):
            ctx.call_id = ""
            note_tool_refusal(ctx)
        if args.get("timer"):
            asyncio.get_running_loop().call_later(0.01, note_tool_failure, "from a timer")
        if args.get("keep"):
            KEPT.append(ctx)
        if args.get("old"):
            note_tool_refusal(KEPT[0])
        return "text"
        """
    meet = """
        MET.append(ctx.call_id)
        while len(MET) < 2:
            await asyncio.sleep(0)
        if args.get("fail"):
            note_tool_failure("x")
        return "text"
        """
    files = {
        "p/first.py": ping(first, name="first", top=top, head="KEPT = []\n"),
        "p/meet.py": ping(meet, name="meet", top=top, head="MET = []\n"),
    }
    async with kotoba(tmp_path, files) as room:
        assert room.problems() == []
        await room.turn("go", [call("first", {"no": True}), call("first", {"a": 1}, 1)], "Done.")
        assert [message.meta["status"] for message in room.results()] == ["refused", "ok"]
        await room.turn("go", [call("meet", {"fail": True}), call("meet", {}, 1)], "Done.")
        assert [message.meta["status"] for message in room.results()][2:] == ["failed", "ok"]
        marks = {event.call: event.data["mark"] for event in await room.events() if event.kind is Kind.CALL_ENDED}
        assert [marks[message.call] for message in room.results()] == ["grey", "green", "red", "green"]
        for arguments in ({"blank": True}, {"timer": True}, {}, {"keep": True}, {"old": True}):
            outcome = await room.call("first", arguments)
            assert (outcome.status, outcome.text) == (Status.OK, "text"), arguments
        await asyncio.sleep(0.02)
        assert (await room.call("first")).status is Status.OK


async def test_arguments_of_one_call_are_not_those_of_the_next(tmp_path):
    body = "args['seen'] = len(args)\nargs.setdefault('deep', []).append(1)\nreturn repr(args)"
    async with kotoba(tmp_path, {"p/ping.py": ping(body)}) as room:
        assert [(await room.call("ping")).text for _ in range(2)] == ["{'seen': 0, 'deep': [1]}"] * 2
