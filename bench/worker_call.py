"""A call in a worker against a bare echo over a socketpair with the same bytes, in one run: `python bench/worker_call.py`.

Both ends of both are asyncio programs on the same machine; rounds of the two alternate, so that load falls on both. Prints
each one's median and spread (10th to 90th percentile) in microseconds, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from etui.contracts import Caller, Files
from etui.run import Job, wire
from etui.run.workers import Workers
from etui.tool import Call, Grant, Tool

CONTRACT = """
import importlib.util
from etui.contracts import Description, Ran
from etui.outcome import Status

class Bench:
    name = "bench"
    def recognises(self, source): return True
    def describe(self, files): return Description(contract="bench")
    async def invoke(self, tool, arguments, line):
        return Ran(status=Status.OK, data=arguments["a"] + arguments["b"])

CONTRACT = Bench()
"""


class _Fixed(asyncio.BufferedProtocol):
    """Reads into one buffer, so that the floor does not depend on how malloc likes big buffers that day."""

    def __init__(self) -> None:
        self._buffer = bytearray(1 << 16)
        self._transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer


class _Echo(_Fixed):
    def buffer_updated(self, nbytes: int) -> None:
        self._transport.write(self._buffer[:nbytes])

    def connection_lost(self, error: Exception | None) -> None:
        os._exit(0)


class _Asker(_Fixed):
    answer: asyncio.Future[int]

    def buffer_updated(self, nbytes: int) -> None:
        self.answer.set_result(nbytes)


def echo_process() -> socket.socket:
    """A process that sends back what it gets; the host's end of its socket."""
    mine, its = socket.socketpair()
    if os.fork() == 0:
        mine.close()

        async def serve() -> None:
            loop = asyncio.get_running_loop()
            its.setblocking(False)
            await loop.create_connection(_Echo, sock=its)
            await loop.create_future()

        asyncio.run(serve())
    its.close()
    mine.setblocking(False)
    return mine


async def timed(one: Callable[[], Awaitable[object]], count: int) -> list[float]:
    """Microseconds of each of so many."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        await one()
        times.append((time.perf_counter() - start) * 1e6)
    return times


def line(name: str, times: list[float]) -> str:
    """One row of the answer."""
    cuts = statistics.quantiles(times, n=10)
    return f"{name:28s} median {statistics.median(times):6.1f} µs   10-90 %: {cuts[0]:6.1f} - {cuts[-1]:6.1f}"


async def main(rounds: int, count: int, folder: Path, echo: socket.socket) -> float:
    """Measure, print, and return the ratio of the medians."""
    loop = asyncio.get_running_loop()
    transport, asker = await loop.create_connection(_Asker, sock=echo)
    contract, plugin = folder / "contract.py", folder / "plugin.py"
    contract.write_text(CONTRACT)
    plugin.write_text("")
    workers = Workers(contract_path=str(contract))
    await workers.start()
    workers.set_plugin(Files(plugin="bench", source="bench", contract="bench", path=str(plugin), files=(str(plugin),)), Grant())
    tool = Tool(name="add", description="", parameters={}, contract="bench", plugin="bench")

    async def serve(service: str, arguments: dict[str, object]) -> object:
        return None

    def job() -> Job:
        call = Call(id="01J8Z0000000000000000000", tool="add")
        return Job(call=call, tool=tool, arguments={"a": 1, "b": 2}, seconds=30.0, caller=Caller(), serve=serve)

    sample = job()
    payload = bytes(wire.frame(wire.Invoke(1, sample.call.id, "add", wire.to_json(sample.arguments), sample.caller)))

    async def ask() -> None:
        asker.answer = loop.create_future()
        transport.write(payload)
        await asker.answer

    bare: list[float] = []
    call: list[float] = []
    await timed(ask, count)
    await timed(lambda: workers.run(sample), count)
    for _ in range(rounds):
        bare += await timed(ask, count)
        call += await timed(lambda: workers.run(sample), count)
    await workers.close()
    transport.close()
    ratio = statistics.median(call) / statistics.median(bare)
    print(line(f"echo of {len(payload)} bytes", bare))
    print(line("Workers.run", call))
    print(f"ratio {ratio:.2f}   ({sys.version.split()[0]}, {rounds} rounds of {count})")
    return ratio


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    end = echo_process()
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(main(options.rounds, options.count, Path(name), end))
