"""Ways in which people write tool files that no page speaks of: they run as they do on their authors' machines."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.sapphire.homes import Room, manifest, sapphire, tool

from etui.contracts.listing import lists_tools
from etui.tool import Risk

pytestmark = pytest.mark.asyncio(loop_scope="module")

RECORD = """
from __future__ import annotations
{}


@{}
class Note:
    title: str
    tags: list[str] = {}(default_factory=list)
"""
PLAIN = RECORD.format("from dataclasses import dataclass, field", "dataclass", "field")
LONG = RECORD.format("import dataclasses as dc", "dc.dataclass(slots=True)", "dc.field")
KEPT = """
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.txt")
        page.write_text("kept for a moment")
        return f"{page.read_text()} in {page.parent.parent}", True
"""
FILES = {
    # Data classes look up in `sys.modules` what their annotations mean, while the body runs.
    "functions/loose_record.py": tool("loose_record", head=PLAIN, body="return str(Note('a')), True"),
    "plugins/records/tools/a.py": tool("record", head=LONG, body="return str(Note('a', ['b'])), True"),
    "plugins/records/tools/broken.py": PLAIN + "raise RuntimeError('too early')\n",
    "plugins/records/tools/after.py": tool(
        "left",
        body="import sys\nreturn ' '.join(sorted(name for name in sys.modules if name.startswith('plugins.records.'))), True",
    ),
    # What only Windows or nobody can follow.
    "plugins/notes-1.2.0/plugin.json": manifest("notes", r"tools\a.py", "tools/my-notes.v2.py"),
    "plugins/notes-1.2.0/tools/a.py": tool("dotted_folder", body="return __name__, True"),
    "plugins/notes-1.2.0/tools/my-notes.v2.py": tool("dotted_file", body="return __name__, True"),
    # The root is where imports start.
    "functions/_shared.py": "from urllib import request\nWORD = 'shared'\n",
    "functions/leaning.py": tool("leaning", head="from functions._shared import WORD", body="return WORD, True"),
    "plugins/long_way/lib/words.py": "import subprocess\nWORD = 'the long way'\n",
    "plugins/long_way/tools/a.py": tool(
        "long_way",
        head="from user.plugins.long_way.lib.words import WORD\nfrom user.functions import _shared",
        body="return f'{WORD}, {_shared.WORD}', True",
    ),
    "plugins/lost/tools/a.py": tool("lost", head="import functions.nothing"),
    "plugins/mistyped/tools/a.py": "AVAILABLE_FUNCTIONS = ['mistypd']\n" + tool("mistyped"),
    "plugins/wetter/plugin.json": manifest("wetter-köln", "tools/a.py", settings=[{"key": "ort", "default": "Köln"}]),
    "plugins/wetter/tools/a.py": tool(
        "wetter",
        head="from core.plugin_loader import plugin_loader\nstate = plugin_loader.get_plugin_state('wetter-köln')",
        body="state.save('n', state.get('n', 0) + 1)\nreturn f\"{state.all()} {settings['ort']}\", True",
        signature="function_name, arguments, config, settings",
    ),
    # Temporary files.
    "plugins/passing/tools/a.py": tool("passing", head="import tempfile\nfrom pathlib import Path", body=KEPT),
    "plugins/thinking/tools/a.py": tool("thinking", body="import tempfile\nreturn tempfile.gettempdir(), True"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("writing"), FILES, limit=None, allow_exec="allow") as room:
        yield room


async def test_data_classes_whose_annotations_are_text_can_be_made_in_a_tool_file(room):
    assert await room.ran("loose_record") == ("Note(title='a', tags=[])", True)
    assert await room.ran("record") == ("Note(title='a', tags=['b'])", True)


async def test_a_file_with_data_classes_that_fails_leaves_no_module_behind(room):
    names = (await room.ran("left"))[0].split()
    assert {"plugins.records.tools.a", "plugins.records.tools.after"} <= set(names)
    assert "plugins.records.tools.broken" not in names
    assert "too early" in room.reasons("records")[0]


async def test_files_are_found_by_windows_paths_and_run_under_names_with_dots(room):
    assert await room.ran("dotted_folder") == ("plugins.notes-1.2.0.tools.a", True)
    assert await room.ran("dotted_file") == ("plugins.notes-1.2.0.tools.my-notes.v2", True)
    assert room.reasons("notes") == []


async def test_imports_start_at_the_root_and_what_is_imported_counts_for_the_grant(room):
    assert await room.ran("leaning") == ("shared", True)
    assert room.tool("leaning").risk is Risk.NETWORK
    assert room.tool("long_way").risk is Risk.EXEC
    assert await room.ran("long_way") == ("the long way, shared", True)
    assert room.reasons("lost")[0].startswith("tools/a.py: it imports 'functions.nothing'")


async def test_a_file_that_makes_none_of_its_tools_available_says_so(room):
    [told] = room.reasons("mistyped")
    assert told == "tools/a.py: AVAILABLE_FUNCTIONS names none of its tools (mistyped). Put their names into that list."


async def test_a_plugin_is_called_in_its_authors_language(room):
    assert await room.ran("wetter") == ("{'n': 1} Köln", True)
    assert (room.user / "plugin_state" / "wetter-köln.json").exists()


async def test_temporary_files_lie_where_the_plugin_may_write_and_count_as_writing(room):
    assert await room.ran("passing") == (f"kept for a moment in {room.user / 'tmp'}", True)
    assert await room.ran("thinking") == (str(room.user / "tmp"), True)
    assert room.tool("thinking").risk is Risk.WRITE


@pytest.mark.parametrize(
    ("text", "sapphires"),
    [
        ("TOOLS = []\nasync def execute(a, b, c): ...", True),
        ("if True:\n    TOOLS = []\n    def execute(a, b, c): ...", True),
        (
            "try:\n    import fast\nexcept ImportError:\n    fast = None\nelse:\n    TOOLS, EMOJI = [], ''\nexecute = print",
            True,
        ),
        ("from .schemas import TOOLS\nfrom .work import run as execute", True),
        ("LISTED = TOOLS = []\ndef execute(a, b, c): ...", True),
        ("class Tool:\n    TOOLS = []\n    def execute(self): ...", False),
        ("def main():\n    TOOLS = []\n    def execute(): ...", False),
        ("TOOLS: list\ndef execute(a, b, c): ...", False),
        ("TOOLS = []\nexecute(", False),
        ("# TOOLS and execute", False),
    ],
)
async def test_a_file_is_known_by_the_names_that_it_gives_its_module_however_it_does(text, sapphires):
    assert lists_tools(text) is sapphires
