"""Functions that a program registers itself: in its own process, through the same door."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from tests.spine.homes import DICE, host_at, tool_changed

from etui import AsyncContext, Context, Refusal, ToolError, tool
from etui.errors import UsageError
from etui.outcome import Status


async def called(host, name, /, **arguments):
    session = host.session("python")
    return await session.call(session.new_call(name, arguments))


def where(count: int = 1) -> list[int]:
    """Say in which process it runs."""
    return [os.getpid()] * count


async def test_a_typed_function_is_a_tool_of_the_programs_own_process(tmp_path):
    async with host_at(tmp_path) as host:
        added = host.add(where, examples=["where am I"], timeout=5)
        assert host.tools.all() == (added,)
        assert (added.plugin, added.contract, added.description) == ("inline", "inline", "Say in which process it runs.")
        assert added.parameters["properties"]["count"] == {"type": "integer", "default": 1}
        assert (added.examples, added.timeout, added.file, added.line > 0) == (("where am I",), 5.0, __file__, True)
        assert (await called(host, "where", count="2")).data == [os.getpid()] * 2
        assert host.workers.report() == []
        assert [entry.status for entry in host.store.journal.recent("where")] == ["ok"]


async def test_what_a_decorator_said_holds_and_what_add_says_stands_above_it(tmp_path):
    @tool(name="greet", risk="write", examples=["greet {who}"])
    def hello(who: str) -> str:
        """Greet somebody."""
        return f"Hello {who}."

    async with host_at(tmp_path) as host:
        added = host.add(hello, name="welcome")
        assert (added.name, added.risk, added.examples) == ("welcome", "write", ("greet {who}",))
        assert (await called(host, "welcome", who="Ann")).text == "Hello Ann."
        assert hello("Bob") == "Hello Bob."


async def test_a_context_is_given_with_state_files_and_the_caller(tmp_path):
    def count(ctx: Context, what: str) -> str:
        """Count."""
        total = ctx.state.update(what, lambda number: number + 1, 0)
        ctx.files.write_text("count.txt", str(total))
        return f"{total} {what} in {ctx.session.channel}, {threading.current_thread() is threading.main_thread()}"

    async def recount(ctx: AsyncContext, what: str) -> int:
        """Count again."""
        return await ctx.state.update(what, lambda number: number + 1, 0)

    async with host_at(tmp_path) as host:
        for function in (count, recount):
            host.add(function)
        assert (await called(host, "count", what="eggs")).text == "1 eggs in python, False"
        assert (await called(host, "recount", what="eggs")).data == 2
        assert (tmp_path / "files" / "count.txt").read_text() == "1"
        assert "ctx" not in host.registry.snapshot.tools["count"].parameters["properties"]


async def test_its_deadline_ends_the_call_and_the_program_goes_on(tmp_path):
    ended = asyncio.Event()

    async def forever() -> str:
        """Never ends."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with host_at(tmp_path) as host:
        host.add(forever, timeout=0.05)
        host.add(where)
        assert (await called(host, "forever")).status is Status.TIMED_OUT
        assert ended.is_set()
        assert (await called(host, "where")).ok


async def test_refusals_failures_and_wrong_arguments_end_as_they_do_in_a_worker(tmp_path):
    def moody(mood: int) -> str:
        """Depends."""
        if mood == 0:
            raise Refusal("Not today.")
        if mood == 1:
            raise ToolError("The moon is wrong.")
        raise SystemExit(mood)

    async with host_at(tmp_path) as host:
        host.add(moody)
        outcomes = [await called(host, "moody", mood=mood) for mood in (0, 1, 2, "blue")]
        assert [one.status for one in outcomes] == ["refused", "failed", "failed", "refused"]
        assert [one.text for one in outcomes[:2]] == ["Not today.", "The moon is wrong."]
        assert outcomes[3].rule == "arguments" and "'mood'" in outcomes[3].text


async def test_the_gate_holds_for_it_too(tmp_path):
    async with host_at(tmp_path) as host:
        host.add(where, risk="exec")
        outcome = await called(host, "where")
        assert (outcome.status, outcome.rule) == (Status.NEEDS_APPROVAL, "allow_exec")
        host.tools.switch("where", False)
        assert (await called(host, "where")).rule == "switched_off"


@pytest.mark.parametrize(
    ("function", "options", "says"),
    [
        (lambda: 1, {}, "lambda"),
        (where, {"risk": "huge"}, "huge"),
        (where, {"exmples": []}, "'examples'"),
        (int, {}, "none"),
        ("where", {}, "none"),
        (lambda *rest: 1, {"name": "many"}, "rest"),
    ],
)
async def test_what_is_no_tool_is_refused_with_the_reason(tmp_path, function, options, says):
    async with host_at(tmp_path) as host:
        with pytest.raises(UsageError, match=says):
            host.add(function, **options)
        assert host.tools.all() == () and host.plugins.all() == ()


async def test_a_name_that_is_taken_is_refused_with_its_owner_named(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "dice.py").write_text(DICE)
    async with host_at(tmp_path) as host:
        with pytest.raises(UsageError, match=r"'dice' \(.*dice\.py:\d"):
            host.add(where, name="Roll")
        host.add(where)
        with pytest.raises(UsageError, match="'inline'"):
            host.add(where)
        assert len((await called(host, "roll", count=3)).data) == 3
        assert {tool.name for tool in host.tools.all()} == {"roll", "where"}


async def test_it_keeps_its_name_against_a_file_and_lives_through_changes_in_the_folders(tmp_path):
    async with host_at(tmp_path) as host, host.hub.listen() as events:
        host.add(where, name="roll")
        file = tmp_path / "tools" / "dice.py"
        file.write_text(DICE + DICE.replace("def roll", "def again"))
        await tool_changed(events, "again")
        assert host.registry.snapshot.tools["roll"].plugin == "inline"
        (problem,) = host.problems.all()
        assert problem.file == str(file) and "'inline'" in problem.reason
        host.remove("roll")
        assert host.registry.snapshot.tools["roll"].plugin == "dice"
        assert host.problems.all() == ()
        assert len((await called(host, "roll", count=2)).data) == 2


async def test_a_file_of_that_name_is_a_plugin_beside_it(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "inline.py").write_text(DICE)
    async with host_at(tmp_path) as host:
        host.add(where)
        assert {one.name for one in host.plugins.all()} == {"inline", "tools.inline"}
        assert (await called(host, "roll")).ok and (await called(host, "where")).ok


async def test_one_that_is_taken_back_is_gone_while_its_call_ends_in_its_own_time(tmp_path):
    began, go = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        """Waits."""
        began.set()
        await go.wait()
        return "at last"

    async with host_at(tmp_path) as host:
        host.add(slow)
        running = asyncio.create_task(called(host, "slow"))
        await began.wait()
        host.remove("slow")
        assert host.tools.all() == () and host.plugins.all() == ()
        outcome = await called(host, "slow")
        assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")
        go.set()
        assert (await running).text == "at last"
        with pytest.raises(UsageError, match="'slow'"):
            host.remove("slow")
        assert host.add(slow).name == "slow"


async def test_what_is_odd_about_it_is_shown_and_works(tmp_path):
    def bare(thing):
        return thing

    async with host_at(tmp_path) as host:
        host.add(bare)
        assert {problem.refused for problem in host.problems.all()} == {False}
        assert any("docstring" in problem.reason for problem in host.problems.all())
        assert (await called(host, "bare", thing=[1, {"a": None}])).data == [1, {"a": None}]


async def test_a_sentence_reaches_it(tmp_path):
    async with host_at(tmp_path) as host:
        host.add(where, examples=["tell me your process", "tell me your process {count} times"])
        chat = host.store.chats.create()
        assert str(os.getpid()) in await host.conversations.turn(chat.id, "tell me your process 2 times")
