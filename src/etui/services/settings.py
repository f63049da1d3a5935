"""The settings that a plugin has a table of its own for, in the owner's configuration file.

Above: the table of services. Below: the settings in force. It refuses to know: what they mean to the plugin.
"""

from __future__ import annotations

from collections.abc import Callable

from etui.services.desk import Family
from etui.settings import Settings


class OwnSettings:
    """The settings of one plugin."""

    def __init__(self, settings: Callable[[], Settings], plugin: str) -> None:
        self._settings = settings
        self._plugin = plugin

    async def get(self, name: str) -> object:
        """One setting of the plugin's own table, or None."""
        return self._settings().plugin.get(self._plugin, {}).get(name)


FAMILY = Family(lambda desk: OwnSettings(desk.needs.settings, desk.plugin), {"settings.get": OwnSettings.get})
