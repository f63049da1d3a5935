"""The key with which a tool asks the assistant over HTTP, in the header `X-API-Key`."""

from etui.contracts.sapphire import current


def get_password_hash() -> str:
    """This plugin's own key for this conversation; there is no password here."""
    return str(current.ask("addresses.key"))


__all__ = ["get_password_hash"]
