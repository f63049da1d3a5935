"""Accounts and keys that the owner gave this plugin, resolved while a call runs."""

from etui.contracts.sapphire.credentials import CredentialsManager

credentials = CredentialsManager()
