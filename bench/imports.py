"""`import etui` against importing asyncio, msgspec and sqlite3, each in a process of its own, in turns."""

from __future__ import annotations

import subprocess
import sys
import time

from ratio import line

ROUNDS = 31


def once(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(once("import etui"))
        theirs.append(once("import asyncio, msgspec, sqlite3"))
    print(line("import etui", ours, theirs, "importing asyncio, msgspec and sqlite3", "at most 2"))
