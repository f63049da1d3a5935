"""The workers that are alive: each is born of code and a grant, watched over while it lives, and ended with the host.

Above: `workers` and `describing` ask for them. Below: `launch` with its two ways to start a process, `worker`. It refuses to
know: which plugin should run now, and calls.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from etui.contracts import Files
from etui.errors import WorkerGone
from etui.events import Kind
from etui.run import Serve
from etui.run.confine import Limits
from etui.run.enforced import Enforced
from etui.run.forks import Forks
from etui.run.launch import Launcher
from etui.run.log import Log
from etui.run.spawn import Spawn
from etui.run.worker import Worker
from etui.tool import Grant

_WATCH_SECONDS = 0.5


class Alive(msgspec.Struct, frozen=True, kw_only=True):
    """One live worker, for `etui doctor` and the console."""

    plugin: str
    pid: int
    calls: int
    """Under way."""
    memory: int
    """Bytes."""
    leaving: bool
    """Its plugin changed, and it only finishes what it has."""
    enforced: Enforced | None
    grant: Grant
    """What it may touch."""
    instance: str = ""
    """The session that has it to itself."""


def launcher(tools_python: str, preload: Sequence[str], environ: Mapping[str, str], zygote: bool | None) -> Launcher:
    """The way to start processes: forked from a zygote that has imported `preload`; None: where the system can do it."""
    if zygote is None:
        zygote = hasattr(os, "pidfd_open") and sys.platform.startswith("linux")
    return Forks(tools_python, preload, environ) if zygote else Spawn(tools_python, environ)


class Living:
    """All workers of one host that are alive."""

    def __init__(
        self,
        launcher: Launcher,
        environ: Mapping[str, str],
        *,
        memory: int,
        grace: float,
        contract_path: str,
        given: Callable[[str], Mapping[str, str]],
        reaching: Callable[[], Mapping[str, str]],
        apart: Callable[[Files], Serve] | None,
        gone: Callable[[Worker], None],
        tell: Callable[[Kind, dict[str, object]], object] | None,
    ) -> None:
        """`memory` is MB for each; `gone` is told of each that ended; the rest is as `Workers` has it."""
        self._launcher = launcher
        self._environ = environ
        self._memory = memory << 20
        self._grace = grace
        self._contract = contract_path
        self._given = given
        self._reaching = reaching
        self._apart = apart
        self._after = gone
        self._tell = tell
        self._workers: set[Worker] = set()
        self._watching: asyncio.Task[None] | None = None
        self.closed = False

    def __iter__(self) -> Iterator[Worker]:
        return iter(tuple(self._workers))

    def watch(self) -> None:
        """From now on, end each that takes more memory than it may."""
        self._watching = asyncio.create_task(self._watch())

    async def launch(self, files: Files, grant: Grant, log: Log) -> Worker:
        """A new one, which loads its plugin now. Raises `WorkerGone` where none could be started."""
        if self.closed:
            raise WorkerGone("The host is closing.")
        known = {**self._environ, **self._given(files.plugin)}
        environment = {name: known[name] for name in grant.env if name in known}
        if grant.network:
            environment.update(self._reaching())
        if files.work and files.work in grant.write:
            Path(files.work).mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - once for each worker, and quick
        plugin = tuple(path for path in (files.path, *files.files, files.copies, self._contract) if path)
        limits = Limits(grant=grant, plugin=plugin, work=files.work, memory=self._memory)
        process = await self._launcher.launch(limits, environment)
        apart = self._apart(files) if self._apart is not None else None
        worker = Worker(process, files, log, contract=self._contract, grace=self._grace, grant=grant, apart=apart)
        self._workers.add(worker)
        worker.exited.add_done_callback(lambda _: self._gone(worker))
        return worker

    async def parted(self, plugin: str) -> None:
        """Wait until none of this plugin is left that has to clear up: two would be in each other's way."""
        for worker in [one for one in self._workers if one.files.plugin == plugin]:
            if worker.parted is not None:
                await asyncio.wait([worker.parted])
                if not worker.calls:
                    await asyncio.wait([worker.exited])

    async def close(self) -> None:
        """End every one once it has cleared up, and the zygote; calls under way end as if their worker had died."""
        self.closed = True
        if self._watching is not None:
            self._watching.cancel()
        if leaving := [worker.parted for worker in self._workers if worker.parted is not None]:
            await asyncio.wait(leaving)
        for worker in self:
            worker.kill("the host is closing")
        await asyncio.gather(*(worker.exited for worker in self))
        await self._launcher.close()

    def report(self) -> list[Alive]:
        """What each is and does now."""
        return [
            Alive(
                plugin=worker.files.plugin,
                pid=worker.pid,
                calls=len(worker.calls),
                memory=worker.memory,
                leaving=worker.leaving,
                enforced=worker.enforced,
                grant=worker.grant,
                instance=worker.files.instance,
            )
            for worker in self._workers
        ]

    def tell_started(self, worker: Worker) -> None:
        """Say that it takes calls from now on."""
        self._told(Kind.WORKER_STARTED, worker, "enforced", msgspec.to_builtins(worker.enforced))

    def tell_gone(self, worker: Worker) -> None:
        """Say that one that took calls is dead, and how it died."""
        self._told(Kind.WORKER_GONE, worker, "why", worker.why)

    def _told(self, kind: Kind, worker: Worker, name: str, value: object) -> None:
        if self._tell is not None:
            self._tell(kind, {"plugin": worker.files.plugin, "pid": worker.pid, name: value})

    def _gone(self, worker: Worker) -> None:
        self._workers.discard(worker)
        self._after(worker)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            for worker in self:
                if worker.memory > self._memory:
                    worker.kill(f"it used more than {self._memory >> 20} MB of memory")
