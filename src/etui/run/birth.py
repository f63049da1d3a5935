"""What the host tells the zygote (or a spawned worker) about the worker that it wants, and what the zygote tells back.

Above: `forks` and `spawn` ask, `zygote` answers. Below: `confine`. It refuses to know: what the worker will be asked.
"""

from __future__ import annotations

import msgspec

from etui.run.confine import Limits


class Birth(msgspec.Struct, frozen=True, tag="birth"):
    """Host to zygote: start a worker on the two descriptors that come along, its wire and its output."""

    number: int
    limits: Limits
    environment: dict[str, str] = {}
    """Variables that were granted, besides the few that everybody has."""


class Up(msgspec.Struct, frozen=True, tag="up"):
    """Zygote to host, once: everything is preloaded."""

    left_out: tuple[str, ...] = ()
    """Modules that could not be preloaded, or that start threads."""


class Born(msgspec.Struct, frozen=True, tag="born"):
    """Zygote to host: the worker of that number has this process id; its pidfd comes along."""

    number: int
    pid: int


class Unborn(msgspec.Struct, frozen=True, tag="unborn"):
    """Zygote to host: no worker could be started, and why."""

    number: int
    why: str


class Died(msgspec.Struct, frozen=True, tag="died"):
    """Zygote to host: that worker and everything it started is gone."""

    pid: int
    status: int
    """As wait(2) gives it."""
    strays: int = 0
    """How many processes it had left behind."""


ToHost = Up | Born | Unborn | Died

encode = msgspec.msgpack.encode
to_zygote = msgspec.msgpack.Decoder(Birth)
to_host: msgspec.msgpack.Decoder[ToHost] = msgspec.msgpack.Decoder(ToHost)
ROOM = 1 << 18
"""Bytes that one of these may have."""
