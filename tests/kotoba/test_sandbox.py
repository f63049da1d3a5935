"""`ctx.ensure_sandbox()` and the file and context members around it: commands in the confinement of the tool itself."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from tests.kotoba.homes import kotoba, ping, write
from tests.kotoba.wheel import files as wheel_files

from etui.agent.scripted import call
from etui.events import Kind
from etui.outcome import Status

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nowhere", "X_TOKEN": "hush", "MY_AUTH": "hush"}
RUN = ping(
    """
    box = await ctx.ensure_sandbox()
    if box is None:
        return "none"
    done = await box.run(args["command"], **args.get("more", {}))
    if args.get("sizes"):
        return repr((len(done.stdout), len(done.stderr), done.exit_code, done.ok))
    return repr((done.stdout, done.stderr, done.exit_code, done.ok))
    """,
    name="run",
)
BOX = ping(
    """
    before = ctx.sandbox
    box = await ctx.ensure_sandbox()
    told = [before is None, box is ctx.sandbox, box is await ctx.ensure_sandbox()]
    code = await box.run_code("print(1+1)")
    await box.write("made/here.txt", "hé")
    assert await box.read("made/here.txt") == "hé".encode()
    await box.write("made/here.bin", bytes([0, 1]))
    told += [code.stdout, await box.read("made/here.bin") == bytes([0, 1])]
    for path in ("../x", "/etc/passwd"):
        try:
            await box.read(path)
        except Exception as error:
            told.append(type(error).__name__)
    await box.kill()
    again = await ctx.ensure_sandbox()
    told.append((await again.run("echo again")).stdout)
    await ctx.cleanup()
    told += [ctx.sandbox is None, (await (await ctx.ensure_sandbox()).run("echo more")).stdout]
    return repr(told)
    """,
    name="box",
)
GRADE = ping(
    """
    box = await ctx.ensure_sandbox()
    for code in args["codes"]:
        await box.run(f"exit {code}")
    return "exit=" + str(args["codes"][-1])
    """,
    name="grade",
    head='RISK = "write"',
)
CONTEXT = ping(
    """
    texts = [await ctx.read_text(path) for path in ("notes.txt", "odd.txt", "missing.txt", "../x", "sub")]
    fields = {name: getattr(ctx, name) is not None for name in
              ("workdir", "session_id", "call_id", "mode", "channel", "user_text", "db", "approval", "excluded_tools")}
    fields |= {"sandbox": ctx.sandbox is None, "mcp": ctx.mcp is None, "client": ctx.client is None}
    fields |= {name: callable(getattr(ctx, name)) for name in ("ensure_sandbox", "cleanup", "read_text", "child")}
    return repr((texts, [name for name, there in fields.items() if not there]))
    """,
    name="context",
)
PAGES_CHECK = """
def check():
    from kotoba.core.sandbox import sandbox_available_sync

    return sandbox_available_sync()
"""
CHECK = ping("return repr((await ctx.ensure_sandbox(),))", head=PAGES_CHECK, name="maybe")


@pytest.fixture
async def room(tmp_path):
    write(tmp_path / "home" / "files", {"notes.txt": "alpha\n", "odd.txt": b"a\xffb", "sub/x": ""})
    files = {"p/run.py": RUN, "p/box.py": BOX, "p/grade.py": GRADE, "p/context.py": CONTEXT}
    async with kotoba(tmp_path, files, environ=ENVIRON) as room:
        room.work = tmp_path / "home" / "files"
        yield room


async def ran(room, command: str, *, sizes: bool = False, **more: object) -> tuple:
    return eval((await room.call("run", {"command": command, "sizes": sizes, "more": more})).text)


@pytest.mark.promise("K338", "K340", "K341", "K342")
async def test_commands_run_in_the_working_folder_with_an_end_and_no_secrets(room):
    assert await ran(room, "echo hi") == ("hi\n", "", 0, True)
    assert await ran(room, "echo no >&2; exit 2") == ("", "no\n", 2, False)
    assert (await ran(room, "pwd"))[0].strip() == str(room.work)
    assert (await ran(room, "pwd", cwd="sub"))[0].strip() == str(room.work / "sub")

    started = time.monotonic()
    out, err, code, ok = await ran(room, "sleep 9; echo late", timeout=0.3)
    assert (out, code, ok) == ("", 124, False) and err and time.monotonic() - started < 3
    assert (await ran(room, "sleep 9 & echo on"))[0] == "on\n" and time.monotonic() - started < 4

    names = {row.partition("=")[0] for row in (await ran(room, "env"))[0].splitlines()}
    assert {"PATH", "HOME"} <= names and not names & {"X_TOKEN", "MY_AUTH"}
    room.host.plugins.give("p", "X_TOKEN")
    told = await ran(room, "env; echo $X_TOKEN")
    assert "PATH=" in told[0] and "hush" not in told[0]

    long = "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"
    assert await ran(room, long, sizes=True) == (200_000, 200_000, 0, True)


async def test_programs_find_what_they_need_although_the_machine_shows_them_little(tmp_path):
    write(tmp_path / "person", {".gitconfig": "[core]\n"})
    made = "git init -q . && git -c user.name=a -c user.email=b commit -qm first --allow-empty && git log --format=%s"
    async with kotoba(tmp_path, {"p/run.py": RUN}, environ={**ENVIRON, "HOME": str(tmp_path / "person")}) as room:
        out, _, code, _ = await ran(room, made)
        assert (out, code) == ("first\n", 0)
        passing = Path((await ran(room, "mktemp"))[0].strip())
        assert passing.is_file()
        assert passing.is_relative_to(tmp_path / "home" / "files")


async def test_a_command_is_confined_like_the_tool_itself(room):
    out, _, code, _ = await ran(room, "cat /etc/shadow; echo $? > ../outside; cat ../../../../etc/hostname")
    assert (out, code != 0) == ("", True)
    assert not (room.work.parent / "outside").exists()


@pytest.mark.promise("K225", "K339", "K227")
async def test_the_sandbox_is_there_once_asked_for_and_again_after_its_end(room):
    told = eval((await room.call("box")).text)
    assert told == [True, True, True, "2\n", True, "PathSecurityError", "PathSecurityError", "again\n", True, "more\n"]


@pytest.mark.promise("K225", "K226", "K227")
async def test_a_conversation_keeps_its_sandbox_after_the_cleanup_of_a_call(tmp_path):
    lets_go = """
    box = await ctx.ensure_sandbox()
    known = ctx.sandbox is box
    await box.run("echo kept > it")
    await ctx.cleanup()
    return repr((known, ctx.sandbox is None))
    """
    first = "return repr(ctx.sandbox)"
    files = {"p/run.py": RUN, "p/lets_go.py": ping(lets_go, name="lets_go"), "p/first.py": ping(first, name="first")}
    async with kotoba(tmp_path, files, environ=ENVIRON) as room:
        await room.turn("write", [call("first")], [call("lets_go")], [call("run", {"command": "cat it"})], "Done.")
        await room.turn("read", [call("first")], [call("run", {"command": "cat it"})], "Done.")
        found = "('kept\\n', '', 0, True)"
        assert [result.text for result in room.results()] == ["None", "(True, True)", found, "None", found]


@pytest.mark.promise("K226", "K170", "K171")
async def test_what_one_turn_left_is_there_in_the_next_and_without_programs_there_is_no_sandbox(tmp_path):
    only = {"r/only.py": ping(name="only", head=PAGES_CHECK)}
    files = {"p/run.py": RUN, "p/maybe.py": CHECK, **wheel_files("shell", "execute_code", plugin="q"), **only}
    async with kotoba(tmp_path, files, environ=ENVIRON) as room:
        await room.turn("write it", [call("run", {"command": "echo kept > it"})], "Done.")
        await room.turn("read it", [call("run", {"command": "cat it"})], "Done.")
        assert room.results()[-1].text.startswith("('kept\\n'")
        assert set(room.offered()) == {"execute_code", "maybe", "only", "run", "shell"}
        for plugin in ("p", "q", "r"):
            room.host.plugins.forbid(plugin, "subprocess", True)
        await room.turn("and now", [call("run", {"command": "cat it"})], "Done.")
        assert room.results()[-1].text == "none"
        assert room.offered() == ["run"]
        assert (await room.call("maybe")).text == "(None,)"


@pytest.mark.promise("K271")
async def test_exit_codes_decide_the_mark_and_not_the_text(room):
    await room.turn("go", [call("grade", {"codes": [0, 3]})], "Hm.")
    assert room.requests[-1].messages[-1].text == "exit=3"
    row = [event.data for event in await room.events() if event.kind is Kind.CALL_ENDED][-1]
    assert (row["mark"], row["line"], row["full"]) == ("red", "! exit=3", "exit=3")
    bad = await room.call("grade", {"codes": [0, 3]})
    good = await room.call("grade", {"codes": [0, 0]})
    assert (bad.status, bad.text) == (Status.FAILED, "exit=3") and "3" in bad.why
    assert (good.status, good.text, good.why) == (Status.OK, "exit=0", "")
    marks = [event.data["mark"] for event in await room.events() if event.kind is Kind.CALL_ENDED]
    assert marks == ["red", "green"]


@pytest.mark.promise("K100", "K228")
async def test_a_context_has_what_a_tool_is_likely_to_want(room):
    await room.turn("look", [call("context")], "Done.")
    texts, missing = eval(room.results()[-1].text)
    assert texts == ["alpha\n", "a\ufffdb", None, None, None]
    assert missing == []


async def test_a_stopped_call_ends_the_command_that_it_runs(tmp_path):
    async with kotoba(tmp_path, {"p/run.py": RUN}, environ=ENVIRON) as room:
        pid = Path(tmp_path / "home" / "files" / "pid")
        os.mkfifo(pid)
        task = asyncio.create_task(room.call("run", {"command": "echo $$ > pid; sleep 60"}))
        number = int(await asyncio.to_thread(pid.read_text))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ProcessLookupError):
            for _ in range(200):
                os.kill(number, 0)
                await asyncio.sleep(0.01)
