"""The numbered calls: files in the style of the real ones, unmodified, through a whole host, with the outcomes that are known.

One host serves them all. It has a set clock where a file reads one, lacks the packages that it is to lack, and its proxy is
dead, so that nothing of it reaches past this machine.
"""

from __future__ import annotations

import re
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from tests.sapphire.corpora import bare, clocked, corpus, emptied, set_clock
from tests.sapphire.homes import Room, manifest, sapphire
from tests.sapphire.pictures import png
from tests.shelf.server import serving

from etui.store.tasks import Task
from etui.tool import Risk

pytestmark = pytest.mark.asyncio(loop_scope="module")
MARK = re.compile(r"<<[A-Z]+::")


def files() -> dict[str, str | bytes]:
    """The corpus on a machine with a set clock and without some packages."""
    found = corpus()
    clocked(found, "plugins/clock")
    found["plugins/ai/plugin.json"] = manifest("ai", "tools/ai.py")
    found["plugins/ai/tools/ai.py"] = found.pop("functions/ai.py")
    bare(found, "plugins/ai", "anthropic")
    bare(found, "plugins/bitcoin", "bit")
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    """The one host."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    settings: dict[str, Any] = {"socks": True, "socks_host": "127.0.0.1", "socks_port": port}
    async with sapphire(tmp_path_factory.mktemp("corpus"), files(), limit=None, allow_exec="allow", **settings) as opened:
        set_clock(opened.user, 0)
        yield opened


def chat(room: Room, **choices: object) -> str:
    """A new chat with these choices."""
    made = room.host.store.chats.create("", "python").id
    for key, value in choices.items():
        room.host.choosing.choose(made, key, value)
    return made


async def said(room: Room, name: str, /, **arguments: object) -> str:
    """The text of a call that succeeds."""
    text, ok = await room.ran(name, arguments)
    assert ok, text
    return text


async def refused(room: Room, name: str, /, **arguments: object) -> str:
    """The text of a call that does not."""
    text, ok = await room.ran(name, arguments)
    assert not ok, text
    return text


@pytest.mark.promise("S492", "S493", "S494", "S495", "S496", "S497")
async def test_the_clock_tells_the_time_and_keeps_timers_and_stopwatches(room):
    text = await said(room, "get_time")
    now = re.match(r"\*\*Now:\*\* (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", text)
    assert now is not None
    assert abs(datetime.now() - datetime.strptime(now[1], "%Y-%m-%d %H:%M:%S")) < timedelta(minutes=1)
    assert "_No active timers, stopwatches, or alarms._" in text
    assert await said(room, "set_timer", name="tea", time="5m") == "Timer 'tea' set for 5m."
    assert await said(room, "set_timer", name="roast", time="1h 10m") == "Timer 'roast' set for 1h 10m."
    assert await said(room, "set_timer", name="rice", time="5") == "Timer 'rice' set for 5m."
    assert await refused(room, "set_timer", name="bad", time="soon") == "Bad time. Use '5m', '30s', '1h 10m', etc."
    set_clock(room.user, 1)
    text = await said(room, "get_time")
    assert "- `tea` — 4m 59s remaining" in text
    assert "_No active" not in text and "bad" not in text
    assert await said(room, "set_timer", name="tea", delete=True) == "Timer 'tea' cancelled."
    assert await refused(room, "set_timer", name="tea", delete=True) == "No timer named 'tea'."
    assert "tea" not in await said(room, "get_time")
    assert await said(room, "set_stopwatch", name="run") == "Stopwatch 'run' started."
    assert await said(room, "set_stopwatch", name="run") == "Stopwatch 'run' already running — 0s elapsed."
    set_clock(room.user, 66)
    assert "- `run` — 1m 5s elapsed" in await said(room, "get_time")
    for tool, name in (("set_timer", "roast"), ("set_timer", "rice"), ("set_stopwatch", "run")):
        await said(room, tool, name=name, delete=True)
    assert "_No active timers, stopwatches, or alarms._" in await said(room, "get_time")


@pytest.mark.promise("S498")
async def test_an_alarm_is_a_task_of_the_scheduler(room):
    text = await said(room, "set_alarm", name="wake", time="07:00")
    assert re.fullmatch(r"Alarm 'wake' set for 07:00 \(in \d{1,2}h \d{1,2}m\)\.", text)
    [task] = [one for one in room.host.store.tasks.all() if one.plugin == "clock"]
    assert (task.name, task.cron, task.once, task.enabled) == ("(alarm) wake", "0 7 * * *", True, True)
    assert "`wake`" in await said(room, "get_time")
    assert (await refused(room, "set_alarm", name="wake", time="25:99")).startswith("Bad time. ")
    assert await said(room, "set_alarm", name="wake", delete=True) == "Alarm 'wake' cancelled."
    assert [one for one in room.host.store.tasks.all() if one.plugin == "clock"] == []
    kept = [
        room.host.store.tasks.keep(Task(id="", plugin="clock", name="x", message="x", cron="0 1 * * *")) for _ in range(100)
    ]
    text = await refused(room, "set_alarm", name="wake", time="07:00")
    assert text == "Scheduler unreachable: 'clock' has 100 tasks already; delete some first."
    for one in kept:
        room.host.store.tasks.drop(one.id)


@pytest.mark.promise("S499", "S500", "S501", "S502", "S503")
async def test_the_notepad_is_a_file_under_the_working_directory(room):
    page = room.user / "notepad.txt"
    page.unlink(missing_ok=True)
    assert await said(room, "notepad_read") == "(notepad is empty)"
    text = await said(room, "notepad_append_lines", lines=["milk", "eggs"])
    assert text == "Appended 2 line(s). Notepad now has 2 lines."
    text = await said(room, "notepad_insert_line", after_line=1, content="bread")
    assert text == "Inserted at line 2. Notepad now has 3 lines."
    assert await said(room, "notepad_read") == "[1] milk\n[2] bread\n[3] eggs"
    assert page.read_text() == "milk\nbread\neggs"
    assert await said(room, "notepad_delete_lines", line_numbers=[2]) == "Deleted 1 line(s). 2 lines remaining."
    assert await refused(room, "notepad_delete_lines", line_numbers=[9]) == "Invalid line numbers: [9]. Valid range: 1-2"
    assert await said(room, "notepad_append_lines", lines="x") == "Appended 1 line(s). Notepad now has 3 lines."
    assert await said(room, "notepad_read") == "[1] milk\n[2] eggs\n[3] x"


@pytest.mark.promise("S504", "S505", "S506", "S507")
async def test_memories_are_saved_searched_deleted_and_hidden_under_a_key(room):
    emptied(room.user / "memory.db")
    text = await said(room, "save_memory", content="Ada likes green tea", label="preferences")
    assert text == "Memory saved (ID: 1, label: preferences)"
    assert await refused(room, "save_memory", content="") == "Cannot save empty memory."
    assert (await refused(room, "save_memory", content="x" * 600)).startswith("Memory too long (600 chars). Max is 512")
    found = "Found 1 memories:\n[1] (just now) [preferences] Ada likes green tea"
    assert await said(room, "search_memory", query="green tea") == found
    text = await said(room, "search_memory", query="tea", label="work")
    assert text == "No memories found for 'tea' with labels 'work'."
    assert await said(room, "delete_memory", memory_id=1) == "Deleted memory [1]: Ada likes green tea"
    assert "not found in current memory slot" in await refused(room, "delete_memory", memory_id=77)
    text = await said(room, "save_memory", content="The plan", private_key="swordfish")
    assert text == "Memory saved (ID: 2 [private])"
    assert await said(room, "get_recent_memories") == "No memories stored."
    assert await said(room, "get_recent_memories", private_key="swordfish") == "[2] (just now) The plan"


@pytest.mark.promise("S508")
async def test_memories_follow_the_scope_that_a_chat_has_chosen(room):
    emptied(room.user / "memory.db")
    work, usual, everybody = chat(room, memory_scope="work"), chat(room), chat(room, memory_scope="global")
    text, ok = await room.ran("save_memory", {"content": "The deadline"}, chat=work)
    assert ok, text
    assert await room.ran("get_recent_memories", chat=usual) == ("No memories stored.", True)
    assert "The deadline" in (await room.ran("get_recent_memories", chat=work))[0]
    text, ok = await room.ran("save_memory", {"content": "x"}, chat=everybody)
    assert text.startswith("Cannot write to the global scope") and not ok
    closed = await room.call("save_memory", {"content": "x"}, chat=chat(room, memory_scope="none"))
    assert closed.rule == "scope_closed"
    without = {"category": "x", "content": "x"}
    text, ok = await room.ran("save_knowledge", without, chat=chat(room, knowledge_scope="none"))
    assert (text, ok) == ("Knowledge base is disabled for this chat.", False)


@pytest.mark.promise("S509", "S510", "S511")
async def test_people_and_knowledge_are_saved_searched_and_deleted(room):
    emptied(room.user / "knowledge.db")
    text = await said(room, "save_person", name="Alice", relationship="sister", phone="555-0100")
    assert text == "Saved new contact: Alice (ID: 1)"
    text = await said(room, "save_knowledge", category="recipes", content="Boil eggs for seven minutes.")
    assert text == "Saved to 'recipes' [id:1] — 28 chars"
    text = await said(room, "search_knowledge", query="eggs")
    assert text == "Found 1 results:\n[Knowledge] [recipes] [id:1] Boil eggs for seven minutes."
    overview = await said(room, "search_knowledge")
    assert "Alice" in overview and "recipes (1 entries)" in overview
    text = await said(room, "delete_knowledge", category="recipes")
    assert text == "Deleted category 'recipes' and all its entries."
    assert await said(room, "search_knowledge", query="eggs") == "No results for 'eggs'."


@pytest.mark.promise("S512", "S513", "S514")
async def test_goals_have_subtasks_progress_and_an_end(room):
    emptied(room.user / "goals.db")
    assert await said(room, "create_goal", title="Learn Rust", priority="high") == "Goal created: [1] Learn Rust (high)"
    text = await said(room, "create_goal", title="Read chapter 1", parent_id=1)
    assert text == "Subtask created: [2] Read chapter 1 (medium) under goal [1]"
    text = await refused(room, "create_goal", title="Now", priority="urgent")
    assert text == "Invalid priority 'urgent'. Choose from: high, medium, low."
    text = await said(room, "update_goal", goal_id=2, status="completed", progress_note="done reading")
    updated, hint = text.split("\n")
    assert updated == "Goal [2] updated: status → completed, logged: done reading"
    assert "[1]" in hint
    assert (await refused(room, "update_goal", goal_id="1")).startswith("Nothing to update")
    assert "[1] Learn Rust (high, active)" in await said(room, "list_goals", goal_id="1")
    assert await said(room, "delete_goal", goal_id=1) == "Deleted goal [1] 'Learn Rust' and 1 subtask(s)"
    assert await said(room, "list_goals") == "No goals in scope 'default'. Use create_goal to start planning."


@pytest.mark.promise("S515")
async def test_help_is_read_from_the_docs_of_the_root(room):
    text = await said(room, "search_help_docs", doc_name="toolsets")
    assert text == (room.root / "docs" / "TOOLSETS.md").read_text()
    assert await refused(room, "search_help_docs", doc_name="zzz") == "Doc 'zzz' not found. Available: memory, toolsets"


@pytest.mark.promise("S516")
async def test_a_command_runs_without_a_shell(room):
    assert await said(room, "run_command", command="echo hello") == "[localhost] $ echo hello\nExit code: 0\n\nhello\n"
    assert await refused(room, "run_command", command="false") == "[localhost] $ false\nExit code: 1\n\n"
    text = await refused(room, "run_command", command="echo rm -rf /")
    assert text.startswith("Command blocked by safety filter (matched: rm -rf /)")
    assert (await said(room, "run_command", command="echo a | wc -c")).endswith("\n\na | wc -c\n")
    assert room.tool("run_command").risk is Risk.EXEC


@pytest.mark.promise("S516")
async def test_a_command_does_not_run_where_the_owner_forbids_programs(room):
    plugins = room.host.registry.snapshot.plugins
    assert plugins["commandline"].grant.subprocess and not plugins["memory"].grant.subprocess
    room.host.plugins.forbid("commandline", "subprocess", True)
    outcome = await room.call("run_command", {"command": "touch user/ran"})
    assert not outcome.ok and not (room.user / "ran").exists(), outcome
    room.host.plugins.forbid("commandline", "subprocess", False)
    assert (await said(room, "run_command", command="echo hello")).endswith("\n\nhello\n")


@pytest.mark.promise("S518")
async def test_a_gallery_gives_pictures_that_it_made_by_hand(room):
    album = room.user / "pictures" / "album"
    album.mkdir(parents=True, exist_ok=True)
    for number in range(3):
        (album / f"{number}.png").write_bytes(png(40, 20, (10, 80 * number, 10)))
    settings = room.user / "webui" / "plugins" / "gallery.json"
    settings.write_text(f'{{"gallery_root": "{album.parent}"}}')
    assert await said(room, "gallery_browse") == "Gallery: (root)\nSubfolders:\n  album/ (3 images)"
    grid = await room.call("gallery_grid", {"path": "album"})
    assert grid.text.startswith("Grid: album — page 1/1 (showing 1-3 of 3)") and not MARK.search(grid.text)
    assert [image.media_type for image in grid.images] == ["image/png"]
    view = await room.call("gallery_view", {"path": "album", "index": 2})
    assert view.ok and [image.media_type for image in view.images] == ["image/jpeg"]
    assert await refused(room, "gallery_view", path="album", index=9) == "Image index 9 out of range (1-3)"
    assert await refused(room, "gallery_browse", path="../..") == "Folder not found: ../.."


@pytest.mark.promise("S519")
async def test_a_task_is_scheduled_once(room):
    text = await said(room, "schedule_task", description="check the oven", time="5pm")
    told = re.fullmatch(r'Scheduled one-shot task for 5:00 PM (today|tomorrow): "check the oven"\nTask ID: (\w{8})', text)
    assert told is not None
    [task] = [one for one in room.host.store.tasks.all() if one.id == told[2]]
    assert task.once and re.fullmatch(r"0 17 \d{1,2} \d{1,2} \*", task.cron)
    assert task.message == "[Scheduled] check the oven"
    room.host.store.tasks.drop(task.id)
    text = await refused(room, "schedule_task", description="x", time="whenever")
    assert text.startswith("Could not parse time 'whenever'")


@pytest.mark.promise("S520")
async def test_a_file_that_wants_five_arguments_answers_without_its_server(room):
    text = await said(room, "comfy_list_workflows")
    assert text == "No workflows installed. Put ComfyUI API-format .json files in user/comfyui/workflows/"
    assert await refused(room, "comfy_generate", prompt="a cat") == text


@pytest.mark.promise("S521")
async def test_web_tools_work_on_a_server_of_this_machine(room):
    page = b"<html><script>no()</script><body><h1>Hello there</h1><a href='/next'>Next page</a></body></html>"
    with serving(lambda path, query: (200, {"Content-Type": "text/html"}, page)) as server:
        up = await said(room, "website_status", url=server.url)
        assert re.fullmatch(re.escape(server.url) + r" is UP \(HTTP 200, \d+ms\)", up)
        assert await said(room, "get_website", url=server.url) == "Hello there\nNext page"
        links = await said(room, "get_site_links", url=server.url)
        assert links == f"Found 1 links on {server.url}:\nNext page -> {server.url}/next"


@pytest.mark.promise("S522")
async def test_a_tool_whose_package_is_missing_refuses_and_the_others_answer(room):
    text = await refused(room, "ask_claude", question="why?")
    assert text == "Error executing ask_claude: No module named 'anthropic'"
    assert await refused(room, "get_wallet") == "Bitcoin library not installed. Run: pip install bit"
    assert await refused(room, "claude_code_status") == "Agent system not initialized. Restart may be needed."


@pytest.mark.promise("S523")
async def test_a_tool_without_an_account_says_what_is_not_configured(room):
    expected = {
        "get_inbox": "Email not configured",
        "ha_list_areas": "No HA token configured",
        "ssh_get_servers": "No SSH servers available",
        "calendar_today": "Google Calendar not connected",
    }
    for name, text in expected.items():
        assert (await refused(room, name)).startswith(text)
    emptied(room.user / "knowledge.db")
    assert (await said(room, "get_recipients")).startswith("No contacts are whitelisted for email")


async def test_a_file_reads_what_another_plugins_module_keeps(room):
    base = room.user / "knowledge.db"
    emptied(base)
    await said(room, "save_person", name="Alice", email="alice@example.net")
    with closing(sqlite3.connect(base)) as people, people:
        people.execute("UPDATE people SET email_whitelisted = 1")
    assert await said(room, "get_recipients") == "[1] Alice"


@pytest.mark.promise("S524")
async def test_a_tool_without_a_network_says_so(room):
    assert (await refused(room, "check_internet")).startswith("Internet appears DOWN")
    assert await refused(room, "store_browse") == "Could not connect to the Sapphire Store. Check network."
    text = await refused(room, "web_search", query="tea")
    assert text.startswith("Search failed: Could not connect through the network/proxy")


@pytest.mark.promise("S476", "S530")
async def test_tools_that_look_for_parts_which_are_not_here_say_so_in_their_own_words(room):
    told = dict(line.split(": ", 1) for line in (await said(room, "get_self_info")).splitlines())
    assert (told["voice"], told["agents"], told["tasks"]) == ("off", "off", "0")
    assert await refused(room, "agent_spawn", mission="x") == "Agent system not initialized. Restart may be needed."
    assert await refused(room, "telegram_status") == "Telegram is not connected."
    text = await refused(room, "view_prompt")
    assert text == "Could not do that: core.prompts belongs to Sapphire itself and has no counterpart here."
