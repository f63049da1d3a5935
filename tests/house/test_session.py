"""The one door: find, prepare, gate, journal, run, outcome, told. With a real store and a runner that does as told."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from etui import gate
from etui.budgets import deadline
from etui.cards import Cards
from etui.errors import StoreError
from etui.events import Hub, Kind
from etui.keeping import capped
from etui.outcome import File, Image, Outcome, Status
from etui.owner.approvals import Approvals
from etui.registry import build
from etui.session import Session
from etui.session.parts import Parts
from etui.settings import Settings
from etui.store import Store
from etui.store.redact import mask
from etui.tool import Plugin, Problem, Risk, Tool

COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "additionalProperties": False}


def tool(name="roll", **more) -> Tool:
    fields = {
        "description": "",
        "parameters": COUNT,
        "contract": "etui",
        "plugin": "dice",
        "toolset": "plugin:dice",
        "digest": "1",
    }
    return Tool(name=name, **fields | more)


class House:
    """A session with a real gate and a real store."""

    def __init__(self, store: Store, *tools: Tool, problems: tuple[Problem, ...] = ()) -> None:
        self.store = store
        self.hub = Hub()
        self.settings = Settings()
        self.cards = Cards(self.hub, clock=lambda: 0.0, seconds=lambda: self.settings.ask_seconds)
        self.jobs = []
        self.result: Outcome | BaseException = Outcome(status=Status.OK, text="done")
        plugin = Plugin(name="dice", contract="etui", source="tools", path="dice.py", tools=tools, problems=problems)
        self.snapshot = build([plugin], {}, generation=1)[0]
        self.off: frozenset[str] = frozenset()
        self.statuses_while_running = []
        self.parts = Parts(
            snapshot=lambda: self.snapshot,
            settings=lambda: self.settings,
            decide=gate.decide,
            off=lambda: self.off,
            enforced=lambda _: True,
            memory=Approvals(store.values),
            journal=store.journal,
            runner=lambda _: self,
            serve=lambda *_: None,
            keep=store.blobs.put,
            mask=mask,
            hub=self.hub,
            cards=self.cards,
            taught=lambda _: (),
        )

    async def run(self, job):
        self.jobs.append(job)
        self.statuses_while_running.append(self.store.journal.get(job.call.id).status)
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result

    def session(self, **more) -> Session:
        return Session(self.parts, **{"channel": "console", "attended": True} | more)

    async def call(self, name="roll", arguments=None, **more) -> Outcome:
        session = self.session(**more)
        return await session.call(session.new_call(name, arguments if arguments is not None else {}))


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "etui.db")
    yield store
    store.close()


async def test_a_call_is_written_down_before_it_runs_and_after(store):
    house = House(store, tool())
    outcome = await house.call(arguments={"count": 3})
    assert outcome.ok
    assert house.statuses_while_running == ["running"]
    entry = store.journal.audit()[0]
    assert (entry.tool, entry.arguments, entry.status, entry.channel) == ("roll", {"count": 3}, "ok", "console")


async def test_a_call_that_cannot_be_written_down_does_not_run_and_says_why(store):
    house = House(store, tool(risk=Risk.WRITE))
    session = house.session()
    twice = session.new_call("roll", {}, id="one")
    assert (await session.call(twice)).ok
    events = house.hub.listen()
    again = await session.call(twice)
    assert (again.status, again.why, len(house.jobs)) == (Status.FAILED, "unwritten", 1)
    assert again.text.endswith("There has been a call with the id 'one'; none is run twice.")
    assert [(await events.next()).data.get(key) for key in ("runs", "status")] == [False, "failed"]
    assert [entry.status for entry in store.journal.audit()] == ["ok"]


async def test_on_a_full_disk_a_call_ends_in_a_sentence_whether_it_may_run_or_not(store, monkeypatch):
    def full(*_, **__):
        raise StoreError("The disk is full.")

    house = House(store, tool(risk=Risk.WRITE))
    for name in ("begin", "refuse"):
        monkeypatch.setattr(store.journal, name, full)
    outcome = await house.call()
    assert (outcome.status, house.jobs) == (Status.FAILED, [])
    assert outcome.text == "roll did not run, for it could not be written down before. The disk is full."
    assert (await house.call("nothing")).rule == "find"


async def test_what_happened_is_told_in_order_and_once(store):
    house = House(store, tool())
    events = house.hub.listen()
    await house.call()
    started, ended = await events.next(), await events.next()
    assert (started.kind, ended.kind) == (Kind.CALL_STARTED, Kind.CALL_ENDED)
    assert started.call == ended.call
    assert ended.data["status"] == "ok"


async def test_secrets_are_masked_in_what_is_told_and_not_in_what_runs(store):
    anything = {"type": "object", "properties": {"password": {"type": "string"}}}
    house = House(store, tool(parameters=anything))
    events = house.hub.listen()
    await house.call(arguments={"password": "hunter2"})
    assert "hunter2" not in msgspec.json.encode((await events.next()).data).decode()
    assert house.jobs[0].arguments == {"password": "hunter2"}


async def test_an_unknown_tool_is_refused_with_the_nearest_names(store):
    house = House(store, tool("set_timer"), tool("roll"))
    outcome = await house.call("set_tmer")
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")
    assert "set_timer" in outcome.text
    assert store.journal.audit()[0].status == "refused"


async def test_a_tool_whose_file_did_not_load_says_why(store):
    problem = Problem(what="spin.py", reason="It has a syntax error.", file="spin.py", line=3, plugin="spin")
    house = House(store, tool(), problems=(problem,))
    outcome = await house.call("spin")
    assert "syntax error" in outcome.text
    assert "spin.py:3" in outcome.text


@pytest.mark.parametrize(
    "name", ["memory:read_graph", "Memory.read_graph", "functions.memory__read_graph", "memory-read-graph"]
)
async def test_other_separators_and_case_mean_the_same_tool_where_only_one_matches(store, name):
    house = House(store, tool("memory__read_graph"))
    assert (await house.call(name)).ok


async def test_a_name_that_could_be_two_tools_is_asked_back(store):
    house = House(store, tool("set_volume"), tool("setvolume"))
    outcome = await house.call("Set-Volume")
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")
    assert "say which" in outcome.text


async def test_a_loosely_spelled_name_does_not_pass_the_gate_more_easily(store):
    house = House(store, tool("run_it", risk=Risk.EXEC))
    assert (await house.call("Run:It", attended=False)).status is Status.NEEDS_APPROVAL
    assert house.jobs == []


async def test_another_plugins_tool_is_not_taken(store):
    house = House(store, tool())
    session = house.session()
    outcome = await session.call(session.new_call("roll", {}, plugin="cards"))
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")


async def test_arguments_that_do_not_fit_never_reach_the_tool(store):
    house = House(store, tool())
    outcome = await house.call(arguments={"count": "many"})
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "arguments")
    assert "count" in outcome.text
    assert house.jobs == []


async def test_a_number_in_quotes_is_repaired_without_loss(store):
    house = House(store, tool())
    await house.call(arguments='{"count": "3"}')
    assert house.jobs[0].arguments == {"count": 3}


async def test_a_refusal_names_the_rule_the_owner_of_the_name_and_the_place(store):
    house = House(store, tool(file="dice.py", line=4, risk=Risk.EXEC))
    outcome = await house.call(attended=False)
    assert outcome.detail == "Rule 'allow_exec'; 'roll' belongs to plugin 'dice' (dice.py:4)."
    assert store.journal.audit()[0].detail == outcome.detail


async def test_nobody_there_is_an_end_and_never_a_wait(store):
    house = House(store, tool(risk=Risk.EXEC))
    outcome = await house.call(attended=False)
    assert (outcome.status, outcome.rule) == (Status.NEEDS_APPROVAL, "allow_exec")
    assert house.cards.open() == []


async def answering(house, choice):
    events = house.hub.listen(Kind.CARD_OPENED)

    async def answer():
        card = (await events.next()).data["card"]
        assert house.cards.answer(card["id"], choice)
        return card

    return asyncio.create_task(answer())


async def test_a_card_shows_the_exact_arguments_that_run(store):
    house = House(store, tool(risk=Risk.EXEC))
    answer = await answering(house, "approve")
    outcome = await house.call(arguments='{"count": "3", "extra": 1}')
    card = await answer
    assert outcome.ok
    assert card["arguments"] == house.jobs[0].arguments == {"count": 3}


async def test_a_person_who_declines_is_the_end_of_it(store):
    house = House(store, tool(risk=Risk.EXEC))
    answer = await answering(house, "decline")
    outcome = await house.call()
    await answer
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "declined")
    assert house.jobs == []


async def test_always_for_this_call_asks_again_for_another(store):
    house = House(store, tool(risk=Risk.EXEC))
    await (await _approved(house, "always_call", {"count": 1}))
    assert (await house.call(arguments={"count": 1}, attended=False)).ok
    assert (await house.call(arguments={"count": 2}, attended=False)).status is Status.NEEDS_APPROVAL


async def test_always_for_this_tool_holds_on_this_channel_only(store):
    house = House(store, tool(risk=Risk.EXEC))
    await (await _approved(house, "always_tool", {"count": 1}))
    assert (await house.call(arguments={"count": 2}, attended=False)).ok
    assert (await house.call(arguments={"count": 2}, attended=False, channel="phone")).status is Status.NEEDS_APPROVAL


async def _approved(house, choice, arguments):
    answer = await answering(house, choice)
    assert (await house.call(arguments=arguments)).ok
    return answer


async def test_a_card_that_nobody_answers_ends_as_needs_approval(store):
    house = House(store, tool(risk=Risk.EXEC))
    house.settings = msgspec.structs.replace(house.settings, ask_seconds=0.01)
    outcome = await house.call()
    assert outcome.status is Status.NEEDS_APPROVAL
    assert house.cards.open() == []


async def test_a_choice_that_is_not_on_the_card_is_no_answer(store):
    house = House(store, tool(risk=Risk.EXEC))
    events = house.hub.listen(Kind.CARD_OPENED)
    call = asyncio.create_task(house.call())
    card = (await events.next()).data["card"]
    assert not house.cards.answer(card["id"], "sure")
    assert not house.cards.answer("other", "approve")
    assert house.cards.answer(card["id"], "decline")
    await call
    assert not house.cards.answer(card["id"], "approve")


async def test_a_call_that_is_stopped_has_one_end_in_the_journal(store):
    house = House(store, tool())
    house.result = asyncio.CancelledError()
    with pytest.raises(asyncio.CancelledError):
        await house.call()
    assert store.journal.audit()[0].status == "cancelled"


async def test_a_long_result_is_capped_and_kept_whole(store):
    house = House(store, tool())
    house.result = Outcome(status=Status.OK, text="a" * 2_000_000)
    outcome = await house.call()
    assert len(outcome.text) <= 16_000
    assert "1,984,000" in outcome.text
    assert store.blobs.get(outcome.files[0].id).data == b"a" * 2_000_000


async def test_pictures_go_to_the_store_and_never_into_text(store):
    house = House(store, tool())
    house.result = Outcome(
        status=Status.OK, text="here", images=(Image("image/png", b"PNG"),), files=(File("a.txt", data=b"x"),)
    )
    outcome = await house.call()
    assert outcome.images[0].data == b""
    assert store.blobs.get(outcome.images[0].id).data == b"PNG"
    assert store.blobs.get(outcome.files[0].id).name == "a.txt"


async def test_a_turn_that_failed_three_times_may_not_go_on(store):
    house = House(store, tool())
    house.result = Outcome(status=Status.FAILED, text="no")
    session = house.session()
    ends = [await session.call(session.new_call("roll", {"count": n}, turn="t")) for n in range(5)]
    assert [end.status for end in ends] == [Status.FAILED] * 3 + [Status.REFUSED] * 2
    assert ends[-1].rule == "loop_guard"
    assert (await session.call(session.new_call("roll", {}, turn="u"))).status is Status.FAILED


def test_the_view_is_the_same_tuple_until_something_changes(store):
    house = House(store, tool("a"), tool("b"))
    session = house.session()
    view = session.tools()
    assert session.tools() is view
    house.off = frozenset({"a"})
    assert [one.name for one in session.tools()] == ["b"]


def test_a_session_sees_only_its_toolsets(store):
    house = House(store, tool("a", toolset="plugin:x"), tool("b"))
    assert [one.name for one in house.session(toolsets=frozenset({"plugin:x"})).tools()] == ["a"]


def test_a_deadline_can_be_an_argument_up_to_the_tools_maximum():
    timed = tool(timeout=30.0, arg_timeout="seconds", max_timeout=60.0)
    assert deadline(timed, {}) == 30.0
    assert deadline(timed, {"seconds": 5}) == 5.0
    assert deadline(timed, {"seconds": 900}) == 60.0
    assert deadline(timed, {"seconds": True}) == deadline(timed, {"seconds": -1}) == deadline(timed, {"seconds": "x"}) == 30.0


def test_a_capped_text_says_how_much_is_missing():
    text = capped("x" * 1000, 300)
    assert len(text) <= 300
    assert "700 of 1,000" in text
