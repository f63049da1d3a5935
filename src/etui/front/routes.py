"""The routes of plugins: which one an address means, how often a plugin may be asked, and its answer as it comes.

Whoever asks has been let in already. Above: surfaces. Below: `handlers`, the registry's snapshot. It refuses to know: HTTP's
headers, and what an answer means; a worker's word on either is foreign.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any

import msgspec
import structlog

from etui.errors import EtuiError
from etui.handlers import Handlers
from etui.outcome import Outcome, Status
from etui.registry import Snapshot
from etui.tool import Handler, Plugin

log = structlog.get_logger(__name__)
REQUESTS, SEEKS, WHILE = 30, 300, 60.0
"""Requests to one plugin's routes within so many seconds; those for a later part of a file, as players make, count apart."""
SECONDS = 30.0
"""How long a handler, and each further piece of its answer, may take."""
LONGEST = 2000
"""Characters of a path."""
STATUS: Mapping[Status, int] = {Status.TIMED_OUT: 504, Status.CRASHED: 502, Status.UNKNOWN: 502}


class NoAnswer(EtuiError):
    """A request to a route has no answer of the route's own; `status` is HTTP's number for why."""

    def __init__(self, status: int, sentence: str, wait: int = 0) -> None:
        """`wait` is after how many seconds it may be tried again, if that helps."""
        super().__init__(sentence)
        self.status = status
        self.wait = wait


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a route."""

    plugin: str
    """As the plugin calls itself."""
    path: str
    """Behind the plugin's name, decoded."""
    method: str
    query: dict[str, str] = {}
    query_string: str = ""
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}
    later: bool = False
    """It asks for a later part of a file."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a route answers."""

    value: object = None
    """JSON, where there is no head."""
    status: int = 200
    headers: tuple[tuple[str, str], ...] | None = None
    """None where the answer is `value`."""
    first: bytes = b""
    rest: Rest | None = None
    """What follows; None where `first` is all."""


class _Head(msgspec.Struct, frozen=True):
    """What a worker says of an answer."""

    status: int = 200
    headers: list[tuple[str, str]] = []
    more: str = ""


class Routes:
    """Every plugin's routes."""

    def __init__(
        self,
        handlers: Handlers,
        snapshot: Callable[[], Snapshot],
        off: Callable[[], frozenset[str]],
        settings: Callable[[str], Mapping[str, object]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`settings` gives a plugin's own; `clock` counts seconds."""
        self._handlers = handlers
        self._snapshot = snapshot
        self._off = off
        self._settings = settings
        self._clock = clock
        self._asked: dict[tuple[str, bool], deque[float]] = {}

    async def ask(self, asked: Asked) -> Answer:
        """What the route that is meant answers. Raises NoAnswer."""
        plugin, handler, given = self._meant(asked)
        self._pace(plugin, asked.later)
        request = {
            "method": asked.method,
            "url": f"/api/plugin/{asked.plugin}/{asked.path}",
            "query": asked.query,
            "query_string": asked.query_string,
            "headers": asked.headers,
        }
        body = asked.body if asked.method in ("POST", "PUT") else {**asked.query, **asked.body}
        arguments = {"path": given, "body": body, "settings": dict(self._settings(plugin.name)), "request": request}
        outcome = await self._handlers.run(plugin, handler, arguments, seconds=SECONDS)
        if not outcome.ok:
            log.warning(
                "a route failed",
                plugin=plugin.name,
                route=handler.name,
                why=outcome.text,
                detail=outcome.detail,
                reference=outcome.reference,
            )
            raise NoAnswer(
                STATUS.get(outcome.status, 500), f"The route {handler.name!r} of {plugin.name!r} failed: {outcome.text}"
            )
        if not outcome.files:
            return Answer(value=outcome.data)
        head, first = _read(outcome)
        return Answer(
            status=head.status,
            headers=tuple(head.headers),
            first=first,
            rest=Rest(lambda more: self._handlers.run(plugin, handler, more, seconds=SECONDS), head.more)
            if head.more
            else None,
        )

    def _meant(self, asked: Asked) -> tuple[Plugin, Handler, dict[str, str]]:
        plugin = self._plugin(asked.plugin)
        there = False
        for handler in plugin.handlers:
            given = _match(handler.name, asked.path) if handler.kind == "route" else None
            if given is None:
                continue
            there = True
            wanted = str(handler.facts.get("method") or "GET")
            if wanted == asked.method or (wanted, asked.method) == ("GET", "HEAD"):
                return plugin, handler, given
        if there:
            raise NoAnswer(405, f"This route of {asked.plugin!r} cannot be used with {asked.method}.")
        raise NoAnswer(404, f"The plugin {asked.plugin!r} has no route {asked.path[:LONGEST]!r}.")

    def _plugin(self, name: str) -> Plugin:
        """The one that calls itself so and is on; the one that is called so in the house first."""
        found = [plugin for plugin in self._snapshot().plugins.values() if _called(plugin) == name]
        off = self._off()
        on = sorted((plugin for plugin in found if plugin.family not in off), key=lambda plugin: plugin.name != name)
        if on:
            return on[0]
        raise NoAnswer(404, f"The plugin {name!r} is switched off." if found else f"There is no plugin {name!r} here.")

    def _pace(self, plugin: Plugin, later: bool) -> None:
        """Count a request. Raises NoAnswer where there were too many."""
        most, now = SEEKS if later else REQUESTS, self._clock()
        times = self._asked.setdefault((plugin.name, later), deque())
        while times and now - times[0] >= WHILE:
            times.popleft()
        if len(times) >= most:
            wait = max(1, round(WHILE - (now - times[0]) + 0.5))
            raise NoAnswer(
                429,
                f"The routes of {plugin.name!r} answer {most} requests within {WHILE:.0f} seconds; wait {wait} seconds.",
                wait,
            )
        times.append(now)


class Rest:
    """What follows of an answer, fetched from the worker as it is wanted; whoever stops early closes it."""

    def __init__(self, run: Callable[[dict[str, object]], Coroutine[Any, Any, Outcome]], token: str) -> None:
        """`run` asks the worker; `token` is what the answer is called there."""
        self._run = run
        self._token = token
        self._ending: asyncio.Task[Outcome] | None = None
        """Held, for the loop alone would let it be collected."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Piece by piece. Raises NoAnswer where it breaks off."""
        try:
            while self._token:
                outcome = await self._run({"more": self._token})
                if not outcome.ok or not outcome.files:
                    self._token = ""
                    raise NoAnswer(502, f"The answer broke off: {outcome.text}")
                head, piece = _read(outcome)
                self._token = head.more
                if piece:
                    yield piece
        finally:
            self.close()

    def close(self) -> None:
        """Nobody wants more of it: it ends in the worker too."""
        if self._token:
            self._ending = asyncio.get_running_loop().create_task(self._run({"over": self._token}))
            self._token = ""


def _called(plugin: Plugin) -> str:
    return str(plugin.manifest.get("name") or plugin.name)


def _match(route: str, path: str) -> dict[str, str] | None:
    """The parameters of a path that a route means, each one segment; None where it means another one."""
    if len(path) > LONGEST or "\\" in path or "\0" in path:
        return None
    wanted, given = route.strip("/").split("/"), path.split("/")
    if len(wanted) != len(given) or any(segment in (".", "..") for segment in given):
        return None
    found: dict[str, str] = {}
    for pattern, segment in zip(wanted, given, strict=True):
        before, brace, after = pattern.partition("{")
        name, closed, behind = after.partition("}")
        if not (brace and closed):
            if pattern != segment:
                return None
            continue
        end = len(segment) - len(behind)
        if end <= len(before) or not segment.startswith(before) or not segment.endswith(behind):
            return None
        found[name] = segment[len(before) : end]
    return found


def _read(outcome: Outcome) -> tuple[_Head, bytes]:
    """Raises NoAnswer where the worker's word makes no sense."""
    try:
        return msgspec.json.decode(outcome.text, type=_Head), outcome.files[0].data
    except msgspec.DecodeError:
        raise NoAnswer(502, "The plugin's answer cannot be read.") from None
