"""The credentials manager: the accounts and keys that the owner gave this plugin, asked for anew each time.

Nothing is kept here, so what the owner changes holds at once; what was not given is as if it were not there.
Above: the name `core.credentials_manager`. Below: `current`. It refuses to know: where secrets lie.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from etui.contracts.sapphire import current

VARIABLES: Mapping[str, str] = {
    "claude": "ANTHROPIC_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "gemini": "GOOGLE_API_KEY",
    "google": "GOOGLE_API_KEY",
    "fireworks": "FIREWORKS_API_KEY",
    "featherless": "FEATHERLESS_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "elevenlabs": "ELEVENLABS_API_KEY",
    "grok": "XAI_API_KEY",
}
"""By provider, the variable of the environment in which its key usually is."""
TOKENS = ("access_token", "refresh_token", "expires_at")


class CredentialsManager:
    """What `credentials` is; every method gives something falsy where there is no such account, or it was not given."""

    def get_llm_api_key(self, provider: str) -> str:
        """The key of a provider of models: the owner's for this plugin, else the variable that it was given."""
        return str(_get("llm", provider).get("api_key") or os.environ.get(self.get_env_var_name(provider), ""))

    def get_env_var_name(self, provider: str) -> str:
        """The variable in which that provider's key usually is; empty for one that is not known."""
        return VARIABLES.get(str(provider).lower(), "")

    def get_bitcoin_wallet(self, scope: str = "default") -> dict[str, Any]:
        """`label` and `wif`."""
        return _get("bitcoin", scope)

    def get_email_account(self, scope: str = "default") -> dict[str, Any]:
        """`address`, `app_password`, `auth_type`, the servers and ports for IMAP and SMTP, and the fields of OAuth."""
        return _get("mail", scope)

    def update_email_oauth_tokens(self, scope: str, access_token: str, expires_at: float, refresh_token: str = "") -> bool:
        """Keep new tokens of a mailbox; an empty one leaves the one that is there."""
        tokens = {"access_token": access_token, "expires_at": expires_at, "refresh_token": refresh_token}
        return _renew("mail", scope, {f"oauth_{name}": value for name, value in tokens.items()})

    def get_gcal_account(self, scope: str = "default") -> dict[str, Any]:
        """`client_id`, `client_secret`, `calendar_id`, `label`, and the tokens."""
        return _get("gcal", scope)

    def get_gcal_tokens_snapshot(self, scope: str = "default") -> dict[str, Any]:
        """The three tokens of a calendar as they are at this moment."""
        account = _get("gcal", scope)
        return {name: account[name] for name in TOKENS if name in account}

    def update_gcal_tokens(self, scope: str, refresh_token: str, access_token: str, expires_at: float) -> bool:
        """Keep new tokens of a calendar; an empty one leaves the one that is there."""
        return _renew("gcal", scope, {"refresh_token": refresh_token, "access_token": access_token, "expires_at": expires_at})

    def get_ha_token(self) -> str:
        """The token of the Home Assistant."""
        return str(_get("home_assistant", "default").get("token", ""))

    def get_ssh_servers(self) -> list[dict[str, Any]]:
        """The machines, each with `name`, `host`, `port`, `user`, `key_path`, `password` and `enabled`."""
        return [{"name": name, **one} for name, one in _all("ssh").items()]

    def get_ssh_server(self, name: str) -> dict[str, Any]:
        """One machine by its name."""
        found = _get("ssh", name)
        return {"name": name, **found} if found else {}

    def list_email_accounts(self) -> list[dict[str, Any]]:
        """Scope and address of each mailbox."""
        return [{"scope": name, "address": one["address"]} for name, one in _all("mail").items()]

    def list_bitcoin_wallets(self) -> list[dict[str, Any]]:
        """Scope and label of each wallet."""
        return [{"scope": name, "label": one["label"]} for name, one in _all("bitcoin").items()]

    def list_gcal_accounts(self) -> list[dict[str, Any]]:
        """Scope and label of each calendar."""
        return [{"scope": name, "label": one["label"]} for name, one in _all("gcal").items()]

    def has_email_account(self, scope: str = "default") -> bool:
        """Whether there is such a mailbox."""
        return bool(self.get_email_account(scope))

    def has_bitcoin_wallet(self, scope: str = "default") -> bool:
        """Whether there is such a wallet."""
        return bool(self.get_bitcoin_wallet(scope))

    def has_gcal_account(self, scope: str = "default") -> bool:
        """Whether there is such a calendar."""
        return bool(self.get_gcal_account(scope))


def _get(kind: str, name: object) -> dict[str, Any]:
    found: Any = current.ask("accounts.get", kind=kind, name=str(name))
    return dict(found) if found else {}


def _all(kind: str) -> dict[str, dict[str, Any]]:
    found: Any = current.ask("accounts.all", kind=kind)
    return dict(found)


def _renew(kind: str, scope: object, values: dict[str, object]) -> bool:
    return bool(current.ask("accounts.renew", kind=kind, name=str(scope), values=values))
