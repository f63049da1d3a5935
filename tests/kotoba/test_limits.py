"""What one turn may use: calls, failures, the same call twice, one tool too often; in what order the calls of a reply run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.kotoba.homes import Room, kotoba, ping
from tests.spine.homes import until

from etui.agent.model import CallPart
from etui.agent.scripted import call
from etui.events import Kind

COUNTED = """import os
with open(os.path.join(str(ctx.workdir), "runs"), "a") as runs:
    runs.write("{name} " + str((args or {{}}).get("n", "")) + "\\n")
"""
"""Writes down each run, in the order in which they came."""


def counted(name: str = "ping", body: str = 'return "pong"', **more: str) -> str:
    """A plugin that writes down each of its runs."""
    return ping(COUNTED.format(name=name) + body, name=name, **more)


def many(number: int, body: str = 'return "pong"') -> dict[str, str]:
    """So many tools, each a file of one plugin."""
    return {f"p/t{at}.py": counted(f"t{at}", body) for at in range(number)}


def runs(room: Room) -> list[str]:
    """The runs so far, as name and argument."""
    file = room.host.home / "files" / "runs"
    return [line.strip() for line in file.read_text().splitlines()] if file.exists() else []


async def work(room: Room, goal: str, *steps: object) -> list[str]:
    """Let a job play the steps to its end; gives the texts of its results."""
    room.chat = room.chat or room.host.store.chats.create("", "python").id
    room.script(*steps)  # type: ignore[arg-type]
    async with room.host.hub.listen(Kind.WORK_DONE) as told:
        job = room.host.jobs.start(room.host.session("python", chat=room.chat), goal)
        await until(told, Kind.WORK_DONE, job=job.id)
    return [message.text for message in room.host.store.chats.messages(job.id) if message.role == "tool"]


@pytest.mark.promise("K374")
async def test_a_conversation_turn_has_eight_calls_and_then_answers_without_tools(tmp_path: Path) -> None:
    async with kotoba(tmp_path, many(12)) as room:
        answer = await room.turn("go", [call(f"t{at}", {}, at) for at in range(12)], "Enough.")
        assert len(runs(room)) == 8 and answer == "Enough."
        assert len(room.offered(0)) == 12 and room.offered(1) == []
        assert "You have no tools any more" in room.requests[1].system
        assert all(result.text.startswith("THIS CALL DID NOT RUN") for result in room.results()[8:])
        # Nine rounds at most, however few of the calls ran.
        before = len(room.requests)
        answer = await room.turn("again", *[[call("t0", {"n": at})] for at in range(20)])
        assert len(room.requests) - before == 9 and room.offered() == []
        assert "8 tool calls" in answer


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.promise("K374", "K381")
async def test_after_two_failures_a_turn_answers_without_tools(tmp_path: Path, together: bool) -> None:
    async with kotoba(tmp_path, many(4, 'raise ValueError("no")')) as room:
        both = [[call("t0"), call("t1", {}, 1)]] if together else [[call("t0")], [call("t1")]]
        assert await room.turn("go", *both, "It went wrong.") == "It went wrong."
        assert room.offered(-2) != [] and room.offered() == []
        assert runs(room) == ["t0", "t1"]  # each once: nothing is tried again by itself


@pytest.mark.promise("K375")
async def test_a_job_has_forty_calls_and_six_failures(tmp_path: Path) -> None:
    files = {**many(45), "q/bad.py": counted("bad", "return None"), "q/worse.py": counted("worse", "1 / 0")}
    async with kotoba(tmp_path, files) as room:
        results = await work(room, "all", [call(f"t{at}", {}, at) for at in range(45)], "Did forty.")
        assert len(runs(room)) == 40 and [text[:20] for text in results[40:]] == ["THIS CALL DID NOT RU"] * 5
        assert room.offered() == []
        wanted = [[call("bad", {"n": 1})], [call("bad", {"n": 2})], [call("bad", {"n": 3})]]
        wanted += [[call("worse", {"n": 1})], [call("worse", {"n": 2})], [call("worse", {"n": 3})]]
        await work(room, "fail", *wanted, "Gave up.")
        assert room.offered(-2) != [] and room.offered() == []
        assert len(runs(room)) == 46


@pytest.mark.promise("K376", "K377")
async def test_one_tool_runs_three_times_in_a_turn_and_a_plan_ten_times(tmp_path: Path) -> None:
    files = {"p/ping.py": counted(), "p/todo.py": counted("todo")}
    async with kotoba(tmp_path, files, calls_a_turn=30) as room:
        five = [call("ping", {"n": at}, at) for at in range(5)]
        await room.turn("go", five, [call("todo")], "Done.")
        assert runs(room) == ["ping 0", "ping 1", "ping 2", "todo"]
        assert room.results()[3].text.startswith("THIS CALL DID NOT RUN")
        assert [result.meta["status"] for result in room.results()] == ["ok"] * 3 + ["refused"] * 2 + ["ok"]
        assert "ping" in room.offered()  # two over the limit are no failures
        await room.turn("plan", [call("todo", {"n": at}, at) for at in range(11)], "Done.")
        assert len(runs(room)) == 4 + 10
        await work(room, "work", five, "Done.")
        assert runs(room)[14:] == ["ping 0", "ping 1", "ping 2"]


@pytest.mark.promise("K378")
async def test_the_same_call_runs_once_and_the_answer_follows_how_it_ended(tmp_path: Path) -> None:
    refuse = "from kotoba.core.loop import note_tool_refusal\nnote_tool_refusal(ctx)\nreturn 'I will not.'"
    files = {
        "p/good.py": counted("good"),
        "p/bad.py": counted("bad", "return None"),
        "p/shy.py": counted("shy", refuse),
        "p/kept.py": counted("kept"),
    }
    texts = {}
    async with kotoba(tmp_path, files) as room:
        chat = room.host.store.chats.create("", "python").id
        for name in ("good", "bad", "shy", "kept"):
            room.script([call(name, {"n": 1})], [call(name, '{"n":1}')], "Done.")
            session = room.host.session("python", chat=chat, withheld=frozenset({"kept"}))
            await room.host._running.say(session, name)[1]
            first, again = [message for message in room.host.store.chats.messages(chat) if message.role == "tool"][-2:]
            texts[name] = again.text
            assert again.text.startswith("Not run again") and (name == "kept" or first.text in again.text)
        assert len({text.partition("\n")[0] for text in texts.values()}) == 4
        assert [run.split()[0] for run in runs(room)] == ["good", "bad", "shy"]


@pytest.mark.promise("K379")
async def test_repeated_calls_and_calls_over_the_limit_use_up_the_tools_count(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": counted()}) as room:
        wanted = [call("ping"), call("ping", {}, 1), call("ping", {"n": 1}, 2), call("ping", {"n": 2}, 3)]
        await room.turn("go", wanted, "Done.")
        assert runs(room) == ["ping", "ping 1"]
        assert room.results()[3].text.startswith("THIS CALL DID NOT RUN")


@pytest.mark.promise("K380")
async def test_refusals_are_no_failures(tmp_path: Path) -> None:
    refuse = "from kotoba.core.loop import note_tool_refusal\nnote_tool_refusal(ctx)\nreturn 'I will not.'"
    async with kotoba(tmp_path, {"p/a.py": ping(refuse, name="a"), "p/b.py": ping(refuse, name="b")}) as room:
        await room.turn("go", [call("a")], [call("b")], "So be it.")
        assert [result.meta["status"] for result in room.results()] == ["refused", "refused"]
        assert room.offered() == ["a", "b"]


@pytest.mark.promise("K381")
async def test_nothing_is_tried_again_unless_the_model_asks(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": counted(body='raise RuntimeError("no")')}) as room:
        await room.turn("go", [call("ping")], "It failed.")
        assert runs(room) == ["ping"]


TIMED = """import asyncio, json, os, time
began = time.monotonic()
await asyncio.sleep(0.2)
with open(os.path.join(str(ctx.workdir), "times"), "a") as times:
    times.write(json.dumps([args["n"], began, time.monotonic()]) + "\\n")
return str(args["n"])
"""
"""Writes down from when to when it ran."""


@pytest.mark.promise("K382")
async def test_acting_calls_run_one_after_another_and_reads_at_the_same_time(tmp_path: Path) -> None:
    files = {"p/act.py": ping(TIMED, name="act", head='RISK = "write"'), "p/look.py": ping(TIMED, name="look")}
    async with kotoba(tmp_path, files) as room:
        await room.turn("go", [call("act", {"n": 1}), call("act", {"n": 2}, 1)], "Done.")
        await room.turn("go", [call("look", {"n": 3}), call("look", {"n": 4}, 1)], "Done.")
        assert [result.text for result in room.results()] == ["1", "2", "3", "4"]
        lines = (room.host.home / "files" / "times").read_text().splitlines()
        times = {n: (began, ended) for n, began, ended in map(json.loads, lines)}
        assert times[2][0] >= times[1][1]
        assert times[4][0] < times[3][1] and times[3][0] < times[4][1]


@pytest.mark.promise("K277", "K416")
async def test_an_unknown_name_is_told_with_the_nearest_and_is_a_failure(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": counted()}, failures_a_turn=2) as room:
        await room.turn("go", [call("pnig")], [call("nosuch")], "There is none.")
        first, second = room.results()
        assert first.text.startswith("There is no tool called 'pnig'") and "ping" in first.text.replace("pnig", "")
        assert second.text.startswith("There is no tool called 'nosuch'")
        assert room.offered(1) == ["ping"] and room.offered(2) == []  # two failures
        assert runs(room) == []


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param('{"a": ', marks=pytest.mark.promise("K208")),
        pytest.param("[1]", marks=pytest.mark.promise("K209")),
        pytest.param('"x"', marks=pytest.mark.promise("K209")),
        pytest.param("3", marks=pytest.mark.promise("K209")),
    ],
)
async def test_arguments_that_are_no_json_object_never_run_the_tool(tmp_path: Path, sent: str) -> None:
    async with kotoba(tmp_path, {"p/ping.py": counted()}) as room:
        await room.turn("go", [CallPart(0, name="ping", arguments=sent)], "Sorry.")
        (result,) = room.results()
        assert result.meta["status"] == "refused" and "object" in result.text
        assert runs(room) == []


@pytest.mark.promise("K210")
async def test_citation_characters_are_taken_out_of_the_arguments(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping('return ascii(args["q"])')}) as room:
        for sent in (
            '{"q": "tea\ue200\ue201"}',
            '{"q": "tea"}\ue200\ue201',
            '{"q": "t\ue202ea"\ue200, "n": 1\ue201}',
            '{"q": "te\\ue200a"}',
        ):
            await room.turn("go", [CallPart(0, name="ping", arguments=sent)], "Done.")
            assert (room.results()[-1].text, room.results()[-1].meta["status"]) == ("'tea'", "ok"), ascii(sent)


@pytest.mark.promise("K105")
async def test_a_tool_that_catches_a_path_error_answers_with_its_own_sentence(tmp_path: Path) -> None:
    body = """
    from kotoba.core.path_security import PathSecurityError, validate_within_dir

    try:
        target = validate_within_dir(args["path"], ctx.workdir)
    except PathSecurityError:
        return "That path is outside my workspace."
    return str(target)
    """
    async with kotoba(tmp_path, {"p/ping.py": ping(body)}) as room:
        await room.turn("go", [call("ping", {"path": "../x"})], "No.")
        assert room.results()[0].text == "That path is outside my workspace."
