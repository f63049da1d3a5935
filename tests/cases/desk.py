"""What the cases need around a whole host: save files, wait for what they lead to, call tools, and see what went wrong."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tests.spine.homes import host_at

from etui.events import Event, Kind
from etui.host import Host
from etui.outcome import Outcome
from etui.tool import Problem

SAYS = 'from etui import tool\n\n@tool\ndef {name}() -> str:\n    """Says {word}."""\n    return "{word}"\n'
"""A tool that says one word."""
PATIENCE = 20.0
"""Seconds after which a wait is a failure; nothing here waits for it."""


class Desk:
    """A host, its tools folder, and everything that was told since it was opened."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.tools = host.home / "tools"
        self.told: list[Event] = []
        self._fences = 0
        self._came = asyncio.Event()
        self._listener = host.hub.listen(limit=100_000)
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for event in self._listener:
            self.told.append(event)
            self._came.set()

    async def close(self) -> None:
        """Hear nothing more."""
        self._listener.close()
        await self._task

    def save(self, name: str, text: str | bytes) -> Path:
        """Write a file in the tools folder."""
        path = self.tools / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for events until this holds."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._came.clear()
                await self._came.wait()

    async def offered(self, *names: str) -> None:
        """Wait until these tools are there."""
        await self.until(lambda: set(names) <= self.names())

    async def gone(self, *names: str) -> None:
        """Wait until these tools are not there."""
        await self.until(lambda: not set(names) & self.names())

    async def problem(self, of: str) -> Problem:
        """The one problem of a plugin, waited for."""
        await self.until(lambda: self.problems(of))
        [problem] = self.problems(of)
        return problem

    async def serves(self, tool: str, answer: object) -> None:
        """Wait until the version is there whose tool gives this answer."""
        async with asyncio.timeout(PATIENCE):
            while True:
                self._came.clear()
                if tool in self.names() and given(await self.call(tool)) == answer:
                    return
                await self._came.wait()

    async def fence(self) -> None:
        """Wait until everything that was saved before has been looked at: a file that was saved later is there."""
        self._fences += 1
        name = f"fence_{self._fences}"
        self.save(f"{name}.py", SAYS.format(name=name, word="here"))
        await self.until(lambda: any(tool.name == name for tool in self.host.tools.all()))

    def ended(self, *pids: int) -> asyncio.Task[None]:
        """Ends once these processes, which are there now, are gone."""
        return asyncio.create_task(self._ended([os.pidfd_open(pid) for pid in pids]))

    async def _ended(self, handles: list[int]) -> None:
        loop = asyncio.get_running_loop()
        gone = [asyncio.Event() for _ in handles]
        for handle, event in zip(handles, gone, strict=True):
            loop.add_reader(handle, event.set)
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(event.wait() for event in gone))
        finally:
            for handle in handles:
                loop.remove_reader(handle)
                os.close(handle)

    def names(self) -> set[str]:
        """The tools that there are, but for the fences."""
        return {tool.name for tool in self.host.tools.all() if not tool.name.startswith("fence_")}

    def problems(self, of: str) -> list[Problem]:
        """What is wrong with a plugin."""
        return [problem for problem in self.host.problems.all() if of in (problem.plugin, problem.what)]

    def events(self, kind: Kind, since: int = 0) -> list[Event]:
        """What was told of a kind, from the given one of `told` on."""
        return [event for event in self.told[since:] if event.kind is kind]

    def spoken(self, since: int = 0) -> list[Event]:
        """The problems that were told."""
        return self.events(Kind.PROBLEM, since)

    async def call(self, tool: str, arguments: object = None, *, attended: bool = False) -> Outcome:
        """Call a tool as the owner's own program does."""
        session = self.host.session("python", attended=attended)
        return await session.call(session.new_call(tool, {} if arguments is None else arguments))

    async def value(self, tool: str, **arguments: object) -> object:
        """The result of a call that must go well."""
        outcome = await self.call(tool, arguments)
        assert outcome.ok, outcome
        return given(outcome)


def given(outcome: Outcome) -> object:
    """What a call gave: its data, or its text where that is all."""
    return outcome.text if outcome.data is None else outcome.data


@asynccontextmanager
async def desk_at(home: Path, **settings: object) -> AsyncIterator[Desk]:
    """A desk over a host in this home; short patience with what does not end."""
    async with host_at(home, **{"grace_seconds": 0.2, "allow_exec": "allow", "unconfined": "allow", **settings}) as host:
        desk = Desk(host)
        try:
            yield desk
        finally:
            await desk.close()


def descendants(pid: int | None = None) -> set[int]:
    """Every process below this one."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            below.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    queue = [os.getpid() if pid is None else pid]
    while queue:
        children = below.get(queue.pop(), [])
        found.update(children)
        queue.extend(children)
    return found


def descriptors() -> int:
    """How many this process has open."""
    return len(os.listdir("/proc/self/fd"))


def running(mark: str) -> list[int]:
    """Processes whose command line holds this mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
