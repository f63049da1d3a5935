"""`ctx`: the fields of a Kotoba tool's context, and what it learns of the tools there are."""

from __future__ import annotations

import asyncio
import json
import os
import re
from typing import Any

import pytest
from tests.kotoba.homes import PING, Room, kotoba, ping
from tests.spine.homes import LONG

from etui.agent.model import Ask
from etui.agent.scripted import Step, call
from etui.events import Kind
from etui.outcome import Status

PROBE = ping(
    """
    value = eval(args["code"], {**globals(), "ctx": ctx})
    if inspect.isawaitable(value):
        value = await value
    return json.dumps([value], default=repr)
    """,
    name="probe",
    top="""
    import inspect, json, os
    import kotoba.tools
    from kotoba.tools import registry
    # It is told what it asks for: user_texts soul_patterns excluded_tools mcp dispatchable
    """,
    head="""
    RISK = "write"
    ANNOUNCE = "Looking."
    HEARTBEAT = ["Still."]
    """,
)
"""A tool that says what an expression of its context is."""


async def asked(room: Room, code: str, **session: Any) -> Any:
    """The value of the expression in a call."""
    outcome = await room.call("probe", {"code": code}, **session)
    assert outcome.status is Status.OK, outcome.detail
    return json.loads(outcome.text)[0]


async def told(room: Room, said: str, *codes: str, **how: Any) -> list[Any]:
    """The values of the expressions, each in a call of one turn."""
    await room.turn(said, [call("probe", {"code": code, "n": n}, n) for n, code in enumerate(codes)], "Done.", **how)
    return [json.loads(message.text)[0] for message in room.results()[-len(codes) :]]


@pytest.mark.promise("K216", "K217", "K218", "K221", "K222", "K100")
async def test_a_turn_is_told_as_it_is(tmp_path):
    async with kotoba(tmp_path, {"p/probe.py": PROBE, "p/ping.py": PING}) as room:
        session, call_id, text = await told(room, "make tea", "ctx.session_id", "ctx.call_id", "ctx.user_text")
        assert text == "make tea"
        assert call_id == room.results()[1].call
        ids = await told(room, "again", "ctx.session_id", "ctx.call_id", "ctx.call_id")
        assert ids == [session, *(message.call for message in room.results()[-2:])]
        for number in range(4):
            (texts,) = await told(room, f"said {number}", "ctx.user_texts")
        assert texts == ["said 3", "said 2", "said 1", "said 0"]
        first, written, *_ = await told(
            room,
            "write",
            "str(ctx.workdir)",
            "[ctx.workdir.is_dir(), ctx.workdir.is_absolute(), (ctx.workdir / 'a').write_text('x')]",
        )
        assert written == [True, True, 1]
        room.chat = ""
        other, second, read = await told(room, "read", "ctx.session_id", "str(ctx.workdir)", "(ctx.workdir / 'a').read_text()")
        assert other != session
        assert (second, read) == (first, "x")


KEYS = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "sk-not-for-workers"}
"""The environment of a host whose model has a key."""


@pytest.mark.promise("K219", "K220", "K221", "K224", "K230", "K233", "K236")
async def test_a_conversation_and_a_job_that_it_starts_are_told_apart(tmp_path):
    code = (
        "[ctx.mode, ctx.channel, ctx.register, ctx.user_text, callable(ctx.approval.confirm), ctx.spawn_depth,"
        " ctx.subagent_id, ctx.client, 'OPENAI_API_KEY' in os.environ]"
    )
    wanted = [call("probe", {"code": code})]
    async with kotoba(tmp_path, {"p/probe.py": PROBE}, shelf=("work",), environ=KEYS) as room:
        for channel, way in (("console", "text"), ("voice", "voice")):
            async with room.host.hub.listen(Kind.WORK_DONE) as done:
                goal = f"find it for {channel}"
                job_too = [call("start_work", {"goal": goal})]

                def either(ask: Ask, goal: str = goal) -> Step:
                    """The job and the rest of the conversation's turn ask in any order."""
                    said = [message.text for message in ask.messages if message.role == "user"][-1]
                    asked = any(message.role == "tool" and message.tool == "probe" for message in ask.messages)
                    return wanted if said == goal and not asked else "Done."

                await room.turn("go", wanted, job_too, *[either] * 3, channel=channel)
                job = (await asyncio.wait_for(done.next(), LONG)).data["job"]
            talk = [message for message in room.results() if message.tool == "probe"][-1]
            (work,) = [message for message in room.host.store.chats.messages(str(job)) if message.role == "tool"]
            assert json.loads(talk.text)[0] == ["companion", way, way, "go", True, 0, None, None, False]
            assert json.loads(work.text)[0] == ["work", way, way, goal, True, 0, None, None, False]


@pytest.mark.promise("K219", "K220", "K224", "K230", "K233", "K234", "K235", "K236")
async def test_the_fields_in_every_mode_and_channel(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-workers")
    code = (
        "[ctx.mode, ctx.channel, ctx.register, type(ctx.announce_turn).__name__, ctx.el_call_bound, ctx.emit_progress, ctx.mcp,"
        " ctx.client, ctx.spawn_depth, ctx.subagent_id, callable(ctx.approval.confirm), 'OPENAI_API_KEY' in os.environ]"
    )
    async with kotoba(tmp_path, {"p/probe.py": PROBE}, environ=KEYS, before_pin=["contract:kotoba"]) as room:
        for channel, way in (("console", "text"), ("terminal", "text"), ("voice", "voice"), ("phone", "voice")):
            for mode, word in (("conversation", "companion"), ("work", "work")):
                found = await asked(room, code, channel=channel, mode=mode)
                assert found == [word, way, way, "bool", False, None, None, None, 0, None, True, False]


@pytest.mark.promise("K229", "K231", "K232", "K237", "K223")
async def test_a_context_can_be_deepened_changed_and_compared(tmp_path):
    deeper = (
        "(lambda c: [c.spawn_depth, c.mode, c.subagent_id, c.workdir == ctx.workdir, c.db is ctx.db,"
        " c.approval is ctx.approval,"
        " c.mcp is ctx.mcp, c.sandbox is ctx.sandbox, c.user_text == ctx.user_text, c.user_texts == ctx.user_texts,"
        " c._sources is ctx._sources])(ctx.child('s'))"
    )
    async with kotoba(tmp_path, {"p/probe.py": PROBE, "p/ping.py": PING}) as room:
        (found,) = await told(room, "hello", deeper)
        assert found == [1, "work", "s", *[True] * 8]
        assert await asked(room, "sorted(ctx.excluded_tools)") == []
        assert await asked(room, "type(ctx.excluded_tools).__name__") == "frozenset"
        assert await asked(room, "sorted(ctx.excluded_tools)", withheld=frozenset({"ping"})) == ["ping"]
        assert await asked(room, "ctx.soul_patterns['ping']") == {"before": "", "heartbeat": [], "after": "", "fail": ""}
        assert (await asked(room, "ctx.soul_patterns['probe']"))["before"] == "Looking."
        assert await asked(room, "[setattr(ctx, 'mine', 1), ctx.mine]") == [None, 1]
        first, second = await told(room, "more", "ctx.run_id", "ctx.run_id")
        turn = room.results()[-1].turn
        (third,) = await told(room, "yet more", "ctx.run_id")
        assert first == second != third
        assert re.fullmatch("[0-9a-f]{8}", first)
        assert first in turn


async def test_reading_text_stays_inside(tmp_path):
    async with kotoba(tmp_path, {"p/probe.py": PROBE}) as room:
        work = room.host.home / "files"
        (work / "notes.txt").write_bytes(b"a\xffb")
        assert [await asked(room, f"ctx.read_text({name!r})") for name in ("notes.txt", "none.txt", "../x", ".")] == [
            "a�b",
            None,
            None,
            None,
        ]


@pytest.mark.promise("K193", "K214", "K215")
async def test_a_tool_may_look_at_the_tools_there_are_and_change_none(tmp_path):
    act = """
        registry.register(registry.ToolSpec(name="other", module=None, schema={}))
        registry.deregister("other")
        registry.set_toolset_enabled("plugin:q", False)
        kotoba.tools.discover()
        return "tried"
        """
    meddles = ping(act, name="meddles", top="import kotoba.tools\nfrom kotoba.tools import registry")
    files = {"p/probe.py": PROBE, "p/meddles.py": meddles, "q/other.py": ping(name="other"), "r/ping.py": PING}
    async with kotoba(tmp_path, files) as room:
        assert await asked(room, "registry.all_toolsets()") == ["plugin:p", "plugin:q", "plugin:r"]
        assert await asked(room, "[registry.dispatchable('other').name, registry.dispatchable('other').toolset]") == [
            "other",
            "plugin:q",
        ]
        assert await asked(room, "registry.dispatchable('nosuch')") is None
        assert await asked(room, "sorted(registry.registry())") == ["meddles", "other", "ping", "probe"]
        assert await asked(room, "[s['name'] for s in registry.schemas_for()]") == ["meddles", "probe"]
        assert await asked(room, "sorted(kotoba.tools.TOOL_REGISTRY)") == ["meddles", "probe"]
        room.host.tools.switch("plugin:r", False)
        assert await asked(room, "sorted(registry.disabled_toolsets())") == ["plugin:r"]
        assert (await room.call("meddles")).text == "tried"
        assert (await room.call("other")).text == "pong"
        assert await asked(room, "registry.dispatchable('other').name") == "other"
        log = room.host.workers.logs("p")
        for word in ("'p'", "register 'other'", "remove 'other'", "switch off 'plugin:q'"):
            assert word in log
