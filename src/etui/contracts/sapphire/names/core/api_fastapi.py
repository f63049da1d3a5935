"""The running assistant, for whoever asks for it."""

from etui.contracts.sapphire.system import get_system

__all__ = ["get_system"]
