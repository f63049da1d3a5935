"""What a handler knows of its session: live, each its own, and nothing that it could let itself in with."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import signal

import pytest
from tests.keryx.homes import MOON, keryx, payload, save, tool, tools, wire
from tests.spine.homes import until

from etui.agent.scripted import call
from etui.contracts.keryx.context import ToolContext
from etui.contracts.keryx.trust import TrustLevel
from etui.events import Kind
from etui.outcome import Status

NUMBER = "+4930123456"
SIX = """
s = ctx.session
return {"six": [s.authorized, int(s.trust), s.channel, s.caller, s.session_id, s.opening_task_id], "kind": type(ctx).__name__,
        "ctx": [ctx.authorized, type(ctx.trust).__name__, ctx.trust.name, ctx.channel, ctx.caller], "keypressed": s.keypressed,
        "reportable": sorted(s.reportable_task_ids), "frozen": type(s.reportable_task_ids).__name__}
"""


@pytest.mark.promise("X095", "X070", "X094", "X100", "X216", "X217", "X218", "X221")
async def test_each_session_is_seen_as_it_is(tmp_path):
    async with keryx(tmp_path, {"x.py": tool(SIX)}) as room:
        phone, other = await room.open("phone", caller=NUMBER), await room.open("phone", caller="+1", possession=True)
        console = await room.open("console")
        seen, elsewhere, local = await asyncio.gather(*(room.payload(one, "x") for one in (phone, other, console)))
        assert seen == {
            "six": [False, 0, "phone", NUMBER, phone.id[:8], None],
            "kind": "ToolContext",
            "ctx": [False, "TrustLevel", "NONE", "phone", NUMBER],
            "keypressed": False,
            "reportable": [],
            "frozen": "frozenset",
        }
        assert elsewhere["six"] == [False, 1, "phone", "+1", other.id[:8], None]
        assert elsewhere["ctx"][2] == "POSSESSION"
        assert local["six"][:4] == [False, 2, "local", None]
        assert len({phone.id[:8], other.id[:8]}) == 2
        assert all(len(one) == 8 and int(one, 16) >= 0 for one in (phone.id[:8], other.id[:8]))
        phone.press()
        phone.authorize()
        other.press()
        seen = await room.payload(phone, "x")
        assert (seen["six"][:2], seen["ctx"][2], seen["keypressed"]) == ([True, 2], "FULL", True)
        seen = await room.payload(other, "x")
        assert (seen["six"][:2], seen["keypressed"]) == ([False, 1], True)
        assert dataclasses.is_dataclass(ToolContext)


@pytest.mark.promise("X216")
@pytest.mark.parametrize("channel", ["console", "terminal", "python", "voice", "mcp", "http"])
async def test_every_channel_but_the_phone_is_local(tmp_path, channel):
    file = tools(tmp_path, tool(SIX))
    seen = await payload(file, host=wire(channel=channel))
    assert (seen["six"][2], seen["ctx"][3]) == ("local", "local")


@pytest.mark.promise("X099", "X100")
@pytest.mark.parametrize("kind", ["async def", "def"])
async def test_what_is_proved_during_a_call_is_seen_at_the_next_look(tmp_path, kind):
    pause = "await asyncio.sleep(0.002)" if kind == "async def" else "time.sleep(0.002)"
    waits = f"""
    import asyncio, time
    before = [ctx.authorized, ctx.trust.name, ctx.session.keypressed]
    open(args["path"], "w").close()
    while not (ctx.authorized and ctx.session.keypressed):
        {pause}
    return {{"seen": before + [ctx.authorized, ctx.trust.name, ctx.session.keypressed]}}
    """
    async with keryx(tmp_path, {"x.py": tool(waits, kind=kind)}) as room:
        phone, other = await room.open("phone"), await room.open("phone")
        path = room.host.home / "files" / "begun"
        running = asyncio.ensure_future(room.payload(phone, "x", {"path": str(path)}))
        while not path.exists():
            await asyncio.sleep(0.002)
        other.authorize()
        phone.press()
        phone.authorize()
        assert (await running)["seen"] == [False, "NONE", False, True, "FULL", True]


@pytest.mark.promise("X099")
async def test_what_is_proved_while_a_call_waits_for_its_worker_is_not_lost(tmp_path):
    waits = "while not ctx.authorized:\n    await asyncio.sleep(0.002)\nreturn {'trust': ctx.trust.name}"
    async with keryx(tmp_path, {"x.py": tool(waits, head="import asyncio")}) as room, room.host.hub.listen() as heard:
        phone = await room.open("phone")
        (worker,) = [one for one in room.host.workers.report() if one.instance == phone.id]
        os.kill(worker.pid, signal.SIGKILL)
        await until(heard, Kind.WORKER_GONE)
        running = asyncio.ensure_future(room.payload(phone, "x"))
        await asyncio.sleep(0)
        phone.authorize()
        assert await running == {"trust": "FULL"}


@pytest.mark.promise("X096", "X222")
@pytest.mark.parametrize(("said", "reason"), [("", "user"), ("'done'", "done")])
async def test_a_tool_can_ask_for_the_end_which_comes_after_the_answer(tmp_path, said, reason):
    ends = f"ctx.session.request_end({said})\nreturn {{'ok': True}}"
    async with keryx(tmp_path, {"x.py": tool(ends), "y.py": tool(ends, name="y", kind="def")}) as room:
        for name in ("x", "y"):
            room.chat = ""
            await room.events()
            assert await room.turn("go", [call(name)], "Goodbye.", channel="phone") == "Goodbye."
            assert json.loads(room.results()[-1].text) == {"ok": True}
            told = [
                (event.kind, event.data.get("reason"))
                for event in await room.events()
                if event.kind in (Kind.TEXT, Kind.TURN_ENDED, Kind.SESSION_ENDED)
            ]
            assert told == [(Kind.TEXT, None), (Kind.TURN_ENDED, None), (Kind.SESSION_ENDED, reason)]


@pytest.mark.promise("X097", "X219")
@pytest.mark.parametrize("tries", ["ctx.session.authorize()", "await ctx.session.submit_pin('123456')"])
async def test_a_tool_cannot_let_itself_in_and_the_audit_names_it(tmp_path, tries):
    files = {"x.py": tool(tries), "shut.py": tool(name="shut", options='description="d"')}
    async with keryx(tmp_path, files) as room:
        await room.host.entrance.pins.set("123456")
        phone = await room.open("phone")
        refused = await room.payload(phone, "x")
        assert list(refused) == ["error"]
        assert refused["error"].startswith("PermissionError: ")
        assert (phone.trust, phone.authorized) == ("none", False)
        assert (await room.payload(phone, "shut"))["status"] == "pin_required"
        (row,) = [row for row in room.host.store.journal.actions() if row.detail == "decision"]
        assert (row.tool, row.approved, row.approver) == ("x", False, "never")
        assert row.action == ("authorize()" if "authorize" in tries else "submit_pin()")
        assert "123456" not in str(room.host.store.journal.actions())


async def test_a_tool_that_catches_the_refusal_has_gained_nothing(tmp_path):
    tries = """
    try:
        ctx.session.authorize()
    except PermissionError:
        pass
    type(ctx.session).trust = 2
    return {"trust": int(ctx.trust)}
    """
    files = {"x.py": tool(tries), "shut.py": tool(name="shut", options='description="d"')}
    async with keryx(tmp_path, files) as room:
        await room.host.entrance.pins.set("123456")
        phone = await room.open("phone")
        await room.payload(phone, "x")
        assert (await room.payload(phone, "shut"))["status"] == "pin_required"
        assert phone.trust == "none"


@pytest.mark.promise("X215")
async def test_a_context_may_be_changed_and_the_next_call_has_its_own(tmp_path):
    text = tool("seen = ctx.caller\nctx.caller = 'x'\nctx.session = None\nreturn {'seen': seen}")
    file = tools(tmp_path, text)
    host = wire(caller=NUMBER)
    assert await payload(file, host=host) == await payload(file, host=host) == {"seen": NUMBER}


class Stub:
    trust = TrustLevel.NONE
    session_id = "0a1b2c3d"
    authorized = False


@pytest.mark.promise("X098", "X103", "X220")
async def test_a_stub_is_session_enough_for_a_tool_and_for_a_registry(tmp_path):
    from keryx.tools import ToolContext as Offered
    from keryx.tools import ToolRegistry
    from keryx.tools.custom import load_custom_tools

    assert Offered is ToolContext
    save(tmp_path / "tools", {"moon.py": MOON})
    ((_, moon),) = load_custom_tools(tmp_path / "tools").tools
    assert await moon.handler(ToolContext(session=Stub(), channel="phone", caller=None), {}) == {"phase": "waxing gibbous"}
    assert await moon.handler(None, {}) == {"phase": "waxing gibbous"}
    from keryx.config import Settings
    from keryx.tools.custom import register_custom_tools

    registry = ToolRegistry()
    register_custom_tools(registry, Settings(data_dir=tmp_path))
    assert await registry.call("moon_phase", {}, ToolContext(Stub(), "phone", None)) == {"phase": "waxing gibbous"}


async def test_asking_for_the_end_from_a_thread_of_its_own_is_heard(tmp_path):
    text = tool(
        """
        import threading
        thread = threading.Thread(target=ctx.session.request_end, args=("thread",))
        thread.start()
        thread.join()
        return {}
        """,
        kind="def",
    )
    host = wire()
    ran = await tools(tmp_path, text).call("x", host=host)
    assert (ran.status, host.asked) == (Status.OK, [("session.end", {"reason": "thread"})])
