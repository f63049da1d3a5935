"""A file that is edited while everybody calls it: no call fails, nobody is taken back in time, nothing old is left running."""

from __future__ import annotations

import asyncio
import os

from tests.spine.homes import ended, gate, host_at, reached, tool_changed, tools_in

from etui.events import Kind

VERSION = '''import os
from etui import tool


@tool
def version() -> list[int]:
    """Which version runs, and where."""
    return [{number}, os.getpid()]
'''
SLOW = '''import os
from etui import Context, tool


@tool(risk="write")
def slow(ctx: Context) -> str:
    """Waits for the test."""
    with open(ctx.files.path("{word}")) as held:
        held.read()
    return "{word}"
'''
CLIENTS = 8
EDITS = 10


class Client:
    """Calls all the time, and keeps what came."""

    def __init__(self, host) -> None:
        self.host = host
        self.outcomes: list = []
        self.stopped = False
        self.task = asyncio.create_task(self.run())

    async def run(self) -> None:
        session = self.host.session("python")
        while not self.stopped:
            self.outcomes.append(await session.call(session.new_call("version", {})))
            await asyncio.sleep(0)  # a refusal waits for nothing

    async def stop(self) -> None:
        self.stopped = True
        await self.task


async def test_a_file_is_edited_again_and_again_while_everybody_calls_it(tmp_path):
    tools_in(tmp_path, VERSION.format(number=0))
    async with host_at(tmp_path) as host, host.hub.listen(Kind.TOOLS_CHANGED) as events:
        clients = [Client(host) for _ in range(CLIENTS)]
        watched: dict[int, int] = {}
        session = host.session("python")
        for number in range(1, EDITS + 1):
            tools_in(tmp_path, VERSION.format(number=number))
            await tool_changed(events, "version")
            answered, pid = (await session.call(session.new_call("version", {}))).data
            assert answered == number
            watched[pid] = os.pidfd_open(pid)
        for client in clients:
            await client.stop()
        for client in clients:
            assert {outcome.status for outcome in client.outcomes} == {"ok"}
            versions = [outcome.data[0] for outcome in client.outcomes]
            assert versions == sorted(versions)
        last = watched.pop(pid)
        for old in watched.values():
            await ended(old)
            os.close(old)
        os.close(last)
        while len(host.workers.report()) > 1:
            await asyncio.sleep(0)
        assert [worker.pid for worker in host.workers.report()] == [pid]
        assert host.problems.all() == ()


async def test_broken_saves_in_between_fail_no_call(tmp_path):
    file = tools_in(tmp_path, VERSION.format(number=0))
    async with host_at(tmp_path) as host, host.hub.listen() as events:
        clients = [Client(host) for _ in range(CLIENTS)]
        for number in range(1, 4):
            file.write_text("def broken(:\n")
            while (event := await events.next()).kind is not Kind.PROBLEM:
                pass
            file.write_text(VERSION.format(number=number))
            while event.kind is not Kind.PROBLEM_GONE:
                event = await events.next()
        for client in clients:
            await client.stop()
            assert {outcome.status for outcome in client.outcomes} == {"ok"}
            versions = [outcome.data[0] for outcome in client.outcomes]
            assert versions == sorted(versions)


async def test_a_file_whose_name_is_no_text_does_not_end_that_the_others_are_followed(tmp_path):
    tools_in(tmp_path, VERSION.format(number=0))
    async with host_at(tmp_path) as host, host.hub.listen() as events:
        with open(os.fsencode(tmp_path / "tools") + b"/\xff.py", "w") as odd:
            odd.write(VERSION.format(number=0))
        while (event := await events.next()).kind is not Kind.PROBLEM:
            pass
        assert event.data["problem"]["what"] == r"\udcff.py"
        tools_in(tmp_path, VERSION.format(number=1))
        await tool_changed(events, "version")
        session = host.session("python")
        assert (await session.call(session.new_call("version", {}))).data[0] == 1


async def test_a_call_under_way_ends_in_the_code_in_which_it_began(tmp_path):
    tools_in(tmp_path, SLOW.format(word="old"))
    gates = [gate(tmp_path, word) for word in ("old", "new")]
    async with host_at(tmp_path) as host, host.hub.listen(Kind.TOOLS_CHANGED) as events:
        session = host.session("python")
        old = asyncio.create_task(session.call(session.new_call("slow", {})))
        async with reached(gates[0]):
            tools_in(tmp_path, SLOW.format(word="new"))
            await tool_changed(events, "slow")
            new = asyncio.create_task(session.call(session.new_call("slow", {})))
            async with reached(gates[1]):
                assert not old.done()
                workers = host.workers.report()
                assert sorted((worker.leaving, worker.calls) for worker in workers) == [(False, 1), (True, 1)]
                gone = os.pidfd_open(next(worker.pid for worker in workers if worker.leaving))
        assert ((await old).text, (await new).text) == ("old", "new")
        await ended(gone)
        os.close(gone)


async def test_a_file_that_is_removed_and_comes_back_under_load_never_breaks_a_call(tmp_path):
    file = tools_in(tmp_path, VERSION.format(number=0))
    async with host_at(tmp_path) as host, host.hub.listen(Kind.TOOLS_CHANGED) as events:
        clients = [Client(host) for _ in range(CLIENTS)]
        for number in range(1, 3):
            file.unlink()
            while "version" in host.registry.snapshot.tools:
                await events.next()
            tools_in(tmp_path, VERSION.format(number=number))
            while "version" not in host.registry.snapshot.tools:
                await events.next()
        for client in clients:
            await client.stop()
        outcomes = [outcome for client in clients for outcome in client.outcomes]
        # While it is away, it is not there; it never fails.
        assert {(outcome.status, outcome.rule) for outcome in outcomes} == {("ok", ""), ("refused", "find")}
