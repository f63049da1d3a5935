"""The turns that are being taken: one at a time in each chat, each in a task of its own that can be stopped.

Above: `host`. Below: `loop`. It refuses to know: surfaces, and which model answers.
"""

from __future__ import annotations

import asyncio
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
        self._tasks: dict[str, list[asyncio.Task[Ended]]] = {}
        """By chat: the turn that runs in it, and those that wait for their time."""

    def say(self, session: Door, text: str, *, system: str = "") -> tuple[str, asyncio.Task[Ended]]:
        """Start a turn, after the one that runs in the same chat; gives its id and its task. `system` is told to the model."""
        turn = f"turn_{secrets.token_hex(8)}"
        task = self._start(session, turn, lambda: self._loop.take_turn(session, self._model(), text, turn=turn, system=system))
        return turn, task

    def resume(self, session: Door, turn: Turn, *, system: str = "") -> asyncio.Task[Ended]:
        """Go on with a turn that a death cut short."""
        return self._start(session, turn.id, lambda: self._loop.resume(turn, session, self._model(), system=system))

    def stop(self, chat: str) -> bool:
        """Stop what runs and what waits in a chat; False if there is nothing."""
        stopped = [task.cancel() for task in self._tasks.get(chat, ())]
        return any(stopped)

    async def close(self) -> None:
        """Stop everything and wait for it; what was said so far is kept."""
        tasks = [task for chat in self._tasks.values() for task in chat]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, session: Door, turn: str, take: Callable[[], Coroutine[Any, Any, Ended]]) -> asyncio.Task[Ended]:
        tasks = self._tasks.setdefault(session.chat, [])
        before = list(tasks)
        begun = False

        async def in_order() -> Ended:
            nonlocal begun
            if before:
                await asyncio.wait(before)
            begun = True
            return await take()

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
