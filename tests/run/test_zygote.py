"""The zygote: what it holds, what it preloads, what it does about threads, and that it goes when the host goes."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.run.kit import CONTRACT, TOOLS, descriptors, files, job, workers

from etui.errors import WorkerGone
from etui.run import forks as starting
from etui.run.confine import Limits
from etui.run.forks import Forks
from etui.run.launch import Process
from etui.run.log import Drain, Log
from etui.tool import Grant

PACKAGE = Path(__file__).parents[2] / "src"


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


async def end(process: Process) -> str:
    process.wire.close()
    Drain(process.output, Log()).close()
    return await process.exited


async def test_the_zygote_holds_nothing_of_the_host_and_has_one_thread():
    environ = {"PATH": "/bin", "HOME": "/h", "SECRET": "s"}
    before = descriptors()
    forks = Forks(preload=["decimal", "no_such_module_zz"], environ=environ)
    process = await forks.launch(Limits(), {})
    zygote = parent(process.pid)
    assert b"SECRET" not in Path(f"/proc/{zygote}/environ").read_bytes()
    assert len(os.listdir(f"/proc/{zygote}/task")) == 1
    assert "no_such_module_zz" in forks.left_out
    await end(process)
    await forks.close()
    assert descriptors() <= before
    assert not Path(f"/proc/{zygote}").exists()


async def test_a_module_that_starts_threads_is_left_out(tmp_path):
    venv = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", venv], check=True)
    site = next(venv.glob("lib/python*/site-packages"))
    (site / "threaded.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n"
    )
    (site / "calm.py").write_text("")
    host_site = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "msgspec.pth").write_text(host_site + "\n")
    forks = Forks(python=str(venv / "bin" / "python"), preload=["calm", "threaded", "decimal"], environ={})
    process = await forks.launch(Limits(), {})
    assert forks.left_out == ("threaded",)
    assert len(os.listdir(f"/proc/{parent(process.pid)}/task")) == 1
    await end(process)
    await forks.close()


async def test_a_tools_environment_needs_no_etui_and_gets_no_path_to_it(tmp_path):
    venv = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", venv], check=True)
    site = next(venv.glob("lib/python*/site-packages"))
    host_site = Path(next(path for path in sys.path if path.endswith("site-packages")))
    for name in ("msgspec", "docstring_parser"):
        (site / name).symlink_to(host_site / name)
    plugin = tmp_path / "spy.py"
    plugin.write_text(
        "import sys, importlib.util\n"
        "async def look(arguments, line):\n"
        "    import etui.tool\n"
        "    return [sys.path, sys.prefix, importlib.util.find_spec('starlette') is None]\n"
    )
    grant = Grant(read=(str(host_site),))
    async with workers(tools_python=str(venv / "bin" / "python")) as made:
        made.set_plugin(files(plugin), grant)
        path, prefix, alone = (await made.run(job("look"))).data
    assert alone
    assert prefix == str(venv)
    assert str(PACKAGE) not in path


async def test_workers_are_forked_and_end_with_their_wire():
    forks = Forks(environ={})
    processes = [await forks.launch(Limits(), {}) for _ in range(3)]
    assert len({parent(process.pid) for process in processes}) == 1
    assert [await end(process) for process in processes] == ["it ended itself with code 0"] * 3
    await forks.close()


async def test_a_launch_that_is_given_up_leaves_no_worker_and_no_descriptor():
    before = descriptors()
    forks = Forks(environ={})
    kept = await forks.launch(Limits(), {})
    zygote = parent(kept.pid)
    for rounds in range(6):
        launch = asyncio.create_task(forks.launch(Limits(), {}))
        for _ in range(rounds):
            await asyncio.sleep(0)
        launch.cancel()
        await asyncio.wait([launch])
        if not launch.cancelled():  # The worker was there before anybody gave it up.
            await end(launch.result())
    children = Path(f"/proc/{zygote}/task/{zygote}/children")
    async with asyncio.timeout(10):
        while children.read_text().split() != [str(kept.pid)]:
            await asyncio.sleep(0.01)
    await end(kept)
    await forks.close()
    assert descriptors() <= before


async def test_a_second_zygote_is_started_when_the_first_died():
    forks = Forks(environ={})
    process = await forks.launch(Limits(), {})
    first = parent(process.pid)
    os.kill(first, 9)
    assert await end(process) == "the zygote died, and its workers with it"
    process = await forks.launch(Limits(), {})
    assert parent(process.pid) != first
    await end(process)
    await forks.close()


def test_what_is_started_cannot_be_ended_by_a_ctrl_c_that_comes_in_that_moment():
    asked = "import signal, sys; sys.exit(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
    ours = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert started(asked).returncode == 1
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == ours


def started(code: str) -> subprocess.Popen[bytes]:
    """A zygote that only runs this."""
    near, far = socket.socketpair()
    with near, far:
        process = starting._start([sys.executable, "-c", code], os.environ, far.fileno())
        process.communicate()
    return process


@pytest.mark.parametrize("zygote", [True, False])
async def test_a_worker_passes_over_ctrl_c_and_holds_no_signal_back(zygote: bool):
    async with workers(zygote=zygote) as made:
        made.set_plugin(files(TOOLS), Grant())
        await made.run(job("count"))
        lines = Path(f"/proc/{made.report()[0].pid}/status").read_text().splitlines()
        masks = {
            name: int(mask, 16) for name, _, mask in (line.partition(":") for line in lines) if name in ("SigBlk", "SigIgn")
        }
        interrupt = 1 << (signal.SIGINT - 1)
        assert (masks["SigBlk"], masks["SigIgn"] & interrupt) == (0, interrupt)


async def test_a_python_that_dies_without_a_word_is_told_with_how_it_died(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -TERM $$\n")
    python.chmod(0o755)
    made = Forks(python=str(python), environ={})
    with pytest.raises(WorkerGone, match="it said nothing, and it was killed by SIGTERM"):
        await made.launch(Limits(), {})
    await made.close()


async def test_a_python_that_is_not_there_is_a_sentence():
    forks = Forks(python="/nowhere/python", environ={})
    with pytest.raises(WorkerGone, match="'/nowhere/python' could not be started"):
        await forks.launch(Limits(), {})
    await forks.close()


HOST = """
import asyncio, sys
sys.path[:0] = {paths!r}
from etui.run.workers import Workers
from etui.tool import Grant
from tests.run.kit import files, job, TOOLS

async def main():
    made = Workers(contract_path={contract!r})
    await made.start()
    made.set_plugin(files(TOOLS), Grant(subprocess=True))
    await made.run(job("count"))
    print(made.report()[0].pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_when_the_host_is_killed_nobody_stays_behind():
    paths = [str(PACKAGE), str(PACKAGE.parent)]
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST.format(paths=paths, contract=CONTRACT), stdout=asyncio.subprocess.PIPE
    )
    assert host.stdout is not None
    worker = int(await host.stdout.readline())
    zygote = parent(worker)
    watched = [os.pidfd_open(worker), os.pidfd_open(zygote)]
    host.kill()
    await host.wait()
    loop = asyncio.get_running_loop()
    for pidfd in watched:
        gone = loop.create_future()
        loop.add_reader(pidfd, gone.set_result, None)
        await asyncio.wait_for(gone, 10)
        loop.remove_reader(pidfd)
        os.close(pidfd)
    assert TOOLS.exists()


async def test_who_stops_waiting_while_the_zygote_starts_leaves_nothing_behind():
    before, loose = descriptors(), []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: loose.append(context["message"]))
    forks = Forks(environ={})
    asked = asyncio.create_task(forks.launch(Limits(), {}))
    while not any("zygote" in command for command in _children()):
        await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await forks.close()
    del asked, forks
    gc.collect()
    await asyncio.sleep(0)
    assert (loose, descriptors() <= before) == ([], True)


def _children() -> Iterator[list[str]]:
    """The command lines of this process's children."""
    for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        with contextlib.suppress(OSError):
            yield Path(f"/proc/{pid}/cmdline").read_text().split("\0")
