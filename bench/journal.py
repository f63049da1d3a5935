"""What a call costs in the journal, as a ratio to one bare sqlite3 insert of the same size in the same run.

    .venv/bin/python bench/journal.py

Prints medians with the quartiles between which half of the samples lie. Nothing here is a test.
"""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from etui.outcome import Outcome, Status
from etui.store import Store
from etui.tool import Call, Tool

ROUNDS = 5000
ARGUMENTS: dict[str, object] = {"items": ["milk", "bread"], "list": "shopping"}
TEXT = "Added milk and bread to your shopping list."


def samples(act: Callable[[int], None]) -> list[float]:
    """Microseconds of each of the rounds."""
    times = []
    for number in range(ROUNDS):
        before = time.perf_counter_ns()
        act(number)
        times.append((time.perf_counter_ns() - before) / 1000)
    return times


def line(name: str, times: list[float], base: float) -> None:
    low, middle, high = statistics.quantiles(times, n=4)
    print(f"{name:34} {middle:7.1f} µs  ({low:.1f} to {high:.1f})  {middle / base:5.2f} x a bare insert")


def main() -> None:
    tool = Tool(name="list_add", description="", parameters={}, contract="etui", plugin="lists", digest="0" * 64)
    outcome = Outcome(status=Status.OK, text=TEXT, data={"count": 2}, seconds=0.01)
    with tempfile.TemporaryDirectory() as folder:
        bare = sqlite3.connect(Path(folder, "bare.db"), isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "wal_autocheckpoint = 0"):
            bare.execute(f"PRAGMA {pragma}")
        bare.execute(
            "CREATE TABLE t (number INTEGER PRIMARY KEY, id TEXT NOT NULL, arguments TEXT NOT NULL, text TEXT NOT NULL)"
        )
        store = Store.open(Path(folder, "etui.db"))

        def insert(number: int) -> None:
            bare.execute("INSERT INTO t (id, arguments, text) VALUES (?, ?, ?)", (f"call-{number}", str(ARGUMENTS), TEXT))

        def journal(number: int) -> None:
            id = f"call-{number}"
            store.journal.begin(
                Call(id=id, tool="list_add", turn=f"turn-{number // 3}"),
                tool,
                ARGUMENTS,
                chat="c",
                session="s",
                channel="console",
            )
            store.journal.end(id, outcome)

        def put(number: int) -> None:
            store.state.put("lists", f"item-{number % 100}", number)

        def note(number: int) -> None:
            store.state.put("notes", f"note-{number % 100}", {"title": "Shopping", "text": TEXT})

        base = samples(insert)
        middle = statistics.median(base)
        line("bare sqlite3 insert", base, middle)
        line("journal.begin and journal.end", samples(journal), middle)
        line("state.put of a number", samples(put), middle)
        line("state.put of a text, with its index", samples(note), middle)
        line("bare sqlite3 insert, again", samples(insert), middle)
        store.close()
        bare.close()


if __name__ == "__main__":
    main()
