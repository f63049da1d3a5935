"""The patterns of the authors' page, as files use them: a list of forbidden commands, a cache for each scope, a database."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from tests.sapphire.corpora import clocked, set_clock
from tests.sapphire.homes import Room, manifest, sapphire, schema, tool
from tests.shelf.server import Server, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
SHELL = tool(
    "shell",
    head="""
    import re
    import subprocess

    BLACKLIST = ["rm -rf /", "mkfs", "dd if=/dev", ":(){ :|:& };:", "["]


    def _check_blacklist(command):
        for pattern in BLACKLIST:
            try:
                if re.search(pattern, command):
                    return f"Blocked: matches '{pattern}'"
            except re.error:
                if pattern in command:
                    return f"Blocked: contains '{pattern}'"
        return None
    """,
    body="""
    blocked = _check_blacklist(arguments["command"])
    if blocked:
        return blocked, False
    done = subprocess.run(arguments["command"], shell=True, capture_output=True, text=True)
    return done.stdout.strip(), done.returncode == 0
    """,
    properties={"command": {"type": "string"}},
    writes=True,
)
MAIL = f"""
import time

import requests

ENABLED = True
AVAILABLE_FUNCTIONS = ["headlines", "forget"]
TOOLS = {[schema("headlines", {"url": {"type": "string"}}, network=True), schema("forget")]!r}

_cache = {{}}
CACHE_TTL = 60


def _get_cached(scope):
    entry = _cache.get(scope)
    if entry and time.time() - entry["timestamp"] < CACHE_TTL:
        return entry["data"]
    return None


def _invalidate(scope):
    _cache.pop(scope, None)


def _get_scope():
    try:
        from core.chat.function_manager import scope_news
        return scope_news.get()
    except Exception:
        return None


def execute(function_name, arguments, config):
    scope = _get_scope()
    if scope is None:
        return "News are disabled for this chat.", False
    if function_name == "forget":
        _invalidate(scope)
        return "Forgotten.", True
    data = _get_cached(scope)
    if data is None:
        data = requests.get(arguments["url"], params={{"scope": scope}}, timeout=5).text
        _cache[scope] = {{"data": data, "timestamp": time.time()}}
    return data, True
"""
BASE = tool(
    "visit",
    head="""
    import sqlite3
    from core.paths import PLUGIN_STATE_DIR
    """,
    body="""
    base = sqlite3.connect(PLUGIN_STATE_DIR / "my-plugin_x.db")
    with base:
        base.execute("CREATE TABLE IF NOT EXISTS visits (who TEXT)")
        base.execute("INSERT INTO visits VALUES (?)", (arguments["who"],))
    return ", ".join(who for who, in base.execute("SELECT who FROM visits")), True
    """,
    properties={"who": {"type": "string"}},
)


def files() -> dict[str, str | bytes]:
    """The three plugins; the news have a set clock."""
    found: dict[str, str | bytes] = {
        "plugins/shell/tools/shell.py": SHELL,
        "plugins/news/plugin.json": manifest("news", "tools/news.py", scopes=[{"key": "news"}]),
        "plugins/news/tools/news.py": MAIL,
    }
    clocked(found, "plugins/news")
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    """One host for all of them."""
    async with sapphire(tmp_path_factory.mktemp("patterns"), files(), limit=None, allow_exec="allow") as opened:
        yield opened


@pytest.fixture
def news() -> Iterator[Server]:
    """A server whose every answer is another one."""
    count = itertools.count(1)
    with serving(lambda path, query: (200, {}, f"{query['scope']} {next(count)}".encode())) as server:
        yield server


def chat(room: Room, scope: str) -> str:
    """A chat that has chosen this scope."""
    made = room.host.store.chats.create("", "python").id
    room.host.choosing.choose(made, "news_scope", scope)
    return made


@pytest.mark.promise("S245", "S246", "S247")
@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("touch user/ran; echo rm -rf /", "Blocked: matches 'rm -rf /'"),
        ("touch user/ran; echo mkfs.ext4", "Blocked: matches 'mkfs'"),
        ("touch user/ran; echo dd if=/dev/zero", "Blocked: matches 'dd if=/dev'"),
        ("touch user/ran; echo ':(){ :|:& };:'", "Blocked: matches ':(){ :|:& };:'"),
        ("touch user/ran; echo '['", "Blocked: contains '['"),
    ],
)
async def test_what_the_blacklist_names_is_blocked_and_the_rest_runs(room, command, answer):
    assert await room.ran("shell", {"command": command}) == (answer, False)
    assert not (room.user / "ran").exists()
    assert await room.ran("shell", {"command": "touch user/ran && echo hello"}) == ("hello", True)
    (room.user / "ran").unlink()


@pytest.mark.promise("S248", "S249")
async def test_a_cache_holds_for_its_scope_and_for_a_minute(room, news):
    work, home = chat(room, "work"), chat(room, "home")
    set_clock(room.user, 0)
    for ahead, where, answer in (
        (0, work, "work 1"),
        (0, work, "work 1"),
        (0, home, "home 2"),
        (59, work, "work 1"),
        (60, work, "work 3"),
        (60, home, "home 4"),
        (60, home, "home 4"),
    ):
        set_clock(room.user, ahead)
        assert await room.ran("headlines", {"url": news.url}, chat=where) == (answer, True)
    assert [query["scope"] for _, query in news.asked] == ["work", "home", "work", "home"]


@pytest.mark.promise("S250")
async def test_a_cache_is_forgotten_for_one_scope(room, news):
    first, second = chat(room, "first"), chat(room, "second")
    set_clock(room.user, 0)
    assert [await room.ran("headlines", {"url": news.url}, chat=one) for one in (first, second)] == [
        ("first 1", True),
        ("second 2", True),
    ]
    assert await room.ran("forget", chat=first) == ("Forgotten.", True)
    assert [await room.ran("headlines", {"url": news.url}, chat=one) for one in (first, second)] == [
        ("first 3", True),
        ("second 2", True),
    ]


@pytest.mark.promise("S240")
async def test_a_database_of_a_plugins_own_outlives_the_host(tmp_path):
    plugin = {"plugins/my-plugin/tools/visits.py": BASE}
    async with sapphire(tmp_path, plugin) as room:
        assert await room.ran("visit", {"who": "Ada"}) == ("Ada", True)
    async with sapphire(tmp_path, plugin) as room:
        assert await room.ran("visit", {"who": "Bob"}) == ("Ada, Bob", True)
        assert (room.user / "plugin_state" / "my-plugin_x.db").is_file()
