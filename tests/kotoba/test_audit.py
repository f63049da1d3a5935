"""What was done and who permitted it: rows of calls as they run, and the audit's rows, read without tools of a database."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from playwright.async_api import expect
from tests.kotoba.clocks import jumping
from tests.kotoba.homes import Room, kotoba, ping, write
from tests.spine.homes import until
from tests.web.chromium import chromium, picture
from tests.web.pages import page_at
from tests.web.sites import site_at

from etui.__main__ import open_lazily
from etui.agent.scripted import call
from etui.events import Event, Kind
from etui.store.actions import Action
from etui.surfaces.cli import main

WRITES = "RISK = 'write'"
REFUSES = """
from kotoba.core.loop import note_tool_refusal
note_tool_refusal(ctx)
return "Not that one."
"""
FAILS = """
from kotoba.core.loop import note_tool_failure
note_tool_failure("upstream 502")
return "The feed did not answer."
"""
LINES = "ANNOUNCE = 'before'\nCOMPLETE = 'after'\nFAIL = 'fail'"


def audit(room: Room, limit: int = 100) -> list[Action]:
    """The audit's rows, the newest first."""
    return room.host.store.journal.actions(limit)


def details(room: Room) -> list[tuple[str, str]]:
    """Action and detail of each row, the oldest first."""
    return [(row.action, row.detail) for row in reversed(audit(room))]


async def rows(room: Room) -> list[Event]:
    """The rows of the calls since it was last asked: each its start and its end."""
    return [event for event in await room.events() if event.kind in (Kind.CALL_STARTED, Kind.CALL_ENDED)]


@pytest.mark.promise("K033", "K034", "K035", "K042", "K291")
async def test_an_action_has_a_row_and_one_line_in_the_audit(tmp_path: Path) -> None:
    risks = ("write", "exec", "network", "read")
    files = {f"{risk}/{risk}.py": ping(name=risk, head=f"RISK = {risk!r}") for risk in risks}
    async with kotoba(tmp_path, files, allow_exec="allow") as room:
        await room.turn("go", *([call(risk)] for risk in risks), "Done.")
        seen = await rows(room)
        pairs = [(start.call, end.call) for start, end in zip(seen[::2], seen[1::2], strict=True)]
        assert all(start == end for start, end in pairs) and len(set(pairs)) == 4
        assert [event.data["risk"] for event in seen[::2]] == list(risks)
        assert [event.data["mark"] for event in seen[1::2]] == ["green"] * 4
        assert [(row.tool, row.risk, row.detail) for row in reversed(audit(room))] == [
            (risk, risk, "executed") for risk in risks[:3]
        ]
        assert {(row.approved, row.approver) for row in audit(room)} == {(False, "agent-loop")}
        assert all("Nobody was asked" in row.authority for row in audit(room))


@pytest.mark.promise("K032")
async def test_risk_alone_asks_nobody(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(head="RISK = 'exec'")}) as room:
        await room.turn("go", [call("ping")], "Done.", attended=True)
        assert not [event for event in await room.events() if event.kind is Kind.CARD_OPENED]
        assert room.results()[-1].text == "pong"


@pytest.mark.promise("K037", "K038")
async def test_a_read_is_seen_while_it_runs_and_leaves_no_line(tmp_path: Path) -> None:
    files = {"p/ping.py": ping(), "p/bad.py": ping('raise ValueError("boom")', name="bad")}
    async with kotoba(tmp_path, files) as room:
        await room.turn("go", [call("ping")], [call("bad")], "Done.")
        assert [(event.kind, event.data["tool"]) for event in await rows(room)] == [
            (Kind.CALL_STARTED, "ping"),
            (Kind.CALL_ENDED, "ping"),
            (Kind.CALL_STARTED, "bad"),
            (Kind.CALL_ENDED, "bad"),
        ]
        assert audit(room) == []


@pytest.mark.promise("K036")
async def test_an_action_that_failed_says_so_and_one_whose_command_failed_too(tmp_path: Path) -> None:
    command = """
    box = await ctx.ensure_sandbox()
    await box.run("exit 2")
    return "ran it"
    """
    files = {
        "p/ping.py": ping('raise ValueError("boom")', head=WRITES),
        "q/shell.py": ping(command, name="run_it", head=WRITES, top="import subprocess"),
    }
    async with kotoba(tmp_path, files) as room:
        await room.turn("go", [call("ping")], [call("run_it")], "Done.")
        assert room.results()[-1].text == "ran it"
        assert details(room) == [("ping {}", "executed:failed"), ("run_it {}", "executed:failed")]


@pytest.mark.promise("K108")
async def test_without_a_witness_any_sentence_is_a_job_done(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping("return 'I cannot do that.'", head=f"{WRITES}\n{LINES}")}) as room:
        await room.turn("go", [call("ping")], "Done.")
        events = await room.events()
        assert [event.data["mark"] for event in events if event.kind is Kind.CALL_ENDED] == ["green"]
        assert [event.data["text"] for event in events if event.kind is Kind.SAID] == ["before", "after"]
        assert details(room) == [("ping {}", "executed")]


@pytest.mark.promise("K109")
async def test_what_counts_as_done_is_not_done_again(tmp_path: Path) -> None:
    body = "(ctx.workdir / 'ran').open('a').write('x')\nreturn 'I cannot do that.'"
    async with kotoba(tmp_path, {"p/ping.py": ping(body, head=WRITES)}) as room:
        await room.turn("go", [call("ping", {"a": 1})], [call("ping", {"a": 1})], "Done.")
        assert (room.host.home / "files" / "ran").read_text() == "x"
        assert "it is done" in room.results()[-1].text
        assert len(audit(room)) == 1


@pytest.mark.promise("K111", "K112")
async def test_a_witnessed_refusal_is_grey_and_leaves_no_line(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(REFUSES, head=WRITES)}) as room:
        await room.turn("go", [call("ping")], "Done.")
        [end] = [event for event in await rows(room) if event.kind is Kind.CALL_ENDED]
        assert (end.data["status"], end.data["mark"], end.data["line"]) == ("refused", "grey", "Not that one.")
        assert room.results()[-1].text == "Not that one."
        assert audit(room) == []


@pytest.mark.promise("K115", "K116", "K118")
async def test_a_witnessed_failure_is_red_and_its_reason_is_the_owners(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(FAILS, head=WRITES)}) as room:
        await room.turn("go", [call("ping")], "Done.")
        [end] = [event for event in await rows(room) if event.kind is Kind.CALL_ENDED]
        assert (end.data["status"], end.data["mark"]) == ("failed", "red")
        assert end.data["line"] == "! The feed did not answer."
        assert end.data["why"] == "upstream 502"
        entry = room.host.store.journal.recent("ping")[0]
        assert entry.why == "upstream 502"
        text = room.results()[-1].text
        assert text.startswith("The feed did not answer.")
        assert "502" not in text
        assert details(room) == [("ping {}", "executed:failed")]


@pytest.mark.promise("K290")
async def test_the_audit_names_the_arguments_without_secrets_and_cut(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(head=WRITES)}) as room:
        await room.turn("go", [call("ping", {"text": "x" * 300, "api_key": "sk-verysecret1"})], "Done.")
        await room.turn("go", [call("ping", {"api_key": "sk-verysecret1", "é": 1})], "Done.")
        second, first = (row.action for row in audit(room))
        assert first.startswith('ping {"text": "xxx') and len(first) == len("ping ") + 180
        assert second.startswith('ping {"api_key": ') and second.endswith('"é": 1}')
        assert "verysecret" not in first + second


@pytest.mark.promise("K292", "K293")
async def test_each_decision_has_a_row_that_says_who_permitted_it(tmp_path: Path) -> None:
    confirms = """
    yes = await ctx.approval.confirm(args["action"], "exec", family=args.get("family"))
    return f"It was {yes}."
    """
    asks = """
    from kotoba.core.interaction import ask_approval
    return f"It was {await ask_approval(ctx, 'delete everything')}."
    """
    files = {"p/ping.py": ping(confirms, head=WRITES), "q/asks.py": ping(asks, name="asks", head=WRITES)}
    async with kotoba(tmp_path, files) as room:
        for tool, arguments, answer, expected in (
            ("ping", {"action": "make it"}, "approve", ("make it", True, "user")),
            ("ping", {"action": "git status", "family": "git"}, "always_tool", ("git status", True, "user")),
            ("ping", {"action": "git log", "family": "git"}, "", ("git log", True, "saved")),
            ("ping", {"action": "ls"}, "", ("ls", True, "auto-safe")),
            ("asks", {}, "approve", ("delete everything", True, "user")),
            ("asks", {"n": 2}, "decline", ("delete everything", False, "user")),
        ):
            async with room.host.hub.listen(Kind.CARD_OPENED) as cards:
                task = asyncio.create_task(room.turn("go", [call(tool, arguments)], "Done.", attended=True))
                if answer:
                    card = (await until(cards, Kind.CARD_OPENED)).data["card"]
                    choices = card["always"] if answer.startswith("always") else ()
                    assert room.host.cards.answer(card["id"], choices[-1] if choices else answer)
                await task
            decision = next(row for row in audit(room) if row.detail == "decision")
            assert (decision.action, decision.approved, decision.approver) == expected, arguments
            assert decision.authority


@pytest.mark.promise("K294")
async def test_what_did_not_run_was_not_executed(tmp_path: Path) -> None:
    asks = """
    from kotoba.core.interaction import ask_approval
    return f"It was {await ask_approval(ctx, 'delete everything')}."
    """
    files = {"p/ping.py": ping(asks, head=WRITES), "q/no.py": ping(REFUSES, name="no", head=WRITES)}
    async with kotoba(tmp_path, files) as room:
        async with room.host.hub.listen(Kind.CARD_OPENED) as cards:
            task = asyncio.create_task(room.turn("go", [call("ping")], "Done.", attended=True))
            card = (await until(cards, Kind.CARD_OPENED)).data["card"]
            assert room.host.cards.answer(card["id"], "decline")
            await task
        await room.turn("go", [call("ping", {"alone": True})], "Done.")
        await room.turn("go", [call("no")], "Done.")
        room.host.tools.switch("ping", False)
        await room.turn("go", [call("ping", {"off": True})], "Done.")
        assert len(room.results()) == 4
        assert [row for row in audit(room) if row.detail != "decision"] == []


@pytest.mark.promise("K298")
async def test_a_row_says_its_end_in_one_line(tmp_path: Path) -> None:
    two = "return 'a' * 200 + chr(10) + 'b' * 200"
    files = {
        "p/ping.py": ping(two, head=WRITES),
        "p/built.py": ping(name="built", head="BUILT_IN = True"),
        "p/bad.py": ping('raise ValueError("boom")', name="bad", head=WRITES),
    }
    async with kotoba(tmp_path, files) as room:
        await room.turn("go", [call("ping")], [call("built")], [call("bad")], "Done.")
        ends = [event.data for event in await rows(room) if event.kind is Kind.CALL_ENDED]
        assert [end["line"] for end in ends] == ["a" * 160, "done", "! The tool errored."]
        assert ends[0]["full"] == "a" * 200 + "\n" + "b" * 200


@pytest.mark.promise("K299")
async def test_a_row_that_ended_at_a_card_says_how_and_opens_to_nothing(tmp_path: Path) -> None:
    asks = """
    from kotoba.core.interaction import ask_approval
    return f"It was {await ask_approval(ctx, 'delete everything')}."
    """
    async with jumping(tmp_path, {"p/ping.py": ping(asks, head=WRITES)}) as stage:
        room = stage.room
        ends = []
        for number, way in enumerate(("decline", "dismiss", "nobody is there", "no answer")):
            async with room.host.hub.listen(Kind.CARD_OPENED, Kind.CALL_ENDED) as events:
                turn = room.turn("go", [call("ping", {"n": number})], "Done.", attended=way != "nobody is there")
                task = asyncio.create_task(turn)
                if way != "nobody is there":
                    card = (await until(events, Kind.CARD_OPENED)).data["card"]
                    if way == "no answer":
                        await stage.passes(181)
                    else:
                        assert room.host.cards.answer(card["id"], way)
                ends.append((await until(events, Kind.CALL_ENDED)).data)
                await task
        assert [end["status"] for end in ends] == ["refused"] * 4
        assert len({end["line"] for end in ends}) == 4
        assert all("did not run" in str(end["line"]) for end in ends)
        assert {(end["full"], end["mark"]) for end in ends} == {("", "grey")}
        assert [row for row in audit(room) if row.detail.startswith("executed")] == []


@pytest.mark.promise("K300")
async def test_telling_what_nobody_listens_to_does_nothing(tmp_path: Path) -> None:
    body = """
    from kotoba.core.events import emit_task
    await emit_task(ctx.session_id, "files_changed")
    await emit_task(None, "nothing", a=1)
    return "told"
    """
    async with kotoba(tmp_path, {"p/ping.py": ping(body)}) as room:
        outcome = await room.call("ping")
        assert (outcome.status, outcome.text) == ("ok", "told")


@pytest.mark.promise("K042", "K295")
def test_the_terminal_reads_the_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "kotoba", {"p/ping.py": ping(head="RISK = 'network'")})
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(f'shelf = false\n[[sources]]\npath = "{tmp_path / "kotoba"}"\ncontract = "kotoba"\n')
    monkeypatch.setenv("ETUI_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "100")
    assert main(open_lazily, ["call", "ping", '{"n": 1, "api_key": "sk-verysecret1"}']) == 0
    capsys.readouterr()
    assert main(open_lazily, ["audit", "--actions"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "network executed " in first
    assert 'ping {"n": 1, "api_key": ' in first
    assert "verysecret" not in first
    assert second.strip() == "Nobody was asked: the settings allow it."
    assert main(open_lazily, ["audit", "--actions", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["tool"], row["risk"], row["detail"], row["approver"]) == ("ping", "network", "executed", "agent-loop")


@pytest.mark.browser
@pytest.mark.promise("K042", "K295")
async def test_the_console_reads_the_audit(tmp_path: Path) -> None:
    write(tmp_path / "kotoba", {"p/ping.py": ping(head="RISK = 'network'")})
    sources = [{"path": str(tmp_path / "kotoba"), "contract": "kotoba"}]
    async with site_at(tmp_path / "home", tools="", sources=sources) as site, chromium() as browser:
        session = site.host.session("console")
        await session.call(session.new_call("ping", {"n": "x" * 300}))
        site.host.store.journal.decided("elsewhere", "rm -rf build\u202e", "exec", "declined", "user")
        async with page_at(site, browser, "audit", viewport={"width": 390, "height": 800}) as page:
            await page.select_option("#audit-what", "actions")
            rows = page.locator("ul.due li")
            await expect(rows).to_have_count(2)
            await expect(rows.nth(1)).to_contain_text('ping {"n": "xxxx')
            await expect(rows.nth(1)).to_contain_text("network · executed. Nobody was asked: the settings allow it.")
            await expect(rows.nth(0)).to_contain_text("exec · decision: no. You said no.")
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            await picture(page, "audit-actions")
