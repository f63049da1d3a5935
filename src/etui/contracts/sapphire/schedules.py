"""What runs at its time, as a plugin sees it: the event of a schedule's `run`.

Above: `handling`. Below: `settings`, `state`, `system`. It refuses to know: cron, and how the host keeps time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from etui.contracts.sapphire import current, settings, state, system


def event(task: Mapping[str, Any]) -> dict[str, Any]:
    """What `run(event)` is handed."""
    return {
        "system": system.get_system(),
        "config": settings.config(),
        "task": dict(task),
        "plugin_state": state.of(current.files().plugin),
    }
