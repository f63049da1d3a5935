"""Sapphire's names, as far as its plugins import them: thin clients of the host, inside workers only."""

from types import ModuleType

from etui.contracts.sapphire import product


def __getattr__(name: str) -> ModuleType:
    """A module of this package that was not imported yet, or the sentence that says why there is none."""
    return product.member(__name__, name)
