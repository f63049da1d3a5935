"""`get_chat_state`: rows and values in the chats' own database, which go where the chat goes, and with it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.sapphire.homes import Room, manifest, sapphire, tool

from etui.agent.scripted import call
from etui.store import Store

pytestmark = pytest.mark.asyncio(loop_scope="module")
STORE = tool(
    "NAME",
    "NAME_die",
    "NAME_here",
    writes=True,
    head="""
    import json
    import os
    import threading

    from core.api_fastapi import get_system
    from core.plugin_loader import plugin_loader

    rows = plugin_loader.get_chat_state("NAME")


    def done(method, given):
        try:
            return getattr(rows, method)(*given)
        except Exception as error:
            return [type(error).__name__, str(error)]
    """,
    body="""
    if function_name == "NAME_die":
        rows.append(arguments["chat"], "journal", 1)
        threading.Timer(0, os._exit, [1]).start()
        rows.append_many(arguments["chat"], "journal", list(range(20000)))
        threading.Event().wait()
    if function_name == "NAME_here":
        chat = get_system().llm_chat.get_active_chat()
        rows.append(chat, "visits", chat)
        llm, names = get_system().llm_chat, [one["name"] for one in get_system().llm_chat.session_manager.list_chat_files()]
        meta = llm.function_manager.tool_meta("NAME_here")
        same = llm.session_manager.active_chat_name == chat and llm.tool_engine is not None
        return json.dumps([rows.read_all(chat, "visits"), meta["plugin"], same, chat in names]), True
    odd = {"a set": {1, 2}, "one of them a set": [1, 2, {3}, 4], "half a pair": chr(0xD83D)}
    given = [odd.get(one, one) if isinstance(one, str) else one for one in arguments["given"]]
    return json.dumps(done(arguments["do"], given)), True
    """,
)
HOOKS = """
from core.plugin_loader import plugin_loader

rows = plugin_loader.get_chat_state("keeper")
seen = plugin_loader.get_plugin_state("keeper")


def noted(event, **more):
    seen.update_with_lock("events", lambda events: [*events, {"chat": event.chat_name, **event.metadata, **more}], default=[])


def chat_cleared(event):
    rows.delete(event.chat_name, "journal")
    noted(event, hook="cleared")


def chat_deleted(event):
    noted(event, hook="deleted", keys=rows.keys(event.chat_name), value=rows.get(event.chat_name, "kept", "nothing"))


def chat_renamed(event):
    noted(event, hook="renamed", value=rows.get(event.chat_name, "kept", "nothing"))
"""
FILES = {
    "plugins/keeper/plugin.json": manifest(
        "keeper",
        "tools/rows.py",
        hooks=dict.fromkeys(("chat_cleared", "chat_deleted", "chat_renamed"), "hooks/chats.py"),
    ),
    "plugins/keeper/tools/rows.py": STORE.replace("NAME", "keeper"),
    "plugins/keeper/hooks/chats.py": HOOKS,
    "plugins/other/tools/rows.py": STORE.replace("NAME", "other"),
}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    """A host with two plugins that keep rows."""
    async with sapphire(tmp_path_factory.mktemp("rows"), FILES, limit=None) as opened:
        yield opened


async def do(room: Room, what: str, *given: Any, plugin: str = "keeper") -> Any:
    return await room.value(plugin, {"do": what, "given": list(given)})


def chat(room: Room, title: str) -> str:
    """A new chat of that name; gives its id."""
    return room.host.store.chats.create(title).id


async def seen(room: Room) -> list[dict[str, Any]]:
    """What the hooks wrote down since it was asked last."""
    await room.host.hooks.settled()
    file = room.user / "plugin_state" / "keeper.json"
    events = json.loads(file.read_text()).get("events", []) if file.exists() else []
    file.unlink(missing_ok=True)
    return events


@pytest.mark.promise("S210", "S216", "S217", "S289")
async def test_a_slot_holds_one_value_of_one_chat(room):
    chat(room, "A"), chat(room, "B")
    assert await do(room, "get", "A", "score", "default") == "default"
    for value in (1, 2):
        await do(room, "put", "A", "score", value)
    assert (await do(room, "get", "A", "score", 0), (await do(room, "meta", "A", "score"))["rows"]) == (2, 1)
    assert await do(room, "get", "B", "score", "default") == "default"


@pytest.mark.promise("S211", "S233")
async def test_rows_live_in_the_chat_database_and_no_file_has_the_chats_name(room):
    before = set(room.user.rglob("*"))
    chat(room, "Zanzibar7")
    await do(room, "put", "Zanzibar7", "slot", 1)
    await do(room, "append", "Zanzibar7", "rows", "one")
    assert set(room.user.rglob("*")) == before
    assert not [path for path in room.host.home.rglob("*") if "zanzibar7" in path.name.lower()]


@pytest.mark.promise("S215")
async def test_each_plugin_has_rows_of_its_own_whatever_it_calls_them(room):
    chat(room, "shared")
    await do(room, "put", "shared", "key", "of keeper")
    await do(room, "put", "shared", "key", "of other", plugin="other")
    assert await do(room, "get", "shared", "key") == "of keeper"
    assert await do(room, "get", "shared", "key", plugin="other") == "of other"


@pytest.mark.promise("S218", "S220", "S222", "S225", "S289")
async def test_rows_are_added_in_order_with_rising_numbers(room):
    chat(room, "journal")
    await do(room, "put", "journal", "slot", "elsewhere")
    numbers = [await do(room, "append", "journal", "log", {"n": n}) for n in range(3)]
    numbers += await do(room, "append_many", "journal", "log", [{"n": n} for n in (3, 4, 5)])
    assert numbers == sorted(set(numbers)) and len(numbers) == 6
    assert await do(room, "read_all", "journal", "log") == [{"n": n} for n in range(6)]
    assert await do(room, "keys", "journal") == ["log", "slot"]


@pytest.mark.promise("S221", "S229")
async def test_all_rows_land_or_none_and_values_come_back_as_they_were(room):
    chat(room, "whole")
    value = {
        "list": [1, 2.5, "ü\N{GRINNING FACE}", True, False, None],
        "deep": {"a": {"b": [[]]}},
    }
    await do(room, "put", "whole", 5, "half a pair")
    assert await do(room, "get", "whole", "5") == "\ud83d" == await do(room, "get", "whole", 5)
    await do(room, "append", "whole", "rows", value)
    assert await do(room, "read_all", "whole", "rows") == [value]
    for what, bad in (
        ("append_many", "one of them a set"),
        ("append", "a set"),
        ("replace", "one of them a set"),
        ("put", "a set"),
    ):
        kind, _ = await do(room, what, "whole", "rows", bad)
        assert (kind, await do(room, "read_all", "whole", "rows")) == ("TypeError", [value])
    await room.call("keeper_die", {"chat": "whole"})
    assert len(await do(room, "read_all", "whole", "rows")) == 1
    assert len(await do(room, "read_all", "whole", "journal")) in (1, 20001)


@pytest.mark.promise("S223", "S238")
async def test_replacing_numbers_anew_and_leaves_other_keys_alone(room):
    chat(room, "replaced")
    await do(room, "append_many", "replaced", "log", [1, 2, 3, 4, 5])
    await do(room, "put", "replaced", "for ever", "kept")
    await do(room, "replace", "replaced", "log", ["a", "b"])
    assert await do(room, "read_all", "replaced", "log") == ["a", "b"]
    assert await do(room, "append", "replaced", "log", "c") == 3
    assert await do(room, "read_all", "replaced", "log") == ["a", "b", "c"]
    assert await do(room, "get", "replaced", "for ever") == "kept"
    room.host.conversations.delete(room.host.store.names.find("replaced"))
    chat(room, "replaced")
    assert await do(room, "get", "replaced", "for ever", "gone") == "gone"


@pytest.mark.promise("S224")
async def test_a_key_or_everything_of_a_chat_is_deleted_and_nothing_of_others(room):
    chat(room, "cleaned")
    for plugin in ("keeper", "other"):
        await do(room, "put", "cleaned", "one", 1, plugin=plugin)
        await do(room, "put", "cleaned", "two", 2, plugin=plugin)
    await do(room, "delete", "cleaned", "one")
    assert await do(room, "keys", "cleaned") == ["two"]
    await do(room, "delete", "cleaned")
    assert (await do(room, "keys", "cleaned"), await do(room, "keys", "cleaned", plugin="other")) == ([], ["one", "two"])


@pytest.mark.promise("S226", "S228")
async def test_all_chats_with_a_key_and_how_many_rows_they_have(room):
    for name in ("with", "with too", "without"):
        chat(room, name)
    for name in ("with", "with too"):
        await do(room, "put", name, "marker", name.upper())
    assert await do(room, "get_all_chats", "marker") == {"with": "WITH", "with too": "WITH TOO"}
    await do(room, "append_many", "with", "three", [1, 2, 3])
    found = await do(room, "meta", "with", "three")
    assert found["rows"] == 3 and datetime.fromisoformat(found["updated_at"]).tzinfo is not None
    assert await do(room, "meta", "with", "unknown") is None


async def test_of_a_chat_that_is_not_there_nothing_is_read_and_writing_says_so(room):
    assert await do(room, "get", "nowhere", "key", "default") == "default"
    assert (await do(room, "keys", "nowhere"), await do(room, "read_all", "nowhere", "key")) == ([], [])
    assert await do(room, "put", "nowhere", "key", 1) == ["ServiceError", "There is no chat 'nowhere', so nothing was kept."]


async def test_many_rows_are_read_in_parts_that_are_put_together(room):
    chat(room, "long")
    long = ["x" * 700_000 + str(number) for number in range(9)]
    for row in long:
        room.host.store.rows.append(room.host.store.names.find("long"), "keeper", "rows", [json.dumps(row)])
    found = await do(room, "meta", "long", "rows")
    assert found["rows"] == 9
    outcome = room.host.store.rows.read(room.host.store.names.find("long"), "keeper", "rows")
    assert (len(outcome.rows), outcome.more) == (2, True)
    session = room.host.session("python")
    done = await session.call(session.new_call("keeper", {"do": "read_all", "given": ["long", "rows"]}))
    assert done.ok and done.text.startswith('["xxx')


@pytest.mark.promise("S212", "S214", "S236", "S289", "S434")
async def test_rows_go_where_the_chat_goes_and_a_plugin_is_told_what_became_of_it(room):
    await seen(room)
    id = chat(room, "Old")
    await do(room, "put", "Old", "kept", "value")
    room.host.conversations.rename(id, "New")
    assert (await do(room, "get", "New", "kept"), await do(room, "get", "Old", "kept", "default")) == ("value", "default")
    [renamed] = await seen(room)
    assert (renamed["hook"], renamed["chat"], renamed["old_name"], renamed["value"]) == ("renamed", "New", "Old", "value")
    room.host.conversations.delete(id)
    [deleted] = await seen(room)
    assert (deleted["hook"], deleted["chat"], deleted["keys"], deleted["value"]) == ("deleted", "New", [], "nothing")
    chat(room, "New")
    assert (await do(room, "get", "New", "kept", "default"), await do(room, "keys", "New")) == ("default", [])


@pytest.mark.promise("S291", "S292", "S434")
async def test_rows_survive_a_clearing_but_for_those_that_their_plugin_drops_then(room):
    id = chat(room, "cleared")
    room.chat = id
    await room.turn("hello", [call("keeper", {"do": "put", "given": ["cleared", "kept", 1]})], "Done.")
    await do(room, "append_many", "cleared", "journal", [1, 2])
    await do(room, "append_many", "cleared", "rows", ["a", "b"])
    await seen(room)
    assert await room.host.conversations.clear(id)
    assert [(one["hook"], one["chat"]) for one in await seen(room)] == [("cleared", "cleared")]
    assert room.host.store.chats.messages(id) == []
    assert await do(room, "read_all", "cleared", "rows") == ["a", "b"]
    assert (await do(room, "read_all", "cleared", "journal"), await do(room, "get", "cleared", "kept")) == ([], 1)
    assert await room.turn("again", "Hello again.") == "Hello again."
    assert [message.text for message in room.requests[-1].messages] == ["again"]


@pytest.mark.promise("S478")
async def test_a_tool_knows_the_name_of_its_chat(room):
    room.chat = chat(room, "by name")
    await room.turn("hello", [call("keeper_here")], "Done.")
    assert json.loads(room.results()[-1].text) == [["by name"], "keeper", True, True]


@pytest.mark.promise("S219")
async def test_to_append_costs_the_same_whatever_the_number_of_rows(tmp_path):
    store = Store.open(tmp_path / "etui.db")
    id = store.chats.create("long").id
    statements: list[str] = []
    store._database._writer.set_trace_callback(statements.append)
    wal = Path(f"{tmp_path / 'etui.db'}-wal")

    def costs() -> tuple[int, int]:
        sizes, counts = [], []
        for number in range(9):
            before = wal.stat().st_size
            statements.clear()
            store.rows.append(id, "p", "journal", [f"{number:04}"])
            sizes.append(wal.stat().st_size - before)
            counts.append(len(statements))
        return sorted(sizes)[4], max(counts)

    store.rows.append(id, "p", "journal", ["0000"] * 10)
    few = costs()
    store.rows.append(id, "p", "journal", ["0000"] * 10_000)
    assert costs() == few
    store.close()


KILLED = """
import os
import shutil
import sqlite3
import sys
from pathlib import Path

from etui.store import Store

folder, what, moments = Path(sys.argv[1]), sys.argv[2], 50
base = folder / "base.db"
store = Store.open(base)
chat = store.chats.create("chat").id
store.rows.append(chat, "p", "journal", ["1", "2", "3", "4", "5"])
store.close()


def child(path, moment):
    store = Store.open(path)
    steps = 0

    def step():
        nonlocal steps
        steps += 1
        if steps == moment:
            os._exit(9)
        return 0

    store._database._writer.set_progress_handler(step, 1)
    if what == "delete":
        store.chats.delete(chat)
    else:
        store.rows.replace(chat, "p", "journal", ["a", "b"])
    (folder / "steps").write_text(str(steps))
    os._exit(0)


def kept(moment):
    path = folder / f"{moment}.db"
    shutil.copy(base, path)
    pid = os.fork()
    if not pid:
        child(path, moment)
    killed = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    database = sqlite3.connect(path)
    there = database.execute("SELECT count(*) FROM chats WHERE id = ?", (chat,)).fetchone()[0]
    rows = database.execute("SELECT group_concat(value, '') FROM (SELECT value FROM chat_rows ORDER BY number)").fetchone()[0]
    database.close()
    return killed, there, rows


print(*kept(0))
last = int((folder / "steps").read_text())
found = [kept(1 + (last - 1) * moment // (moments - 1)) for moment in range(moments)]
for one in set(found):
    print(one)
"""


@pytest.mark.promise("S235", "S223")
@pytest.mark.parametrize(("what", "after"), [("delete", (0, None)), ("replace", (1, "ab"))])
async def test_whenever_it_is_killed_it_was_done_whole_or_not_at_all(tmp_path, what, after):
    found = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), what], capture_output=True, text=True, check=True)
    whole, *killed = found.stdout.splitlines()
    assert whole == f"False {after[0]} {after[1]}"
    assert set(killed) == {str((True, 1, "12345")), str((True, *after))}
