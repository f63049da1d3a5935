"""`etui serve` with a model that kills the whole process at a named point: `python -m tests.spine.doomed POINT serve ...`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from etui.agent.model import Ask, CallPart, Text
from etui.agent.scripted import Scripted, Step, call
from etui.home import Home
from etui.host import Host, open_host
from etui.surfaces import cli

SCRIPT = [
    {
        "text": "Let me see.",
        "calls": [{"name": "look", "arguments": {"what": "left"}}, {"name": "look", "arguments": {"what": "right"}}],
    },
    {"calls": [{"name": "act", "arguments": {"what": "once"}}, {"name": "act", "arguments": {"what": "more"}}]},
    {"text": "All done."},
]
"""What the model does, also after the restart, where it is read from a file."""


async def die() -> None:
    """End now, as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def model(point: str = "") -> Scripted:
    """Plays the script; dies before it answers (`asking N`), or in the middle of its words (`telling N`)."""

    def step(number: int) -> Step:
        text = str(SCRIPT[number].get("text", ""))
        calls: list[CallPart] = [
            call(str(one["name"]), one["arguments"], index) for index, one in enumerate(SCRIPT[number].get("calls", []))
        ]

        def play(ask: Ask) -> Step:
            if point == f"asking {number}":
                return [die]
            if point == f"telling {number}":
                return [Text(text[:5]), die, Text(text[5:]), *calls]
            return [Text(text), *calls] if text else list(calls)

        return play

    return Scripted([step(number) for number in range(len(SCRIPT))], by_history=True)


def _open(home: Home, overrides: Mapping[str, object]) -> AbstractAsyncContextManager[Host]:
    return open_host(home, overrides, model=model(point))


if __name__ == "__main__":
    point = sys.argv.pop(1)
    sys.exit(cli.main(_open))
