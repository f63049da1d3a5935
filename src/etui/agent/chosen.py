"""Which model answers: the one that the owner chose, opened when it is needed, and what else could be chosen with a click.

Above: `host`. Below: `models`, `discover`. It refuses to know: turns, and where settings are kept.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol, runtime_checkable

from etui.agent.discover import Offer, offers
from etui.agent.model import Ask, Model, Part
from etui.agent.models import Models
from etui.errors import ModelError
from etui.settings import Settings

EMBEDDED = "embedded"


@runtime_checkable
class Warms(Protocol):
    """A model that has something to prepare."""

    async def warm(self, ask: Ask) -> None:
        """Prepare for these tools."""
        ...


class Unready:
    """Stands for a chosen model that cannot be opened: whoever asks it learns why."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self._why = why

    async def stream(self, ask: Ask) -> AsyncIterator[Part]:
        """Raises ModelError with the reason."""
        raise ModelError(self._why)
        yield

    async def close(self) -> None:
        """There is nothing to close."""


class Chosen:
    """The chosen model and the offers."""

    def __init__(self, models: Models, settings: Settings, environ: Mapping[str, str], fixed: Model | None = None) -> None:
        """`fixed` answers whatever the settings say."""
        self._models = models
        self._settings = settings
        self._environ = environ
        self._fixed = fixed
        self._open: Model | None = None
        self._offers: list[Offer] = []
        self._looking: asyncio.Task[None] | None = None
        self._left: list[Model] = []

    @property
    def name(self) -> str:
        """The setting `model`, in force."""
        return self._fixed.name if self._fixed is not None else self._settings.model

    @property
    def model(self) -> Model:
        """What the next turn asks."""
        if self._fixed is not None:
            return self._fixed
        if self._open is None:
            try:
                settings = self._settings
                self._open = self._models.open(settings.model, base_url=settings.model_base_url, effort=settings.effort)
            except ModelError as error:
                self._open = Unready(self._settings.model, str(error))
        return self._open

    def changed(self, settings: Settings) -> None:
        """Other settings are in force; a turn that runs keeps the model that it began with, which is closed at the end."""
        before, self._settings = self._settings, settings
        if _opened(before) != _opened(settings) and self._open is not None:
            self._left.append(self._open)
            self._open = None

    def look_around(self, own: tuple[int, ...] = ()) -> None:
        """Look for keys and servers without holding anybody up; `own` are ports that Etui itself listens on."""

        async def look() -> None:
            self._offers = await offers(self._environ, own=own)

        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(look(), name="looking for models")

    async def looked(self) -> None:
        """Wait until the looking around has ended."""
        if self._looking is not None:
            await asyncio.wait([self._looking])

    def choices(self) -> list[dict[str, Any]]:
        """The built-in matcher, what was found, and the one that is chosen, which is marked."""
        rows = [self._row(EMBEDDED, "Built-in command matcher", "needs no key", EMBEDDED, "")]
        rows += [self._row(one.id, one.label, one.why, one.model, one.base_url) for one in self._offers]
        if not any(row["chosen"] for row in rows):
            settings = self._settings
            why = "named in the settings" if not isinstance(self.model, Unready) else "named in the settings, but not ready"
            rows.append(self._row(self.name, self.name, why, settings.model, settings.model_base_url))
        return rows

    async def warm(self, ask: Ask) -> None:
        """Make the model ready for these tools, where it can be, so that the first sentence does not wait."""
        model = self.model
        if isinstance(model, Warms):
            await model.warm(ask)

    def settings_of(self, id: str) -> dict[str, object]:
        """The settings that choosing this one means. Raises ModelError for one that is not offered."""
        if id == EMBEDDED:
            return {"model": EMBEDDED, "model_base_url": ""}
        for one in self._offers:
            if one.id == id:
                return {"model": one.model, "model_base_url": one.base_url}
        raise ModelError(f"The model {id!r} is not on offer (any more).")

    async def close(self) -> None:
        """Close what is open."""
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking
        for model in (*self._left, *([self._open] if self._open is not None else [])):
            await model.close()

    def _row(self, id: str, label: str, why: str, model: str, base_url: str) -> dict[str, Any]:
        chosen = (model, base_url) == (self._settings.model, self._settings.model_base_url)
        ready = not (chosen and isinstance(self._open, Unready))
        return {"id": id, "label": label, "why": why, "model": model, "ready": ready, "chosen": chosen}


def _opened(settings: Settings) -> tuple[str, str, str]:
    """What a model is opened with."""
    return settings.model, settings.model_base_url, settings.effort
