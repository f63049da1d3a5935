"""A model for tests that plays a list of steps and remembers what it was asked.

Above: tests and `models`, for `scripted:FILE`. Below: `model`. It refuses to know: anything about the chat but how many
answers it already holds, which is how a script read from a file goes on in a new process.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path

from etui.agent.history import Picture
from etui.agent.model import Ask, CallPart, End, Meta, Part, Text
from etui.errors import ModelError

Wait = Callable[[], Awaitable[object]]
Step = str | BaseException | list[Part | Wait | BaseException] | Callable[[Ask], "Step"]
"""Words; an error; parts, with things to wait for and errors between them; or a function of what was asked."""


def call(name: str, arguments: object = None, index: int = 0, id: str = "") -> CallPart:
    """A whole call in one part."""
    text = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
    return CallPart(index=index, id=id, name=name, arguments=text)


class Scripted:
    """Plays one step for each request; once they are played it has nothing to say."""

    def __init__(self, steps: Iterable[Step], name: str = "scripted", by_history: bool = False) -> None:
        self.name = name
        self.asked: list[Ask] = []
        self.closed = False
        self._steps = list(steps)
        self._by_history = by_history

    async def stream(self, ask: Ask) -> AsyncIterator[Part]:
        """The next step's parts."""
        self.asked.append(ask)
        answers = sum(message.role == "assistant" for message in ask.messages)
        at = answers if self._by_history else len(self.asked) - 1
        step: Step = self._steps[at] if at < len(self._steps) else []
        while callable(step):
            step = step(ask)
        if isinstance(step, BaseException):
            raise step
        ended = False
        for part in [Text(step)] if isinstance(step, str) else step:
            if isinstance(part, BaseException):
                raise part
            if isinstance(part, Text | CallPart | Picture | Meta | End):
                ended = isinstance(part, End)
                yield part
                await asyncio.sleep(0)
            else:
                await part()
        if not ended:
            yield End()

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


def from_file(path: str) -> Scripted:
    """The script in a JSON file: a list of `{"text": ..., "calls": [{"name": ..., "arguments": ...}]}`; raises ModelError."""
    try:
        steps = json.loads(Path(path).read_text("utf-8"))
        return Scripted([_step(step) for step in steps], name=f"scripted:{path}", by_history=True)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"The script {path!r} cannot be read: {error}") from error


def _step(step: dict[str, object]) -> list[Part | Wait | BaseException]:
    parts: list[Part | Wait | BaseException] = []
    if step.get("text"):
        parts.append(Text(str(step["text"])))
    calls = step.get("calls") or []
    if not isinstance(calls, list):
        raise TypeError("calls must be a list")
    parts += [call(str(one["name"]), one.get("arguments"), index) for index, one in enumerate(calls)]
    return parts
