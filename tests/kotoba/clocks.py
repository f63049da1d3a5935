"""A clock that jumps, for a whole host with its workers: hours pass at once, and every timer goes off in its order.

`async with jumping(tmp_path, {"p/ping.py": waits()}) as stage:` gives a room whose tool waits at a gate;
`async with stage.waiting():` is a turn while its call waits there, in which `await stage.passes(40)` lets 40 seconds pass.
Times of events are told as seconds since the call started.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.kotoba.homes import Room, kotoba, ping
from tests.spine.homes import LONG

from etui.agent.scripted import Step, call
from etui.events import Event, Kind

GATE = "gate"
TOP = f"""
import asyncio
import os


async def the_gate(ctx):
    loop = asyncio.get_running_loop()
    opened = loop.create_future()
    gate = os.open(ctx.workdir / "{GATE}", os.O_RDONLY | os.O_NONBLOCK)
    loop.add_reader(gate, lambda: opened.done() or opened.set_result(None))
    try:
        await opened
    finally:
        loop.remove_reader(gate)
        os.close(gate)
"""


def waits(body: str = 'return "pong"', *, name: str = "ping", head: str = "") -> str:
    """The smallest plugin, which waits at the gate before it goes on."""
    return ping(f"await the_gate(ctx)\n{body}", name=name, head=head, top=TOP)


class Clock:
    """The running loop's time, which jumps ahead."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._time = self._loop.time
        self._ahead = 0.0
        self._loop.time = self.time  # type: ignore[method-assign]

    def time(self) -> float:
        """Seconds on the loop's clock."""
        return self._time() + self._ahead

    async def passes(self, seconds: float) -> None:
        """Let so many seconds pass: what falls due on the way happens then, and before what falls due later."""
        end = self.time() + seconds
        while (due := self._next()) is not None and due <= end:
            self._ahead += max(0.0, due - self.time())
            await self._settle()
        self._ahead += max(0.0, end - self.time())
        await self._settle()

    def stop(self) -> None:
        """The loop has its own time again."""
        del self._loop.time

    def _next(self) -> float | None:
        timers = [timer.when() for timer in self._loop._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
        return min(timers, default=None)

    async def _settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


class Stage:
    """A room on a clock that jumps."""

    def __init__(self, room: Room, clock: Clock, gate: Path, lost: asyncio.Timeout) -> None:
        self.room = room
        self.began = 0.0
        """When the last call started; where that was taken already, when it came to the gate."""
        self._clock = clock
        self._gate = gate
        self._lost = lost
        self._held = -1

    async def passes(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self._lost.reschedule(self._clock.time() + seconds + LONG)
        await self._clock.passes(seconds)

    async def lasts(self, seconds: float) -> None:
        """Let the call be so many seconds old, however long it took to begin."""
        await self.passes(seconds - (self._clock.time() - self.began))

    @asynccontextmanager
    async def waiting(
        self, *steps: Step, name: str = "ping", arguments: object = None, **turn: object
    ) -> AsyncIterator[asyncio.Task[str]]:
        """A turn while its call waits at the gate; at the end of the block it goes on, and the turn is waited for."""
        wanted = steps or ([call(name, arguments)], "Done.")
        task = asyncio.create_task(self.room.turn("go", *wanted, **turn))  # type: ignore[arg-type]
        await self.arrived(task)
        try:
            yield task
        finally:
            self.let_go()
            await asyncio.wait([task])

    async def arrived(self, task: asyncio.Task[str]) -> None:
        """Wait until the tool stands at the gate."""
        opening = asyncio.create_task(asyncio.to_thread(os.open, self._gate, os.O_WRONLY))
        await asyncio.wait([opening, task], return_when=asyncio.FIRST_COMPLETED)
        if not opening.done():
            os.close(os.open(self._gate, os.O_RDONLY | os.O_NONBLOCK))
            os.close(await opening)
            raise AssertionError(f"the call never came to the gate: {task.result()!r}")
        self._held = opening.result()
        started = [event.at for event in self.room._heard._events if event.kind is Kind.CALL_STARTED]
        self.began = started[-1] if started else self._clock.time()

    def let_go(self) -> None:
        """The tool goes on."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1

    async def end(self, task: asyncio.Task[str]) -> tuple[str, float]:
        """How the call that waits ends, without being let go, and after how many seconds."""
        await asyncio.wait([task])
        ended = [event for event in await self.room.events() if event.kind is Kind.CALL_ENDED][-1]
        return str(ended.data["status"]), round(ended.at - self.began, 1)

    async def heard(self) -> list[tuple[float, str]]:
        """What was said since it was last asked, with its time; a hum is an empty line."""
        return [(self._since(one), str(one.data.get("text", ""))) for one in await self._told(Kind.SAID, Kind.HUM)]

    async def _told(self, *kinds: Kind) -> list[Event]:
        return [event for event in await self.room.events() if event.kind in kinds]

    def _since(self, event: Event) -> float:
        return round(event.at - self.began, 1)


@asynccontextmanager
async def jumping(path: Path, files: Mapping[str, str | bytes], **settings: object) -> AsyncIterator[Stage]:
    """A room whose host lives on a clock that jumps; lost when nothing happened for a while in real time."""
    gate = path / "home" / "files" / GATE
    gate.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.mkfifo(gate)
    clock = Clock()
    try:
        async with (
            asyncio.timeout(LONG) as lost,
            kotoba(path, files, clock=clock.time, limit=None, **settings) as room,
        ):
            yield Stage(room, clock, gate, lost)
    finally:
        clock.stop()
