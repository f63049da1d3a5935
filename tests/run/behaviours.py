"""Tools for the behaviour suite; each takes `(arguments, line)`."""

import asyncio
import dataclasses
import math
import sys
import threading
import time

from etui.contracts import Ran
from etui.outcome import Image, Status

COUNT = {"calls": 0}


async def add(arguments, line):
    return arguments["a"] + arguments["b"]


def add_in_thread(arguments, line):
    assert threading.current_thread() is not threading.main_thread()
    return arguments["a"] + arguments["b"]


async def echo(arguments, line):
    return arguments


async def count(arguments, line):
    COUNT["calls"] += 1
    return COUNT["calls"]


async def who(arguments, line):
    return [line.call, line.caller.session, line.caller.channel, line.caller.user_text]


async def values(arguments, line):
    return {
        "nan": math.nan,
        "inf": -math.inf,
        "big": 2**80,
        "surrogate": "a\ud800b",
        "number_keys": {1: "one"},
        "bytes": b"ab",
        "tuple": (1, 2),
        "sound": 1.5,
    }


@dataclasses.dataclass
class Point:
    x: int
    y: int


async def record(arguments, line):
    return Point(1, 2)


async def text_with_surrogate(arguments, line):
    return Ran(status=Status.OK, text="x\udc80y")


async def picture(arguments, line):
    return Ran(status=Status.OK, text="a picture", images=(Image("image/png", b"\x89PNG\x00\xff"),), silent=True)


async def unserialisable(arguments, line):
    return object()


async def deep(arguments, line):
    value = {}
    for _ in range(arguments["levels"]):
        value = {"d": value}
    return value


async def huge(arguments, line):
    return "x" * (64 << 20)


async def nothing_of_the_kind(arguments, line):
    return Ran(status=Status.TIMED_OUT)


async def raises(arguments, line):
    raise ValueError("the key is hunter2")


async def raises_nothing_said(arguments, line):
    raise TimeoutError


def raises_in_thread(arguments, line):
    raise KeyError("hunter2")


async def refuses(arguments, line):
    return Ran(status=Status.REFUSED, text="Not on Sundays.")


async def fails_politely(arguments, line):
    return Ran(status=Status.FAILED, text="The oven is off.")


async def fails_mutely(arguments, line):
    return Ran(status=Status.FAILED)


async def exits(arguments, line):
    sys.exit(2)


def exits_in_thread(arguments, line):
    sys.exit(2)


async def interrupts(arguments, line):
    raise KeyboardInterrupt


async def cancels_itself(arguments, line):
    raise asyncio.CancelledError


async def sleeps(arguments, line):
    line.say("asleep")
    await asyncio.sleep(arguments.get("seconds", 60))
    return "slept"


def blocks(arguments, line):
    line.say("blocked")
    time.sleep(arguments.get("seconds", 60))
    return "woke"


async def stubborn(arguments, line):
    line.say("begun")
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        return "too late"


async def asks(arguments, line):
    return await line.ask("state.get", key="k", odd="\ud800")


def asks_in_thread(arguments, line):
    return line.ask_sync("state.get", key="k")


async def asks_what_is_no_json(arguments, line):
    return await line.ask("state.put", key="k", value=object())


async def asks_person(arguments, line):
    return await line.ask("ask", question="Sure?")


def asks_person_in_thread(arguments, line):
    return line.ask_sync("ask", question="Sure?")


async def tells(arguments, line):
    line.say("one")
    line.progress(0.5, "half")
    line.progress(math.nan, "lost")
    line.progress(7, "over")
    line.progress(None, "unknown")
    line.say("two")
    return "told"


def tells_in_thread(arguments, line):
    line.say("from a thread")
    line.progress(0.25, "quarter")
    return "told"
