"""The tool files of `kotoba-companion`, as its wheel holds them: fetched once by hash, unpacked, run as they are."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WHEEL = ROOT / ".venv" / "kotoba-wheel"
TOOLS = {
    "search_files": "action/search_files.py",
    "read_file": "action/file_read.py",
    "write_file": "action/file_write.py",
    "patch": "action/patch.py",
    "shell": "action/shell.py",
    "execute_code": "action/execute_code.py",
    "clarify": "builtin/clarify.py",
    "session_search": "builtin/session_search.py",
    "todo": "builtin/todo.py",
    "memory_write": "builtin/memory_write.py",
    "memory_recall": "builtin/memory_recall.py",
    "skill_list": "builtin/skill_list.py",
    "skill_view": "builtin/skill_view.py",
    "open_link": "builtin/open_link.py",
    "ask_user": "builtin/ask_user.py",
    "web_search": "builtin/web_search.py",
    "web_extract": "builtin/web_extract.py",
}
"""Where each tool's file lies in the wheel, by the tool's name."""


@functools.cache
def wheel() -> Path:
    """The folder of the unpacked wheel; fetched now where `make test` did not."""
    subprocess.run([str(ROOT / "scripts" / "kotoba-wheel"), str(WHEEL), sys.executable], cwd=ROOT, check=True)
    return WHEEL / "kotoba"


def files(*tools: str, plugin: str = "wheel") -> dict[str, str | bytes]:
    """The files of these tools, unmodified, as one plugin of a source."""
    return {f"{plugin}/{Path(TOOLS[tool]).name}": (wheel() / "tools" / TOOLS[tool]).read_bytes() for tool in tools}


def skills() -> dict[str, bytes]:
    """The Markdown guides of the wheel, by file name."""
    return {path.name: path.read_bytes() for path in (wheel() / "data" / "soul" / "skills").glob("*.md")}
