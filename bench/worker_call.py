"""A call in a worker, without the house around it, against an echo over a socketpair that carries the same message."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
from floor import Echo, mirror_process
from ratio import line

from etui.contracts import Caller, Files
from etui.run import Job, wire
from etui.run.workers import Workers
from etui.tool import Call, Grant, Tool

BLOCKS, BLOCK = 20, 300
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


async def timed(one: Callable[[], Awaitable[object]]) -> float:
    """Seconds of one, the median of a block."""
    times = []
    for _ in range(BLOCK):
        started = time.perf_counter()
        await one()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


async def main(folder: Path) -> None:
    near = mirror_process()
    _, floor = await asyncio.get_running_loop().create_connection(Echo, sock=near)
    contract, plugin = folder / "contract.py", folder / "plugin.py"
    contract.write_text(CONTRACT)
    plugin.write_text("")
    workers = Workers(contract_path=str(contract))
    await workers.start()
    workers.set_plugin(Files(plugin="bench", source="bench", contract="bench", path=str(plugin), files=(str(plugin),)), Grant())
    tool = Tool(name="add", description="", parameters={}, contract="bench", plugin="bench")

    async def serve(service: str, arguments: dict[str, object]) -> object:
        return None

    call = Call(id="01J8Z0000000000000000000", tool="add")
    job = Job(call=call, tool=tool, arguments={"a": 1, "b": 2}, seconds=30.0, caller=Caller(), serve=serve)
    message = msgspec.to_builtins(
        wire.Invoke(1, call.id, "add", wire.to_json(job.arguments), job.caller), builtin_types=(bytes,)
    )

    async def ask() -> None:
        await floor.call(message)

    async def run() -> None:
        assert (await workers.run(job)).data == 3

    ours, theirs = [], []
    for number in range(-1, BLOCKS):
        one, other = await timed(run), await timed(ask)
        if number >= 0:
            ours.append(one)
            theirs.append(other)
    await workers.close()
    print(line("a call in a worker", ours, theirs, "a bare socketpair echo", "at most 2"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(main(Path(name)))
