"""Section B: names that are too long, odd, taken twice, or called by another spelling."""

from __future__ import annotations

import asyncio
import re

import pytest
from tests.cases.desk import SAYS, Desk, desk_at

from etui.agent.scripted import Scripted, call
from etui.cards import ALWAYS_TOOL
from etui.events import Kind
from etui.home import Home
from etui.host import open_host
from etui.outcome import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

STRICT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")
HEAD = "from etui import tool\n"


def named(name: str, function: str, word: str) -> str:
    return f"{HEAD}\n@tool(name={name!r})\ndef {function}() -> str:\n    'Says.'\n    return {word!r}\n"


ODD = [
    *(
        "3d_print",
        "-dash",
        "with space",
        "dots.in.it",
        "colon:name",
        "slash/name",
        "Grüße",
        "日本語",
        "emoji🎲",
        "a" * 70,
        "b" * 300,
    ),
    *("new\nline", "quote'\"", "<b>bold</b>", "a%20b", "__dunder__", "-", "$", "9" * 65, "x" * 64 + "y", "x" * 64 + "z"),
]


async def test_every_name_that_is_offered_satisfies_the_strictest_rule(desk: Desk):
    """R016 R017: whatever the author wrote, the tool is offered under a sound name that can be called, or refused by name."""
    for number, name in enumerate(ODD):
        desk.save(f"odd_{number}.py", named(name, f"f{number}", f"word {number}"))
    await desk.fence()
    offered = {tool.plugin: tool for tool in desk.host.tools.all()}
    for number, name in enumerate(ODD):
        tool = offered.get(f"odd_{number}")
        if tool is None:
            [problem] = [problem for problem in desk.problems(f"odd_{number}") if problem.refused]
            assert "name" in problem.reason, name
            continue
        assert STRICT.match(tool.name), (name, tool.name)
        assert await desk.value(tool.name) == f"word {number}"
    assert len({name.casefold() for name in desk.names()}) == len(desk.names())


async def test_a_shortened_name_is_the_same_after_a_restart(tmp_path):
    """R016: a name of 58 characters is kept whole; longer ones keep one short form, and two alike stay apart."""
    whole = "light_" + "a" * 52
    async with desk_at(tmp_path) as desk:
        desk.save("whole.py", named(whole, "f", "whole"))
        desk.save("first.py", named("turn_on_" + "b" * 70 + "_first", "f", "first"))
        desk.save("second.py", named("turn_on_" + "b" * 70 + "_second", "f", "second"))
        await desk.fence()
        before = {tool.name: tool.plugin for tool in desk.host.tools.all()}
        assert before[whole] == "whole"
    for _ in range(2):
        async with desk_at(tmp_path) as desk:
            assert {tool.name: tool.plugin for tool in desk.host.tools.all()} == before


def volume(word: str, name: str = "set_volume") -> str:
    return named(name, "f", word)


async def test_of_two_that_take_one_name_the_first_keeps_it_whatever_comes_later(tmp_path):
    """R019 R020: also one that differs in case only; also over restarts; the owner gets one notice that names both."""
    async with desk_at(tmp_path) as desk:
        desk.save("zeta.py", volume("zeta"))
        await desk.offered("set_volume")
        desk.save("alpha.py", volume("alpha"))
        desk.save("beta.py", volume("beta", "SET_VOLUME"))
        await desk.until(lambda: desk.problems("alpha") and desk.problems("beta"))
        assert await desk.value("set_volume") == "zeta"
        for loser in ("alpha", "beta"):
            [problem] = desk.problems(loser)
            assert "'zeta'" in problem.reason and "zeta.py:" in problem.reason and f"{loser}.py" in problem.hint
            assert len([event for event in desk.spoken() if event.data["problem"]["plugin"] == loser]) == 1
    for _ in range(2):
        async with desk_at(tmp_path) as desk:
            assert [name for name in desk.names() if name.casefold() == "set_volume"] == ["set_volume"]
            assert await desk.value("set_volume") == "zeta"
    async with desk_at(tmp_path) as desk:
        (desk.tools / "zeta.py").unlink()
        await desk.serves("set_volume", "alpha")
        assert desk.problems("alpha") == []


async def test_two_that_become_equal_once_made_sound_are_never_both_offered_under_it(desk: Desk):
    """R019"""
    desk.save("sane_a.py", named("wake-up", "f", "a"))
    await desk.until(lambda: any(tool.plugin == "sane_a" for tool in desk.host.tools.all()))
    desk.save("sane_b.py", named("wake.up", "f", "b"))
    desk.save("sane_c.py", named("wake_up", "f", "c"))
    await desk.fence()
    names = [tool.name for tool in desk.host.tools.all() if tool.plugin.startswith("sane_")]
    assert len({name.casefold() for name in names}) == len(names)
    told = [problem.plugin for problem in desk.host.problems.all() if problem.refused and problem.plugin.startswith("sane_")]
    assert sorted(told + [tool.plugin for tool in desk.host.tools.all() if tool.plugin.startswith("sane_")]) == [
        "sane_a",
        "sane_b",
        "sane_c",
    ]


async def test_no_list_of_tools_that_a_model_gets_holds_a_name_twice(tmp_path):
    """R019: as the model is asked, with clashes in case, in sanitised form and over three files."""
    model = Scripted([lambda ask: "Seen."])
    tools = tmp_path / "tools"
    tools.mkdir()
    for number, name in enumerate(["set_volume", "Set_Volume", "set-volume", "set.volume", "set_volume", "other"]):
        (tools / f"file_{number}.py").write_text(named(name, "f", str(number)))
    async with open_host(Home(tmp_path), {"shelf": False}, environ={}, model=model) as host:
        chat = host.store.chats.create(channel="console")
        assert await host.conversations.turn(chat.id, "hello") == "Seen."
    names = [view.name for view in model.asked[0].tools]
    assert names
    assert len({name.casefold() for name in names}) == len(names)


RISKY = HEAD + "\n@tool(name='account_action', risk='exec')\ndef {name}() -> str:\n    'Acts.'\n    return '{word}'\n"


async def test_an_always_belongs_to_the_code_and_not_to_the_name(tmp_path):
    """R020: neither a newcomer in another file nor a changed file inherits it."""
    async with desk_at(tmp_path, allow_exec="ask") as desk:

        async def asked(answer: str) -> tuple[object, bool]:
            since = len(desk.told)
            task = asyncio.create_task(desk.call("account_action", attended=True))
            await desk.until(lambda: task.done() or desk.events(Kind.CARD_OPENED, since))
            opened = bool(desk.events(Kind.CARD_OPENED, since))
            for card in desk.host.cards.open():
                assert desk.host.cards.answer(card.id, answer)
            return (await task).text, opened

        file = desk.save("first.py", RISKY.format(name="f", word="look-up"))
        await desk.offered("account_action")
        assert await asked(ALWAYS_TOOL) == ("look-up", True)
        assert await asked("decline") == ("look-up", False)
        desk.save("second.py", RISKY.format(name="f", word="delete everything"))
        await desk.until(lambda: desk.problems("second"))
        assert await asked("decline") == ("look-up", False)
        file.unlink()
        await desk.until(lambda: not desk.problems("second"))
        text, opened = await asked("decline")
        assert opened and "declined" in text
        (desk.tools / "second.py").unlink()
        desk.save("first.py", RISKY.format(name="f", word="changed"))
        await desk.until(lambda: [tool.plugin for tool in desk.host.tools.all()] == ["first"])
        text, opened = await asked("decline")
        assert opened and "declined" in text


async def test_an_unknown_name_is_answered_with_the_nearest_and_repeats_come_to_an_end(tmp_path):
    """R022: through a whole turn; the same unknown call four times."""
    model = Scripted([[call("get_wether", {"city": "Oslo"})]] * 4 + ["I cannot."])
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "weather.py").write_text(SAYS.format(name="get_weather", word="sunny"))
    async with open_host(Home(tmp_path), {"shelf": False}, environ={}, model=model) as host:
        chat = host.store.chats.create(channel="console")
        answer = await host.conversations.turn(chat.id, "weather?")
        results = [message for message in host.store.chats.messages(chat.id) if message.role == "tool"]
        assert "get_weather" in results[0].text
        assert 0 < len(results) <= 4
        assert answer
        again = host.session("python")
        texts = [(await again.call(again.new_call("nothing_like_it_at_all", {}))).text for _ in range(2)]
        assert "etui tools" in texts[0]


SPELLINGS = (
    "memory:read_graph",
    "Memory.read_graph",
    "functions.memory__read_graph",
    "memory-read-graph",
    "MEMORY__READ_GRAPH",
)


async def test_another_separator_or_case_means_the_same_tool(desk: Desk):
    """R023: when exactly one matches."""
    desk.save("graph.py", SAYS.format(name="memory__read_graph", word="graph"))
    await desk.offered("memory__read_graph")
    for spelling in SPELLINGS:
        assert await desk.value(spelling) == "graph", spelling
    outcome = await desk.call("read_graph")
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")
    assert "memory__read_graph" in outcome.text


async def test_a_spelling_that_could_be_two_is_asked_back(desk: Desk):
    """R023"""
    desk.save("lamp_a.py", SAYS.format(name="lamp_on_", word="a"))
    desk.save("lamp_b.py", SAYS.format(name="lamp__on", word="b"))
    await desk.offered("lamp_on_", "lamp__on")
    outcome = await desk.call("lamp.on")
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")
    assert "'lamp_on_'" in outcome.text and "'lamp__on'" in outcome.text
    assert await desk.value("lamp__on") == "b"


async def test_another_spelling_of_a_tool_that_asks_still_asks(tmp_path):
    """R023"""
    async with desk_at(tmp_path, allow_exec="ask") as desk:
        desk.save("door.py", HEAD + "\n@tool(risk='exec')\ndef open_door() -> str:\n    'Opens.'\n    return 'open'\n")
        await desk.offered("open_door")
        for spelling in ("open_door", "Open.Door", "functions.open_door", "open-door"):
            assert (await desk.call(spelling)).status is Status.NEEDS_APPROVAL


ANY = ["", " ", "\n", "x" * 100_000, "\ud835", "../../etc/passwd", "__class__", "a\x00b", "%s%n", "{0}", "🎲" * 50]


@pytest.mark.parametrize("name", ANY, ids=range(len(ANY)))
async def test_any_name_that_is_none_is_refused_in_one_sentence(desk: Desk, name: str):
    """R022 R023: nothing that a model can put there does harm, is run, or floods the answer."""
    outcome = await desk.call(name)
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "find")
    assert outcome.text.startswith("There is no tool ")
    outcome.text.encode()
    assert len(outcome.text) < 500
