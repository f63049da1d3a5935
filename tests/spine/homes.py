"""A whole host for a test: a home of its own, nothing of the environment, real workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from etui.events import Event, Kind, Listener
from etui.home import Home
from etui.host import Host, open_host

DICE = '''from etui import tool

@tool(examples=["roll {count} dice", "roll a die"])
def roll(count: int = 1) -> list[int]:
    """Roll six-sided dice and say what came up."""
    import random
    return [random.randint(1, 6) for _ in range(count)]
'''
"""The tool of the README and of the issue, to the letter."""


@asynccontextmanager
async def host_at(path: Path, *, clock: Callable[[], float] | None = None, **settings: object) -> AsyncIterator[Host]:
    """A host on this home; without the shelf unless it is asked for."""
    more = {} if clock is None else {"clock": clock}
    rows = {"shelf": False, "timezone": "Europe/Berlin", **settings}
    async with open_host(Home(path), rows, environ={}, **more) as host:
        yield host


async def until(events: Listener, kind: Kind, **data: object) -> Event:
    """The next event of this kind whose data holds these values."""
    while (event := await events.next()) is not None:
        if event.kind is kind and all(event.data.get(key) == value for key, value in data.items()):
            return event
    raise AssertionError(f"no {kind} came before the listener closed")


async def tool_changed(events: Listener, name: str) -> Event:
    """The event that tells of this tool's arrival, change or end."""
    while (event := await events.next()) is not None:
        if event.kind is Kind.TOOLS_CHANGED:
            named = (event.data["added"], event.data["removed"], event.data["changed"])
            if any(name in names for names in named if isinstance(names, list)):
                return event
    raise AssertionError(f"{name} did not change")
