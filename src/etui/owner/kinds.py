"""The kinds of account that there are: which fields each has, which of them are secret, and which a plugin may renew.

One table, from which the console's forms, the command and the checks are made. Above: `accounts`, surfaces. Below: `msgspec`.
It refuses to know: which accounts there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One field of an account."""

    name: str
    label: str
    secret: bool = False
    """Shown to nobody once it was given."""
    kind: str = "text"
    """`text`, `number` or `switch`."""
    default: object = None
    needed: bool = False
    choices: tuple[str, ...] = ()
    rare: bool = False
    """Seldom typed by a person."""
    renewed: bool = False
    """A plugin that was given the account may put a new value here, such as a token that it was handed."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of account."""

    name: str
    title: str
    about: str
    """What it is for, and what its name stands for, in a sentence."""
    scopes: tuple[str, ...]
    """Keys of the scopes whose choices are the accounts of this kind."""
    fields: dict[str, Field]
    only: str = ""
    """What the one account of this kind is called, where there can be only one."""

    @property
    def secrets(self) -> frozenset[str]:
        """The names of the fields that are secret."""
        return frozenset(name for name, field in self.fields.items() if field.secret)

    @property
    def renewed(self) -> frozenset[str]:
        """The names of the fields that a plugin may renew."""
        return frozenset(name for name, field in self.fields.items() if field.renewed)

    def defaults(self) -> dict[str, object]:
        """What stands for fields that were not given; a text that has no default is empty."""
        return {name: field.default if field.default is not None else _EMPTY[field.kind] for name, field in self.fields.items()}


_EMPTY: Mapping[str, object] = {"text": "", "number": 0, "switch": False}


def _fields(fields: Iterable[Field]) -> dict[str, Field]:
    return {field.name: field for field in fields}


MAIL = Kind(
    name="mail",
    title="Mail",
    about="A mailbox: where it is read and sent from. Its name is what a chat's scope `email` chooses.",
    scopes=("email",),
    fields=_fields(
        (
            Field(name="address", label="Address", needed=True),
            Field(name="auth_type", label="How it signs in", default="password", choices=("password", "oauth2")),
            Field(name="app_password", label="Password", secret=True),
            Field(name="imap_server", label="IMAP server"),
            Field(name="imap_port", label="IMAP port", kind="number", default=993),
            Field(name="smtp_server", label="SMTP server"),
            Field(name="smtp_port", label="SMTP port", kind="number", default=465),
            Field(name="oauth_provider", label="OAuth provider", rare=True),
            Field(name="oauth_tenant", label="OAuth tenant", rare=True),
            Field(name="oauth_client_id", label="OAuth client", rare=True),
            Field(name="oauth_client_secret", label="OAuth client secret", secret=True, rare=True),
            Field(name="oauth_access_token", label="OAuth access token", secret=True, renewed=True, rare=True),
            Field(name="oauth_refresh_token", label="OAuth refresh token", secret=True, renewed=True, rare=True),
            Field(name="oauth_expires_at", label="OAuth token ends at", kind="number", default=0, renewed=True, rare=True),
        )
    ),
)
BITCOIN = Kind(
    name="bitcoin",
    title="Bitcoin wallet",
    about="A wallet's key. Its name is what a chat's scope `bitcoin` chooses.",
    scopes=("bitcoin",),
    fields=_fields((Field(name="label", label="Label"), Field(name="wif", label="Key (WIF)", secret=True, needed=True))),
)
CALENDAR = Kind(
    name="gcal",
    title="Google calendar",
    about="An application of Google's and the tokens for one calendar. Its name is what a chat's scope `gcal` chooses.",
    scopes=("gcal",),
    fields=_fields(
        (
            Field(name="label", label="Label"),
            Field(name="client_id", label="Client", needed=True),
            Field(name="client_secret", label="Client secret", secret=True),
            Field(name="calendar_id", label="Calendar", default="primary"),
            Field(name="refresh_token", label="Refresh token", secret=True, renewed=True, rare=True),
            Field(name="access_token", label="Access token", secret=True, renewed=True, rare=True),
            Field(name="expires_at", label="Token ends at", kind="number", default=0, renewed=True, rare=True),
        )
    ),
)
HOME = Kind(
    name="home_assistant",
    title="Home Assistant",
    about="The long-lived token of a Home Assistant; there is one.",
    scopes=(),
    fields=_fields((Field(name="token", label="Token", secret=True, needed=True),)),
    only="default",
)
SSH = Kind(
    name="ssh",
    title="SSH server",
    about="A machine that is reached by SSH. Its name is what tools call it.",
    scopes=(),
    fields=_fields(
        (
            Field(name="host", label="Host", needed=True),
            Field(name="port", label="Port", kind="number", default=22),
            Field(name="user", label="User", needed=True),
            Field(name="key_path", label="Key file"),
            Field(name="password", label="Password", secret=True),
            Field(name="enabled", label="In use", kind="switch", default=True),
        )
    ),
)
MODEL = Kind(
    name="llm",
    title="Key for a model",
    about="A key of a provider of models, for plugins that ask one themselves. Its name is the provider's, such as `claude`.",
    scopes=(),
    fields=_fields((Field(name="api_key", label="Key", secret=True, needed=True),)),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (MAIL, BITCOIN, CALENDAR, HOME, SSH, MODEL)}
"""Every kind, by its name."""


def kind_of_scope(key: str) -> Kind | None:
    """The kind whose accounts are the choices of a scope; None where it has choices of another sort."""
    return next((kind for kind in KINDS.values() if key in kind.scopes), None)
