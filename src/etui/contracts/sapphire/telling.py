"""What a plugin's names have to tell the owner, or everybody: sent to the host where it hears, else printed for the log.

Above: the names. Below: `current`. It refuses to know: who reads it.
"""

from __future__ import annotations

import sys

from etui.contracts.sapphire import current
from etui.errors import ServiceError


def note(reason: str, detail: str = "") -> None:
    """Something that the owner should know; never raises."""
    told = tell("owner.note", reason=reason, detail=detail)
    if not told:
        sys.stderr.write(f"{reason} {detail}".strip() + "\n")


def tell(service: str, **args: object) -> bool:
    """Tell the host; False where it does not hear, as while the plugin is loaded."""
    try:
        current.ask(service, **args)
    except ServiceError:
        return False
    return True
