"""A tool file that misbehaves in every way that there is; read by the host as anybody's, never imported by a test."""

import ctypes
import os
import re
import signal
import socket
import struct
import sys
import threading
import time

import msgspec

from etui import tool

KEEP = []


@tool
def behaves(word: str = "fine") -> str:
    """Says a word."""
    return word


@tool
def segfaults() -> None:
    """Reads what is not there."""
    ctypes.string_at(0)


@tool
def aborts() -> None:
    """Aborts."""
    os.abort()


@tool(timeout=0.3)
def loops() -> None:
    """Never ends."""
    while True:
        pass


@tool(timeout=0.3)
async def loops_on_the_loop() -> None:
    """Never ends."""
    while True:
        pass


@tool(timeout=0.3)
def sums() -> int:
    """Holds the interpreter."""
    return sum(range(10**13))


@tool(timeout=0.3)
def regex_bomb() -> bool:
    """Holds the interpreter."""
    return bool(re.match(r"(a+)+$", "a" * 40 + "b"))


@tool(timeout=0.3)
def ignores_signals() -> None:
    """Will not be told."""
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    while True:
        try:
            time.sleep(60)
        except BaseException:
            continue


@tool(timeout=0.3)
def stops_itself() -> None:
    """Stops its process."""
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)


@tool
def terminates_itself() -> None:
    """Ends its process."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


@tool
def leaves() -> None:
    """Ends its process."""
    os._exit(3)


@tool
def exits() -> None:
    """Ends the program."""
    sys.exit(2)


@tool
async def exits_on_the_loop() -> None:
    """Ends the program."""
    sys.exit(2)


@tool
def interrupts() -> None:
    """Ends the program."""
    raise KeyboardInterrupt


@tool
def two_gigabytes() -> None:
    """Takes them at once."""
    KEEP.append(bytearray(2 << 30))


@tool
def ever_more() -> None:
    """Takes memory by and by."""
    while True:
        KEEP.append(bytearray(8 << 20))


@tool
def forks() -> int:
    """Forks."""
    return os.fork()


@tool(timeout=20)
def threads() -> int:
    """Starts threads until it may not."""
    count = 0
    while count < 3000:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        count += 1
    return count


@tool
def floods() -> str:
    """Prints ten megabytes of garbage."""
    for _ in range(100):
        os.write(1, b'\x00\xff {"id": 1, "ok": true}\n' * 4000)
        os.write(2, b"garbage" * 1000)
    return "printed"


@tool
def closes_its_streams() -> str:
    """Closes 0, 1 and 2."""
    sys.stdout.close()
    os.closerange(0, 3)
    return "quiet"


@tool
def closes_everything() -> None:
    """Closes whatever is open."""
    os.closerange(3, 256)
    time.sleep(60)


def _wire() -> socket.socket:
    for name in os.listdir("/proc/self/fd"):
        try:
            end = socket.socket(fileno=os.dup(int(name)))
            end.getpeername()
            pid = struct.unpack("iII", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        except OSError:
            continue
        if int(name) > 2 and pid != os.getpid():
            return end
    raise RuntimeError("no wire found")


def _send(data: bytes) -> None:
    end = _wire()
    end.setblocking(True)
    end.sendall(data)


def _message(*parts: object) -> bytes:
    data = msgspec.msgpack.encode(list(parts))
    return struct.pack(">I", len(data)) + data


@tool
def garbage_on_the_wire() -> None:
    """Breaks the protocol."""
    _send(os.urandom(4096))
    time.sleep(60)


@tool
def four_gigabytes_on_the_wire() -> None:
    """Announces them."""
    _send(b"\xff\xff\xff\xff")
    time.sleep(60)


@tool
def answers_for_another() -> None:
    """Answers a call that it was not given."""
    _send(_message("done", 999_999, {"status": "ok"}, b""))
    time.sleep(60)


@tool
def closes_the_wire() -> None:
    """Closes it."""
    _wire().shutdown(socket.SHUT_RDWR)
    time.sleep(60)


@tool
def big_reply() -> str:
    """Gives 64 MB."""
    return "x" * (64 << 20)


@tool
def unserialisable() -> object:
    """Gives what has no JSON."""
    return object()


@tool
def deep() -> dict:
    """Gives 5,000 levels."""
    value = {}
    for _ in range(5000):
        value = {"d": value}
    return value


@tool
def endless_generator():
    """Never stops giving."""
    while True:
        yield "x" * 1000


@tool
def holds_itself() -> list:
    """Gives a list that holds itself."""
    value = []
    value.append(value)
    return value


@tool
def lies_about_itself() -> object:
    """Gives an object that breaks whatever looks at it."""

    class Bad:
        def __repr__(self):
            raise RuntimeError("no")

        __str__ = __repr__

        def __getattribute__(self, name):
            raise SystemExit(name)

    return Bad()


@tool
def opens_files() -> int:
    """Opens 10,000 files."""
    kept = []
    while len(kept) < 10_000:
        kept.append(open("/dev/null"))  # noqa: SIM115 - to be held
    return len(kept)


@tool
def recurses() -> int:
    """Calls itself."""
    return recurses()


@tool(timeout=0.3)
def patches_python() -> str:
    """Takes the language away from everybody else in its process."""
    import builtins
    import json

    builtins.len = builtins.isinstance = json.dumps = None
    return "patched"


@tool(timeout=0.3)
def patches_asyncio() -> str:
    """Takes the loop away from everybody else in its process."""
    import asyncio

    asyncio.get_running_loop = asyncio.current_task = asyncio.create_task = asyncio.wait_for = None
    return "patched"


@tool
def raises_what_cannot_be_shown() -> None:
    """Raises."""

    class Odd(BaseException):
        def __str__(self):
            raise ValueError("no words")

        __repr__ = __str__

    raise Odd


@tool
async def leaves_a_task_behind() -> str:
    """Leaves a task that ends the program."""
    import asyncio

    async def bad():
        await asyncio.sleep(0)
        sys.exit(4)

    KEEP.append(asyncio.get_running_loop().create_task(bad()))
    await asyncio.sleep(0.02)
    return "still here"


@tool
async def stops_the_loop() -> str:
    """Stops the loop that it runs on."""
    import asyncio

    asyncio.get_running_loop().stop()
    await asyncio.sleep(0.05)
    return "went on"
