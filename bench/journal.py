"""What a call that acts costs in the journal, both of its writes, against one bare sqlite3 insert of the same size."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ratio import line

from etui.outcome import Outcome, Status
from etui.store import Store
from etui.tool import Call, Risk, Tool

BLOCKS, BLOCK = 40, 100
ARGUMENTS: dict[str, object] = {"items": ["milk", "bread"], "list": "shopping"}
TEXT = "Added milk and bread to your shopping list."


def samples(act: Callable[[int], None], first: int) -> list[float]:
    """Seconds of each of a block."""
    times = []
    for number in range(first, first + BLOCK):
        before = time.perf_counter()
        act(number)
        times.append(time.perf_counter() - before)
    return times


def main() -> None:
    tool = Tool(
        name="list_add", description="", parameters={}, contract="etui", plugin="lists", digest="0" * 64, risk=Risk.WRITE
    )
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

        acts = {insert: "", journal: "journal.begin and journal.end", put: "state.put of a number", note: "state.put of a text"}
        taken: dict[Callable[[int], None], list[float]] = {act: [] for act in acts}
        for first in range(0, BLOCKS * BLOCK, BLOCK):
            for act in acts:
                taken[act].append(statistics.median(samples(act, first)))
        for act, name in acts.items():
            if name:
                print(line(name, taken[act], taken[insert], "a bare sqlite3 insert", "at most 4"))
        store.close()
        bare.close()


if __name__ == "__main__":
    main()
