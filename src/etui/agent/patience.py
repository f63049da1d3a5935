"""A model asked again where its provider has too much to do just now: one rule for every model.

Above: `answer` asks through here. Below: `model` and `trouble`, which tells that it is so. It refuses to know: providers, and
how it is shown that one waits. A wait that is cancelled is over at once; what has begun to answer is never asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from etui.agent.model import Ask, Model, Part
from etui.agent.trouble import Busy

PAUSES = (1.0, 2.0)
"""Seconds before it is asked the second and the third time, where its provider names none."""
LONGEST = 5.0
"""Seconds that are waited at most: where more are wanted, the person is told at once."""


async def patient(
    model: Model, ask: Ask, tell: Callable[[str], None], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncGenerator[Part, None]:
    """The answer in parts, waited for as long as that is worth it; `tell` is given a line for each wait. Raises ModelError."""
    for pause in (*PAUSES, None):
        begun = False
        stream = model.stream(ask)
        try:
            async for part in stream:
                begun = True
                yield part
            return
        except Busy as busy:
            seconds = pause if busy.wait is None else busy.wait
            if begun or pause is None or seconds is None or seconds > LONGEST:
                raise
            tell(
                f"{busy.who} is busy; I will ask again in {seconds:.0f} s." if seconds else f"{busy.who} is busy; I ask again."
            )
        finally:
            # Not every iterator is a generator; one that is holds a connection open until it is closed.
            if close := getattr(stream, "aclose", None):
                await close()
        await sleep(seconds)
