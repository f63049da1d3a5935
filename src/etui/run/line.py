"""The worker's side of the wire as one call sees it: ask the host, say a line, tell how far it is.

Above: `child` makes one for each call and hands it to the contract. Below: `wire`, `channel`. It refuses to know: tools.
Each method may be called from any thread, but `ask` belongs to the loop and `ask_sync` to every other thread.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import math
import threading
from collections.abc import Iterator

from etui.contracts import Caller
from etui.errors import ServiceError, WireError
from etui.run import wire
from etui.run.channel import Channel

Answer = concurrent.futures.Future[object]


class Post:
    """What the calls of a worker share: the way to the host, and the questions that the host has not answered yet."""

    def __init__(self, loop: asyncio.AbstractEventLoop, channel: Channel) -> None:
        self.loop = loop
        self.channel = channel
        self.home = threading.get_ident()
        """The thread of the loop."""
        self._numbers: Iterator[int] = itertools.count(1)
        self._waiting: dict[int, tuple[int, Answer]] = {}

    def ask(self, call: int, service: str, arguments: bytes) -> Answer:
        """Ask the host on behalf of that call; where its answer will be."""
        number, answer = next(self._numbers), Answer()
        self._waiting[number] = (call, answer)
        self.channel.send(wire.frame(wire.Request(number, call, service, arguments)))
        return answer

    def settle(self, reply: wire.Reply) -> None:
        """The host answered; an answer that nobody waits for is dropped."""
        _, answer = self._waiting.pop(reply.id, (0, None))
        if answer is None or answer.done():
            return
        if reply.error:
            answer.set_exception(ServiceError(reply.error))
            return
        try:
            answer.set_result(wire.from_json(reply.value))
        except WireError as error:
            answer.set_exception(ServiceError(str(error)))

    def abandon(self, call: int) -> None:
        """The call is over or being cancelled: whoever still waits in one of its threads is told."""
        if not self._waiting:
            return
        for number in [number for number, (owner, _) in self._waiting.items() if owner == call]:
            _, answer = self._waiting.pop(number)
            if not answer.done():
                answer.set_exception(_over())


def _over() -> ServiceError:
    return ServiceError("The call was ended while the tool waited for an answer.")


class CallLine:
    """`contracts.Line` for one call."""

    __slots__ = ("_number", "_open", "_post", "call", "caller")

    def __init__(self, number: int, call: str, caller: Caller, post: Post) -> None:
        self.call = call
        self.caller = caller
        self._number = number
        self._post = post
        self._open = True

    async def ask(self, service: str, **args: object) -> object:
        """Ask a host service and wait; raises `ServiceError` with the host's sentence."""
        return await asyncio.wrap_future(self._ask(service, self._json(args)), loop=self._post.loop)

    def ask_sync(self, service: str, **args: object) -> object:
        """The same from another thread than the loop's; blocks that thread."""
        if threading.get_ident() == self._post.home:
            raise ServiceError(
                f"{service!r} was asked for in a way that would block the worker: await it, or ask from a thread."
            )
        arguments = self._json(args)
        asked: concurrent.futures.Future[Answer] = concurrent.futures.Future()
        self._post.loop.call_soon_threadsafe(lambda: asked.set_result(self._ask(service, arguments)))
        return asked.result().result()

    def say(self, text: str) -> None:
        """A line for the person, now. From any thread; never blocks."""
        self._tell(wire.Said(self._number, str(text)))

    def progress(self, fraction: float | None, text: str) -> None:
        """How far the call is, 0 to 1. From any thread; never blocks."""
        if fraction is not None:
            fraction = float(fraction)
            fraction = min(1.0, max(0.0, fraction)) if math.isfinite(fraction) else None
        self._tell(wire.Progress(self._number, fraction, str(text)))

    def close(self) -> None:
        """The call is over: what is said from now on is dropped, and nobody waits any more."""
        self._open = False
        self._post.abandon(self._number)

    @staticmethod
    def _json(args: dict[str, object]) -> bytes:
        try:
            return wire.to_json(args)
        except WireError as error:
            raise ServiceError(f"What was handed to the host cannot be sent. {error}") from None

    def _ask(self, service: str, arguments: bytes) -> Answer:
        if self._open:
            return self._post.ask(self._number, service, arguments)
        answer = Answer()
        answer.set_exception(_over())
        return answer

    def _tell(self, message: wire.Said | wire.Progress) -> None:
        if threading.get_ident() == self._post.home:
            self._send(message)
        else:
            self._post.loop.call_soon_threadsafe(self._send, message)

    def _send(self, message: wire.Said | wire.Progress) -> None:
        if self._open:
            self._post.channel.send(wire.frame(message))
