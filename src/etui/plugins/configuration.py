"""The owner's settings under the names by which files of Sapphire read them: `config.USER_TIMEZONE`.

Above: `installation` hands them to workers. Below: the settings. It refuses to know: what any of them does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from etui.settings import Settings

NAMES: Mapping[str, Callable[[Settings], object]] = {
    "USER_TIMEZONE": lambda settings: settings.timezone,
    "LANGUAGE": lambda settings: settings.language,
    "TOOL_RESULT_MAX_CHARS": lambda settings: settings.sapphire_result_chars,
    "IMAGE_MEMORY_TURNS": lambda settings: settings.image_memory_turns,
    "SOCKS_ENABLED": lambda settings: settings.socks,
    "SOCKS_HOST": lambda settings: settings.socks_host,
    "SOCKS_PORT": lambda settings: settings.socks_port,
}
"""Each name that there is, and where its value comes from."""


def config_of(settings: Settings) -> dict[str, object]:
    """All of them, as JSON values."""
    return {name: of(settings) for name, of in NAMES.items()}
