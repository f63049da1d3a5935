"""`ctx.ensure_sandbox()`: commands in the same confinement as the tool itself, each in a process group of its own.

A worker is confined before it reads a tool file, and what it starts inherits that, so there is no second wall to build here.
Above: `context`, `names`. Below: `witnesses`, the operating system. It refuses to know: which commands a person allowed.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import importlib
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from etui.contracts.kotoba.witnesses import witness

LOCAL, NONE = "local", "none"
STREAM = 200_000
"""Bytes of each stream that are kept."""
TIMED_OUT = 124
"""The exit code of a command that was ended because it ran too long."""
_SCRIPT = "_run.py"
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "USER", "LOGNAME", "SHELL", "TMPDIR")
_GIT = {"GIT_CONFIG_GLOBAL": os.devnull}
"""Git ends at once where the person's own settings are there and may not be read, as they may not here."""
_LINGER = 0.5
"""Seconds in which the last output of a command that has ended is waited for."""


class ExecResult(msgspec.Struct, frozen=True):
    """How a command ended."""

    stdout: str
    stderr: str
    exit_code: int

    @property
    def ok(self) -> bool:
        """Whether it ended with 0."""
        return self.exit_code == 0


@functools.cache
def backend() -> str:
    """`local` where this worker may start programs, else `none`: the kernel is asked, and its answer never changes."""
    try:
        os.execve("/nonexistent/program", ["program"], {})
    except OSError as error:
        return NONE if error.errno in (errno.EPERM, errno.EACCES) else LOCAL


class Sandbox:
    """Runs commands in the working folder; the same for all calls of a worker."""

    def __init__(self, workdir: Path) -> None:
        self.workdir = workdir
        self._running: set[asyncio.subprocess.Process] = set()

    async def start(self) -> None:
        """See that the working folder is there."""
        self.workdir.mkdir(parents=True, exist_ok=True)

    async def run(self, command: str, cwd: str = ".", timeout: float = 60) -> ExecResult:  # noqa: ASYNC109 (the name that tools give)
        """Run a shell command below the working folder, for at most so many seconds."""
        return _noted(await self._run(["/bin/sh", "-c", str(command)], cwd, timeout))

    async def run_code(self, code: str, lang: str = "python", timeout: float = 60) -> ExecResult:  # noqa: ASYNC109 (the name that tools give)
        """Run Python in a process of its own. Raises ValueError for another language."""
        if lang != "python":
            raise ValueError(f"Only Python can be run here, not {lang!r}.")
        await self.write(_SCRIPT, str(code).encode())
        command = f"{shlex.quote(sys.executable)} {_SCRIPT}"
        return _noted(await self._run(["/bin/sh", "-c", command], ".", timeout))

    async def read(self, path: str) -> bytes:
        """The bytes of a file in the working folder. Raises PathSecurityError for one outside, OSError for none."""
        return await asyncio.to_thread(self._inside(path).read_bytes)

    async def write(self, path: str, data: bytes | str) -> None:
        """Write a file in the working folder, text as UTF-8, and the folders above it. Raises PathSecurityError outside."""
        target = self._inside(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(target.write_bytes, data.encode() if isinstance(data, str) else data)

    async def kill(self) -> None:
        """End what runs in it now."""
        for process in tuple(self._running):
            _end(process)

    async def _run(self, command: list[str], cwd: str, seconds: float) -> ExecResult:
        out, err = _Stream(), _Stream()
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self._inside(cwd),
                env=environment(self.workdir),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out.end,
                stderr=err.end,
                start_new_session=True,
            )
        except BaseException:
            out.close()
            err.close()
            raise
        self._running.add(process)
        reading = [asyncio.create_task(stream.read()) for stream in (out, err)]
        try:
            async with asyncio.timeout(seconds):
                code = await process.wait()
        except TimeoutError:
            return ExecResult("", f"It ran longer than {seconds:g} seconds and was ended.", TIMED_OUT)
        else:
            await asyncio.wait(reading, timeout=_LINGER)
            return ExecResult(out.text(), err.text(), code)
        finally:
            self._running.discard(process)
            if process.returncode is None:
                _end(process)
            for task in reading:
                task.cancel()

    def _inside(self, path: str) -> Path:
        found: Path = importlib.import_module("kotoba.core.path_security").validate_within_dir(path, self.workdir)
        return found


class _Stream:
    """One stream of a command: everything is read, so that nobody waits, and the first of it is kept.

    The pipe is ours and not the process's transport's: that one would wait for whatever the command left running behind it.
    """

    def __init__(self) -> None:
        self._reading, self.end = os.pipe()
        self._kept = bytearray()

    async def read(self) -> None:
        """Read to the end, whatever the command does; its end of the pipe is closed here."""
        os.close(self.end)
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        pipe = os.fdopen(self._reading, "rb", 0)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            while chunk := await reader.read(1 << 16):
                self._kept += chunk[: max(0, STREAM - len(self._kept))]
        finally:
            transport.close()

    def close(self) -> None:
        """Nothing was started."""
        os.close(self.end)
        os.close(self._reading)

    def text(self) -> str:
        """What was kept, as text."""
        return self._kept.decode("utf-8", "replace")


def environment(folder: Path) -> dict[str, str]:
    """What a command sees of the environment: where programs and the person's things are, and no secret.

    Its temporary files lie below the working folder, the only one that it may write.
    """
    passing = folder / ".tmp"
    with contextlib.suppress(OSError):  # where its owner lets the plugin write nothing, it has none
        passing.mkdir(exist_ok=True)
    return {"TMPDIR": str(passing)} | {name: os.environ[name] for name in _KEPT if name in os.environ} | _GIT


def _end(process: asyncio.subprocess.Process) -> None:
    """End a command with everything that it started in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _noted(result: ExecResult) -> ExecResult:
    """The result, its exit code noted for the running call."""
    found = witness()
    if found is not None:
        found.exited(result.exit_code)
    return result


_BOXES: dict[Path, Sandbox] = {}


async def sandbox(ctx: Any) -> Sandbox | None:
    """The sandbox of this conversation; None where the plugin may start no programs, or there is no working folder."""
    if ctx.workdir is None or backend() == NONE:
        return None
    folder = Path(ctx.workdir)
    if folder not in _BOXES:
        _BOXES[folder] = Sandbox(folder)
    await _BOXES[folder].start()
    return _BOXES[folder]
