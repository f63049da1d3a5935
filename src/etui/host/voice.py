"""How a host sounds and looks while it works: the owner's personality, the lines around calls, and the faces of turns.

Above: `host`. Below: `owner.personality`, `agent.narration`, `agent.faces`. It refuses to know: models, and what tools do.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from etui.agent.faces import Faces
from etui.agent.models import reasons
from etui.agent.narration import Manner, Narration, in_manner
from etui.events import Hub
from etui.owner.personality import Personality
from etui.settings import Settings
from etui.tool import Tool


class Voice:
    """The voice of one host."""

    def __init__(
        self,
        hub: Hub,
        root: Path,
        *,
        settings: Callable[[], Settings],
        tool: Callable[[str], Tool | None],
        model: Callable[[], str],
    ) -> None:
        """`root` is what the personality's path is relative to, `tool` finds one by its name, `model` names what answers."""
        self._root = root
        self._settings = settings
        self._model = model
        self._named_file = ("", root)
        """What the setting says, and the file that it means."""
        self.personality = Personality(self._file, named=self._named)
        self._faces = Faces(hub, tool)
        self._narration = Narration(hub, tool, voice=self.personality.voice, manner=self._manner)

    def start(self) -> None:
        """Follow the turns from now on."""
        self._faces.start()
        self._narration.start()

    async def close(self) -> None:
        """Say nothing more."""
        await self._narration.close()

    def _manner(self, turn: str) -> Manner:
        settings = self._settings()
        return in_manner(settings.narrate, reasons(self._model(), settings.effort), turn)

    def _file(self) -> Path:
        named = self._settings().personality
        if self._named_file[0] != named:
            self._named_file = named, self._root / Path(named).expanduser()
        return self._named_file[1]

    def _named(self) -> bool:
        return self._settings().personality != Settings().personality
