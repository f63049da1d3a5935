"""Real `etui` processes for the tests: run to the end, served in the background, or on a terminal of their own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

ETUI = [sys.executable, "-m", "etui"]
LONG = 60.0
"""Seconds after which a test is lost; nothing waits for them to pass."""
TOOLS = r'''import time
from etui import Context, Refusal, tool


@tool(examples=["add {a} and {b}"])
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(risk="exec", examples=["run {command}"])
def shell(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


@tool(risk="write")
def hang(ctx: Context) -> str:
    """Says into a pipe that it runs, and does not end."""
    with ctx.files.path("here").open("w") as pipe:
        pipe.write("here")
    time.sleep(600)
    return "slept"


@tool
def nasty() -> str:
    """Says \x1b[31mred\x07 things."""
    return "a\rb\x1b[2Jc\u202edcba\u202c\u200b👩‍👩‍👧"


@tool
def boom() -> str:
    """Breaks."""
    raise RuntimeError("the inside of it")


@tool
def no() -> str:
    """Refuses."""
    raise Refusal("Not today.")


@tool
def size(text: str) -> int:
    """Tell how long a text is."""
    return len(text)


@tool(examples=["ask me about {what}"])
def choose(ctx: Context, what: str) -> str:
    """Ask the person."""
    answer = ctx.ask(f"Which {what}?", ["red", "blue"])
    return f"{answer.state}: {answer.text}"
'''


def environ(home: Path, **more: str) -> dict[str, str]:
    """The environment of a person who has nothing set; without the shelf unless it is asked for."""
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**base, "ETUI_HOME": str(home), "ETUI_SHELF": "off", "LANG": "C.UTF-8", "TERM": "xterm", **more}


def etui(home: Path, *arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    """One command, run to its end."""
    env = environ(home, **more.pop("env", {}))
    return subprocess.run(
        [*ETUI, *arguments], capture_output=True, text=True, encoding="utf-8", env=env, timeout=LONG, check=False, **more
    )


def shell(home: Path, line: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A line for the shell, in which `etui` is a command."""
    line = f"etui() {{ '{sys.executable}' -m etui \"$@\"; }}; {line}"
    return subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environ(home, **env),
        timeout=LONG,
        check=False,
    )


@contextlib.contextmanager
def serving(home: Path, **env: str) -> Iterator[subprocess.Popen[str]]:
    """`etui serve` on a free port, ready to answer."""
    process = subprocess.Popen(
        [*ETUI, "serve", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ(home, **env),
    )
    try:
        assert process.stdout is not None
        assert "Etui is here" in process.stdout.readline()
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LONG)


def tools_in(home: Path, text: str = TOOLS, name: str = "mine.py") -> Path:
    """Save a tool file in a home."""
    (home / "tools").mkdir(parents=True, exist_ok=True)
    file = home / "tools" / name
    file.write_text(text)
    return file


@contextlib.contextmanager
def running(home: Path) -> Iterator[Callable[[], None]]:
    """Gives what waits until the tool `hang` runs."""
    pipe = home / "files" / "here"
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    def wait() -> None:
        ready, _, _ = select.select([reader], [], [], LONG)
        assert ready, "the tool never ran"

    try:
        yield wait
    finally:
        os.close(reader)


def gone(process: int) -> bool:
    """True once this process, held by a descriptor, has ended."""
    ready, _, _ = select.select([process], [], [], LONG)
    os.close(process)
    return bool(ready)


class Terminal:
    """A command on a terminal of its own, whose keyboard and screen the test has."""

    def __init__(self, home: Path, *arguments: str, columns: int = 100, **env: str) -> None:
        self._own, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.process = subprocess.Popen(
            [*ETUI, *arguments],
            stdin=its,
            stdout=its,
            stderr=its,
            env=environ(home, **env),
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(its)
        self.screen = ""
        self._seen = 0

    def until(self, text: str) -> str:
        """Wait until this is on the screen, after all that was waited for before; gives what came up to it."""
        while (at := self.screen.find(text, self._seen)) < 0:
            assert self._more(), f"{text!r} never came: {self.screen!r}"
        before, self._seen = self.screen[self._seen : at], at + len(text)
        return before

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._own, text.encode())

    def end(self) -> int:
        """Wait for the command's end; gives its exit code."""
        while self._more():
            pass
        return self.process.wait(LONG)

    def _more(self) -> bool:
        ready, _, _ = select.select([self._own], [], [], LONG)
        try:
            piece = os.read(self._own, 65536) if ready else b""
        except OSError:  # Linux says so when the other side is closed.
            piece = b""
        self.screen += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", piece.decode("utf-8", "replace"))
        return bool(piece)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LONG)
        os.close(self._own)
