"""`get_plugin_state`: one file for each plugin, whole at every moment, whoever writes at once and whatever dies meanwhile."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.sapphire.homes import Room, manifest, sapphire, tool

from etui.outcome import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")
STORE = tool(
    "state",
    "many",
    "counted",
    "die",
    "base",
    head="""
    import json
    import os
    import sqlite3
    import threading

    from core.paths import PLUGIN_STATE_DIR
    from core.plugin_loader import plugin_loader

    state = plugin_loader.get_plugin_state("keeper")


    def each(name, count=100):
        for number in range(count):
            state.save(f"{name}{number}", number)


    def together(work, count):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


    def add():
        state.update_with_lock("count", lambda value: value + 1, default=0)


    def done(method, given):
        try:
            return getattr(state, method)(*given)
        except (TypeError, ValueError) as error:
            return type(error).__name__
    """,
    body="""
    if function_name == "many":
        together(lambda number: each(f"{arguments['name']}{number}."), arguments["threads"])
        return "written", True
    if function_name == "counted":
        together(lambda number: add(), 50)
        again = plugin_loader.get_plugin_state("keeper")
        return json.dumps([again is state, again.get("count")]), True
    if function_name == "die":
        state.save("last", "words")
        os._exit(1)
    if function_name == "base":
        with sqlite3.connect(PLUGIN_STATE_DIR / "keeper_x.db") as database:
            database.execute("CREATE TABLE IF NOT EXISTS words (word TEXT)")
            database.executemany("INSERT INTO words VALUES (?)", [(word,) for word in arguments.get("words", [])])
        found = sqlite3.connect(PLUGIN_STATE_DIR / "keeper_x.db").execute("SELECT word FROM words ORDER BY word")
        return json.dumps([row[0] for row in found]), True
    if arguments["do"] == "save a set":
        return json.dumps(done("save", ["bad", {1, 2}])), True
    if arguments["do"] == "save half a pair":
        return json.dumps(done("save", ["half", chr(0xD83D)])), True
    return json.dumps(done(arguments["do"], arguments.get("given", []))), True
    """,
)
ROUTE = """
from core.plugin_loader import plugin_loader


def read(body=None, settings=None):
    return plugin_loader.get_plugin_state("keeper").all()


def write(body=None, settings=None):
    for number in range(100):
        plugin_loader.get_plugin_state("keeper").save(f"route{number}", number)
    return {"ok": True}
"""
SCHEDULE = """
def run(event):
    state = event["plugin_state"]
    for number in range(100):
        state.save(f"schedule{number}", number)
"""
DAEMON = """
import threading

begun = threading.Event()


def start(plugin_loader, settings):
    plugin_loader.get_plugin_state("keeper").save("daemon", "was here")


def stop():
    pass
"""
FILES = {
    "plugins/keeper/plugin.json": manifest(
        "keeper",
        "tools/state.py",
        routes=[
            {"method": "GET", "path": "all", "handler": "routes/r.py:read"},
            {"method": "POST", "path": "many", "handler": "routes/r.py:write"},
        ],
        schedule=[{"name": "hourly", "cron": "0 * * * *", "handler": "schedule/s.py"}],
        daemon={"entry": "daemon.py"},
    ),
    "plugins/keeper/tools/state.py": STORE,
    "plugins/keeper/routes/r.py": ROUTE,
    "plugins/keeper/schedule/s.py": SCHEDULE,
    "plugins/keeper/daemon.py": DAEMON,
}


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_100.0

    def __call__(self) -> float:
        return self.now


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    """A host with the one plugin."""
    clock = Clock()
    async with sapphire(tmp_path_factory.mktemp("state"), FILES, clock=clock, limit=None) as opened:
        opened.clock = clock  # type: ignore[attr-defined]
        await opened.host.happening.daemons.settled()
        yield opened


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def empty(room: Room) -> None:
    await do(room, "clear")


async def do(room: Room, what: str, *given: Any) -> Any:
    return await room.value("state", {"do": what, "given": list(given)})


def file_of(room: Room) -> Path:
    return room.user / "plugin_state" / "keeper.json"


async def route(room: Room, path: str) -> Any:
    """What a route of the plugin gives."""
    plugin = room.host.registry.snapshot.plugins["keeper"]
    [handler] = [one for one in plugin.handlers if (one.kind, one.name) == ("route", path)]
    outcome = await room.host.happening.handlers.run(plugin, handler, {"path": {}, "body": {}, "settings": {}})
    assert outcome.ok, outcome.text
    return outcome.data


@pytest.mark.promise("S201", "S204", "S206", "S207", "S208", "S287")
async def test_each_plugin_has_a_file_of_keys_and_values(room):
    assert await do(room, "get", "counter", 0) == 0
    await do(room, "save", "counter", 42)
    assert json.loads(file_of(room).read_text()) == {"counter": 42}
    await do(room, "save", "who", {"name": "Ada", "likes": ["tea", None, True, 1.5]})
    assert await do(room, "get", "counter", 0) == 42
    assert await do(room, "all") == {"counter": 42, "who": {"name": "Ada", "likes": ["tea", None, True, 1.5]}}
    await do(room, "delete", "counter")
    assert (await do(room, "get", "counter", "none"), "counter" in json.loads(file_of(room).read_text())) == ("none", False)
    await do(room, "clear")
    assert await do(room, "all") == {}
    await do(room, "save", 5, "five")
    assert [await do(room, "get", key) for key in (5, "5")] == ["five"] * 2
    assert (await do(room, "delete", 5), await do(room, "all")) == (True, {})
    await do(room, "save half a pair")
    assert json.loads(file_of(room).read_bytes()) == {"half": "\ud83d"} == await do(room, "all")


async def test_what_is_no_json_is_refused_and_nothing_is_stored(room):
    assert await do(room, "save a set") == "TypeError"
    assert await do(room, "all") == {}


@pytest.mark.promise("S203")
async def test_tool_route_and_daemon_of_a_plugin_share_one_state(room):
    plugin = room.host.registry.snapshot.plugins["keeper"]
    [daemon] = [one for one in plugin.handlers if one.kind == "daemon"]
    for what in ("stop", "start"):
        assert (await room.host.happening.handlers.run(plugin, daemon, {"do": what})).ok
    await do(room, "save", "tool", "was here")
    assert await route(room, "all") == {"daemon": "was here", "tool": "was here"} == await do(room, "all")


@pytest.mark.promise("S209", "S287")
async def test_threads_a_schedule_and_a_route_that_write_at_once_lose_nothing(room):
    room.clock.now += 3600
    [schedule] = room.host.schedules.look()
    looked = 0
    writing = asyncio.gather(room.call("many", {"name": "thread", "threads": 8}), route(room, "many"), schedule)
    while not writing.done():
        if file_of(room).exists():
            json.loads(file_of(room).read_text())
            looked += 1
        await asyncio.sleep(0)
    await writing
    kept = await do(room, "all")
    threads = {f"thread{thread}.{number}": number for thread in range(8) for number in range(100)}
    assert kept == threads | {f"{who}{number}": number for who in ("route", "schedule") for number in range(100)}
    assert looked > 0 and kept == json.loads(file_of(room).read_text())


@pytest.mark.promise("S420", "S423")
async def test_a_value_is_changed_under_the_lock_and_one_object_serves_a_name(room):
    assert await room.value("counted") == [True, 50]


@pytest.mark.promise("S421")
async def test_a_corrupt_file_is_set_aside_counts_as_empty_and_the_owner_is_told(room):
    await do(room, "save", "before", 1)
    file_of(room).write_text("{")
    assert await do(room, "get", "before", "default") == "default"
    [aside] = file_of(room).parent.glob("keeper.json.bad-*")
    assert aside.read_text() == "{"
    assert any(aside.name in reason for reason in room.reasons("keeper"))
    await do(room, "save", "after", 2)
    assert json.loads(file_of(room).read_text()) == {"after": 2}


@pytest.mark.promise("S202", "S205", "S240")
async def test_what_was_saved_survives_the_death_of_the_worker_and_a_restart(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        await do(room, "save", "counter", 42)
        assert (await room.call("die")).status is Status.UNKNOWN
        assert await do(room, "get", "last") == "words"
        assert await room.value("base", {"words": ["one", "two"]}) == ["one", "two"]
    async with sapphire(tmp_path, FILES) as room:
        assert (await do(room, "get", "counter"), await do(room, "get", "last")) == (42, "words")
        assert await room.value("base", {"words": ["three"]}) == ["one", "three", "two"]


PRELUDE = """
import json
import os
import random
import signal
import sys
from pathlib import Path

from etui.contracts import Files
from etui.contracts.sapphire import current, state

current.begin(Files(plugin="p", source="", contract="sapphire", path="", files=(), root=sys.argv[1]))
file = Path(sys.argv[1], "user", "plugin_state", "p.json")
"""
KILLED = (
    PRELUDE
    + """
def write_for_ever():
    kept = state.PluginState("p")
    while True:
        kept.update_with_lock("number", lambda number: number + 1, default=0)
        kept.save("filler", "x" * 5000)

dice, last = random.Random(7), 0
for _ in range(50):
    writer = os.fork()
    if not writer:
        write_for_ever()
    while not file.exists():
        pass
    changes = dice.randrange(6)
    before = file.stat().st_ino
    while changes:
        now = file.stat().st_ino
        changes -= now != before
        before = now
    for _ in range(dice.randrange(3000)):
        pass
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    kept = json.loads(file.read_text())
    assert kept["number"] >= last, (kept["number"], last)
    last = kept["number"]
print("whole", len(list(file.parent.glob("*.bad*"))), sorted(one.name for one in file.parent.iterdir() if one.name != ".p.tmp"))
"""
)
COUNTER = (
    PRELUDE
    + """
for _ in range(50):
    state.of("p").update_with_lock("number", lambda number: number + 1, default=0)
"""
)


@pytest.mark.promise("S422")
async def test_whenever_a_save_is_killed_the_file_is_whole(tmp_path):
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True)
    assert (killed.stdout, killed.stderr) == ("whole 0 ['.p.lock', 'p.json']\n", "")


@pytest.mark.promise("S423")
async def test_processes_that_write_at_once_lose_nothing(tmp_path):
    writers = [subprocess.Popen([sys.executable, "-c", COUNTER, str(tmp_path)]) for _ in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert json.loads((tmp_path / "user" / "plugin_state" / "p.json").read_text())["number"] == 100
