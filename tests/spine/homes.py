"""A whole host for a test: a home of its own, nothing of the environment, real workers; and tools that wait at a gate."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from etui.agent.model import Model
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
DEEDS = '''import os
from etui import Context, tool


@tool
def look(ctx: Context, what: str) -> str:
    """Look at something."""
    return done(ctx, "look " + what)


@tool(risk="write")
def act(ctx: Context, what: str) -> str:
    """Do something."""
    return done(ctx, "act " + what)


def done(ctx, deed):
    with open(ctx.files.path("deeds"), "a") as deeds:
        deeds.write(f"{deed} {os.getpid()}\\n")
    gate = ctx.files.path(deed)
    if os.path.exists(gate):
        with open(gate) as held:
            held.read()
    return deed + " done"
'''
"""Tools that write down each time they run, and by which process, and wait where the test has put a gate."""
LONG = 20.0
"""Seconds after which a test is lost; nothing waits for them to pass."""


@asynccontextmanager
async def host_at(
    path: Path,
    *,
    clock: Callable[[], float] | None = None,
    model: Model | None = None,
    limit: float | None = LONG,
    environ: Mapping[str, str] | None = None,
    **settings: object,
) -> AsyncIterator[Host]:
    """A host on this home; without the shelf unless it is asked for. After `limit` seconds the test is lost."""
    more = {} if clock is None else {"clock": clock}
    rows = {"shelf": False, "timezone": "Europe/Berlin", **settings}
    async with asyncio.timeout(limit), open_host(Home(path), rows, environ=environ or {}, model=model, **more) as host:
        yield host


def tools_in(home: Path, text: str, name: str = "mine.py") -> Path:
    """Save a tool file in a home, whole at once as an editor does."""
    folder = home / "tools"
    folder.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text)
    (home / name).replace(folder / name)
    return folder / name


def gate(home: Path, deed: str) -> Path:
    """Let this deed wait until the test lets it through."""
    (home / "files").mkdir(parents=True, exist_ok=True)
    path = home / "files" / deed
    os.mkfifo(path)
    return path


@asynccontextmanager
async def reached(path: Path) -> AsyncIterator[None]:
    """While the block runs, a deed waits at this gate; when it ends, the deed goes on."""
    opening = asyncio.ensure_future(asyncio.to_thread(os.open, path, os.O_WRONLY))
    try:
        async with asyncio.timeout(LONG):
            handle = await asyncio.shield(opening)
    except BaseException:
        # Nobody came; the thread that waits for them is let go.
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        with contextlib.suppress(OSError):
            os.close(await opening)
        raise
    try:
        yield
    finally:
        os.close(handle)


def deeds(home: Path) -> list[str]:
    """What was done, in order."""
    file = home / "files" / "deeds"
    return [line.rpartition(" ")[0] for line in file.read_text().splitlines()] if file.exists() else []


def doers(home: Path) -> list[int]:
    """By which process each was done."""
    return [int(line.rpartition(" ")[2]) for line in (home / "files" / "deeds").read_text().splitlines()]


async def ended(pidfd: int) -> None:
    """Wait until that process is gone."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    assert await asyncio.to_thread(poll.poll, LONG * 1000), "the process lives on"


async def until(events: Listener, kind: Kind, **data: object) -> Event:
    """The next event of this kind whose data holds these values."""
    while (event := await asyncio.wait_for(events.next(), LONG)) is not None:
        if event.kind is kind and all(event.data.get(key) == value for key, value in data.items()):
            return event
    raise AssertionError(f"no {kind} came before the listener closed")


async def tool_changed(events: Listener, name: str) -> Event:
    """The event that tells of this tool's arrival, change or end."""
    while (event := await asyncio.wait_for(events.next(), LONG)) is not None:
        if event.kind is Kind.TOOLS_CHANGED:
            named = (event.data["added"], event.data["removed"], event.data["changed"])
            if any(name in names for names in named if isinstance(names, list)):
                return event
    raise AssertionError(f"{name} did not change")
