"""A turn in a process of its own, which dies of SIGKILL at a named point: `python -m tests.agent.doomed DB DONE POINT`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.agent.rooms import Room

from etui.agent.model import Ask, Text
from etui.agent.scripted import Scripted, Step, call
from etui.tool import Risk


def die() -> None:
    """End now, as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def room(database: str, done: Path, point: str = "") -> Room:
    """The room with its tools; each writes a line of what it did, and dies where it is told to."""
    made = Room(database)

    def tool(name: str, risk: Risk) -> None:
        async def body(arguments: dict[str, object]) -> str:
            if point == f"before {name}":
                die()
            with done.open("a") as out:
                out.write(f"{name}\n")
            if point == f"in {name}":
                die()
            return f"{name} done"

        made.door.add(name, body, risk)

    tool("look", Risk.READ)
    tool("add", Risk.WRITE)
    tool("send", Risk.NETWORK)
    return made


def model(point: str = "") -> Scripted:
    """Looks, then adds and sends, then says so."""

    def asked(number: int, step: Step) -> Step:
        def play(ask: Ask) -> Step:
            if point == f"asking {number}":
                die()
            return step

        return play

    steps: list[Step] = [[Text("Let me see."), call("look")], [call("add"), call("send", index=1)], "All done."]
    return Scripted([asked(number, step) for number, step in enumerate(steps)], by_history=True)


if __name__ == "__main__":
    database, done, point = sys.argv[1:]
    asyncio.run(room(database, Path(done), point).turn(model(point), "do it"))
