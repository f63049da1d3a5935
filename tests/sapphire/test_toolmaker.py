"""The tool maker: the assistant writes a tool, a person approves its code, and the same chat calls it; and what is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import pytest
import pytest_asyncio
from tests.kotoba.homes import write
from tests.sapphire.homes import Room, sapphire, tool

from etui.agent.scripted import call
from etui.contracts.validating import validate_code
from etui.events import Kind
from etui.outcome import Outcome, Status
from etui.settings import Level

pytestmark = pytest.mark.asyncio(loop_scope="module")
ADDER = """ENABLED = True
EMOJI = "🧮"
AVAILABLE_FUNCTIONS = ["add_numbers"]
SETTINGS = {"precision": 2, "unit": "euros"}
TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "add_numbers",
            "description": "Add two numbers. Quickly.",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"],
            },
        },
    }
]


def execute(function_name, arguments, config, plugin_settings=None):
    total = round(arguments["a"] + arguments["b"], (plugin_settings or {}).get("precision", 0))
    return f"{total:g} {(plugin_settings or {}).get('unit')}", True
"""


def coded(name: str, head: str = "", body: str = 'return "done", True') -> str:
    """A file that offers one tool."""
    return ADDER.replace("add_numbers", name).replace("ENABLED", head + "\nENABLED", 1).split("def execute")[0] + (
        f"def execute(function_name, arguments, config):\n    {body}\n"
    )


@asynccontextmanager
async def answering(
    room: Room, *choices: str, before: Callable[[], object] = lambda: None
) -> AsyncIterator[list[dict[str, Any]]]:
    """While the block runs, each card that opens is answered by the next of these, the last one for ever."""
    seen: list[dict[str, Any]] = []

    async def answer() -> None:
        async with room.host.hub.listen(Kind.CARD_OPENED) as cards:
            ready.set()
            while True:
                event = await cards.next()
                assert event is not None
                seen.append(event.data["card"])
                before()
                assert room.host.cards.answer(seen[-1]["id"], choices[min(len(seen), len(choices)) - 1])

    ready = asyncio.Event()
    task = asyncio.create_task(answer())
    await ready.wait()
    try:
        yield seen
    finally:
        task.cancel()


async def save(room: Room, name: str, code: str) -> Outcome:
    return await room.call("tool_save", {"name": name, "code": code}, channel="console", attended=True)


def place(room: Room, name: str) -> Path:
    return room.root / "user" / "plugins" / name


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    """A host with the shelf, where everything is approved, and with a plugin of the owner's own."""
    files = {"plugins/mine/tools/a.py": tool("mine_tool")}
    async with (
        sapphire(tmp_path_factory.mktemp("maker"), files, limit=None, shelf=True) as opened,
        answering(opened, "approve"),
    ):
        yield opened


@pytest.mark.promise("S444", "S445", "S517")
async def test_what_the_assistant_writes_is_approved_and_called_in_the_same_chat(tmp_path):
    async with sapphire(tmp_path, {}, shelf=True) as room, answering(room, "approve") as cards:
        chat = room.host.store.chats.create("", "console").id
        room.chat = chat
        # A chat with a toolset of its own gets the new tool all the same.
        room.host.choosing.choose(chat, "toolset", ["tool_save", "tool_load", "tool_read"])
        room.host.choosing.choose(chat, "extra_toolsets", "list_add, note_add")
        answer = await room.turn(
            "make me an adder",
            [call("tool_save", {"name": "Adder.py", "code": ADDER})],
            [call("tool_load", {})],
            [call("add_numbers", {"a": 1, "b": 2.5})],
            "It is 3.5.",
            channel="console",
            attended=True,
        )
        assert answer == "It is 3.5."
        saved, loaded, added = room.results()
        assert saved.text == "Plugin 'adder' saved and validated. These can be called now: add_numbers."
        assert loaded.text == "These can be called now: add_numbers."
        assert added.text == "3.5 euros"
        assert {"add_numbers", "list_add", "note_add"} <= {*room.offered(1)}
        # One card, with every character of the code, and nothing to be remembered by.
        (card,) = cards
        assert card["kind"] == "approval"
        assert ADDER in card["action"]
        assert list(card["always"]) == []
        said = json.loads((place(room, "adder") / "plugin.json").read_text())
        assert (said["author"], said["version"], said["icon"], said["default_enabled"]) == ("ai-toolmaker", "1.0.0", "🧮", True)
        assert said["description"] == "Adder — Add two numbers."
        assert [(row["key"], row["default"]) for row in said["capabilities"]["settings"]] == [
            ("precision", 2),
            ("unit", "euros"),
        ]
        assert room.host.installed.form("adder")["values"] == {"precision": 2, "unit": "euros"}
        await room.host.installed.save("adder", {"unit": "apples"})
        assert (await room.ran("add_numbers", {"a": 1, "b": 2}))[0] == "3 apples"
        # A new version takes its place, and is asked about again.
        assert (await save(room, "adder", ADDER.replace(":g} {", ":g} new {"))).ok
        assert len(cards) == 2
        assert (await room.ran("add_numbers", {"a": 1, "b": 2}))[0] == "3 new apples"
        assert (await room.call("tool_read", {"name": "adder"})).text == ADDER.replace(":g} {", ":g} new {")
        assert (await room.call("tool_read")).text == "adder: add_numbers"
        assert [one.name for one in room.root.iterdir() if one.name.startswith("making-")] == []


async def test_nothing_is_saved_or_run_that_nobody_approved(tmp_path):
    marks = tmp_path / "ran"
    code = coded("sneaky", head=f"import pathlib\npathlib.Path({str(marks)!r}).touch()")
    async with sapphire(tmp_path, {}, shelf=True) as room:
        async with answering(room, "decline"):
            declined = await save(room, "sneaky", code)
        assert (declined.ok, declined.text) == (
            False,
            "Not saved: the person declined it. Do not try again unless they ask.",
        )
        alone = await room.call("tool_save", {"name": "sneaky", "code": code})
        assert (alone.ok, alone.text) == (False, "Not saved: nobody is there to approve it.")
        assert not place(room, "sneaky").exists()
        assert not marks.exists()
        # What somebody puts there while the person thinks is left alone; and no line of the code looks like a part of another.
        mine = {"plugins/slow/tools/a.py": "mine = 1"}
        async with answering(room, "approve", before=lambda: write(room.root, mine)) as cards:
            late = await save(room, "slow", coded("slow_one").replace("\n", "\r"))
        assert late.text == "FAILED: The name 'slow' is taken meanwhile. Use a new one."
        assert [one.name for one in place(room, "slow").iterdir()] == ["tools"]
        assert "\r" not in cards[0]["action"]


@pytest.mark.promise("S441", "S517")
async def test_names_are_made_plain_or_refused(room):
    assert (await save(room, "My-Tool.py", coded("named_one"))).ok
    assert (place(room, "my_tool") / "tools" / "my_tool.py").is_file()
    for name in ("a b", "web", "../up", "", "mine", "ä", "x" * 60):
        outcome = await save(room, name, coded("named_two"))
        assert outcome.status is Status.FAILED
        assert outcome.text.startswith("FAILED: Invalid or reserved name")
    assert (await room.ran("mine_tool")) == ("done", True)


LACKING = {
    "TOOLS": ("TOOLS must be a list", ADDER.replace("TOOLS = [", "OTHERS = [")),
    "names": ("AVAILABLE_FUNCTIONS must be a list", ADDER.replace("AVAILABLE_FUNCTIONS", "FUNCTIONS")),
    "execute": ("There is no function execute()", ADDER.replace("def execute", "def run")),
    "name": ("TOOLS[0] has no function with a name", ADDER.replace('"name": "add_numbers",', "")),
    "description": ("The tool 'add_numbers' has no description", ADDER.replace("Add two numbers. Quickly.", " ")),
    "available": ("is not in AVAILABLE_FUNCTIONS", ADDER.replace('["add_numbers"]', '["other"]')),
    "syntax": ("Syntax error: ", "def ("),
    "raises": ("ZeroDivisionError", ADDER + "\n1 / 0\n"),
    "off": ("ENABLED", ADDER.replace("ENABLED = True", "ENABLED = False")),
    "taken": ("has a tool 'mine_tool' already", ADDER.replace("add_numbers", "mine_tool")),
    "web": ("Validation failed (strict mode): Blocked import: socket", "import socket\n" + ADDER),
}


@pytest.mark.promise("S442", "S517")
@pytest.mark.parametrize("what", LACKING)
async def test_code_that_lacks_something_is_refused_with_the_reason_and_leaves_no_folder(room, what):
    reason, code = LACKING[what]
    outcome = await save(room, f"lacks_{what.lower()}", code)
    assert outcome.status is Status.FAILED
    assert outcome.text.startswith("FAILED: ")
    assert reason in outcome.text
    assert not place(room, f"lacks_{what.lower()}").exists()
    assert [one.name for one in room.root.iterdir() if one.name.startswith("making-")] == []


async def test_code_that_an_assistant_wrote_may_touch_nothing_until_its_owner_allows_it(tmp_path):
    body = """
    import subprocess, urllib.error, urllib.request
    from pathlib import Path
    found = []
    for name, work in (("write", lambda: Path("user/mark").write_text("x")), ("program", lambda: subprocess.run(["true"])),
                       ("network", lambda: urllib.request.urlopen("http://127.0.0.1:9"))):
        try:
            work()
            found.append(name)
        except urllib.error.URLError as error:
            found.append(name if isinstance(error.reason, ConnectionRefusedError) else "no " + name)
        except Exception:
            found.append("no " + name)
    return ", ".join(found), True
"""
    async with (
        sapphire(tmp_path, {}, shelf=True, tool_maker="moderate", allow_exec="allow") as room,
        answering(room, "approve"),
    ):
        assert (await save(room, "reacher", coded("reach", body=body))).ok
        assert (await room.ran("reach"))[0] == "no write, no program, no network"
        notes = room.host.registry.snapshot.plugins["reacher"].notes
        assert any("may touch nothing until you allow it" in note and "the network" in note for note in notes)
        room.host.plugins.forbid("reacher", "network", False)
        await room.refreshed()
        assert (await room.ran("reach"))[0] == "no write, no program, network"
        # What the owner gave was given to that code: a new version, or what takes a name that was free, has none of it.
        room.host._tooling._of_settings.give("reacher", "token", "secret")
        assert (await save(room, "reacher", coded("reach", body=body + "    # new\n"))).ok
        assert (await room.ran("reach"))[0] == "no write, no program, no network"
        assert room.host._tooling._of_settings.of("reacher") == {}


BAD = {
    "# coding: utf-7\n#+AAo-import os": "Blocked encoding: utf-7",
    "\r# coding: latin-1\n": "Blocked encoding: iso-8859-1",
    "import socket": "Blocked import: socket",
    "import os as o\no.system('x')": "Blocked call: os.system",
    "from os import system as s": "Blocked call: os.system",
    "import os\np = os\np.popen('x')": "Blocked call: os.popen",
    "import os\nos.execv('x', [])": "Blocked call: os.execv",
    "import os\nos.environ": "Blocked call: os.environ",
    "e = eval\ne('1')": "Blocked call: eval",
    "open('x')": "Blocked call: open",
    "import io as i\nprint(i.open)": "Blocked call: io.open",
    "from io import FileIO": "Blocked call: io.FileIO",
    "getattr(1, 'x')": "Blocked call: getattr",
    "from importlib import import_module": "Blocked import: importlib",
    "import shutil": "Blocked import: shutil",
    "import ctypes.util": "Blocked import: ctypes.util",
    "import multiprocessing": "Blocked import: multiprocessing",
    "import signal": "Blocked import: signal",
    "__import__('os')": "Blocked call: __import__",
    "().__class__.__bases__": "Blocked attribute: __bases__",
    "import pathlib\npathlib.os.system('x')": "Blocked attribute: pathlib.os",
    "import urllib.request as r\nr.socket.socket()": "Blocked attribute: urllib.request.socket",
}


@pytest.mark.promise("S443", "S484")
async def test_code_is_judged_by_its_level(room):
    for code, why in BAD.items():
        for level in ("strict", "moderate"):
            assert validate_code(code, level) == (False, why)
        # At no level is code run that was not read.
        assert validate_code(code, "system_killer")[0] is ("encoding" not in why)
    for level in get_args(Level):
        ok, why = validate_code("def (", level)
        assert (ok, why.partition(":")[0]) == (False, "Syntax error")
        assert validate_code("import json, re\njson.dumps(1)", level) == (True, "")
    assert validate_code("import subprocess", "strict")[0] is False
    assert validate_code("import subprocess", "moderate") == (True, "")
    assert validate_code("from sys import modules", "moderate") == (False, "Blocked import: sys.modules")
    assert validate_code("from core import net", "strict")[0] is False
    for name, code in (("killer_one", "import os as o\no.system('true')\n" + ADDER),):
        outcome = await save(room, name, code)
        assert outcome.text == "FAILED: Validation failed (strict mode): Blocked call: os.system"


@pytest.mark.promise("S484")
async def test_a_plugin_can_ask_the_validator(tmp_path):
    file = tool(
        "judge",
        head="from core.code_validator import validate_code",
        body='return str(validate_code("import socket", "strict")), True',
    )
    async with sapphire(tmp_path, {"plugins/p/tools/a.py": file}) as room:
        assert await room.ran("judge") == ("(False, 'Blocked import: socket')", True)
