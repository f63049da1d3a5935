"""Names that files import beyond the page: those that are here, those that are not, and packages that files need."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
from tests.sapphire.corpora import START, bare, clocked, set_clock
from tests.sapphire.homes import Room, manifest, sapphire, tool

pytestmark = pytest.mark.asyncio(loop_scope="module")
ABSENT = (
    "from core.agents import agent_manager",
    "from core.agents.base_worker import BaseWorker",
    "from core.agents.registry import AgentRegistry",
    "from core import personas",
    "from core import prompts",
    "import core.prompts",
    "from core.prompt_state import prompt_state",
    "from core.continuity.execution_context import ExecutionContext",
    "from core.toolsets import toolset_manager",
    "from core.chat.scope_cleanup import sweep_orphaned_scope_ref",
    "from core.chat.llm_providers import provider_registry",
    "from core.chat import llm_providers",
    "from core.mcp_server import answering",
    "from core.audio.backend import ensure",
)
"""What Sapphire keeps for itself, in the ways in which files ask for it."""
HERE = (
    "from core import ask_card, attachments, images, paths",
    "from core.ask_card import marker",
    "from core.attachments import safe_url",
    "from core.images import ImageError, resolve",
    "from core.setup import get_password_hash",
    "from core.chat import function_manager",
    "from core.event_bus import Events, publish",
    "from core.mind_events import publish_mind_changed",
    "from core.api_fastapi import get_system",
)
LAZY = tool(
    "works",
    "asks",
    "catches",
    head="""
    try:
        from core.memory_layers import add_consumer, get_layers
    except ImportError:
        add_consumer = get_layers = None
    """,
    body="""
    if function_name == "works":
        return f"layers: {get_layers}", True
    if function_name == "asks":
        exec(arguments["line"], {})
        return "imported", True
    try:
        exec(arguments["line"], {})
    except ImportError as error:
        return f"not here: {error}", True
    return "imported", True
    """,
    properties={"line": {"type": "string"}},
)
NOTES = tool(
    "remember",
    "recall",
    "vector",
    head="""
    import sqlite3
    from pathlib import Path

    from core.embeddings import get_embedder, stamp_embedding


    def base():
        import config
        found = sqlite3.connect(Path(config.__file__).parent / "user" / "notes.db")
        found.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT, vector BLOB)")
        return found
    """,
    body="""
    embedder = get_embedder()
    if function_name == "vector":
        return f"{embedder.available} {embedder.embed(['tea'], prefix='search_query')} {embedder.provider_id!r}", True
    with base() as notes:
        if function_name == "remember":
            vector = embedder.embed([arguments["text"]]) if embedder.available else None
            row = notes.execute("INSERT INTO notes (text, vector) VALUES (?, ?)", (arguments["text"], vector))
            stamp_embedding(notes, "notes", row.lastrowid, embedder.provider_id)
            return "Kept.", True
        if embedder.available:
            return "by meaning", False
        found = notes.execute("SELECT text FROM notes WHERE text LIKE ?", (f"%{arguments['text']}%",))
        return ", ".join(text for text, in found), True
    """,
    properties={"text": {"type": "string"}},
)
PROBE = tool(
    "parts",
    "speak",
    "stop_speaking",
    head="import json\nfrom core.api_fastapi import get_system",
    body="""
    system = get_system()
    if function_name == "parts":
        names = ("tts", "stt", "agent_manager", "llm_chat", "continuity_scheduler", "wake_word")
        return json.dumps({name: hasattr(system, name) for name in names}), True
    if function_name == "stop_speaking":
        try:
            system.tts.stop()
        except Exception as error:
            return f"No voice: {error}", False
    if not hasattr(system, "tts"):
        return "There is no voice here.", False
    return "spoken", True
    """,
)
PACKAGES = tool(
    "soup",
    "claude",
    "wallet",
    "telegram",
    head="""
    import bs4
    import numpy as np
    import PIL
    import requests
    import urllib3
    from croniter import croniter
    """,
    body="""
    if function_name == "claude":
        import anthropic
    elif function_name == "wallet":
        from bit import Key
    elif function_name == "telegram":
        from telethon import TelegramClient
    page = bs4.BeautifulSoup("<p>Tea</p>", "html.parser")
    return f"{page.p.text} {np.add(1, 2)} {croniter.is_valid('0 9 * * *')}", True
    """,
)


def files() -> dict[str, str | bytes]:
    """One plugin for each kind of name; one with a set clock, one on a machine without three packages."""
    found: dict[str, str | bytes] = {
        "plugins/lazy/tools/lazy.py": LAZY,
        "plugins/notes/tools/notes.py": NOTES,
        "plugins/probe/tools/probe.py": PROBE,
        "plugins/header/plugin.json": manifest("header", "tools/header.py"),
        "plugins/header/tools/header.py": tool(
            "header",
            body='from core.tool_context import context_header\nreturn context_header() + "the messages", True',
        ),
        "plugins/packages/plugin.json": manifest("packages", "tools/packages.py"),
        "plugins/packages/tools/packages.py": PACKAGES,
    }
    clocked(found, "plugins/header")
    bare(found, "plugins/packages", "anthropic", "bit", "telethon")
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    """One host for all of them."""
    async with sapphire(tmp_path_factory.mktemp("names"), files(), limit=None) as opened:
        yield opened


@pytest.mark.promise("S485", "S486")
async def test_what_sapphire_keeps_for_itself_is_an_import_error_in_one_sentence_and_the_rest_of_the_file_works(room):
    assert await room.ran("works") == ("layers: None", True)
    for line in ABSENT:
        text, ok = await room.ran("asks", {"line": line})
        assert not ok
        told = re.fullmatch(
            r"Error executing asks: (core\.[\w.]+) belongs to Sapphire itself and has no counterpart here\.", text
        )
        assert told is not None, (line, text)
        text, ok = await room.ran("catches", {"line": line})
        assert ok and text == f"not here: {told[1]} belongs to Sapphire itself and has no counterpart here."
    assert await room.ran("works") == ("layers: None", True)


@pytest.mark.promise("S486")
@pytest.mark.parametrize("line", HERE)
async def test_what_newer_files_import_is_here(room, line):
    assert await room.ran("asks", {"line": line}) == ("imported", True)


@pytest.mark.promise("S480", "S529")
async def test_a_file_that_wants_an_embedder_at_its_head_loads_and_searches_by_words(room):
    assert await room.ran("vector") == ("False None ''", True)
    assert await room.ran("remember", {"text": "Ada likes green tea"}) == ("Kept.", True)
    assert await room.ran("remember", {"text": "Bob likes coffee"}) == ("Kept.", True)
    assert await room.ran("recall", {"text": "green"}) == ("Ada likes green tea", True)


@pytest.mark.promise("S481")
async def test_the_header_of_what_is_handed_on_says_when_it_is(room):
    for ahead in (0, 86_400):
        set_clock(room.user, ahead)
        line, rest = (await room.ran("header"))[0].split("\n", 1)
        when = datetime.fromtimestamp(START + ahead, UTC).astimezone(ZoneInfo("Europe/Berlin"))
        assert line == f"[{when:%A}, {when.date()} {when:%H:%M} CET]"
        assert rest == "the messages"


@pytest.mark.promise("S476", "S530")
async def test_the_system_is_always_there_and_a_part_that_is_not_is_no_attribute_of_it(room):
    text, ok = await room.ran("parts")
    assert ok
    assert json.loads(text) == {
        "tts": False,
        "stt": False,
        "agent_manager": False,
        "llm_chat": True,
        "continuity_scheduler": True,
        "wake_word": False,
    }
    assert await room.ran("speak") == ("There is no voice here.", False)
    assert await room.ran("stop_speaking") == ("No voice: 'System' object has no attribute 'tts'", False)


@pytest.mark.promise("S489")
async def test_packages_that_files_need_are_here_and_the_others_are_named_when_they_are_missing(room):
    assert await room.ran("soup") == ("Tea 3 True", True)
    for name, package in (("claude", "anthropic"), ("wallet", "bit"), ("telegram", "telethon")):
        assert await room.ran(name) == (f"Error executing {name}: No module named '{package}'", False)
    assert await room.ran("soup") == ("Tea 3 True", True)
