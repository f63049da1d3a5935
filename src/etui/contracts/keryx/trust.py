"""What a session has proved, as tool files know it, and the three gates that look at it.

Above: `names` gives them to tool files; the host's gate says the same of Keryx's tools with these payloads. Below: nothing.
It refuses to know: the PIN. What it answers stops only its own caller; that a tool runs at all is decided by the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any


class TrustLevel(IntEnum):
    """How far a session is trusted."""

    NONE = 0
    """Somebody called in and has proved nothing: a number can be faked."""
    POSSESSION = 1
    """The host itself called one of the owner's numbers."""
    FULL = 2
    """The PIN was given, or the channel is the owner's own."""


LEVELS: Mapping[str, TrustLevel] = {level.name.lower(): level for level in TrustLevel}
"""By the host's words for them."""
PIN_REQUIRED: Mapping[str, str] = MappingProxyType(
    {
        "status": "pin_required",
        "message": (
            "Nothing was done: the owner's PIN comes first. Ask for it now in one short sentence; they may say or key it. "
            "Do not explain why, and do not announce that you are checking it. As soon as you are told that it was right, "
            "call this same tool again with the same arguments."
        ),
    }
)
"""What the model gets of a tool that waits for the PIN, whatever it was called with."""
NO_PIN: Mapping[str, str] = MappingProxyType(
    {
        "status": "refused",
        "message": (
            "Nothing was done: this needs the owner's PIN, but none is configured. Say in one sentence that the owner has to "
            "set one at the keyboard first (`etui pin set`), and do not try this tool again."
        ),
    }
)
"""The same where the owner has set no PIN."""
KEYPRESS_REQUIRED: Mapping[str, str] = MappingProxyType(
    {
        "status": "keypress_required",
        "message": (
            "Nothing was done yet: ask them, once and in one short sentence, to press any one key, so that it is sure that a "
            "person is on the line. Then call this same tool again."
        ),
    }
)


def pin_gate(ctx: Any, settings: Any) -> dict[str, Any] | None:
    """None where the trust is full; else what the model is told instead of a result."""
    if ctx.trust is TrustLevel.FULL:
        return None
    return dict(PIN_REQUIRED if settings.pin else NO_PIN)


def read_gate(ctx: Any, settings: Any) -> dict[str, Any] | None:
    """None where the owner lets things be read before the PIN, and there is one; else as `pin_gate`."""
    if settings.reads_before_pin and settings.pin:
        return None
    return pin_gate(ctx, settings)


def possession_gate(ctx: Any, settings: Any, *, keypress: bool = True) -> dict[str, Any] | None:
    """None where the host itself made the call, and with `keypress` once a key was pressed; else what the model is told."""
    if ctx.trust is not TrustLevel.POSSESSION:
        return pin_gate(ctx, settings)
    if not keypress or ctx.session.keypressed:
        return None
    return dict(KEYPRESS_REQUIRED)
