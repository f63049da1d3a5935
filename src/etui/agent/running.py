"""The turns that are being taken: one at a time in each chat, each in a task of its own that can be stopped.

Above: `host`. Below: `loop`. It refuses to know: surfaces, and which model answers.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from etui.agent.calls import Door
from etui.agent.loop import Ended, Loop, Why
from etui.agent.model import Model
from etui.agent.told import DONE, Told
from etui.modes import WORK
from etui.store.chats import Message, Turn

Hear = Callable[[Door, str], Awaitable[tuple[str, Message | None]]]
"""What goes into the chat of what a person said, and what the host has to say about it; asked right before the turn begins."""


class Heard(Protocol):
    """What became of what a person said, before a model is asked."""

    @property
    def text(self) -> str:
        """What the model is asked."""
        ...

    @property
    def answer(self) -> str | None:
        """The answer, where it is known already: then no model is asked."""
        ...

    @property
    def ephemeral(self) -> bool:
        """No model is ever told of it."""
        ...


class Around(Protocol):
    """Who is asked around a conversation's turns; the session is the one in which the turn is taken."""

    async def heard(self, session: Any, text: str, turn: str) -> Heard:
        """What is made of what the person said."""
        ...

    async def context(self, session: Any, text: str, turn: str) -> str:
        """What the model is to know besides."""
        ...

    async def answered(self, session: Any, text: str, answer: str, turn: str) -> None:
        """The turn went well, and this was the answer."""
        ...


async def as_said(session: Door, text: str) -> tuple[str, Message | None]:
    """All of it."""
    return text, None


async def itself(session: Door) -> Door:
    """For a host whose sessions are ready as they are."""
    return session


class Running:
    """Starts turns, keeps the order within a chat, and ends them all when the host ends."""

    def __init__(
        self,
        loop: Loop,
        model: Callable[[], Model],
        hear: Hear = as_said,
        ready: Callable[[Any], Awaitable[Door]] = itself,
        around: Around | None = None,
    ) -> None:
        """`hear` is asked for what goes into the chat of what a person said.

        `ready` gives the session that the turn is really taken in once its time has come: the one that was named, open.
        """
        self._loop = loop
        self._model = model
        self._hear = hear
        self._ready = ready
        self._around = around
        self._tasks: dict[str, list[asyncio.Task[Ended]]] = {}
        """By chat: the turn that runs in it, and those that wait for their time."""

    def say(
        self, session: Door, text: str, *, system: str = "", notice: Message | None = None, typed: bool = True
    ) -> tuple[str, asyncio.Task[Ended]]:
        """Start a turn, after the one that runs in the same chat; gives its id and its task. `system` is told to the model.

        With a `notice` of the host's, what was said has been heard already; what no person said is not `typed`.
        """
        turn = f"turn_{secrets.token_hex(8)}"

        async def take(door: Door) -> Ended:
            said, told = (text, notice) if notice is not None else await self._heard(door, text, turn)
            if self._around is None or door.mode == WORK:
                return await self._loop.take_turn(door, self._model(), said, turn=turn, system=system, notice=told)
            return await self._asked_around(self._around, door, said, turn, system, told, typed)

        return turn, self._start(session, turn, take)

    async def _asked_around(
        self, around: Around, door: Door, said: str, turn: str, system: str, notice: Message | None, typed: bool
    ) -> Ended:
        """The turn, with whoever is asked before and after it."""
        model, text = self._model(), said
        try:
            heard = await around.heard(door, said, turn) if typed else None
            if heard is not None:
                text = heard.text
            if heard is not None and heard.answer is not None:
                model = Told(heard.answer or DONE, heard.ephemeral)
            else:
                system = f"{system}\n{await around.context(door, text, turn)}".strip()
        except BaseException:
            self._loop.missed(door, turn)
            raise
        ended = await self._loop.take_turn(door, model, text, turn=turn, system=system, notice=notice)
        if ended.why == Why.DONE:
            await around.answered(door, text, ended.text, turn)
        return ended

    async def _heard(self, session: Door, text: str, turn: str) -> tuple[str, Message | None]:
        try:
            return await self._hear(session, text)
        except BaseException:
            self._loop.missed(session, turn)
            raise

    def resume(self, session: Door, turn: Turn, *, system: str = "") -> asyncio.Task[Ended]:
        """Go on with a turn that a death cut short."""
        return self._start(session, turn.id, lambda door: self._loop.resume(turn, door, self._model(), system=system))

    def stop(self, chat: str) -> bool:
        """Stop what runs and what waits in a chat; False if there is nothing."""
        stopped = [task.cancel() for task in self._tasks.get(chat, ())]
        return any(stopped)

    async def ended(self, chat: str) -> None:
        """Stop what runs and what waits in a chat, and wait until it is over."""
        self.stop(chat)
        if tasks := list(self._tasks.get(chat, ())):
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Stop everything and wait for it; what was said so far is kept."""
        tasks = [task for chat in self._tasks.values() for task in chat]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, session: Door, turn: str, take: Callable[[Door], Coroutine[Any, Any, Ended]]) -> asyncio.Task[Ended]:
        tasks = self._tasks.setdefault(session.chat, [])
        before = list(tasks)
        begun = False

        async def in_order() -> Ended:
            nonlocal begun
            if before:
                await asyncio.wait(before)
            door = await self._ready(session)
            begun = True
            return await take(door)

        def ended(task: asyncio.Task[Ended]) -> None:
            tasks.remove(task)
            if not tasks and self._tasks.get(session.chat) is tasks:
                del self._tasks[session.chat]
            if not begun:
                self._loop.missed(session, turn)
            elif not task.cancelled():
                task.exception()  # Looked at here, so that nobody is warned about a turn that nobody waited for.

        task = asyncio.create_task(in_order(), name=f"turn in {session.chat}")
        tasks.append(task)
        task.add_done_callback(ended)
        return task
