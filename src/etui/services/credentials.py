"""The accounts that the owner gave a plugin, resolved at the moment in which it asks.

Above: the table of services. Below: `owner.accounts`. It refuses to know: which chat asks; a plugin has what it was given.
"""

from __future__ import annotations

import asyncio

from etui.errors import EtuiError, ServiceError
from etui.owner.accounts import Accounts
from etui.services.desk import SAPPHIRE, Family


class OwnAccounts:
    """The accounts of one plugin."""

    def __init__(self, accounts: Accounts, plugin: str) -> None:
        self._accounts = accounts
        self._plugin = plugin

    async def get(self, kind: str, name: str) -> object:
        """One account whole, or None: there is none of that name, or it was not given to this plugin."""
        return self._accounts.get(self._plugin, kind, name)

    async def all(self, kind: str) -> object:
        """Those of a kind that it was given, whole, by name."""
        return self._accounts.mine(self._plugin, kind)

    async def renew(self, kind: str, name: str, values: dict[str, object]) -> object:
        """New tokens for one that it was given; False where it has none of that name."""
        if not isinstance(values, dict):
            raise TypeError("new tokens are a table")
        try:
            # In a thread, for a keyring takes its time.
            return await asyncio.to_thread(self._accounts.renew, self._plugin, kind, name, values)
        except EtuiError as error:
            raise ServiceError(str(error)) from None


FAMILY = Family(
    lambda desk: OwnAccounts(desk.needs.accounts, desk.plugin),
    {"accounts.get": OwnAccounts.get, "accounts.all": OwnAccounts.all, "accounts.renew": OwnAccounts.renew},
    only=SAPPHIRE,
)
