"""Files as their authors write them, equivalents of those that Sapphire ships, made from the facts alone and run as they are.

`corpus()` gives all of them by their paths below a root. What a test needs besides stands beside a file in its plugin, never in
it: `clocked` lets a plugin's time be set, `bare` takes packages away as on a machine that lacks them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).with_name("corpus")
START = 1_800_000_000.0
"""Where a set clock stands before a test sets it: seconds since the epoch."""
CLOCK = f"""import time


def now():
    try:
        return float(open("user/now").read())
    except OSError:
        return {START}


time.time = now
TOOLS = []


def execute(function_name, arguments, config):
    return "", False
"""
BARE = """import sys


class Without:
    def find_spec(self, fullname, path=None, target=None):
        if fullname.split(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{fullname!r}}", name=fullname)


sys.meta_path.insert(0, Without())
TOOLS = []


def execute(function_name, arguments, config):
    return "", False
"""


def corpus() -> dict[str, str | bytes]:
    """Every file, by its path below a root."""
    files = (path for path in sorted(ROOT.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in files}


def beside(files: dict[str, str | bytes], folder: str, name: str, text: str) -> None:
    """Put a file into a plugin's folder, to be run before the others."""
    listed = json.loads(files[f"{folder}/plugin.json"])
    listed["capabilities"]["tools"].insert(0, f"tools/{name}.py")
    files[f"{folder}/plugin.json"] = json.dumps(listed)
    files[f"{folder}/tools/{name}.py"] = text


def clocked(files: dict[str, str | bytes], folder: str) -> None:
    """Let that plugin's `time.time()` be what `set_clock` says."""
    beside(files, folder, "a_clock", CLOCK)


def bare(files: dict[str, str | bytes], folder: str, *packages: str) -> None:
    """Let that plugin run as on a machine without these packages."""
    beside(files, folder, "a_machine", BARE.format(names=packages))


def set_clock(user: Path, ahead: float) -> None:
    """It is now so many seconds after START."""
    (user / "now").write_text(str(START + ahead))


def emptied(base: Path) -> None:
    """Take every row out of a plugin's database, with the numbers that it has given; nothing where there is none yet."""
    if not base.exists():
        return
    with sqlite3.connect(base) as opened:
        tables = [name for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [name for name in tables if name == "sqlite_sequence" or not name.startswith(("sqlite_", "memories_fts_"))]
        for table in kept:
            opened.execute(f"DELETE FROM {table}")
    opened.close()


def tool_files(files: Mapping[str, object]) -> list[str]:
    """Those of them that offer tools."""
    return sorted(one for one in files if one.endswith(".py") and ("/tools/" in one or one.startswith("functions/")))
