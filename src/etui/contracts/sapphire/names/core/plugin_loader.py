"""What a plugin asks of the loader: its state, its settings, its chats' rows, and its daemon's events."""

from collections.abc import Mapping
from typing import Any

from etui.contracts.sapphire import loader, replies, state
from etui.contracts.sapphire.chat_state import PluginChatState
from etui.contracts.sapphire.replies import Reply
from etui.contracts.sapphire.state import PluginState


class PluginLoader:
    """`plugin_loader`."""

    def get_plugin_state(self, name: str) -> PluginState:
        """The plugin's own keys and values."""
        return state.of(name)

    def get_chat_state(self, name: str) -> PluginChatState:
        """The plugin's own rows, by chat."""
        return PluginChatState(name)

    def get_plugin_settings(self, name: str) -> dict[str, Any]:
        """The plugin's settings: the defaults of its manifest, and what its owner set over them."""
        return loader.settings(name)

    def get_plugin_info(self, name: str) -> dict[str, Any] | None:
        """Name, version and the like, whether it is enabled and loaded; None where there is none."""
        return loader.info(name)

    def rescan(self) -> dict[str, list[str]]:
        """Look at the folders now; `added` and `removed` are names of plugins."""
        return loader.rescan()

    def reload_plugin(self, name: str) -> bool:
        """Read a plugin anew; whether it loaded."""
        return loader.reload(name)

    @property
    def _plugins(self) -> Mapping[str, dict[str, Any]]:
        """Every plugin that there is, by its name."""
        return loader.Plugins()

    def emit_daemon_event(self, source: str, data: str) -> None:
        """Something happened that tasks may wait for; `data` is JSON text."""
        replies.emit(source, data)

    def register_reply_handler(self, plugin: str, handler: Reply) -> None:
        """`handler(task, event_data, text)` hears what was answered to the plugin's events."""
        replies.register_reply_handler(plugin, handler)

    def unregister_reply_handler(self, plugin: str) -> None:
        """It hears nothing more."""
        replies.unregister_reply_handler(plugin)


plugin_loader = PluginLoader()

__all__ = ["PluginChatState", "PluginLoader", "PluginState", "plugin_loader"]
