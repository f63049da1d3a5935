"""The same questions to every runner: a worker forked from the zygote, a spawned worker, and the program's own process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from tests.run.kit import Bench, Desk, bench, job

from etui.errors import ServiceError
from etui.outcome import Status


@pytest.fixture(params=["zygote", "spawn", "inline"])
async def runner(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    async with bench(request.param) as made:
        yield made


async def test_a_coroutine_and_a_function_give_their_results(runner):
    for name in ("add", "add_in_thread"):
        outcome = await runner.call(name, {"a": 2, "b": 3})
        assert (outcome.status, outcome.data) == (Status.OK, 5)
        assert 0 < outcome.seconds < 10


async def test_a_tool_knows_its_call_and_its_caller(runner):
    wanted = job("who")
    outcome = await runner.runner.run(wanted)
    assert outcome.data == [wanted.call.id, "s1", "terminal", "go"]


async def test_arguments_arrive_as_json_whatever_they_hold(runner):
    outcome = await runner.call("echo", {"big": 2**70, "nan": float("nan"), "text": "a\ud800", "deep": [[1, {"x": None}]]})
    assert outcome.data == {"big": 2**70, "nan": None, "text": "a?", "deep": [[1, {"x": None}]]}


async def test_arguments_that_cannot_be_sent_fail_before_the_tool_runs(runner):
    outcome = await runner.call("echo", {"x": object()})
    assert outcome.status is Status.FAILED
    assert "did not run" in outcome.text


async def test_results_become_json_values(runner):
    outcome = await runner.call("values")
    assert outcome.data == {
        "nan": None,
        "inf": None,
        "big": 2**80,
        "surrogate": "a?b",
        "number_keys": {"1": "one"},
        "bytes": "YWI=",
        "tuple": [1, 2],
        "sound": 1.5,
    }
    assert (await runner.call("record")).data == {"x": 1, "y": 2}


async def test_a_lone_surrogate_in_a_text_is_replaced(runner):
    assert (await runner.call("text_with_surrogate")).text == "x?y"


async def test_pictures_and_silence_come_through(runner):
    outcome = await runner.call("picture")
    assert outcome.images[0].data == b"\x89PNG\x00\xff"
    assert outcome.silent
    assert not (await runner.call("add", {"a": 1, "b": 1})).silent
    assert (await runner.call("add", {"a": 1, "b": 1}, silent=True)).silent


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("unserialisable", {}, "cannot be written as JSON"),
        ("deep", {"levels": 5000}, "nested more than"),
        ("deep", {"levels": 150}, "nested more than"),
        ("huge", {}, "64.0 MB"),
    ],
)
async def test_a_result_that_cannot_be_sent_is_one_failed_call(runner, name, arguments, words):
    outcome = await runner.call(name, arguments)
    assert outcome.status is Status.FAILED
    assert words in outcome.text
    assert (await runner.call("add", {"a": 1, "b": 1})).data == 2


async def test_a_result_may_be_nested_as_deep_as_is_allowed(runner):
    assert (await runner.call("deep", {"levels": 98})).status is Status.OK


@pytest.mark.parametrize("name", ["raises", "raises_in_thread"])
async def test_of_an_unexpected_exception_only_the_owner_gets_the_text(runner, name):
    outcome = await runner.call(name)
    assert outcome.status is Status.FAILED
    kind = "ValueError" if name == "raises" else "KeyError"
    assert outcome.text == f"{name} failed: {kind} (reference {outcome.reference})"
    assert len(outcome.reference) == 4
    assert "hunter2" not in outcome.text
    assert "hunter2" in outcome.detail


async def test_no_failure_is_without_words(runner):
    assert "TimeoutError" in (await runner.call("raises_nothing_said")).text
    assert (await runner.call("fails_mutely")).text == "fails_mutely failed and gave no reason."
    assert (await runner.call("fails_politely")).text == "The oven is off."
    assert "cancelled itself" in (await runner.call("cancels_itself")).text


async def test_a_refusal_is_the_tools_own(runner):
    outcome = await runner.call("refuses")
    assert (outcome.status, outcome.text, outcome.rule) == (Status.REFUSED, "Not on Sundays.", "tool")


@pytest.mark.parametrize("name", ["exits", "exits_in_thread", "interrupts"])
async def test_ending_the_program_is_one_failed_call(runner, name):
    await runner.call("count")
    outcome = await runner.call(name)
    assert outcome.status is Status.FAILED
    assert "tried to end the program" in outcome.text
    assert (await runner.call("count")).data == 2


async def test_a_tool_that_is_gone_is_refused(runner):
    if hasattr(runner.runner, "remove_plugin"):
        runner.runner.remove_plugin("odd")
    else:
        runner.runner.remove("add")
    outcome = await runner.call("add", {"a": 1, "b": 1})
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")
    assert "'add'" in outcome.text


@pytest.mark.parametrize("name", ["sleeps", "blocks", "stubborn"])
async def test_a_deadline_ends_the_wait_whatever_the_tool_does(runner, name):
    began = time.monotonic()
    outcome = await runner.call(name, {"seconds": runner.longest}, seconds=0.15)
    assert outcome.status is Status.TIMED_OUT
    assert outcome.text == f"{name!r} took longer than 0.15 s and was ended."
    assert time.monotonic() - began < runner.longest
    assert (await runner.call("add", {"a": 1, "b": 1})).data == 2


async def test_a_coroutine_that_is_cancelled_in_time_costs_nobody_else_anything(runner):
    await runner.call("count")
    long = asyncio.create_task(runner.call("sleeps", {"seconds": 1}))
    await runner.call("sleeps", seconds=0.05)
    assert (await long).data == "slept"
    assert (await runner.call("count")).data == 2


@pytest.mark.parametrize("name", ["sleeps", "blocks", "stubborn"])
async def test_stopping_a_call_frees_its_caller_soon(runner, name):
    desk = Desk()
    call = asyncio.create_task(runner.call(name, {"seconds": runner.longest}, desk=desk, seconds=None))
    await desk.next("say")
    began = time.monotonic()
    call.cancel()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert time.monotonic() - began < runner.longest
    assert (await runner.call("add", {"a": 1, "b": 1})).data == 2


async def test_calls_run_side_by_side(runner):
    wanted = [runner.call("sleeps", {"seconds": 0.3}) for _ in range(20)]
    wanted += [runner.call("blocks", {"seconds": 0.3}) for _ in range(20)]
    began = time.monotonic()
    outcomes = await asyncio.gather(*wanted)
    assert {outcome.status for outcome in outcomes} == {Status.OK}
    assert time.monotonic() - began < 6


@pytest.mark.parametrize("name", ["asks", "asks_in_thread"])
async def test_a_tool_asks_the_host(runner, name):
    desk = Desk()

    async def answer(service, arguments):
        return {"service": service, "key": arguments["key"]}

    desk.answer = answer
    assert (await runner.call(name, desk=desk)).data == {"service": "state.get", "key": "k"}


@pytest.mark.parametrize("name", ["asks", "asks_in_thread"])
async def test_a_service_that_refuses_raises_in_the_tool(runner, name):
    desk = Desk()

    async def answer(service, arguments):
        raise ServiceError("There is no such key.")

    desk.answer = answer
    outcome = await runner.call(name, desk=desk)
    assert outcome.status is Status.FAILED
    assert "ServiceError" in outcome.text
    assert "There is no such key." in outcome.detail


async def test_asking_with_what_is_no_json_raises_in_the_tool(runner):
    assert "ServiceError" in (await runner.call("asks_what_is_no_json")).text


async def test_what_a_tool_says_reaches_the_host_in_order_and_before_the_end(runner):
    desk = Desk()
    assert (await runner.call("tells", desk=desk)).data == "told"
    assert desk.asked == [
        ("say", {"text": "one"}),
        ("progress", {"fraction": 0.5, "text": "half"}),
        ("progress", {"fraction": None, "text": "lost"}),
        ("progress", {"fraction": 1.0, "text": "over"}),
        ("progress", {"fraction": None, "text": "unknown"}),
        ("say", {"text": "two"}),
    ]


async def test_a_thread_may_say_things_too(runner):
    desk = Desk()
    await runner.call("tells_in_thread", desk=desk)
    assert desk.asked == [("say", {"text": "from a thread"}), ("progress", {"fraction": 0.25, "text": "quarter"})]


@pytest.mark.parametrize("name", ["asks_person", "asks_person_in_thread"])
async def test_the_time_that_a_person_takes_does_not_count(runner, name):
    desk = Desk()
    await runner.call("add", {"a": 1, "b": 1})

    async def answer(service, arguments):
        await asyncio.sleep(0.5)
        return {"state": "answered", "answer": "yes"}

    desk.answer = answer
    outcome = await runner.call(name, desk=desk, seconds=0.25)
    assert outcome.status is Status.OK
    assert outcome.data == {"state": "answered", "answer": "yes"}


async def test_the_clock_goes_on_after_a_person_has_answered(runner):
    desk = Desk()
    task = asyncio.create_task(runner.call("asks_person", desk=desk, seconds=0.2))
    never = asyncio.Event()

    async def answer(service, arguments):
        if service == "ask":
            return "yes"
        await never.wait()
        return None

    desk.answer = answer
    assert (await task).status is Status.OK
    assert (await runner.call("asks", desk=desk, seconds=0.2)).status is Status.TIMED_OUT


async def test_a_blocking_tool_leaves_no_gap_in_the_loop(runner):
    call = asyncio.create_task(runner.call("blocks", {"seconds": 0.4}))
    gap = 0.0
    while not call.done():
        before = time.monotonic()
        await asyncio.sleep(0.01)
        gap = max(gap, time.monotonic() - before)
    assert call.result().status is Status.OK
    assert gap < 0.3
