"""What the runner tests share: a plugin of tools that behave and misbehave, jobs, and the three runners."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from tests.mother import HELD
from tests.run.plain_contract import Plain

from etui.contracts import Caller, Files
from etui.outcome import Outcome
from etui.run import Job
from etui.run.inline import Inline
from etui.run.workers import Timing, Workers
from etui.tool import Call, Grant, Risk, Tool

CONTRACT = str(Path(__file__).with_name("plain_contract.py"))
TOOLS = Path(__file__).with_name("behaviours.py")
"""Tools that every runner runs."""
QUICK = Timing(grace=0.2, stop=0.1, start=10.0, describe=10.0)
_numbers = itertools.count(1)


class Desk:
    """The host's services, as far as these tests need any: what was asked is kept, and answered by the given function."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, object]]] = []
        self.answer: Callable[[str, dict[str, object]], Awaitable[object]] | None = None
        self.came = asyncio.Event()

    async def serve(self, service: str, arguments: dict[str, object]) -> object:
        self.asked.append((service, arguments))
        self.came.set()
        return await self.answer(service, arguments) if self.answer else None

    def of(self, service: str) -> list[dict[str, object]]:
        return [arguments for name, arguments in self.asked if name == service]

    async def next(self, service: str) -> dict[str, object]:
        """Wait until that service has been asked for at least once."""
        while not self.of(service):
            self.came.clear()
            await self.came.wait()
        return self.of(service)[-1]


def job(
    name: str,
    arguments: dict[str, object] | None = None,
    *,
    seconds: float | None = 10.0,
    risk: Risk = Risk.WRITE,
    desk: Desk | None = None,
    plugin: str = "odd",
    **tool: Any,
) -> Job:
    given = {} if arguments is None else arguments
    return Job(
        call=Call(id=f"call-{next(_numbers)}", tool=name, arguments=given),
        tool=Tool(name=name, description="", parameters={}, contract="plain", plugin=plugin, risk=risk, **tool),
        arguments=given,
        seconds=seconds,
        caller=Caller(session="s1", channel="terminal", user_text="go"),
        serve=(desk or Desk()).serve,
    )


def files(path: Path, plugin: str = "odd", work: Path | str = "", digest: str = "") -> Files:
    return Files(
        plugin=plugin, source="test", contract="plain", path=str(path), files=(str(path),), work=str(work), digest=digest
    )


class Bench:
    """A runner with the behaviours in it."""

    def __init__(self, runner: Workers | Inline) -> None:
        self.runner = runner
        self.longest = 1.5 if isinstance(runner, Inline) else 60
        """Seconds that a tool may block: a thread of this process would hold up the end of the test."""

    async def call(self, name: str, arguments: dict[str, object] | None = None, **more: Any) -> Outcome:
        return await self.runner.run(job(name, arguments, **more))


@contextlib.asynccontextmanager
async def workers(**more: Any) -> AsyncIterator[Workers]:
    """Workers with the plain contract; nothing of the environment; every descriptor is given back at the end."""
    settings = {"contract_path": CONTRACT, "timing": QUICK, "environ": {"PATH": os.defpath}, **more}
    before = descriptors()
    made = Workers(**settings)
    await made.start()
    try:
        yield made
    finally:
        await made.close()
    assert descriptors() <= before


def descriptors() -> set[str]:
    """The open descriptors of this process, by what they are."""
    found = set()
    for name in {*os.listdir("/proc/self/fd")} - {*map(str, HELD)}:
        with contextlib.suppress(OSError):
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
    return {entry for entry in found if "/proc/" not in entry}


@contextlib.asynccontextmanager
async def bench(kind: str, path: Path = TOOLS, grant: Grant | None = None, **more: Any) -> AsyncIterator[Bench]:
    """A runner of that kind: zygote, spawn or inline."""
    if kind == "inline":
        contract = Plain()
        contract.describe(files(path))
        inline = Inline(grace=0.1)
        for name in contract.functions:
            inline.add(name, contract.invoke)
        yield Bench(inline)
        return
    async with workers(zygote=kind == "zygote", **more) as made:
        made.set_plugin(files(path), grant or Grant())
        yield Bench(made)


def processes_with(word: str) -> list[int]:
    """The processes in whose command line that word stands."""
    return [pid for pid, line in _commands() if word in line]


def _commands() -> Iterator[tuple[int, str]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                yield int(name), Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
