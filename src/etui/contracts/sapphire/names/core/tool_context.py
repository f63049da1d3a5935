"""What a plugin puts above the messages of other people that it hands on."""

from etui.contracts.sapphire.dating import context_header

__all__ = ["context_header"]
