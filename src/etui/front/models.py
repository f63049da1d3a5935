"""Which model answers: what there is to choose from, the choice, and making the chosen one ready.

Above: surfaces. Below: `agent.chosen`, the settings, in which the choice is kept. It refuses to know: how a model is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from etui.agent.chosen import Chosen
from etui.agent.model import Ask
from etui.front.settings import LiveSettings


class ModelChoice:
    """The choice of one host."""

    def __init__(self, chosen: Chosen, settings: LiveSettings, request: Callable[[], Ask]) -> None:
        """`request` gives what a model would be asked in a new conversation, to make it ready for that."""
        self._chosen = chosen
        self._settings = settings
        self._request = request
        self._warming: asyncio.Task[None] | None = None

    def all(self) -> list[dict[str, Any]]:
        """What could answer here, the chosen one marked."""
        return self._chosen.choices()

    def look_around(self) -> None:
        """Look for keys and servers without holding anybody up."""
        self._chosen.look_around(own=(self._settings.now.port,))

    async def look(self) -> None:
        """Look again for keys and servers: one may have been started since."""
        await self._chosen.looked()  # One that is under way may have passed by what is there now.
        self.look_around()
        await self._chosen.looked()

    async def choose(self, id: str) -> None:
        """Let another model answer, from the next turn on. Raises EtuiError for one that there is not."""
        for name, value in self._chosen.settings_of(id).items():
            await self._settings.set(name, value)

    def warm(self) -> None:
        """Make the model ready in the background: for a host that stays, so that the first sentence does not wait."""
        self._warming = asyncio.create_task(self._chosen.warm(self._request()), name="warming")

    async def close(self) -> None:
        """Close what is open, and let what is being made ready come to its end."""
        await self._chosen.close()
        if self._warming is not None:
            await asyncio.wait([self._warming])
