"""The misbehaviours of tools that may write or start programs; the same kind of file as `hostile.py`."""

import os
import time

from etui import Context, tool


@tool(risk="exec")
def behaves_too(word: str = "fine") -> str:
    """Says a word."""
    return word


@tool(risk="exec", timeout=1)
def fork_bomb() -> int:
    """Forks until it may not."""
    count = 0
    while count < 5000:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
    return count


@tool(risk="exec", timeout=0.4)
def busy_fork_bomb() -> None:
    """Descendants that go on forking, each in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            time.sleep(0.002)
        os._exit(0)
    time.sleep(60)


@tool(risk="exec")
def leaves_a_daemon(mark: str) -> str:
    """Leaves a program behind, twice forked and in a session of its own; comes back once it runs."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/bin/sleep", ["sleep", mark])
        os._exit(0)
    os.close(writing)
    os.read(reading, 1)
    return "left"


@tool(risk="exec")
def dies() -> None:
    """Dies with what it left."""
    os.abort()


@tool(risk="write", timeout=20)
def endless_file(ctx: Context) -> None:
    """Writes without end."""
    with ctx.files.open("endless", "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))
