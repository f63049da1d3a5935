"""When the host looks for an answer before it lets its loop go on: with a clock that each glance at it moves on."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from tests.run.kit import Desk, bench

from etui.outcome import Status
from etui.run.glance import LOOK, SOON, TURN, Glances
from etui.run.worth import TRIES

TICK = 10e-6


class Clock:
    """Goes on by `TICK` whenever it is read."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += TICK
        return self.now


class Sent:
    """A worker that answers after so many seconds of the clock, and a host that sends it calls."""

    def __init__(self, count: int = 2) -> None:
        self.clock = Clock()
        self.glances = Glances(self.clock, count)
        self.looks: dict[str, Any] = {}
        self.calls: dict[int, object] = {}
        self.reads = True

    def glance(self) -> bool:
        self.looked += 1
        if self.clock.now >= self.answers:
            self.running.end.set_result("done")
        return self.reads

    async def call(self, seconds: float, tool: str = "quick", others: int = 0) -> bool:
        """One call; whether its end was seen before the loop went on."""
        self.looked = 0
        self.calls = dict.fromkeys(range(1 + others))
        self.answers = self.clock.now + seconds
        end = asyncio.get_running_loop().create_future()
        self.running: Any = SimpleNamespace(job=SimpleNamespace(tool=SimpleNamespace(name=tool)), end=end, sent=0.0)
        worker: Any = self
        self.glances.sent(worker, self.running)
        seen = end.done()
        if not seen:
            self.clock.now = max(self.clock.now, self.answers)
            end.set_result("done")
        self.glances.ended(worker, self.running)
        return seen


async def test_an_answer_is_looked_for_once_the_one_before_came_at_once() -> None:
    sent = Sent()
    assert not await sent.call(LOOK / 2)
    assert await sent.call(LOOK / 2)


async def test_no_look_is_longer_than_it_may_be() -> None:
    sent = Sent()
    await sent.call(LOOK / 2)
    before = sent.clock.now
    assert not await sent.call(2 * LOOK)
    assert 0 < sent.looked <= LOOK / TICK + 1
    assert sent.clock.now - before < 2 * LOOK + 5 * TICK


async def test_a_tool_that_takes_its_time_is_not_looked_for_again() -> None:
    sent = Sent()
    await sent.call(LOOK / 2)
    await sent.call(2 * SOON)
    await sent.call(LOOK / 2)
    assert not sent.looked


async def test_each_tool_of_a_worker_is_known_by_its_own_answers() -> None:
    sent = Sent()
    await sent.call(LOOK / 2)
    await sent.call(1.0, "slow")
    assert await sent.call(LOOK / 2)
    await sent.call(LOOK / 2, "slow")
    assert not sent.looked


async def test_a_worker_that_has_more_to_do_is_not_looked_at() -> None:
    sent = Sent()
    await sent.call(LOOK / 2)
    await sent.call(LOOK / 2, others=1)
    assert not sent.looked


async def test_a_worker_from_which_nothing_is_read_is_left_alone() -> None:
    sent = Sent()
    await sent.call(LOOK / 2)
    sent.reads = False
    await sent.call(LOOK / 2)
    assert sent.looked == 1


async def test_looking_in_vain_again_and_again_ends_it_for_a_while() -> None:
    sent = Sent()
    await sent.call(LOOK / 2)
    looked = []
    for _ in range(TRIES + 1):
        await sent.call(1.5 * LOOK)
        looked.append(sent.looked > 0)
        await asyncio.sleep(0)
    assert looked == [True] * TRIES + [False]


async def test_the_loop_has_its_turn_however_quick_the_answers_are() -> None:
    sent = Sent()
    await sent.call(LOOK / 2)
    while await sent.call(LOOK / 2):
        assert sent.clock.now < 101
    assert TURN <= sent.clock.now - 100 < 2 * TURN
    assert not await sent.call(LOOK / 2)
    await asyncio.sleep(0)
    assert await sent.call(LOOK / 2)


async def test_on_one_core_nothing_is_looked_for() -> None:
    sent = Sent(count=1)
    await sent.call(LOOK / 2)
    await sent.call(LOOK / 2)
    assert not sent.looked


async def test_calls_in_a_row_from_one_task_let_others_have_their_turn() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with bench("zygote") as made:
        task = asyncio.create_task(others())
        for number in range(300):
            outcome = await made.call("add", {"a": number, "b": 1})
            assert outcome.status is Status.OK and outcome.data == number + 1
        task.cancel()
    assert turns > 5


async def test_what_a_tool_said_is_told_before_its_end_however_soon_that_is_seen() -> None:
    async with bench("zygote") as made:
        for _ in range(100):
            desk = Desk()
            await made.call("tells", desk=desk)
            assert [said["text"] for said in desk.of("say")] == ["one", "two"]
