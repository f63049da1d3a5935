"""The turns that are being taken: one at a time in each chat, each in a task of its own that can be stopped.

Above: `host`. Below: `loop`. It refuses to know: surfaces, and which model answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Coroutine
from typing import Any

from etui.agent.calls import Door
from etui.agent.loop import Ended, Loop
from etui.agent.model import Model
from etui.store.chats import Turn


class Running:
    """Starts turns, keeps the order within a chat, and ends them all when the host ends."""

    def __init__(self, loop: Loop, model: Callable[[], Model]) -> None:
        self._loop = loop
        self._model = model
        self._tasks: dict[str, asyncio.Task[Ended]] = {}
        """By chat: the last turn that was started in it."""

    def say(self, session: Door, text: str) -> tuple[str, asyncio.Task[Ended]]:
        """Start a turn, after the one that runs in the same chat; gives its id and its task."""
        turn = f"turn_{secrets.token_hex(8)}"
        task = self._start(session.chat, lambda: self._loop.take_turn(session, self._model(), text, turn=turn))
        return turn, task

    def resume(self, session: Door, turn: Turn) -> asyncio.Task[Ended]:
        """Go on with a turn that a death cut short."""
        return self._start(session.chat, lambda: self._loop.resume(turn, session, self._model()))

    def stop(self, chat: str) -> bool:
        """Stop what runs in a chat; False if nothing does."""
        task = self._tasks.get(chat)
        return task is not None and task.cancel()

    async def close(self) -> None:
        """Stop everything and wait for it; what was said so far is kept."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, chat: str, take: Callable[[], Coroutine[Any, Any, Ended]]) -> asyncio.Task[Ended]:
        before = self._tasks.get(chat)

        async def in_order() -> Ended:
            if before is not None and not before.done():
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await asyncio.shield(before)
            return await take()

        task = asyncio.create_task(in_order(), name=f"turn in {chat}")
        self._tasks[chat] = task
        task.add_done_callback(lambda done: self._ended(chat, done))
        return task

    def _ended(self, chat: str, task: asyncio.Task[Ended]) -> None:
        if self._tasks.get(chat) is task:
            del self._tasks[chat]
        if not task.cancelled():
            task.exception()  # Looked at here, so that nobody is warned about a turn that nobody waited for.
