"""Code that lies where another plugin may write: what one plugin changes of another is not run until the owner accepts it."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import py_compile
from pathlib import Path

from tests.kotoba.homes import ping, write
from tests.sapphire.homes import manifest, sapphire, tool
from tests.spine.homes import LONG, host_at

from etui.events import Kind

WRITER = """
from pathlib import Path
for name, text in arguments["files"].items():
    path = Path("user", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
return "written", True
"""
ASKER = "from core.plugin_loader import plugin_loader\nreturn str(plugin_loader.reload_plugin(arguments['name'])), True"
NET = 'import socket\nsocket.socket().close()\nreturn "{}", True'
"""Does what only a plugin with the network may do, and says which code it is."""
A = {"core/plugins/a/tools/a.py": tool("a", body=WRITER)}
B = {"user/plugins/b/tools/b.py": tool("b", body=NET.format("old"))}
PLAIN = {"user/plugins/b/tools/b.py": tool("b", body='return "old", True')}
"""Touches nothing: whoever may use the network may write too."""
EVIL = {"plugins/b/tools/b.py": tool("b", body=NET.format("evil"))}


def held(room, plugin="b"):
    """The reasons that wait for the owner's word."""
    return [reason for reason in room.reasons(plugin) if "lies where plugins can write" in reason]


async def fresh(room, plugin, name):
    """What a tool says in a new process of its plugin."""
    await room.host.installed.reread(plugin)
    return await room.ran(name)


async def attack(room, files):
    """Let plugin `a` write, and know of it."""
    assert await room.ran("a", {"files": files}) == ("written", True)
    await room.refreshed()


async def test_a_plugin_that_rewrites_another_one_changes_nothing_until_the_owner_reloads_it(tmp_path):
    async with sapphire(tmp_path, {**A, **B}, checkout=True) as room:
        plugins = room.host.registry.snapshot.plugins
        assert plugins["a"].grant.write and not plugins["a"].grant.network
        assert plugins["b"].grant.network
        assert await room.ran("b") == ("old", True)
        before = room.tool("b")
        async with asyncio.timeout(LONG), room.host.hub.listen() as heard:
            assert await room.ran("a", {"files": EVIL}) == ("written", True)
            while True:
                event = await heard.next()
                if event.kind is Kind.PROBLEM and event.data["problem"]["plugin"] == "b":
                    break
        [reason] = held(room)
        assert reason == (
            "b: Its code changed ('tools/b.py'), and it lies where plugins can write: the old code goes on. "
            "Reload it, or switch it off and on, to accept the change."
        )
        assert event.data["problem"]["refused"] is False
        assert await room.ran("b") == ("old", True)
        assert await fresh(room, "b", "b") == ("old", True)
        assert room.tool("b") == before and plugins["b"].path == str(room.user / "plugins/b")
        assert await room.host.installed.reload("b")
        assert held(room) == []
        assert await room.ran("b") == ("evil", True)


async def test_no_plugin_gives_the_owners_word_and_one_cannot_change_itself_either(tmp_path):
    files = {
        "user/plugins/a/tools/a.py": tool("a", body=WRITER),
        "core/plugins/c/tools/c.py": tool("ask", body=ASKER),
        **B,
    }
    async with sapphire(tmp_path, files, checkout=True) as room:
        await attack(room, {**EVIL, "plugins/a/tools/a.py": tool("a", body=NET.format("net"))})
        for name in "ab":
            assert await room.ran("ask", {"name": name}) == ("False", True)
            assert len(held(room, name)) == 1
        assert await fresh(room, "b", "b") == ("old", True)
        assert not room.host.registry.snapshot.plugins["a"].grant.network
        assert await fresh(room, "a", "a") != ("net", True)


async def test_what_waits_waits_over_a_restart_and_without_the_writer_and_switching_off_and_on_accepts_it(tmp_path):
    async with sapphire(tmp_path, {**A, **PLAIN}, checkout=True) as room:
        await attack(room, EVIL)
        room.host.tools.switch("plugin:a", False)
        await room.refreshed()
        assert await fresh(room, "b", "b") == ("old", True)
        sources = [{"path": str(room.root), "contract": "sapphire"}]
    async with host_at(tmp_path / "home", sources=sources) as host:
        session = host.session("python")
        [problem] = host.problems.all()
        assert (problem.plugin, problem.refused) == ("b", False)
        assert (await session.call(session.new_call("b", {}))).text == "old"
        async with host.hub.listen() as heard:
            host.tools.switch("plugin:b", False)
            host.tools.switch("plugin:b", True)
            while (await heard.next()).kind is not Kind.PROBLEM_GONE:
                continue
        assert (await session.call(session.new_call("b", {}))).text == "evil"
    async with host_at(tmp_path / "home", sources=sources) as host:
        assert host.problems.all() == ()
        session = host.session("python")
        assert (await session.call(session.new_call("b", {}))).text == "evil"


async def test_a_word_is_for_the_change_that_the_owner_was_told_of(tmp_path):
    async with sapphire(tmp_path, {**A, **B}, checkout=True) as room:
        await attack(room, {"plugins/b/tools/b.py": tool("b", body=NET.format("harmless"))})
        await room.host._tooling.catalogue._watching.close()
        assert await room.ran("a", {"files": EVIL}) == ("written", True)
        assert not await room.host.installed.reload("b")
        assert await room.ran("b") == ("old", True)
        assert await room.host.installed.reload("b")
        assert await room.ran("b") == ("evil", True)


async def test_where_no_plugin_may_write_an_edit_is_live(tmp_path):
    files = {**PLAIN, "user/functions/f.py": tool("f", body='return "old", True'), "core/plugins/a/tools/a.py": tool("a")}
    async with sapphire(tmp_path, files, checkout=True) as room:
        for name, path in (("b", "user/plugins/b/tools/b.py"), ("f", "user/functions/f.py")):
            assert await room.ran(name) == ("old", True)
            write(room.root, {path: tool(name, body='return "edited", True')})
            await room.refreshed()
            assert await room.ran(name) == ("edited", True) and not held(room, name)
        write(room.root, A)  # From here on one may write.
        await room.refreshed()
        await attack(room, EVIL)
        assert len(held(room)) == 1 and await fresh(room, "b", "b") == ("edited", True)


async def test_once_the_writer_is_gone_and_nothing_waits_edits_are_live_again_from_the_next_start_on(tmp_path):
    async with sapphire(tmp_path, {**A, **PLAIN}, checkout=True) as room:
        root = room.root
        room.host.tools.switch("plugin:a", False)
    async with host_at(tmp_path / "home", sources=[{"path": str(root), "contract": "sapphire"}]) as host:
        write(root, {"user/plugins/b/tools/b.py": tool("b", body='return "edited", True')})
        await host._tooling.catalogue.refresh()
        session = host.session("python")
        assert (await session.call(session.new_call("b", {}))).text == "edited"
        assert host.problems.all() == ()


async def test_a_loose_module_and_a_manifest_are_code_too(tmp_path):
    hook = "def pre_chat(event):\n    pass\n"
    files = {**A, **B, "user/plugins/b/h.py": hook, "user/functions/f.py": tool("f", body='return "old", True')}
    async with sapphire(tmp_path, files, checkout=True) as room:
        told = manifest("b", "tools/b.py", hooks={"pre_chat": "h.py"})
        await attack(room, {"functions/f.py": tool("f", body=NET.format("evil")), "plugins/b/plugin.json": told})
        assert await fresh(room, "f", "f") == ("old", True)
        assert "'f.py'" in held(room, "f")[0] and "'plugin.json'" in held(room, "b")[0]
        assert room.host.registry.snapshot.plugins["b"].handlers == ()
        assert await room.host.installed.reload("f") and await room.host.installed.reload("b")
        assert await room.ran("f") == ("evil", True)
        assert [one.kind for one in room.host.registry.snapshot.plugins["b"].handlers] == ["hook"]


async def test_every_way_by_which_python_finds_a_file_finds_the_accepted_one(tmp_path):
    body = """
    import importlib.util, json, sys
    from pathlib import Path
    here = Path(__file__).parent
    sys.path.insert(0, str(here))
    import beside
    from plugins.b.inner import within
    from plugins.b._kept import hidden
    spec = importlib.util.spec_from_file_location("by_path", here / "beside.py")
    by_path = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(by_path)
    try:
        from plugins.b import added
    except ImportError:
        added = None
    import socket
    socket.socket().close()
    found = [one and one.WHO for one in (beside, within, hidden, by_path, added)]
    return json.dumps([*found, str(here)]), True
    """
    neighbour = "import json\nfrom plugins.b.inner import within\nreturn json.dumps(within.WHO), True"
    files = {
        **A,
        "core/plugins/c/tools/c.py": tool("c", body=neighbour),
        "user/plugins/b/tools/b.py": tool("b", body=body),
        **{f"user/plugins/b/{path}": 'WHO = "own"\n' for path in ("tools/beside.py", "inner/within.py", "_kept/hidden.py")},
    }
    evil = 'WHO = "evil"\n'
    paths = (
        *("tools/beside.py", "tools/beside/__init__.py", "inner/within.py", "inner/within/__init__.py", "_kept/hidden.py"),
        *("added.py", "added/__init__.py"),
    )
    async with sapphire(tmp_path, files, checkout=True) as room:
        # Of what takes the place of `beside` for Python, nothing is found either: the import fails, and evil code never runs.
        await attack(room, {f"plugins/b/{path}": evil for path in paths if path != "tools/beside/__init__.py"})
        here = str(room.user / "plugins/b/tools")
        write(tmp_path, {"beside.py": evil})
        compiled = py_compile.compile(
            str(tmp_path / "beside.py"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True
        )
        cached = importlib.util.cache_from_source("plugins/b/tools/beside.py")
        await attack(room, {cached: Path(compiled).read_bytes().decode("latin-1")})
        await room.host.installed.reread("b")
        assert await room.value("b") == ["own", "own", "own", "own", None, here]
        assert await fresh(room, "c", "c") == ('"own"', True)
        await attack(room, {"plugins/b/tools/beside/__init__.py": evil})
        await room.host.installed.reread("b")
        text, ok = await room.ran("b")
        assert not ok and "evil" not in text


async def test_what_is_taken_away_and_put_back_or_put_over_a_shipped_plugin_waits(tmp_path):
    body = """
    import json, shutil
    shutil.rmtree("user/plugins/b")
    return "gone", True
    """
    files = {
        **A,
        **B,
        "core/plugins/r/tools/r.py": tool("r", body=body),
        "core/plugins/s/tools/s.py": tool("s", body='return "shipped", True'),
    }
    async with sapphire(tmp_path, files, checkout=True) as room:
        assert await room.ran("r") == ("gone", True)
        await room.refreshed()
        assert "b" not in room.tools()
        told = json.dumps({"name": "b", "capabilities": {"tools": ["tools/b.py"]}})
        over = {
            "plugins/s/tools/s.py": tool("s", body=NET.format("evil")),
            "plugins/s/plugin.json": manifest("s", "tools/s.py"),
        }
        await attack(room, {**EVIL, "plugins/b/plugin.json": told, **over})
        assert "plugin:b" not in room.host.tools.off() and "plugin:s" not in room.host.tools.off()
        assert not {"b", "s"} & {*room.tools()}
        for name in "bs":
            [reason] = held(room, name)
            assert "Nobody accepted its code" in reason
            assert await room.host.installed.reload(name)
            assert await room.ran(name) == ("evil", True)


async def test_the_working_folder_of_other_tools_holds_no_code_and_a_source_in_it_waits_too(tmp_path):
    home = tmp_path / "home"
    write(home, {"files/mine/p/ping.py": ping('return "old"')})
    writer = """
        from etui import Context, tool

        @tool(risk="write")
        def overwrite(ctx: Context, text: str) -> str:
            \"\"\"Write.\"\"\"
            ctx.files.write_text("mine/p/ping.py", text)
            return "written"
    """
    write(home, {"tools/w.py": "\n".join(line.removeprefix("        ") for line in writer.splitlines())})
    async with host_at(home) as host:
        places = host._tooling._places
        assert [one for one in (*places.live(), *places.fresh()) if one.path.is_relative_to(home / "files")] == []
    async with host_at(home, sources=[{"path": str(home / "files/mine"), "contract": "kotoba"}]) as host:
        session = host.session("python")
        assert (await session.call(session.new_call("ping", {}))).text == "old"
        outcome = await session.call(session.new_call("overwrite", {"text": ping('return "evil"')}))
        assert outcome.ok, outcome.text
        await host._tooling.catalogue.refresh()
        [problem] = host.problems.all()
        assert problem.plugin == "p" and "'ping.py'" in problem.reason
        await host._tooling.catalogue.reload("p")
        assert (await session.call(session.new_call("ping", {}))).text == "old"
        assert host.tools.all()[0].file and str(home / "accepted") not in {tool.file for tool in host.tools.all()}
        async with host.hub.listen() as heard:
            host.tools.switch("plugin:p", False)
            host.tools.switch("plugin:p", True)
            while (await heard.next()).kind is not Kind.PROBLEM_GONE:
                continue
        assert (await session.call(session.new_call("ping", {}))).text == "evil"
