"""The four lines of a tool, its budgets and its heartbeats: a whole host with real workers, on a clock that jumps."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest
from tests.kotoba.clocks import TOP, Stage, jumping, waits
from tests.kotoba.homes import Room, kotoba, ping, write
from tests.kotoba.wheel import files
from tests.spine.homes import tool_changed, until

from etui.agent.scripted import call
from etui.events import Event, Kind

LINES = """
ANNOUNCE = "Looking."
HEARTBEAT = ["Still looking."]
COMPLETE = "Found it."
FAIL = "No luck."
"""
CARD = 'await ctx.approval.confirm("make it so", force_ask=True)\n'


def told(events: list[Event], *kinds: Kind) -> list[tuple[str, str]]:
    """The calls and lines among events, in order."""
    wanted = kinds or (Kind.SAID, Kind.HUM, Kind.CALL_STARTED, Kind.CALL_ENDED)
    return [
        (event.kind.value, str(event.data.get("text", "")) if event.kind is Kind.SAID else "")
        for event in events
        if event.kind in wanted
    ]


async def lines(room: Room) -> list[str]:
    """What was said since it was last asked."""
    return [text for kind, text in told(await room.events()) if kind == "said"]


async def runs(stage: Stage, seconds: float, **turn: object) -> str:
    """How a call ends that takes so many seconds."""
    await stage.room.events()
    async with stage.waiting(**turn):
        await stage.lasts(seconds)
    [ended] = [event for event in await stage.room.events() if event.kind is Kind.CALL_ENDED]
    return str(ended.data["status"])


async def changed(room: Room, text: str, name: str = "ping") -> None:
    """Save the file anew and wait until the host runs it."""
    async with room.host.hub.listen(Kind.TOOLS_CHANGED) as events:
        write(room.folder, {f"p/{name}.py": text})
        await tool_changed(events, name)


@pytest.mark.promise("K055", "K069", "K182")
async def test_a_tool_without_lines_is_silent_however_it_goes(tmp_path: Path) -> None:
    async with jumping(tmp_path, {"p/ping.py": waits(head="TIMEOUT = 60")}) as stage:
        async with stage.waiting():
            await stage.passes(40)
        assert stage.room.results()[-1].text == "pong"
        assert await stage.heard() == []


@pytest.mark.promise("K055", "K069", "K181")
async def test_lines_are_never_made_up_and_their_absence_breaks_nothing(tmp_path: Path) -> None:
    files = {"p/ping.py": ping('raise ValueError("boom")'), "p/pong.py": ping(name="pong", head=LINES)}
    async with kotoba(tmp_path, files) as room:
        assert room.problems() == []
        await room.turn("go", [call("ping")], [call("pong")], "Done.")
        assert await lines(room) == ["Looking.", "Found it."]
        async with room.host.hub.listen(Kind.TOOLS_CHANGED) as events:
            write(room.folder, {"q/late.py": ping(name="late")})
            await tool_changed(events, "late")
        await room.turn("go", [call("late")], "Done.")
        assert await lines(room) == []


@pytest.mark.promise("K056", "K058", "K176", "K177", "K308")
async def test_a_call_is_announced_before_it_starts_and_told_of_after_it_ended_once_a_turn(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(head=LINES)}) as room:
        for _ in range(2):
            await room.turn("go", *([call("ping", {"n": n})] for n in range(3)), "Done.")
            assert told(await room.events()) == [
                ("said", "Looking."),
                ("call_started", ""),
                ("call_ended", ""),
                ("said", "Found it."),
                *[("call_started", ""), ("call_ended", "")] * 2,
            ]


@pytest.mark.promise("K059", "K064", "K177")
@pytest.mark.parametrize("body", ['raise ValueError("boom")', "return None"])
async def test_a_call_that_failed_ends_with_the_line_for_that(tmp_path: Path, body: str) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(body, head=LINES)}) as room:
        await room.turn("go", [call("ping")], "Done.")
        start, end = ("call_started", ""), ("call_ended", "")
        assert told(await room.events()) == [("said", "Looking."), start, end, ("said", "No luck.")]


@pytest.mark.promise("K064")
async def test_a_call_that_took_too_long_failed(tmp_path: Path) -> None:
    async with jumping(tmp_path, {"p/ping.py": waits(head=f"TIMEOUT = 5\n{LINES}")}) as stage:
        async with stage.waiting():
            await stage.passes(6)
        assert stage.room.results()[-1].meta["status"] == "timed_out"
        assert [text for _, text in await stage.heard()] == ["Looking.", "No luck."]


@pytest.mark.promise("K065", "K113")
async def test_a_refusal_is_no_failure_and_no_success(tmp_path: Path) -> None:
    refuses = """
    from kotoba.core.loop import note_tool_refusal
    note_tool_refusal(ctx)
    return "Not that one."
    """
    async with kotoba(tmp_path, {"p/ping.py": ping(refuses, head=LINES), "p/pong.py": ping(name="pong", head=LINES)}) as room:
        await room.turn("go", [call("ping")], "Done.")
        assert await lines(room) == ["Looking."]
        await room.turn("go", [call("pong")], "Done.")
        assert await lines(room) == ["Looking.", "Found it."]


@pytest.mark.promise("K117")
async def test_a_witnessed_failure_says_the_line_for_failures(tmp_path: Path) -> None:
    fails = """
    from kotoba.core.loop import note_tool_failure
    note_tool_failure("upstream 502")
    return "The feed did not answer."
    """
    async with kotoba(tmp_path, {"p/ping.py": ping(fails, head=LINES)}) as room:
        await room.turn("go", [call("ping")], "Done.")
        assert await lines(room) == ["Looking.", "No luck."]


@pytest.mark.promise("K066", "K067")
@pytest.mark.parametrize("answer", ["decline", ""])
async def test_an_action_that_nobody_said_yes_to_has_no_last_line(tmp_path: Path, answer: str) -> None:
    asks = """
    from kotoba.core.interaction import ask_approval
    verdict = await ask_approval(ctx, "delete everything")
    return f"It was {verdict}."
    """
    async with jumping(tmp_path, {"p/ping.py": ping(asks, head=f"RISK = 'write'\n{LINES}")}) as stage:
        async with stage.room.host.hub.listen(Kind.CARD_OPENED, Kind.CALL_ENDED) as events:
            task = asyncio.create_task(stage.room.turn("go", [call("ping")], "Done.", attended=True))
            opened = await until(events, Kind.CARD_OPENED)
            if answer:
                assert stage.room.host.cards.answer(str(opened.data["card"]["id"]), answer)
            else:
                await stage.passes(181)
            ended = await until(events, Kind.CALL_ENDED)
            await task
        assert ended.data["status"] == "refused"
        assert [text for _, text in await stage.heard()] == ["Looking."]


@pytest.mark.promise("K057", "K060", "K306")
async def test_the_first_heartbeat_comes_at_nine_seconds(tmp_path: Path) -> None:
    async with jumping(tmp_path, {"p/ping.py": waits(head="HEARTBEAT = ['a', 'b']")}) as stage:
        async with stage.waiting():
            await stage.passes(8)
        assert await stage.heard() == []
        async with stage.waiting():
            await stage.passes(10)
        assert await stage.heard() == [(9.0, "a")]
        async with stage.waiting():
            await stage.passes(12)
        events = told(await stage.room.events())
        assert events == [("call_started", ""), ("said", "a"), ("call_ended", "")]


@pytest.mark.promise("K061", "K062")
async def test_the_lines_follow_every_21_seconds_and_the_last_one_repeats(tmp_path: Path) -> None:
    files = {
        "p/ping.py": waits(head="HEARTBEAT = ['a', 'b', 'c']\nTIMEOUT = 90"),
        "p/pong.py": waits(name="pong", head="HEARTBEAT = ['a', 'b']\nTIMEOUT = 90"),
    }
    async with jumping(tmp_path, files) as stage:
        async with stage.waiting():
            await stage.passes(60)
        assert await stage.heard() == [(9.0, "a"), (30.0, "b"), (51.0, "c")]
        async with stage.waiting(name="pong"):
            await stage.passes(75)
        assert await stage.heard() == [(9.0, "a"), (30.0, "b"), (51.0, "b"), (72.0, "b")]


@pytest.mark.promise("K148", "K176")
async def test_the_four_lines_of_the_pages_model_file_are_spoken_as_written(tmp_path: Path) -> None:
    (name, text), *_ = files("search_files").items()
    assert isinstance(text, bytes)
    scope = {ast.unparse(node.targets[0]): node.value for node in ast.parse(text).body if isinstance(node, ast.Assign)}
    announce, heartbeat, complete = (ast.literal_eval(scope[line]) for line in ("ANNOUNCE", "HEARTBEAT", "COMPLETE"))
    waiting = (
        text.decode() + f"\nTIMEOUT = 60\n{TOP}\n\nasync def execute(args, ctx):\n    await the_gate(ctx)\n    return 'x'\n"
    )
    async with jumping(tmp_path, {name: waiting}) as stage:
        async with stage.waiting(name="search_files", arguments={"query": "x"}):
            await stage.passes(40)
        said = await stage.heard()
        assert [line for _, line in said] == [announce, *heartbeat, complete]
        assert [at for at, _ in said[1:3]] == [9.0, 30.0]


@pytest.mark.promise("K063", "K307")
async def test_heartbeats_are_put_off_while_a_person_is_asked(tmp_path: Path) -> None:
    body = f"{CARD}await the_gate(ctx)\nreturn 'pong'"
    text = waits(body, head="RISK = 'exec'\nHEARTBEAT = ['a']\nTIMEOUT = 90")
    async with jumping(tmp_path, {"p/ping.py": text}, allow_exec="allow") as stage, stage.waiting(attended=True) as task:
        began = stage.began
        async with stage.room.host.hub.listen(Kind.CARD_OPENED) as events:
            await stage.passes(5)
            stage.let_go()
            opened = await until(events, Kind.CARD_OPENED)
        await stage.passes(35)
        assert await stage.heard() == []
        assert stage.room.host.cards.answer(str(opened.data["card"]["id"]), "approve")
        await stage.arrived(task)
        await stage.passes(20)
        stage.began = began
        assert await stage.heard() == [(45.0, "a")]


async def test_a_card_that_nobody_waits_for_puts_no_heartbeat_off(tmp_path: Path) -> None:
    body = """
    from kotoba.core.interaction import open_input_card
    assert await open_input_card(ctx.session_id, "The colour", kind="text")
    await the_gate(ctx)
    return "pong"
    """
    text = ping(body, head="HEARTBEAT = ['a']", top=TOP)
    async with jumping(tmp_path, {"p/ping.py": text}) as stage:
        async with stage.waiting(attended=True):
            await stage.passes(12)
            assert len(stage.room.host.cards.open()) == 1
        assert await stage.heard() == [(9.0, "a")]


@pytest.mark.promise("K071", "K309")
async def test_a_phrase_is_spoken_without_its_outer_blanks_and_a_blank_one_not_at_all(tmp_path: Path) -> None:
    head = "ANNOUNCE = '  '\nCOMPLETE = '  Hm. '\nHEARTBEAT = [' b ']\nTIMEOUT = 60"
    async with jumping(tmp_path, {"p/ping.py": waits(head=head)}) as stage:
        async with stage.waiting():
            await stage.passes(12)
        assert [text for _, text in await stage.heard()] == ["b", "Hm."]


async def test_a_blank_line_among_the_heartbeats_is_a_moment_in_which_nothing_is_said(tmp_path: Path) -> None:
    head = "HEARTBEAT = ['', 'b', ' ']\nTIMEOUT = 90"
    async with jumping(tmp_path, {"p/ping.py": waits(head=head)}) as stage:
        async with stage.waiting():
            await stage.passes(75)
        assert await stage.heard() == [(30.0, "b")]


@pytest.mark.promise("K072", "K073", "K074")
async def test_a_model_that_reasons_speaks_for_itself(tmp_path: Path) -> None:
    async with jumping(tmp_path, {"p/ping.py": waits(head=f"TIMEOUT = 60\n{LINES}")}) as stage:
        for effort, narrate, said in (
            ("auto", "auto", ["Looking.", "Still looking.", "Still looking.", "Found it."]),
            ("off", "auto", ["Looking.", "Still looking.", "Still looking.", "Found it."]),
            ("low", "auto", []),
            ("low", "always", ["Looking.", "Still looking.", "Still looking.", "Found it."]),
            ("auto", "never", []),
        ):
            await stage.room.host.settings.set("effort", effort)
            await stage.room.host.settings.set("narrate", narrate)
            async with stage.waiting():
                await stage.passes(40)
            assert [text for _, text in await stage.heard()] == said, (effort, narrate)
        await stage.room.host.settings.set("effort", "low")
        await stage.room.host.settings.set("narrate", "auto")
        async with stage.waiting(channel="voice"):
            await stage.passes(12)
        events = await stage.room.events()
        assert [
            (event.kind, event.data, round(event.at - stage.began, 1))
            for event in events
            if event.kind in (Kind.HUM, Kind.SAID)
        ] == [(Kind.HUM, {}, 9.0)]


@pytest.mark.promise("K075")
async def test_nothing_depends_on_a_line_being_heard(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(head=f"RISK = 'write'\n{LINES}")}) as room:
        seen = []
        for narrate in ("always", "never"):
            await room.host.settings.set("narrate", narrate)
            await room.turn("go", [call("ping")], "Done.")
            events = await room.events()
            assert bool(told(events, Kind.SAID)) is (narrate == "always")
            [row] = [event.data for event in events if event.kind is Kind.CALL_ENDED]
            action = room.host.store.journal.actions(1)[0]
            seen.append((room.results()[-1].text, {**row, "seconds": 0}, action.action, action.detail, action.approver))
        assert seen[0] == seen[1]


@pytest.mark.promise("K311")
async def test_a_call_that_was_cut_short_has_no_last_line(tmp_path: Path) -> None:
    async with jumping(tmp_path, {"p/ping.py": waits(head=LINES)}) as stage:
        async with stage.waiting() as task:
            assert stage.room.host.conversations.stop(stage.room.chat)
            await asyncio.wait([task])
        assert [text for _, text in await stage.heard()] == ["Looking."]


@pytest.mark.promise("K320")
async def test_lines_follow_the_code(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(head="ANNOUNCE = 'one'")}) as room:
        for number, text in enumerate(("two", "three")):
            if number:
                room.host.tools.switch("ping", False)
            await changed(room, ping(head=f"ANNOUNCE = {text!r}"))
            room.host.tools.switch("ping", True)
            await room.turn("go", [call("ping")], "Done.")
            assert await lines(room) == [text]


ARG = "ARG_TIMEOUT = True"
BUDGETS = [
    pytest.param("", "python", None, 30, id="default", marks=pytest.mark.promise("K084", "K091")),
    pytest.param("TIMEOUT = 45", "python", None, 45, id="more", marks=pytest.mark.promise("K086")),
    pytest.param("TIMEOUT = 5", "python", None, 5, id="less", marks=pytest.mark.promise("K204")),
    pytest.param("TIMEOUT = 4", "python", None, 4, id="four", marks=pytest.mark.promise("K306")),
    pytest.param("TIMEOUT = 0", "python", None, 30, id="zero", marks=pytest.mark.promise("K205")),
    pytest.param("TIMEOUT = None", "python", None, 30, id="none", marks=pytest.mark.promise("K205")),
    pytest.param("MAX_TIMEOUT = 5", "python", None, 30, id="max-alone", marks=pytest.mark.promise("K207")),
    pytest.param("MAX_TIMEOUT = 'soon'", "python", None, 30, id="max-odd-alone", marks=pytest.mark.promise("K207")),
    pytest.param("", "python", {"timeout": 100}, 30, id="argument-alone", marks=pytest.mark.promise("K090")),
    pytest.param(ARG, "python", {"timeout": 100}, 285, id="argument", marks=pytest.mark.promise("K087")),
    pytest.param(f"{ARG}\nMAX_TIMEOUT = 120", "python", {"timeout": 100}, 120, id="max", marks=pytest.mark.promise("K088")),
    pytest.param(ARG, "python", {"timeout": 5000}, 600, id="max-default", marks=pytest.mark.promise("K089")),
    pytest.param(
        "ARG_TIMEOUT = True\nTIMEOUT = 50\nMAX_TIMEOUT = 20",
        "python",
        {},
        50,
        id="max-under",
        marks=pytest.mark.promise("K305"),
    ),
    *[
        pytest.param(ARG, channel, arguments, seconds, id=f"none-{channel}", marks=pytest.mark.promise("K303"))
        for channel, arguments, seconds in (("python", {}, 245), ("voice", {"timeout": "soon"}, 125), ("phone", {}, 90))
    ],
    *[
        pytest.param(
            "ARG_TIMEOUT = True", channel, {"timeout": 10}, seconds, id=f"ten-{channel}", marks=pytest.mark.promise("K304")
        )
        for channel, seconds in (("python", 195), ("voice", 75), ("phone", 40))
    ],
]


@pytest.mark.parametrize(("head", "channel", "arguments", "seconds"), BUDGETS)
async def test_a_budget_holds_to_the_tenth_of_a_second(
    tmp_path: Path, head: str, channel: str, arguments: object, seconds: float
) -> None:
    files = {"p/ping.py": waits("return repr(args)", head=head)}
    async with jumping(tmp_path, files, before_pin=["contract:kotoba"]) as stage:
        assert await runs(stage, seconds - 0.2, channel=channel, arguments=arguments) == "ok"
        assert stage.room.results()[-1].text == repr(arguments or {})
        assert await runs(stage, seconds + 0.2, channel=channel, arguments=arguments) == "timed_out"


@pytest.mark.promise("K039", "K302")
async def test_an_exec_tool_has_room_for_a_persons_answer(tmp_path: Path) -> None:
    files = {
        "p/ping.py": waits(head="RISK = 'exec'\nTIMEOUT = 5"),
        "q/pong.py": waits(name="pong", head="RISK = 'exec'\nTIMEOUT = 300"),
        "r/brief.py": waits(name="brief", head="RISK = 'exec'\nARG_TIMEOUT = True\nMAX_TIMEOUT = 20"),
    }
    async with jumping(tmp_path, files, allow_exec="allow", before_pin=["contract:kotoba"]) as stage:
        for channel, seconds in (("python", 185), ("voice", 65), ("phone", 30)):
            assert await runs(stage, seconds - 0.2, channel=channel) == "ok"
            assert await runs(stage, seconds + 0.2, channel=channel) == "timed_out"
        for seconds, end in ((184.8, "ok"), (185.2, "timed_out")):
            assert await runs(stage, seconds, name="brief", arguments={"timeout": 10}) == end
        assert await runs(stage, 299.8, name="pong", channel="phone") == "ok"
        assert await runs(stage, 300.2, name="pong", channel="phone") == "timed_out"


@pytest.mark.promise("K040", "K092", "K093")
async def test_a_call_is_not_cut_off_while_a_person_answers(tmp_path: Path) -> None:
    files = {
        "p/ping.py": ping(f"{CARD}return 'made'", head="RISK = 'exec'\nTIMEOUT = 5"),
        "p/pong.py": ping(f"{CARD}return 'typed'", name="pong", head="INTERACTIVE = True\nTIMEOUT = 1\nHEARTBEAT = ['a']"),
    }
    async with jumping(tmp_path, files, allow_exec="allow") as stage:
        for name, seconds, text in (("ping", 170, "made"), ("pong", 120, "typed")):
            async with stage.room.host.hub.listen(Kind.CARD_OPENED) as events:
                task = asyncio.create_task(stage.room.turn("go", [call(name)], "Done.", attended=True))
                opened = await until(events, Kind.CARD_OPENED)
                await stage.passes(seconds)
                assert stage.room.host.cards.answer(str(opened.data["card"]["id"]), "approve")
                await task
            assert (stage.room.results()[-1].text, stage.room.results()[-1].meta["status"]) == (text, "ok")
            assert await stage.heard() == []


@pytest.mark.promise("K092", "K093")
async def test_an_interactive_tool_has_no_deadline_and_no_heartbeats(tmp_path: Path) -> None:
    head = "INTERACTIVE = True\nTIMEOUT = 1\nHEARTBEAT = ['a']"
    async with jumping(tmp_path, {"p/ping.py": waits(head=head)}) as stage:
        async with stage.waiting():
            await stage.passes(120)
        assert stage.room.results()[-1].text == "pong"
        assert await stage.heard() == []


@pytest.mark.promise("K091")
async def test_a_tool_is_not_interactive_unless_it_says_so(tmp_path: Path) -> None:
    async with jumping(tmp_path, {"p/ping.py": waits(head="HEARTBEAT = ['a']")}) as stage, stage.waiting() as task:
        await stage.passes(31)
        assert (await stage.end(task))[0] == "timed_out"


@pytest.mark.promise("K094")
async def test_a_tool_is_run_unless_it_says_that_its_provider_does(tmp_path: Path) -> None:
    files = {"p/ping.py": ping("return 'ran'"), "p/pong.py": ping("return 'ran'", name="pong", head="BUILT_IN = True")}
    async with kotoba(tmp_path, files) as room:
        await room.turn("go", [call("ping")], [call("pong")], "Done.")
        assert [result.text for result in room.results()] == ["ran", ""]


@pytest.mark.promise("K206")
async def test_a_timeout_that_is_no_number_is_refused_with_its_value(tmp_path: Path) -> None:
    files = {"p/ping.py": ping(head="TIMEOUT = 'soon'"), "p/pong.py": ping(name="pong")}
    async with kotoba(tmp_path, files) as room:
        await room.turn("hello", "Hi.")
        assert room.offered() == ["pong"]
        assert any("'soon'" in reason for what, reason, refused in room.problems() if refused), room.problems()


@pytest.mark.promise("K223")
async def test_the_run_of_a_turn_has_one_number(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping("return ctx.run_id")}) as room:
        numbers = []
        for _ in range(2):
            await room.turn("go", [call("ping", {"n": 1})], [call("ping", {"n": 2})], "Done.")
            first, second = (result.text for result in room.results()[-2:])
            assert first == second
            assert len(first) == 8
            assert set(first) <= set("0123456789abcdef")
            events = await room.events()
            assert all(first in event.turn for event in events if event.kind in (Kind.CALL_STARTED, Kind.CALL_ENDED))
            numbers.append(first)
        assert numbers[0] != numbers[1]
