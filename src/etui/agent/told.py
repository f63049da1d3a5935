"""An answer that is known before any model is asked, in a model's place, so that the turn is taken like every other.

Above: `running`. Below: `model`. It refuses to know: who gave the answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from etui.agent.model import Ask, End, Meta, Part, Text

EPHEMERAL = "ephemeral"
"""The key, in the meta of an answer, by which neither it nor what it answers is ever told to a model."""
DONE = "Done."
"""What is said where it was done without a word."""


class Told:
    """Says one thing; `etui.agent.model.Model`."""

    name = "plugin"

    def __init__(self, answer: str, ephemeral: bool = False) -> None:
        self._answer = answer
        self._ephemeral = ephemeral

    async def stream(self, ask: Ask) -> AsyncIterator[Part]:
        """The answer."""
        if self._ephemeral:
            yield Meta({EPHEMERAL: True})
        yield Text(self._answer)
        yield End()

    async def close(self) -> None:
        """There is nothing to let go of."""
