"""The events of a plugin's daemon, and who hears what was answered to them.

Above: `daemons` hands answers over, `names/core/plugin_loader`. Below: `current`. It refuses to know: daemons, and what a
task does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from etui.contracts.sapphire import current

Reply = Callable[[Any, Any, str], Any]
_replies: dict[str, Reply] = {}
"""By plugin, who hears the answers to its events."""


def emit(source: str, text: str) -> None:
    """Something happened that tasks may wait for; `text` is JSON."""
    current.ask("daemon.event", event=str(source), text=text if isinstance(text, str) else json.dumps(text))


def of(plugin: str) -> Reply | None:
    """Who hears the answers to this plugin's events."""
    return _replies.get(plugin)


def register_reply_handler(plugin: str, hear: Reply) -> None:
    """From now on it hears what was answered to this plugin's events."""
    _replies[plugin] = hear


def unregister_reply_handler(plugin: str) -> None:
    """It hears nothing more."""
    _replies.pop(plugin, None)
