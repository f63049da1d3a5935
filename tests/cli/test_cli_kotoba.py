"""A Kotoba plugin in the terminal: its lines, its face, its rows; and background jobs beside a conversation."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.processes import Terminal, serving, tools_in
from tests.kotoba.homes import PING, ping, write
from tests.web.sites import site_at

from etui.agent.model import End, Text
from etui.store import Store
from etui.surfaces.cli import following
from etui.surfaces.cli.following import Talk
from etui.surfaces.cli.reach import Reach
from etui.surfaces.cli.show import Out
from etui.tool import FACES

SEARCH = ping(
    """
    gate = ctx.workdir / "gate"
    if gate.exists():
        await asyncio.to_thread(gate.read_bytes)
    if args.get("query") != "needle":
        note_tool_failure("no line has it")
        return "Nothing matches."
    return "notes.txt:3:needle here"
    """,
    name="search_files",
    top="import asyncio\nfrom kotoba.core.loop import note_tool_failure",
    head="""
    ANNOUNCE = "Let me search through the files~"
    COMPLETE = "Here's what I found:"
    FAIL = "I couldn't find anything."
    RISK = "write"
    EXPRESSIONS = {"focus": "excited", "fail": "confused"}
    """,
).replace('"properties": {}', '"properties": {"query": {"type": "string"}}')
UNLOCK = ping(
    """
    shown = await open_input_card(ctx.session_id, "The key of the shed", kind="key")
    return "Type it in." if shown else "Nobody is there."
    """,
    name="unlock",
    top="from kotoba.core.interaction import open_input_card",
)
BACKGROUND = '''from etui import Context, tool


@tool(examples=["in the background {goal}"])
def background(ctx: Context, goal: str) -> str:
    """Start a job."""
    ctx.start_work(goal)
    return "I am on it."


@tool(risk="exec", examples=["run the command {command}"])
def command(command: str) -> str:
    """Run a command."""
    return f"ran {command}"
'''


def made(home: Path) -> Path:
    """A home with the plugin, which was taught a sentence."""
    write(home / "kotoba", {"finding/search_files.py": SEARCH, "unlock.py": UNLOCK})
    source = json.dumps(str(home / "kotoba"))
    (home / "config.toml").write_text(f'[[sources]]\npath = {source}\ncontract = "kotoba"\n')
    tools_in(home, BACKGROUND)
    store = Store.open(home / "etui.db")
    store.values.put("taught", "search_files", ["look for {query} everywhere"])
    store.values.put("taught", "unlock", ["unlock it"])
    store.close()
    return home


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Such a home, on which no host runs."""
    return made(tmp_path)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Such a home, whose host runs."""
    home = made(tmp_path_factory.mktemp("etui"))
    with serving(home):
        yield home


def gated(home: Path) -> threading.Thread:
    """Lets the plugin wait until the thread that is given is started."""
    gate = home / "files" / "gate"
    gate.parent.mkdir(exist_ok=True)
    os.mkfifo(gate)
    return threading.Thread(target=lambda: (gate.write_bytes(b""), gate.unlink()))


@pytest.mark.promise("K042", "K176")
def test_the_terminal_prints_a_plugins_lines_its_row_with_the_risk_and_its_face(served):
    let = gated(served)
    with Terminal(served, "chat", "look for needle everywhere") as terminal:
        terminal.until("● Let me search through the files~")
        terminal.until("(excited) … search_files query=needle")
        let.start()
        terminal.until("✓ search_files query=needle [write]")
        terminal.until("● Here's what I found:")
        terminal.until("notes.txt:3:needle here")
        assert terminal.end() == 0
    let.join()


@pytest.mark.promise("K184")
async def test_the_face_of_a_reply_is_that_of_its_tag_and_the_tag_is_not_printed(tmp_path, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(following, "console", lambda: Out(file=screen, force_terminal=True, color_system=None, width=100))
    reply = [Text("[hap"), Text("py] Here "), Text("you are."), End()]
    async with site_at(tmp_path, tools="", model=lambda _: reply) as site, Reach(site.base, site.door["token"]) as reach:
        talk = Talk(reach)
        answer = await talk.say("hello")
    assert (answer["text"], talk.face) == ("Here you are.", "happy")
    assert screen.getvalue() == "(happy) Here you are.\n"


def test_a_row_that_went_wrong_says_why_and_a_script_gets_all_of_it(served, here):
    out = here(served, "chat", "look for haystack everywhere")[1]
    row = next(line for line in out.splitlines() if "search_files" in line)
    assert row.startswith("  ✗ search_files query=haystack [write] ") and row.endswith("failed: no line has it")
    assert "● I couldn't find anything." in out and "(confused)" not in out
    told = json.loads(here(served, "chat", "look for needle everywhere", "--json")[1])
    assert told["said"] == ["Let me search through the files~", "Here's what I found:"]
    assert (told["face"], told["jobs"]) == ("excited", [])
    assert [(step["tool"], step["risk"], step["mark"]) for step in told["steps"]] == [("search_files", "write", "green")]


def test_a_job_is_waited_for_where_the_host_would_end_with_the_command(ready, here):
    out = here(ready, "chat", "in the background look for needle everywhere")[1]
    lines = [line.strip() for line in out.splitlines()]
    begun = next(at for at, line in enumerate(lines) if line.startswith("● Working in the background: look for needle"))
    step = next(at for at, line in enumerate(lines) if line.startswith("✓ search_files"))
    end = next(at for at, line in enumerate(lines) if line.startswith("✓ look for needle everywhere: "))
    assert begun < step < end and "needle here" in lines[end]
    listed = here(ready, "jobs")[1]
    assert "look for needle everywhere  done" in listed


def test_jobs_are_listed_and_cancelled(served, here):
    gated(served)
    before = here(served, "jobs", "--json")[1]
    assert before == "[]\n" and here(served, "jobs") == (0, "No job runs in the background.\n", "")
    assert here(served, "chat", "in the background look for needle everywhere")[0] == 0
    (job,) = json.loads(here(served, "jobs", "--json")[1])
    assert (job["goal"], job["state"]) == ("look for needle everywhere", "running")
    out = here(served, "jobs")[1]
    assert out.startswith("● ") and out.endswith("look for needle everywhere  running\n")
    assert here(served, "jobs", "--cancel", job["id"])[1].splitlines()[0].endswith("  cancelled")
    (served / "files" / "gate").unlink()
    code, _, err = here(served, "jobs", "--cancel", job["id"])
    assert code == 1 and "No background job" in err


def test_a_conversation_hears_of_its_job_while_the_person_types(served):
    with Terminal(served, "chat") as terminal:
        terminal.until("> ")
        terminal.type("in the background look for needle everywhere\r")
        terminal.until("● Working in the background: look for needle everywhere")
        terminal.until("✓ look for needle everywhere: ")
        terminal.until("needle here")
        terminal.until("> ")
        terminal.type("\x04")
        assert terminal.end() == 0


def test_what_a_job_asks_is_answered_at_the_prompt(served):
    with Terminal(served, "chat") as terminal:
        terminal.until("> ")
        terminal.type("in the background run the command ls\r")
        terminal.until('"command": "ls"')
        terminal.until("A background job asks this. y = yes, n = no")
        terminal.until("> ")
        terminal.type("y\r")
        terminal.until("✓ command command=ls [exec]")
        terminal.until("✓ run the command ls: ran ls")
        terminal.until("> ")
        terminal.type("\x04")
        assert terminal.end() == 0


def test_a_key_that_is_asked_for_is_typed_unseen_and_what_follows_from_it_is_shown(served):
    with Terminal(served, "chat") as terminal:
        terminal.until("> ")
        terminal.type("unlock it\r")
        terminal.until("? The key of the shed")
        terminal.until("declines): ")
        terminal.type("open-sesame\r")
        terminal.until("> I typed it in: The key of the shed")
        terminal.until("> ")
        terminal.type("\x04")
        assert terminal.end() == 0
        assert "open-sesame" not in terminal.screen


def test_a_plugin_that_is_off_is_listed_without_running_it(served, here):
    assert here(served, "tools", "--off", "plugin:finding")[0] == 0
    assert "  search_files  off" in here(served, "tools")[1]
    assert here(served, "call", "search_files", '{"query": "needle"}')[0] == 1
    assert here(served, "tools", "--on", "plugin:finding")[0] == 0
    assert here(served, "call", "search_files", '{"query": "needle"}')[0] == 0


@pytest.mark.promise("K001", "K002", "K011", "K020", "K154")
def test_the_list_of_tools_has_what_is_one_and_all_of_it_has_each_file_that_is_none_with_its_reason(tmp_path, here):
    home = tmp_path / "home"
    files = {
        "p/ping.py": PING,
        "p/named.py": ping(name="named", head="TOOLSET = 'core'"),
        "p/util.py": "WORD = 'helps'\n",
        "p/noexec.py": PING.partition("async def")[0].replace('"ping"', '"noexec"'),
        "q/plain.py": ping(name="plain").replace("async def", "def"),
    }
    write(home, {"config.toml": f'[[sources]]\npath = "{home / "kotoba"}"\ncontract = "kotoba"\n'})
    write(home / "kotoba", files)

    _, out, err = here(home, "tools")
    assert [line.split()[:2] for line in out.splitlines() if line.startswith("  ")] == [
        ["named", "read"],
        ["ping", "read"],
        ["plain", "read"],
    ]
    assert "util.py" not in out + err
    _, out, err = here(home, "tools", "--all")
    told = {line.split()[1]: " ".join(line.split()) for line in (out + err).splitlines() if line[:1] in ("✗", "●")}
    assert told.keys() == {"noexec.py:", "util.py:", "plain:"}
    assert "no execute" in told["noexec.py:"] and "no SCHEMA dict, so it is no tool" in told["util.py:"]
    assert "`async def`" in told["plain:"]
    for file in ("p/noexec.py:2", "p/util.py", "q/plain.py:6"):
        assert f"{home / 'kotoba'}/{file}" in out + err
    rows = json.loads(here(home, "tools", "--json")[1])["tools"]
    assert {row["name"]: row["toolset"] for row in rows} == {"named": "plugin:p", "ping": "plugin:p", "plain": "plugin:q"}
    assert here(home, "call", "ping") == (0, "pong\n", "")
    code, _, err = here(home, "call", "plain")
    assert (code, "`execute` of plain gave back 'str', which cannot be awaited" in " ".join(err.split())) == (1, True)
    assert here(home, "call", "noexec")[0] == 1


@pytest.mark.promise("K203", "K206", "K321")
def test_all_of_the_tools_list_names_each_value_that_cannot_be_with_what_can(tmp_path, here):
    home = tmp_path / "home"
    files = {
        "p/admin.py": ping(name="admin", head="RISK = 'admin'"),
        "p/soon.py": ping(name="soon", head="TIMEOUT = 'soon'"),
        "p/smug.py": ping(name="smug", head="EXPRESSIONS = {'focus': 'smug'}"),
    }
    write(home, {"config.toml": f'[[sources]]\npath = "{home / "kotoba"}"\ncontract = "kotoba"\n'})
    write(home / "kotoba", files)
    assert [line.split()[0] for line in here(home, "tools")[1].splitlines() if line.startswith("  ")] == ["smug"]
    _, out, err = here(home, "tools", "--all")
    told = " ".join((out + err).split())
    for words in (
        "Its RISK is 'admin'; it must be one of 'read', 'write', 'network', 'exec'.",
        "Its TIMEOUT is 'soon'; it must be a number of seconds above 0.",
        f"Its EXPRESSIONS name 'smug' for 'focus', which is no face; there are {', '.join(FACES)}.",
    ):
        assert words in told, told
    assert all(f"{home / 'kotoba'}/p/{name}.py:4" in out + err for name in ("admin", "soon", "smug"))


def test_the_list_of_tools_names_what_a_plugin_waits_for_and_a_call_says_what_went_wrong(tmp_path, here):
    home = tmp_path / "home"
    files = {
        "p/ask.py": ping("import os\nreturn os.environ['MY_KEY']", name="ask"),
        "q/down.py": ping(
            "note_tool_failure('upstream 502')\nreturn 'Down.'",
            name="down",
            top="from kotoba.core.loop import note_tool_failure",
        ),
    }
    write(home, {"config.toml": f'[[sources]]\npath = "{home / "kotoba"}"\ncontract = "kotoba"\n'})
    write(home / "kotoba", files)
    code, out, _ = here(home, "tools")
    assert (code, "p: It asks for the variable MY_KEY; `etui grant p MY_KEY` gives it." in " ".join(out.split())) == (0, True)
    assert here(home, "call", "down") == (1, "", "failed: Down.\nupstream 502\n")
    told = " ".join(here(home, "call", "ask")[2].split())
    assert told.startswith("failed: The tool errored. KeyError: 'MY_KEY' (ask.py, line 8).") and "`etui grant p MY_KEY`" in told
    listed = " ".join(here(home, "audit")[1].split())
    assert "upstream 502" in listed and "do not retry" not in listed
