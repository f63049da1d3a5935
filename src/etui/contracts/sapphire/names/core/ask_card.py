"""Questions with buttons, whose answers are the person's next message."""

from etui.contracts.sapphire.ask_card import marker, normalize, strip

__all__ = ["marker", "normalize", "strip"]
