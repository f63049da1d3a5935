"""What a Sapphire plugin asks of the loader: settings, its neighbours, and to be read anew.

Above: the table of services. Below: the installed plugins, handed in. It refuses to know: how a plugin is read.
"""

from __future__ import annotations

from etui.errors import ServiceError, UsageError
from etui.services.desk import SAPPHIRE, Family
from etui.services.needs import Installed
from etui.services.texts import LABEL, text_of


class Loading:
    """What one plugin asks."""

    def __init__(self, installed: Installed, plugin: str) -> None:
        self._installed = installed
        self._plugin = plugin

    async def settings(self, name: str = "") -> object:
        """The settings of a plugin with its defaults; its own if none is named."""
        return self._installed.settings(text_of(name, LABEL), self._plugin)

    async def info(self, name: str) -> object:
        """What there is to know of a plugin; None where there is none."""
        return self._installed.info(text_of(name, LABEL), self._plugin)

    async def names(self) -> object:
        """What the plugins are called."""
        return self._installed.neighbours(self._plugin)

    async def folders(self) -> object:
        """Where the plugins lie that are on, by their folders' names."""
        return self._installed.folders(self._plugin)

    async def rescan(self) -> object:
        """Look at the folders now; which plugins came and went."""
        return await self._installed.rescan()

    async def reload(self, name: str) -> object:
        """Read a plugin anew; whether it loaded."""
        known = self._installed.in_the_house(text_of(name, LABEL), self._plugin)
        if not known:
            return False
        try:
            return await self._installed.reread(known)
        except UsageError as error:
            raise ServiceError(str(error)) from None


FAMILY = Family(
    lambda desk: Loading(desk.needs.installed(), desk.plugin),
    {
        "plugins.settings": Loading.settings,
        "plugins.info": Loading.info,
        "plugins.names": Loading.names,
        "plugins.folders": Loading.folders,
        "plugins.rescan": Loading.rescan,
        "plugins.reload": Loading.reload,
    },
    only=SAPPHIRE,
)
